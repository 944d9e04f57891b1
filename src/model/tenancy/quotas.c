/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/quotas.h"

#include "model/context.h"
#include "model/tenancy/quotas.sql.h"

static const int64_t DAY_US = INT64_C(86400) * 1000000;

int64_t quota_day(const struct context *c, int64_t *out_ends_at)
{
    int64_t day = c->now_us / DAY_US;
    *out_ends_at = (day + 1) * DAY_US;
    return day;
}

enum error quota_refuse(
    struct context *c, enum error code, const char *quota, int64_t limit, int64_t used)
{
    c->problem->extension =
        arena_printf(c->problem->arena, "{\"quota\":\"%s\",\"limit\":%lld,\"used\":%lld}", quota,
            (long long)limit, (long long)used);
    return problem_set(c->problem, code,
        "the tenant's quota \"%s\" is %lld, of which %lld are used: see GET /v1/tenant", quota,
        (long long)limit, (long long)used);
}

/* --- Usage ---------------------------------------------------------------------------------- */

static enum error count(
    struct context *c, const struct sql_statement *statement, int64_t *out_count)
{
    struct query q;
    context_query(c, &q, statement);
    return context_number(&q, out_count);
}

static enum error read_events(struct context *c, int64_t *out_day, int64_t *out_events)
{
    struct query q;
    *out_day = *out_events = 0;
    context_query(c, &q, &SQL_QUOTA_EVENTS);
    while (query_next(&q)) {
        *out_day = row_i64(&q);
        *out_events = row_i64(&q);
    }
    return query_end(&q);
}

enum error quota_usage_get(struct context *c, struct quota_usage *out_usage)
{
    struct quota_usage usage;
    TRY(count(c, &SQL_QUOTA_BYTES, &usage.bytes));
    TRY(count(c, &SQL_QUOTA_THREADS, &usage.threads));
    TRY(count(c, &SQL_QUOTA_RUNNING, &usage.running));
    TRY(read_events(c, &usage.day, &usage.events));
    *out_usage = usage;
    return OK;
}

/* --- Stored objects ------------------------------------------------------------------------- */

static enum error run_on_tenant(
    struct context *c, const struct sql_statement *statement, struct uuid tenant_id)
{
    struct query q;
    query_begin(&q, c->tx, statement, c->arena);
    query_uuid(&q, tenant_id, tenant_id);
    return query_run(&q);
}

enum error quota_count_stored(struct context *c, struct uuid tenant_id)
{
    if (tx_is_shared(c->tx))
        TRY(run_on_tenant(c, &SQL_QUOTA_LOCK_STORED, tenant_id));
    return run_on_tenant(c, &SQL_QUOTA_COUNT_STORED, tenant_id);
}

enum error quota_count_missing(struct context *c)
{
    enum { TENANTS_A_TIME = 64 };
    struct uuid tenants[TENANTS_A_TIME];
    size_t n;
    do {
        struct query q;
        query_begin(&q, c->tx, &SQL_QUOTA_UNCOUNTED, c->arena);
        query_i64(&q, limit, TENANTS_A_TIME);
        for (n = 0; query_next(&q); n++)
            tenants[n] = row_uuid(&q);
        TRY(query_end(&q));
        for (size_t i = 0; i < n; i++)
            TRY(quota_count_stored(c, tenants[i]));
    } while (n == TENANTS_A_TIME);
    return OK;
}

enum error quota_check_threads(struct context *c)
{
    const struct quota_limits *q = &c->quotas;
    int64_t used;
    if (!q->has_max_threads || c->may_exceed_quotas)
        return OK;
    TRY(context_lock_tenant(c));
    TRY(count(c, &SQL_QUOTA_THREADS, &used));
    return used < q->max_threads
               ? OK
               : quota_refuse(c, ERR_QUOTA_STORED, "threads", q->max_threads, used);
}

enum error quota_check_imported(struct context *c, int64_t more_threads)
{
    const struct quota_limits *q = &c->quotas;
    int64_t used;
    if (!q->has_max_threads)
        return OK;
    TRY(context_lock_tenant(c));
    TRY(count(c, &SQL_QUOTA_THREADS, &used));
    return more_threads <= q->max_threads - used
               ? OK
               : quota_refuse(c, ERR_QUOTA_STORED, "threads", q->max_threads, used);
}

enum error quota_check_bytes(struct context *c, int64_t more_bytes)
{
    const struct quota_limits *q = &c->quotas;
    int64_t used;
    if (!q->has_max_bytes || c->may_exceed_quotas)
        return OK;
    TRY(context_lock_tenant(c));
    TRY(count(c, &SQL_QUOTA_BYTES, &used));
    return more_bytes <= q->max_bytes - used
               ? OK
               : quota_refuse(c, ERR_QUOTA_STORED, "bytes", q->max_bytes, used);
}

/* --- Events --------------------------------------------------------------------------------- */

static enum error refuse_events(struct context *c, int64_t today, int64_t ends_at)
{
    int64_t day, used;
    TRY(read_events(c, &day, &used));
    enum error e = quota_refuse(
        c, ERR_QUOTA, "events_per_day", c->quotas.max_events_per_day, day < today ? 0 : used);
    c->problem->retry_after_s = (uint32_t)((ends_at - c->now_us + 999999) / 1000000);
    return e;
}

enum error quota_count_events(struct context *c, struct uuid thread_id, size_t n)
{
    if (!c->quotas.has_max_events_per_day)
        return OK;
    struct query q;
    int64_t ends_at, day = quota_day(c, &ends_at);
    int64_t limit = c->may_exceed_quotas ? INT64_MAX / 2 : c->quotas.max_events_per_day;
    if ((int64_t)n > limit)
        return refuse_events(c, day, ends_at);
    TRY(context_lock_thread(c, thread_id)); /* before the row of the usage: the order of locks */
    context_query(c, &q, &SQL_QUOTA_COUNT_EVENTS);
    query_i64(&q, day, day);
    query_i64(&q, count, (int64_t)n);
    query_i64(&q, limit, limit);
    bool counted = query_next(&q);
    TRY(query_end(&q));
    return counted ? OK : refuse_events(c, day, ends_at);
}

/* --- Runs ----------------------------------------------------------------------------------- */

static enum error count_running(struct context *c, int64_t *out_running)
{
    TRY(context_lock_tenant(c));
    return count(c, &SQL_QUOTA_RUNNING, out_running);
}

enum error quota_has_room_for_run(struct context *c, bool *out_room)
{
    int64_t running = 0;
    if (c->quotas.has_max_concurrent_runs)
        TRY(count_running(c, &running));
    *out_room = !c->quotas.has_max_concurrent_runs || running < c->quotas.max_concurrent_runs;
    return OK;
}

enum error quota_check_runs(struct context *c)
{
    int64_t running, limit = c->quotas.max_concurrent_runs;
    if (!c->quotas.has_max_concurrent_runs)
        return OK;
    TRY(count_running(c, &running));
    return running < limit ? OK : quota_refuse(c, ERR_QUOTA, "concurrent_runs", limit, running);
}
