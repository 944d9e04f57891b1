/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/execution/attempts.h"
#include "model/execution/history.h"
#include "model/execution/run_results.h"
#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"
#include "model/execution/steps.h"
#include "model/execution/turns.h"
#include "model/execution/usage.h"
#include "model/threads/events.h"

ENUM_DEFINE(run_statuses, RUN_STATUSES);
ENUM_DEFINE(run_dispatches, RUN_DISPATCHES);
ENUM_DEFINE(run_reasons, RUN_REASONS);

unsigned run_transitions(enum run_status from)
{
#define NEXT(status, word, next) [status] = next,
    static const unsigned allowed[] = {RUN_STATUSES(NEXT)};
#undef NEXT
    return allowed[from];
}

bool run_status_is_final(enum run_status status)
{
    return status != RUN_STATUS_NONE && run_transitions(status) == 0;
}

bool run_is_finished(const struct run *run)
{
    return run_status_is_final(run->status);
}

enum run_status run_ready_status(const struct run *run)
{
    return run->dispatch == RUN_DIRECT ? RUN_RUNNING : RUN_QUEUED;
}

bool run_waits(const struct run *run)
{
    return run->status == RUN_WAITING ||
           (run->status == RUN_PAUSED && run->paused_from == RUN_WAITING);
}

/* --- Checks --------------------------------------------------------------------------------- */

static enum error check_transition(struct context *c, enum run_status from, enum run_status to)
{
    return transition_check(c, "run", run_statuses, run_transitions(from), from, to);
}

/* `attempt` describes the change that the run's status does not allow. */
static enum error refuse(struct context *c, const struct run *run, struct str attempt)
{
    return transition_refused(c, "run", run_status_word(run->status), attempt,
        enum_words_of(c->arena, run_statuses, run_transitions(run->status)));
}

/* --- The event of a change ------------------------------------------------------------------ */

/* For a larger document, the event has only its name; clients read it from the run. */
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
    struct json_writer *w, const struct run *run, enum run_status from, struct str reason)
{
    json_write_object(w);
    json_write_key(w, STR("change"));
    json_write_string(w, STR("run.status"));
    if (from != RUN_STATUS_NONE)
        json_write_text_member(w, "from", run_status_word(from));
    json_write_text_member(w, "to", run_status_word(run->status));
    if (!str_is_none(reason)) {
        json_write_key(w, STR("reason"));
        json_write_string(w, reason);
    }
    if (run->status == RUN_COMPLETED)
        write_document(w, "final_output", run->final_output);
    if (run->status == RUN_FAILED)
        write_document(w, "error", run->error);
    if (run->status == RUN_WAITING)
        write_document(w, "state", run->state);
    if (run->status != RUN_CANCELLED && run_reason_parse(reason) == REASON_INPUT)
        write_document(w, "input", run->input);
    json_write_end(w);
}

enum error run_announce(
    struct context *c, const struct run *run, enum run_status from, struct str reason)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    write_payload(&payload.w, run, from, reason);
    struct str status = run_status_word(run->status);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(run->status == RUN_COMPLETED ? EVENT_FINAL
                                : run->status == RUN_FAILED  ? EVENT_ERROR
                                                             : EVENT_STATUS),
        .text = arena_printf(c->arena, "run is %.*s", STR_ARG(status)),
        .payload = json_text_take(&payload, c->arena),
        .frees_run = run->status == RUN_QUEUED || run_is_finished(run)};
    return event_emit(c, run->thread_id, &event);
}

/* --- Consequences of a change --------------------------------------------------------------- */

static enum error list_children(
    struct context *c, const struct run *parent, struct run_array *out_children)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_LIST_ACTIVE_CHILDREN);
    query_uuid(&q, parent_run_id, parent->id);
    return run_read_all(&q, out_children);
}

/* Recursive, with at most RUN_DEPTH_MAX levels. */
static enum error cancel_children(struct context *c, const struct run *parent)
{
    struct run_array children;
    TRY(list_children(c, parent, &children));
    for (size_t i = 0; i < children.count; i++)
        TRY(run_change(
            c, &children.runs[i], RUN_CANCELLED, run_reason_word(REASON_PARENT_FINISHED)));
    return OK;
}

/* Starts the next direct run of the thread. A run with dispatch queue waits for a worker. */
static enum error start_next(struct context *c, struct uuid thread_id)
{
    struct run_array active;
    TRY(run_list_active(c, thread_id, &active));
    if (active.count == 0)
        return OK;
    struct run *next = &active.runs[0];
    bool ready = next->status == RUN_QUEUED && next->dispatch == RUN_DIRECT;
    return ready ? run_change(c, next, RUN_RUNNING, run_reason_word(REASON_STARTED)) : OK;
}

