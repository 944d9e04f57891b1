/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/event_index.h"

#include "base/log.h"
#include "model/threads/events.h"
#include "model/threads/events.sql.h"

const struct sequence event_ids = {.load = &SQL_EVENT_LAST_ID};
static const struct sequence INDEXED = {.load = &SQL_EVENT_LAST_INDEXED};
/* The key is not nil, because dropping the nil key means all counters of a tenant. */
static const struct sequence RECENT_BYTES = {
    .load = &SQL_EVENT_RECENT_BYTES, .key = {.bytes = {1}}};

static enum error last_of(struct context *c, const struct sequence *sequence, int64_t *out_last)
{
    uint64_t next;
    TRY(tx_sequence_take(c->tx, sequence, 0, &next));
    *out_last = (int64_t)next - 1;
    return OK;
}

static enum error insert(
    struct context *c, const struct sql_statement *statement, int64_t after, int64_t through)
{
    struct query q;
    query_begin(&q, c->tx, statement, c->arena);
    query_i64(&q, after, after);
    query_i64(&q, through, through);
    return query_run(&q);
}

/* The counters exclude two events of a thread with the same seq, unless the file is damaged. Then
 * the later one is missing in the log of its thread, and `cairn check` reports it: to stop would
 * stop all tenants, and again after each start. */
static enum error insert_damaged(struct context *c, int64_t after, int64_t through)
{
    tx_note_damage(c->tx);
    LOG(LOG_ERROR, "two events of a thread have the same seq: run cairn check");
    return insert(c, &SQL_EVENT_INDEX_ADD_UNDAMAGED, after, through);
}

/* The counters are moved before the row, from which they may be loaded. */
static enum error mark(struct context *c, int64_t after, int64_t through)
{
    struct query q;
    uint64_t unused;
    int64_t changed;
    TRY(tx_sequence_take(c->tx, &INDEXED, (uint64_t)(through - after), &unused));
    tx_sequence_drop(c->tx, &RECENT_BYTES);
    query_begin(&q, c->tx, &SQL_EVENT_INDEX_MARK, c->arena);
    query_i64(&q, after, after);
    query_i64(&q, through, through);
    TRY(query_run_counted(&q, &changed));
    assert(changed == 1);
    tx_sequence_settle(c->tx);
    return OK;
}

static enum error add(struct context *c, int64_t after, int64_t through)
{
    enum error e = insert(c, &SQL_EVENT_INDEX_ADD, after, through);
    if (e == ERR_CONFLICT)
        e = insert_damaged(c, after, through);
    return e == OK ? mark(c, after, through) : e;
}

enum error event_index_recent(struct context *c)
{
    int64_t last, indexed;
    if (tx_is_shared(c->tx))
        return OK;
    TRY(last_of(c, &event_ids, &last));
    TRY(last_of(c, &INDEXED, &indexed));
    return last > indexed ? add(c, indexed, last) : OK;
}

enum error event_index_if_due(struct context *c, int64_t last_id, uint64_t size_bytes)
{
    int64_t indexed;
    uint64_t bytes_before;
    if (tx_is_shared(c->tx))
        return OK;
    TRY(tx_sequence_take(c->tx, &RECENT_BYTES, size_bytes, &bytes_before));
    TRY(last_of(c, &INDEXED, &indexed));
    bool is_due =
        last_id - indexed >= EVENT_RECENT_MAX || bytes_before + size_bytes > EVENT_RECENT_MAX_BYTES;
    return is_due && last_id > indexed ? add(c, indexed, last_id) : OK;
}

/* The writer has counted them. */
static enum error add_counted(struct context *c, struct thread *threads, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t next;
        TRY(event_next_seq(c, threads[i].id, &next));
        threads[i].last_seq = next - 1;
    }
    return OK;
}

enum error event_add_recent(struct context *c, struct thread *threads, size_t n)
{
    struct query q;
    if (n == 0 || tx_engine(c->tx) == ENGINE_POSTGRES)
        return OK;
    if (tx_may_write(c->tx))
        return add_counted(c, threads, n);
    context_query(c, &q, &SQL_EVENT_RECENT_SEQS);
    query_uuid_if(&q, thread_id, n == 1, threads[0].id);
    while (query_next(&q)) {
        struct uuid id = row_uuid(&q);
        int64_t seq = row_i64(&q);
        for (size_t i = 0; i < n; i++)
            if (uuid_eq(threads[i].id, id) && seq > threads[i].last_seq)
                threads[i].last_seq = seq;
    }
    return query_end(&q);
}
