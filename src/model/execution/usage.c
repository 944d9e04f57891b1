/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/usage.h"

#include "model/execution/usage.sql.h"

/* Limits of the cost of a call, and of a sum: far above any bill, far below 64 bits. */
#define CALL_COST_MAX_PICO INT64_C(1000000000000000000)
#define SUM_COST_MAX_PICO INT64_C(9000000000000000000)

static const int64_t DAY_US = INT64_C(86400000000);

/* --- The cost of a call ----------------------------------------------------------------------- */

static int64_t all_input(const struct usage *usage)
{
    return usage->input_tokens + usage->cache_creation_input_tokens +
           usage->cache_read_input_tokens;
}

static enum error check_tokens(struct context *c, const struct usage *usage)
{
    const struct {
        const char *pointer;
        int64_t tokens;
    } counts[] = {
        {"/input_tokens", usage->input_tokens},
        {"/output_tokens", usage->output_tokens},
        {"/cache_creation_input_tokens", usage->cache_creation_input_tokens},
        {"/cache_read_input_tokens", usage->cache_read_input_tokens},
    };
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        if (counts[i].tokens < 0 || counts[i].tokens > USAGE_TOKENS_MAX)
            return problem_fault(
                c->problem, str_of(counts[i].pointer), "must be from 0 to %d", USAGE_TOKENS_MAX);
    return OK;
}

/* Returns false if the cost exceeds the limit of a call. */
static bool add_part(int64_t tokens, int64_t rate, int64_t *out_part, int64_t *total)
{
    return !__builtin_mul_overflow(tokens, rate, out_part) && *out_part <= CALL_COST_MAX_PICO &&
           !__builtin_add_overflow(*total, *out_part, total) && *total <= CALL_COST_MAX_PICO;
}

static enum error compute(
    struct context *c, const struct usage *usage, const struct price *price, struct cost *out_cost)
{
    struct cost cost = {.is_priced = true,
        .price_version = price->version,
        .currency = price->currency,
        .long_context_applied =
            price->has_long_context && all_input(usage) > price->long_context_tokens};
    const struct price_rates *rates =
        cost.long_context_applied ? &price->long_rates : &price->rates;
    if (!add_part(usage->input_tokens, rates->input, &cost.input, &cost.total) ||
        !add_part(usage->output_tokens, rates->output, &cost.output, &cost.total) ||
        !add_part(usage->cache_creation_input_tokens, rates->cache_write, &cost.cache_write,
            &cost.total) ||
        !add_part(usage->cache_read_input_tokens, rates->cache_read, &cost.cache_read, &cost.total))
        return problem_set(c->problem, ERR_INVALID,
            "one call of \"%.*s\" would cost more than 1000000 %.*s: check its tokens and its "
            "price",
            STR_ARG(price->model), STR_ARG(price->currency));
    *out_cost = cost;
    return OK;
}

enum error usage_cost(struct context *c, const struct usage *usage, struct cost *out_cost)
{
    struct price price;
    bool found = false;
    TRY(check_tokens(c, usage));
    if (!str_is_none(usage->model))
        TRY(price_find(c, usage->model, &price, &found));
    *out_cost = (struct cost){0};
    return found ? compute(c, usage, &price, out_cost) : OK;
}

/* --- Where it is added ------------------------------------------------------------------------ */

/* The members of the run's row that are needed here. */
struct subject {
    bool is_there;
    struct uuid agent_id;
    struct str model;
    struct str provider;
    int64_t highest_cost; /* of the run and its ancestors */
};

static enum error read_subject(struct context *c, struct uuid run_id, struct subject *out)
{
    struct query q;
    *out = (struct subject){0};
    context_query(c, &q, &SQL_USAGE_LINEAGE);
    query_uuid(&q, id, run_id);
    while (query_next(&q)) {
        struct uuid agent_id = UUID_NIL;
        bool has_agent_id = row_uuid_if(&q, &agent_id);
        struct str model = row_text(&q), provider = row_text(&q);
        int64_t cost = row_i64(&q);
        if (!out->is_there) {
            out->agent_id = has_agent_id ? agent_id : UUID_NIL;
            out->model = model;
            out->provider = provider;
        }
        out->is_there = true;
        out->highest_cost = cost > out->highest_cost ? cost : out->highest_cost;
    }
    return query_end(&q);
}

static enum error sum_too_large(struct context *c)
{
    return problem_set(
        c->problem, ERR_CONFLICT, "the sum of costs would exceed the maximum of 9000000");
}

