/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Memoria façade: the workflow system's own names over threads, runs and events. A workflow is
 * a thread, an execution a run that its caller works on (dispatch direct), a cursor the id of an
 * event.
 */
#include "api/execution/memoria.h"

#include "api/handlers.h"
#include "api/http/access.h"
#include "api/threads/events_api.h"
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
    enum run_policy policy;
};
#define OF struct workflow_start
static const struct field start_fields[] = {
    FIELD(UUID_OR_NULL, workflow_id, IN_BODY,
        "conversation to continue; default: a new conversation"),
    FIELD(STRING, user_input, IN_BODY, .min = 1, .max = RUN_INPUT_MAX_BYTES),
    FIELD(BOOL_OR_NONE, ask_clarifications, IN_BODY),
    FIELD(OBJECT_OR_NULL, preferences, IN_BODY, "replaces the preferences of the conversation",
        .max = THREAD_DOCUMENT_MAX_BYTES),
    FIELD(ENUM_OR_NULL, policy, IN_BODY,
        "handling of unfinished runs of the conversation; default: its run_policy",
        .choices = thread_run_policies),
};
#undef OF
const struct schema schema_workflow_start =
    SCHEMA("WorkflowStart", struct workflow_start, start_fields, IN_BODY);

struct workflow_input {
    struct str input;
    bool has_run_id;
    struct uuid run_id;
};
#define OF struct workflow_input
static const struct field input_fields[] = {
    FIELD(JSON, input, IN_BODY, "the answer to the pending question", .max = RUN_INPUT_MAX_BYTES),
    FIELD(UUID_OR_NULL, run_id, IN_BODY,
        "run that asked; default: the newest run that waits for input, also a child run"),
};
#undef OF
const struct schema schema_workflow_input =
    SCHEMA("WorkflowInput", struct workflow_input, input_fields, IN_BODY);

#define OF struct run
static const struct field workflow_run_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD_AS(UUID, "workflow_id", thread_id, IN_READ),
    FIELD(UUID_OR_NULL, parent_run_id, IN_READ),
    FIELD(ENUM, status, IN_READ, .choices = run_statuses),
    FIELD(STRING_OR_NULL, user_input, IN_READ),
    FIELD(BOOL, ask_clarifications, IN_READ),
    FIELD(JSON_OR_NULL, input, IN_READ, "latest answer to a question"),
    FIELD(OBJECT, state, IN_READ),
    FIELD(JSON_OR_NULL, final_output, IN_READ),
    FIELD(OBJECT_OR_NULL, error, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
};
#undef OF
static const struct schema schema_workflow_run =
    SCHEMA("WorkflowRun", struct run, workflow_run_fields, IN_READ);

struct workflow {
    struct thread thread;
    bool has_run;
    struct run run;
    int64_t cursor;
};
#define OF struct workflow
static const struct field workflow_fields[] = {
    FIELD_AS(UUID, "workflow_id", thread.id, IN_READ),
    FIELD_OF(
        thread, ENUM, status, IN_READ, "status of the conversation", .choices = thread_statuses),
    FIELD_OF(thread, OBJECT_OR_NONE, context, IN_READ,
        "only for keys that may read threads, or a new conversation; so are preferences and "
        "important_steps",
        .hide_none = true),
    FIELD_OF(thread, OBJECT_OR_NONE, preferences, IN_READ, .hide_none = true),
    FIELD_OF(thread, DOCUMENT_OR_NONE, important_steps, IN_READ, .hide_none = true),
    FIELD_OF(thread, UUID_OR_NULL, most_recent_run_id, IN_READ),
    FIELD_HAS(UUID_OR_NULL, "run_id", run.id, has_run, IN_READ, "id of `run`"),
    FIELD_AS(ENUM_OR_NULL, "run_status", run.status, IN_READ, .choices = run_statuses),
    FIELD(NESTED_OR_NULL, run, IN_READ,
        "run that was started or answered; otherwise the run that waits for input, else the oldest "
        "unfinished run, else the most recent run",
        .nested = &schema_workflow_run),
    FIELD_OF(thread, OBJECT_OR_NULL, error, IN_READ, "error of the conversation"),
    FIELD_OF(thread, TIME, created_at, IN_READ),
    FIELD_OF(thread, TIME, updated_at, IN_READ),
    FIELD(INT, cursor, IN_READ,
        "cursor before this call: a stream from here shows all effects of the call"),
};
#undef OF
const struct schema schema_workflow = SCHEMA("Workflow", struct workflow, workflow_fields, IN_READ);

