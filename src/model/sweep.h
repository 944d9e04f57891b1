/*
 * What must happen without anybody asking: leases that ended, events past their age, idempotency
 * answers past their time. Each pass is one short write job; the server runs one a second, and at
 * once again when a pass left work over.
 */
#ifndef MODEL_SWEEP_H
#define MODEL_SWEEP_H

#include "model/context.h"

/* Where the walk over the threads with an age limit has come to; zero at the start. */
struct sweep_position {
    struct uuid tenant_id;
    struct uuid thread_id;
};

/* Before the first request: the default tenant, and whole leases for those who hold one. */
MUST_CHECK enum error model_prepare(struct context *c);
MUST_CHECK enum error model_sweep(
    struct context *c, struct sweep_position *position, bool *out_more);

#endif
