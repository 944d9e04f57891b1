/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/runs.h"

#include "model/agents/agent_versions.h"
#include "model/execution/run_results.h"
#include "model/execution/run_rows.h"
#include "model/execution/runs.sql.h"
#include "model/execution/usage.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"

static void read_usage(struct query *q, struct run_usage *out)
{
    run_usage_read(q, out);
    out->has_cost = out->unpriced_calls == 0 || out->llm_calls > out->unpriced_calls;
}

void run_read_row(struct query *q, struct run *out)
{
    run_read(q, out);
    read_usage(q, &out->usage);
    read_usage(q, &out->total_usage);
    run_schedule_read(q, &out->schedule);
    out->schedule.has_backoff = out->schedule.backoff.has_initial_ms;
    /* A run from before phases were introduced does not use them. */
    if (out->phase == PHASE_NONE)
        out->phase = run_is_finished(out) ? run_phase_at_end(out->status) : PHASE_CREATED;
}

static enum error insert(struct context *c, const struct run *run)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_INSERT);
    run_bind_insert(&q, run);
    run_bind_schedule(&q, &run->schedule);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_RUN_INSERT_DOCUMENTS);
    run_bind_insert_documents(&q, run);
    return query_run(&q);
}

enum error run_write(struct context *c, const struct run *run)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_UPDATE);
    run_bind_update(&q, run);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error run_write_documents(struct context *c, const struct run *run)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_UPDATE_CONTENT);
    run_bind_content(&q, run);
    TRY(query_run(&q));
    context_query(c, &q, &SQL_RUN_UPDATE_DOCUMENTS);
    run_bind_documents(&q, run);
    return query_run(&q);
}

enum error run_set_error(struct context *c, struct run *run, struct str error)
{
    struct query q;
    run->error = error;
    context_query(c, &q, &SQL_RUN_SET_ERROR);
    query_uuid(&q, id, run->id);
    query_text(&q, error, error);
    return query_run(&q);
}

/* --- Queries -------------------------------------------------------------------------------- */

static enum error get(
    struct context *c, const struct sql_statement *statement, struct uuid id, struct run *out_run)
{
    struct query q;
    TRY(context_lock_run(c, id));
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        run_read_row(&q, out_run);
    TRY(query_end(&q));
    if (found && uuid_is_nil(c->locked_thread))
        c->locked_thread = out_run->thread_id;
    return !found ? context_not_found(c, "run", id) : OK;
}

enum error run_get(struct context *c, struct uuid id, struct run *out_run)
{
    return get(c, &SQL_RUN_GET, id, out_run);
}

enum error run_get_head(struct context *c, struct uuid id, struct run *out_run)
{
    return get(c, &SQL_RUN_GET_HEAD, id, out_run);
}

/* Few runs are unfinished, and fewer are in one phase. */
static const struct sql_statement *list_statement(const struct run_filter *filter)
{
    bool whole = filter->with_documents;
    if (filter->has_parent_run_id)
        return whole ? &SQL_RUN_LIST_OF_PARENT_WHOLE : &SQL_RUN_LIST_OF_PARENT;
    if (filter->phase != PHASE_NONE)
        return whole ? &SQL_RUN_LIST_OF_PHASE_WHOLE : &SQL_RUN_LIST_OF_PHASE;
    if (filter->has_agent_id)
        return whole ? &SQL_RUN_LIST_OF_AGENT_WHOLE : &SQL_RUN_LIST_OF_AGENT;
    if (filter->has_thread_id)
        return whole ? &SQL_RUN_LIST_OF_THREAD_WHOLE : &SQL_RUN_LIST_OF_THREAD;
    if (filter->status != RUN_STATUS_NONE)
        return whole ? &SQL_RUN_LIST_OF_STATUS_WHOLE : &SQL_RUN_LIST_OF_STATUS;
    return whole ? &SQL_RUN_LIST_WHOLE : &SQL_RUN_LIST;
}