static enum error finish(struct context *c, const struct run *run)
{
    struct thread thread;
    int64_t next, pruned;
    TRY(thread_get_head(c, run->thread_id, &thread));
    TRY(event_next_seq(c, run->thread_id, &next));
    TRY(cancel_children(c, run));
    TRY(thread_forget_undo(c, run->id));
    if (!run->has_parent_run_id)
        TRY(start_next(c, run->thread_id));
    /* The last event before `next` is that of the run's end, which is kept until the next run ends.
     * The events of children are pruned with those of their parent. */
    if (thread.prune_on_completion && !run->has_parent_run_id)
        TRY(event_prune_finished(c, run->thread_id, next - 1, &pruned));
    return OK;
}

void run_drop_lease(struct run *run)
{
    run->worker = STR_NONE;
    run->has_lease = false;
    run->has_lease_ms = false;
}

enum error run_change(struct context *c, struct run *run, enum run_status to, struct str reason)
{
    struct phase_move move = run_phase_implied(run, to, reason);
    return run_change_with(c, run, to, reason, &move);
}

static void take_status(struct context *c, struct run *run, enum run_status to)
{
    run->paused_from = to == RUN_PAUSED ? run->status : RUN_STATUS_NONE;
    run->status = to;
    if (to != RUN_RUNNING)
        run_drop_lease(run);
    if (to != RUN_WAITING && to != RUN_PAUSED)
        run->has_tool_deadline = false;
    if (to == RUN_RUNNING && !run->has_started_at) {
        run->has_started_at = true;
        run->started_at = c->now_us;
    }
    if (run_is_finished(run)) {
        const struct run_result *told = &run->result;
        run->has_finished_at = true;
        run->finished_at = told->has_finished_at ? told->finished_at : c->now_us;
        run->has_started_at = run->has_started_at || told->has_started_at;
        run->started_at = told->has_started_at ? told->started_at : run->started_at;
    }
}

enum error run_change_with(struct context *c, struct run *run, enum run_status to,
    struct str reason, const struct phase_move *move)
{
    enum run_status from = run->status;
    bool starts = to == RUN_RUNNING && !run->has_started_at;
    TRY(check_transition(c, from, to));
    if (run->has_lease && to != RUN_RUNNING)
        TRY(attempt_end(c, run, attempt_outcome_of(to), STR_NONE));
    take_status(c, run, to);
    bool finished = run_is_finished(run);
    if (finished)
        TRY(turn_end_open(c, run));
    TRY(run_take_phase(c, run, move));
    TRY(run_write(c, run));
    if (starts && run_logs_lifecycle(run))
        TRY(step_log_start(c, run));
    if (finished)
        TRY(usage_count_finished(c, run));
    if (finished)
        TRY(run->has_parent_run_id ? run_result_keep(c, run) : history_append(c, run));
    if (finished)
        TRY(step_move_start(c, run));
    if (finished && run_logs_lifecycle(run))
        TRY(step_log_end(c, run, reason));
    TRY(run_announce(c, run, from, reason));
    return finished ? finish(c, run) : OK;
}

/* --- An engine's update --------------------------------------------------------------------- */

/* Returns true if members differ that cannot change after the end. Metadata and metrics still can.
 */
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
    struct str status = run_status_word(before->status);
    bool differs = differs_for_good(before, after) || run_result_is_given(&after->result);
    if (!run_is_finished(before) || !differs)
        return OK;
    return problem_set(c->problem, ERR_CONFLICT,
        "the run is %.*s: only its metadata and metrics can be changed", STR_ARG(status));
}

/* A run with dispatch queue becomes running only by a claim, and only such a run becomes queued. */
static enum error check_dispatch(struct context *c, const struct run *run, enum run_status to)
{
    bool direct = run->dispatch == RUN_DIRECT;
    if (run->status == to)
        return OK;
    if (!direct && to == RUN_RUNNING)
        return problem_set(c->problem, ERR_CONFLICT,
            "a run with dispatch queue becomes running when a worker claims it: POST "
            "/v1/runs/claim");
    if (direct && to == RUN_QUEUED)
        return problem_set(c->problem, ERR_CONFLICT,
            "a run with dispatch direct cannot be queued: its caller executes it");
    return OK;
}

/* Applies an engine's change of status. Pause and resume include the children, as for people. */
static enum error move(
    struct context *c, struct run *run, enum run_status to, const struct phase_move *phase)
{
    if (run->status == to)
        return run_write(c, run);
    if (to == RUN_PAUSED)
        return run_pause_tree(c, run);
    if (run->status == RUN_PAUSED && to == run_ready_status(run))
        return run_resume_tree(c, run);
    return run_change_with(c, run, to, STR_NONE, phase);
}

/* A direct run that waits for others can start only after they have ended. */
static enum error check_turn(struct context *c, const struct run *run, enum run_status to)
{
    struct run_array active;
    if (run->has_parent_run_id || run->status != RUN_QUEUED || to != RUN_RUNNING)
        return OK;
    TRY(run_list_active(c, run->thread_id, &active));
    if (active.count == 0 || uuid_eq(active.runs[0].id, run->id))
        return OK;
    struct str status = run_status_word(active.runs[0].status);
    return problem_set(c->problem, ERR_RUN_ACTIVE,
        "another run of the thread is %.*s: wait until it is finished", STR_ARG(status));
}

