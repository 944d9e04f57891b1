/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handlers.h"
#include "model/execution/runs.h"
#include "model/threads/threads.h"

enum { IN_UNKEYED_BODY = IN_SENT(0) }; /* of routes that do not have the key in their path */
#define OF struct thread
static const struct field thread_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING_OR_NULL, key, IN_UNKEYED_BODY | IN_READ,
        "id of the conversation in your application; unique within its namespace", .min = 1,
        .max = THREAD_KEY_MAX_BYTES),
    FIELD(STRING_OR_NULL, key_owner, IN_READ,
        "principal that set the key and whose namespace it is in; null: the tenant"),
    FIELD(ENUM_OR_NONE, status, IN_BODY | IN_READ, .choices = thread_statuses),
    FIELD(STRING_OR_NULL, title, IN_BODY | IN_READ, .max = THREAD_TITLE_MAX_BYTES),
    FIELD(STRING_OR_NULL, agent, IN_BODY | IN_READ,
        "name of the agent that works on the thread; default agent of new runs", .min = 1,
        .max = THREAD_AGENT_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, context, IN_BODY | IN_READ,
        "state of the conversation: summary, tail, meta", .max = THREAD_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(OBJECT_OR_NONE, preferences, IN_BODY | IN_READ, .max = THREAD_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(DOCUMENT_OR_NONE, important_steps, IN_BODY | IN_READ, .max = THREAD_DOCUMENT_MAX_BYTES,
        .hide_none = true),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ, "scalar members can be used as filters",
        .max = THREAD_METADATA_MAX_BYTES),
    FIELD(OBJECT_OR_NULL, error, IN_BODY | IN_READ, .max = THREAD_METADATA_MAX_BYTES),
    FIELD(ENUM_OR_NONE, run_policy, IN_BODY | IN_READ,
        "handling of a new run while another run is active", .choices = thread_run_policies),
    FIELD(BOOL_OR_NONE, prune_on_completion, IN_BODY | IN_READ,
        "delete the events of a run when it is finished"),
    FIELD(INT_OR_NULL, event_max_age_s, IN_BODY | IN_READ,
        "maximum age of events in seconds; older events are deleted", .min = 1,
        .max = THREAD_EVENT_AGE_MAX_S),
    FIELD(UUID_OR_NULL, most_recent_run_id, IN_READ),
    FIELD(INT, last_seq, IN_READ, "cursor of the newest event"),
    FIELD(INT, pruned_seq, IN_READ, "seq of the newest deleted event"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_thread = SCHEMA("Thread", struct thread, thread_fields, IN_READ);
const struct schema schema_thread_body =
    SCHEMA("ThreadBody", struct thread, thread_fields, IN_BODY | IN_UNKEYED_BODY);
const struct schema schema_keyed_thread_body =
    SCHEMA("KeyedThreadBody", struct thread, thread_fields, IN_BODY);

struct threads_query {
    struct page_query page;
    struct str key;
    enum thread_status status;
    struct str agent;
    struct str title;
    enum include include;
    bool has_created_after;
    int64_t created_after;
    bool has_created_before;
    int64_t created_before;
};
#define OF struct threads_query
static const struct field threads_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(
        STRING_OR_NONE, key, IN_QUERY, "key of the thread", .min = 1, .max = THREAD_KEY_MAX_BYTES),
    FIELD(ENUM_OR_NONE, status, IN_QUERY, .choices = thread_statuses),
    FIELD(STRING_OR_NONE, agent, IN_QUERY, .min = 1, .max = THREAD_AGENT_MAX_BYTES),
    FIELD(STRING_OR_NONE, title, IN_QUERY, "part of the title; case-insensitive for ASCII letters",
        .min = 1, .max = THREAD_TITLE_MAX_BYTES),
    FIELD(TIME_OR_NONE, created_after, IN_QUERY, "only threads created at or after this time"),
    FIELD(TIME_OR_NONE, created_before, IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY,
        "documents: include context, preferences and important_steps",
        .choices = include_documents),
};
#undef OF
const struct schema query_threads =
    SCHEMA("ThreadsQuery", struct threads_query, threads_query_fields, IN_QUERY);

struct reason_body {
    struct str reason;
};
#define OF struct reason_body
static const struct field reason_fields[] = {
    FIELD(STRING_OR_NULL, reason, IN_BODY, "reason recorded in the event", .max = 1000),
};
#undef OF
const struct schema schema_reason = SCHEMA("Reason", struct reason_body, reason_fields, IN_BODY);

static enum error answer(struct call *call, const struct thread *thread)
{
    return call_answer(call, &schema_thread, thread, thread->version);
}

enum error handle_thread_create(struct call *call, struct context *c)
{
    struct thread thread = *(const struct thread *)call->request.input;
    TRY(thread_create(c, &thread));
    return answer(call, &thread);
}

enum error handle_thread_ensure(struct call *call, struct context *c)
{
    struct thread thread = *(const struct thread *)call->request.input;
    bool is_new = false;
    thread.key = call->request.texts[0];
    TRY(thread_ensure(c, &thread, &is_new));
    if (is_new)
        call->answer.status = 201;
    return answer(call, &thread);
}

enum error handle_thread_get_by_key(struct call *call, struct context *c)
{
    struct thread thread;
    TRY(thread_get_by_key(c, call->request.texts[0], &thread));
    return answer(call, &thread);
}

enum error handle_thread_list(struct call *call, struct context *c)
{
    const struct threads_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct thread *threads = ARENA_ARRAY(call->arena, struct thread, page.limit);
    struct thread_filter filter = {.key = q->key,
        .status = q->status,
        .agent = q->agent,
        .title_part = q->title,
        .has_created_after = q->has_created_after,
        .created_after = q->created_after,
        .has_created_before = q->has_created_before,
        .created_before = q->created_before,
        .with_documents = q->include != INCLUDE_NONE};
    memcpy(filter.metadata_keys, call->request.metadata_keys, sizeof filter.metadata_keys);
    memcpy(filter.metadata_values, call->request.metadata_values, sizeof filter.metadata_values);
    TRY(cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before));
    TRY(thread_list(c, &filter, &page, threads));
    return call_answer_page(call, &schema_thread, threads, &page, CURSOR_BY(struct thread, id));
}