enum error run_list(
    struct context *c, const struct run_filter *wanted, struct page *page, struct run *out_runs)
{
    struct query q;
    struct run_filter as_status = *wanted;
    const struct run_filter *filter = wanted;
    if (wanted->phase != PHASE_NONE && run_phase_is_final(wanted->phase)) {
        as_status.phase = PHASE_NONE;
        as_status.status = run_phase_status(wanted->phase);
        filter = &as_status;
        page->count = 0;
        page->more = false;
        if (wanted->status != RUN_STATUS_NONE && wanted->status != as_status.status)
            return OK;
    }
    page_begin(c, &q, list_statement(filter), page);
    query_uuid_if(&q, before, filter->has_before, filter->before);
    query_uuid_if(&q, thread_id, filter->has_thread_id, filter->thread_id);
    query_uuid_if(&q, parent_run_id, filter->has_parent_run_id, filter->parent_run_id);
    query_uuid_if(&q, agent_id, filter->has_agent_id, filter->agent_id);
    query_text(&q, status, run_status_word(filter->status));
    query_text(&q, phase, phase_word(filter->phase));
    query_text(&q, agent, filter->agent);
    while (page_next(&q, page))
        run_read_row(&q, &out_runs[page->count++]);
    return query_end(&q);
}

enum error run_read_all(struct query *q, struct run_array *out)
{
    size_t room = 0;
    *out = (struct run_array){0};
    while (query_next(q)) {
        if (out->count == room) {
            room = room == 0 ? 4 : room * 2;
            struct run *grown = ARENA_ARRAY(q->arena, struct run, room);
            if (out->count > 0)
                memcpy(grown, out->runs, out->count * sizeof *grown);
            out->runs = grown;
        }
        run_read_row(q, &out->runs[out->count++]);
    }
    return query_end(q);
}

enum error run_list_unfinished(
    struct context *c, struct uuid thread_id, struct run_array *out_unfinished)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_LIST_UNFINISHED);
    query_uuid(&q, thread_id, thread_id);
    return run_read_all(&q, out_unfinished);
}

enum error run_list_active(struct context *c, struct uuid thread_id, struct run_array *out_active)
{
    TRY(run_list_unfinished(c, thread_id, out_active));
    size_t kept = 0;
    for (size_t i = 0; i < out_active->count; i++)
        if (!out_active->runs[i].has_parent_run_id)
            out_active->runs[kept++] = out_active->runs[i];
    out_active->count = kept;
    return OK;
}

/* --- Start ---------------------------------------------------------------------------------- */

static enum error refuse_second(struct context *c, const struct run *active)
{
    char id[UUID_TEXT_LEN];
    struct str status = run_status_word(active->status);
    uuid_format(active->id, id);
    return problem_set(c->problem, ERR_RUN_ACTIVE,
        "run %.*s of this thread is %.*s, and the run policy is reject", UUID_TEXT_LEN, id,
        STR_ARG(status));
}

static enum error end_active(struct context *c, struct run_array *active, bool rollback)
{
    for (size_t i = active->count; i > 0; i--) {
        struct run *run = &active->runs[i - 1];
        if (rollback)
            TRY(thread_undo_run(c, run->thread_id, run->id));
        TRY(run_change(c, run, RUN_CANCELLED,
            run_reason_word(rollback ? REASON_ROLLED_BACK : REASON_INTERRUPTED)));
    }
    return OK;
}

/* Ends the active runs, or rejects the new one, as the policy says. out_wait: the new run has to
 * wait. */
static enum error apply_policy(
    struct context *c, struct uuid thread_id, enum run_policy policy, bool *out_wait)
{
    struct run_array active;
    TRY(run_list_active(c, thread_id, &active));
    *out_wait = false;
    if (active.count == 0)
        return OK;
    if (policy == RUN_POLICY_REJECT)
        return refuse_second(c, &active.runs[0]);
    if (policy == RUN_POLICY_INTERRUPT || policy == RUN_POLICY_ROLLBACK)
        return end_active(c, &active, policy == RUN_POLICY_ROLLBACK);
    *out_wait = true;
    return OK;
}

