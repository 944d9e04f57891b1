/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Memoria façade: the workflow system's own names over threads, runs and events. A workflow is
 * a thread, an execution a run that its caller works on (dispatch direct), a cursor the id of an
 * event.
 */
#include "api/execution/memoria.h"

#include "api/handlers.h"
#include "api/threads/events_api.h"
#include "base/json/json_patch.h"
#include "model/execution/runs.h"
#include "model/threads/participants.h"

/* --- Schemas ------------------------------------------------------------------------------- */

struct workflow_start {
    bool has_workflow_id;
    struct uuid workflow_id;
    struct str user_input;
    bool has_ask_clarifications;
    bool ask_clarifications;
    struct str preferences;
};
#define OF struct workflow_start
static const struct field start_fields[] = {
    FIELD(UUID_OR_NULL, workflow_id, IN_BODY,
        "conversation to continue; default: a new conversation"),
    FIELD(STRING, user_input, IN_BODY, .min = 1, .max = RUN_INPUT_MAX_BYTES),
    FIELD(BOOL_OR_NONE, ask_clarifications, IN_BODY),
    FIELD(OBJECT_OR_NULL, preferences, IN_BODY, "replaces the preferences of the conversation",
        .max = THREAD_DOCUMENT_MAX_BYTES),
};
#undef OF
const struct schema schema_workflow_start =
    SCHEMA("WorkflowStart", struct workflow_start, start_fields, IN_BODY);

struct workflow_input {
    struct str input;
};
#define OF struct workflow_input
static const struct field input_fields[] = {
    FIELD(JSON, input, IN_BODY, "the answer to the pending question", .max = RUN_INPUT_MAX_BYTES),
};
#undef OF
const struct schema schema_workflow_input =
    SCHEMA("WorkflowInput", struct workflow_input, input_fields, IN_BODY);

struct workflow {
    struct uuid workflow_id;
    struct str status;
    bool has_run_id;
    struct uuid run_id;
    struct str run_status;
    int64_t cursor;
};
#define OF struct workflow
static const struct field workflow_fields[] = {
    FIELD(UUID, workflow_id, IN_READ),
    FIELD(STRING, status, IN_READ, "status of the conversation"),
    FIELD(UUID_OR_NULL, run_id, IN_READ),
    FIELD(STRING_OR_NULL, run_status, IN_READ),
    FIELD(INT, cursor, IN_READ,
        "cursor before this call: a stream from here shows all effects of the call"),
};
#undef OF
const struct schema schema_workflow = SCHEMA("Workflow", struct workflow, workflow_fields, IN_READ);

struct stream_query {
    bool has_cursor;
    int64_t cursor;
};
#define OF struct stream_query
static const struct field stream_query_fields[] = {
    FIELD(INT_OR_NONE, cursor, IN_QUERY, "id of the last event received", .max = INT64_MAX),
};
#undef OF
const struct schema query_workflow_stream =
    SCHEMA("WorkflowStreamQuery", struct stream_query, stream_query_fields, IN_QUERY);

