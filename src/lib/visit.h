/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request of the program: its strings are read by the rules of HTTP, and its call is carried
 * out while the caller's thread waits. In place; the public answer takes what it needs with it.
 */
#ifndef LIB_VISIT_H
#define LIB_VISIT_H

#include <semaphore.h>

#include "lib/handle.h"

struct visit {
    struct call call;
    struct arena arena;
    struct arena rerun_arena; /* of the newest run again: waiting long takes no more memory */
    struct http_request request;
    bool is_call; /* else it is no request of HTTP, for the reason of `refusal` */
    struct http_refusal refusal;
    sem_t done;
};

struct visit_request {
    const char *method;
    const char *target;
    const char *const *headers; /* ended by NULL; or NULL */
    struct str body;
};

/* `api` NULL: it can only be refused. */
void visit_init(struct visit *v, struct api *api, const struct visit_request *request);
void visit_deinit(struct visit *v);

/* Whether a route was found that can be run; else the answer is there already. */
MUST_CHECK bool visit_find_route(struct visit *v);
/* The answer is this problem. */
void visit_refuse(struct visit *v, enum error e, const char *detail);
/* The answer to a request that came while, or after, the cairn closed; uses nothing of it. */
cairn_answer *visit_turn_away(const struct visit_request *request);
/* After visit_find_route: runs the call to its end, with its wait. */
void visit_run(struct visit *v, cairn *c, struct str body);

/* The answer, with the call's body. */
cairn_answer *visit_answer(struct visit *v);

#endif
