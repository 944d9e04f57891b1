/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/execution/history.h"
#include "model/execution/run_store.h"
#include "model/execution/runs.sql.h"
#include "model/execution/turns.h"
#include "model/execution/usage.h"
#include "model/threads/events.h"

/*
 * The one table of a run's life. Back to `queued` leads from every state in which a worker may be
 * lost or no longer needed; nothing leads out of the last three.
 */
static const struct {
    const char *from;
    const char *to[7];
} TRANSITIONS[] = {
    {"queued", {"running", "paused", "failed", "cancelled", NULL}},
    {"running",
        {"queued", "waiting_for_input", "paused", "completed", "failed", "cancelled", NULL}},
    {"waiting_for_input", {"queued", "running", "paused", "failed", "cancelled", NULL}},
    {"paused", {"queued", "running", "waiting_for_input", "failed", "cancelled", NULL}},
    {"completed", {NULL}},
    {"failed", {NULL}},
    {"cancelled", {NULL}},
};

const char *const run_statuses[] = {
    "queued", "running", "waiting_for_input", "paused", "completed", "failed", "cancelled", NULL};

const char *const *run_transitions(struct str from)
{
    for (size_t i = 0; i < COUNT_OF(TRANSITIONS); i++)
        if (str_eq(str_of(TRANSITIONS[i].from), from))
            return TRANSITIONS[i].to;
    static const char *const nothing[] = {NULL};
    return nothing;
}

bool run_is_finished(const struct run *run)
{
    return run_transitions(run->status)[0] == NULL;
}

const char *run_ready_status(const struct run *run)
{
    return str_eq(run->dispatch, STR("direct")) ? "running" : "queued";
}

/* --- Refusals ------------------------------------------------------------------------------- */

static struct str list_allowed(struct arena *arena, const char *const *allowed)
{
    struct buf text;
    buf_init(&text, 4096);
    for (size_t i = 0; allowed[i] != NULL; i++) {
        buf_append(&text, i == 0 ? STR("") : STR(", "));
        buf_append(&text, str_of(allowed[i]));
    }
    struct str list = arena_str(arena, buf_str(&text));
    buf_deinit(&text);
    return list;
}

static struct str allowed_member(struct arena *arena, struct str from, const char *const *allowed)
{
    struct json_text text;
    json_text_init(&text, 4096);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("from"));
    json_write_string(&text.w, from);
    json_write_key(&text.w, STR("allowed"));
    json_write_array(&text.w);
    for (size_t i = 0; allowed[i] != NULL; i++)
        json_write_string(&text.w, str_of(allowed[i]));
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

enum error transition_refused(
    struct context *c, const char *what, struct str from, struct str to, const char *const *allowed)
{
    c->problem->extension = allowed_member(c->arena, from, allowed);
    if (allowed[0] == NULL)
        return problem_set(c->problem, ERR_TRANSITION,
            "a %s that is %.*s cannot become %.*s: %.*s is final", what, STR_ARG(from), STR_ARG(to),
            STR_ARG(from));
    struct str list = list_allowed(c->arena, allowed);
    return problem_set(c->problem, ERR_TRANSITION,
        "a %s that is %.*s cannot become %.*s; allowed: %.*s", what, STR_ARG(from), STR_ARG(to),
        STR_ARG(list));
}

static enum error check_transition(struct context *c, struct str from, struct str to)
{
    const char *const *allowed = run_transitions(from);
    for (size_t i = 0; allowed[i] != NULL; i++)
        if (str_eq(str_of(allowed[i]), to))
            return OK;
    return transition_refused(c, "run", from, to, allowed);
}

static enum error check_transition_or_same(struct context *c, struct str from, struct str to)
{
    return str_eq(from, to) ? OK : check_transition(c, from, to);
}

/* --- The event of a change ------------------------------------------------------------------ */

/* Documents larger than this are named in an event, and read from the run. */
enum { EVENT_DOCUMENT_MAX_BYTES = 64 * 1024 };

static void write_document(struct json_writer *w, const char *name, struct str document)
{
    if (str_is_none(document))
        return;
    if (document.len <= EVENT_DOCUMENT_MAX_BYTES) {
        json_write_key(w, str_of(name));
        json_write_raw(w, document);
        return;
    }
    json_write_key(w, STR("omitted"));
    json_write_string(w, str_of(name));
}

