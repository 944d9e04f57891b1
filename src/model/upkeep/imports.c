/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/imports.h"

#include "model/agents/agents.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/execution/evals.h"
#include "model/memory/memory_items.h"
#include "model/tenancy/deletions.h"
#include "model/threads/notebooks.h"
#include "model/threads/threads.h"
#include "model/upkeep/imports.sql.h"

ENUM_DEFINE(import_kinds, IMPORT_KINDS);

/* Slices follow each other at once, but a slow database or a full queue may delay one. */
#define LEASE_US (INT64_C(60) * 1000 * 1000)

enum {
    OBJECTS_AT_ONCE = 32,
    RECORDS_A_SLICE = 500,
    RETRY_AFTER_S = 2,
};

/* --- Progress ------------------------------------------------------------------------------- */

static enum error refuse_second(struct context *c, bool is_failed)
{
    c->problem->retry_after_s = RETRY_AFTER_S;
    return problem_set(c->problem, ERR_UNAVAILABLE,
        is_failed ? "an import of this tenant is being undone: try again later"
                  : "another import of this tenant is in progress: try again later");
}

enum error import_begin(struct context *c, struct uuid id)
{
    struct query q;
    bool is_failed = false;
    TRY(context_lock_tenant(c));
    context_query(c, &q, &SQL_IMPORT_UNFINISHED);
    bool found = query_next(&q);
    if (found)
        is_failed = row_bool(&q);
    TRY(query_end(&q));
    if (found)
        return refuse_second(c, is_failed);
    context_query(c, &q, &SQL_IMPORT_INSERT);
    query_uuid(&q, id, id);
    query_i64(&q, lease_expires_at, c->lease_now_us + LEASE_US);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error import_continue(struct context *c, struct uuid id, int64_t *out_committed)
{
    struct query q;
    context_query(c, &q, &SQL_IMPORT_ADVANCE);
    query_uuid(&q, id, id);
    query_i64(&q, lease_expires_at, c->lease_now_us + LEASE_US);
    *out_committed = -1;
    while (query_next(&q))
        *out_committed = row_i64(&q) - 1;
    return query_end(&q);
}

enum error import_record(struct context *c, struct uuid id, const struct import_object *object)
{
    struct query q;
    context_query(c, &q, &SQL_IMPORT_OBJECT_ADD);
    query_uuid(&q, import_id, id);
    import_object_bind(&q, object);
    return query_run(&q);
}

static enum error delete_import(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_IMPORT_DELETE);
    query_uuid(&q, id, id);
    return query_run(&q);
}

/* Deletes some of the records, and with the last one the import. */
static enum error forget(struct context *c, struct uuid id, bool *out_more)
{
    struct query q;
    int64_t n = 0;
    context_query(c, &q, &SQL_IMPORT_OBJECT_DROP_SOME);
    query_uuid(&q, import_id, id);
    query_i64(&q, limit, RECORDS_A_SLICE);
    TRY(query_run_counted(&q, &n));
    *out_more = n == RECORDS_A_SLICE;
    return *out_more ? OK : delete_import(c, id);
}

static enum error set_ended(
    struct context *c, struct uuid id, const struct sql_statement *statement)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error import_complete(struct context *c, struct uuid id)
{
    bool unused;
    TRY(set_ended(c, id, &SQL_IMPORT_SET_COMPLETE));
    return forget(c, id, &unused);
}

/* --- Undoing -------------------------------------------------------------------------------- */

static enum error undo_thread(struct context *c, struct uuid id, bool *out_more)
{
    enum error e = thread_delete_some(c, id, out_more);
    if ((e != OK && e != ERR_NOT_FOUND) || (e == OK && *out_more))
        return e;
    problem_init(c->problem, c->arena);
    /* The same thread can be imported again at once, with the same ids of snapshots. */
    return snapshot_collect_garbage(c, id, out_more);
}

static enum error delete_price(struct context *c, const struct import_object *object)
{
    struct query q;
    context_query(c, &q, &SQL_IMPORT_PRICE_DELETE);
    query_text(&q, name, object->name);
    query_i64(&q, number, object->number);
    return query_run(&q);
}

