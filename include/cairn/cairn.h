/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cairn inside a program: the whole API of `cairn serve` without a socket. A call takes the method,
 * path, headers and body of an HTTP request. Its answer is the answer of the server, byte for byte.
 * docs/embed.md is an introduction; docs/api.md describes the routes.
 *
 *   char *why;
 *   cairn *c = cairn_open("sqlite:./data", NULL, &why);
 *   cairn_answer *a = cairn_call(c, "POST", "/v1/threads", NULL, "{}", 2);
 *   printf("%d %s\n", cairn_answer_status(a), cairn_answer_body(a, NULL));
 *   cairn_answer_free(a);
 *   cairn_close(c);
 *
 * Threads: any number of threads may call cairn_call and cairn_subscribe on one cairn at the same
 * time. Only one thread at a time may use an answer or a subscription; cairn_cancel is the
 * exception and may be called by any thread. Do not call the library from a signal handler or from
 * the callback of cairn_log.
 *
 * The library starts its own threads and blocks all signals in them. It installs no signal
 * handlers, does not change umask, locale or environment, does not exit the process, and writes to
 * no stream; the callback of cairn_log receives its messages. If memory runs out, the library
 * prints a message to standard error and aborts.
 *
 * fork: after a call of cairn_open, a child process must not call the library or close its parent's
 * handles, because locks may be held by threads that do not exist in the child. The child may exec.
 *
 * Only one process, and only one handle, can open a SQLite directory at a time; `cairn serve`
 * counts as well. The process must not open the files in the directory by other means: closing them
 * would release the locks. Any number of processes and servers can open a PostgreSQL schema.
 *
 * In version 0 of the library, the soname changes whenever programs must be recompiled.
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

/* Returns the version of the loaded library: "0.1.0". */
CAIRN_API const char *cairn_version(void);

/* --- Open and close ------------------------------------------------------------------------- */

/*
 * Set `size`; all other members may be 0, which selects the default. Members that this version of
 * the library does not know, because the header is newer, must be 0; otherwise cairn_open fails.
 */
struct cairn_options {
    size_t size;         /* sizeof(struct cairn_options) */
    const char *schema;  /* PostgreSQL: the schema; default "cairn" */
    const char *replica; /* PostgreSQL: URL of a standby for reads that may lag behind */
    unsigned readers;    /* reading connections, 1 to 64; default 2 */
    unsigned writers;    /* PostgreSQL: writing connections, 1 to 64; default 4 */
};

/*
 * Opens "sqlite:DIRECTORY" (the directory is created if it does not exist) or "postgres://…", and
 * migrates an older database. On failure, including a thread that cannot be started, it returns
 * NULL and leaves nothing open; *out_error is then an error message, to be freed with cairn_free.
 * `options` and `out_error` may be NULL.
 *
 * While no API key exists, every call has all rights, as on a server that listens on loopback.
 * After the first key is created, calls need the header "Authorization: Bearer …".
 */
CAIRN_API cairn *cairn_open(
    const char *where, const struct cairn_options *options, char **out_error);

/*
 * Completes waiting calls (?wait=) immediately, ends subscriptions ("shutting_down"), waits until
 * every thread has returned from its call, and closes the database. Calls that start meanwhile
 * return 503, and so do exports in progress and imports that are still verified. Accepts NULL.
 *
 * Free subscriptions with cairn_unsubscribe, before or after cairn_close. Until the last one is
 * freed, calls still return 503; once cairn_close has returned and no subscription is left, no
 * thread may start a call or be about to start one. Answers remain valid.
 */
CAIRN_API void cairn_close(cairn *c);

/* Frees memory whose description in this header names cairn_free. Accepts NULL. */
CAIRN_API void cairn_free(void *ptr);

/*
 * Sets the log callback for the whole process. The callback receives one JSON object per line, of
 * this level or higher (0 debug, 1 info, 2 warn, 3 error). Any thread may call it, but only one at
 * a time. NULL, the default, disables logging. After cairn_log has returned, the previous callback
 * is no longer called.
 */
CAIRN_API void cairn_log(
    int least_level, void (*write)(void *data, int level, const char *line), void *data);

