/* SPDX-License-Identifier: Apache-2.0 */
/* Conversation history, and the context that an engine takes from it. */
#include "model/execution/history.h"

#include "api/resources.h"
#include "model/execution/history_context.h"
#include "model/execution/transcripts.h"

#define USAGE_FIELD(member)                                                                  \
    {                                                                                        \
        .name = #member, .kind = FIELD_INT, .offset = offsetof(struct history_usage, member) \
    }
static const struct field usage_fields[] = {
    USAGE_FIELD(input_tokens),
    USAGE_FIELD(output_tokens),
    USAGE_FIELD(cache_creation_input_tokens),
    USAGE_FIELD(cache_read_input_tokens),
};
static const struct schema schema_history_usage = {
    "HistoryUsage", usage_fields, COUNT_OF(usage_fields), sizeof(struct history_usage), 0};

#define FIELD(member) offsetof(struct history_entry, member)

/* What an engine may change comes first: HistoryPatch is that part. */
enum { PATCH_FIELDS = 5 };
static const struct field entry_fields[] = {
    {.name = "messages",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = FIELD(messages),
        .max = TRANSCRIPT_MAX_BYTES,
        .summary = "the whole conversation of the run, not compacted"},
    {.name = "final_response",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(final_response),
        .max = HISTORY_RESPONSE_MAX_BYTES},
    {.name = "stop_reason",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(stop_reason),
        .min = 1,
        .max = HISTORY_REASON_MAX_BYTES,
        .summary = "end_turn, max_steps, tool_use …; failed and cancelled where nobody said"},
    {.name = "generated_files",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(generated_files),
        .max = HISTORY_FILES_MAX_BYTES,
        .summary = "[{file_id, filename, …}]"},
    {.name = "extras",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(extras),
        .max = HISTORY_EXTRAS_MAX_BYTES},
    {.name = "conversation_id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = FIELD(id)},
    {.name = "thread_id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = FIELD(thread_id)},
    {.name = "agent_uuid",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(thread_id),
        .summary = "the thread's id, under the name that engines know it by"},
    {.name = "sequence_number",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(sequence_number),
        .summary = "1, 2, 3 within the thread"},
    {.name = "run_id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = FIELD(run_id)},
    {.name = "status",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = FIELD(status),
        .summary = "the run's: completed, failed or cancelled"},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = FIELD(agent_id),
        .has_offset = FIELD(has_agent_id)},
    {.name = "started_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(started_at)},
    {.name = "completed_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(completed_at)},
    {.name = "user_message",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(user_message)},
    {.name = "total_steps",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(total_steps)},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(usage),
        .nested = &schema_history_usage,
        .summary = "of the run and its children"},
    {.name = "cost",
        .kind = FIELD_OBJECT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(cost),
        .summary = "of the run and its children: input_cost, output_cost, total_cost …"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_history_entry = {
    "HistoryEntry", entry_fields, COUNT_OF(entry_fields), sizeof(struct history_entry), 0};
const struct schema schema_history_patch = {
    "HistoryPatch", entry_fields, PATCH_FIELDS, sizeof(struct history_entry), 0};

static const char *const includes[] = {"messages", NULL};
struct history_query {
    struct page_query page;
    struct str include;
};
static const struct field query_fields[] = {
    PAGE_FIELDS(struct history_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct history_query, include),
        .choices = includes,
        .summary = "messages: the whole conversation of each run too"},
};
const struct schema query_history = {
    "HistoryQuery", query_fields, COUNT_OF(query_fields), sizeof(struct history_query), 0};

/* --- Entries -------------------------------------------------------------------------------- */

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct history_entry *)item)->sequence_number);
}

enum error handle_history_list(struct call *call, struct context *c)
{
    const struct history_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct history_entry *entries = ARENA_ARRAY(call->arena, struct history_entry, limit);
    struct history_filter filter = {.with_messages = !str_is_none(q->include)};
    bool more;
    enum error e = cursor_to_number(call, q->page.cursor, &filter.before);
    if (e == OK)
        e = history_list(c, call->request.params[0], &filter, limit, entries, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_history_entry, entries, count, more, cursor_of);
    return e;
}

