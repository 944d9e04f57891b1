/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/resumptions.h"

#include "base/json/json_write.h"
#include "model/agents/agents.h"
#include "model/execution/awaited_tools.h"
#include "model/execution/resumption_check.h"
#include "model/execution/resumptions.sql.h"
#include "model/execution/transcripts.h"
#include "model/threads/events.h"

enum { MS_PICO = 1000000000 };

/* --- Read ----------------------------------------------------------------------------------- */

static enum error read_runs(struct context *c, struct resumption *r)
{
    struct query q;
    context_query(c, &q, &SQL_RESUMPTION_RUNS);
    query_uuid(&q, thread_id, r->thread_id);
    if (query_next(&q)) {
        r->total_runs = r->earlier_runs + row_i64(&q);
        r->has_last_run_at = row_i64_if(&q, &r->last_run_at);
    }
    return query_end(&q);
}

/* Writes a frontend tool that has no result, or the result of a backend tool. */
static void write_tool(struct query *q, struct resumption *r, struct json_writer *frontend,
    struct json_writer *backend)
{
    struct str id = row_text(q);
    bool is_frontend = row_enum(q, tool_sides) == TOOL_FRONTEND;
    struct str name = row_text(q), input = row_text(q), result = row_text(q);
    int64_t unused;
    bool is_error = row_bool(q), is_in = row_i64_if(q, &unused);
    if (is_frontend == is_in)
        return;
    struct json_writer *w = is_frontend ? frontend : backend;
    r->awaiting_frontend_tools = r->awaiting_frontend_tools || is_frontend;
    json_write_object(w);
    if (!is_frontend)
        json_write_text_member(w, "type", STR("tool_result"));
    json_write_text_member(w, "tool_use_id", id);
    if (is_frontend)
        json_write_text_member(w, "name", name);
    json_write_name(w, is_frontend ? "input" : "content");
    json_write_raw(w, is_frontend ? input : result);
    if (!is_frontend) {
        json_write_name(w, "is_error");
        json_write_bool(w, is_error);
    }
    json_write_end(w);
}

static enum error read_tools(struct context *c, struct resumption *r)
{
    struct query q;
    struct json_text frontend, backend;
    json_text_init(&frontend, SIZE_MAX);
    json_text_init(&backend, SIZE_MAX);
    json_write_array(&frontend.w);
    json_write_array(&backend.w);
    context_query(c, &q, &SQL_RESUMPTION_TOOLS);
    query_uuid(&q, thread_id, r->thread_id);
    while (query_next(&q))
        write_tool(&q, r, &frontend.w, &backend.w);
    json_write_end(&frontend.w);
    json_write_end(&backend.w);
    r->pending_frontend_tools = json_text_take(&frontend, c->arena);
    r->pending_backend_results = json_text_take(&backend, c->arena);
    return query_end(&q);
}

static enum error read_lists(struct context *c, struct resumption *r)
{
    TRY(transcript_get(c, r->messages_id, &r->messages));
    return transcript_get(c, r->history_id, &r->conversation_history);
}

enum error resumption_find(
    struct context *c, struct uuid thread_id, bool with_lists, struct resumption *out_resumption)
{
    struct thread thread;
    struct resumption r = {0};
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    context_query(c, &q, &SQL_RESUMPTION_GET);
    query_uuid(&q, thread_id, thread_id);
    if (query_next(&q))
        resumption_read(&q, &r);
    TRY(query_end(&q));
    r.thread_id = thread_id;
    r.title = thread.title;
    r.base_delay_pico *= MS_PICO;
    TRY(read_runs(c, &r));
    TRY(read_tools(c, &r));
    if (with_lists)
        TRY(read_lists(c, &r));
    r.tool_names = r.version > 0 ? resumption_tool_names(c, r.tool_schemas) : STR_NONE;
    *out_resumption = r;
    return OK;
}

enum error resumption_get(
    struct context *c, struct uuid thread_id, bool with_lists, struct resumption *out_resumption)
{
    struct resumption r;
    TRY(resumption_find(c, thread_id, with_lists, &r));
    if (r.version == 0)
        return problem_set(c->problem, ERR_NOT_FOUND,
            "the thread has no resumption: create it with PUT and If-None-Match: *");
    *out_resumption = r;
    return OK;
}

