/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that Cairn writes itself, about the start and the end of a run. */
#include "base/json/json_write.h"
#include "model/execution/history_text.h"
#include "model/execution/step_parts.h"
#include "model/execution/steps.sql.h"

/* How a run ends, as a type of action: an error is what a search for errors finds. */
static enum action_type type_of_end(enum run_status status)
{
    switch (status) {
    case RUN_COMPLETED:
        return ACTION_RUN_COMPLETED;
    case RUN_FAILED:
        return ACTION_ERROR;
    default:
        assert(status == RUN_CANCELLED);
        return ACTION_RUN_CANCELLED;
    }
}

bool step_may_be_lifecycle(struct str type, enum run_status status)
{
    enum action_type known = action_type_parse(type);
    return known == ACTION_RUN_STARTED ||
           (run_status_is_final(status) && known == type_of_end(status));
}

static enum error read_facts(
    struct context *c, const struct run *run, struct lifecycle_facts *out_facts)
{
    struct query q;
    bool found;
    context_query(c, &q, &SQL_STEP_LIFECYCLE_FACTS);
    query_uuid(&q, run_id, run->id);
    return facts_read_one(&q, &found, out_facts);
}

static enum error append(struct context *c, const struct run *run,
    const struct lifecycle_facts *facts, int64_t at, struct step *step)
{
    struct query q;
    int64_t earliest = facts->has_last_at ? step_time_after(c, facts->last_at) : 0;
    step->run_id = run->id;
    step->thread_id = run->thread_id;
    step->has_agent_id = run->has_agent_id;
    step->agent_id = run->agent_id;
    step->number = facts->step_count + 1;
    step->has_at = true;
    step->at = earliest > at ? earliest : at;
    step->created_at = c->now_us;
    step->lifecycle = true;
    context_query(c, &q, &SQL_STEP_TAKE_LIFECYCLE_NUMBER);
    query_uuid(&q, run_id, run->id);
    TRY(query_run(&q));
    return step_insert(c, step, 1);
}

static void write_text(struct json_writer *w, const char *name, struct str text)
{
    if (!str_is_none(text))
        json_write_text_member(w, name, text);
}

static void write_number(struct json_writer *w, const char *name, int64_t value)
{
    json_write_name(w, name);
    json_write_i64(w, value);
}

/* Texts of any size are in the run. */
static void write_message(struct json_writer *w, const char *name, struct str text)
{
    if (text.len > 0 && text.len <= STEP_TEXT_MAX_BYTES)
        json_write_text_member(w, name, text);
}

/* --- The start ------------------------------------------------------------------------------ */

/* A claim has not read the documents of the run. */
static enum error find_user_message(struct context *c, const struct run *run, struct str *out)
{
    struct query q;
    *out = run->user_input;
    if (!str_is_none(*out))
        return OK;
    context_query(c, &q, &SQL_STEP_USER_MESSAGE);
    query_uuid(&q, run_id, run->id);
    if (query_next(&q))
        *out = row_text(&q);
    return query_end(&q);
}

static struct str describe_start(struct context *c, const struct run *run, struct str user_message)
{
    struct json_text text;
    json_text_init(&text, STEP_DATA_MAX_BYTES);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "dispatch", run_dispatch_word(run->dispatch));
    write_text(&text.w, "agent", run->agent);
    write_text(&text.w, "agent_version", run->agent_version);
    write_text(&text.w, "model", run->model);
    write_text(&text.w, "worker", run->worker);
    write_message(&text.w, "user_message", user_message);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

enum error step_log_start(struct context *c, const struct run *run)
{
    struct lifecycle_facts facts = {0};
    struct str user_message;
    TRY(find_user_message(c, run, &user_message));
    struct step step = {.action_type = action_type_word(ACTION_RUN_STARTED),
        .action_data = describe_start(c, run, user_message),
        .has_step_number = true};
    TRY(read_facts(c, run, &facts));
    return append(c, run, &facts, run->started_at, &step);
}

/* --- The end -------------------------------------------------------------------------------- */

static void write_answer(struct context *c, struct json_writer *w, const struct run *run)
{
    struct json_doc files;
    struct json_error unused;
    struct str text = run->content;
    bool has_files = !str_is_none(run->result.generated_files) &&
                     json_parse(c->arena, run->result.generated_files, &files, &unused);
    if (str_is_none(text))
        text = history_text_of_output(c->arena, run->final_output);
    write_message(w, "final_response", text);
    write_number(w, "files_generated", has_files ? (int64_t)json_count(json_root(&files)) : 0);
}

static struct str describe_end(struct context *c, const struct run *run,
    const struct lifecycle_facts *facts, int64_t total_steps, struct str reason)
{
    struct json_text text;
    json_text_init(&text, STEP_DATA_MAX_BYTES);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "status", run_status_word(run->status));
    write_text(&text.w, "reason", reason);
    write_text(&text.w, "stop_reason", facts->stop_reason);
    if (run->status == RUN_FAILED && !str_is_none(facts->error)) {
        json_write_name(&text.w, "error");
        json_write_raw(&text.w, facts->error);
    }
    write_number(&text.w, "total_steps", total_steps);
    write_number(&text.w, "total_input_tokens", facts->input_tokens);
    write_number(&text.w, "total_output_tokens", facts->output_tokens);
    if (run->status == RUN_COMPLETED)
        write_answer(c, &text.w, run);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

static enum step_outcome outcome_of(enum run_status status)
{
    return status == RUN_COMPLETED ? STEP_SUCCESS
           : status == RUN_FAILED  ? STEP_ERROR
                                   : STEP_OUTCOME_NONE;
}

enum error step_move_start(struct context *c, const struct run *run)
{
    struct query q;
    if (!run->result.has_started_at)
        return OK;
    context_query(c, &q, &SQL_STEP_MOVE_START);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, at, run->started_at);
    return query_run(&q);
}

enum error step_log_end(struct context *c, const struct run *run, struct str reason)
{
    struct lifecycle_facts facts = {0};
    TRY(read_facts(c, run, &facts));
    int64_t total_steps = facts.has_iteration ? facts.iteration : facts.own_count;
    int64_t duration_ms = run->has_started_at ? (run->finished_at - run->started_at) / 1000 : -1;
    struct step step = {.action_type = action_type_word(type_of_end(run->status)),
        .action_data = describe_end(c, run, &facts, total_steps, reason),
        .has_step_number = true,
        .step_number = total_steps,
        .has_duration_ms = duration_ms >= 0 && duration_ms <= STEP_DURATION_MAX_MS,
        .duration_ms = duration_ms,
        .outcome = outcome_of(run->status)};
    return append(c, run, &facts, run->finished_at, &step);
}
