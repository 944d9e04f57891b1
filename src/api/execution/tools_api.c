/* SPDX-License-Identifier: Apache-2.0 */
/* Tools whose results a run waits for. */
#include "model/execution/awaited_tools.h"

#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "model/execution/resumptions.h"
#include "model/execution/transcripts.h"

#define OF struct awaited_tool
static const struct field tool_fields[] = {
    FIELD(STRING, tool_use_id, IN_READ, "unique within the run", .min = 1,
        .max = TOOL_NAME_MAX_BYTES),
    FIELD(STRING, name, IN_READ, "empty if the result was sent without a name"),
    FIELD(ENUM, side, IN_READ, .choices = tool_sides),
    FIELD(JSON, input, IN_READ),
    FIELD(JSON_OR_NULL, content, IN_READ, "result of the tool; null while it is pending"),
    FIELD_HAS(BOOL_OR_NULL, "is_error", is_error, has_result_at, IN_READ),
    FIELD(TIME_OR_NULL, deadline, IN_READ, "the run fails if the result is pending at this time"),
    FIELD(UUID_OR_NULL, turn_id, IN_READ, "turn in which the run waited for this tool"),
    FIELD(INT, pause, IN_READ, "number of the pause in which the run waited for this tool, from 1"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME_OR_NULL, result_at, IN_READ, "time of the result; null while it is pending"),
    FIELD(STRING_OR_NULL, result_by, IN_READ,
        "principal of the request; null for a key of the whole tenant"),
};
#undef OF
const struct schema schema_awaited_tool =
    SCHEMA("AwaitedTool", struct awaited_tool, tool_fields, IN_READ);

/* --- Bodies -------------------------------------------------------------------------------- */

#define OF struct awaited_tool
static const struct field asked_fields[] = {
    FIELD(STRING, tool_use_id, IN_BODY, "unique within the run", .min = 1,
        .max = TOOL_NAME_MAX_BYTES),
    FIELD(STRING, name, IN_BODY, .min = 1, .max = TOOL_NAME_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, input, IN_BODY, .max = TOOL_INPUT_MAX_BYTES),
    FIELD(ENUM, side, IN_BODY, "side that executes the tool", .choices = tool_sides),
    FIELD(TIME_OR_NULL, deadline, IN_BODY,
        "the run fails with tool_timeout if the result is pending at this time"),
};
#undef OF
static const struct schema schema_tool_asked =
    SCHEMA("ToolAsked", struct awaited_tool, asked_fields, IN_BODY);

struct backend_result {
    struct awaited_tool tool;
    struct str type;
    bool has_is_error;
};
#define OF struct backend_result
static const struct field backend_fields[] = {
    FIELD_OF(tool, STRING, tool_use_id, IN_BODY, "unique within the run", .min = 1,
        .max = TOOL_NAME_MAX_BYTES),
    FIELD_OF(tool, STRING_OR_NONE, name, IN_BODY, .max = TOOL_NAME_MAX_BYTES),
    FIELD(STRING_OR_NONE, type, IN_BODY, "tool_result; Cairn ignores this member",
        .max = TOOL_NAME_MAX_BYTES),
    FIELD_OF(tool, JSON, content, IN_BODY, "a string, a list of blocks, or any other JSON value",
        .max = TOOL_RESULTS_MAX_BYTES),
    FIELD_HAS(BOOL_OR_NONE, "is_error", tool.is_error, has_is_error, IN_BODY),
};
#undef OF
static const struct schema schema_backend_result =
    SCHEMA("BackendResult", struct backend_result, backend_fields, IN_BODY);

struct tools_body {
    struct nested_list tools;
    struct nested_list backend_results;
    struct str messages;
    bool has_current_step;
    int64_t current_step;
};
#define OF struct tools_body
static const struct field tools_body_fields[] = {
    FIELD(LIST, tools, IN_BODY, .min = 1, .max = TOOLS_MAX, .nested = &schema_tool_asked),
    FIELD(LIST_OR_NONE, backend_results, IN_BODY,
        "results that the engine has already, stored together with the pending tools",
        .max = TOOLS_MAX, .nested = &schema_backend_result),
    FIELD(INT_OR_NONE, current_step, IN_BODY, "new value for the resumption of the thread",
        .max = RESUMPTION_STEPS_MAX),
    FIELD(ARRAY_OR_NONE, messages, IN_BODY, "new value for the resumption of the thread",
        .max = TRANSCRIPT_MAX_BYTES, .items = "object"),
};
#undef OF
const struct schema schema_tools_await =
    SCHEMA("ToolsAwait", struct tools_body, tools_body_fields, IN_BODY);

#define OF struct tool_result
static const struct field result_fields[] = {
    FIELD(STRING, tool_use_id, IN_BODY, "unique within the run", .min = 1,
        .max = TOOL_NAME_MAX_BYTES),
    FIELD(JSON, content, IN_BODY, "a string, a list of blocks, or any other JSON value",
        .max = TOOL_RESULTS_MAX_BYTES),
    FIELD(BOOL_OR_NONE, is_error, IN_BODY),
};
#undef OF
static const struct schema schema_tool_result =
    SCHEMA("ToolResult", struct tool_result, result_fields, IN_BODY);

struct results_body {
    struct nested_list results;
};
#define OF struct results_body
static const struct field results_fields[] = {
    FIELD(LIST, results, IN_BODY, .min = 1, .max = TOOLS_MAX, .nested = &schema_tool_result),
};
#undef OF
const struct schema schema_tool_results =
    SCHEMA("ToolResults", struct results_body, results_fields, IN_BODY);

/* --- Answers ------------------------------------------------------------------------------- */

