/* SPDX-License-Identifier: Apache-2.0 */
/* Appends steps to a run: numbers, messages, usage, rows and the event. */
#include "base/json/json_write.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/history.h"
#include "model/execution/step_parts.h"
#include "model/execution/steps.sql.h"
#include "model/execution/usage.h"
#include "model/threads/events.h"

/* The thread has been locked since the run was read. */
static enum error take_numbers(
    struct context *c, const struct run *run, struct step *steps, size_t n)
{
    struct query q;
    for (size_t i = 0; i < n; i++) {
        steps[i].run_id = run->id;
        steps[i].thread_id = run->thread_id;
        steps[i].has_agent_id = run->has_agent_id;
        steps[i].agent_id = run->agent_id;
        steps[i].number = run->step_count + 1 + (int64_t)i;
        steps[i].created_at = c->now_us;
    }
    context_query(c, &q, &SQL_STEP_TAKE_NUMBERS);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, count, (int64_t)n);
    return query_run(&q);
}

/* --- Messages ------------------------------------------------------------------------------- */

static enum error last_snapshot(struct context *c, struct uuid run_id, struct uuid *out_id)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_LAST_SNAPSHOT);
    query_uuid(&q, run_id, run_id);
    while (query_next(&q))
        *out_id = row_uuid(&q);
    return query_end(&q);
}

/* Each list of messages is stored as a change to the previous one. */
static enum error keep_messages(
    struct context *c, const struct run *run, struct step *steps, size_t n)
{
    struct uuid base = UUID_NIL;
    bool looked = false;
    for (size_t i = 0; i < n; i++) {
        struct snapshot snapshot;
        if (str_is_none(steps[i].messages_snapshot))
            continue;
        if (!looked)
            TRY(last_snapshot(c, run->id, &base));
        looked = true;
        TRY(snapshot_put(c, run->thread_id, base,
            arena_printf(c->arena, "{\"messages\":%.*s}", STR_ARG(steps[i].messages_snapshot)),
            &snapshot));
        base = snapshot.id;
        steps[i].has_snapshot_id = true;
        steps[i].snapshot_id = snapshot.id;
    }
    return OK;
}

/* --- Calls of models ------------------------------------------------------------------------ */

/* If the end of a call has no model, the beginning of the call may have it. */
static enum error take_model(struct context *c, struct step *steps, size_t i)
{
    struct step start = {0};
    bool found = false;
    size_t before = i;
    while (before > 0 && !step_begins_llm_call(&steps[before - 1]) &&
           !step_ends_llm_call(&steps[before - 1]))
        before--;
    if (before > 0) {
        start = steps[before - 1];
        found = step_begins_llm_call(&start);
    } else
        TRY(step_find_call(c, steps[0].run_id, steps[0].number, &start, &found));
    if (found)
        steps[i].model = start.model;
    if (found && str_is_none(steps[i].provider))
        steps[i].provider = start.provider;
    return OK;
}

/* Absent members of a call are taken from its run. */
static void take_model_of_run(const struct run *run, struct step *step)
{
    if (str_is_none(step->provider) &&
        (str_is_none(step->model) || str_eq(step->model, run->model)))
        step->provider = run->provider;
    if (str_is_none(step->model))
        step->model = run->model;
}

static enum error count_usage(
    struct context *c, const struct run *run, struct step *steps, size_t n)
{
    enum error e = OK;
    for (size_t i = 0; e == OK && i < n; i++) {
        struct step *s = &steps[i];
        if (step_ends_llm_call(s) && str_is_none(s->model))
            e = take_model(c, steps, i);
        if (step_ends_llm_call(s) || s->has_usage)
            take_model_of_run(run, s);
        if (e != OK || !s->has_usage)
            continue;
        struct usage usage = {.model = s->model,
            .provider = s->provider,
            .input_tokens = s->usage.input_tokens,
            .output_tokens = s->usage.output_tokens,
            .cache_creation_input_tokens = s->usage.cache_creation_input_tokens,
            .cache_read_input_tokens = s->usage.cache_read_input_tokens};
        struct cost cost;
        e = usage_add(c, run, s->has_turn_id ? s->turn_id : UUID_NIL, &usage, &cost);
        if (e == OK && cost.is_priced) {
            s->has_cost = s->has_price_version = true;
            s->cost_pico = cost.total;
            s->price_version = cost.price_version;
        }
    }
    return e;
}

/* --- Rows ----------------------------------------------------------------------------------- */

static enum error insert_one(struct context *c, struct step *s)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_INSERT);
    step_bind(&q, s);
    query_uuid_if(&q, messages_snapshot_id, s->has_snapshot_id, s->snapshot_id);
    query_i64(&q, now, c->now_us);
    while (query_next(&q))
        s->log_id = row_i64(&q);
    return query_end(&q);
}

static void write_number(struct json_writer *w, const char *name, bool has, int64_t value)
{
    if (!has)
        return;
    json_write_name(w, name);
    json_write_i64(w, value);
}

static void write_id(struct json_writer *w, const char *name, bool has, struct uuid id)
{
    if (!has)
        return;
    json_write_name(w, name);
    json_write_uuid(w, id);
}

static void write_text(struct json_writer *w, const char *name, struct str text)
{
    if (!str_is_none(text))
        json_write_text_member(w, name, text);
}

