/* SPDX-License-Identifier: Apache-2.0 */
/* State documents of agents, of threads and of agents within threads; configuration of agents. */
#include "model/agents/states.h"

#include "api/resources.h"
#include "model/agents/agents.h"

#define STATE_FIELD(member) offsetof(struct state, member)
#define DOCUMENT_FIELDS(type)                                                       \
    {.name = "description",                                                         \
        .kind = FIELD_STRING,                                                       \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,                                   \
        .offset = offsetof(type, description),                                      \
        .max = STATE_DESCRIPTION_MAX_BYTES},                                        \
        {.name = "data",                                                            \
            .kind = FIELD_DOCUMENT,                                                 \
            .flags = FIELD_HIDE_NONE,                                               \
            .offset = offsetof(type, data),                                         \
            .max = STATE_DATA_MAX_BYTES,                                            \
            .summary = "an object or an array"},                                    \
        {.name = "json_schema",                                                     \
            .kind = FIELD_OBJECT,                                                   \
            .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,             \
            .offset = offsetof(type, json_schema),                                  \
            .max = STATE_SCHEMA_MAX_BYTES,                                          \
            .summary = "JSON Schema 2020-12, which every write of data satisfies"}, \
    {                                                                               \
        .name = "ui_schema", .kind = FIELD_OBJECT,                                  \
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,                 \
        .offset = offsetof(type, ui_schema), .max = STATE_SCHEMA_MAX_BYTES,         \
        .summary = "how to show it; Cairn only keeps it"                            \
    }

enum { STATE_BODY_FIRST = 3, STATE_BODY_FIELDS = 4 };
static const struct field state_fields[] = {
    {.name = "name", .kind = FIELD_STRING, .flags = FIELD_READ_ONLY, .offset = STATE_FIELD(name)},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = STATE_FIELD(agent_id),
        .has_offset = STATE_FIELD(has_agent_id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = STATE_FIELD(thread_id),
        .has_offset = STATE_FIELD(has_thread_id)},
    DOCUMENT_FIELDS(struct state),
    {.name = "updated_by",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = STATE_FIELD(updated_by),
        .summary = "the principal; null for a key of the whole tenant"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = STATE_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = STATE_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = STATE_FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_state = {
    "State", state_fields, COUNT_OF(state_fields), sizeof(struct state), 0};
const struct schema schema_state_body = {
    "StateBody", &state_fields[STATE_BODY_FIRST], STATE_BODY_FIELDS, sizeof(struct state), 0};
const struct schema schema_state_patch = {
    "StatePatch", &state_fields[STATE_BODY_FIRST], STATE_BODY_FIELDS, sizeof(struct state), 0};

#define VERSION_FIELD(member) offsetof(struct state_version, member)
static const struct field version_fields[] = {
    {.name = "version", .kind = FIELD_INT, .offset = VERSION_FIELD(version)},
    DOCUMENT_FIELDS(struct state_version),
    {.name = "created_by",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(created_by),
        .summary = "the principal; null for a key of the whole tenant"},
    {.name = "created_at", .kind = FIELD_TIME, .offset = VERSION_FIELD(created_at)},
};
const struct schema schema_state_version = {
    "StateVersion", version_fields, COUNT_OF(version_fields), sizeof(struct state_version), 0};

static const char *const includes[] = {"documents", NULL};
struct states_query {
    struct page_query page;
    struct str include;
};
static const struct field states_query_fields[] = {
    PAGE_FIELDS(struct states_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct states_query, include),
        .choices = includes,
        .summary = "documents: data, json_schema and ui_schema too"},
};
const struct schema query_states = {"StatesQuery", states_query_fields,
    COUNT_OF(states_query_fields), sizeof(struct states_query), 0};

/* --- Where ---------------------------------------------------------------------------------- */

/* The path says it all: whose, in which thread, under which name. */
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

static int64_t version_of(const struct call *call)
{
    struct str param;
    for (size_t i = 0; !str_is_none(param = route_param_name(call->route, i)); i++)
        if (str_eq(param, STR("version")))
            return call->request.numbers[i];
    abort(); /* the route has no {version} */
}

/* Configuration is set by the tenant, and read by the agent. */
static enum error check_may_write(struct context *c, const struct state_place *place)
{
    return place->is_config ? agent_allow_tenant(c) : OK;
}

/* --- Reading -------------------------------------------------------------------------------- */

static struct str state_cursor(struct arena *arena, const void *item)
{
    return cursor_from_text(arena, ((const struct state *)item)->name);
}

enum error handle_state_list(struct call *call, struct context *c)
{
    const struct states_query *q = call->request.query;
    struct state_place place = place_of(call);
    place.is_config = false;
    size_t limit = page_limit(&q->page), count;
    struct state *states = ARENA_ARRAY(call->arena, struct state, limit);
    struct state_filter filter = {.with_documents = !str_is_none(q->include)};
    bool more;
    enum error e = cursor_to_text(call, q->page.cursor, &filter.after);
    if (e == OK)
        e = state_list(c, &place, &filter, limit, states, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_state, states, count, more, state_cursor);
    return e;
}

enum error handle_state_get(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state state;
    enum error e = state_get(c, &place, &state);
    if (e == OK)
        call_answer(call, &schema_state, &state, state.version);
    return e;
}

enum error handle_state_version_get(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state_version version;
    enum error e = state_version_get(c, &place, version_of(call), &version);
    if (e == OK)
        call_answer(call, &schema_state_version, &version, 0);
    return e;
}

static struct str version_cursor(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct state_version *)item)->version);
}