static void write_payload(
    struct json_writer *w, const struct run *run, struct str from, struct str reason)
{
    json_write_object(w);
    json_write_key(w, STR("change"));
    json_write_string(w, STR("run.status"));
    if (!str_is_none(from)) {
        json_write_key(w, STR("from"));
        json_write_string(w, from);
    }
    json_write_key(w, STR("to"));
    json_write_string(w, run->status);
    if (!str_is_none(reason)) {
        json_write_key(w, STR("reason"));
        json_write_string(w, reason);
    }
    if (str_eq(run->status, STR("completed")))
        write_document(w, "final_output", run->final_output);
    if (str_eq(run->status, STR("failed")))
        write_document(w, "error", run->error);
    if (str_eq(run->status, STR("waiting_for_input")))
        write_document(w, "state", run->state);
    if (str_eq(reason, STR("input")))
        write_document(w, "input", run->input);
    json_write_end(w);
}

enum error run_announce(
    struct context *c, const struct run *run, struct str from, struct str reason)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    write_payload(&payload.w, run, from, reason);
    bool final = str_eq(run->status, STR("completed"));
    bool failed = str_eq(run->status, STR("failed"));
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = final    ? STR("final")
                : failed ? STR("error")
                         : STR("status"),
        .text = arena_printf(c->arena, "run is %.*s", STR_ARG(run->status)),
        .payload = json_text_take(&payload, c->arena),
        .frees_run = str_eq(run->status, STR("queued")) || run_is_finished(run)};
    return event_emit(c, run->thread_id, &event);
}

/* --- What follows from a change ------------------------------------------------------------- */

static enum error list_children(
    struct context *c, const struct run *parent, struct run_array *out_children)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_LIST_ACTIVE_CHILDREN);
    query_uuid(&q, parent_run_id, parent->id);
    return run_read_all(&q, out_children);
}

/* Generation by generation; RUN_DEPTH_MAX bounds how deep this goes. */
static enum error cancel_children(struct context *c, const struct run *parent)
{
    struct run_array children;
    enum error e = list_children(c, parent, &children);
    for (size_t i = 0; e == OK && i < children.count; i++)
        e = run_change(c, &children.runs[i], "cancelled", STR("parent_finished"));
    return e;
}

/* A direct run that was queued behind this one starts now; queued ones wait for a worker. */
static enum error start_next(struct context *c, struct uuid thread_id)
{
    struct run_array active;
    enum error e = run_list_active(c, thread_id, &active);
    if (e != OK || active.count == 0)
        return e;
    struct run *next = &active.runs[0];
    bool ready = str_eq(next->status, STR("queued")) && str_eq(next->dispatch, STR("direct"));
    return ready ? run_change(c, next, "running", STR("started")) : OK;
}

static enum error finish(struct context *c, const struct run *run)
{
    struct thread thread;
    int64_t pruned;
    enum error e = thread_get_head(c, run->thread_id, &thread);
    if (e == OK)
        e = cancel_children(c, run);
    if (e == OK)
        e = thread_forget_undo(c, run->id);
    if (e == OK && !run->has_parent_run_id)
        e = start_next(c, run->thread_id);
    /* thread.last_seq is the event that told of the end: it stays until the next run's. Children
     * end within their parent's turn, and go with it. */
    if (e == OK && thread.prune_on_completion && !run->has_parent_run_id)
        e = event_prune_finished(c, run->thread_id, thread.last_seq, &pruned);
    return e;
}

static void drop_lease(struct run *run)
{
    run->worker = STR_NONE;
    run->has_lease = false;
    run->has_lease_ms = false;
}

enum error run_change(struct context *c, struct run *run, const char *to, struct str reason)
{
    struct phase_move move = run_phase_implied(run, str_of(to), reason);
    return run_change_with(c, run, to, reason, &move);
}

static void take_status(struct context *c, struct run *run, const char *to)
{
    struct str from = run->status;
    run->status = str_of(to);
    run->paused_from = str_eq(run->status, STR("paused")) ? from : STR_NONE;
    if (!str_eq(run->status, STR("running")))
        drop_lease(run);
    if (str_eq(run->status, STR("running")) && !run->has_started_at) {
        run->has_started_at = true;
        run->started_at = c->now_us;
    }
    if (run_is_finished(run)) {
        run->has_finished_at = true;
        run->finished_at = c->now_us;
    }
}

