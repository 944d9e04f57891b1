/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes all or the oldest checkpoints, and copies checkpoints to another thread. */
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"
#include "model/checkpoints/checkpoints.sql.h"
#include "model/tenancy/audit.h"
#include "model/threads/events.h"
#include "model/threads/participants.h"

/* The checkpoints that one request removes. */
struct going {
    struct checkpoint *items;
    size_t count;
};

static enum error read_going(struct query *q, struct going *going, bool *out_more)
{
    *out_more = false;
    while (!*out_more && query_next(q)) {
        *out_more = going->count == CHECKPOINT_DELETE_MAX;
        if (*out_more)
            break;
        struct checkpoint *k = &going->items[going->count++];
        k->ns = row_text(q);
        k->id = row_uuid(q);
        k->snapshot_id = row_uuid(q);
    }
    return query_end(q);
}

static enum error run_on(
    struct context *c, const struct sql_statement *statement, const struct checkpoint *k)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, thread_id, k->thread_id);
    query_text(&q, namespace, k->ns);
    query_uuid(&q, id, k->id);
    return query_run(&q);
}

static enum error remove_one(struct context *c, const struct checkpoint *k)
{
    TRY(run_on(c, &SQL_CHECKPOINT_DETACH_CHILDREN, k));
    TRY(run_on(c, &SQL_CHECKPOINT_DELETE_WRITES, k));
    TRY(run_on(c, &SQL_CHECKPOINT_DELETE, k));
    return snapshot_drop(c, k->snapshot_id);
}

static enum error tell(struct context *c, struct uuid thread_id, struct str ns, int64_t count)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_text_member(&payload.w, "namespace", ns);
    json_write_name(&payload.w, "count");
    json_write_i64(&payload.w, count);
    json_write_end(&payload.w);
    struct event event = {.kind = event_kind_word(EVENT_CHECKPOINT_PRUNED),
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, thread_id, &event);
}

static int by_namespace(const void *a, const void *b)
{
    return str_cmp(((const struct checkpoint *)a)->ns, ((const struct checkpoint *)b)->ns);
}

/* One event for each namespace. */
static enum error tell_all(struct context *c, struct uuid thread_id, struct going *going)
{
    size_t first = 0;
    if (going->count > 0)
        qsort(going->items, going->count, sizeof *going->items, by_namespace);
    for (size_t i = 1; i <= going->count; i++) {
        if (i < going->count && str_eq(going->items[i].ns, going->items[first].ns))
            continue;
        TRY(tell(c, thread_id, going->items[first].ns, (int64_t)(i - first)));
        first = i;
    }
    return OK;
}

static enum error remove_all(struct context *c, struct uuid thread_id, struct going *going)
{
    for (size_t i = 0; i < going->count; i++) {
        going->items[i].thread_id = thread_id;
        TRY(remove_one(c, &going->items[i]));
    }
    TRY(tell_all(c, thread_id, going));
    if (going->count == 0)
        return OK;
    return audit_record(c, "checkpoints.pruned", "thread", thread_id,
        arena_printf(c->arena, "{\"count\":%zu}", going->count));
}

enum error checkpoint_delete_all(
    struct context *c, struct uuid thread_id, struct str ns, struct checkpoint_removed *out_removed)
{
    struct going going = {ARENA_ARRAY(c->arena, struct checkpoint, CHECKPOINT_DELETE_MAX), 0};
    struct checkpoint_removed removed = {0};
    struct thread thread;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    context_query(c, &q, &SQL_CHECKPOINT_LIST_TO_DELETE);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, namespace, ns);
    query_i64(&q, limit, CHECKPOINT_DELETE_MAX + 1);
    TRY(read_going(&q, &going, &removed.more));
    TRY(remove_all(c, thread_id, &going));
    removed.count = (int64_t)going.count;
    *out_removed = removed;
    if (removed.more)
        return OK;
    context_query(c, &q, &SQL_CHECKPOINT_DELETE_ALL_WRITES);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, namespace, ns);
    return query_run(&q);
}