struct tools_answer {
    struct uuid run_id;
    struct str status;
    struct str phase;
    int64_t remaining;
    bool resumed;
    struct str_list accepted;
    struct str_list duplicates;
};
enum { IN_SETTLED = IN_SHOWN(0) };
#define OF struct tools_answer
static const struct field answer_fields[] = {
    FIELD(UUID, run_id, IN_READ),
    FIELD(STRING, status, IN_READ, "new status of the run"),
    FIELD(STRING_OR_NULL, phase, IN_READ),
    FIELD(INT, remaining, IN_READ, "number of tools whose results are pending"),
    FIELD(BOOL, resumed, IN_SETTLED, "true if these were the last results and the run continues"),
    FIELD(STRINGS, accepted, IN_SETTLED),
    FIELD(STRINGS, duplicates, IN_SETTLED, "ids that already had a result, which is kept"),
};
#undef OF
const struct schema schema_tools_pause =
    SCHEMA("ToolsPause", struct tools_answer, answer_fields, IN_READ);
const struct schema schema_tools_settled =
    SCHEMA("ToolsSettled", struct tools_answer, answer_fields, IN_READ | IN_SETTLED);

/* --- Handlers ------------------------------------------------------------------------------ */

static struct str content_or_null(struct str content)
{
    return str_is_none(content) ? STR("null") : content;
}

enum error handle_tools_await(struct call *call, struct context *c)
{
    const struct tools_body *body = call->request.input;
    struct tool_pause pause = {.messages = body->messages,
        .has_current_step = body->has_current_step,
        .current_step = body->current_step,
        .n_tools = body->tools.count,
        .n_results = body->backend_results.count,
        .tools_at = STR("/tools"),
        .id_member = "tool_use_id"};
    /* The model fills in numbers in a copy: the job may run again with the same request. */
    pause.tools = ARENA_ARRAY(call->arena, struct awaited_tool, pause.n_tools);
    pause.results = ARENA_ARRAY(call->arena, struct awaited_tool, pause.n_results + 1);
    for (size_t i = 0; i < pause.n_tools; i++)
        pause.tools[i] = ((const struct awaited_tool *)body->tools.items)[i];
    for (size_t i = 0; i < pause.n_results; i++) {
        pause.results[i] = ((const struct backend_result *)body->backend_results.items)[i].tool;
        pause.results[i].content = content_or_null(pause.results[i].content);
    }
    struct run run;
    TRY(run_path_get(call, c, &run));
    TRY(awaited_tools_check(c, &run, &pause));
    TRY(awaited_tools_add(c, &run, &pause));
    const struct tools_answer answer = {.run_id = run.id,
        .status = run_status_word(run.status),
        .phase = phase_word(run.phase),
        .remaining = (int64_t)pause.n_tools};
    return call_answer(call, &schema_tools_pause, &answer, 0);
}

enum error handle_tool_results(struct call *call, struct context *c)
{
    const struct nested_list *list = &((const struct results_body *)call->request.input)->results;
    struct tool_result *results = ARENA_ARRAY(call->arena, struct tool_result, list->count);
    struct tool_outcome outcome;
    struct run run;
    for (size_t i = 0; i < list->count; i++) {
        results[i] = ((const struct tool_result *)list->items)[i];
        results[i].content = content_or_null(results[i].content);
        results[i].at = arena_printf(call->arena, "/results/%zu", i);
    }
    TRY(run_path_get(call, c, &run));
    TRY(awaited_tools_settle(c, &run, false, results, list->count, &outcome));
    const struct tools_answer answer = {.run_id = run.id,
        .status = run_status_word(run.status),
        .phase = phase_word(run.phase),
        .remaining = outcome.remaining,
        .resumed = outcome.resumed,
        .accepted = {outcome.accepted, outcome.n_accepted},
        .duplicates = {outcome.duplicates, outcome.n_duplicates}};
    return call_answer(call, &schema_tools_settled, &answer, 0);
}

struct tools_query {
    struct page_query page;
    bool has_open;
    bool open;
};
#define OF struct tools_query
static const struct field tools_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(BOOL_OR_NONE, open, IN_QUERY, "true: only tools whose results are pending"),
};
#undef OF
const struct schema query_tools =
    SCHEMA("ToolsQuery", struct tools_query, tools_query_fields, IN_QUERY);

static struct str cursor_of(struct arena *arena, const struct awaited_tool *tool)
{
    return cursor_from_text(
        arena, arena_printf(arena, "%lld.%lld", (long long)tool->pause, (long long)tool->position));
}

static enum error read_cursor(
    struct call *call, struct str cursor, struct awaited_tool_filter *filter)
{
    struct str text, pause, position;
    TRY(cursor_to_text(call, cursor, &text));
    if (str_is_none(text))
        return OK;
    bool good = str_next_part(&text, '.', &pause) && str_next_part(&text, '.', &position) &&
                str_is_none(text) && str_to_i64(pause, &filter->after_pause) &&
                str_to_i64(position, &filter->after_position);
    return good ? OK : cursor_refused(call);
}

enum error handle_tool_list(struct call *call, struct context *c)
{
    const struct tools_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct awaited_tool *tools = ARENA_ARRAY(call->arena, struct awaited_tool, page.limit);
    struct awaited_tool_filter filter = {.open_only = q->open};
    struct run run;
    TRY(read_cursor(call, q->page.cursor, &filter));
    TRY(run_path_get(call, c, &run));
    TRY(awaited_tool_list(c, run.id, &filter, &page, tools));
    return call_answer_list(call, &schema_awaited_tool, tools, &page,
        page.more ? cursor_of(call->arena, &tools[page.count - 1]) : STR_NONE);
}
