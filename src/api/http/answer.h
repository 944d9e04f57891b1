/* SPDX-License-Identifier: Apache-2.0 */
/* Heads and problem documents of answers: the same over HTTP and in-process. */
#ifndef API_HTTP_ANSWER_H
#define API_HTTP_ANSWER_H

#include "api/http/call.h"

enum { ANSWER_MAX_HEADERS = CALL_MAX_HEADERS + 12 };

struct answer_head {
    struct http_header items[ANSWER_MAX_HEADERS];
    size_t count;
};

/* Ignores a value that is STR_NONE. */
void answer_head_add(struct answer_head *head, struct str name, struct str value);
/* The headers of every answer. */
void answer_head_add_common(struct answer_head *head, const struct call *call);
/* The headers that a finished call adds to them. */
void answer_head_add_call(struct answer_head *head, const struct call *call);

/* A problem document (RFC 9457). */
struct str answer_problem(
    struct arena *arena, const struct problem *problem, struct str request_id, int status);

/* The answer to a request that is not valid HTTP, or that is refused before a call of it is run.
 * Adds its headers to the head, and returns the body, in the arena. */
struct str answer_refusal(struct arena *arena, const struct http_refusal *refusal,
    const struct http_request *request, struct answer_head *head);
/* Allows the page of this origin to read the answer; STR_NONE: no page. */
void answer_head_add_origin(struct answer_head *head, struct str origin);
/* States what the page may send. */
void answer_head_add_preflight(struct answer_head *head);

#endif
