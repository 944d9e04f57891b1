/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "base/schema_fields.h"
#include "model/execution/usage.h"
#include "model/execution/usage.sql.h"

#define OF struct cost_document
static const struct field cost_fields[] = {
    FIELD_HAS(MONEY_OR_NULL, "input_cost", input_cost, has_costs, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "output_cost", output_cost, has_costs, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cache_write_cost", cache_write_cost, has_costs, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cache_read_cost", cache_read_cost, has_costs, IN_READ),
    FIELD_HAS(
        MONEY_OR_NULL, "total_cost", total_cost, has_costs, IN_READ, "null if a call had no price"),
    FIELD(INT, total_input_tokens, IN_READ,
        "including tokens written to a cache and read from a cache"),
    FIELD(INT, total_output_tokens, IN_READ),
    FIELD(INT, total_cache_creation_tokens, IN_READ),
    FIELD(INT, total_cache_read_tokens, IN_READ),
    FIELD(STRING_OR_NULL, model_id, IN_READ,
        "null if unknown or if there are several models, which models lists"),
    FIELD(STRINGS_OR_NONE, models, IN_READ, .hide_none = true),
    FIELD(BOOL, long_context_applied, IN_READ, "true if the long-context rates applied to a call"),
    FIELD(STRING_OR_NULL, currency, IN_READ),
    FIELD(INT_OR_NONE, price_version, IN_READ, .hide_none = true),
    FIELD(INT, llm_calls, IN_READ),
    FIELD(INT, unpriced_calls, IN_READ),
    FIELD(MONEY_OR_NONE, priced_cost, IN_READ,
        "cost of the calls with a price, if other calls had none", .hide_none = true),
};
#undef OF
const struct schema cost_document_schema =
    SCHEMA("Cost", struct cost_document, cost_fields, IN_READ);

void cost_document_of_call(
    const struct usage *usage, const struct cost *cost, struct cost_document *out)
{
    *out = (struct cost_document){.has_costs = cost->is_priced,
        .input_cost = cost->input,
        .output_cost = cost->output,
        .cache_write_cost = cost->cache_write,
        .cache_read_cost = cost->cache_read,
        .total_cost = cost->total,
        .total_input_tokens = usage->input_tokens + usage->cache_creation_input_tokens +
                              usage->cache_read_input_tokens,
        .total_output_tokens = usage->output_tokens,
        .total_cache_creation_tokens = usage->cache_creation_input_tokens,
        .total_cache_read_tokens = usage->cache_read_input_tokens,
        .model_id = usage->model,
        .long_context_applied = cost->long_context_applied,
        .currency = cost->currency,
        .has_price_version = cost->is_priced,
        .price_version = cost->price_version,
        .llm_calls = 1,
        .unpriced_calls = cost->is_priced ? 0 : 1};
}

/* --- A run with its descendants ----------------------------------------------------------------
 */

static void read_row(struct query *q, struct model_usage *out)
{
    *out = (struct model_usage){0};
    out->model = row_text(q);
    out->provider = row_text(q);
    out->price_version = row_i64(q);
    out->has_price_version = out->price_version > 0;
    out->llm_calls = row_i64(q);
    out->long_context_calls = row_i64(q);
    out->input_tokens = row_i64(q);
    out->output_tokens = row_i64(q);
    out->cache_creation_input_tokens = row_i64(q);
    out->cache_read_input_tokens = row_i64(q);
    out->input_cost = row_i64(q);
    out->output_cost = row_i64(q);
    out->cache_write_cost = row_i64(q);
    out->cache_read_cost = row_i64(q);
}

static void add_row(struct cost_document *total, const struct model_usage *row)
{
    total->input_cost += row->input_cost;
    total->output_cost += row->output_cost;
    total->cache_write_cost += row->cache_write_cost;
    total->cache_read_cost += row->cache_read_cost;
    total->total_cost +=
        row->input_cost + row->output_cost + row->cache_write_cost + row->cache_read_cost;
    total->total_input_tokens +=
        row->input_tokens + row->cache_creation_input_tokens + row->cache_read_input_tokens;
    total->total_output_tokens += row->output_tokens;
    total->total_cache_creation_tokens += row->cache_creation_input_tokens;
    total->total_cache_read_tokens += row->cache_read_input_tokens;
    total->long_context_applied = total->long_context_applied || row->long_context_calls > 0;
    total->llm_calls += row->llm_calls;
    total->unpriced_calls += row->has_price_version ? 0 : row->llm_calls;
}

/* The rows are ordered by model. */
static void name_models(
    struct arena *arena, struct cost_document *total, const struct model_usage *rows, size_t count)
{
    struct str *names = ARENA_ARRAY(arena, struct str, count);
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].model.len > 0 && (n == 0 || !str_eq(names[n - 1], rows[i].model)))
            names[n++] = rows[i].model;
    if (n == 1)
        total->model_id = names[0];
    else if (n > 1)
        total->models = (struct str_list){names, n};
}

/* usage_add limits the sums of the root, and so those of its tree. */
static void sum_up(
    struct arena *arena, const struct model_usage *rows, size_t count, struct cost_document *out)
{
    *out = (struct cost_document){0};
    for (size_t i = 0; i < count; i++)
        add_row(out, &rows[i]);
    name_models(arena, out, rows, count);
    out->has_costs = out->unpriced_calls == 0;
    out->has_priced_cost = out->unpriced_calls > 0;
    out->priced_cost = out->total_cost;
}

enum error usage_of_run(struct context *c, struct uuid run_id, struct cost_document *out_total,
    struct nested_list *out_models)
{
    struct query q;
    size_t count = 0, room = 8;
    struct model_usage *rows = ARENA_ARRAY(c->arena, struct model_usage, room);
    struct str currency;
    context_query(c, &q, &SQL_USAGE_OF_TREE);
    query_uuid(&q, id, run_id);
    while (query_next(&q)) {
        if (count == room) {
            struct model_usage *grown = ARENA_ARRAY(c->arena, struct model_usage, room * 2);
            memcpy(grown, rows, count * sizeof *rows);
            rows = grown;
            room *= 2;
        }
        read_row(&q, &rows[count++]);
    }
    TRY(query_end(&q));
    TRY(usage_currency(c, &currency));
    sum_up(c->arena, rows, count, out_total);
    out_total->currency = currency;
    *out_models = (struct nested_list){rows, count};
    return OK;
}

enum error usage_cost_document(struct context *c, const struct run *run, struct str *out_json)
{
    struct cost_document total;
    struct nested_list models;
    TRY(usage_of_run(c, run->id, &total, &models));
    struct json_text text;
    json_text_init(&text, 16 * 1024 * 1024);
    schema_encode(&text.w, &cost_document_schema, &total);
    *out_json = json_text_take(&text, c->arena);
    return OK;
}
