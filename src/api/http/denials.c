/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/denials.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/hash.h"
#include "model/tenancy/audit.h"

struct denial {
    struct store_job job;
    struct uuid tenant_id;
    struct uuid key_id;
    const char *action;
    char request_id[CALL_REQUEST_ID_MAX_BYTES];
    size_t request_id_len;
};

static enum error run(struct store_job *job, struct tx *tx)
{
    struct denial *d = CONTAINER_OF(job, struct denial, job);
    struct arena arena;
    struct problem problem;
    struct context c;
    arena_init(&arena, 64 * 1024);
    problem_init(&problem, &arena);
    context_init(&c, &arena, &problem, tx);
    context_enter(&c, d->tenant_id);
    c.actor = ACTOR_KEY;
    c.key_id = d->key_id;
    c.request_id = (struct str){d->request_id, d->request_id_len};
    enum error e = audit_record(&c, d->action, "key", d->key_id, STR_NONE);
    arena_deinit(&arena);
    return e;
}

static void done(struct store_job *job, enum error result)
{
    mem_free(CONTAINER_OF(job, struct denial, job));
}

void denial_note(const struct call *call, const char *action)
{
    if (uuid_is_nil(call->caller.key_id))
        return;
    /* The same kind of bucket as for requests, under an id that no key has. */
    struct uuid bucket = call->caller.key_id;
    bucket.bytes[0] ^= 0xff;
    if (!rate_limiter_take(call->api->rate_limiter, bucket, rate_per_minute(1), clock_wall_us())
             .allowed)
        return;
    struct denial *d = MEM_NEW(struct denial);
    d->job = (struct store_job){.mode = STORE_WRITE,
        .on_full = STORE_ON_FULL_KEEPS, /* small and rare, and may report an attack */
        .affinity =
            hash_bytes(call->caller.tenant_id.bytes, sizeof call->caller.tenant_id.bytes) | 1,
        .flow = tenant_flow(call->caller.tenant_id),
        .run = run,
        .done = done};
    d->tenant_id = call->caller.tenant_id;
    d->key_id = call->caller.key_id;
    d->action = action;
    d->request_id_len =
        call->request.id.len < sizeof d->request_id ? call->request.id.len : sizeof d->request_id;
    memcpy(d->request_id, call->request.id.ptr, d->request_id_len);
    store_submit(call->api->store, &d->job);
}
