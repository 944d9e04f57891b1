/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a run. */
#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "model/execution/turns.h"

#define OF struct run_usage
static const struct field turn_usage_fields[] = {
    FIELD_AS(INT, "tokens_in", input_tokens, IN_READ),
    FIELD_AS(INT, "tokens_out", output_tokens, IN_READ),
    FIELD_HAS(MONEY_OR_NULL, "cost_usd", cost_pico, has_cost, IN_READ,
        "cost of the calls that have a price; null if no call has a price"),
    FIELD(INT, llm_calls, IN_READ),
    FIELD(INT, unpriced_calls, IN_READ),
};
#undef OF
static const struct schema schema_turn_usage =
    SCHEMA("TurnUsage", struct run_usage, turn_usage_fields, IN_READ);

#define OF struct turn
static const struct field turn_fields[] = {
    FIELD_AS(UUID, "turn_id", id, IN_READ),
    FIELD(UUID, run_id, IN_READ),
    FIELD(INT, number, IN_READ, "1, 2, 3 within the run"),
    FIELD(ENUM, status, IN_READ, .choices = turn_statuses),
    FIELD(OBJECT, input, IN_READ, .hide_none = true),
    FIELD(OBJECT_OR_NULL, output, IN_READ, .hide_none = true),
    FIELD(NESTED, usage, IN_READ, .nested = &schema_turn_usage),
    FIELD(INT_OR_NULL, latency_ms, IN_READ),
    FIELD(UUID_OR_NULL, checkpoint_id, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME_OR_NULL, finished_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_turn = SCHEMA("Turn", struct turn, turn_fields, IN_READ);

/* --- Bodies -------------------------------------------------------------------------------- */

struct turn_input {
    struct str message;
    struct str attachments;
    struct str tool_results;
};
#define OF struct turn_input
static const struct field turn_input_fields[] = {
    FIELD(STRING_OR_NULL, message, IN_BODY, "message, tool_results or both must be given",
        .max = TURN_MESSAGE_MAX_BYTES, .hide_none = true),
    FIELD(ARRAY_OR_NULL, attachments, IN_BODY, .max = RUN_EXTRA_MAX_BYTES, .hide_none = true),
    FIELD(ARRAY_OR_NULL, tool_results, IN_BODY,
        "at most 256 objects, each with a tool_use_id; also results of awaited tools",
        .max = TURN_INPUT_MAX_BYTES / 2, .items = "object", .hide_none = true),
};
#undef OF
static const struct schema schema_turn_input =
    SCHEMA("TurnInput", struct turn_input, turn_input_fields, IN_BODY);

struct given_usage {
    struct usage usage;
    bool has_input_tokens, has_output_tokens;
    bool has_cache_creation_input_tokens, has_cache_read_input_tokens;
};
#define OF struct given_usage
static const struct field given_usage_fields[] = {
    FIELD_HAS(INT_OR_NULL, "tokens_in", usage.input_tokens, has_input_tokens, IN_BODY,
        .max = USAGE_TOKENS_MAX),
    FIELD_HAS(INT_OR_NULL, "tokens_out", usage.output_tokens, has_output_tokens, IN_BODY,
        .max = USAGE_TOKENS_MAX),
    FIELD_HAS(INT_OR_NULL, "cache_creation_input_tokens", usage.cache_creation_input_tokens,
        has_cache_creation_input_tokens, IN_BODY, .max = USAGE_TOKENS_MAX),
    FIELD_HAS(INT_OR_NULL, "cache_read_input_tokens", usage.cache_read_input_tokens,
        has_cache_read_input_tokens, IN_BODY, .max = USAGE_TOKENS_MAX),
    FIELD_OF(usage, STRING_OR_NULL, model, IN_BODY, "default: as in the run", .min = 1,
        .max = RUN_MODEL_MAX_BYTES),
    FIELD_OF(usage, STRING_OR_NULL, provider, IN_BODY, "default: as in the run", .min = 1,
        .max = RUN_PROVIDER_MAX_BYTES),
};
#undef OF
static const struct schema schema_given_usage =
    SCHEMA("TurnUsageBody", struct given_usage, given_usage_fields, IN_BODY);

struct turn_body {
    struct turn_input input;
    enum turn_status status;
    struct str output;
    bool has_latency_ms;
    int64_t latency_ms;
    bool has_checkpoint_id;
    struct uuid checkpoint_id;
    bool has_usage;
    struct given_usage usage;
};
#define OF struct turn_body
static const struct field turn_body_fields[] = {
    FIELD(NESTED, input, IN_BODY, .nested = &schema_turn_input),
    FIELD(ENUM_OR_NONE, status, IN_BODY | IN_PATCH,
        "default: the status in output, or complete with an output, or running",
        .choices = turn_statuses),
    FIELD(OBJECT_OR_NULL, output, IN_BODY | IN_PATCH,
        "a message, tool_calls …; a status in the output sets the status of the turn; with "
        "awaiting_tool the run waits for the tool_calls",
        .max = TURN_OUTPUT_MAX_BYTES, .hide_none = true),
    FIELD(INT_OR_NULL, latency_ms, IN_BODY | IN_PATCH),
    FIELD(UUID_OR_NULL, checkpoint_id, IN_BODY | IN_PATCH, "checkpoint of the run's thread"),
    FIELD(NESTED_OR_NULL, usage, IN_BODY | IN_PATCH,
        "usage of one model call; Cairn computes the cost", .nested = &schema_given_usage,
        .hide_none = true),
};
#undef OF
const struct schema schema_turn_create =
    SCHEMA("TurnCreate", struct turn_body, turn_body_fields, IN_BODY);
const struct schema schema_turn_patch =
    SCHEMA("TurnPatch", struct turn_body, turn_body_fields, IN_PATCH);

struct turns_query {
    struct page_query page;
    enum include include;
};
#define OF struct turns_query
static const struct field turns_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "documents: include input and output",
        .choices = include_documents),
};
#undef OF
const struct schema query_turns =
    SCHEMA("TurnsQuery", struct turns_query, turns_query_fields, IN_QUERY);

