/* SPDX-License-Identifier: Apache-2.0 */
#include "model/files/blob_doubts.h"

#include "model/files/blob_doubts.sql.h"

enum error blob_doubt(struct context *c, struct uuid blob_id)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_DOUBT);
    query_uuid(&q, blob_id, blob_id);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}

enum error blob_doubt_version(struct context *c, struct uuid file_id, int64_t version)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_DOUBT_VERSION);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, version, version);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}

enum error blob_doubt_file(struct context *c, struct uuid file_id)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_DOUBT_FILE);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}

enum error blob_doubt_some(struct context *c, struct uuid file_id, int64_t limit)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_DOUBT_SOME);
    query_uuid(&q, file_id, file_id);
    query_i64(&q, limit, limit);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}

enum error blob_doubt_thread(struct context *c, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, &SQL_BLOB_DOUBT_THREAD);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}

enum error blob_list_doubtful(
    struct context *c, size_t limit, struct owned_id *out_notes, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_BLOB_DOUBTS_LIST, c->arena);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_notes, out_count);
}

static enum error run_on_blob(
    struct context *c, const struct sql_statement *statement, struct uuid blob_id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, blob_id, blob_id);
    return query_run(&q);
}

static enum error is_referred_to(struct context *c, struct uuid blob_id, bool *out_is)
{
    struct query q;
    int64_t found;
    context_query(c, &q, &SQL_BLOB_DOUBT_REFERENCE);
    query_uuid(&q, blob_id, blob_id);
    TRY(context_number(&q, &found));
    *out_is = found > 0;
    return OK;
}

enum error blob_settle(struct context *c, struct uuid blob_id, bool *out_unused)
{
    bool needed = true;
    *out_unused = false;
    /* Lock before reading: waits for a transaction that adopts the blob, and then sees its
     * reference. */
    if (tx_is_shared(c->tx))
        TRY(run_on_blob(c, &SQL_BLOB_DOUBT_LOCK, blob_id));
    TRY(is_referred_to(c, blob_id, &needed));
    if (!needed)
        TRY(run_on_blob(c, &SQL_BLOB_DOUBT_DELETE, blob_id));
    TRY(run_on_blob(c, &SQL_BLOB_DOUBTS_DROP, blob_id));
    *out_unused = !needed;
    return OK;
}
