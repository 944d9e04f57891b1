/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/usage.h"
#include "model/execution/usage.sql.h"

static const int64_t UNIT_PICO = INT64_C(1000000000000);

enum error usage_currency(struct context *c, struct str *out_currency)
{
    struct query q;
    struct str currency = STR("USD");
    context_query(c, &q, &SQL_USAGE_CURRENCY);
    if (query_next(&q))
        currency = row_text(&q);
    TRY(query_end(&q));
    *out_currency = currency;
    return OK;
}

/* Returns false if the cost exceeds 64 bits. */
static bool read_sums(struct query *q, struct usage_sums *out)
{
    out->runs_started = row_i64(q);
    out->runs_completed = row_i64(q);
    out->runs_failed = row_i64(q);
    out->runs_cancelled = row_i64(q);
    out->llm_calls = row_i64(q);
    out->input_tokens = row_i64(q);
    out->output_tokens = row_i64(q);
    out->cache_creation_input_tokens = row_i64(q);
    out->cache_read_input_tokens = row_i64(q);
    int64_t whole = row_i64(q), rest = row_i64(q), whole_pico;
    out->unpriced_calls = row_i64(q);
    return !__builtin_mul_overflow(whole, UNIT_PICO, &whole_pico) &&
           !__builtin_add_overflow(whole_pico, rest, &out->cost);
}

static enum error too_much(struct context *c)
{
    return problem_set(c->problem, ERR_INVALID,
        "a sum of costs exceeds the maximum of 9223372: request fewer days");
}

static void bind(struct context *c, struct query *q, const struct sql_statement *statement,
    const struct usage_filter *filter)
{
    context_query(c, q, statement);
    query_i64(q, from_day, filter->from_day);
    query_i64(q, to_day, filter->to_day);
    query_text(q, model, filter->model);
    query_text(q, provider, filter->provider);
    query_uuid_if(q, agent_id, filter->has_agent_id, filter->agent_id);
}

enum error usage_total(
    struct context *c, const struct usage_filter *filter, struct usage_sums *out_sums)
{
    struct query q;
    struct usage_sums sums = {0};
    bool is_told = true;
    bind(c, &q, &SQL_USAGE_TOTAL, filter);
    while (query_next(&q))
        is_told = read_sums(&q, &sums);
    TRY(query_end(&q));
    if (!is_told)
        return too_much(c);
    *out_sums = sums;
    return OK;
}

enum error usage_report(struct context *c, const struct usage_filter *filter,
    const struct usage_key *after, struct page *page, struct usage_group *out_groups)
{
    const struct usage_key none = {.model = STR(""), .provider = STR("")};
    const struct usage_key *from = after != NULL ? after : &none;
    struct query q;
    bool is_told = true;
    bind(c, &q, &SQL_USAGE_REPORT, filter);
    query_bool(&q, by_day, filter->by_day);
    query_bool(&q, by_model, filter->by_model);
    query_bool(&q, by_provider, filter->by_provider);
    query_bool(&q, by_agent, filter->by_agent);
    query_bool(&q, has_after, after != NULL);
    query_i64(&q, after_day, from->day);
    query_text(&q, after_model, from->model);
    query_text(&q, after_provider, from->provider);
    query_uuid(&q, after_agent, from->agent_id);
    page_bind(&q, page);
    while (is_told && page_next(&q, page)) {
        struct usage_group *group = &out_groups[page->count++];
        group->key.day = row_i64(&q);
        group->key.model = row_text(&q);
        group->key.provider = row_text(&q);
        group->key.agent_id = row_uuid(&q);
        is_told = read_sums(&q, &group->sums);
    }
    TRY(query_end(&q));
    return !is_told ? too_much(c) : OK;
}

enum error usage_averages(struct context *c, bool by_agent, int64_t since_us,
    const struct uuid *after, struct page *page, struct usage_average *out_averages)
{
    struct query q;
    page_begin(
        c, &q, by_agent ? &SQL_USAGE_AVERAGE_OF_AGENTS : &SQL_USAGE_AVERAGE_OF_THREADS, page);
    if (by_agent)
        query_uuid(&q, agent_id, UUID_NIL);
    query_i64(&q, since, since_us);
    query_uuid_if(&q, after, after != NULL, after != NULL ? *after : UUID_NIL);
    while (page_next(&q, page)) {
        struct usage_average *average = &out_averages[page->count++];
        average->id = row_uuid(&q);
        average->runs = row_i64(&q);
        average->input_tokens = row_i64(&q);
        average->output_tokens = row_i64(&q);
        average->avg_tokens =
            (average->input_tokens + average->output_tokens + average->runs / 2) / average->runs;
    }
    return query_end(&q);
}