/* Binds the parameters that the statement has. */
static void bind(struct context *c, struct query *q, const struct sql_statement *statement,
    struct uuid run_id, const struct usage *usage, const struct cost *cost)
{
    const struct {
        const char *param;
        int64_t value;
    } numbers[] = {
        {PARAM_I64_input_tokens, usage->input_tokens},
        {PARAM_I64_output_tokens, usage->output_tokens},
        {PARAM_I64_cache_creation, usage->cache_creation_input_tokens},
        {PARAM_I64_cache_read, usage->cache_read_input_tokens},
        {PARAM_I64_all_input, all_input(usage)},
        {PARAM_I64_cost, cost->total},
        {PARAM_I64_input_cost, cost->input},
        {PARAM_I64_output_cost, cost->output},
        {PARAM_I64_cache_write_cost, cost->cache_write},
        {PARAM_I64_cache_read_cost, cost->cache_read},
        {PARAM_I64_unpriced, cost->is_priced ? 0 : 1},
        {PARAM_I64_price_version, cost->price_version},
        {PARAM_I64_long_context_calls, cost->long_context_applied ? 1 : 0},
        {PARAM_I64_cost_max, SUM_COST_MAX_PICO},
        {PARAM_I64_day, c->now_us / DAY_US},
        {PARAM_I64_now, c->now_us},
    };
    context_query(c, q, statement);
    if (statement_takes(statement, id))
        query_uuid(q, id, run_id);
    if (statement_takes(statement, model)) {
        query_text(q, model, usage->model);
        query_text(q, provider, usage->provider);
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (statement_has_param(statement, numbers[i].param))
            query_bind_i64(q, numbers[i].param, numbers[i].value);
}

static enum error add_to_turn(struct context *c, const struct run *run, struct uuid turn_id,
    const struct usage *usage, const struct cost *cost)
{
    struct query q;
    int64_t changed = 0;
    if (uuid_is_nil(turn_id))
        return OK;
    bind(c, &q, &SQL_USAGE_ADD_TO_TURN, run->id, usage, cost);
    query_uuid(&q, turn_id, turn_id);
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? problem_fault(c->problem, STR("/turn_id"), "must be a turn of this run")
                        : OK;
}

static enum error add_to_day(
    struct context *c, struct uuid agent_id, const struct usage *usage, const struct cost *cost)
{
    struct query q;
    int64_t changed = 0;
    bind(c, &q, &SQL_USAGE_ADD_TO_DAY, UUID_NIL, usage, cost);
    query_uuid(&q, agent_id, agent_id);
    TRY(query_run_counted(&q, &changed));
    return changed == 0 ? sum_too_large(c) : OK;
}

static enum error add_to_runs(
    struct context *c, const struct run *run, const struct usage *usage, const struct cost *cost)
{
    static const struct sql_statement *const statements[] = {
        &SQL_USAGE_ADD_TO_RUN, &SQL_USAGE_ADD_TO_MODEL, &SQL_USAGE_ADD_TO_ANCESTORS};
    for (size_t i = 0; i < COUNT_OF(statements) - (run->has_parent_run_id ? 0 : 1); i++) {
        struct query q;
        bind(c, &q, statements[i], run->id, usage, cost);
        TRY(query_run(&q));
    }
    return OK;
}

static struct str known(struct str told, struct str of_run)
{
    return str_is_none(told) ? of_run : told;
}

enum error usage_add(struct context *c, const struct run *run, struct uuid turn_id,
    const struct usage *usage, struct cost *out_cost)
{
    struct subject subject;
    struct usage whole = *usage;
    struct cost cost;
    TRY(read_subject(c, run->id, &subject));
    if (!subject.is_there)
        return context_not_found(c, "run", run->id);
    whole.model = known(usage->model, subject.model);
    TRY(usage_cost(c, &whole, &cost));
    if (subject.highest_cost > SUM_COST_MAX_PICO - cost.total)
        return sum_too_large(c);
    whole.provider = known(usage->provider, subject.provider);
    if (str_is_none(whole.model))
        whole.model = STR("");
    if (str_is_none(whole.provider))
        whole.provider = STR("");
    TRY(add_to_turn(c, run, turn_id, &whole, &cost));
    TRY(add_to_runs(c, run, &whole, &cost));
    TRY(add_to_day(c, subject.agent_id, &whole, &cost));
    *out_cost = cost;
    return OK;
}

/* --- Runs --------------------------------------------------------------------------------------
 */

/* Counts the start of the run, or its end if `end` is a status. */
static enum error count_run(struct context *c, const struct run *run, enum run_status end)
{
    struct query q;
    context_query(c, &q, &SQL_USAGE_COUNT_RUNS);
    query_uuid(&q, id, run->id);
    query_uuid(&q, agent_id, UUID_NIL);
    query_i64(&q, day, c->now_us / DAY_US);
    query_i64(&q, now, c->now_us);
    query_i64(&q, started, end == RUN_STATUS_NONE);
    query_i64(&q, completed, end == RUN_COMPLETED);
    query_i64(&q, failed, end == RUN_FAILED);
    query_i64(&q, cancelled, end == RUN_CANCELLED);
    return query_run(&q);
}

enum error usage_count_started(struct context *c, const struct run *run)
{
    return count_run(c, run, RUN_STATUS_NONE);
}

enum error usage_count_finished(struct context *c, const struct run *run)
{
    assert(run_is_finished(run));
    return count_run(c, run, run->status);
}
