/* SPDX-License-Identifier: Apache-2.0 */
/* Tools whose results a run waits for. */
#include "model/execution/awaited_tools.h"

#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/execution/resumptions.h"
#include "model/execution/transcripts.h"

#define TOOL_FIELD(member) offsetof(struct awaited_tool, member)
#define USE_ID(type)                                                                        \
    {                                                                                       \
        .name = "tool_use_id", .kind = FIELD_STRING, .offset = offsetof(type, tool_use_id), \
        .min = 1, .max = TOOL_NAME_MAX_BYTES, .summary = "unique within the run"            \
    }

static const struct field tool_fields[] = {
    USE_ID(struct awaited_tool),
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = TOOL_FIELD(name),
        .summary = "empty of a result that came without one"},
    {.name = "side", .kind = FIELD_ENUM, .offset = TOOL_FIELD(side), .choices = tool_sides},
    {.name = "input", .kind = FIELD_JSON, .offset = TOOL_FIELD(input)},
    {.name = "content",
        .kind = FIELD_JSON,
        .flags = FIELD_NULLABLE,
        .offset = TOOL_FIELD(content),
        .summary = "the result; null while it is not in"},
    {.name = "is_error",
        .kind = FIELD_BOOL,
        .flags = FIELD_NULLABLE,
        .offset = TOOL_FIELD(is_error),
        .has_offset = TOOL_FIELD(has_result_at)},
    {.name = "pause",
        .kind = FIELD_INT,
        .offset = TOOL_FIELD(pause),
        .summary = "1, 2, 3: which time the run stopped for tools"},
    {.name = "created_at", .kind = FIELD_TIME, .offset = TOOL_FIELD(created_at)},
    {.name = "result_at",
        .kind = FIELD_TIME,
        .flags = FIELD_NULLABLE,
        .offset = TOOL_FIELD(result_at),
        .has_offset = TOOL_FIELD(has_result_at),
        .summary = "null while the tool is open"},
    {.name = "result_by",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = TOOL_FIELD(result_by),
        .summary = "the principal; null for a key of the whole tenant"},
};
const struct schema schema_awaited_tool = {
    "AwaitedTool", tool_fields, COUNT_OF(tool_fields), sizeof(struct awaited_tool), 0};

/* --- Bodies --------------------------------------------------------------------------------- */

static const struct field asked_fields[] = {
    USE_ID(struct awaited_tool),
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = TOOL_FIELD(name),
        .min = 1,
        .max = TOOL_NAME_MAX_BYTES},
    {.name = "input",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = TOOL_FIELD(input),
        .max = TOOL_INPUT_MAX_BYTES},
    {.name = "side",
        .kind = FIELD_ENUM,
        .offset = TOOL_FIELD(side),
        .choices = tool_sides,
        .summary = "who runs it"},
};
static const struct schema schema_tool_asked = {
    "ToolAsked", asked_fields, COUNT_OF(asked_fields), sizeof(struct awaited_tool), 0};

#define CONTENT(type)                                                                        \
    {                                                                                        \
        .name = "content", .kind = FIELD_JSON, .offset = offsetof(type, content),            \
        .max = TOOL_RESULTS_MAX_BYTES, .summary = "a text, a list of blocks, any JSON value" \
    }

struct backend_result {
    struct awaited_tool tool;
    struct str type;
    bool has_is_error;
};
static const struct field backend_fields[] = {
    USE_ID(struct awaited_tool),
    {.name = "name",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = TOOL_FIELD(name),
        .max = TOOL_NAME_MAX_BYTES},
    {.name = "type",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct backend_result, type),
        .max = TOOL_NAME_MAX_BYTES,
        .summary = "tool_result; Cairn does not look at it"},
    CONTENT(struct awaited_tool),
    {.name = "is_error",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = TOOL_FIELD(is_error),
        .has_offset = offsetof(struct backend_result, has_is_error)},
};
static const struct schema schema_backend_result = {
    "BackendResult", backend_fields, COUNT_OF(backend_fields), sizeof(struct backend_result), 0};

