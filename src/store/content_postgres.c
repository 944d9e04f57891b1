/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content in PostgreSQL: rows of blob_chunks, all of CHUNK_BYTES except the last. Every chunk is
 * written in its own transaction, so that no transaction is large; the last commit completes the
 * content. Readers read one chunk, or a part of one, at a time. Content that a reader may still use
 * is only marked (blob_garbage), and deleted an hour later.
 */
#include "base/clock.h"
#include "store/content_kind.h"
#include "store/content_place.h"
#include "store/params.h"

enum { CHUNK_BYTES = CONTENT_CHUNK_BYTES, ARENA_BYTES = 4 * CHUNK_BYTES, LIST_MAX = 256 };
#define KEPT_US (INT64_C(3600000000))

/* One statement on the chunks of one content, in a transaction. */
struct work {
    struct content *content;
    const struct sql_statement *statement;
    struct uuid tenant_id;
    struct uuid blob_id;
    int64_t n;
    struct str bytes; /* to write */
    int64_t from;     /* offset in a chunk, to read */
    char *place;
    size_t room;
    size_t got;
    int64_t numbers[2]; /* results */
    int64_t changed;
    struct arena arena; /* while the statement runs */
    struct query query;
};

static const struct content_statements *statements(const struct content *c)
{
    return c->store->config.content_statements;
}

/* Returns the query with the parameters that all statements have. */
static struct query *begin_query(struct work *work, struct tx *tx)
{
    struct query *q = &work->query;
    arena_clear(&work->arena); /* a transaction may run again */
    tx_enter_tenant(tx, work->tenant_id);
    query_begin(q, tx, work->statement, &work->arena);
    query_uuid(q, tenant_id, work->tenant_id);
    query_uuid(q, blob_id, work->blob_id);
    return q;
}

static enum error put_chunk(void *data, struct tx *tx)
{
    struct work *work = data;
    struct query *q = begin_query(work, tx);
    query_i64(q, n, work->n);
    query_bytes(q, bytes, work->bytes);
    return query_run_counted(q, &work->changed);
}

static enum error read_chunk(void *data, struct tx *tx)
{
    struct work *work = data;
    struct query *q = begin_query(work, tx);
    work->got = 0;
    query_i64(q, n, work->n);
    query_i64(q, from, work->from + 1);
    query_i64(q, count, (int64_t)work->room);
    while (query_next(q)) {
        struct str bytes = row_bytes(q);
        work->got = bytes.len < work->room ? bytes.len : work->room;
        memcpy(work->place, bytes.ptr, work->got);
    }
    return query_end(q);
}

static enum error read_size(void *data, struct tx *tx)
{
    struct work *work = data;
    struct query *q = begin_query(work, tx);
    while (query_next(q)) {
        work->numbers[0] = row_i64(q);
        work->numbers[1] = row_i64(q);
    }
    return query_end(q);
}

static enum error cut_some(void *data, struct tx *tx)
{
    struct work *work = data;
    struct query *q = begin_query(work, tx);
    query_i64(q, n, work->n);
    return query_run_counted(q, &work->changed);
}

static enum error discard(void *data, struct tx *tx)
{
    struct work *work = data;
    struct query *q = begin_query(work, tx);
    query_i64(q, removed_at, tx_lease_now_us(tx));
    return query_run(q);
}

static enum error forget(void *data, struct tx *tx)
{
    struct work *work = data;
    return query_run(begin_query(work, tx));
}

static enum error work_on(struct work *work, enum store_mode mode,
    enum error (*run)(void *data, struct tx *tx), const struct sql_statement *statement)
{
    work->statement = statement;
    arena_init(&work->arena, ARENA_BYTES);
    enum error e = store_call(work->content->store, mode, run, work);
    arena_deinit(&work->arena);
    return e;
}

/* Deletes in slices, so that no statement takes long. */
static enum error cut(struct content *c, struct uuid tenant_id, struct uuid id, int64_t n)
{
    struct work work = {.content = c, .tenant_id = tenant_id, .blob_id = id, .n = n};
    do
        TRY(work_on(&work, STORE_WRITE, cut_some, statements(c)->cut));
    while (work.changed > 0);
    return OK;
}

/* --- Writing -------------------------------------------------------------------------------- */

static struct work work_of(const struct content_writer *w)
{
    return (struct work){.content = w->content, .tenant_id = w->tenant_id, .blob_id = w->id};
}

static enum error create(struct content_writer *w)
{
    buf_init(&w->partial, CHUNK_BYTES);
    return OK;
}

/* Reads the last, partial chunk, which is written again when more bytes arrive. */
static enum error reopen(struct content_writer *w)
{
    struct work work = work_of(w);
    buf_init(&w->partial, CHUNK_BYTES);
    TRY(work_on(&work, STORE_READ, read_size, statements(w->content)->size));
    if ((uint64_t)work.numbers[1] < w->size_bytes)
        return ERR_DAMAGED;
    w->n_chunks = (int64_t)(w->size_bytes / CHUNK_BYTES);
    work.n = w->n_chunks;
    work.room = w->size_bytes % CHUNK_BYTES;
    if (work.room > 0) {
        work.place = buf_reserve(&w->partial, work.room);
        TRY(work_on(&work, STORE_READ, read_chunk, statements(w->content)->read));
        if (work.got != work.room)
            return ERR_DAMAGED;
        buf_advance(&w->partial, work.room);
    }
    return cut(w->content, w->tenant_id, w->id, w->n_chunks + (work.room > 0));
}

