/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of the program: its strings are read by the rules of HTTP, and its call is carried
 * out while the caller's thread waits. In place; the public answer takes what it needs with it.
 */
#ifndef LIB_LOCAL_CALL_H
#define LIB_LOCAL_CALL_H

#include <semaphore.h>

#include "lib/handle.h"

struct local_call {
    struct call call;
    struct arena arena;
    struct arena rerun_arena; /* of the newest run again: waiting long takes no more memory */
    struct http_request request;
    bool is_call; /* else it is no request of HTTP, for the reason of `refusal` */
    struct http_refusal refusal;
    sem_t done;
};

struct local_request {
    const char *method;
    const char *target;
    const char *const *headers; /* ended by NULL; or NULL */
    struct str body;
};

/* `api` NULL: it can only be refused. */
void local_call_init(struct local_call *lc, struct api *api, const struct local_request *request);
void local_call_deinit(struct local_call *lc);

/* Whether a route was found that can be run; else the answer is there already. */
MUST_CHECK bool local_call_find_route(struct local_call *lc);
/* The answer is this problem. */
void local_call_refuse(struct local_call *lc, enum error e, const char *detail);
/* The answer to a request that came while, or after, the cairn closed; uses nothing of it. */
cairn_answer *local_call_turn_away(const struct local_request *request);
/* After local_call_find_route: runs the call to its end, with its wait. */
void local_call_run(struct local_call *lc, cairn *c, struct str body);

/* The answer, with the call's body. */
cairn_answer *local_call_answer(struct local_call *lc);

#endif
