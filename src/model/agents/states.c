/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/states.h"

#include "model/agents/agents.h"
#include "model/agents/state_told.h"
#include "model/agents/states.sql.h"
#include "model/tenancy/audit.h"
#include "model/threads/threads.h"

ENUM_DEFINE(state_kinds, STATE_KINDS);

static void read_row(struct query *q, struct state *out)
{
    int64_t deleted_at;
    state_read(q, out);
    out->has_agent_id = !uuid_is_nil(out->agent_id);
    out->has_thread_id = !uuid_is_nil(out->thread_id);
    out->version = row_i64_if(q, &deleted_at) ? 0 : out->last_version;
}

static void bind_place(struct query *q, const struct state_place *place)
{
    query_uuid(q, agent_id, place->agent_id);
    query_uuid(q, thread_id, place->thread_id);
    query_text(q, kind, state_kind_word(place->is_config ? STATE_CONFIG : STATE_STATE));
}

static enum error absent(struct context *c, const struct state_place *place)
{
    if (place->is_config)
        return problem_set(c->problem, ERR_NOT_FOUND, "the agent has no configuration yet");
    return problem_set(c->problem, ERR_NOT_FOUND, "the state document \"%.*s\" does not exist",
        STR_ARG(place->name));
}

/* --- Where ---------------------------------------------------------------------------------- */

/* Locks the owner of the document: the thread, or the agent. Threads are locked before agents,
 * including those that get the event of a change to an agent's own document. */
static enum error enter(struct context *c, const struct state_place *place)
{
    struct thread unused;
    if (!uuid_is_nil(place->thread_id)) {
        TRY(thread_get_head(c, place->thread_id, &unused));
        return !uuid_is_nil(place->agent_id) ? agent_require(c, place->agent_id) : OK;
    }
    if (!place->is_config)
        TRY(state_lock_told(c, place));
    TRY(agent_lock(c, place->agent_id));
    return agent_require(c, place->agent_id);
}

static enum error check_name(struct context *c, struct str name)
{
    if (name.len >= 1 && name.len <= STATE_NAME_MAX_BYTES)
        return OK;
    return problem_fault(c->problem, STR("name"), "must have 1 to %d bytes", STATE_NAME_MAX_BYTES);
}

static enum error find(struct context *c, const struct state_place *place, struct state *out_state)
{
    struct query q;
    context_query(c, &q, &SQL_STATE_GET);
    bind_place(&q, place);
    query_text(&q, name, place->name);
    *out_state = (struct state){0};
    if (query_next(&q))
        read_row(&q, out_state);
    return query_end(&q);
}

enum error state_find(struct context *c, const struct state_place *place, struct state *out_state)
{
    TRY(enter(c, place));
    TRY(check_name(c, place->name));
    return find(c, place, out_state);
}

enum error state_get(struct context *c, const struct state_place *place, struct state *out_state)
{
    struct state state;
    TRY(state_find(c, place, &state));
    if (state.version == 0)
        return absent(c, place);
    *out_state = state;
    return OK;
}

enum error state_list(struct context *c, const struct state_place *place,
    const struct state_filter *filter, struct page *page, struct state *out_states)
{
    TRY(enter(c, place));
    struct query q;
    page_begin(c, &q, filter->with_documents ? &SQL_STATE_LIST_WHOLE : &SQL_STATE_LIST, page);
    bind_place(&q, place);
    query_text(&q, after, filter->after);
    while (page_next(&q, page))
        read_row(&q, &out_states[page->count++]);
    return query_end(&q);
}

/* --- Write ---------------------------------------------------------------------------------- */

enum error state_check_match(struct context *c, const struct state *before)
{
    if (c->match_any)
        return OK;
    if (c->match_none && before->version > 0)
        return problem_set(c->problem, ERR_STALE,
            "If-None-Match: * requires that the document does not exist, but it has version %lld",
            (long long)before->version);
    if (c->match_none)
        return OK;
    if (!c->has_match && before->version == 0)
        return problem_set(c->problem, ERR_PRECONDITION_NEEDED,
            "send If-None-Match: * to create a document, or If-Match: * to overwrite any version");
    if (!c->has_match)
        return problem_set(c->problem, ERR_PRECONDITION_NEEDED,
            "send If-Match: \"%lld\" to change this version, or If-Match: * to overwrite any "
            "version",
            (long long)before->version);
    if (before->version == 0)
        return problem_set(
            c->problem, ERR_STALE, "the document does not exist: create it with If-None-Match: *");
    return context_check_match(c, before->version);
}