static enum error put(struct content_writer *w)
{
    struct work work = work_of(w);
    work.n = w->n_chunks;
    work.bytes = buf_str(&w->partial);
    return work_on(&work, STORE_WRITE, put_chunk, statements(w->content)->put);
}

static enum error append(struct content_writer *w, struct str bytes)
{
    while (bytes.len > 0) {
        size_t room = CHUNK_BYTES - w->partial.len;
        size_t size = bytes.len < room ? bytes.len : room;
        buf_append(&w->partial, str_slice(bytes, 0, size));
        bytes = str_slice(bytes, size, bytes.len);
        if (w->partial.len < CHUNK_BYTES)
            break;
        TRY(put(w));
        w->n_chunks++;
        buf_reset(&w->partial);
    }
    return OK;
}

/* The chunks before the last are committed already. */
static enum error sync_writer(struct content_writer *w)
{
    return w->partial.len > 0 ? put(w) : OK;
}

/* The transaction that records the other id moves the chunks. */
static enum error seal(struct content_writer *w)
{
    return OK;
}

static void end(struct content_writer *w)
{
    buf_deinit(&w->partial);
}

static enum error erase(struct content *c, struct uuid tenant_id, struct uuid id)
{
    return cut(c, tenant_id, id, 0);
}

static enum error remove_later(struct content *c, struct uuid tenant_id, struct uuid id)
{
    struct work work = {.content = c, .tenant_id = tenant_id, .blob_id = id};
    return work_on(&work, STORE_WRITE, discard, statements(c)->discard);
}

/* --- Reading -------------------------------------------------------------------------------- */

static enum error open_reader(struct content_reader *r)
{
    struct work work = {.content = r->content, .tenant_id = r->tenant_id, .blob_id = r->id};
    TRY(work_on(&work, STORE_READ, read_size, statements(r->content)->size));
    return (uint64_t)work.numbers[1] != r->size_bytes ? ERR_DAMAGED : OK;
}

static enum error read_some(
    struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size)
{
    struct work work = {.content = r->content,
        .tenant_id = r->tenant_id,
        .blob_id = r->id,
        .n = (int64_t)(offset / CHUNK_BYTES),
        .from = (int64_t)(offset % CHUNK_BYTES),
        .place = place,
        .room = room};
    TRY(work_on(&work, STORE_READ, read_chunk, statements(r->content)->read));
    *out_size = work.got;
    return OK;
}

static void close_reader(struct content_reader *r)
{
}

/* --- Leftovers ------------------------------------------------------------------------------ */

struct found {
    struct uuid tenant_id;
    struct uuid id;
};

struct list {
    struct content *content;
    bool discarded; /* false: orphans */
    struct found items[LIST_MAX];
    size_t count;
};

static enum error read_list(void *data, struct tx *tx)
{
    struct list *list = data;
    const struct content_statements *all = statements(list->content);
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    struct query q;
    list->count = 0;
    tx_enter_system(tx);
    query_begin(&q, tx, list->discarded ? all->discarded : all->orphans, &arena);
    int64_t before_ms = (clock_wall_us() - 2 * CONTENT_UPLOAD_MAX_US) / 1000;
    if (list->discarded)
        query_i64(&q, removed_before, tx_lease_now_us(tx) - KEPT_US);
    else
        query_uuid(&q, before_id, uuid_v7_from((uint64_t)before_ms, 0, 0));
    query_i64(&q, limit, LIST_MAX);
    while (query_next(&q) && list->count < LIST_MAX) {
        struct found *item = &list->items[list->count++];
        item->tenant_id = row_uuid(&q);
        item->id = row_uuid(&q);
    }
    return query_end(&q);
}

static enum error erase_discarded(struct content *c, const struct found *item)
{
    struct work work = {.content = c, .tenant_id = item->tenant_id, .blob_id = item->id};
    TRY(erase(c, item->tenant_id, item->id));
    return work_on(&work, STORE_WRITE, forget, statements(c)->forget);
}

static enum error sweep_list(struct content *c, struct content_broom *broom, bool discarded)
{
    struct list list = {.content = c, .discarded = discarded};
    do {
        TRY(store_call(c->store, STORE_WRITE, read_list, &list));
        for (size_t i = 0; i < list.count && !content_is_closing(c); i++)
            TRY(discarded ? erase_discarded(c, &list.items[i])
                          : content_sweep_one(c, broom, list.items[i].tenant_id, list.items[i].id));
    } while (list.count == LIST_MAX && !content_is_closing(c));
    return OK;
}

static enum error sweep(struct content *c, struct content_broom *broom)
{
    TRY(sweep_list(c, broom, false));
    return sweep_list(c, broom, true);
}

const struct content_kind content_postgres = {
    .create = create,
    .reopen = reopen,
    .append = append,
    .sync = sync_writer,
    .seal = seal,
    .end = end,
    .erase = erase,
    .remove = remove_later,
    .open = open_reader,
    .read = read_some,
    .close = close_reader,
    .sweep = sweep,
};
