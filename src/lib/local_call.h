/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of the embedding program: its strings are parsed by the rules of HTTP, and its call
 * is executed while the caller's thread waits. The public answer takes over the memory that it
 * needs.
 */
#ifndef LIB_LOCAL_CALL_H
#define LIB_LOCAL_CALL_H

#include <semaphore.h>

#include "lib/handle.h"

struct local_call {
    struct call call;
    struct arena arena;
    struct arena rerun_arena; /* of the latest rerun: a long wait uses no more memory */
    struct http_request request;
    bool is_call; /* false: not a valid HTTP request; `refusal` has the reason */
    struct http_refusal refusal;
    sem_t done;
};

struct local_request {
    const char *method;
    const char *target;
    const char *const *headers; /* NULL-terminated; or NULL */
    struct str body;
};

/* `api` NULL: the request can only be rejected. */
void local_call_init(struct local_call *lc, struct api *api, const struct local_request *request);
void local_call_deinit(struct local_call *lc);

/* Returns true if a route was found; otherwise the answer is already set. */
MUST_CHECK bool local_call_find_route(struct local_call *lc);
/* Makes this problem the answer. */
void local_call_refuse(struct local_call *lc, enum error e, const char *detail);
/* The answer to a request during or after cairn_close; does not use the cairn. */
cairn_answer *local_call_turn_away(const struct local_request *request);
/* After local_call_find_route: runs the call to its end, including its wait. */
void local_call_run(struct local_call *lc, cairn *c, struct str body);

/* Returns the answer, which takes over the call's body. */
cairn_answer *local_call_answer(struct local_call *lc);

#endif
