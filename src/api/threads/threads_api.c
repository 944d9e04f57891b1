/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "model/execution/runs.h"
#include "model/threads/threads.h"

#define THREAD_FIELD(member) offsetof(struct thread, member)

/* What a client may set follows the id: ThreadBody is that run of the table, Thread the whole.
 * Where the key is in the path the body has all but the first of them. */
enum { THREAD_BODY_FIELDS = 12 };

static const struct field thread_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = THREAD_FIELD(id)},
    {.name = "key",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = THREAD_FIELD(key),
        .min = 1,
        .max = THREAD_KEY_MAX_BYTES,
        .summary = "your own id of the conversation; no two threads of a tenant have the same"},
    {.name = "status",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = THREAD_FIELD(status),
        .choices = thread_statuses,
        .stores_enum = true},
    {.name = "title",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = THREAD_FIELD(title),
        .max = THREAD_TITLE_MAX_BYTES},
    {.name = "agent",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = THREAD_FIELD(agent),
        .min = 1,
        .max = THREAD_AGENT_MAX_BYTES,
        .summary = "who works on it; new runs take it over"},
    {.name = "context",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = THREAD_FIELD(context),
        .max = THREAD_DOCUMENT_MAX_BYTES,
        .summary = "the conversation so far: summary, tail, meta"},
    {.name = "preferences",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = THREAD_FIELD(preferences),
        .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "important_steps",
        .kind = FIELD_DOCUMENT,
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE,
        .offset = THREAD_FIELD(important_steps),
        .max = THREAD_DOCUMENT_MAX_BYTES},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = THREAD_FIELD(metadata),
        .max = THREAD_METADATA_MAX_BYTES,
        .summary = "its scalar members can be filtered by"},
    {.name = "error",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = THREAD_FIELD(error),
        .max = THREAD_METADATA_MAX_BYTES},
    {.name = "run_policy",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = THREAD_FIELD(run_policy),
        .choices = thread_run_policies,
        .stores_enum = true,
        .summary = "what a start does while another run is active"},
    {.name = "prune_on_completion",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = THREAD_FIELD(prune_on_completion),
        .has_offset = THREAD_FIELD(has_prune_on_completion),
        .summary = "drop a run's events when it is finished"},
    {.name = "event_max_age_s",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = THREAD_FIELD(event_max_age_s),
        .has_offset = THREAD_FIELD(has_event_max_age_s),
        .min = 1,
        .max = THREAD_EVENT_AGE_MAX_S,
        .summary = "drop events that are older"},
    {.name = "most_recent_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = THREAD_FIELD(most_recent_run_id),
        .has_offset = THREAD_FIELD(has_most_recent_run_id)},
    {.name = "last_seq",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = THREAD_FIELD(last_seq),
        .summary = "cursor of the newest event"},
    {.name = "pruned_seq",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = THREAD_FIELD(pruned_seq),
        .summary = "events up to this one are gone"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = THREAD_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = THREAD_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = THREAD_FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_thread = {
    "Thread", thread_fields, COUNT_OF(thread_fields), sizeof(struct thread), 0};
const struct schema schema_thread_body = {
    "ThreadBody", &thread_fields[1], THREAD_BODY_FIELDS, sizeof(struct thread), 0};
const struct schema schema_keyed_thread_body = {
    "KeyedThreadBody", &thread_fields[2], THREAD_BODY_FIELDS - 1, sizeof(struct thread), 0};

static const char *const includes[] = {"documents", NULL};

struct threads_query {
    struct page_query page;
    struct str key;
    enum thread_status status;
    struct str agent;
    struct str title;
    struct str include;
    bool has_created_after;
    int64_t created_after;
    bool has_created_before;
    int64_t created_before;
};
#define QUERY_FIELD(member) offsetof(struct threads_query, member)
static const struct field threads_query_fields[] = {
    PAGE_FIELDS(struct threads_query),
    {.name = "key",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(key),
        .min = 1,
        .max = THREAD_KEY_MAX_BYTES,
        .summary = "the one thread with this key"},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(status),
        .choices = thread_statuses,
        .stores_enum = true},
    {.name = "agent",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(agent),
        .min = 1,
        .max = THREAD_AGENT_MAX_BYTES},
    {.name = "title",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(title),
        .min = 1,
        .max = THREAD_TITLE_MAX_BYTES,
        .summary = "a part of the title; ASCII letters of any case"},
    {.name = "created_after",
        .kind = FIELD_TIME,
        .offset = QUERY_FIELD(created_after),
        .has_offset = QUERY_FIELD(has_created_after),
        .summary = "at or after"},
    {.name = "created_before",
        .kind = FIELD_TIME,
        .offset = QUERY_FIELD(created_before),
        .has_offset = QUERY_FIELD(has_created_before)},
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(include),
        .choices = includes,
        .summary = "documents: context, preferences and important_steps too"},
};
const struct schema query_threads = {"ThreadsQuery", threads_query_fields,
    COUNT_OF(threads_query_fields), sizeof(struct threads_query), 0};