/* --- Handlers ------------------------------------------------------------------------------ */

static enum error answer(struct call *call, const struct turn *turn)
{
    return call_answer(call, &schema_turn, turn, turn->version);
}

static void take_body(const struct turn_body *body, struct turn *turn)
{
    turn->status = body->status;
    turn->output = body->output;
    turn->has_latency_ms = body->has_latency_ms;
    turn->latency_ms = body->latency_ms;
    turn->has_checkpoint_id = body->has_checkpoint_id;
    turn->checkpoint_id = body->checkpoint_id;
}

static struct str input_text(struct call *call, const struct turn_input *input)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    schema_encode(&text.w, &schema_turn_input, input);
    return json_text_take(&text, call->arena);
}

enum error handle_turn_create(struct call *call, struct context *c)
{
    const struct turn_body *body = call->request.input;
    struct run run;
    struct turn turn = {
        .input = input_text(call, &body->input), .tool_results = body->input.tool_results};
    take_body(body, &turn);
    TRY(run_path_get(call, c, &run));
    TRY(turn_check_input(c, body->input.message, body->input.tool_results));
    TRY(turn_begin(c, &run, &turn, body->has_usage ? &body->usage.usage : NULL));
    return answer(call, &turn);
}

static enum error find(struct call *call, struct context *c, struct run *run, struct turn *turn)
{
    TRY(run_path_get(call, c, run));
    return turn_get(c, run->id, call->request.params[call_param(call, "turn_id")], turn);
}

enum error handle_turn_get(struct call *call, struct context *c)
{
    struct run run;
    struct turn turn;
    TRY(find(call, c, &run, &turn));
    return answer(call, &turn);
}

enum error handle_turn_patch(struct call *call, struct context *c)
{
    struct run run;
    struct turn before, after;
    struct turn_body patched;
    TRY(find(call, c, &run, &before));
    TRY(context_check_match(c, before.version));
    struct turn_body body = {.status = before.status,
        .output = before.output,
        .has_latency_ms = before.has_latency_ms,
        .latency_ms = before.latency_ms,
        .has_checkpoint_id = before.has_checkpoint_id,
        .checkpoint_id = before.checkpoint_id};
    TRY(call_apply_patch(call, &body, &patched));
    after = before;
    take_body(&patched, &after);
    if (call_member(call, "status") == MEMBER_ABSENT && after.status == before.status)
        after.status = TURN_STATUS_NONE;
    TRY(turn_update(c, &run, &before, &after, patched.has_usage ? &patched.usage.usage : NULL));
    return answer(call, &after);
}

enum error handle_turn_list(struct call *call, struct context *c)
{
    const struct turns_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct turn *turns = ARENA_ARRAY(call->arena, struct turn, page.limit);
    struct run run;
    int64_t after;
    TRY(run_path_get(call, c, &run));
    TRY(cursor_to_number(call, q->page.cursor, &after));
    TRY(turn_list(c, run.id, after, q->include != INCLUDE_NONE, &page, turns));
    return call_answer_page(call, &schema_turn, turns, &page, CURSOR_BY(struct turn, number));
}
