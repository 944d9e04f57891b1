#include "model/sweep.h"

#include "model/events.h"
#include "model/idempotency.h"
#include "model/runs.h"
#include "model/statements.h"
#include "model/tenants.h"

enum { LEASES_A_PASS = 100, THREADS_A_PASS = 20, ANSWERS_A_PASS = 1000 };

enum error model_prepare(struct context *c)
{
    enum error e = tenant_ensure_default(c);
    return e == OK ? run_renew_leases(c) : e;
}

struct aged_thread {
    struct sweep_position at;
    int64_t max_age_s;
};

static enum error list_aged(struct context *c, const struct sweep_position *from,
    struct aged_thread *out_threads, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_EVENT_PRUNE_DUE, c->arena);
    query_uuid(&q, "after_tenant", from->tenant_id);
    query_uuid(&q, "after_id", from->thread_id);
    query_i64(&q, "limit", THREADS_A_PASS);
    *out_count = 0;
    while (query_next(&q)) {
        struct aged_thread *t = &out_threads[(*out_count)++];
        t->at.tenant_id = row_uuid(&q);
        t->at.thread_id = row_uuid(&q);
        t->max_age_s = row_i64(&q);
    }
    return query_end(&q);
}

/* Walks the threads with an age limit round and round, some a pass. */
static enum error prune_aged(struct context *c, struct sweep_position *position)
{
    struct aged_thread *threads = ARENA_ARRAY(c->arena, struct aged_thread, THREADS_A_PASS);
    size_t n;
    enum error e = list_aged(c, position, threads, &n);
    for (size_t i = 0; e == OK && i < n; i++) {
        int64_t pruned;
        c->tenant_id = threads[i].at.tenant_id;
        e = event_prune_older(
            c, threads[i].at.thread_id, c->now_us - threads[i].max_age_s * 1000000, &pruned);
    }
    if (e == OK)
        *position = n == THREADS_A_PASS ? threads[n - 1].at : (struct sweep_position){0};
    return e;
}

enum error model_sweep(struct context *c, struct sweep_position *position, bool *out_more)
{
    size_t swept = 0;
    bool garbage = false;
    c->actor = ACTOR_SYSTEM;
    enum error e = run_sweep_leases(c, LEASES_A_PASS, &swept);
    if (e == OK)
        e = prune_aged(c, position);
    if (e == OK)
        e = event_sweep_garbage(c, &garbage);
    if (e == OK)
        e = idempotency_sweep(c, ANSWERS_A_PASS);
    *out_more = swept == LEASES_A_PASS || garbage || !uuid_is_nil(position->tenant_id);
    return e;
}
