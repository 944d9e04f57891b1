/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/deletions.h"
#include "model/threads/event_index.h"
#include "model/threads/events.h"
#include "model/threads/events.sql.h"
#include "model/threads/threads.h"

enum error event_raise_floor(struct context *c, int64_t id)
{
    struct query q;
    if (tx_is_shared(c->tx)) /* a sequence gives the ids */
        return OK;
    query_begin(&q, c->tx, &SQL_EVENT_RAISE_FLOOR, c->arena);
    query_i64(&q, id, id);
    return query_run(&q);
}

/* A shared store derives it from the threads. */
static enum error mark_tenant(struct context *c, int64_t id)
{
    struct query q;
    if (tx_is_shared(c->tx))
        return OK;
    context_query(c, &q, &SQL_EVENT_MARK_PRUNED_TENANT);
    query_i64(&q, id, id);
    return query_run(&q);
}

enum error event_keep_pruned(struct context *c, struct uuid thread_id)
{
    struct query q;
    if (!tx_is_shared(c->tx))
        return OK;
    context_query(c, &q, &SQL_EVENT_KEEP_PRUNED);
    query_uuid(&q, thread_id, thread_id);
    return query_run(&q);
}

/* Records the pruned positions of the thread, the tenant and the ids before the rows are deleted.
 */
static enum error mark_pruned(
    struct context *c, struct uuid thread_id, int64_t through, int64_t last)
{
    struct query q;
    int64_t max_id;
    context_query(c, &q, &SQL_EVENT_MAX_ID_THROUGH);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, through, through);
    TRY(context_number(&q, &max_id));
    TRY(event_raise_floor(c, max_id));
    TRY(mark_tenant(c, max_id));
    context_query(c, &q, &SQL_EVENT_MARK_PRUNED);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, through, through);
    query_i64(&q, last, last);
    query_i64(&q, id, max_id);
    return query_run(&q);
}

/* Deletes some rows, and the note about garbage when none is left; out_more: others may remain. */
static enum error delete_some(
    struct context *c, const struct slice_part *part, struct uuid thread_id, bool *out_more)
{
    struct slice slice = slice_begin(SLICE_MIN_ROWS);
    struct query q;
    TRY(slice_delete(c, &slice, part, thread_id, out_more));
    if (*out_more)
        return OK;
    context_query(c, &q, &SQL_EVENT_GARBAGE_DROP);
    query_uuid(&q, thread_id, thread_id);
    return query_run(&q);
}

static enum error collect(struct context *c, struct uuid thread_id, bool *out_more)
{
    static const struct slice_part of_thread = {.delete = &SQL_EVENT_DELETE_PRUNED,
        .before = &SQL_EVENT_EMPTY_PRUNED,
        .weigh = &SQL_EVENT_WEIGH_PRUNED};
    static const struct slice_part of_tenant = {.delete = &SQL_EVENT_DELETE_PRUNED_OF_TENANT,
        .before = &SQL_EVENT_UNINDEX_PRUNED_OF_TENANT,
        .weigh = &SQL_EVENT_WEIGH_PRUNED_OF_TENANT};
    return delete_some(c, uuid_is_nil(thread_id) ? &of_tenant : &of_thread, thread_id, out_more);
}

enum error event_clear_some(struct context *c, struct uuid thread_id, bool *out_more)
{
    static const struct slice_part left = {.delete = &SQL_EVENT_DELETE_LEFT,
        .before = &SQL_EVENT_EMPTY_LEFT,
        .weigh = &SQL_EVENT_WEIGH_LEFT};
    TRY(event_index_recent(c));
    return delete_some(c, &left, thread_id, out_more);
}

static enum error add_garbage(struct context *c, struct uuid thread_id, int64_t through)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_GARBAGE_ADD);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, through, through);
    query_i64(&q, lease_now, c->lease_now_us);
    return query_run(&q);
}

/* A store with one writer has published the events at their commit, so some rows are deleted at
 * once. On a shared store each node must be able to read them first. */
