/* SPDX-License-Identifier: Apache-2.0 */
/* Usage of models by runs: calls that engines report, and the cost of each. */
#include "api/execution/run_fields.h"
#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "base/clock.h"
#include "model/execution/history.h"
#include "model/execution/usage.h"

/* --- One call of a model ------------------------------------------------------------------- */

struct usage_body {
    struct usage usage;
    bool has_turn_id;
    struct uuid turn_id;
    bool has_tokens; /* one for all counts, because an absent count is 0 */
    struct str cost; /* no client gives one */
};
enum { IN_TOKENS = IN_SENT(0) };

#define OF struct usage_body
static const struct field usage_fields[] = {
    FIELD_OF(usage, STRING_OR_NULL, model, IN_BODY, "default: as in the run", .min = 1,
        .max = MODEL_NAME_MAX_BYTES),
    FIELD_OF(usage, STRING_OR_NULL, provider, IN_BODY, "default: as in the run", .min = 1,
        .max = PROVIDER_NAME_MAX_BYTES),
    FIELD(UUID_OR_NULL, turn_id, IN_BODY, "turn of the run in which the call happened"),
    FIELD_OF(usage, INT, input_tokens, IN_TOKENS,
        "input tokens neither written to a cache nor read from one", .max = USAGE_TOKENS_MAX),
    FIELD_OF(usage, INT, output_tokens, IN_TOKENS, .max = USAGE_TOKENS_MAX),
    FIELD_HAS(INT_OR_NONE, "cache_creation_input_tokens", usage.cache_creation_input_tokens,
        has_tokens, IN_TOKENS, "input tokens written to a cache", .max = USAGE_TOKENS_MAX),
    FIELD_HAS(INT_OR_NONE, "cache_read_input_tokens", usage.cache_read_input_tokens, has_tokens,
        IN_TOKENS, "input tokens read from a cache", .max = USAGE_TOKENS_MAX),
    FIELD(JSON_OR_NONE, cost, IN_BODY,
        "rejected in requests: Cairn computes the cost from the price of the model",
        .refused = true),
    FIELD_AS(JSON_OR_NONE, "cost_usd", cost, IN_BODY,
        "rejected in requests: Cairn computes the cost from the price of the model",
        .refused = true),
    FIELD_AS(JSON_OR_NONE, "total_cost", cost, IN_BODY,
        "rejected in requests: Cairn computes the cost from the price of the model",
        .refused = true),
};
#undef OF
const struct schema schema_usage_body =
    SCHEMA("UsageBody", struct usage_body, usage_fields, IN_BODY | IN_TOKENS);

static const struct schema schema_tokens =
    SCHEMA("TokenUsage", struct usage_body, usage_fields, IN_TOKENS);

/* In the call that ends a run; absent counts of cached tokens are 0. */
#define OF struct usage
static const struct field report_fields[] = {
    FIELD(STRING_OR_NULL, model, IN_BODY, "default: as in the run", .min = 1,
        .max = MODEL_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, provider, IN_BODY, "default: as in the run", .min = 1,
        .max = PROVIDER_NAME_MAX_BYTES),
    FIELD(INT, input_tokens, IN_BODY, "input tokens neither written to a cache nor read from one",
        .max = USAGE_TOKENS_MAX),
    FIELD(INT, output_tokens, IN_BODY, .max = USAGE_TOKENS_MAX),
    FIELD(INT, cache_creation_input_tokens, IN_BODY, "input tokens written to a cache",
        .max = USAGE_TOKENS_MAX, .optional_in = IN_BODY),
    FIELD(INT, cache_read_input_tokens, IN_BODY, "input tokens read from a cache",
        .max = USAGE_TOKENS_MAX, .optional_in = IN_BODY),
};
#undef OF
const struct schema schema_usage_report =
    SCHEMA("UsageReport", struct usage, report_fields, IN_BODY);

struct cost_body {
    struct str model;
    struct usage_body usage;
};
#define OF struct cost_body
static const struct field cost_body_fields[] = {
    FIELD(STRING, model, IN_BODY, .min = 1, .max = MODEL_NAME_MAX_BYTES),
    FIELD(NESTED, usage, IN_BODY, .nested = &schema_tokens),
};
#undef OF
const struct schema schema_cost_body =
    SCHEMA("CostBody", struct cost_body, cost_body_fields, IN_BODY);

static enum error answer_cost(struct call *call, const struct usage *usage, const struct cost *cost)
{
    struct cost_document document;
    cost_document_of_call(usage, cost, &document);
    return call_answer(call, &cost_document_schema, &document, 0);
}

enum error handle_cost(struct call *call, struct context *c)
{
    const struct cost_body *body = call->request.input;
    struct usage usage = body->usage.usage;
    struct cost cost;
    usage.model = body->model;
    TRY(usage_cost(c, &usage, &cost));
    if (!cost.is_priced)
        return problem_fault(c->problem, STR("/model"),
            "must have a price: set it with PUT /v1/prices/%.*s", STR_ARG(body->model));
    return answer_cost(call, &usage, &cost);
}

enum error handle_run_usage_add(struct call *call, struct context *c)
{
    const struct usage_body *body = call->request.input;
    struct usage usage = body->usage;
    struct run run;
    struct cost cost;
    TRY(run_path_get(call, c, &run));
    TRY(run_check_fence(c, &run));
    TRY(usage_add(c, &run, body->has_turn_id ? body->turn_id : UUID_NIL, &usage, &cost));
    TRY(history_update_usage(c, &run));
    if (str_is_none(usage.model))
        usage.model = run.model;
    return answer_cost(call, &usage, &cost);
}

/* --- Usage of a run ------------------------------------------------------------------------ */

#define OF struct model_usage
static const struct field model_usage_fields[] = {
    FIELD(STRING, model, IN_READ, "empty if unknown"),
    FIELD(STRING, provider, IN_READ),
    FIELD(INT_OR_NULL, price_version, IN_READ, "null if these calls had no price"),
    FIELD(INT, llm_calls, IN_READ),
    FIELD(INT, long_context_calls, IN_READ),
    FIELD(INT, input_tokens, IN_READ),
    FIELD(INT, output_tokens, IN_READ),
    FIELD(INT, cache_creation_input_tokens, IN_READ),
    FIELD(INT, cache_read_input_tokens, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "input_cost", input_cost, has_price_version, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "output_cost", output_cost, has_price_version, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cache_write_cost", cache_write_cost, has_price_version, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cache_read_cost", cache_read_cost, has_price_version, IN_READ),
};
#undef OF
static const struct schema schema_model_usage =
    SCHEMA("ModelUsage", struct model_usage, model_usage_fields, IN_READ);

struct run_usage_answer {
    struct uuid run_id;
    struct cost_document total;
    struct nested_list models;
};
#define OF struct run_usage_answer
static const struct field run_usage_fields[] = {
    FIELD(UUID, run_id, IN_READ),
    FIELD(NESTED, total, IN_READ, "usage of the run and its descendants",
        .nested = &cost_document_schema),
    FIELD(LIST, models, IN_READ, "usage by model, provider and version of the price",
        .nested = &schema_model_usage),
};
#undef OF
const struct schema schema_run_cost =
    SCHEMA("RunCost", struct run_usage_answer, run_usage_fields, IN_READ);

enum error handle_run_usage_get(struct call *call, struct context *c)
{
    struct run run;
    struct run_usage_answer answer = {0};
    TRY(run_path_get(call, c, &run));
    TRY(usage_of_run(c, run.id, &answer.total, &answer.models));
    answer.run_id = run.id;
    return call_answer(call, &schema_run_cost, &answer, 0);
}