enum error run_change_with(struct context *c, struct run *run, const char *to, struct str reason,
    const struct phase_move *move)
{
    struct str from = run->status;
    enum error e = check_transition(c, from, str_of(to));
    if (e != OK)
        return e;
    take_status(c, run, to);
    bool finished = run_is_finished(run);
    if (finished)
        e = turn_end_running(c, run);
    if (e == OK)
        e = run_take_phase(c, run, move);
    if (e == OK)
        e = run_write(c, run);
    if (e == OK && finished)
        e = usage_count_finished(c, run);
    if (e == OK && finished)
        e = history_append(c, run);
    if (e == OK)
        e = run_announce(c, run, from, reason);
    return e == OK && finished ? finish(c, run) : e;
}

/* --- An engine's update --------------------------------------------------------------------- */

/* What a finished run was and did; its metadata and what was measured may still be told. */
static bool differs_for_good(const struct run *before, const struct run *after)
{
    const struct {
        struct str was, is;
    } fixed[] = {{before->state, after->state}, {before->final_output, after->final_output},
        {before->error, after->error}, {before->model, after->model},
        {before->provider, after->provider}, {before->stop_reason, after->stop_reason},
        {before->content, after->content}, {before->content_type, after->content_type},
        {before->citations, after->citations}};
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        if (str_differs(fixed[i].was, fixed[i].is))
            return true;
    return false;
}

static enum error check_unfinished(
    struct context *c, const struct run *before, const struct run *after)
{
    if (!run_is_finished(before) || !differs_for_good(before, after))
        return OK;
    return problem_set(c->problem, ERR_CONFLICT,
        "the run is %.*s: only its metadata and metrics can change now", STR_ARG(before->status));
}

/* Work on a queued run begins with a claim, which gives it a lease; and only those are queued. */
static enum error check_dispatch(struct context *c, const struct run *run, struct str to)
{
    bool direct = str_eq(run->dispatch, STR("direct"));
    if (str_eq(run->status, to))
        return OK;
    if (!direct && str_eq(to, STR("running")))
        return problem_set(c->problem, ERR_CONFLICT,
            "a run with dispatch queue becomes running by being claimed: POST /v1/runs/claim");
    if (direct && str_eq(to, STR("queued")))
        return problem_set(c->problem, ERR_CONFLICT,
            "a run with dispatch direct is not queued: its caller works on it");
    return OK;
}

/* An engine's change of status; what people's verbs do to children, it does too. */
static enum error move(
    struct context *c, struct run *run, struct str to, const struct phase_move *phase)
{
    bool paused = str_eq(run->status, STR("paused"));
    if (str_eq(run->status, to))
        return run_write(c, run);
    if (str_eq(to, STR("paused")))
        return run_pause_tree(c, run);
    if (paused && str_eq(to, str_of(run_ready_status(run))))
        return run_resume_tree(c, run);
    return run_change_with(c, run, arena_cstr(c->arena, to), STR_NONE, phase);
}

/* A direct run that waits behind others starts when they have ended, not before. */
static enum error check_turn(struct context *c, const struct run *run, struct str to)
{
    struct run_array active;
    if (run->has_parent_run_id || !str_eq(run->status, STR("queued")) ||
        !str_eq(to, STR("running")))
        return OK;
    enum error e = run_list_active(c, run->thread_id, &active);
    if (e == OK && active.count > 0 && !uuid_eq(active.runs[0].id, run->id))
        return problem_set(c->problem, ERR_RUN_ACTIVE,
            "another run of the thread is %.*s: it is not this one's turn",
            STR_ARG(active.runs[0].status));
    return e;
}

enum error run_check_status(struct context *c, const struct run *run, struct str to)
{
    enum error e = check_transition_or_same(c, run->status, to);
    if (e == OK)
        e = check_dispatch(c, run, to);
    return e == OK ? check_turn(c, run, to) : e;
}

enum error run_update(struct context *c, const struct run *before, struct run *after)
{
    struct run run = *before;
    struct phase_move phase = {0};
    enum error e = context_check_match(c, before->version);
    if (e == OK)
        e = run_check_fence(c, before);
    if (e == OK)
        e = check_unfinished(c, before, after);
    if (e == OK)
        e = run_check_status(c, before, after->status);
    if (e == OK)
        e = run_phase_of_patch(c, before, after->status, &phase);
    if (e != OK)
        return e;
    run.state = after->state;
    run.metadata = after->metadata;
    run.final_output = after->final_output;
    run.error = after->error;
    run.model = after->model;
    run.provider = after->provider;
    run.stop_reason = after->stop_reason;
    run.content = after->content;
    run.content_type = after->content_type;
    run.citations = after->citations;
    run.metrics = after->metrics;
    e = run_write_documents(c, &run);
    if (e == OK)
        e = move(c, &run, after->status, &phase);
    return e == OK ? run_get(c, before->id, after) : e;
}