struct reason_body {
    struct str reason;
};
static const struct field reason_fields[] = {
    {.name = "reason",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct reason_body, reason),
        .max = 1000,
        .summary = "told in the event"},
};
const struct schema schema_reason = {"Reason", reason_fields, 1, sizeof(struct reason_body), 0};

static void answer(struct call *call, const struct thread *thread)
{
    call_answer(call, &schema_thread, thread, thread->version);
}

enum error handle_thread_create(struct call *call, struct context *c)
{
    struct thread thread = *(const struct thread *)call->request.input;
    enum error e = thread_create(c, &thread);
    if (e == OK)
        answer(call, &thread);
    return e;
}

enum error handle_thread_ensure(struct call *call, struct context *c)
{
    struct thread thread = *(const struct thread *)call->request.input;
    bool is_new = false;
    thread.key = call->request.texts[0];
    enum error e = thread_ensure(c, &thread, &is_new);
    if (e != OK)
        return e;
    answer(call, &thread);
    if (is_new)
        call->answer.status = 201;
    return OK;
}

enum error handle_thread_get_by_key(struct call *call, struct context *c)
{
    struct thread thread;
    enum error e = thread_get_by_key(c, call->request.texts[0], &thread);
    if (e == OK)
        answer(call, &thread);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct thread *)item)->id);
}

enum error handle_thread_list(struct call *call, struct context *c)
{
    const struct threads_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct thread *threads = ARENA_ARRAY(call->arena, struct thread, limit);
    bool more;
    struct thread_filter filter = {.key = q->key,
        .status = q->status,
        .agent = q->agent,
        .title_part = q->title,
        .has_created_after = q->has_created_after,
        .created_after = q->created_after,
        .has_created_before = q->has_created_before,
        .created_before = q->created_before,
        .with_documents = !str_is_none(q->include)};
    memcpy(filter.metadata_keys, call->request.metadata_keys, sizeof filter.metadata_keys);
    memcpy(filter.metadata_values, call->request.metadata_values, sizeof filter.metadata_values);
    enum error e = cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before);
    if (e == OK)
        e = thread_list(c, &filter, limit, threads, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_thread, threads, count, more, cursor_of);
    return e;
}

enum error handle_thread_get(struct call *call, struct context *c)
{
    struct thread thread;
    enum error e = thread_get(c, call->request.params[0], &thread);
    if (e == OK)
        answer(call, &thread);
    return e;
}

/* A status given in a patch moves the active runs along, as the verb of that name does. */
static enum error move(struct context *c, struct thread *thread, enum thread_status status)
{
    c->has_match = false; /* it has been checked, against the version before the patch */
    if (status == THREAD_PAUSED)
        return thread_pause(c, thread);
    if (status == THREAD_CANCELLED)
        return thread_cancel(c, thread, STR_NONE);
    return thread_resume(c, thread);
}

enum error handle_thread_patch(struct call *call, struct context *c)
{
    struct thread before, after;
    enum error e = thread_get(c, call->request.params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK && after.status == THREAD_STATUS_NONE)
        e = problem_fault(&call->problem, STR("/status"), "cannot be removed");
    if (e != OK)
        return e;
    thread_defaults(&after);
    enum thread_status wanted = after.status;
    bool by_verb = wanted != before.status && wanted != THREAD_ERROR;
    if (by_verb)
        after.status = before.status;
    e = thread_update(c, &before, &after);
    if (e == OK)
        e = thread_tell_update(c, &before, &after);
    if (e == OK && by_verb)
        e = move(c, &after, wanted);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_thread_delete(struct call *call, struct context *c)
{
    enum error e = thread_delete(c, call->request.params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

enum error handle_thread_pause(struct call *call, struct context *c)
{
    struct thread thread;
    enum error e = thread_get(c, call->request.params[0], &thread);
    if (e == OK)
        e = thread_pause(c, &thread);
    if (e == OK)
        answer(call, &thread);
    return e;
}

enum error handle_thread_resume(struct call *call, struct context *c)
{
    struct thread thread;
    enum error e = thread_get(c, call->request.params[0], &thread);
    if (e == OK)
        e = thread_resume(c, &thread);
    if (e == OK)
        answer(call, &thread);
    return e;
}

enum error handle_thread_cancel(struct call *call, struct context *c)
{
    const struct reason_body *body = call->request.input;
    struct thread thread;
    enum error e = thread_get(c, call->request.params[0], &thread);
    if (e == OK)
        e = thread_cancel(c, &thread, body->reason);
    if (e == OK)
        answer(call, &thread);
    return e;
}
