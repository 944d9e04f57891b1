/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/event_index.h"

#include "model/threads/events.h"
#include "model/threads/events.sql.h"

const struct sequence event_ids = {.load = &SQL_EVENT_LAST_ID};
static const struct sequence INDEXED = {.load = &SQL_EVENT_LAST_INDEXED};

static enum error last_of(struct context *c, const struct sequence *sequence, int64_t *out_last)
{
    uint64_t next;
    TRY(tx_sequence_take(c->tx, sequence, 0, &next));
    *out_last = (int64_t)next - 1;
    return OK;
}

static enum error add(struct context *c, int64_t after, int64_t through)
{
    struct query q;
    uint64_t unused;
    query_begin(&q, c->tx, &SQL_EVENT_INDEX_ADD, c->arena);
    query_i64(&q, after, after);
    query_i64(&q, through, through);
    enum error e = query_run(&q);
    if (e == ERR_CONFLICT)
        return tx_break(c->tx, "two events of a thread have the same number");
    if (e != OK)
        return e;
    query_begin(&q, c->tx, &SQL_EVENT_INDEX_MARK, c->arena);
    query_i64(&q, through, through);
    TRY(query_run(&q));
    TRY(tx_sequence_take(c->tx, &INDEXED, (uint64_t)(through - after), &unused));
    tx_sequence_settle(c->tx);
    return OK;
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

enum error event_index_if_due(struct context *c, int64_t last_id)
{
    int64_t indexed;
    if (tx_is_shared(c->tx))
        return OK;
    TRY(last_of(c, &INDEXED, &indexed));
    return last_id - indexed >= EVENT_RECENT_MAX ? add(c, indexed, last_id) : OK;
}

enum error event_index_is_behind(struct context *c, bool *out_is)
{
    struct query q;
    *out_is = false;
    if (tx_is_shared(c->tx))
        return OK;
    query_begin(&q, c->tx, &SQL_EVENT_INDEX_IS_BEHIND, c->arena);
    while (query_next(&q))
        *out_is = row_bool(&q);
    return query_end(&q);
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
    if (n == 0 || tx_is_shared(c->tx))
        return OK;
    if (tx_may_write(c->tx))
        return add_counted(c, threads, n);
    context_query(c, &q, &SQL_EVENT_RECENT_SEQS);
    query_uuid_if(&q, thread_id, n == 1, threads[0].id);
    while (query_next(&q)) {
        struct uuid id = row_uuid(&q);
        int64_t seq = row_i64(&q);
        for (size_t i = 0; i < n; i++)
            if (uuid_eq(threads[i].id, id))
                threads[i].last_seq = seq;
    }
    return query_end(&q);
}
