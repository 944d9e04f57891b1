/* SPDX-License-Identifier: Apache-2.0 */
/* Conversation history, and the context that an engine reads from it. */
#include "model/execution/history.h"

#include "api/handlers.h"
#include "model/execution/history_context.h"
#include "model/execution/transcripts.h"

#define OF struct history_usage
static const struct field usage_fields[] = {
    FIELD(INT, input_tokens, IN_READ),
    FIELD(INT, output_tokens, IN_READ),
    FIELD(INT, cache_creation_input_tokens, IN_READ),
    FIELD(INT, cache_read_input_tokens, IN_READ),
};
#undef OF
static const struct schema schema_history_usage =
    SCHEMA("HistoryUsage", struct history_usage, usage_fields, IN_READ);

#define OF struct history_entry
static const struct field entry_fields[] = {
    FIELD(ARRAY_OR_NONE, messages, IN_PATCH | IN_READ,
        "complete conversation of the run, not compacted", .max = TRANSCRIPT_MAX_BYTES,
        .items = "object", .hide_none = true),
    FIELD(STRING_OR_NULL, final_response, IN_PATCH | IN_READ, .max = HISTORY_RESPONSE_MAX_BYTES),
    FIELD(STRING_OR_NULL, stop_reason, IN_PATCH | IN_READ,
        "end_turn, max_steps, tool_use …; default of failed and cancelled runs: the status",
        .min = 1, .max = HISTORY_REASON_MAX_BYTES),
    FIELD(ARRAY_OR_NONE, generated_files, IN_PATCH | IN_READ, "[{file_id, filename, …}]",
        .max = HISTORY_FILES_MAX_BYTES, .items = "object"),
    FIELD(OBJECT_OR_NONE, extras, IN_PATCH | IN_READ, .max = HISTORY_EXTRAS_MAX_BYTES),
    FIELD_AS(UUID, "conversation_id", id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD_AS(UUID, "agent_uuid", thread_id, IN_READ,
        "id of the thread, under the name that engines use"),
    FIELD(INT, sequence_number, IN_READ, "1, 2, 3 within the thread"),
    FIELD(UUID, run_id, IN_READ),
    FIELD(STRING_OR_NULL, status, IN_READ, "status of the run: completed, failed or cancelled"),
    FIELD(UUID_OR_NULL, agent_id, IN_READ),
    FIELD(TIME, started_at, IN_READ),
    FIELD(TIME, completed_at, IN_READ),
    FIELD(STRING, user_message, IN_READ),
    FIELD(INT, total_steps, IN_READ),
    FIELD(NESTED, usage, IN_READ, "usage of the run and its children",
        .nested = &schema_history_usage),
    FIELD(OBJECT, cost, IN_READ,
        "cost of the run and its children: input_cost, output_cost, total_cost …"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_history_entry =
    SCHEMA("HistoryEntry", struct history_entry, entry_fields, IN_READ);
const struct schema schema_history_patch =
    SCHEMA("HistoryPatch", struct history_entry, entry_fields, IN_PATCH);

struct history_query {
    struct page_query page;
    enum include include;
};
#define OF struct history_query
static const struct field query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY,
        "messages: include the complete conversation of each run", .choices = include_messages),
};
#undef OF
const struct schema query_history =
    SCHEMA("HistoryQuery", struct history_query, query_fields, IN_QUERY);

/* --- Entries ------------------------------------------------------------------------------- */

enum error handle_history_list(struct call *call, struct context *c)
{
    const struct history_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct history_entry *entries = ARENA_ARRAY(call->arena, struct history_entry, page.limit);
    struct history_filter filter = {.with_messages = q->include != INCLUDE_NONE};
    TRY(cursor_to_number(call, q->page.cursor, &filter.before));
    TRY(history_list(c, call->request.params[0], &filter, &page, entries));
    return call_answer_page(call, &schema_history_entry, entries, &page,
        CURSOR_BY(struct history_entry, sequence_number));
}

enum error handle_history_get(struct call *call, struct context *c)
{
    struct history_entry entry;
    TRY(history_get(c, call->request.params[0], call->request.numbers[1], true, &entry));
    return call_answer(call, &schema_history_entry, &entry, entry.version);
}

enum error handle_history_patch(struct call *call, struct context *c)
{
    struct history_entry before, after;
    TRY(history_get(c, call->request.params[0], call->request.numbers[1],
        call->request.is_json_patch, &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    /* A merge patch is applied without the messages, which it can only replace. */
    if (call_member(call, "messages") == MEMBER_NULL)
        after.messages = STR("[]");
    TRY(history_update(c, &before, &after));
    return call_answer(call, &schema_history_entry, &after, after.version);
}

/* --- Context ------------------------------------------------------------------------------- */

struct context_query {
    bool has_runs;
    int64_t runs;
    bool has_max_tokens;
    int64_t max_tokens;
    bool has_include_system;
    bool include_system;
};
#define OF struct context_query
static const struct field context_query_fields[] = {
    FIELD_AS(INT_OR_NONE, "history_runs", runs, IN_QUERY,
        "number of last completed runs; default: the setting of the agent, or 5", .min = 1,
        .max = CONTEXT_RUNS_MAX),
    FIELD(INT_OR_NONE, max_tokens, IN_QUERY, "budget of estimated tokens; default: 1000000",
        .min = 1, .max = CONTEXT_TOKENS_MAX),
    FIELD(BOOL_OR_NONE, include_system, IN_QUERY,
        "prepend the system prompt of the thread's resumption"),
};
#undef OF
const struct schema query_context =
    SCHEMA("ContextQuery", struct context_query, context_query_fields, IN_QUERY);

#define OF struct history_context
static const struct field context_fields[] = {
    FIELD(ARRAY, messages, IN_READ, "oldest first", .items = "object"),
    FIELD(INT, runs_used, IN_READ),
    FIELD(INT, runs_available, IN_READ, "completed runs in the history of the thread"),
    FIELD(INT, estimated_tokens, IN_READ),
    FIELD(BOOL, truncated, IN_READ, "true if the budget excluded messages of the requested runs"),
};
#undef OF
const struct schema schema_history_context =
    SCHEMA("ThreadContext", struct history_context, context_fields, IN_READ);

enum error handle_thread_context(struct call *call, struct context *c)
{
    const struct context_query *q = call->request.query;
    struct history_context_query query = {
        .runs = q->runs,
        .max_tokens = q->has_max_tokens ? q->max_tokens : CONTEXT_TOKENS_MAX,
        .with_system = q->include_system,
    };
    struct history_context context;
    if (!q->has_runs)
        TRY(history_runs_in_context(c, call->request.params[0], &query.runs));
    TRY(history_context(c, call->request.params[0], &query, &context));
    return call_answer(call, &schema_history_context, &context, 0);
}