enum error checkpoint_prune(struct context *c, struct uuid thread_id,
    const struct checkpoint_prune *prune, struct checkpoint_removed *out_removed)
{
    struct going going = {ARENA_ARRAY(c->arena, struct checkpoint, CHECKPOINT_DELETE_MAX), 0};
    struct checkpoint_removed removed = {0};
    struct thread thread;
    struct query q;
    TRY(thread_get_head(c, thread_id, &thread));
    context_query(c, &q, &SQL_CHECKPOINT_LIST_TO_PRUNE);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, namespace, prune->ns);
    query_i64(&q, keep, prune->keep_latest);
    query_i64_if(&q, older_than, prune->has_older_than, prune->older_than);
    query_i64(&q, limit, CHECKPOINT_DELETE_MAX + 1);
    TRY(read_going(&q, &going, &removed.more));
    TRY(remove_all(c, thread_id, &going));
    removed.count = (int64_t)going.count;
    *out_removed = removed;
    return OK;
}

/* --- Copy ----------------------------------------------------------------------------------- */

static enum error next_to_copy(
    struct context *c, struct uuid from, struct uuid to, bool *out_found, struct checkpoint *out)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_NEXT_TO_COPY);
    query_uuid(&q, thread_id, from);
    query_uuid(&q, to_thread_id, to);
    query_bool(&q, whole, true);
    return checkpoint_read_one(&q, out_found, out);
}

static enum error copy_writes(struct context *c, const struct checkpoint *k, struct uuid to)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_COPY_WRITES);
    query_uuid(&q, thread_id, k->thread_id);
    query_uuid(&q, to_thread_id, to);
    query_text(&q, namespace, k->ns);
    query_uuid(&q, id, k->id);
    return query_run(&q);
}

static enum error copy_one(struct context *c, const struct checkpoint *k, struct uuid to)
{
    struct checkpoint copy = *k, parent;
    struct snapshot snapshot;
    struct str values;
    bool has_parent = false;
    copy.thread_id = to;
    copy.has_run_id = false;
    if (k->has_parent_id)
        TRY(checkpoint_find(c, to, k->ns, k->parent_id, false, &has_parent, &parent));
    TRY(snapshot_get(c, k->snapshot_id, &values));
    TRY(snapshot_put(c, to, has_parent ? parent.snapshot_id : UUID_NIL, values, &snapshot));
    copy.has_parent_id = has_parent;
    copy.snapshot_id = snapshot.id;
    TRY(checkpoint_insert(c, &copy));
    return copy_writes(c, k, to);
}

static enum error tell_copy(struct context *c, struct uuid from, struct uuid to, int64_t count)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    json_write_name(&payload.w, "from_thread_id");
    json_write_uuid(&payload.w, from);
    json_write_name(&payload.w, "count");
    json_write_i64(&payload.w, count);
    json_write_end(&payload.w);
    struct event event = {.kind = event_kind_word(EVENT_CHECKPOINT_COPIED),
        .payload = json_text_take(&payload, c->arena)};
    return count > 0 ? event_emit(c, to, &event) : OK;
}

static enum error check_target(struct context *c, struct uuid from, struct uuid to)
{
    struct thread thread;
    TRY(context_lock_threads(c, from, to));
    TRY(thread_get_head(c, from, &thread));
    enum error e = participant_check_access(c, to, true);
    if (e == OK)
        e = thread_get_head(c, to, &thread);
    if (e != ERR_NOT_FOUND)
        return e;
    c->problem->detail = STR_NONE;
    return problem_fault(c->problem, STR("/to_thread_id"), "must be a thread of this tenant");
}

enum error checkpoint_copy(struct context *c, struct uuid from_thread_id, struct uuid to_thread_id,
    struct checkpoint_removed *out_copied)
{
    struct checkpoint_removed copied = {0};
    int64_t bytes = 0;
    bool found = true;
    TRY(check_target(c, from_thread_id, to_thread_id));
    while (!copied.more) {
        struct arena_mark mark = arena_mark(c->arena);
        struct checkpoint k;
        TRY(next_to_copy(c, from_thread_id, to_thread_id, &found, &k));
        if (!found)
            break;
        copied.more = copied.count == CHECKPOINT_COPY_MAX || bytes > CHECKPOINT_COPY_MAX_BYTES;
        if (copied.more)
            break;
        TRY(copy_one(c, &k, to_thread_id));
        bytes += k.size_bytes;
        copied.count++;
        arena_rewind(c->arena, mark);
    }
    TRY(tell_copy(c, from_thread_id, to_thread_id, copied.count));
    *out_copied = copied;
    return OK;
}
