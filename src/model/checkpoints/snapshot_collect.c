/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/snapshot_collect.h"

#include "model/checkpoints/items.h"
#include "model/checkpoints/items.sql.h"
#include "model/checkpoints/snapshot_rows.h"
#include "model/checkpoints/snapshots.sql.h"
#include "model/tenancy/deletions.h"

enum {
    ITEMS_A_JOB = 256,
    SNAPSHOTS_A_JOB = 64,
    MANIFEST_BYTES_A_JOB = SNAPSHOT_REMOVE_MAX_BYTES,
    REBASE_BYTES_A_PASS = SNAPSHOT_MAX_BYTES, /* of documents */
};

/* --- Items ---------------------------------------------------------------------------------- */

enum error item_next_doubtful(struct context *c, struct uuid after, struct uuid *out_tenant_id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_ITEM_DOUBTS_FIRST, c->arena);
    query_uuid(&q, after_tenant, after);
    *out_tenant_id = UUID_NIL;
    while (query_next(&q))
        *out_tenant_id = row_uuid(&q);
    return query_end(&q);
}

/* Concatenated hashes of at most ITEMS_A_JOB items. */
struct hashes {
    char *bytes;
    size_t n;
};

static struct hashes hashes_begin(struct context *c)
{
    return (struct hashes){arena_alloc(c->arena, (size_t)ITEMS_A_JOB * SHA256_LEN), 0};
}

static void hashes_add(struct hashes *h, struct str hash)
{
    if (hash.len == SHA256_LEN)
        memcpy(h->bytes + SHA256_LEN * h->n++, hash.ptr, SHA256_LEN);
}

static struct str hashes_text(const struct hashes *h)
{
    return (struct str){h->bytes, h->n * SHA256_LEN};
}

/* Returns the doubtful items of a slice: at least one, and none behind SLICE_MAX_BYTES. */
static enum error read_doubtful(struct context *c, struct str *out_hashes, bool *out_more)
{
    struct query q;
    struct hashes doubtful = hashes_begin(c);
    int64_t bytes = 0;
    context_query(c, &q, &SQL_ITEM_DOUBTS_SLICE);
    query_i64(&q, limit, ITEMS_A_JOB);
    while (doubtful.n < ITEMS_A_JOB && bytes < SLICE_MAX_BYTES && query_next(&q)) {
        hashes_add(&doubtful, row_bytes(&q));
        bytes += row_i64(&q);
    }
    *out_hashes = hashes_text(&doubtful);
    *out_more = doubtful.n == ITEMS_A_JOB || bytes >= SLICE_MAX_BYTES;
    return query_end(&q);
}

static void bind_hashes(struct query *q, struct str hashes)
{
    query_bytes(q, hashes, hashes);
    query_i64(q, count, (int64_t)(hashes.len / SHA256_LEN));
}

static enum error run_on_hashes(
    struct context *c, const struct sql_statement *statement, struct str hashes)
{
    struct query q;
    if (hashes.len == 0)
        return OK;
    context_query(c, &q, statement);
    bind_hashes(&q, hashes);
    return query_run(&q);
}

/* Lock before reading. Items that another transaction is referring to are skipped until the next
 * pass. */
static enum error lock_items(struct context *c, struct str hashes, struct str *out_locked)
{
    struct query q;
    struct hashes locked = hashes_begin(c);
    *out_locked = hashes;
    if (!tx_is_shared(c->tx) || hashes.len == 0)
        return OK;
    context_query(c, &q, &SQL_ITEM_LOCK);
    bind_hashes(&q, hashes);
    while (query_next(&q))
        hashes_add(&locked, row_bytes(&q));
    *out_locked = hashes_text(&locked);
    return query_end(&q);
}

enum error item_settle(struct context *c, bool *out_more)
{
    struct str doubtful, locked = STR("");
    bool is_full = false;
    TRY(read_doubtful(c, &doubtful, &is_full));
    TRY(lock_items(c, doubtful, &locked));
    TRY(run_on_hashes(c, &SQL_ITEM_DELETE_UNUSED, locked));
    TRY(run_on_hashes(c, &SQL_ITEM_DOUBTS_DROP, locked));
    if (locked.len < doubtful.len)
        TRY(run_on_hashes(c, &SQL_ITEM_DOUBTS_DROP_ABSENT, doubtful));
    *out_more = is_full && locked.len == doubtful.len;
    return OK;
}

/* --- Snapshots of threads that are gone ------------------------------------------------------ */

enum error snapshot_first_garbage(
    struct context *c, struct uuid *out_tenant_id, struct uuid *out_thread_id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SNAPSHOT_GARBAGE_FIRST, c->arena);
    *out_tenant_id = *out_thread_id = UUID_NIL;
    while (query_next(&q)) {
        *out_tenant_id = row_uuid(&q);
        *out_thread_id = row_uuid(&q);
    }
    return query_end(&q);
}

static enum error run_on_thread(struct context *c, const struct sql_statement *statement,
    struct uuid thread_id, struct uuid last)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, thread_id, thread_id);
    if (statement_takes(statement, last))
        query_uuid(&q, last, last);
    if (statement_takes(statement, now))
        query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* Removes references of the snapshot until none is left or the slice is over. */
static enum error unrefer_some(struct context *c, struct uuid id, bool *out_more)
{
    const struct slice_part part = {
        .delete = &SQL_ITEM_UNREFER_SOME, .before = &SQL_ITEM_DOUBT_SOME};
    struct slice slice = slice_begin(0);
    return slice_delete(c, &slice, &part, id, out_more);
}