#define OF struct event
static const struct field memoria_event_fields[] = {
    FIELD(INT, id, IN_READ),
    FIELD_AS(UUID, "workflow_id", thread_id, IN_READ),
    FIELD(UUID_OR_NULL, run_id, IN_READ),
    FIELD(STRING, kind, IN_READ),
    FIELD(STRING_OR_NULL, text, IN_READ),
    FIELD(JSON_OR_NULL, payload, IN_READ),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
static const struct schema schema_memoria_event =
    SCHEMA("WorkflowEvent", struct event, memoria_event_fields, IN_READ);

/* The view workflow_events has the same mapping. */
bool memoria_event_is_shown(const struct event *event)
{
    enum event_kind kind = event_kind_parse(event->kind);
    return !event_kind_is_reserved(event->kind) || kind == EVENT_CONVERSATION_CREATED ||
           kind == EVENT_CONVERSATION_DELETED;
}

void memoria_event_write(struct json_writer *w, const struct event *event)
{
    struct event told = *event;
    if (event_kind_is_reserved(event->kind))
        told.kind = event_kind_word(EVENT_STATUS);
    schema_encode(w, &schema_memoria_event, &told);
}

/* Returns the id of the tenant's newest event: every event of the call has a greater one. */
static enum error current_cursor(struct context *c, int64_t *out_cursor)
{
    struct event_bounds bounds;
    const struct event_filter tenant = {.kind = STR_NONE};
    TRY(event_bounds(c, &tenant, &bounds));
    *out_cursor = bounds.last;
    return OK;
}

static enum error answer(
    struct call *call, struct context *c, struct uuid workflow_id, int64_t cursor)
{
    struct thread thread;
    struct run run;
    TRY(thread_get_head(c, workflow_id, &thread));
    struct workflow w = {.workflow_id = thread.id,
        .status = thread_status_word(thread.status),
        .has_run_id = thread.has_most_recent_run_id,
        .run_id = thread.most_recent_run_id,
        .run_status = STR_NONE,
        .cursor = cursor};
    if (w.has_run_id)
        TRY(run_get_head(c, w.run_id, &run));
    if (w.has_run_id)
        w.run_status = run_status_word(run.status);
    return call_answer(call, &schema_workflow, &w, 0);
}

/* --- Start --------------------------------------------------------------------------------- */

/* The patch that appends one message:
 * {"meta":{"next_seq":N+1},"tail":[…,{"seq","role","content"}]}. */
static void write_message_patch(
    struct json_writer *w, struct json tail, int64_t seq, struct str content)
{
    json_write_object(w);
    json_write_key(w, STR("meta"));
    json_write_object(w);
    json_write_key(w, STR("next_seq"));
    json_write_i64(w, seq + 1);
    json_write_end(w);
    json_write_key(w, STR("tail"));
    json_write_array(w);
    if (tail.doc != NULL) {
        struct json_iter it = json_iter(tail);
        struct json message;
        while (json_next(&it, NULL, &message))
            json_write_value(w, message);
    }
    json_write_object(w);
    json_write_key(w, STR("seq"));
    json_write_i64(w, seq);
    json_write_key(w, STR("role"));
    json_write_string(w, STR("user"));
    json_write_key(w, STR("content"));
    json_write_string(w, content);
    json_write_end(w);
    json_write_end(w);
    json_write_end(w);
}

/* Returns the number of the next message. A counter that is not valid starts again. */
static int64_t next_seq(struct json context)
{
    struct json meta, next;
    int64_t seq;
    bool known = json_get(context, STR("meta"), &meta) && json_type(meta) == JSON_OBJECT &&
                 json_get(meta, STR("next_seq"), &next) && json_type(next) == JSON_NUMBER &&
                 json_to_i64(next, &seq) && seq > 0 && seq < INT64_MAX;
    return known ? seq : 1;
}

static enum error append_to_context(
    struct call *call, struct str context, struct str content, struct str *out_context)
{
    struct json_doc doc, patch;
    struct json_error bad;
    struct json_patch_error refused;
    struct json tail = {0};
    if (!json_parse(call->arena, context, &doc, &bad))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the context is too large to change");
    if (!json_get(json_root(&doc), STR("tail"), &tail) || json_type(tail) != JSON_ARRAY)
        tail.doc = NULL;
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    write_message_patch(&text.w, tail, next_seq(json_root(&doc)), content);
    struct str copy = json_text_take(&text, call->arena);
    if (json_parse(call->arena, copy, &patch, &bad) &&
        json_merge_patch(call->arena, json_root(&doc), json_root(&patch), THREAD_DOCUMENT_MAX_BYTES,
            out_context, &refused))
        return OK;
    return problem_fault(&call->problem, STR("/user_input"),
        "is too long: the context of the conversation is limited to %d bytes",
        THREAD_DOCUMENT_MAX_BYTES);
}

/* Opens the workflow of a start: a new one, or one that was cancelled or failed before. */
static enum error open_workflow(
    struct context *c, const struct workflow_start *body, struct thread *out_thread)
{
    if (!body->has_workflow_id) {
        *out_thread = (struct thread){.preferences = body->preferences};
        return thread_create(c, out_thread);
    }
    TRY(participant_check_access(c, body->workflow_id, true));
    TRY(thread_get(c, body->workflow_id, out_thread));
    if (out_thread->status == THREAD_ACTIVE || out_thread->status == THREAD_PAUSED)
        return OK;
    return thread_set_status(c, out_thread, THREAD_ACTIVE);
}

enum error handle_workflow_start(struct call *call, struct context *c)
{
    const struct workflow_start *body = call->request.input;
    struct thread before, after;
    struct run run = {.dispatch = RUN_DIRECT,
        .user_input = body->user_input,
        .ask_clarifications = body->ask_clarifications};
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(open_workflow(c, body, &before));
    TRY(run_start(c, before.id, RUN_POLICY_NONE, &run));
    TRY(thread_get(c, before.id, &before));
    after = before;
    TRY(append_to_context(call, before.context, body->user_input, &after.context));
    if (!str_is_none(body->preferences))
        after.preferences = body->preferences;
    TRY(thread_update(c, &before, &after));
    return answer(call, c, before.id, cursor);
}

/* --- Input, pause, resume, cancel ---------------------------------------------------------- */

/* Finds the newest waiting run, or the newest run, whose refusal states the reason. */
static enum error find_waiting(struct context *c, const struct thread *thread, struct run *out_run)
{
    struct run_array active;
    TRY(run_list_active(c, thread->id, &active));
    for (size_t i = active.count; i > 0; i--)
        if (active.runs[i - 1].status == RUN_WAITING)
            return run_get(c, active.runs[i - 1].id, out_run);
    if (!thread->has_most_recent_run_id)
        return problem_set(c->problem, ERR_CONFLICT, "the workflow has no run");
    return run_get(c, thread->most_recent_run_id, out_run);
}

enum error handle_workflow_input(struct call *call, struct context *c)
{
    const struct workflow_input *body = call->request.input;
    struct thread thread;
    struct run run;
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(thread_get_head(c, call->request.params[0], &thread));
    TRY(find_waiting(c, &thread, &run));
    TRY(run_input(c, &run, body->input));
    return answer(call, c, thread.id, cursor);
}

static enum error with_thread(struct call *call, struct context *c,
    enum error (*verb)(struct context *c, struct thread *thread))
{
    struct thread thread;
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(thread_get_head(c, call->request.params[0], &thread));
    TRY(verb(c, &thread));
    return answer(call, c, thread.id, cursor);
}

static enum error cancel(struct context *c, struct thread *thread)
{
    return thread_cancel(c, thread, STR_NONE);
}

enum error handle_workflow_pause(struct call *call, struct context *c)
{
    return with_thread(call, c, thread_pause);
}

enum error handle_workflow_resume(struct call *call, struct context *c)
{
    return with_thread(call, c, thread_resume);
}

enum error handle_workflow_cancel(struct call *call, struct context *c)
{
    return with_thread(call, c, cancel);
}

/* --- The stream ---------------------------------------------------------------------------- */

enum error handle_workflow_stream(struct call *call, struct context *c)
{
    const struct stream_query *q = call->request.query;
    struct event_admission *a = ARENA_NEW(call->arena, struct event_admission);
    struct event_bounds bounds;
    a->memoria = true;
    a->filter = (struct event_filter){
        .has_thread_id = true, .thread_id = call->request.params[0], .kind = STR_NONE};
    call->answer.stream = a;
    TRY(event_bounds(c, &a->filter, &bounds));
    a->cursor.position = bounds.pruned;
    if (!q->has_cursor)
        return OK;
    a->cursor_id = q->cursor;
    enum error e = event_seq_at_id(c, call->request.params[0], q->cursor, &a->cursor.position);
    if (e != ERR_BAD_CURSOR)
        return e;
    problem_fault(
        &call->problem, STR("cursor"), "must not be greater than the cursor of the newest event");
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}
