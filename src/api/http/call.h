/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of the API, over HTTP or in-process: the request, the job that carries it out, and the
 * answer. The way of a call:
 *
 *   call.c         call_route and call_decode read the request, on the caller's thread
 *   call_run.c     call_submit runs it as a job of the store: access.c, conditions.c and replay.c
 *                  before the handler; calls `done` on a store thread, when the answer is durable
 *   call_answer.c  the answers of handlers, and the refusals
 *
 * Every string of a call lives in its arena, except the body of the answer. The store may run the
 * job several times. Each run starts from the state at call_submit: handlers do not change the
 * request, and their allocations are freed before the next run.
 */
#ifndef API_HTTP_CALL_H
#define API_HTTP_CALL_H

#include "api/http/connection.h"
#include "api/http/cursor.h"
#include "api/http/download.h"
#include "api/http/holdings.h"
#include "api/http/intake.h"
#include "api/http/known_keys.h"
#include "api/http/rate_limit.h"
#include "api/http/route.h"
#include "base/buf.h"
#include "base/coding.h"
#include "model/rehearsal.h"
#include "model/threads/thread_copy.h"
#include "model/threads/threads.h"
#include "net/http.h"

enum {
    CALL_MAX_HEADERS = 16,
    CALL_ANSWER_MAX_BYTES = 64 * 1024 * 1024,
    CALL_MAX_WAIT_S = 60,
    CALL_REQUEST_ID_MAX_BYTES = 128,
};

struct export_places;

struct api {
    struct store *store;
    /* While there is no key, requests act for the default tenant: only when listening on loopback.
     * */
    bool may_be_open;
    /* Whether the last request without a key was accepted: only for accounting its work. */
    atomic_bool is_open;
    uint64_t upload_max_bytes; /* limit for the body of an upload, unless its route has one */
    struct rate_limiter *rate_limiter;
    struct known_keys *known_keys;
    struct holdings *streams;     /* open streams and waiting requests */
    struct holdings *connections; /* open connections, since their first authenticated request */
    struct export_places *exports;
    struct api_metrics *metrics;
    struct buf openapi; /* the document, generated once */
    /* Long work ends as soon as possible, because the server stops or the library is closed. */
    atomic_bool is_stopping;
};

/* The request, as call_route and call_decode have read it. Handlers do not change it. */
struct request {
    const struct http_request *http;
    struct str id;     /* X-Request-Id, or a new id */
    struct str ticket; /* of the query of a stream, if there is no secret; STR_NONE */
    struct str secret; /* of Authorization or of the WebSocket's subprotocol; STR_NONE */
    /* The parameters of the path by their position, each in the array of its kind. */
    struct uuid params[ROUTE_MAX_PARAMS];
    /* 0 for a UUID of the kind ROUTE_PARAM_EITHER. */
    int64_t numbers[ROUTE_MAX_PARAMS];
    struct str texts[ROUTE_MAX_PARAMS];
    void *query; /* the query parameters, decoded by route->query */
    struct str metadata_keys[THREAD_METADATA_FILTERS];
    struct str metadata_values[THREAD_METADATA_FILTERS];
    struct str body;
    struct json_doc doc;   /* the parsed body */
    void *input;           /* the body, decoded by route->body */
    struct presence given; /* the members of the body, or of a merge patch */
    bool is_json_patch;    /* the patch is RFC 6902, else RFC 7396 */
    bool is_json;          /* a raw body is JSON, and parsed */
    /* The body contained read-only members, which `doc` no longer has (echo.h). */
    bool has_echo;
    bool echo_of_nothing;  /* there is no object to compare them with */
    struct json_doc echo;  /* these members */
    struct json_doc whole; /* the body with all members */
    int64_t wait_s;        /* of a route with .waits; 0: answer at once */
    bool may_lag;          /* the client accepts an answer from a replica */
    /* The request cannot be carried out. A client that is authenticated receives `problem`. */
    bool is_bad;
    struct problem *problem;
};

/* The client, once it is authenticated. */
struct caller {
    struct uuid tenant_id;
    bool has_key;
    struct uuid key_id;   /* also of a key that was refused */
    struct str principal; /* the principal that the request acts for; STR_NONE: the whole tenant */
    const char *denied;   /* the action of an audit record about a refusal: "key.refused"; NULL */
    bool has_expiry;
    int64_t expires_at;
    unsigned scopes; /* effective */
    struct quota_limits quotas;
    struct uuid ticket_id; /* of the request's ticket */
};

struct answer {
    int status;
    struct http_header headers[CALL_MAX_HEADERS];
    size_t n_headers;
    struct str content_type;
    struct buf body;
    struct buf replay;        /* the body of a replay where it must differ: without secrets */
    struct download download; /* instead of `body` */
    enum coding coding;       /* of the bytes of `body` */
    bool is_bytes;            /* the body is not JSON; set also when it is empty */
    bool may_wait;            /* a long poll found nothing and may wait for more */
    int64_t wake_in_us;       /* then the call runs again after this time; 0: at an event only */
    void *stream;             /* the subscription that the handler of a stream has admitted */
    bool closes;              /* the connection is closed after the answer */
    enum scope also_shows;    /* the scope of data in the answer that the route's does not cover */
};

struct call {
    struct store_job job;
    struct api *api;
    struct arena *arena;
    struct connection *connection; /* NULL: the call is in-process, or its route is public */
    const struct route *route;
    struct request request;
    struct caller caller;
    struct answer answer;
    struct problem problem; /* the error, when the call fails */