struct stream_query {
    bool has_cursor;
    int64_t cursor;
    struct str ticket;
};
#define OF struct stream_query
static const struct field stream_query_fields[] = {
    FIELD(STRING_OR_NONE, ticket, IN_QUERY, "instead of a key: see POST /v1/tickets", .max = 128),
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

/* The documents of a thread belong to the scope threads:read, except for the creator of the thread.
 */
static void limit_documents(struct call *call, struct workflow *w, bool is_new)
{
    bool reads = access_may_read(call) && (call->caller.scopes & SCOPE_THREADS_READ) != 0;
    if (is_new)
        return;
    if (reads)
        call->answer.also_shows = SCOPE_THREADS_READ;
    else
        w->thread.context = w->thread.preferences = w->thread.important_steps = STR_NONE;
}

/* Answers with the workflow and the run with the given id; nil: without a run. */
static enum error answer(struct call *call, struct context *c, struct uuid workflow_id,
    struct uuid run_id, bool is_new, int64_t cursor)
{
    struct workflow *w = ARENA_NEW(call->arena, struct workflow);
    w->cursor = cursor;
    TRY(thread_get(c, workflow_id, &w->thread));
    limit_documents(call, w, is_new);
    w->has_run = !uuid_is_nil(run_id);
    if (w->has_run)
        TRY(run_get(c, run_id, &w->run));
    return call_answer(call, &schema_workflow, w, 0);
}

/* Returns the newest of the runs that waits for input; a run that waits for tools is the last
 * choice. */
static const struct run *newest_waiting(const struct run_array *unfinished)
{
    const struct run *found = NULL;
    for (size_t i = 0; i < unfinished->count; i++) {
        const struct run *run = &unfinished->runs[i];
        bool is_better = found == NULL || found->phase == PHASE_AWAITING_TOOL ||
                         run->phase != PHASE_AWAITING_TOOL;
        if (run->status == RUN_WAITING && is_better)
            found = run;
    }
    return found;
}

/* Finds the member `run` of calls that start and answer no run; nil: there is none. */
static enum error find_current(
    struct context *c, const struct thread *thread, struct uuid *out_run_id)
{
    struct run_array unfinished;
    TRY(run_list_unfinished(c, thread->id, &unfinished));
    const struct run *waiting = newest_waiting(&unfinished);
    if (waiting != NULL)
        *out_run_id = waiting->id;
    else if (unfinished.count > 0) /* a child is newer than its parent, which is unfinished, too */
        *out_run_id = unfinished.runs[0].id;
    else
        *out_run_id = thread->has_most_recent_run_id ? thread->most_recent_run_id : UUID_NIL;
    return OK;
}

static enum error answer_current(
    struct call *call, struct context *c, const struct thread *thread, int64_t cursor)
{
    struct uuid run_id;
    TRY(find_current(c, thread, &run_id));
    return answer(call, c, thread->id, run_id, false, cursor);
}

enum error handle_workflow_get(struct call *call, struct context *c)
{
    struct thread thread;
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(thread_get_head(c, call->request.params[0], &thread));
    return answer_current(call, c, &thread, cursor);
}

/* --- Start --------------------------------------------------------------------------------- */

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
        .ask_clarifications = body->ask_clarifications,
        .adds_message = true};
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(open_workflow(c, body, &before));
    TRY(run_start(c, before.id, body->policy, &run));
    TRY(thread_get(c, before.id, &before));
    after = before;
    TRY(thread_context_append(c, before.context, "user", json_quote(c->arena, body->user_input),
        STR("/user_input"), &after.context));
    if (!str_is_none(body->preferences))
        after.preferences = body->preferences;
    TRY(thread_update(c, &before, &after));
    return answer(call, c, before.id, run.id, !body->has_workflow_id, cursor);
}

/* --- Input, pause, resume, cancel ---------------------------------------------------------- */

/* Finds the run that an input answers: the given one or the current one, whose refusal states the
 * reason. */
static enum error find_asking(struct context *c, const struct thread *thread,
    const struct workflow_input *body, struct run *out_run)
{
    struct uuid id = body->run_id;
    if (body->has_run_id)
        TRY(run_get_in_thread(c, thread->id, id, STR("/run_id"), out_run));
    else
        TRY(find_current(c, thread, &id));
    if (uuid_is_nil(id))
        return problem_set(c->problem, ERR_CONFLICT, "the workflow has no run");
    return run_get(c, id, out_run);
}

enum error handle_workflow_input(struct call *call, struct context *c)
{
    const struct workflow_input *body = call->request.input;
    struct thread thread;
    struct run run;
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(thread_get_head(c, call->request.params[0], &thread));
    TRY(find_asking(c, &thread, body, &run));
    TRY(run_input(c, &run, body->input));
    return answer(call, c, thread.id, run.id, false, cursor);
}

static enum error with_thread(struct call *call, struct context *c,
    enum error (*verb)(struct context *c, struct thread *thread))
{
    struct thread thread;
    int64_t cursor;
    TRY(current_cursor(c, &cursor));
    TRY(thread_get_head(c, call->request.params[0], &thread));
    TRY(verb(c, &thread));
    return answer_current(call, c, &thread, cursor);
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
    a->cursor_id = bounds.pruned_id;
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