struct tools_body {
    struct nested_list tools;
    struct nested_list backend_results;
    struct str messages;
    bool has_current_step;
    int64_t current_step;
};
#define BODY_FIELD(member) offsetof(struct tools_body, member)
static const struct field tools_body_fields[] = {
    {.name = "tools",
        .kind = FIELD_NESTED_LIST,
        .offset = BODY_FIELD(tools),
        .min = 1,
        .max = TOOLS_MAX,
        .nested = &schema_tool_asked},
    {.name = "backend_results",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = BODY_FIELD(backend_results),
        .max = TOOLS_MAX,
        .nested = &schema_backend_result,
        .summary = "that the engine has already, to go with the others"},
    {.name = "current_step",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = BODY_FIELD(current_step),
        .has_offset = BODY_FIELD(has_current_step),
        .max = RESUMPTION_STEPS_MAX,
        .summary = "of the thread's resumption"},
    {.name = "messages",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL,
        .offset = BODY_FIELD(messages),
        .max = TRANSCRIPT_MAX_BYTES,
        .summary = "of the thread's resumption"},
};
const struct schema schema_tools_await = {
    "ToolsAwait", tools_body_fields, COUNT_OF(tools_body_fields), sizeof(struct tools_body), 0};

static const struct field result_fields[] = {
    USE_ID(struct tool_result),
    CONTENT(struct tool_result),
    {.name = "is_error",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct tool_result, is_error),
        .has_offset = offsetof(struct tool_result, has_is_error)},
};
static const struct schema schema_tool_result = {
    "ToolResult", result_fields, COUNT_OF(result_fields), sizeof(struct tool_result), 0};

static const struct field results_fields[] = {
    {.name = "results",
        .kind = FIELD_NESTED_LIST,
        .offset = 0,
        .min = 1,
        .max = TOOLS_MAX,
        .nested = &schema_tool_result},
};
const struct schema schema_tool_results = {
    "ToolResults", results_fields, COUNT_OF(results_fields), sizeof(struct nested_list), 0};

/* --- Answers -------------------------------------------------------------------------------- */

struct tools_answer {
    struct uuid run_id;
    struct str status;
    struct str phase;
    int64_t remaining;
    bool resumed;
    struct str_list accepted;
    struct str_list duplicates;
};
#define ANSWER_FIELD(member) offsetof(struct tools_answer, member)
enum { PAUSE_FIELDS = 4 };
static const struct field answer_fields[] = {
    {.name = "run_id", .kind = FIELD_UUID, .offset = ANSWER_FIELD(run_id)},
    {.name = "status",
        .kind = FIELD_STRING,
        .offset = ANSWER_FIELD(status),
        .summary = "of the run, from here on"},
    {.name = "phase", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, .offset = ANSWER_FIELD(phase)},
    {.name = "remaining",
        .kind = FIELD_INT,
        .offset = ANSWER_FIELD(remaining),
        .summary = "tools whose results are missing"},
    {.name = "resumed",
        .kind = FIELD_BOOL,
        .offset = ANSWER_FIELD(resumed),
        .summary = "these were the last, and the run goes on"},
    {.name = "accepted", .kind = FIELD_STRINGS, .offset = ANSWER_FIELD(accepted)},
    {.name = "duplicates",
        .kind = FIELD_STRINGS,
        .offset = ANSWER_FIELD(duplicates),
        .summary = "ids that had a result before: that one stays"},
};
const struct schema schema_tools_pause = {
    "ToolsPause", answer_fields, PAUSE_FIELDS, sizeof(struct tools_answer), 0};
const struct schema schema_tools_settled = {
    "ToolsSettled", answer_fields, COUNT_OF(answer_fields), sizeof(struct tools_answer), 0};