/* --- People's verbs ------------------------------------------------------------------------- */

/* The question is answered: it leaves the engine's state. */
static enum error drop_pending_input(struct context *c, struct run *run)
{
    struct json_doc state, patch;
    struct json_error bad;
    struct json_patch_error refused;
    if (!json_parse(c->arena, run->state, &state, &bad) ||
        !json_parse(c->arena, STR("{\"pending_input\":null}"), &patch, &bad) ||
        !json_merge_patch(c->arena, json_root(&state), json_root(&patch), RUN_DOCUMENT_MAX_BYTES,
            &run->state, &refused))
        return problem_set(c->problem, ERR_INTERNAL, "the run's state cannot be read");
    return OK;
}

enum error run_input(struct context *c, struct run *run, struct str input)
{
    enum error e = context_check_match(c, run->version);
    if (e == OK && !str_eq(run->status, STR("waiting_for_input")))
        return transition_refused(c, "run", run->status, STR("running by input (it does not wait)"),
            run_transitions(run->status));
    if (e == OK && str_eq(run->phase, STR("awaiting_tool")))
        return problem_set(
            c->problem, ERR_CONFLICT, "the run waits for results of tools, not for input");
    if (e == OK)
        e = drop_pending_input(c, run);
    run->input = input;
    if (e == OK)
        e = run_write_documents(c, run);
    if (e == OK)
        e = run_change(c, run, run_ready_status(run), STR("input"));
    return e == OK ? run_get(c, run->id, run) : e;
}

/* A paused run's children do not work on without it. */
enum error run_pause_tree(struct context *c, struct run *run)
{
    struct run_array children;
    enum error e = run_change(c, run, "paused", STR("pause"));
    if (e == OK)
        e = list_children(c, run, &children);
    for (size_t i = 0; e == OK && i < children.count; i++)
        if (!str_eq(children.runs[i].status, STR("paused")))
            e = run_pause_tree(c, &children.runs[i]);
    return e;
}

enum error run_resume_tree(struct context *c, struct run *run)
{
    struct run_array children;
    bool waited = str_eq(run->paused_from, STR("waiting_for_input"));
    bool queued = str_eq(run->paused_from, STR("queued"));
    const char *to = waited ? "waiting_for_input" : queued ? "queued" : run_ready_status(run);
    /* The event repeats the question, which is in the state. */
    enum error e = waited ? run_get(c, run->id, run) : OK;
    if (e == OK)
        e = run_change(c, run, to, STR("resume"));
    if (e == OK)
        e = list_children(c, run, &children);
    for (size_t i = 0; e == OK && i < children.count; i++)
        if (str_eq(children.runs[i].status, STR("paused")))
            e = run_resume_tree(c, &children.runs[i]);
    /* A direct run that had been queued starts as soon as nothing is in its way. */
    if (e == OK && queued)
        e = start_next(c, run->thread_id);
    return e;
}

static enum error check_parent_works(struct context *c, const struct run *run)
{
    struct run parent;
    if (!run->has_parent_run_id)
        return OK;
    enum error e = run_get_head(c, run->parent_run_id, &parent);
    if (e == OK && str_eq(parent.status, STR("paused")))
        return problem_set(c->problem, ERR_CONFLICT, "the parent run is paused: resume it");
    return e;
}

enum error run_pause(struct context *c, struct run *run)
{
    enum error e = context_check_match(c, run->version);
    if (e == OK)
        e = run_pause_tree(c, run);
    return e == OK ? run_get(c, run->id, run) : e;
}

enum error run_resume(struct context *c, struct run *run)
{
    enum error e = context_check_match(c, run->version);
    if (e == OK && !str_eq(run->status, STR("paused")))
        return transition_refused(
            c, "run", run->status, STR("resumed (it is not paused)"), run_transitions(run->status));
    if (e == OK)
        e = check_parent_works(c, run);
    if (e == OK)
        e = run_resume_tree(c, run);
    return e == OK ? run_get(c, run->id, run) : e;
}

enum error run_cancel(struct context *c, struct run *run, struct str reason)
{
    enum error e = context_check_match(c, run->version);
    if (e == OK)
        e = run_change(c, run, "cancelled", str_is_none(reason) ? STR("cancel") : reason);
    return e == OK ? run_get(c, run->id, run) : e;
}