/* --- Call ----------------------------------------------------------------------------------- */

/*
 * Executes one request and waits for its answer; with ?wait=, for as long as the parameter allows.
 * `target` is the path with its query: "/v1/threads?limit=10". `headers` is an array of "Name:
 * value" strings that ends with NULL, or is NULL; the library adds Host and Content-Length. A
 * header that is empty or contains a line break results in a 400. A NULL body means that there is
 * none.
 *
 * Never returns NULL: as over HTTP, errors are reported by the status and the problem document of
 * the answer. A 2xx answer to a write means that the change is on disk. If the disk fails (fsync)
 * or the database is damaged, requests in progress are answered with 503 and the code
 * outcome_unknown, and every later call with 503, until the program closes the cairn and opens it
 * again.
 *
 * Stream routes return 400; use cairn_subscribe for them.
 */
CAIRN_API cairn_answer *cairn_call(cairn *c, const char *method, const char *target,
    const char *const headers[], const void *body, size_t body_len);

CAIRN_API int cairn_answer_status(const cairn_answer *a);
/* Returns the body, NUL-terminated; "" if there is none. `out_len` may be NULL. */
CAIRN_API const char *cairn_answer_body(const cairn_answer *a, size_t *out_len);
/* Returns the value of the header, or NULL. The case of `name` does not matter. */
CAIRN_API const char *cairn_answer_header(const cairn_answer *a, const char *name);
/* Returns the name of a header and sets *out_value; returns NULL after the last header. */
CAIRN_API const char *cairn_answer_header_at(
    const cairn_answer *a, size_t index, const char **out_value);
/* Also frees the strings returned by the functions above. Accepts NULL. */
CAIRN_API void cairn_answer_free(cairn_answer *a);

/* --- Subscribe ------------------------------------------------------------------------------ */

/*
 * Subscribes to events. `target` is the path of a route that is a stream over HTTP, with the same
 * parameters, such as "/v1/threads/ID/events/stream?after=12" or "/v1/events/stream"; `headers` are
 * those of cairn_call. If the request is rejected, the function returns NULL, and *out_refusal is
 * the answer with the error, to be freed with cairn_answer_free; `out_refusal` may be NULL.
 *
 * A subscription delivers every event after its cursor once and in order: first the stored events,
 * then new ones. The program may read as slowly as it wants, because a subscription holds one page
 * of events in memory and reads more from the database. Events that kind= or run_id= exclude also
 * advance the cursor, so pruning them later causes no gap.
 */
CAIRN_API cairn_subscription *cairn_subscribe(
    cairn *c, const char *target, const char *const headers[], cairn_answer **out_refusal);

enum {
    CAIRN_TIMEOUT = 0, /* no event within the time */
    CAIRN_EVENT = 1,
    CAIRN_GAP = 2,  /* events after the cursor were pruned; the subscription continues after them */
    CAIRN_ENDED = 3 /* the subscription has ended; the data has the reason */
};

/* Created only by the library. Later versions may add members at the end. */
struct cairn_event {
    const char *cursor; /* ?after=CURSOR continues from here */
    const char *data;   /* JSON, as after "data:" in the stream; NUL-terminated */
    size_t data_len;
};

/*
 * Waits for the next event for at most timeout_ms, or forever if that is negative. *out_event is
 * valid until the next call for this subscription. After CAIRN_ENDED, further calls return the same
 * event again. Its data is {"reason":…,"cursor":…} with one of these reasons: "cancelled",
 * "shutting_down" (cairn_close), "deleted" (the thread or the tenant), "access_ended" (the key was
 * revoked, or the first key was created), "key_expired", "cursor_ahead", "unavailable" (the
 * database could not be read: subscribe again with the cursor).
 */
CAIRN_API int cairn_next(
    cairn_subscription *s, long timeout_ms, const struct cairn_event **out_event);
/* May be called by any thread: the current and all later calls of cairn_next return CAIRN_ENDED. */
CAIRN_API void cairn_cancel(cairn_subscription *s);
/* Frees the subscription, which no other thread may be using. Accepts NULL. */
CAIRN_API void cairn_unsubscribe(cairn_subscription *s);

#ifdef __cplusplus
}
#endif

#endif