static enum error delete_object(
    struct context *c, const struct import_object *object, bool *out_more)
{
    switch (object->kind) {
    case IMPORT_THREAD:
        return undo_thread(c, object->id, out_more);
    case IMPORT_AGENT:
        return agent_delete_some(c, object->id, out_more);
    case IMPORT_EVAL:
        return eval_delete(c, object->id);
    case IMPORT_NOTEBOOK:
        return notebook_delete(c, object->id);
    case IMPORT_STORE_ITEM:
        return memory_item_delete(c, object->name, object->key);
    case IMPORT_PRICE:
    case IMPORT_KIND_NONE:
        break;
    }
    return delete_price(c, object);
}

/* The tenant may have deleted the object meanwhile. An agent that participates in another thread
 * stays. */
static enum error undo_object(
    struct context *c, struct uuid import_id, const struct import_object *object, bool *out_more)
{
    *out_more = false;
    enum error e = delete_object(c, object, out_more);
    if (e == ERR_NOT_FOUND || (e == ERR_CONFLICT && object->kind == IMPORT_AGENT)) {
        problem_init(c->problem, c->arena);
        e = OK;
    }
    if (e != OK || *out_more)
        return e;
    struct query q;
    context_query(c, &q, &SQL_IMPORT_OBJECT_DROP);
    query_uuid(&q, import_id, import_id);
    import_object_bind(&q, object);
    return query_run(&q);
}

static enum error list_objects(struct context *c, struct uuid id, enum import_kind kind,
    struct import_object *out, size_t *out_count)
{
    struct query q;
    context_query(c, &q, &SQL_IMPORT_OBJECT_LIST);
    query_uuid(&q, import_id, id);
    query_text(&q, kind, import_kind_word(kind));
    query_i64(&q, limit, OBJECTS_AT_ONCE);
    for (*out_count = 0; query_next(&q); ++*out_count)
        import_object_read(&q, &out[*out_count]);
    return query_end(&q);
}

/* Undoes objects of the kind until there are no more, or the time is over. */
static enum error undo_kind(
    struct context *c, struct uuid id, enum import_kind kind, struct slice *s, bool *out_more)
{
    struct import_object objects[OBJECTS_AT_ONCE];
    size_t n = OBJECTS_AT_ONCE;
    *out_more = false;
    while (n == OBJECTS_AT_ONCE) {
        TRY(list_objects(c, id, kind, objects, &n));
        for (size_t i = 0; i < n; i++) {
            TRY(undo_object(c, id, &objects[i], out_more));
            *out_more = *out_more || slice_is_over(s);
            if (*out_more)
                return OK;
        }
    }
    return OK;
}

static enum error undo(struct context *c, struct uuid id, bool *out_more)
{
    struct slice slice = slice_begin(0);
    for (unsigned kind = IMPORT_KIND_NONE + 1; import_kinds[kind - 1] != NULL; kind++) {
        TRY(undo_kind(c, id, (enum import_kind)kind, &slice, out_more));
        if (*out_more)
            return OK;
    }
    return delete_import(c, id);
}

enum error import_fail(struct context *c, struct uuid id)
{
    return set_ended(c, id, &SQL_IMPORT_SET_FAILED);
}

/* --- The sweep ------------------------------------------------------------------------------ */

enum error import_list_due(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_IMPORT_LIST_DUE, c->arena);
    query_i64(&q, now, c->lease_now_us);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_due, out_count);
}

enum error import_sweep(struct context *c, struct uuid id, bool *out_more)
{
    struct query q;
    bool is_complete = false, has_failed = false;
    *out_more = false;
    context_query(c, &q, &SQL_IMPORT_LOCK);
    query_uuid(&q, id, id);
    query_i64(&q, now, c->lease_now_us);
    if (query_next(&q)) {
        is_complete = row_bool(&q);
        has_failed = row_bool(&q);
    }
    TRY(query_end(&q));
    if (is_complete)
        return forget(c, id, out_more);
    if (!has_failed)
        return OK;
    TRY(import_fail(c, id));
    return undo(c, id, out_more);
}

enum error import_is_adding(struct context *c, struct uuid tenant_id, bool *out_is)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_IMPORT_UNFINISHED, c->arena);
    query_uuid(&q, tenant_id, tenant_id);
    *out_is = query_next(&q) && !row_bool(&q);
    return query_end(&q);
}

enum error import_fail_all(struct context *c)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_IMPORT_FAIL_ALL, c->arena);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}