static enum error write_row(
    struct context *c, const struct state_place *place, const struct state *before, struct uuid *id)
{
    struct query q;
    bool is_new = before->last_version == 0;
    *id = is_new ? uuid_v7() : before->id;
    context_query(c, &q, is_new ? &SQL_STATE_INSERT : &SQL_STATE_ADVANCE);
    query_uuid(&q, id, *id);
    if (is_new) {
        bind_place(&q, place);
        query_text(&q, name, place->name);
    }
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error add_version(
    struct context *c, struct uuid id, int64_t version, const struct state *after)
{
    struct query q;
    context_query(c, &q, &SQL_STATE_ADD_VERSION);
    query_uuid(&q, id, id);
    query_i64(&q, version, version);
    query_text(&q, description, after->description);
    query_text(&q, data, after->data);
    query_text(&q, json_schema, after->json_schema);
    query_text(&q, ui_schema, after->ui_schema);
    query_text(&q, created_by, c->principal);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* A configuration is administrative: a change is recorded in the audit log, but not in a thread. */
static enum error tell(struct context *c, const struct state_place *place, enum event_kind kind,
    const struct state *before, const struct state *after)
{
    if (!place->is_config)
        return state_tell(c, place, kind, before, after);
    struct str detail = arena_printf(c->arena, "{\"version\":%lld}", (long long)after->version);
    return audit_record(c, "agent.configured", "agent", place->agent_id, detail);
}

enum error state_write(struct context *c, const struct state_place *place,
    const struct state *before, struct state *after)
{
    struct uuid id;
    TRY(state_check_data(c, after));
    TRY(write_row(c, place, before, &id));
    TRY(add_version(c, id, before->last_version + 1, after));
    TRY(find(c, place, after));
    return tell(
        c, place, before->version == 0 ? EVENT_STATE_CREATED : EVENT_STATE_UPDATED, before, after);
}

static enum error run_on(struct context *c, const struct sql_statement *statement, struct uuid id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return query_run(&q);
}

enum error state_delete(
    struct context *c, const struct state_place *place, const struct state *before)
{
    struct query q;
    TRY(run_on(c, &SQL_STATE_DROP_VERSIONS, before->id));
    context_query(c, &q, &SQL_STATE_BURY);
    query_uuid(&q, id, before->id);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return state_tell(c, place, EVENT_STATE_DELETED, before, NULL);
}

enum error state_focus(struct context *c, const struct state_place *place)
{
    struct state state;
    TRY(state_get(c, place, &state));
    return state_tell(c, place, EVENT_STATE_FOCUS, &state, NULL);
}

/* --- Versions ------------------------------------------------------------------------------- */

enum error state_version_get(struct context *c, const struct state_place *place, int64_t version,
    struct state_version *out_version)
{
    struct state state;
    TRY(state_get(c, place, &state));
    struct query q;
    context_query(c, &q, &SQL_STATE_VERSION_GET);
    query_uuid(&q, id, state.id);
    query_i64(&q, version, version);
    bool found;
    TRY(state_version_read_one(&q, &found, out_version));
    if (!found)
        return problem_set(c->problem, ERR_NOT_FOUND,
            "version %lld does not exist; the newest version is %lld", (long long)version,
            (long long)state.version);
    return OK;
}

enum error state_version_list(struct context *c, const struct state_place *place, int64_t before,
    bool with_documents, struct page *page, struct state_version *out_versions)
{
    struct state state;
    TRY(state_get(c, place, &state));
    struct query q;
    page_begin(
        c, &q, with_documents ? &SQL_STATE_VERSION_LIST_WHOLE : &SQL_STATE_VERSION_LIST, page);
    query_uuid(&q, id, state.id);
    query_i64(&q, before, before > 0 ? before : INT64_MAX);
    return state_version_read_page(&q, page, out_versions);
}
