/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every error that Cairn can return. One table gives the enum, the stable code on the wire, the
 * HTTP status, whether the same request may succeed later, and a title. Functions return the enum;
 * the details are in a struct problem.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "base/str.h"

/* clang-format off */
/*  enum name            code on the wire          status retryable title */
#define ERROR_TABLE(X)                                                                             \
    X(ERR_BAD_REQUEST,     "bad_request",            400, false, "The request is malformed") \
    X(ERR_BAD_JSON,        "invalid_json",           400, false, "The body is not valid JSON") \
    X(ERR_BAD_CURSOR,      "invalid_cursor",         400, false, "The cursor is not valid") \
    X(ERR_UNAUTHENTICATED, "unauthenticated",        401, false, "A valid API key is required") \
    X(ERR_KEY_EXPIRED,     "key_expired",            401, false, "The API key has expired") \
    X(ERR_FORBIDDEN,       "forbidden",              403, false, "The API key lacks permission") \
    X(ERR_HOST_REFUSED,    "host_refused",           403, false, "Host or Origin is not allowed") \
    X(ERR_NOT_FOUND,       "not_found",              404, false, "The object does not exist") \
    X(ERR_NO_ROUTE,        "no_route",               404, false, "The route does not exist") \
    X(ERR_METHOD,          "method_not_allowed",     405, false, "The method is not allowed") \
    X(ERR_TIMEOUT,         "request_timeout",        408, true,  "The request arrived too slowly") \
    X(ERR_CONFLICT,        "conflict",               409, false, "The object is in another state") \
    X(ERR_TRANSITION,      "transition_refused",     409, false, "The status change is forbidden") \
    X(ERR_RUN_ACTIVE,      "run_active",             409, false, "The thread has an active run") \
    X(ERR_LEASE_LOST,      "lease_lost",             409, false, "The lease is no longer held") \
    X(ERR_LEASE_NEEDED,    "lease_required",         409, false, "The run is leased to a worker") \
    X(ERR_SHARE_USED_UP,   "share_used_up",          409, false, "The share is used up") \
    X(ERR_SHARE_EXPIRED,   "share_expired",          410, false, "The share has expired") \
    X(ERR_SHARE_REVOKED,   "share_revoked",          410, false, "The share was revoked") \
    X(ERR_PRUNED,          "events_pruned",          410, false, "The events were pruned") \
    X(ERR_STALE,           "stale_etag",             412, false, "The object has changed") \
    X(ERR_TOO_LARGE,       "body_too_large",         413, false, "The body is too large") \
    X(ERR_MEDIA_TYPE,      "unsupported_media_type", 415, false, "Unsupported media type") \
    X(ERR_RANGE,           "range_not_satisfiable",  416, false, "The range cannot be satisfied") \
    X(ERR_INVALID,         "invalid_input",          422, false, "The input is not valid") \
    X(ERR_ANSWER_LARGE,    "answer_too_large",       422, false, "The answer would be too large") \
    X(ERR_KEY_REUSED,      "idempotency_key_reused", 422, false, "The key has been used before") \
    X(ERR_PATCH_FAILED,    "patch_failed",           422, false, "The patch does not apply") \
    X(ERR_UPGRADE,         "upgrade_required",       426, false, "This route requires WebSocket") \
    X(ERR_PRECONDITION_NEEDED, "precondition_required", 428, false, "If-Match is required") \
    X(ERR_RATE_LIMITED,    "rate_limited",           429, true,  "Too many requests") \
    X(ERR_QUOTA,           "quota_exceeded",         429, true,  "A quota is used up") \
    X(ERR_INTERNAL,        "internal",               500, false, "Internal error") \
    X(ERR_DAMAGED,         "data_damaged",           500, false, "Stored data is damaged") \
    X(ERR_UNAVAILABLE,     "unavailable",            503, true,  "Cairn is unavailable") \
    X(ERR_OUTCOME_UNKNOWN, "outcome_unknown",        503, true,  "The outcome is unknown") \
    X(ERR_CANCELLED,       "cancelled",              503, true,  "The operation was cancelled") \
    X(ERR_STORAGE_FULL,    "storage_full",           507, true,  "The disk is full") \
    X(ERR_QUOTA_STORED,    "quota_full",             507, false, "The tenant may not store more")

enum error {
    OK = 0,
#define ERROR_ENUM(name, code, status, retryable, title) name,
    ERROR_TABLE(ERROR_ENUM)
#undef ERROR_ENUM
    ERROR_COUNT
};
/* clang-format on */

/* Returns the error of a call to the caller of this function; continues if the call succeeded. */
#define TRY(call)                            \
    do {                                     \
        const enum error try_error = (call); \
        if (try_error != OK)                 \
            return try_error;                \
    } while (0)

struct error_info {
    struct str code;
    int status;
    bool retryable;
    struct str title;
};

const struct error_info *error_info(enum error e);

#endif
