/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/thread_copy.h"

#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/threads/events.h"
#include "model/threads/thread_copy.sql.h"
#include "model/threads/threads.h"

/* The objects that are copied row by row, with new ids. */
struct part {
    const char *name;
    const struct sql_statement *list;
    const struct sql_statement *copy[2];
};

static const struct part PARTS[] = {
    {"messages", &SQL_COPY_LIST_MESSAGES, {&SQL_COPY_MESSAGE}},
    {"files", &SQL_COPY_LIST_FILES, {&SQL_COPY_FILE, &SQL_COPY_FILE_VERSION}},
    {"state documents", &SQL_COPY_LIST_STATES, {&SQL_COPY_STATE, &SQL_COPY_STATE_VERSION}},
};

static enum error list(struct context *c, const struct part *part, struct uuid source_id,
    struct uuid **out_ids, size_t *out_count)
{
    struct uuid *ids = ARENA_ARRAY(c->arena, struct uuid, THREAD_COPY_MAX + 1);
    struct query q;
    size_t n = 0;
    context_query(c, &q, part->list);
    query_uuid(&q, source_id, source_id);
    query_i64(&q, limit, THREAD_COPY_MAX + 1);
    while (query_next(&q))
        ids[n++] = row_uuid(&q);
    TRY(query_end(&q));
    *out_ids = ids;
    *out_count = n;
    return n > THREAD_COPY_MAX ? problem_set(c->problem, ERR_CONFLICT,
                                     "the thread has more than %d %s, the maximum for a copy",
                                     THREAD_COPY_MAX, part->name)
                               : OK;
}

/* The event_id of a copied message: an id that no event has. */
struct event_number {
    bool has_id;
    int64_t id;
};

static enum error take_number(
    struct context *c, const struct part *part, struct event_number *out_number)
{
    *out_number = (struct event_number){0};
    if (!statement_takes(part->copy[0], event_id))
        return OK;
    TRY(event_take_id(c, &out_number->has_id, &out_number->id));
    return out_number->has_id ? event_raise_floor(c, out_number->id) : OK;
}

static enum error copy_row(struct context *c, const struct sql_statement *statement,
    struct uuid source_id, struct uuid thread_id, struct uuid id, struct uuid new_id,
    const struct event_number *event)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    query_uuid(&q, new_id, new_id);
    if (statement_takes(statement, source_id))
        query_uuid(&q, source_id, source_id);
    if (statement_takes(statement, thread_id))
        query_uuid(&q, thread_id, thread_id);
    if (statement_takes(statement, principal))
        query_text(&q, principal, c->principal);
    if (statement_takes(statement, now))
        query_i64(&q, now, c->now_us);
    if (statement_takes(statement, event_id))
        query_i64_if(&q, event_id, event->has_id, event->id);
    return query_run(&q);
}

static enum error copy_part(
    struct context *c, const struct part *part, struct uuid source_id, struct uuid thread_id)
{
    struct uuid *ids;
    size_t n = 0;
    TRY(list(c, part, source_id, &ids, &n));
    for (size_t i = 0; i < n; i++) {
        struct uuid new_id = uuid_v7();
        struct event_number event;
        TRY(take_number(c, part, &event));
        for (size_t k = 0; k < COUNT_OF(part->copy) && part->copy[k] != NULL; k++)
            TRY(copy_row(c, part->copy[k], source_id, thread_id, ids[i], new_id, &event));
    }
    return OK;
}

/* Messages may refer to deleted files. */
static enum error copy_ends(struct context *c, struct uuid source_id, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, &SQL_COPY_FILE_ENDS);
    query_uuid(&q, source_id, source_id);
    query_uuid(&q, thread_id, thread_id);
    return query_run(&q);
}

/* Adds the id of the source to the metadata, so that copies can be found by it. */
static enum error add_origin(struct context *c, struct str metadata, struct uuid source_id,
    struct uuid share_id, struct str *out_metadata)
{
    struct json_doc before, patch;
    struct json_error unused;
    struct json_patch_error refused;
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    json_write_name(&text.w, "copied_from");
    json_write_uuid(&text.w, source_id);
    json_write_name(&text.w, "copied_by_share");
    json_write_uuid(&text.w, share_id);
    json_write_end(&text.w);
    if (json_parse(c->arena, metadata, &before, &unused) &&
        json_parse(c->arena, json_text_take(&text, c->arena), &patch, &unused) &&
        json_merge_patch(c->arena, json_root(&before), json_root(&patch), THREAD_METADATA_MAX_BYTES,
            out_metadata, &refused))
        return OK;
    return problem_set(c->problem, ERR_CONFLICT,
        "the metadata of the thread is too large to add the origin of the copy");
}

enum error thread_copy(
    struct context *c, struct uuid source_id, struct uuid share_id, struct uuid *out_id)
{
    struct thread copy;
    TRY(thread_get(c, source_id, &copy));
    copy.key = STR_NONE;
    copy.status = THREAD_ACTIVE;
    copy.error = STR_NONE;
    TRY(add_origin(c, copy.metadata, source_id, share_id, &copy.metadata));
    TRY(thread_create(c, &copy));
    for (size_t i = 0; i < COUNT_OF(PARTS); i++)
        TRY(copy_part(c, &PARTS[i], source_id, copy.id));
    TRY(copy_ends(c, source_id, copy.id));
    *out_id = copy.id;
    return OK;
}
