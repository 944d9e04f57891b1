/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cairn inside a program: the whole API of `cairn serve`, without a socket. A call takes a method,
 * a path, headers and a body as an HTTP request has them, and its answer is the one that the server
 * would give, byte for byte. docs/embed.md tells more, docs/api.md has the routes.
 *
 *   char *why;
 *   cairn *c = cairn_open("sqlite:./data", NULL, &why);
 *   cairn_answer *a = cairn_call(c, "POST", "/v1/threads", NULL, "{}", 2);
 *   printf("%d %s\n", cairn_answer_status(a), cairn_answer_body(a, NULL));
 *   cairn_answer_free(a);
 *   cairn_close(c);
 *
 * Threads: cairn_call and cairn_subscribe may be called on one cairn by any number of threads at
 * once. An answer belongs to the thread that holds it; a subscription to one thread at a time, and
 * only cairn_cancel may be called from another. No function may be called from a signal handler or
 * from the callback of cairn_log.
 *
 * The library starts threads of its own, with every signal blocked. It installs no signal handler,
 * leaves umask, locale and environment alone, does not end the process and writes to no stream;
 * cairn_log hears what it has to say. When there is no memory left, and only then, it says so on
 * standard error and aborts.
 *
 * fork: once cairn_open has been called, a child may call nothing of the library, nor close what
 * its parent has opened: a thread that is not there may hold what it would wait for. It may exec.
 * One process has a SQLite directory at a time, and opens it once; that includes `cairn serve`.
 * Nor may the process open the files in there by other means: closing them would drop the locks.
 * A PostgreSQL schema may be opened by any number of processes, servers among them.
 *
 * In this library's version 0 the soname changes whenever a program would have to be compiled anew.
 */
#ifndef CAIRN_CAIRN_H
#define CAIRN_CAIRN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_API __attribute__((visibility("default")))

typedef struct cairn cairn;
typedef struct cairn_answer cairn_answer;
typedef struct cairn_subscription cairn_subscription;

/* Of the library that runs: "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* --- Open and close ------------------------------------------------------------------------- */

/*
 * `size` must be filled in; every other member may be left 0. What a newer header has that this
 * library does not know must be 0, or cairn_open refuses it.
 */
struct cairn_options {
    size_t size;         /* sizeof(struct cairn_options): what the program was compiled with */
    const char *schema;  /* PostgreSQL's schema; "cairn" */
    const char *replica; /* PostgreSQL: URL of a standby for reads that may lag behind */
    unsigned readers;    /* connections that read, 1 to 64; 2 */
    unsigned writers;    /* PostgreSQL: connections that write, 1 to 64; 4 */
};

/*
 * Opens "sqlite:DIRECTORY", which is made if it is not there, or "postgres://…"; migrates it if it
 * is older. NULL on failure, also when a thread cannot be started: then *out_error says why
 * (cairn_free it), and nothing is left open. `options` and `out_error` may be NULL.
 *
 * While no API key exists every call has every right, as on a server that listens on loopback.
 * Once there is one, calls need "Authorization: Bearer …".
 */
CAIRN_API cairn *cairn_open(
    const char *where, const struct cairn_options *options, char **out_error);

/*
 * Answers calls that wait (?wait=) at once, ends subscriptions ("shutting_down"), returns when
 * every thread has come back from its call, and closes. Calls that begin meanwhile are answered
 * 503. When it returns, no thread may be about to begin a call, nor begin one later, unless a
 * subscription is still held: they have to be given back with cairn_unsubscribe, before or after,
 * and until the last one is, calls are answered 503. Answers stay. Accepts NULL.
 */
CAIRN_API void cairn_close(cairn *c);

/* Frees what the library says is to be freed with it. Accepts NULL. */
CAIRN_API void cairn_free(void *ptr);

/*
 * Where what the library has to say goes, for all of the process: a JSON object a line, at least of
 * this level (0 debug, 1 info, 2 warn, 3 error). NULL: nowhere, as at the start. Called by any
 * thread, one at a time, and not any more once another call of cairn_log has returned.
 */