/* --- Handlers ------------------------------------------------------------------------------- */

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
        .n_results = body->backend_results.count};
    /* The model fills in the numbers: the request stays as it is, for it may run again. */
    pause.tools = ARENA_ARRAY(call->arena, struct awaited_tool, pause.n_tools);
    pause.results = ARENA_ARRAY(call->arena, struct awaited_tool, pause.n_results + 1);
    for (size_t i = 0; i < pause.n_tools; i++)
        pause.tools[i] = ((const struct awaited_tool *)body->tools.items)[i];
    for (size_t i = 0; i < pause.n_results; i++) {
        pause.results[i] = ((const struct backend_result *)body->backend_results.items)[i].tool;
        pause.results[i].content = content_or_null(pause.results[i].content);
    }
    struct run run;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = awaited_tools_add(c, &run, &pause);
    if (e != OK)
        return e;
    const struct tools_answer answer = {.run_id = run.id,
        .status = run_status_word(run.status),
        .phase = phase_word(run.phase),
        .remaining = (int64_t)pause.n_tools};
    call_answer(call, &schema_tools_pause, &answer, 0);
    return OK;
}

enum error handle_tool_results(struct call *call, struct context *c)
{
    const struct nested_list *list = call->request.input;
    struct tool_result *results = ARENA_ARRAY(call->arena, struct tool_result, list->count);
    struct tool_outcome outcome;
    struct run run;
    for (size_t i = 0; i < list->count; i++) {
        results[i] = ((const struct tool_result *)list->items)[i];
        results[i].content = content_or_null(results[i].content);
    }
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = awaited_tools_settle(c, &run, results, list->count, &outcome);
    if (e != OK)
        return e;
    const struct tools_answer answer = {.run_id = run.id,
        .status = run_status_word(run.status),
        .phase = phase_word(run.phase),
        .remaining = outcome.remaining,
        .resumed = outcome.resumed,
        .accepted = {outcome.accepted, outcome.n_accepted},
        .duplicates = {outcome.duplicates, outcome.n_duplicates}};
    call_answer(call, &schema_tools_settled, &answer, 0);
    return OK;
}

struct tools_query {
    struct page_query page;
    bool has_open;
    bool open;
};
static const struct field tools_query_fields[] = {
    PAGE_FIELDS(struct tools_query),
    {.name = "open",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct tools_query, open),
        .has_offset = offsetof(struct tools_query, has_open),
        .summary = "true: only those whose results are missing"},
};
const struct schema query_tools = {
    "ToolsQuery", tools_query_fields, COUNT_OF(tools_query_fields), sizeof(struct tools_query), 0};

static struct str cursor_of(struct arena *arena, const void *item)
{
    const struct awaited_tool *tool = item;
    return cursor_from_text(
        arena, arena_printf(arena, "%lld.%lld", (long long)tool->pause, (long long)tool->position));
}

static enum error read_cursor(
    struct call *call, struct str cursor, struct awaited_tool_filter *filter)
{
    struct str text = STR_NONE, pause, position;
    enum error e = cursor_to_text(call, cursor, &text);
    if (e != OK || str_is_none(text))
        return e;
    bool good = str_next_part(&text, '.', &pause) && str_next_part(&text, '.', &position) &&
                str_is_none(text) && str_to_i64(pause, &filter->after_pause) &&
                str_to_i64(position, &filter->after_position);
    return good ? OK : cursor_refused(call);
}

enum error handle_tool_list(struct call *call, struct context *c)
{
    const struct tools_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct awaited_tool *tools = ARENA_ARRAY(call->arena, struct awaited_tool, limit);
    struct awaited_tool_filter filter = {.open_only = q->open};
    struct run run;
    bool more;
    enum error e = read_cursor(call, q->page.cursor, &filter);
    if (e == OK)
        e = call_run(call, c, &run);
    if (e == OK)
        e = awaited_tool_list(c, run.id, &filter, limit, tools, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_awaited_tool, tools, count, more, cursor_of);
    return e;
}