/* --- Values from the agent's definition ----------------------------------------------------- */

static struct str text_of(struct context *c, struct json object, const char *name)
{
    struct json v;
    if (json_type(object) == JSON_OBJECT && json_get(object, str_of(name), &v) &&
        json_type(v) == JSON_STRING)
        return json_string(c->arena, v);
    return STR_NONE;
}

/* Joins the role and the instructions with a blank line. */
static struct str prompt_of(struct context *c, struct json prompt)
{
    struct str role = text_of(c, prompt, "role");
    struct str instructions = text_of(c, prompt, "instructions");
    if (role.len == 0)
        return instructions;
    if (instructions.len == 0)
        return role;
    return arena_printf(c->arena, "%.*s\n\n%.*s", STR_ARG(role), STR_ARG(instructions));
}

static void take_definition(
    struct context *c, struct resumption *r, struct str prompt, struct str llm)
{
    struct json_doc doc;
    struct json_error bad;
    if (str_is_none(r->system_prompt) && !str_is_none(prompt) &&
        json_parse(c->arena, prompt, &doc, &bad))
        r->system_prompt = prompt_of(c, json_root(&doc));
    if (str_is_none(r->model) && !str_is_none(llm) && json_parse(c->arena, llm, &doc, &bad))
        r->model = text_of(c, json_root(&doc), "default_model");
}

static enum error require(struct context *c, struct str text, const char *pointer)
{
    if (!str_is_none(text))
        return OK;
    return problem_fault(c->problem, str_of(pointer),
        "must be given: the agent of the newest run does not define it");
}

static enum error take_from_definition(struct context *c, struct resumption *r)
{
    struct query q;
    context_query(c, &q, &SQL_RESUMPTION_DEFINITION);
    query_uuid(&q, thread_id, r->thread_id);
    if (query_next(&q)) {
        r->has_agent_id = row_uuid_if(&q, &r->agent_id);
        struct str prompt = row_text(&q), llm = row_text(&q);
        take_definition(c, r, prompt, llm);
    }
    TRY(query_end(&q));
    enum error prompt = require(c, r->system_prompt, "/system_prompt");
    enum error model = require(c, r->model, "/model");
    return prompt != OK ? prompt : model;
}

/* --- Write ---------------------------------------------------------------------------------- */

static void bind_lists(struct query *q, const struct resumption *r)
{
    query_uuid_if(q, messages_snapshot_id, !uuid_is_nil(r->messages_id), r->messages_id);
    query_uuid_if(q, history_snapshot_id, !uuid_is_nil(r->history_id), r->history_id);
}

