/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API in-process, on a real store: a request in, the finished call out. Without sockets, so
 * streams stop at their admission.
 */
#ifndef TESTS_UNIT_API_FIXTURE_H
#define TESTS_UNIT_API_FIXTURE_H

#include <semaphore.h>

#include "api/http/call.h"
#include "api/http/metrics.h"
#include "store/scratch.h"

enum { REQUEST_HEADERS_MAX = 4, CALLS_MAX = 64, REQUEST_BUDGET_BYTES = 32 * 1024 * 1024 };

struct fixture {
    struct scratch scratch;
    struct arena *arena; /* the scratch directory's */
    struct api api;
    sem_t done;
    size_t budget_bytes; /* of each call's memory */
    struct call *calls[CALLS_MAX];
    size_t n_calls;
};

void fixture_begin(struct fixture *f);
void fixture_end(struct fixture *f);

/* A request without the head that a client would send: "/v1/threads?limit=1". */
struct http_request *make_request(struct fixture *f, const char *method, const char *target);
void add_header(struct http_request *r, const char *name, struct str value);

/* Carries the request out and waits; the call lives until the fixture's end. */
struct call *carry_out(struct fixture *f, const struct http_request *r, const char *body);
/* The same for a request with no headers. */
struct call *ask(struct fixture *f, const char *method, const char *target, const char *body);
/* With a key. */
struct call *ask_as(
    struct fixture *f, struct str secret, const char *method, const char *target, const char *body);

/* The member of the answer's object, as raw JSON, or without its quotes when it is text. */
struct str answer_member(struct fixture *f, const struct call *call, const char *name);
/* The answer's header, or STR_NONE. */
struct str answer_header(const struct call *call, const char *name);

/* A call that is only decoded, never carried out. */
void call_for(struct fixture *f, struct call *call, const struct http_request *r);

#endif