static enum error check_count(struct context *c, struct uuid thread_id)
{
    struct query q;
    int64_t count = 0;
    context_query(c, &q, &SQL_RUN_COUNT_UNFINISHED);
    query_uuid(&q, thread_id, thread_id);
    TRY(context_number(&q, &count));
    if (count >= RUN_ACTIVE_MAX)
        return problem_set(c->problem, ERR_RUN_ACTIVE,
            "the thread has %d unfinished runs, the maximum: wait until one is finished",
            RUN_ACTIVE_MAX);
    return OK;
}

/* A child runs on the thread, and under the lease, of its parent. */
static enum error check_parent(struct context *c, struct uuid thread_id, struct run *run)
{
    struct run parent = {0};
    const struct str pointer = STR("/parent_run_id");
    TRY(run_get_in_thread(c, thread_id, run->parent_run_id, pointer, &parent));
    if (parent.depth + 1 >= RUN_DEPTH_MAX)
        return problem_fault(
            c->problem, pointer, "must have fewer than %d ancestors", RUN_DEPTH_MAX - 1);
    struct str status = run_status_word(parent.status);
    if (run_is_finished(&parent) || parent.status == RUN_PAUSED)
        return problem_set(c->problem, ERR_CONFLICT, "the parent run is %.*s", STR_ARG(status));
    run->depth = parent.depth + 1;
    return run_check_fence(c, &parent);
}

static enum error check_start(struct context *c, const struct thread *thread,
    enum run_policy policy, struct run *run, bool *out_wait)
{
    *out_wait = false;
    run->depth = 0;
    struct str status = thread_status_word(thread->status);
    if (thread->status != THREAD_ACTIVE)
        return problem_set(c->problem, ERR_CONFLICT,
            "the thread is %.*s: only an active thread can start a run", STR_ARG(status));
    /* The policy applies only to runs without a parent. */
    TRY(run->has_parent_run_id
            ? check_parent(c, thread->id, run)
            : apply_policy(c, thread->id, policy == RUN_POLICY_NONE ? thread->run_policy : policy,
                  out_wait));
    return check_count(c, thread->id);
}

/* Takes the model from the agent version if the run has none. */
static enum error take_model(struct context *c, struct run *run)
{
    struct agent_version version;
    struct json_doc doc;
    struct json_error bad;
    struct json model;
    if (!str_is_none(run->model) || str_is_none(run->agent_version))
        return OK;
    TRY(agent_version_get(c, run->agent_id, run->agent_version, &version));
    if (str_is_none(version.parts[PART_LLM_CONFIG]))
        return OK;
    if (json_parse(c->arena, version.parts[PART_LLM_CONFIG], &doc, &bad) &&
        json_get(json_root(&doc), STR("default_model"), &model) && json_type(model) == JSON_STRING)
        run->model = json_string(c->arena, model);
    return OK;
}

enum error run_may_start(struct context *c, bool has_thread_id, struct uuid thread_id,
    struct uuid agent_id, bool *out_may)
{
    struct participant agent;
    bool participates;
    TRY(agent_may_use(c, agent_id, out_may));
    if (*out_may || !has_thread_id || str_is_none(c->principal))
        return OK;
    TRY(participant_find(c, thread_id, agent_principal(c->arena, agent_id), &participates, &agent));
    *out_may = participates && agent.active;
    return OK;
}

/* Takes members from the agent. The thread is already locked, and agents are locked after threads.
 */
