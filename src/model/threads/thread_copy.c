/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/thread_copy.h"

#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/tenancy/deletions.h"
#include "model/threads/events.h"
#include "model/threads/thread_copy.sql.h"
#include "model/threads/threads.h"

/* The objects that are copied row by row, with new ids. */
struct part {
    const char *name;
    const struct sql_statement *list; /* the bytes of each object of the source */
    const struct sql_statement *next; /* the objects that the copy does not have yet */
    const struct sql_statement *copy[2];
};

static const struct part PARTS[] = {
    {"messages", &SQL_COPY_LIST_MESSAGES, &SQL_COPY_NEXT_MESSAGES, {&SQL_COPY_MESSAGE}},
    {"files", &SQL_COPY_LIST_FILES, &SQL_COPY_NEXT_FILES, {&SQL_COPY_FILE, &SQL_COPY_FILE_VERSION}},
    {"state documents", &SQL_COPY_LIST_STATES, &SQL_COPY_NEXT_STATES,
        {&SQL_COPY_STATE, &SQL_COPY_STATE_VERSION}},
};

enum { CHUNK_ROWS = 128 };

static enum error refuse_count(struct context *c, const char *what)
{
    return problem_set(c->problem, ERR_CONFLICT,
        "the thread has more than %d %s, the maximum for a copy: export and import it",
        THREAD_COPY_MAX, what);
}

static enum error check_size(struct context *c, const struct part *part, struct uuid source_id)
{
    struct query q;
    size_t n = 0;
    int64_t n_bytes = 0;
    context_query(c, &q, part->list);
    query_uuid(&q, source_id, source_id);
    query_i64(&q, limit, THREAD_COPY_MAX + 1);
    for (; n_bytes <= THREAD_COPY_MAX_BYTES && query_next(&q); n++)
        n_bytes += row_i64(&q);
    TRY(query_end(&q));
    if (n > THREAD_COPY_MAX)
        return refuse_count(c, part->name);
    if (n_bytes > THREAD_COPY_MAX_BYTES)
        return problem_set(c->problem, ERR_CONFLICT,
            "the %s of the thread have more than %d bytes, the maximum for a copy: export and"
            " import it",
            part->name, THREAD_COPY_MAX_BYTES);
    return OK;
}

static enum error check_ends(struct context *c, struct uuid source_id)
{
    struct query q;
    size_t n = 0;
    context_query(c, &q, &SQL_COPY_LIST_ENDS);
    query_uuid(&q, source_id, source_id);
    query_i64(&q, limit, THREAD_COPY_MAX + 1);
    while (query_next(&q))
        n++;
    TRY(query_end(&q));
    return n > THREAD_COPY_MAX ? refuse_count(c, "deleted files") : OK;
}

/* --- Rows ------------------------------------------------------------------------------------ */

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

static enum error copy_object(struct context *c, const struct part *part, struct uuid source_id,
    struct uuid thread_id, struct uuid id)
{
    struct uuid new_id = uuid_v7();
    struct event_number event;
    TRY(take_number(c, part, &event));
    for (size_t k = 0; k < COUNT_OF(part->copy) && part->copy[k] != NULL; k++)
        TRY(copy_row(c, part->copy[k], source_id, thread_id, id, new_id, &event));
    return OK;
}

static enum error next_objects(struct context *c, const struct part *part, struct uuid source_id,
    const struct thread_copying *copying, struct slice *slice, struct uuid *out_ids,
    size_t *out_count)
{
    struct query q;
    context_query(c, &q, part->next);
    query_uuid(&q, source_id, source_id);
    query_uuid(&q, thread_id, copying->id);
    if (statement_takes(part->next, last))
        query_i64(&q, last, copying->last_seq);
    query_i64(&q, limit, CHUNK_ROWS);
    for (*out_count = 0; slice->bytes_left > 0 && *out_count < CHUNK_ROWS && query_next(&q);) {
        out_ids[(*out_count)++] = row_uuid(&q);
        slice->bytes_left -= row_i64(&q);
        slice->rows_left--;
    }
    return query_end(&q);
}

/* out_more: the slice is over, and objects may remain. */
static enum error copy_part(struct context *c, const struct part *part, struct uuid source_id,
    const struct thread_copying *copying, struct slice *slice, bool *out_more)
{
    struct uuid ids[CHUNK_ROWS];
    size_t n = 1;
    *out_more = false;
    while (n > 0 && !*out_more) {
        TRY(next_objects(c, part, source_id, copying, slice, ids, &n));
        for (size_t i = 0; i < n; i++)
            TRY(copy_object(c, part, source_id, copying->id, ids[i]));
        *out_more = n > 0 && slice_is_over(slice); /* a slice that copied nothing is the last */
    }
    return OK;
}

static enum error run_on_copy(struct context *c, const struct sql_statement *statement,
    struct uuid source_id, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, thread_id, thread_id);
    if (statement_takes(statement, source_id))
        query_uuid(&q, source_id, source_id);
    if (statement_takes(statement, principal))
        query_text(&q, principal, c->principal);
    return query_run(&q);
}

/* --- The copy -------------------------------------------------------------------------------- */

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

static enum error begin(struct context *c, struct uuid source_id, struct uuid share_id,
    struct thread_copying *out_copying)
{
    struct thread copy;
    TRY(thread_get(c, source_id, &copy));
    for (size_t i = 0; i < COUNT_OF(PARTS); i++)
        TRY(check_size(c, &PARTS[i], source_id));
    TRY(check_ends(c, source_id));
    copy.key = STR_NONE;
    copy.status = THREAD_ACTIVE;
    copy.error = STR_NONE;
    TRY(add_origin(c, copy.metadata, source_id, share_id, &copy.metadata));
    out_copying->last_seq = copy.last_seq;
    TRY(thread_create(c, &copy));
    out_copying->id = copy.id;
    return OK;
}

static enum error resume(struct context *c, const struct thread_copying *copying)
{
    bool can_end = false;
    TRY(context_lock_thread(c, copying->id));
    TRY(deletion_can_be_ended(c, copying->id, &can_end));
    if (can_end)
        return OK;
    return problem_set(c->problem, ERR_UNAVAILABLE,
        "the copy was deleted, because a part of it took too long: redeem the share again");
}

static enum error copy_some(
    struct context *c, struct uuid source_id, const struct thread_copying *copying, bool *out_more)
{
    struct slice slice = slice_begin(0);
    slice.rows_left = THREAD_COPY_SLICE_ROWS;
    slice.bytes_left = THREAD_COPY_SLICE_BYTES;
    *out_more = false;
    for (size_t i = 0; i < COUNT_OF(PARTS) && !*out_more; i++)
        TRY(copy_part(c, &PARTS[i], source_id, copying, &slice, out_more));
    return OK;
}

enum error thread_copy(struct context *c, struct uuid source_id, struct uuid share_id,
    struct thread_copying *copying, bool *out_more)
{
    TRY(copying->is_begun ? resume(c, copying) : begin(c, source_id, share_id, copying));
    TRY(copy_some(c, source_id, copying, out_more));
    if (*out_more && !copying->is_begun && !str_is_none(c->principal))
        TRY(run_on_copy(c, &SQL_COPY_HIDE, source_id, copying->id));
    if (*out_more)
        return deletion_note(c, copying->id);
    TRY(run_on_copy(c, &SQL_COPY_FILE_ENDS, source_id, copying->id));
    if (!copying->is_begun)
        return OK;
    TRY(deletion_end(c, copying->id));
    return str_is_none(c->principal) ? OK : run_on_copy(c, &SQL_COPY_SHOW, source_id, copying->id);
}
