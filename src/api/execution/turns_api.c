/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of a run. */
#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/execution/turns.h"

#define TURN_USAGE(member) offsetof(struct run_usage, member)
static const struct field turn_usage_fields[] = {
    {.name = "tokens_in", .kind = FIELD_INT, .offset = TURN_USAGE(input_tokens)},
    {.name = "tokens_out", .kind = FIELD_INT, .offset = TURN_USAGE(output_tokens)},
    {.name = "cost_usd",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE,
        .offset = TURN_USAGE(cost_pico),
        .has_offset = TURN_USAGE(has_cost),
        .summary = "of the calls that have a price; null when none of them has one"},
    {.name = "llm_calls", .kind = FIELD_INT, .offset = TURN_USAGE(llm_calls)},
    {.name = "unpriced_calls", .kind = FIELD_INT, .offset = TURN_USAGE(unpriced_calls)},
};
static const struct schema schema_turn_usage = {
    "TurnUsage", turn_usage_fields, COUNT_OF(turn_usage_fields), sizeof(struct run_usage), 0};

#define TURN_FIELD(member) offsetof(struct turn, member)
static const struct field turn_fields[] = {
    {.name = "turn_id", .kind = FIELD_UUID, .offset = TURN_FIELD(id)},
    {.name = "run_id", .kind = FIELD_UUID, .offset = TURN_FIELD(run_id)},
    {.name = "number",
        .kind = FIELD_INT,
        .offset = TURN_FIELD(number),
        .summary = "1, 2, 3 within the run"},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = TURN_FIELD(status),
        .choices = turn_statuses,
        .stores_enum = true},
    {.name = "input", .kind = FIELD_OBJECT, .flags = FIELD_HIDE_NONE, .offset = TURN_FIELD(input)},
    {.name = "output",
        .kind = FIELD_OBJECT,
        .flags = FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = TURN_FIELD(output)},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .offset = TURN_FIELD(usage),
        .nested = &schema_turn_usage},
    {.name = "latency_ms",
        .kind = FIELD_INT,
        .flags = FIELD_NULLABLE,
        .offset = TURN_FIELD(latency_ms),
        .has_offset = TURN_FIELD(has_latency_ms)},
    {.name = "checkpoint_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = TURN_FIELD(checkpoint_id),
        .has_offset = TURN_FIELD(has_checkpoint_id)},
    {.name = "created_at", .kind = FIELD_TIME, .offset = TURN_FIELD(created_at)},
    {.name = "finished_at",
        .kind = FIELD_TIME,
        .flags = FIELD_NULLABLE,
        .offset = TURN_FIELD(finished_at),
        .has_offset = TURN_FIELD(has_finished_at)},
    {.name = "version", .kind = FIELD_INT, .offset = TURN_FIELD(version)},
};
const struct schema schema_turn = {
    "Turn", turn_fields, COUNT_OF(turn_fields), sizeof(struct turn), 0};

/* --- Bodies --------------------------------------------------------------------------------- */

struct turn_input {
    struct str message;
    struct str attachments;
    struct str tool_results;
};
#define INPUT_FIELD(member) offsetof(struct turn_input, member)
static const struct field turn_input_fields[] = {
    {.name = "message",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = INPUT_FIELD(message),
        .max = TURN_MESSAGE_MAX_BYTES,
        .summary = "this or tool_results, or both"},
    {.name = "attachments",
        .kind = FIELD_ARRAY,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = INPUT_FIELD(attachments),
        .max = RUN_EXTRA_MAX_BYTES},
    {.name = "tool_results",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = INPUT_FIELD(tool_results),
        .max = TURN_INPUT_MAX_BYTES / 2,
        .summary = "objects, each with its tool_use_id; 256 at the most"},
};
static const struct schema schema_turn_input = {
    "TurnInput", turn_input_fields, COUNT_OF(turn_input_fields), sizeof(struct turn_input), 0};

