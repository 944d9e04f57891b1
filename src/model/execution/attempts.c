/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/attempts.h"

#include "model/execution/attempts.sql.h"
#include "model/execution/run_rows.h"

ENUM_DEFINE(attempt_outcomes, ATTEMPT_OUTCOMES);

enum error attempt_list(struct context *c, struct uuid run_id, int64_t after, struct page *page,
    struct run_attempt *out_attempts)
{
    struct query q;
    page_begin(c, &q, &SQL_ATTEMPT_LIST, page);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, after, after);
    return attempt_read_page(&q, page, out_attempts);
}

enum error attempt_begin(struct context *c, struct run *run)
{
    struct query q;
    run->attempt_count++;
    context_query(c, &q, &SQL_ATTEMPT_INSERT);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->attempt_count);
    query_text(&q, worker, run->worker);
    query_i64(&q, fence, run->fence);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error attempt_end(
    struct context *c, struct run *run, enum attempt_outcome outcome, struct str error)
{
    struct query q;
    run_drop_lease(run);
    bool has_failed = outcome == ATTEMPT_FAILED || outcome == ATTEMPT_LEASE_EXPIRED;
    if (run->attempt_count == 0) /* the lease is from before attempts were introduced */
        return OK;
    run->failed_attempts += has_failed;
    context_query(c, &q, &SQL_ATTEMPT_END);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->attempt_count);
    query_text(&q, outcome, attempt_outcome_word(outcome));
    query_text(&q, error, error);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum attempt_outcome attempt_outcome_of(enum run_status status)
{
    switch (status) {
    case RUN_COMPLETED:
        return ATTEMPT_COMPLETED;
    case RUN_FAILED:
        return ATTEMPT_FAILED;
    case RUN_CANCELLED:
        return ATTEMPT_CANCELLED;
    case RUN_WAITING:
        return ATTEMPT_WAITING;
    case RUN_PAUSED:
        return ATTEMPT_PAUSED;
    default:
        return ATTEMPT_RELEASED;
    }
}
