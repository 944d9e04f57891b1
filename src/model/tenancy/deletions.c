/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/deletions.h"

#include "base/clock.h"
#include "model/tenancy/deletions.sql.h"

static const int64_t QUIET_US = 5 * 1000000;

enum error deletion_find(struct context *c, struct uuid id, bool *out_begun)
{
    struct query q;
    context_query(c, &q, &SQL_DELETION_FIND);
    query_uuid(&q, id, id);
    *out_begun = query_next(&q);
    return query_end(&q);
}

enum error deletion_can_be_ended(struct context *c, struct uuid id, bool *out_can)
{
    struct query q;
    int64_t touched_at = 0;
    context_query(c, &q, &SQL_DELETION_TOUCHED_AT);
    query_uuid(&q, id, id);
    TRY(context_number(&q, &touched_at));
    *out_can = touched_at > 0;
    return OK;
}

enum error deletion_note(struct context *c, struct uuid id)
{
    struct query q;
    bool is_request = c->actor != ACTOR_SYSTEM;
    context_query(c, &q, &SQL_DELETION_NOTE);
    query_uuid(&q, id, id);
    query_i64(&q, lease_now, is_request ? c->lease_now_us : 0);
    return query_run(&q);
}

enum error deletion_end(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_DELETION_END);
    query_uuid(&q, id, id);
    return query_run(&q);
}

enum error deletion_list(
    struct context *c, size_t limit, struct owned_id *out_found, size_t *out_count)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_DELETION_LIST, c->arena);
    query_i64(&q, lease_now, c->lease_now_us - QUIET_US);
    query_i64(&q, limit, (int64_t)limit);
    return context_owned_ids(&q, out_found, out_count);
}

/* --- Slices --------------------------------------------------------------------------------- */

struct slice slice_begin(int64_t min_rows)
{
    return (struct slice){clock_steady_us() + SLICE_US, SLICE_MAX_ROWS, SLICE_MAX_BYTES, min_rows};
}

bool slice_is_over(const struct slice *s)
{
    bool is_late = clock_steady_us() >= s->ends_us;
    bool is_small = SLICE_MAX_ROWS - s->rows_left < s->min_rows &&
                    SLICE_MAX_BYTES - s->bytes_left < SLICE_CHUNK_BYTES;
    return s->rows_left <= 0 || s->bytes_left <= 0 || (is_late && !is_small);
}

static bool has_text(struct context *c, const struct sql_statement *statement)
{
    return statement != NULL && statement->text[tx_engine(c->tx)] != NULL;
}

static void start(struct context *c, struct query *q, const struct slice_part *part,
    const struct sql_statement *statement, struct uuid owner_id, int64_t limit)
{
    query_begin(q, c->tx, statement, c->arena);
    if (statement_has_param(statement, "tenant_id"))
        query_bind_uuid(q, "tenant_id", c->tenant_id);
    if (statement_has_param(statement, "owner_id"))
        query_bind_uuid(q, "owner_id", owner_id);
    if (statement_has_param(statement, "now"))
        query_bind_i64(q, "now", c->lease_now_us);
    if (statement_has_param(statement, "window"))
        query_bind_i64(q, "window", SLICE_CHUNK_ROWS);
    if (part->bind != NULL)
        part->bind(c, q);
    query_i64(q, limit, limit);
}

/* Returns how many rows to delete at once. Reading the size of a row may read the row, so that the
 * sizes of further rows are not read. */
static enum error weigh(struct context *c, const struct slice_part *part, struct uuid owner_id,
    int64_t *out_rows, int64_t *out_bytes)
{
    struct query q;
    *out_rows = SLICE_CHUNK_ROWS;
    *out_bytes = 0;
    if (!has_text(c, part->weigh))
        return OK;
    start(c, &q, part, part->weigh, owner_id, SLICE_CHUNK_ROWS);
    for (*out_rows = 0; *out_bytes < SLICE_CHUNK_BYTES && query_next(&q);) {
        int64_t bytes = row_i64(&q);
        if (*out_rows > 0 && *out_bytes + bytes > SLICE_CHUNK_BYTES)
            break;
        ++*out_rows;
        *out_bytes += bytes;
    }
    return query_end(&q);
}

static enum error delete_chunk(struct context *c, struct slice *s, const struct slice_part *part,
    struct uuid owner_id, bool *out_more)
{
    struct query q;
    int64_t rows, bytes, deleted;
    TRY(weigh(c, part, owner_id, &rows, &bytes));
    *out_more = rows > 0;
    if (rows == 0)
        return OK;
    if (has_text(c, part->before)) {
        start(c, &q, part, part->before, owner_id, rows);
        TRY(query_run(&q));
    }
    start(c, &q, part, part->delete, owner_id, rows);
    TRY(query_run_counted(&q, &deleted));
    s->rows_left -= deleted;
    s->bytes_left -= bytes;
    *out_more = deleted == rows;
    return OK;
}

static enum error delete_children(struct context *c, struct slice *s, const struct slice_part *part,
    struct uuid owner_id, bool *out_more)
{
    const struct slice_part *child = part->children;
    *out_more = false;
    for (; child != NULL && child->delete != NULL && !*out_more; child++) {
        TRY(delete_chunk(c, s, child, owner_id, out_more));
        while (*out_more && !slice_is_over(s))
            TRY(delete_chunk(c, s, child, owner_id, out_more));
    }
    return OK;
}

enum error slice_delete(struct context *c, struct slice *s, const struct slice_part *part,
    struct uuid owner_id, bool *out_more)
{
    do {
        TRY(delete_children(c, s, part, owner_id, out_more));
        if (!*out_more)
            TRY(delete_chunk(c, s, part, owner_id, out_more));
    } while (*out_more && !slice_is_over(s));
    return OK;
}