enum error run_check_status(struct context *c, const struct run *run, enum run_status to)
{
    if (run->status != to)
        TRY(check_transition(c, run->status, to));
    TRY(check_dispatch(c, run, to));
    return check_turn(c, run, to);
}

enum error run_update(struct context *c, const struct run *before, struct run *after)
{
    struct run run = *before;
    struct phase_move phase = {0};
    TRY(context_check_match(c, before->version));
    TRY(run_check_fence(c, before));
    TRY(run_result_drop_known(c, before, &after->result));
    TRY(check_unfinished(c, before, after));
    TRY(run_check_status(c, before, after->status));
    TRY(run_result_check(c, before, &after->result, after->status));
    TRY(run_phase_of_patch(c, before, after->status, &phase));
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
    run.result = after->result;
    TRY(run_result_store_messages(c, run.thread_id, &run.result));
    TRY(run_write_documents(c, &run));
    TRY(run_result_apply(c, &run));
    TRY(move(c, &run, after->status, &phase));
    return run_get(c, before->id, after);
}

/* --- People's verbs ------------------------------------------------------------------------- */

/* Removes the answered question from the engine's state. */
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

enum error run_answer(struct context *c, struct run *run, struct str input, enum run_status to)
{
    struct str reason = run_reason_word(REASON_INPUT);
    TRY(drop_pending_input(c, run));
    run->input = input;
    TRY(run_write_documents(c, run));
    TRY(turn_end_wait(c, run, TURN_AWAITING_HUMAN));
    if (run->status == RUN_WAITING)
        return run_change(c, run, to, reason);
    /* A paused run has work to do once it is resumed. */
    struct phase_move move = run_phase_implied(run, RUN_RUNNING, reason);
    run->paused_from = RUN_RUNNING;
    TRY(run_take_phase(c, run, &move));
    return run_write(c, run);
}

enum error run_input(struct context *c, struct run *run, struct str input)
{
    TRY(context_check_match(c, run->version));
    if (run->status != RUN_WAITING)
        return refuse(c, run, STR("running by input (the run is not waiting)"));
    if (run->phase == PHASE_AWAITING_TOOL)
        return problem_set(
            c->problem, ERR_CONFLICT, "the run waits for tool results, not for input");
    TRY(run_answer(c, run, input, run_ready_status(run)));
    return run_get(c, run->id, run);
}

/* The children of a paused run are paused, too. */
enum error run_pause_tree(struct context *c, struct run *run)
{
    struct run_array children;
    TRY(run_change(c, run, RUN_PAUSED, run_reason_word(REASON_PAUSE)));
    TRY(list_children(c, run, &children));
    for (size_t i = 0; i < children.count; i++)
        if (children.runs[i].status != RUN_PAUSED)
            TRY(run_pause_tree(c, &children.runs[i]));
    return OK;
}

enum error run_resume_tree(struct context *c, struct run *run)
{
    struct run_array children;
    bool waited = run->paused_from == RUN_WAITING, queued = run->paused_from == RUN_QUEUED;
    enum run_status to = waited || queued ? run->paused_from : run_ready_status(run);
    /* The event contains the question, which is in the state. */
    if (waited)
        TRY(run_get(c, run->id, run));
    TRY(run_change(c, run, to, run_reason_word(REASON_RESUME)));
    TRY(list_children(c, run, &children));
    for (size_t i = 0; i < children.count; i++)
        if (children.runs[i].status == RUN_PAUSED)
            TRY(run_resume_tree(c, &children.runs[i]));
    /* A direct run that was queued starts if no other run is active. */
    if (queued)
        TRY(start_next(c, run->thread_id));
    return OK;
}

static enum error check_parent_works(struct context *c, const struct run *run)
{
    struct run parent;
    if (!run->has_parent_run_id)
        return OK;
    TRY(run_get_head(c, run->parent_run_id, &parent));
    if (parent.status == RUN_PAUSED)
        return problem_set(c->problem, ERR_CONFLICT, "the parent run is paused: resume it");
    return OK;
}

enum error run_pause(struct context *c, struct run *run)
{
    TRY(context_check_match(c, run->version));
    TRY(run_pause_tree(c, run));
    return run_get(c, run->id, run);
}

enum error run_resume(struct context *c, struct run *run)
{
    TRY(context_check_match(c, run->version));
    if (run->status != RUN_PAUSED)
        return refuse(c, run, STR("resumed (the run is not paused)"));
    TRY(check_parent_works(c, run));
    TRY(run_resume_tree(c, run));
    return run_get(c, run->id, run);
}

enum error run_cancel(struct context *c, struct run *run, struct str reason)
{
    TRY(context_check_match(c, run->version));
    TRY(run_change(
        c, run, RUN_CANCELLED, str_is_none(reason) ? run_reason_word(REASON_CANCEL) : reason));
    return run_get(c, run->id, run);
}