enum error handle_thread_get(struct call *call, struct context *c)
{
    struct thread thread;
    TRY(thread_get(c, call->request.params[0], &thread));
    return answer(call, &thread);
}

/* A status in a patch also changes the active runs, as the verb of that name does. */
static enum error move(struct context *c, struct thread *thread, enum thread_status status)
{
    c->has_match = false; /* the version before the patch has been checked */
    if (status == THREAD_PAUSED)
        return thread_pause(c, thread);
    if (status == THREAD_CANCELLED)
        return thread_cancel(c, thread, STR_NONE);
    return thread_resume(c, thread);
}

enum error handle_thread_patch(struct call *call, struct context *c)
{
    struct thread before, after;
    TRY(thread_get(c, call->request.params[0], &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    if (after.status == THREAD_STATUS_NONE)
        return problem_fault(&call->problem, STR("/status"), "cannot be removed");
    thread_defaults(&after);
    enum thread_status wanted = after.status;
    bool by_verb = wanted != before.status && wanted != THREAD_ERROR;
    if (by_verb)
        after.status = before.status;
    TRY(thread_update(c, &before, &after));
    TRY(thread_tell_update(c, &before, &after));
    if (by_verb)
        TRY(move(c, &after, wanted));
    return answer(call, &after);
}

enum error handle_thread_delete(struct call *call, struct context *c)
{
    bool more = false;
    enum error e = thread_delete_some(c, call->request.params[0], &more);
    return call_answer_deletion(call, e, more);
}

enum error handle_thread_pause(struct call *call, struct context *c)
{
    struct thread thread;
    TRY(thread_get(c, call->request.params[0], &thread));
    TRY(thread_pause(c, &thread));
    return answer(call, &thread);
}

enum error handle_thread_resume(struct call *call, struct context *c)
{
    struct thread thread;
    TRY(thread_get(c, call->request.params[0], &thread));
    TRY(thread_resume(c, &thread));
    return answer(call, &thread);
}

enum error handle_thread_cancel(struct call *call, struct context *c)
{
    const struct reason_body *body = call->request.input;
    struct thread thread;
    TRY(thread_get(c, call->request.params[0], &thread));
    TRY(thread_cancel(c, &thread, body->reason));
    return answer(call, &thread);
}