/* The next snapshot of the thread may have more items than fit in one job. */
static enum error unrefer_next(struct context *c, struct uuid thread_id, bool *out_more)
{
    struct query q;
    struct uuid id = UUID_NIL;
    int64_t manifest_bytes = 0;
    *out_more = false;
    context_query(c, &q, &SQL_SNAPSHOT_GARBAGE_NEXT);
    query_uuid(&q, thread_id, thread_id);
    while (query_next(&q)) {
        id = row_uuid(&q);
        manifest_bytes = row_i64(&q);
    }
    TRY(query_end(&q));
    return manifest_bytes > SNAPSHOT_REMOVE_MAX_BYTES ? unrefer_some(c, id, out_more) : OK;
}

enum error snapshot_collect_garbage(struct context *c, struct uuid thread_id, bool *out_more)
{
    struct query q;
    struct uuid last = UUID_NIL;
    TRY(unrefer_next(c, thread_id, out_more));
    if (*out_more)
        return OK;
    context_query(c, &q, &SQL_SNAPSHOT_GARBAGE_SLICE);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, limit, SNAPSHOTS_A_JOB);
    query_i64(&q, max_bytes, MANIFEST_BYTES_A_JOB);
    bool any = query_next(&q);
    if (any)
        last = row_uuid(&q);
    TRY(query_end(&q));
    *out_more = any;
    if (!any)
        return run_on_thread(c, &SQL_SNAPSHOT_GARBAGE_DROP, thread_id, last);
    TRY(run_on_thread(c, &SQL_ITEM_DOUBT_THREAD, thread_id, last));
    return run_on_thread(c, &SQL_SNAPSHOT_GARBAGE_DELETE, thread_id, last);
}

/* --- Leftovers -------------------------------------------------------------------------------- */

enum error snapshot_leftover_add(struct context *c, struct uuid id, int64_t due_us)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_LEFTOVER_ADD);
    query_uuid(&q, id, id);
    query_i64(&q, due, due_us);
    return query_run(&q);
}

enum error snapshot_leftover_renew(
    struct context *c, struct uuid id, int64_t due_us, bool *out_is_gone)
{
    struct query q;
    int64_t renewed = 0;
    context_query(c, &q, &SQL_SNAPSHOT_LEFTOVER_RENEW);
    query_uuid(&q, id, id);
    query_i64(&q, due, due_us);
    query_i64(&q, now, c->lease_now_us);
    TRY(query_run_counted(&q, &renewed));
    *out_is_gone = renewed == 0;
    return OK;
}

enum error snapshot_leftover_adopt(struct context *c, struct uuid id, bool *out_done)
{
    struct query q;
    int64_t taken = 0;
    context_query(c, &q, &SQL_SNAPSHOT_LEFTOVER_TAKE);
    query_uuid(&q, id, id);
    query_i64(&q, now, c->lease_now_us);
    TRY(query_run_counted(&q, &taken));
    *out_done = taken > 0;
    if (taken == 0)
        return OK;
    context_query(c, &q, &SQL_SNAPSHOT_ADOPT);
    query_uuid(&q, id, id);
    query_i64(&q, due, c->now_us + (int64_t)SNAPSHOT_REBASE_DELAY_S * 1000000);
    return query_run(&q);
}

enum error snapshot_list_leftovers(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SNAPSHOT_LEFTOVERS_DUE, c->arena);
    query_i64(&q, now, c->lease_now_us);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_due, out_count);
}

static enum error forget_leftover(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_LEFTOVER_FORGET);
    query_uuid(&q, id, id);
    return query_run(&q);
}

/* If the snapshot is needed after all, it is no leftover. */
enum error snapshot_collect_leftover(struct context *c, struct uuid id, bool *out_more)
{
    struct unneeded found;
    TRY(snapshot_find_unneeded(c, id, &found));
    if (!found.is_found)
        return forget_leftover(c, id);
    TRY(unrefer_some(c, id, out_more));
    if (*out_more)
        return OK;
    TRY(snapshot_delete(c, id));
    return snapshot_remove_unneeded(c, found.base_id);
}

/* --- Snapshots whose base was dropped --------------------------------------------------------- */

enum error snapshot_list_rebase(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SNAPSHOT_REBASE_DUE, c->arena);
    query_i64(&q, now, c->now_us);
    query_i64(&q, limit, (int64_t)limit);
    query_i64(&q, max_bytes, REBASE_BYTES_A_PASS);
    return context_owned_ids(&q, out_due, out_count);
}

static enum error leave(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_LEAVE);
    query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error make_whole(struct context *c, struct arena *arena, struct snapshot_loaded *s)
{
    struct manifest_named named = {.arena = arena};
    struct buf whole CLEANUP(buf_deinit);
    struct query q;
    buf_init(&whole, MANIFEST_MAX_BYTES);
    manifest_write(&s->manifest, &whole, &named);
    TRY(item_refer(c, s->head.id, &named));
    context_query(c, &q, &SQL_SNAPSHOT_MAKE_WHOLE);
    query_uuid(&q, id, s->head.id);
    query_bytes(&q, manifest, buf_str(&whole));
    TRY(query_run(&q));
    return s->has_base ? snapshot_remove_unneeded(c, s->base_id) : OK;
}

enum error snapshot_rebase(struct context *c, struct uuid id)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot head;
    struct snapshot_loaded s;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    enum error e = snapshot_get_head(c, id, &head);
    if (e == OK)
        e = context_lock_thread(c, head.thread_id);
    if (e == OK)
        e = snapshot_load(c, &scratch, id, &s);
    if (e == OK && !s.is_dropped)
        e = make_whole(c, &scratch, &s);
    /* The snapshot was deleted meanwhile, or it is damaged: then it stays with all its bases, so
     * that as much as possible can be recovered. */
    return e == ERR_NOT_FOUND || e == ERR_DAMAGED ? leave(c, id) : e;
}
