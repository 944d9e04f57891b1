/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/idempotency.h"

#include "model/tenancy/deletions.h"
#include "model/tenancy/idempotency.sql.h"

/* Answers expire by lease time: if the wall clock was set forward, a deleted answer would let its
 * request be executed twice. */
static int64_t oldest_kept(const struct context *c)
{
    return c->lease_now_us - (int64_t)IDEMPOTENCY_HOURS * 3600 * 1000000;
}

/* After a restart lease time begins at the wall clock: answers stored after a jump of the clock
 * must not expire then. */
static int64_t stamp(const struct context *c)
{
    bool is_ahead = !tx_is_shared(c->tx) && c->now_us > c->lease_now_us;
    return is_ahead ? c->now_us : c->lease_now_us;
}

enum error idempotency_find(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, struct stored_answer *out_answer, bool *out_found)
{
    struct query q;
    context_query(c, &q, &SQL_IDEMPOTENCY_GET);
    query_text(&q, route, route);
    query_text(&q, key, key);
    query_i64(&q, oldest, oldest_kept(c));
    *out_found = query_next(&q);
    bool same = false;
    if (*out_found) {
        struct str hash = row_bytes(&q);
        same = hash.len == SHA256_LEN && memcmp(hash.ptr, request_hash.bytes, SHA256_LEN) == 0;
        out_answer->status = row_i64(&q);
        out_answer->headers = row_text(&q);
        out_answer->body = row_text(&q);
    }
    TRY(query_end(&q));
    if (*out_found && !same)
        return problem_set(c->problem, ERR_KEY_REUSED,
            "the Idempotency-Key \"%.*s\" was already used for a request with another path or body",
            STR_ARG(key));
    return OK;
}

enum error idempotency_store(struct context *c, struct str route, struct str key,
    struct sha256 request_hash, const struct stored_answer *answer)
{
    struct query q;
    context_query(c, &q, &SQL_IDEMPOTENCY_PUT);
    query_text(&q, route, route);
    query_text(&q, key, key);
    query_bytes(&q, request_hash,
        (struct str){(const char *)request_hash.bytes, sizeof request_hash.bytes});
    query_i64(&q, status, answer->status);
    query_text(&q, headers, answer->headers);
    query_text(&q, body, answer->body);
    query_i64(&q, now, stamp(c));
    query_i64(&q, oldest, oldest_kept(c));
    int64_t changed = 0;
    TRY(query_run_counted(&q, &changed));
    /* Another request stored its answer meanwhile: the job runs again and finds it. */
    if (changed == 0)
        return tx_is_shared(c->tx) ? tx_run_again(c->tx) : ERR_INTERNAL;
    return OK;
}

enum error idempotency_any_old(struct context *c, bool *out_any)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_IDEMPOTENCY_OLD, c->arena);
    query_i64(&q, oldest, oldest_kept(c));
    *out_any = query_next(&q);
    return query_end(&q);
}

static void bind_oldest(const struct context *c, struct query *q)
{
    query_bind_i64(q, "oldest", oldest_kept(c));
}

enum error idempotency_sweep(struct context *c, bool *out_more)
{
    static const struct slice_part part = {
        .delete = &SQL_IDEMPOTENCY_EXPIRE, .weigh = &SQL_IDEMPOTENCY_WEIGH, .bind = bind_oldest};
    struct slice slice = slice_begin(0);
    return slice_delete(c, &slice, &part, UUID_NIL, out_more);
}