enum error handle_state_version_list(struct call *call, struct context *c)
{
    const struct states_query *q = call->request.query;
    const struct state_place place = place_of(call);
    size_t limit = page_limit(&q->page), count;
    struct state_version *versions = ARENA_ARRAY(call->arena, struct state_version, limit);
    int64_t before;
    bool more;
    enum error e = cursor_to_number(call, q->page.cursor, &before);
    if (e == OK)
        e = state_version_list(
            c, &place, before, !str_is_none(q->include), limit, versions, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_state_version, versions, count, more, version_cursor);
    return e;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* A conflict answers with both sides, so that the client can merge without asking again. */
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

/* What is there, if this request may write over it. */
static enum error find_to_write(
    struct call *call, struct context *c, const struct state_place *place, struct state *out_before)
{
    enum error e = check_may_write(c, place);
    if (e == OK)
        e = state_find(c, place, out_before);
    if (e == OK && out_before->version == 0 && !str_eq(call->request.http->method, STR("PUT")))
        e = state_get(c, place, out_before); /* says what is not there */
    if (e == OK)
        e = state_check_match(c, out_before);
    if (e == ERR_STALE)
        tell_both_sides(call, out_before);
    return e;
}

static enum error write_next(struct call *call, struct context *c, const struct state_place *place,
    const struct state *before, struct state *after)
{
    enum error e = state_write(c, place, before, after);
    if (e != OK)
        return e;
    if (before->version == 0)
        call->answer.status = 201;
    call_answer(call, &schema_state, after, after->version);
    return OK;
}

/* What a whole write leaves out stays, so that nobody drops a schema by forgetting it; null
 * removes.
 */
static void keep_left_out(const struct call *call, const struct state *before, struct state *after)
{
    const struct {
        struct str name, before;
        struct str *after;
    } members[] = {{STR("description"), before->description, &after->description},
        {STR("json_schema"), before->json_schema, &after->json_schema},
        {STR("ui_schema"), before->ui_schema, &after->ui_schema}};
    struct json unused;
    for (size_t i = 0; before->version > 0 && i < COUNT_OF(members); i++)
        if (!json_get(json_root(&call->request.doc), members[i].name, &unused))
            *members[i].after = members[i].before;
}

enum error handle_state_put(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before, after = *(const struct state *)call->request.input;
    enum error e = find_to_write(call, c, &place, &before);
    if (e == OK)
        keep_left_out(call, &before, &after);
    return e == OK ? write_next(call, c, &place, &before, &after) : e;
}

enum error handle_state_patch(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before, after;
    enum error e = find_to_write(call, c, &place, &before);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    return e == OK ? write_next(call, c, &place, &before, &after) : e;
}

enum error handle_state_delete(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    struct state before;
    enum error e = find_to_write(call, c, &place, &before);
    if (e == OK)
        e = state_delete(c, &place, &before);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

enum error handle_state_focus(struct call *call, struct context *c)
{
    const struct state_place place = place_of(call);
    enum error e = state_focus(c, &place);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
