/* SPDX-License-Identifier: Apache-2.0 */
/* What runs used of models: told by engines, computed, and summed up by day. */
#include "api/execution/run_path.h"
#include "api/resources.h"
#include "base/clock.h"
#include "model/execution/history.h"
#include "model/execution/usage.h"

/* --- One call of a model -----------------------------------------------------------------------
 */

struct usage_body {
    struct usage usage;
    bool has_turn_id;
    struct uuid turn_id;
    struct str cost; /* nobody gives one */
};

#define USAGE_FIELD(member) offsetof(struct usage_body, usage.member)
/* Absent and 0 are the same, so that one flag for all does. */
struct told_usage {
    struct usage_body body;
    bool has_tokens;
};
#define TOKEN_FIELD(member, more, text)                                                     \
    {                                                                                       \
        .name = #member, .kind = FIELD_INT, .flags = (more), .offset = USAGE_FIELD(member), \
        .has_offset = offsetof(struct told_usage, has_tokens), .max = USAGE_TOKENS_MAX,     \
        .summary = (text)                                                                   \
    }
#define COST_FIELD(member_name)                                                               \
    {                                                                                         \
        .name = (member_name), .kind = FIELD_JSON, .flags = FIELD_READ_ONLY | FIELD_OPTIONAL, \
        .offset = offsetof(struct usage_body, cost),                                          \
        .summary = "computed from the model's price, never given"                             \
    }

enum { USAGE_NUMBER_FIELDS = 4 };
static const struct field usage_fields[] = {
    {.name = "model",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = USAGE_FIELD(model),
        .min = 1,
        .max = MODEL_NAME_MAX_BYTES,
        .summary = "the run's unless told"},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = USAGE_FIELD(provider),
        .min = 1,
        .max = PROVIDER_NAME_MAX_BYTES,
        .summary = "the run's unless told"},
    {.name = "turn_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct usage_body, turn_id),
        .has_offset = offsetof(struct usage_body, has_turn_id),
        .summary = "the turn of the run in which it happened"},
    TOKEN_FIELD(input_tokens, 0, "neither written to a cache nor read from one"),
    TOKEN_FIELD(output_tokens, 0, NULL),
    TOKEN_FIELD(cache_creation_input_tokens, FIELD_OPTIONAL, "written to a cache"),
    TOKEN_FIELD(cache_read_input_tokens, FIELD_OPTIONAL, "read from a cache"),
    COST_FIELD("cost"),
    COST_FIELD("cost_usd"),
    COST_FIELD("total_cost"),
};
const struct schema schema_usage_body = {
    "UsageBody", usage_fields, COUNT_OF(usage_fields), sizeof(struct told_usage), 0};

/* The tokens alone. */
static const struct schema schema_tokens = {
    "TokenUsage", &usage_fields[3], USAGE_NUMBER_FIELDS, sizeof(struct told_usage), 0};

struct cost_body {
    struct str model;
    struct told_usage usage;
};
static const struct field cost_body_fields[] = {
    {.name = "model",
        .kind = FIELD_STRING,
        .offset = offsetof(struct cost_body, model),
        .min = 1,
        .max = MODEL_NAME_MAX_BYTES},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .offset = offsetof(struct cost_body, usage),
        .nested = &schema_tokens},
};
const struct schema schema_cost_body = {
    "CostBody", cost_body_fields, COUNT_OF(cost_body_fields), sizeof(struct cost_body), 0};

static void answer_cost(struct call *call, const struct usage *usage, const struct cost *cost)
{
    struct cost_document document;
    cost_document_of_call(usage, cost, &document);
    call_answer(call, &cost_document_schema, &document, 0);
}

enum error handle_cost(struct call *call, struct context *c)
{
    const struct cost_body *body = call->request.input;
    struct usage usage = body->usage.body.usage;
    struct cost cost;
    usage.model = body->model;
    enum error e = usage_cost(c, &usage, &cost);
    if (e == OK && !cost.is_priced)
        return problem_fault(c->problem, STR("/model"),
            "has no price: add one with PUT /v1/prices/%.*s", STR_ARG(body->model));
    if (e == OK)
        answer_cost(call, &usage, &cost);
    return e;
}

enum error handle_run_usage_add(struct call *call, struct context *c)
{
    const struct usage_body *body = &((const struct told_usage *)call->request.input)->body;
    struct usage usage = body->usage;
    struct run run;
    struct cost cost;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = run_check_fence(c, &run);
    if (e == OK)
        e = usage_add(c, &run, body->has_turn_id ? body->turn_id : UUID_NIL, &usage, &cost);
    if (e == OK)
        e = history_update_usage(c, &run);
    if (e != OK)
        return e;
    if (str_is_none(usage.model))
        usage.model = run.model;
    answer_cost(call, &usage, &cost);
    return OK;
}

/* --- A run's -----------------------------------------------------------------------------------
 */

#define MODEL_FIELD(member) offsetof(struct model_usage, member)
#define MODEL_COUNT(member)                                                \
    {                                                                      \
        .name = #member, .kind = FIELD_INT, .offset = MODEL_FIELD(member), \
    }
#define MODEL_COST(member)                                                           \
    {                                                                                \
        .name = #member, .kind = FIELD_MONEY, .flags = FIELD_NULLABLE,               \
        .offset = MODEL_FIELD(member), .has_offset = MODEL_FIELD(has_price_version), \
    }
static const struct field model_usage_fields[] = {
    {.name = "model",
        .kind = FIELD_STRING,
        .offset = MODEL_FIELD(model),
        .summary = "empty when it is not known"},
    {.name = "provider", .kind = FIELD_STRING, .offset = MODEL_FIELD(provider)},
    {.name = "price_version",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = MODEL_FIELD(price_version),
        .has_offset = MODEL_FIELD(has_price_version),
        .summary = "null: these calls had no price"},
    MODEL_COUNT(llm_calls),
    MODEL_COUNT(long_context_calls),
    MODEL_COUNT(input_tokens),
    MODEL_COUNT(output_tokens),
    MODEL_COUNT(cache_creation_input_tokens),
    MODEL_COUNT(cache_read_input_tokens),
    MODEL_COST(input_cost),
    MODEL_COST(output_cost),
    MODEL_COST(cache_write_cost),
    MODEL_COST(cache_read_cost),
};
static const struct schema schema_model_usage = {
    "ModelUsage", model_usage_fields, COUNT_OF(model_usage_fields), sizeof(struct model_usage), 0};

struct run_usage_answer {
    struct uuid run_id;
    struct cost_document total;
    struct nested_list models;
};
static const struct field run_usage_fields[] = {
    {.name = "run_id", .kind = FIELD_UUID, .offset = offsetof(struct run_usage_answer, run_id)},
    {.name = "total",
        .kind = FIELD_NESTED,
        .offset = offsetof(struct run_usage_answer, total),
        .nested = &cost_document_schema,
        .summary = "of the run and its descendants"},
    {.name = "models",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct run_usage_answer, models),
        .nested = &schema_model_usage,
        .summary = "the same, by model, provider and version of the price"},
};
const struct schema schema_run_cost = {
    "RunCost", run_usage_fields, COUNT_OF(run_usage_fields), sizeof(struct run_usage_answer), 0};

enum error handle_run_usage_get(struct call *call, struct context *c)
{
    struct run run;
    struct run_usage_answer answer = {0};
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = usage_of_run(c, run.id, &answer.total, &answer.models);
    answer.run_id = run.id;
    if (e == OK)
        call_answer(call, &schema_run_cost, &answer, 0);
    return e;
}
