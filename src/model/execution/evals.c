/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/evals.h"

#include "model/agents/agents.h"
#include "model/execution/evals.sql.h"
#include "model/tenancy/audit.h"

static void read_row(struct query *q, struct eval *out)
{
    eval_read(q, out);
    out->score *= EVAL_SCORE_UNIT;
}

enum error eval_get(struct context *c, struct uuid id, struct eval *out_eval)
{
    struct query q;
    context_query(c, &q, &SQL_EVAL_GET);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_eval);
    TRY(query_end(&q));
    return !found ? context_not_found(c, "eval", id) : OK;
}

static const struct sql_statement *list_statement(const struct eval_filter *filter)
{
    return filter->has_run_id                ? &SQL_EVAL_LIST_OF_RUN
           : filter->has_agent_id            ? &SQL_EVAL_LIST_OF_AGENT
           : !str_is_none(filter->eval_type) ? &SQL_EVAL_LIST_OF_TYPE
                                             : &SQL_EVAL_LIST;
}

enum error eval_list(
    struct context *c, const struct eval_filter *filter, struct page *page, struct eval *out_evals)
{
    const struct sql_statement *statement = list_statement(filter);
    struct query q;
    page_begin(c, &q, statement, page);
    query_uuid_if(&q, before, filter->has_before, filter->before);
    if (statement_takes(statement, run_id))
        query_uuid(&q, run_id, filter->run_id);
    if (statement_takes(statement, agent_id))
        query_uuid_if(&q, agent_id, filter->has_agent_id, filter->agent_id);
    if (statement_takes(statement, eval_type))
        query_text(&q, eval_type, filter->eval_type);
    while (page_next(&q, page))
        read_row(&q, &out_evals[page->count++]);
    return query_end(&q);
}

/* --- Changes --------------------------------------------------------------------------------- */

static enum error write_row(
    struct context *c, const struct sql_statement *statement, const struct eval *eval)
{
    struct query q;
    context_query(c, &q, statement);
    eval_bind(&q, eval);
    query_i64_if(&q, score_micro, eval->has_score, eval->score / EVAL_SCORE_UNIT);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static void set_defaults(struct eval *eval)
{
    if (str_is_none(eval->eval_input))
        eval->eval_input = STR("{}");
    if (str_is_none(eval->eval_data))
        eval->eval_data = STR("{}");
    if (str_is_none(eval->metadata))
        eval->metadata = STR("{}");
}

static enum error check_run(struct context *c, struct uuid run_id)
{
    struct query q;
    int64_t count = 0;
    context_query(c, &q, &SQL_EVAL_HAS_RUN);
    query_uuid(&q, id, run_id);
    TRY(context_number(&q, &count));
    return count == 0 ? problem_fault(c->problem, STR("/run_id"), "must be a run of the tenant")
                      : OK;
}

/* A new agent or run must exist; an unchanged one may have been deleted since. */
static enum error check(struct context *c, const struct eval *before, const struct eval *after)
{
    bool same_agent = before->has_agent_id && uuid_eq(before->agent_id, after->agent_id);
    bool same_run = before->has_run_id && uuid_eq(before->run_id, after->run_id);
    bool exists = true;
    if (after->has_agent_id && !same_agent)
        TRY(agent_exists(c, after->agent_id, &exists));
    if (!exists)
        return problem_fault(c->problem, STR("/agent_id"), "must be an agent of the tenant");
    return after->has_run_id && !same_run ? check_run(c, after->run_id) : OK;
}

enum error eval_create(struct context *c, struct eval *eval)
{
    const struct eval nothing = {0};
    set_defaults(eval);
    eval->id = uuid_v7();
    TRY(check(c, &nothing, eval));
    TRY(write_row(c, &SQL_EVAL_INSERT, eval));
    return eval_get(c, eval->id, eval);
}

enum error eval_lock(struct context *c, struct uuid id)
{
    struct query q;
    if (!tx_is_shared(c->tx))
        return OK;
    context_query(c, &q, &SQL_EVAL_LOCK);
    query_uuid(&q, id, id);
    return query_run(&q);
}

enum error eval_update(struct context *c, const struct eval *before, struct eval *after)
{
    after->id = before->id;
    set_defaults(after);
    TRY(check(c, before, after));
    TRY(write_row(c, &SQL_EVAL_UPDATE, after));
    return eval_get(c, before->id, after);
}

enum error eval_delete(struct context *c, struct uuid id)
{
    struct eval eval;
    struct query q;
    TRY(eval_lock(c, id));
    TRY(eval_get(c, id, &eval));
    TRY(context_check_match(c, eval.version));
    context_query(c, &q, &SQL_EVAL_DELETE);
    query_uuid(&q, id, id);
    TRY(query_run(&q));
    return audit_record(c, "eval.deleted", "eval", id, STR_NONE);
}