static void write_row(struct json_writer *w, const struct step *s)
{
    const struct step_usage *u = &s->usage;
    json_write_object(w);
    write_number(w, "number", true, s->number);
    write_id(w, "turn_id", s->has_turn_id, s->turn_id);
    write_number(w, "at", true, s->at);
    write_number(w, "step_number", s->has_step_number, s->step_number);
    write_text(w, "action_type", s->action_type);
    json_write_name(w, "action_data");
    json_write_raw(w, s->action_data);
    write_id(w, "messages_snapshot_id", s->has_snapshot_id, s->snapshot_id);
    write_number(w, "messages_count", s->has_messages_count, s->messages_count);
    write_number(w, "estimated_tokens", s->has_estimated_tokens, s->estimated_tokens);
    write_number(w, "duration_ms", s->has_duration_ms, s->duration_ms);
    write_text(w, "tool_name", s->tool_name);
    write_text(w, "tool_use_id", s->tool_use_id);
    write_text(w, "outcome", step_outcome_word(s->outcome));
    write_text(w, "model", s->model);
    write_text(w, "provider", s->provider);
    write_number(w, "input_tokens", u->has_input_tokens, u->input_tokens);
    write_number(w, "output_tokens", u->has_output_tokens, u->output_tokens);
    write_number(w, "cache_creation_input_tokens", u->has_cache_creation_input_tokens,
        u->cache_creation_input_tokens);
    write_number(
        w, "cache_read_input_tokens", u->has_cache_read_input_tokens, u->cache_read_input_tokens);
    write_number(w, "cost_pico", s->has_cost, s->cost_pico);
    write_number(w, "price_version", s->has_price_version, s->price_version);
    json_write_end(w);
}

static struct str encode_rows(struct arena *arena, const struct step *steps, size_t n)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++)
        write_row(&text.w, &steps[i]);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error insert_all(struct context *c, struct step *steps, size_t n)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_INSERT_ALL);
    query_uuid(&q, run_id, steps[0].run_id);
    query_uuid(&q, thread_id, steps[0].thread_id);
    query_uuid_if(&q, agent_id, steps[0].has_agent_id, steps[0].agent_id);
    query_bool(&q, lifecycle, steps[0].lifecycle);
    query_i64(&q, now, c->now_us);
    query_text(&q, steps, encode_rows(c->arena, steps, n));
    while (query_next(&q)) {
        int64_t log_id = row_i64(&q);
        steps[row_i64(&q) - steps[0].number].log_id = log_id;
    }
    return query_end(&q);
}

enum error step_insert(struct context *c, struct step *steps, size_t n)
{
    if (tx_is_shared(c->tx))
        return insert_all(c, steps, n);
    for (size_t i = 0; i < n; i++)
        TRY(insert_one(c, &steps[i]));
    return OK;
}

static enum error tell(struct context *c, const struct run *run, const struct step *steps, size_t n)
{
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    write_id(&text.w, "run_id", true, run->id);
    write_number(&text.w, "first", true, steps[0].number);
    write_number(&text.w, "last", true, steps[n - 1].number);
    json_write_end(&text.w);
    struct event event = {.has_run_id = true,
        .run_id = run->id,
        .kind = event_kind_word(EVENT_STEPS_APPENDED),
        .payload = json_text_take(&text, c->arena)};
    return event_emit(c, run->thread_id, &event);
}

/* Steps without a time get distinct times in the order of their numbers. */
int64_t step_time_after(const struct context *c, int64_t last)
{
    return last < c->now_us + STEP_FOLLOW_MAX_US ? last + 1 : 0;
}

static enum error find_earliest(struct context *c, const struct run *run, int64_t *out_earliest)
{
    struct query q;
    int64_t last = 0;
    context_query(c, &q, &SQL_STEP_LAST_TIME);
    query_uuid(&q, run_id, run->id);
    query_i64(&q, number, run->step_count);
    while (query_next(&q))
        last = row_i64(&q);
    *out_earliest = step_time_after(c, last);
    return query_end(&q);
}

/* Consecutive steps that were sent with one time, or with one that the step before was given, get
 * distinct times in their order. A step that was sent with an earlier time than the one before
 * keeps it. */
static void part_times(const struct step *before, int64_t sent_before, struct step *step)
{
    if (step->at >= sent_before && step->at <= before->at)
        step->at = before->at + 1;
}

enum error step_append(
    struct context *c, const struct run *run, struct step *steps, size_t n, struct str at)
{
    int64_t earliest = 0, sent_before = 0;
    if (run->step_count > 0)
        TRY(find_earliest(c, run, &earliest));
    for (size_t i = 0; i < n; i++) {
        TRY(step_check(c, run, earliest, &steps[i],
            str_is_none(at) ? STR("") : arena_printf(c->arena, "%.*s/%zu", STR_ARG(at), i)));
        int64_t sent = steps[i].at;
        if (i > 0)
            part_times(&steps[i - 1], sent_before, &steps[i]);
        sent_before = sent;
        earliest = step_time_after(c, steps[i].at);
    }
    TRY(keep_messages(c, run, steps, n)); /* before the first write: see model/rehearsal.h */
    TRY(take_numbers(c, run, steps, n));
    TRY(count_usage(c, run, steps, n));
    TRY(step_insert(c, steps, n));
    TRY(history_update_usage(c, run));
    return tell(c, run, steps, n);
}