#define GIVEN_FIELD(member) offsetof(struct usage, member)
#define TOKENS(field, member)                                                             \
    {                                                                                     \
        .name = (field), .kind = FIELD_INT, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,     \
        .offset = offsetof(struct given_usage, usage.member),                             \
        .has_offset = offsetof(struct given_usage, has_##member), .max = USAGE_TOKENS_MAX \
    }
struct given_usage {
    struct usage usage;
    bool has_input_tokens, has_output_tokens;
    bool has_cache_creation_input_tokens, has_cache_read_input_tokens;
};
static const struct field given_usage_fields[] = {
    TOKENS("tokens_in", input_tokens),
    TOKENS("tokens_out", output_tokens),
    TOKENS("cache_creation_input_tokens", cache_creation_input_tokens),
    TOKENS("cache_read_input_tokens", cache_read_input_tokens),
    {.name = "model",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = GIVEN_FIELD(model),
        .min = 1,
        .max = RUN_MODEL_MAX_BYTES,
        .summary = "the run's when absent"},
    {.name = "provider",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = GIVEN_FIELD(provider),
        .min = 1,
        .max = RUN_PROVIDER_MAX_BYTES,
        .summary = "the run's when absent"},
};
static const struct schema schema_given_usage = {"TurnUsageBody", given_usage_fields,
    COUNT_OF(given_usage_fields), sizeof(struct given_usage), 0};

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
#define BODY_FIELD(member) offsetof(struct turn_body, member)
/* What a turn begins with is the first: TurnPatch is the rest of the table. */
static const struct field turn_body_fields[] = {
    {.name = "input",
        .kind = FIELD_NESTED,
        .offset = BODY_FIELD(input),
        .nested = &schema_turn_input},
    {.name = "status",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = BODY_FIELD(status),
        .choices = turn_statuses,
        .stores_enum = true,
        .summary = "running, unless the output tells otherwise"},
    {.name = "output",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = BODY_FIELD(output),
        .max = TURN_OUTPUT_MAX_BYTES,
        .summary = "a message, tool_calls …; its status, if it has one, is the turn's"},
    {.name = "latency_ms",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = BODY_FIELD(latency_ms),
        .has_offset = BODY_FIELD(has_latency_ms)},
    {.name = "checkpoint_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = BODY_FIELD(checkpoint_id),
        .has_offset = BODY_FIELD(has_checkpoint_id),
        .summary = "of the run's thread"},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = BODY_FIELD(usage),
        .has_offset = BODY_FIELD(has_usage),
        .nested = &schema_given_usage,
        .summary = "of one call of a model; its cost is computed"},
};
const struct schema schema_turn_create = {
    "TurnCreate", turn_body_fields, COUNT_OF(turn_body_fields), sizeof(struct turn_body), 0};
const struct schema schema_turn_patch = {
    "TurnPatch", &turn_body_fields[1], COUNT_OF(turn_body_fields) - 1, sizeof(struct turn_body), 0};

static const char *const includes[] = {"documents", NULL};
struct turns_query {
    struct page_query page;
    struct str include;
};
static const struct field turns_query_fields[] = {
    PAGE_FIELDS(struct turns_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct turns_query, include),
        .choices = includes,
        .summary = "documents: input and output too"},
};
const struct schema query_turns = {
    "TurnsQuery", turns_query_fields, COUNT_OF(turns_query_fields), sizeof(struct turns_query), 0};

/* --- Handlers ------------------------------------------------------------------------------- */

static void answer(struct call *call, const struct turn *turn)
{
    call_answer(call, &schema_turn, turn, turn->version);
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
    struct turn turn = {.input = input_text(call, &body->input)};
    take_body(body, &turn);
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = turn_check_input(c, body->input.message, body->input.tool_results);
    if (e == OK)
        e = turn_begin(c, &run, &turn, body->has_usage ? &body->usage.usage : NULL);
    if (e == OK)
        answer(call, &turn);
    return e;
}

static enum error find(struct call *call, struct context *c, struct run *run, struct turn *turn)
{
    enum error e = call_run(call, c, run);
    return e == OK ? turn_get(c, run->id, call->request.params[call_param(call, "turn_id")], turn)
                   : e;
}

enum error handle_turn_get(struct call *call, struct context *c)
{
    struct run run;
    struct turn turn;
    enum error e = find(call, c, &run, &turn);
    if (e == OK)
        answer(call, &turn);
    return e;
}

enum error handle_turn_patch(struct call *call, struct context *c)
{
    struct run run;
    struct turn before, after;
    struct turn_body patched;
    enum error e = find(call, c, &run, &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e != OK)
        return e;
    struct turn_body body = {.status = before.status,
        .output = before.output,
        .has_latency_ms = before.has_latency_ms,
        .latency_ms = before.latency_ms,
        .has_checkpoint_id = before.has_checkpoint_id,
        .checkpoint_id = before.checkpoint_id};
    e = call_apply_patch(call, &body, &patched);
    if (e != OK)
        return e;
    after = before;
    take_body(&patched, &after);
    if (after.status == TURN_STATUS_NONE)
        after.status = before.status;
    e = turn_update(c, &run, &before, &after, patched.has_usage ? &patched.usage.usage : NULL);
    if (e == OK)
        answer(call, &after);
    return e;
}

static struct str turn_cursor(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct turn *)item)->number);
}

enum error handle_turn_list(struct call *call, struct context *c)
{
    const struct turns_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct turn *turns = ARENA_ARRAY(call->arena, struct turn, limit);
    struct run run;
    int64_t after;
    bool more;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = cursor_to_number(call, q->page.cursor, &after);
    if (e == OK)
        e = turn_list(c, run.id, after, !str_is_none(q->include), limit, turns, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_turn, turns, count, more, turn_cursor);
    return e;
}
