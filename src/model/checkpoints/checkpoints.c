/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/checkpoints.h"

#include "model/checkpoints/checkpoint_rows.h"
#include "model/checkpoints/checkpoints.sql.h"

/* Rows per statement. With a filter or large metadata, reading more rows than the page needs would
 * be wasted. */
enum { SLICE_ROWS = 32 };

enum error checkpoint_find(struct context *c, struct uuid thread_id, struct str ns, struct uuid id,
    bool whole, bool *out_found, struct checkpoint *out_checkpoint)
{
    struct query q;
    context_query(c, &q, str_is_none(ns) ? &SQL_CHECKPOINT_GET_ANYWHERE : &SQL_CHECKPOINT_GET);
    query_uuid(&q, thread_id, thread_id);
    if (!str_is_none(ns))
        query_text(&q, namespace, ns);
    query_uuid(&q, id, id);
    query_bool(&q, whole, whole);
    return checkpoint_read_one(&q, out_found, out_checkpoint);
}

enum error checkpoint_find_latest(struct context *c, struct uuid thread_id, struct str ns,
    bool whole, bool *out_found, struct checkpoint *out_checkpoint)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_LATEST);
    query_uuid(&q, thread_id, thread_id);
    query_text(&q, namespace, ns);
    query_bool(&q, whole, whole);
    return checkpoint_read_one(&q, out_found, out_checkpoint);
}

enum error checkpoint_find_latest_of_run(struct context *c, struct uuid run_id, struct str ns,
    bool whole, bool *out_found, struct checkpoint *out_checkpoint)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_LATEST_OF_RUN);
    query_uuid(&q, run_id, run_id);
    query_text(&q, namespace, ns);
    query_bool(&q, whole, whole);
    return checkpoint_read_one(&q, out_found, out_checkpoint);
}

enum error checkpoint_fill(struct context *c, unsigned show, struct checkpoint *checkpoint)
{
    if (show & CHECKPOINT_VALUES)
        TRY(snapshot_get(c, checkpoint->snapshot_id, &checkpoint->channel_values));
    if (show & CHECKPOINT_WRITES)
        TRY(checkpoint_list_writes(
            c, checkpoint->thread_id, checkpoint->ns, checkpoint->id, &checkpoint->pending_writes));
    return OK;
}

static enum error get_thread(struct context *c, struct uuid thread_id)
{
    struct thread unused;
    return thread_get_head(c, thread_id, &unused);
}

enum error checkpoint_get(struct context *c, struct uuid thread_id, struct str ns, struct uuid id,
    unsigned show, struct checkpoint *out_checkpoint)
{
    bool found = false;
    TRY(get_thread(c, thread_id));
    TRY(checkpoint_find(c, thread_id, ns, id, show & CHECKPOINT_VALUES, &found, out_checkpoint));
    if (!found)
        return context_not_found(c, "checkpoint", id);
    return checkpoint_fill(c, show, out_checkpoint);
}

enum error checkpoint_latest(struct context *c, struct uuid thread_id, struct str ns, unsigned show,
    struct checkpoint *out_checkpoint)
{
    bool found = false;
    TRY(get_thread(c, thread_id));
    TRY(checkpoint_find_latest(c, thread_id, ns, show & CHECKPOINT_VALUES, &found, out_checkpoint));
    if (!found)
        return problem_set(c->problem, ERR_NOT_FOUND,
            "the namespace \"%.*s\" of this thread has no checkpoint", STR_ARG(ns));
    return checkpoint_fill(c, show, out_checkpoint);
}

/* --- Lists ---------------------------------------------------------------------------------- */

/* Returns true for filters that are evaluated here, not by an index. */
static bool has_filter(const struct checkpoint_filter *filter)
{
    bool by_time = filter->has_from || filter->has_to; /* the list of all is in this order */
    return !str_is_none(filter->metadata_keys[0]) || filter->has_id_before ||
           (filter->of_all ? !str_is_none(filter->ns) : by_time);
}

static bool has_member(struct context *c, struct json metadata, struct str key, struct str value)
{
    struct json_iter members = json_iter(metadata);
    struct str k, v;
    while (thread_metadata_next(c->arena, &members, &k, &v))
        if (str_eq(k, key) && str_eq(v, value))
            return true;
    return false;
}

static bool is_wanted(
    struct context *c, const struct checkpoint_filter *filter, const struct checkpoint *k)
{
    struct json_doc doc;
    struct json_error unused;
    if (filter->has_id_before && uuid_cmp(k->id, filter->id_before) >= 0)
        return false;
    if (!str_is_none(filter->ns) && !str_eq(k->ns, filter->ns))
        return false;
    if ((filter->has_from && k->created_at < filter->from) ||
        (filter->has_to && k->created_at >= filter->to))
        return false;
    if (str_is_none(filter->metadata_keys[0]))
        return true;
    if (!json_parse(c->arena, k->metadata, &doc, &unused))
        return false;
    for (size_t i = 0; i < THREAD_METADATA_FILTERS; i++)
        if (!str_is_none(filter->metadata_keys[i]) &&
            !has_member(c, json_root(&doc), filter->metadata_keys[i], filter->metadata_values[i]))
            return false;
    return true;
}