enum error handle_history_get(struct call *call, struct context *c)
{
    struct history_entry entry;
    enum error e = history_get(c, call->request.params[0], call->request.numbers[1], true, &entry);
    if (e == OK)
        call_answer(call, &schema_history_entry, &entry, entry.version);
    return e;
}

enum error handle_history_patch(struct call *call, struct context *c)
{
    struct history_entry before, after;
    struct json v;
    enum error e = history_get(
        c, call->request.params[0], call->request.numbers[1], call->request.is_json_patch, &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    /* A merge patch is applied without the messages, which it can only replace. */
    if (e == OK && !call->request.is_json_patch &&
        json_get(json_root(&call->request.doc), STR("messages"), &v) && json_type(v) == JSON_NULL)
        after.messages = STR("[]");
    if (e == OK)
        e = history_update(c, &before, &after);
    if (e == OK)
        call_answer(call, &schema_history_entry, &after, after.version);
    return e;
}

/* --- Context -------------------------------------------------------------------------------- */

struct context_query {
    bool has_runs;
    int64_t runs;
    bool has_max_tokens;
    int64_t max_tokens;
    bool has_include_system;
    bool include_system;
};
static const struct field context_query_fields[] = {
    {.name = "history_runs",
        .kind = FIELD_INT,
        .offset = offsetof(struct context_query, runs),
        .has_offset = offsetof(struct context_query, has_runs),
        .min = 1,
        .max = CONTEXT_RUNS_MAX,
        .summary = "the last completed runs to take, 5 unless told"},
    {.name = "max_tokens",
        .kind = FIELD_INT,
        .offset = offsetof(struct context_query, max_tokens),
        .has_offset = offsetof(struct context_query, has_max_tokens),
        .min = 1,
        .max = CONTEXT_TOKENS_MAX,
        .summary = "the budget, 1000000 unless told; tokens are estimated"},
    {.name = "include_system",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct context_query, include_system),
        .has_offset = offsetof(struct context_query, has_include_system),
        .summary = "begin with the system prompt of the thread's resumption"},
};
const struct schema query_context = {"ContextQuery", context_query_fields,
    COUNT_OF(context_query_fields), sizeof(struct context_query), 0};

#define CONTEXT_FIELD(member) offsetof(struct history_context, member)
static const struct field context_fields[] = {
    {.name = "messages",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = CONTEXT_FIELD(messages),
        .summary = "oldest first"},
    {.name = "runs_used", .kind = FIELD_INT, .offset = CONTEXT_FIELD(runs_used)},
    {.name = "runs_available",
        .kind = FIELD_INT,
        .offset = CONTEXT_FIELD(runs_available),
        .summary = "completed runs in the history of the thread"},
    {.name = "estimated_tokens", .kind = FIELD_INT, .offset = CONTEXT_FIELD(estimated_tokens)},
    {.name = "truncated",
        .kind = FIELD_BOOL,
        .offset = CONTEXT_FIELD(truncated),
        .summary = "the budget left out something of the runs that were asked for"},
};
const struct schema schema_history_context = {
    "ThreadContext", context_fields, COUNT_OF(context_fields), sizeof(struct history_context), 0};

enum error handle_thread_context(struct call *call, struct context *c)
{
    const struct context_query *q = call->request.query;
    const struct history_context_query query = {
        .runs = q->has_runs ? q->runs : CONTEXT_RUNS_DEFAULT,
        .max_tokens = q->has_max_tokens ? q->max_tokens : CONTEXT_TOKENS_MAX,
        .with_system = q->include_system,
    };
    struct history_context context;
    enum error e = history_context(c, call->request.params[0], &query, &context);
    if (e == OK)
        call_answer(call, &schema_history_context, &context, 0);
    return e;
}