static enum error write_row(struct context *c, const struct resumption *r, bool is_new)
{
    struct query q;
    context_query(c, &q, is_new ? &SQL_RESUMPTION_INSERT : &SQL_RESUMPTION_UPDATE);
    resumption_bind(&q, r);
    bind_lists(&q, r);
    query_i64(&q, base_delay_ms, r->base_delay_pico / MS_PICO);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error write_place(struct context *c, const struct resumption *r)
{
    struct query q;
    context_query(c, &q, &SQL_RESUMPTION_SET_PLACE);
    resumption_bind_place(&q, r);
    bind_lists(&q, r);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error tell(struct context *c, struct uuid thread_id, int64_t version)
{
    struct event event = {.kind = event_kind_word(EVENT_RESUMPTION_UPDATED),
        .payload = arena_printf(c->arena, "{\"version\":%lld}", (long long)version)};
    return event_emit(c, thread_id, &event);
}

/* If-Match refers to the resumption, not to the version of the thread. */
static enum error write_title(struct context *c, const struct resumption *r)
{
    struct thread before, after;
    bool has_match = c->has_match;
    enum error e = thread_get(c, r->thread_id, &before);
    if (e != OK || !str_differs(before.title, r->title))
        return e;
    after = before;
    after.title = r->title;
    c->has_match = false;
    e = thread_update(c, &before, &after);
    if (e == OK)
        e = thread_tell_update(c, &before, &after);
    c->has_match = has_match;
    return e;
}

static enum error replace_list(
    struct context *c, struct uuid thread_id, struct str list, struct uuid *id)
{
    return str_is_none(list) ? OK : transcript_replace(c, thread_id, list, id);
}

/* A request that may not see the prompt cannot make it the prompt of another agent. */
static void keep_prompt_owner(
    const struct context *c, const struct resumption *before, struct resumption *after)
{
    if (before->version == 0 || str_differs(before->system_prompt, after->system_prompt) ||
        agent_may_see_prompts(c, before->has_agent_id, before->agent_id))
        return;
    after->has_agent_id = before->has_agent_id;
    after->agent_id = before->agent_id;
}

/* The number never decreases: a document that was read before the start of a run has the number of
 * that time. */
static void take_total(const struct resumption *before, struct resumption *after)
{
    after->earlier_runs = before->earlier_runs;
    if (after->has_total_runs && after->total_runs > before->total_runs)
        after->earlier_runs += after->total_runs - before->total_runs;
}

enum error resumption_write(
    struct context *c, const struct resumption *before, struct resumption *after)
{
    after->thread_id = before->thread_id;
    after->messages_id = before->messages_id;
    after->history_id = before->history_id;
    after->has_agent_id = before->has_agent_id;
    after->agent_id = before->agent_id;
    take_total(before, after);
    resumption_defaults(after);
    TRY(resumption_check(c, after));
    TRY(take_from_definition(c, after));
    keep_prompt_owner(c, before, after);
    TRY(replace_list(c, after->thread_id, after->messages, &after->messages_id));
    TRY(replace_list(c, after->thread_id, after->conversation_history, &after->history_id));
    TRY(write_row(c, after, before->version == 0));
    TRY(write_title(c, after));
    TRY(tell(c, after->thread_id, before->version + 1));
    return resumption_find(c, before->thread_id, false, after);
}

enum error resumption_append(
    struct context *c, struct resumption *resumption, const struct resumption_append *append)
{
    const struct str pointer = STR("/append"), history = STR("/append_history");
    struct uuid thread_id = resumption->thread_id;
    bool has_messages = !str_is_none(append->messages);
    bool has_history = !str_is_none(append->conversation_history);
    if (!has_messages && !has_history)
        return problem_fault(
            c->problem, pointer, "must be given, since the request has nothing else to append");
    if (has_messages)
        TRY(transcript_check(c, append->messages, pointer));
    if (has_history)
        TRY(transcript_check(c, append->conversation_history, history));
    if (has_messages)
        TRY(transcript_append(c, thread_id, append->messages, pointer, &resumption->messages_id));
    if (has_history)
        TRY(transcript_append(
            c, thread_id, append->conversation_history, history, &resumption->history_id));
    TRY(write_place(c, resumption));
    TRY(tell(c, thread_id, resumption->version + 1));
    return resumption_find(c, thread_id, false, resumption);
}

/* --- Changes by runs ------------------------------------------------------------------------ */

/* Version 0: the resumption does not exist. */
static enum error find_place(struct context *c, struct uuid thread_id, struct resumption *out)
{
    struct query q;
    *out = (struct resumption){0};
    context_query(c, &q, &SQL_RESUMPTION_PLACE);
    query_uuid(&q, thread_id, thread_id);
    if (query_next(&q))
        resumption_read_place(&q, out);
    out->thread_id = thread_id;
    return query_end(&q);
}

enum error resumption_set_place(struct context *c, struct uuid thread_id, struct str messages,
    bool has_step, int64_t current_step)
{
    struct resumption r;
    bool has_messages = !str_is_none(messages);
    if (!has_messages && !has_step)
        return OK;
    TRY(find_place(c, thread_id, &r));
    if (r.version == 0)
        return problem_fault(c->problem, has_messages ? STR("/messages") : STR("/current_step"),
            "requires that the thread has a resumption: create it first");
    if (has_messages)
        TRY(transcript_check(c, messages, STR("/messages")));
    TRY(replace_list(c, thread_id, messages, &r.messages_id));
    if (has_step)
        r.current_step = current_step;
    TRY(write_place(c, &r));
    return tell(c, thread_id, r.version + 1);
}

enum error resumption_take_history(
    struct context *c, struct uuid thread_id, struct uuid *out_transcript_id)
{
    struct resumption r;
    TRY(find_place(c, thread_id, &r));
    *out_transcript_id = r.history_id;
    if (uuid_is_nil(r.history_id))
        return OK;
    r.history_id = UUID_NIL;
    TRY(write_place(c, &r));
    return tell(c, thread_id, r.version + 1);
}