static enum error take_agent(struct context *c, struct uuid thread_id, struct run *run)
{
    struct agent agent;
    bool may = false;
    if (!run->has_agent_id && !str_is_none(run->agent_version))
        return problem_fault(
            c->problem, STR("/agent_version"), "is allowed only together with agent_id");
    if (!run->has_agent_id)
        return OK;
    TRY(run_may_start(c, true, thread_id, run->agent_id, &may));
    bool is_shown = run->has_forked_from_run_id || run->has_retry_of_run_id;
    if (!may && is_shown && str_is_none(c->principal))
        return problem_set(c->problem, ERR_CONFLICT,
            "the agent of the run was deleted: start a run of another one");
    if (!may && is_shown) /* the old run shows the agent */
        return problem_set(c->problem, ERR_FORBIDDEN,
            "the agent of the run neither participates in the thread nor is it granted to %.*s",
            STR_ARG(c->principal));
    if (!may)
        return problem_fault(c->problem, STR("/agent_id"), "must be an agent of the tenant");
    TRY(agent_get(c, run->agent_id, &agent));
    TRY(agent_use_version(c, run->agent_id, run->agent_version, &run->agent_version));
    if (str_is_none(run->agent))
        run->agent = agent.name;
    return take_model(c, run);
}

static void start_defaults(struct run *run, const struct thread *thread)
{
    if (run->dispatch == RUN_DISPATCH_NONE)
        run->dispatch = RUN_QUEUE;
    if (str_is_none(run->state))
        run->state = STR("{}");
    if (str_is_none(run->metadata))
        run->metadata = STR("{}");
    if (str_is_none(run->agent))
        run->agent = thread->agent;
}

/* Workers claim runs by the name of the agent, so the name needs the same right as the id. A name
 * that no agent has gets the same answer: a principal does not learn which agents exist. */
static enum error check_name(struct context *c, struct uuid thread_id, const struct run *run)
{
    struct uuid agent_id = UUID_NIL;
    bool found = false, may = false;
    if (str_is_none(c->principal) || str_is_none(run->agent))
        return OK;
    TRY(agent_find_by_name(c, run->agent, &found, &agent_id));
    if (found)
        TRY(run_may_start(c, true, thread_id, agent_id, &may));
    return may ? OK
               : problem_set(c->problem, ERR_FORBIDDEN,
                     "the agent \"%.*s\" neither participates in the thread nor is it granted to "
                     "%.*s",
                     STR_ARG(run->agent), STR_ARG(c->principal));
}

static enum error add_message(struct context *c, const struct run *run)
{
    struct message message = {.has_run_id = true,
        .run_id = run->id,
        .sender_role = sender_role_word(SENDER_USER),
        .content = run->user_input};
    return run->user_input.len > 0 ? message_create(c, run->thread_id, &message) : OK;
}

/* The step about a later start is not known to this call. */
static enum error check_log(struct context *c, const struct run *run, bool wait)
{
    bool starts = run->dispatch == RUN_DIRECT && !wait;
    return starts || run_logs_lifecycle(run)
               ? OK
               : problem_fault(c->problem, STR("/lifecycle_steps"),
                     "can be false only for a run that this call starts: with dispatch direct, "
                     "while no other run of the thread is active");
}

enum error run_start(
    struct context *c, struct uuid thread_id, enum run_policy policy, struct run *run)
{
    struct thread thread;
    const struct run_result told = run->result;
    bool wait;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(take_agent(c, thread_id, run));
    TRY(check_start(c, &thread, policy, run, &wait));
    run->id = uuid_v7();
    run->thread_id = thread_id;
    start_defaults(run, &thread);
    TRY(run_check_schedule(c, run));
    TRY(check_name(c, thread_id, run));
    TRY(check_log(c, run, wait));
    if (run->dispatch == RUN_DIRECT && !wait)
        TRY(quota_check_runs(c));
    run->status = RUN_QUEUED;
    run->phase = PHASE_CREATED;
    TRY(insert(c, run));
    TRY(usage_count_started(c, run));
    if (!run->has_parent_run_id)
        TRY(thread_set_recent_run(c, &thread, run->id));
    if (run->adds_message)
        TRY(add_message(c, run));
    TRY(run_get(c, run->id, run));
    run->result = told;
    if (run->dispatch == RUN_DIRECT && !wait)
        TRY(run_change(c, run, RUN_RUNNING, run_reason_word(REASON_STARTED)));
    else
        TRY(run_announce(c, run, RUN_STATUS_NONE, run_reason_word(REASON_STARTED)));
    return run_get(c, run->id, run);
}