static size_t size_of(const struct checkpoint *k)
{
    return k->metadata.len + k->channel_values.len + k->channel_versions.len +
           k->versions_seen.len + k->pending_sends.len + k->pending_writes.len;
}

static const struct sql_statement *list_statement(const struct checkpoint_filter *filter)
{
    if (filter->of_all)
        return &SQL_CHECKPOINT_LIST_OF_ALL;
    if (filter->has_run_id)
        return &SQL_CHECKPOINT_LIST_OF_RUN;
    return str_is_none(filter->ns) ? &SQL_CHECKPOINT_LIST : &SQL_CHECKPOINT_LIST_IN_NAMESPACE;
}

static void bind_place(struct query *q, const struct checkpoint_filter *filter,
    const struct checkpoint_mark *before, const struct sql_statement *statement)
{
    query_i64(q, before, before->sequence_num);
    if (filter->of_all) {
        query_i64(q, before_at, before->created_at);
        query_uuid(q, before_thread, before->thread_id);
        query_i64(q, from_at, filter->has_from ? filter->from : INT64_MIN);
        return;
    }
    query_uuid(q, thread_id, filter->thread_id);
    if (filter->has_run_id)
        query_uuid(q, run_id, filter->run_id);
    if (statement != &SQL_CHECKPOINT_LIST)
        query_text(q, namespace, filter->ns);
}

/* Reads the next rows behind the mark. */
static enum error read_slice(struct context *c, const struct checkpoint_filter *filter,
    const struct checkpoint_mark *before, struct checkpoint out_rows[SLICE_ROWS], size_t *out_count)
{
    const struct sql_statement *statement = list_statement(filter);
    struct query q;
    size_t count = 0;
    context_query(c, &q, statement);
    bind_place(&q, filter, before, statement);
    query_i64(&q, limit, SLICE_ROWS);
    query_bool(&q, whole, filter->show & CHECKPOINT_VALUES);
    while (count < SLICE_ROWS && query_next(&q))
        checkpoint_read(&q, &out_rows[count++]);
    *out_count = count;
    return query_end(&q);
}

static bool is_full(const struct checkpoint_filter *filter, const struct page *page, size_t seen)
{
    return page->count == page->limit || page->bytes > PAGE_MAX_BYTES ||
           (has_filter(filter) && seen == CHECKPOINT_SCAN_MAX);
}

static struct checkpoint_mark mark_of(const struct checkpoint *row)
{
    return (struct checkpoint_mark){row->sequence_num, row->created_at, row->thread_id};
}

static enum error take_row(struct context *c, const struct checkpoint_filter *filter,
    struct checkpoint *row, struct checkpoint_page *page)
{
    struct arena_mark mark = arena_mark(c->arena);
    page->next = mark_of(row);
    if (!is_wanted(c, filter, row)) {
        arena_rewind(c->arena, mark);
        return OK;
    }
    TRY(checkpoint_fill(c, filter->show, row));
    page->checkpoints[page->page.count++] = *row;
    page->page.bytes += size_of(row);
    return OK;
}

static enum error find_before(
    struct context *c, const struct checkpoint_filter *filter, int64_t *before)
{
    struct checkpoint k;
    bool found;
    TRY(checkpoint_find(c, filter->thread_id, filter->ns, filter->before_id, false, &found, &k));
    if (!found)
        return problem_fault(c->problem, STR("before"),
            "must be the id of a checkpoint of this thread%s",
            str_is_none(filter->ns) ? "" : " and namespace");
    if (k.sequence_num < *before)
        *before = k.sequence_num;
    return OK;
}

static enum error take_slice(struct context *c, const struct checkpoint_filter *filter,
    struct checkpoint rows[SLICE_ROWS], size_t count, struct checkpoint_page *page, size_t *seen)
{
    for (size_t i = 0; i < count && !page->page.more; i++) {
        page->page.more = is_full(filter, &page->page, *seen);
        if (page->page.more)
            break;
        (*seen)++;
        TRY(take_row(c, filter, &rows[i], page));
    }
    return OK;
}

enum error checkpoint_list(
    struct context *c, const struct checkpoint_filter *filter, struct checkpoint_page *page)
{
    struct checkpoint rows[SLICE_ROWS];
    struct checkpoint_mark before = filter->before;
    size_t count = SLICE_ROWS, seen = 0;
    if (before.sequence_num == 0)
        before = (struct checkpoint_mark){INT64_MAX, INT64_MAX, UUID_NIL};
    if (filter->of_all && filter->has_to && filter->to <= before.created_at)
        before = (struct checkpoint_mark){0, filter->to, UUID_NIL};
    page->page.count = page->page.bytes = 0;
    page->page.more = false;
    if (!filter->of_all)
        TRY(get_thread(c, filter->thread_id));
    if (filter->has_before_id)
        TRY(find_before(c, filter, &before.sequence_num));
    while (!page->page.more && count == SLICE_ROWS) {
        struct arena_mark mark = arena_mark(c->arena);
        size_t taken = page->page.count;
        TRY(read_slice(c, filter, &before, rows, &count));
        TRY(take_slice(c, filter, rows, count, page, &seen));
        if (count > 0)
            before = mark_of(&rows[count - 1]);
        if (page->page.count == taken)
            arena_rewind(c->arena, mark);
    }
    return OK;
}