    /* A READ job admits an upload, or a large body, before its bytes are read. */
    bool is_admitting; /* the current or last job is the admission */
    bool is_admitted;
    bool is_comparing;  /* the current job compares the read-only members of the body */
    bool checks_head;   /* the admission is that of call_check_head */
    bool uses_ticket;   /* the current job deletes the ticket; the job before has only checked it */
    bool continues;     /* the handler has more to do: see call_continue */
    bool has_continued; /* a job of this call has committed a part of its work */
    struct intake upload; /* only for ROUTE_UPLOAD */
    void *prepared;       /* the result of the route's `prepare`, or of `admit` of a ROUTE_LONG */
    atomic_bool is_abandoned; /* the client no longer waits for the answer; set by any thread */

    /* Kept from one run of the job to the next. */
    struct rehearsal rehearsal;
    struct thread_copying copying; /* while a share is redeemed */
    struct arena_mark mark;
    bool key_is_known;  /* to known_keys, when the job was submitted */
    bool must_be_fresh; /* a replica must not answer, because the permissions of a principal are
                           needed */
    bool is_counted;    /* against the rate limits, once for all runs of the job */
    struct rate_verdict rate;
    struct rate_verdict tenant_rate;

    /* Kept between the two halves of the job. */
    struct context *context;
    struct replay *replay; /* of the Idempotency-Key */
    /* A handler that only sends its statements sets this; it runs after their results and answers.
     * */
    enum error (*later)(struct call *call, struct context *c);
    void *later_data;

    void (*done)(struct call *call);
    void *data; /* for the owner of the call */
};

void call_init(
    struct call *call, struct api *api, struct arena *arena, const struct http_request *request);
void call_deinit(struct call *call);

/* Finds the route and checks the path. Returns false if the answer is ready. */
MUST_CHECK bool call_route(struct call *call);
/* Decodes parameters and body. Their faults are reported after authentication. */
void call_decode(struct call *call, struct str body);
/* Runs the handler, at once for static routes, else as a job; then calls `done`. */
void call_submit(struct call *call);
/* For a ROUTE_UPLOAD, after call_decode without a body: checks whether the client may send the
 * bytes. Calls `done` with is_admitted, or with the refusal as the answer. */
void call_admit(struct call *call);
/* Checks the key and its scope before a large body is read. Calls `done` as call_admit does. */
void call_check_head(struct call *call);
/* Any thread: returns ERR_CANCELLED if no client waits for the answer, or the server stops. For
 * long work that changes nothing; `call` is a void pointer so that this can be a callback. */
MUST_CHECK enum error call_may_continue(void *call);
/* Returns the seconds that a finished call may wait for more; 0: its answer is final. */
int64_t call_wait_s(const struct call *call);
/* Returns the milliseconds after which such a call should run again without an event; 0: none. */
uint64_t call_wake_ms(const struct call *call);
/* Removes the answer of a finished call so that it can be submitted again. */
void call_rewind(struct call *call);

/* Makes this problem the answer. */
void call_refuse(struct call *call, enum error e);
void call_add_header(struct call *call, struct str name, struct str value);

/* The request's own id when it is safe to repeat, else a new one. */
struct str request_read_id(struct arena *arena, const struct http_request *http);
/* Returns the API key; STR_NONE if there is none, "" if the header contains no key. */
struct str request_read_secret(const struct http_request *http);
/* Returns true for 1 to max_bytes printable ASCII characters without blanks and quotes. */
bool request_is_plain_id(struct str id, size_t max_bytes);

/* --- For handlers --------------------------------------------------------------------------- */

/* Returns the position of the path's parameter of this name in params, numbers or texts. */
size_t call_param(const struct call *call, const char *name);
/* Returns false if the path has no parameter of this name. */
MUST_CHECK bool call_find_param(const struct call *call, const char *name, size_t *out_index);
/* The thread of the path: {thread_id}, or {workflow_id} of the Memoria routes. */
MUST_CHECK bool call_find_thread_param(const struct call *call, size_t *out_index);

/* The functions call_answer… return OK, so that they can end a handler; a read that answers a
 * version returns ERR_STALE if If-Match names others. */
/* Answers one object. `version` is 0 for objects without a version. */
MUST_CHECK enum error call_answer(
    struct call *call, const struct schema *schema, const void *object, int64_t version);
/* Answers bytes of any type. */
MUST_CHECK enum error call_answer_raw(
    struct call *call, struct str content_type, struct str bytes, int64_t version);
/* Answers 204. */
enum error call_answer_nothing(struct call *call);
/* Instead of an answer, for a write that is too large for one job: the transaction is committed,
 * and the handler runs again in a new job, which other jobs may precede. Each job authenticates the
 * client again. If a later job fails, the earlier ones have happened: the handler must have
 * recorded how its work is completed or undone without the client. Returns OK. */
enum error call_continue(struct call *call);
/* Answers a deletion in slices, or continues it. The sweep may have completed it meanwhile. */
enum error call_answer_deletion(struct call *call, enum error e, bool more);
/* Returns whether the body, or a merge patch, has the member of route->body: a value, null, or
 * neither. */
enum member_state call_member(const struct call *call, const char *name);
/* Returns true if the body has a value for a member other than this one. */
bool call_gives_others(const struct call *call, const char *name);
/* Applies the patch in the body to `object`, a struct of route->body, and decodes the result into
 * `out`. */
MUST_CHECK enum error call_apply_patch(struct call *call, const void *object, void *out);

#endif
