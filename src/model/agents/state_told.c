/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/state_told.h"

#include "base/json/json_keys.h"
#include "base/json/json_write.h"
#include "base/jsonschema/json_schema.h"
#include "model/agents/agents.h"
#include "model/agents/states.sql.h"
#include "model/rehearsal.h"
#include "model/threads/events.h"

/* --- The threads that get the event --------------------------------------------------------- */

struct threads {
    struct uuid ids[STATE_TOLD_THREADS];
    size_t count;
};

static enum error list_threads(
    struct context *c, const struct state_place *place, struct threads *out)
{
    out->count = 0;
    if (!uuid_is_nil(place->thread_id)) {
        out->ids[out->count++] = place->thread_id;
        return OK;
    }
    struct query q;
    context_query(c, &q, &SQL_STATE_THREADS);
    query_text(&q, principal, agent_principal(c->arena, place->agent_id));
    query_i64(&q, limit, COUNT_OF(out->ids));
    while (query_next(&q))
        out->ids[out->count++] = row_uuid(&q);
    return query_end(&q);
}

/* The oldest first: all jobs lock several threads in this order. */
enum error state_lock_told(struct context *c, const struct state_place *place)
{
    struct threads threads;
    if (!tx_is_shared(c->tx))
        return OK;
    TRY(list_threads(c, place, &threads));
    for (size_t i = threads.count; i > 0; i--)
        TRY(context_lock_thread(c, threads.ids[i - 1]));
    return OK;
}

/* --- The payload of the event --------------------------------------------------------------- */

static void write_changed(
    struct json_writer *w, const struct state *before, const struct state *after)
{
    const struct {
        const char *name;
        struct str before, after;
    } members[] = {{"description", before->description, after->description},
        {"data", before->data, after->data},
        {"json_schema", before->json_schema, after->json_schema},
        {"ui_schema", before->ui_schema, after->ui_schema}};
    json_write_name(w, "changed");
    json_write_array(w);
    for (size_t i = 0; i < COUNT_OF(members); i++)
        if (str_differs(members[i].before, members[i].after))
            json_write_string(w, str_of(members[i].name));
    json_write_end(w);
}

/* Writes the names of members of `of` that `other` does not have or, unless `missing_alone`, that
 * differ. */
static void write_members(struct json_writer *w, struct arena *arena, struct json of,
    struct json other, bool missing_alone, size_t *told, int64_t *untold)
{
    struct json_iter members = json_iter(of);
    struct json_keys keys;
    struct json key, value, others;
    json_keys_init(&keys, arena, other);
    while (json_next(&members, &key, &value)) {
        struct str name = json_string(arena, key);
        bool has = json_keys_find(&keys, name, &others);
        if (has && (missing_alone || str_eq(json_raw(value), json_raw(others))))
            continue;
        if (*told == STATE_TOLD_MEMBERS || name.len > STATE_TOLD_MEMBER_BYTES) {
            (*untold)++;
            continue;
        }
        json_write_string(w, name);
        (*told)++;
    }
}

/* The names of the changed members, so that a client knows whether to read the document again. */
static enum error write_changed_members(
    struct context *c, struct json_writer *w, const struct state *before, const struct state *after)
{
    struct json_doc old, new;
    struct json_error unused;
    size_t told = 0;
    int64_t untold = 0;
    if (!str_differs(before->data, after->data) || before->version == 0)
        return OK;
    if (!json_parse(c->arena, before->data, &old, &unused) ||
        !json_parse(c->arena, after->data, &new, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    if (json_type(json_root(&old)) != JSON_OBJECT || json_type(json_root(&new)) != JSON_OBJECT)
        return OK;
    json_write_name(w, "changed_members");
    json_write_array(w);
    write_members(w, c->arena, json_root(&new), json_root(&old), false, &told, &untold);
    write_members(w, c->arena, json_root(&old), json_root(&new), true, &told, &untold);
    json_write_end(w);
    if (untold > 0) {
        json_write_name(w, "changed_members_untold");
        json_write_i64(w, untold);
    }
    return OK;
}

static void write_id(struct json_writer *w, const char *name, struct uuid id)
{
    json_write_name(w, name);
    if (uuid_is_nil(id))
        json_write_null(w);
    else
        json_write_uuid(w, id);
}

/* The event never contains the data: a log has more readers than a document, and is kept longer. */
static enum error write_payload(struct context *c, struct json_writer *w,
    const struct state_place *place, const struct state *before, const struct state *after)
{
    enum error e = OK;
    json_write_object(w);
    json_write_name(w, "name");
    json_write_string(w, place->name);
    json_write_name(w, "version");
    json_write_i64(w, after != NULL ? after->version : before->version);
    write_id(w, "agent_id", place->agent_id);
    write_id(w, "thread_id", place->thread_id);
    if (after != NULL) {
        write_changed(w, before, after);
        e = write_changed_members(c, w, before, after);
    }
    json_write_end(w);
    return e;
}

enum error state_tell(struct context *c, const struct state_place *place, enum event_kind kind,
    const struct state *before, const struct state *after)
{
    struct threads threads;
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    enum error e = write_payload(c, &payload.w, place, before, after);
    struct event event = {.kind = event_kind_word(kind),
        .text = arena_printf(c->arena, "state document %.*s", STR_ARG(place->name)),
        .payload = json_text_take(&payload, c->arena)};
    if (e != OK)
        return e;
    TRY(list_threads(c, place, &threads));
    for (size_t i = 0; i < threads.count; i++)
        TRY(event_emit(c, threads.ids[i], &event));
    return OK;
}

/* --- Validation against the schema ---------------------------------------------------------- */

static enum error check_data(struct context *c, const struct state *state)
{
    struct json_doc schema, data;
    struct json_error unused;
    struct json_schema *compiled;
    if (!json_parse(c->arena, state->json_schema, &schema, &unused) ||
        !json_parse(c->arena, state->data, &data, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    TRY(json_schema_compile(
        c->arena, json_root(&schema), STR("/json_schema"), c->problem, &compiled));
    return json_schema_validate(compiled, json_root(&data), STR("/data"), c->problem);
}

enum error state_check_data(struct context *c, const struct state *state)
{
    struct str unused;
    if (str_is_none(state->json_schema) ||
        rehearsal_find(c, REHEARSED_STATE, state->json_schema, state->data, &unused))
        return OK;
    TRY(rehearsal_first(c, state->json_schema.len + state->data.len));
    TRY(check_data(c, state));
    rehearsal_keep(c, REHEARSED_STATE, state->json_schema, state->data, STR(""));
    return OK;
}