static enum error discard(struct context *c, struct uuid thread_id, int64_t through)
{
    bool more;
    TRY(add_garbage(c, thread_id, through));
    return !tx_is_shared(c->tx) ? collect(c, thread_id, &more) : OK;
}

enum error event_discard_tenant(struct context *c, struct uuid tenant_id, int64_t through_id)
{
    struct context theirs = *c;
    context_enter(&theirs, tenant_id);
    enum error e = discard(&theirs, UUID_NIL, through_id);
    context_enter(c, c->tenant_id);
    return e;
}

static const int64_t GARBAGE_KEPT_US = 10 * 1000000;

enum error event_list_garbage(
    struct context *c, size_t limit, struct owned_id *out_garbage, size_t *out_count)
{
    struct query q;
    /* With one writer there is no delay, even if the clock was set back. */
    int64_t before = tx_is_shared(c->tx) ? c->lease_now_us - GARBAGE_KEPT_US : INT64_MAX;
    query_begin(&q, c->tx, &SQL_EVENT_GARBAGE_LIST, c->arena);
    query_i64(&q, lease_now, before);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_garbage, out_count);
}

enum error event_collect_garbage(struct context *c, struct uuid thread_id, bool *out_more)
{
    struct query q;
    int64_t through = 0;
    *out_more = false;
    TRY(context_lock_thread(c, thread_id));
    TRY(event_index_recent(c));
    context_query(c, &q, &SQL_EVENT_GARBAGE_GET);
    query_uuid(&q, thread_id, thread_id);
    TRY(context_number(&q, &through));
    return through > 0 ? collect(c, thread_id, out_more) : OK;
}

enum error event_prune(
    struct context *c, struct uuid thread_id, int64_t through, int64_t *out_pruned)
{
    struct event_bounds bounds;
    const struct event_filter thread = {
        .has_thread_id = true, .thread_id = thread_id, .kind = STR_NONE};
    TRY(context_lock_thread(c, thread_id));
    TRY(event_index_recent(c));
    TRY(event_bounds(c, &thread, &bounds));
    if (through > bounds.last)
        through = bounds.last;
    *out_pruned = 0;
    if (through <= bounds.pruned)
        return OK;
    TRY(mark_pruned(c, thread_id, through, bounds.last));
    TRY(discard(c, thread_id, through));
    *out_pruned = through - bounds.pruned;
    return OK;
}

static enum error time_of(struct context *c, struct uuid thread_id, int64_t seq, int64_t *out_time)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_TIME_OF);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, seq, seq);
    return context_number(&q, out_time);
}

/* Times rise with the seq, as far as the clocks of the nodes agree, and seqs have no gaps: a binary
 * search finds the position. */
enum error event_prune_older(
    struct context *c, struct uuid thread_id, int64_t before_us, int64_t *out_pruned)
{
    struct event_bounds bounds = {0};
    const struct event_filter thread = {
        .has_thread_id = true, .thread_id = thread_id, .kind = STR_NONE};
    TRY(context_lock_thread(c, thread_id));
    TRY(event_index_recent(c));
    enum error e = event_bounds(c, &thread, &bounds);
    int64_t low = bounds.pruned, high = bounds.last;
    while (e == OK && low < high) {
        int64_t middle = low + (high - low + 1) / 2, time = 0;
        e = time_of(c, thread_id, middle, &time);
        if (time < before_us)
            low = middle;
        else
            high = middle - 1;
    }
    return e == OK ? event_prune(c, thread_id, low, out_pruned) : e;
}

enum error event_prune_finished(
    struct context *c, struct uuid thread_id, int64_t keep_from, int64_t *out_pruned)
{
    struct thread thread;
    struct query q;
    int64_t first_kept = 0;
    TRY(thread_get_head(c, thread_id, &thread));
    TRY(event_index_recent(c));
    context_query(c, &q, &SQL_EVENT_FIRST_SEQ_OF_UNFINISHED);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, after, thread.pruned_seq);
    enum error e = context_number(&q, &first_kept);
    if (first_kept == 0 || first_kept > keep_from)
        first_kept = keep_from;
    return e == OK ? event_prune(c, thread_id, first_kept - 1, out_pruned) : e;
}
