/* SPDX-License-Identifier: Apache-2.0 */
/* State documents of agents, of threads and of agents within threads; configuration of agents. */
#include "model/agents/states.h"

#include "api/handlers.h"
#include "model/agents/agents.h"

/* The members of a document and of each of its versions. */
#define DOCUMENT_FIELDS(in)                                                             \
    FIELD(STRING_OR_NULL, description, in, .max = STATE_DESCRIPTION_MAX_BYTES),         \
        FIELD(DOCUMENT, data, in, "an object or an array", .max = STATE_DATA_MAX_BYTES, \
            .hide_none = true),                                                         \
        FIELD(OBJECT_OR_NULL, json_schema, in,                                          \
            "JSON Schema 2020-12 that every write of data must satisfy",                \
            .max = STATE_SCHEMA_MAX_BYTES, .hide_none = true),                          \
        FIELD(OBJECT_OR_NULL, ui_schema, in,                                            \
            "hints for displaying the document; Cairn does not interpret them",         \
            .max = STATE_SCHEMA_MAX_BYTES, .hide_none = true)

#define OF struct state
static const struct field state_fields[] = {
    FIELD(STRING, name, IN_READ),
    FIELD(UUID_OR_NULL, agent_id, IN_READ),
    FIELD(UUID_OR_NULL, thread_id, IN_READ),
    DOCUMENT_FIELDS(IN_BODY | IN_READ),
    FIELD(STRING_OR_NULL, updated_by, IN_READ,
        "principal of the request; null for a key of the whole tenant"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_state = SCHEMA("State", struct state, state_fields, IN_READ);
const struct schema schema_state_body = SCHEMA("StateBody", struct state, state_fields, IN_BODY);
const struct schema schema_state_patch = SCHEMA("StatePatch", struct state, state_fields, IN_BODY);

#define OF struct state_version
static const struct field version_fields[] = {
    FIELD(INT, version, IN_READ),
    DOCUMENT_FIELDS(IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ,
        "principal of the request; null for a key of the whole tenant"),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
const struct schema schema_state_version =
    SCHEMA("StateVersion", struct state_version, version_fields, IN_READ);

struct states_query {
    struct page_query page;
    enum include include;
};
#define OF struct states_query
static const struct field states_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "documents: include data, json_schema and ui_schema",
        .choices = include_documents),
};
#undef OF
const struct schema query_states =
    SCHEMA("StatesQuery", struct states_query, states_query_fields, IN_QUERY);

/* --- Places -------------------------------------------------------------------------------- */

/* The path names the agent, the thread and the document. */
static struct state_place place_of(const struct call *call)
{
    struct state_place place = {.is_config = true, .name = STR("config")};
    struct str param;
    for (size_t i = 0; !str_is_none(param = route_param_name(call->route, i)); i++) {
        if (str_eq(param, STR("agent_id")))
            place.agent_id = call->request.params[i];
        else if (str_eq(param, STR("thread_id")))
            place.thread_id = call->request.params[i];
        else if (str_eq(param, STR("name"))) {
            place.name = call->request.texts[i];
            place.is_config = false;
        }
    }
    return place;
}

/* The tenant writes the configuration, and the agent reads it. */
static enum error check_may_write(struct context *c, const struct state_place *place)
{
    return place->is_config ? agent_allow_tenant(c) : OK;
}

/* --- Reading ------------------------------------------------------------------------------- */

enum error handle_state_list(struct call *call, struct context *c)
{
    const struct states_query *q = call->request.query;
    struct state_place place = place_of(call);
    place.is_config = false;
    struct page page = page_of(&q->page);
    struct state *states = ARENA_ARRAY(call->arena, struct state, page.limit);
    struct state_filter filter = {.with_documents = q->include != INCLUDE_NONE};
    TRY(cursor_to_text(call, q->page.cursor, &filter.after));
    TRY(state_list(c, &place, &filter, &page, states));
    return call_answer_page(call, &schema_state, states, &page, CURSOR_BY(struct state, name));
}

enum error handle_state_get(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state state;
    TRY(state_get(c, &place, &state));
    return call_answer(call, &schema_state, &state, state.version);
}

enum error handle_state_version_get(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state_version version;
    TRY(state_version_get(c, &place, call->request.numbers[call_param(call, "version")], &version));
    return call_answer(call, &schema_state_version, &version, 0);
}

enum error handle_state_version_list(struct call *call, struct context *c)
{
    const struct states_query *q = call->request.query;
    const struct state_place place = place_of(call);
    struct page page = page_of(&q->page);
    struct state_version *versions = ARENA_ARRAY(call->arena, struct state_version, page.limit);
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(state_version_list(c, &place, before, q->include != INCLUDE_NONE, &page, versions));
    return call_answer_page(
        call, &schema_state_version, versions, &page, CURSOR_BY(struct state_version, version));
}

/* --- Writing ------------------------------------------------------------------------------- */

/* The answer to a conflict has both documents, so that the client can merge them without another
 * request. */
static void tell_both_sides(struct call *call, const struct state *current)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_object(&text.w);
    json_write_name(&text.w, "current_version");
    if (current->version > 0) {
        json_write_i64(&text.w, current->version);
        json_write_name(&text.w, "current");
        schema_encode(&text.w, &schema_state, current);
    } else {
        json_write_null(&text.w);
        json_write_name(&text.w, "current");
        json_write_null(&text.w);
    }
    if (call->request.body.len > 0) {
        json_write_name(&text.w, "yours");
        json_write_value(&text.w, json_root(&call->request.doc));
    }
    json_write_end(&text.w);
    call->problem.extension = json_text_take(&text, call->arena);
}

/* Finds the current document, if this request may replace it. */
static enum error find_to_write(
    struct call *call, struct context *c, const struct state_place *place, struct state *out_before)
{
    enum error e = check_may_write(c, place);
    if (e == OK)
        e = state_find(c, place, out_before);
    if (e == OK && out_before->version == 0 && !str_eq(call->request.http->method, STR("PUT")))
        e = state_get(c, place, out_before); /* reports what is missing */
    if (e == OK)
        e = state_check_match(c, out_before);
    if (e == ERR_STALE)
        tell_both_sides(call, out_before);
    return e;
}

static enum error write_next(struct call *call, struct context *c, const struct state_place *place,
    const struct state *before, struct state *after)
{
    TRY(state_write(c, place, before, after));
    if (before->version == 0)
        call->answer.status = 201;
    return call_answer(call, &schema_state, after, after->version);
}

enum error handle_state_put(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before, after = *(const struct state *)call->request.input;
    TRY(find_to_write(call, c, &place, &before));
    /* A member that the body leaves out stays, so that no client drops a schema by mistake; null
     * removes it. */
    if (before.version > 0)
        schema_keep_absent(call->route->body, &call->request.given, &before, &after);
    return write_next(call, c, &place, &before, &after);
}

enum error handle_state_patch(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before, after;
    TRY(find_to_write(call, c, &place, &before));
    TRY(call_apply_patch(call, &before, &after));
    return write_next(call, c, &place, &before, &after);
}

enum error handle_state_delete(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before;
    TRY(find_to_write(call, c, &place, &before));
    TRY(state_delete(c, &place, &before));
    return call_answer_nothing(call);
}

enum error handle_state_focus(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    TRY(state_focus(c, &place));
    return call_answer_nothing(call);
}