CAIRN_API void cairn_log(
    int least_level, void (*write)(void *data, int level, const char *line), void *data);

/* --- Call ----------------------------------------------------------------------------------- */

/*
 * Carries out one request and waits for its answer; with ?wait= as long as that says. `target` is
 * the path with its query: "/v1/threads?limit=10". `headers` are "Name: value" each, ended by NULL,
 * or NULL; Host and Content-Length are the library's to add. One that is empty or holds a line end
 * makes the answer a 400. A body of NULL is none.
 *
 * Never NULL: what is wrong with a request is the answer's status and problem document, as over
 * HTTP. An answer of 2xx to what changes something means that it is on the disk. When the disk
 * fails (fsync) or the database is damaged, what was under way is answered 503 with the code
 * outcome_unknown, and every later call 503 until the program closes and opens anew.
 *
 * The routes of streams are answered 400: cairn_subscribe follows them.
 */
CAIRN_API cairn_answer *cairn_call(cairn *c, const char *method, const char *target,
    const char *const headers[], const void *body, size_t body_len);

CAIRN_API int cairn_answer_status(const cairn_answer *a);
/* The body, with a NUL behind it; `out_len` may be NULL. "" when there is none. */
CAIRN_API const char *cairn_answer_body(const cairn_answer *a, size_t *out_len);
/* The header of that name, in any case, or NULL. */
CAIRN_API const char *cairn_answer_header(const cairn_answer *a, const char *name);
/* The headers in their order: their names, and the value by *out_value; NULL past the last. */
CAIRN_API const char *cairn_answer_header_at(
    const cairn_answer *a, size_t index, const char **out_value);
/* Accepts NULL. What the functions above returned goes with it. */
CAIRN_API void cairn_answer_free(cairn_answer *a);

/* --- Subscribe ------------------------------------------------------------------------------ */

/*
 * Follows events: `target` is the path of one of the routes that are streams over HTTP, with the
 * same parameters, such as "/v1/threads/ID/events/stream?after=12" or "/v1/events/stream"; headers
 * as for cairn_call. NULL when it is refused: then *out_refusal is the answer that says why, to be
 * freed; `out_refusal` may be NULL.
 *
 * A subscription gives every event after its cursor once and in order, first those that are there,
 * then those to come, however slowly they are taken: it holds one page of them and reads on. Those
 * that kind= or run_id= leave out move the cursor too, so that it is no gap when they are pruned.
 */
CAIRN_API cairn_subscription *cairn_subscribe(
    cairn *c, const char *target, const char *const headers[], cairn_answer **out_refusal);

enum {
    CAIRN_TIMEOUT = 0, /* nothing came; there is no event */
    CAIRN_EVENT = 1,
    CAIRN_GAP = 2,  /* events after the last cursor were pruned; the stream continues after them */
    CAIRN_ENDED = 3 /* the last; data says why */
};

/* Only the library makes these; later versions may add members at the end. */
struct cairn_event {
    const char *cursor; /* to continue from here: ?after=CURSOR */
    const char *data;   /* JSON, as in the stream's "data:"; a NUL behind it */
    size_t data_len;
};

/*
 * Waits for the next event, at most this long; negative: for ever. *out_event lives until the next
 * call for this subscription. The data of CAIRN_ENDED is {"reason":…,"cursor":…}, and it is given
 * again by further calls. Reasons: "cancelled", "shutting_down" (cairn_close), "deleted" (the
 * thread or the tenant), "access_ended" (the key was revoked, or the first one was made),
 * "key_expired", "cursor_ahead", "unavailable" (the database could not be read: subscribe again
 * with the cursor).
 */
CAIRN_API int cairn_next(
    cairn_subscription *s, long timeout_ms, const struct cairn_event **out_event);
/* Any thread: the cairn_next under way, and any later one, returns CAIRN_ENDED. */
CAIRN_API void cairn_cancel(cairn_subscription *s);
/* While no other thread uses it. Accepts NULL. */
CAIRN_API void cairn_unsubscribe(cairn_subscription *s);

#ifdef __cplusplus
}
#endif

#endif
