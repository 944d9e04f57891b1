/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/tar.h"
#include "model/agents/agents.h"
#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/snapshots.h"
#include "model/files/blobs.h"
#include "model/integrity.h"
#include "model/threads/threads.h"
#include "model/upkeep/archive.members.h"
#include "model/upkeep/archive.sql.h"
#include "model/upkeep/archive_file.h"
#include "store/content.h"

enum { WRITE_BYTES = 256 * 1024 };

struct blob_place {
    struct sha256 sha256;
    struct uuid id;
    uint64_t size_bytes;
    uint64_t at; /* in the file */
};

struct archive_export {
    int fd;
    enum error (*may_continue)(void *data);
    void *data;
    uint64_t at; /* the position in the file to which `out` will be written */
    struct buf out;
    /* The member that is being written. */
    uint64_t header_at;
    uint64_t member_bytes;
    struct sha256_state *hash;
    struct archive_manifest *manifest;
    struct sha256 digest; /* of the manifest */
    struct blob_place *blobs;
    size_t n_blobs;
    size_t cap_blobs;
    struct sha256 *items; /* of a thread, sorted */
    size_t n_items;
    size_t cap_items;
    size_t next_item;                  /* the first that is not written */
    struct item_dictionary dictionary; /* while the rows are read */
};

struct archive_export *archive_export_create(
    int fd, enum error (*may_continue)(void *data), void *data)
{
    struct archive_export *x = MEM_NEW(struct archive_export);
    x->fd = fd;
    x->may_continue = may_continue;
    x->data = data;
    buf_init(&x->out, WRITE_BYTES + ARCHIVE_LINE_MAX_BYTES);
    return x;
}

static void drop_hash(struct archive_export *x)
{
    if (x->hash != NULL)
        (void)sha256_finish(x->hash);
    x->hash = NULL;
}

void archive_export_destroy(struct archive_export *x)
{
    if (x == NULL)
        return;
    manifest_destroy(x->manifest);
    drop_hash(x);
    buf_deinit(&x->out);
    mem_free(x->blobs);
    mem_free(x->items);
    mem_free(x);
}

uint64_t archive_export_size(const struct archive_export *x)
{
    return x->at;
}

struct sha256 archive_export_digest(const struct archive_export *x)
{
    return x->digest;
}

static enum error may_continue(const struct archive_export *x)
{
    return x->may_continue != NULL ? x->may_continue(x->data) : OK;
}

/* Before each page. */
static enum error turn_page(struct context *c, const struct archive_export *x)
{
    TRY(may_continue(x));
    tx_extend(c->tx);
    return OK;
}

/* --- Bytes ---------------------------------------------------------------------------------- */

static enum error write_at(
    struct archive_export *x, struct str bytes, uint64_t at, struct problem *problem)
{
    return archive_write_file(x->fd, at, bytes, problem);
}

static enum error flush(struct archive_export *x, struct problem *problem)
{
    if (x->out.failed)
        return problem_set(problem, ERR_INTERNAL, "a row is too large for an archive");
    TRY(write_at(x, buf_str(&x->out), x->at, problem));
    x->at += x->out.len;
    buf_reset(&x->out);
    return OK;
}

/* Adds the bytes of `out` behind `from` to the size and hash of the member. */
static enum error account(struct archive_export *x, size_t from, struct problem *problem)
{
    struct str added = str_slice(buf_str(&x->out), from, x->out.len);
    sha256_add(x->hash, added);
    x->member_bytes += added.len;
    return x->out.len < WRITE_BYTES && !x->out.failed ? OK : flush(x, problem);
}

static enum error add_bytes(struct archive_export *x, struct str bytes, struct problem *problem)
{
    size_t from = x->out.len;
    buf_append(&x->out, bytes);
    return account(x, from, problem);
}

static const char ZEROS[TAR_END_BYTES];

/* Reserves the header, which end_member overwrites when the size is known. */
static void begin_member(struct archive_export *x)
{
    x->header_at = x->at + x->out.len;
    x->member_bytes = 0;
    drop_hash(x);
    x->hash = sha256_create();
    buf_append(&x->out, (struct str){ZEROS, TAR_BLOCK_BYTES});
}

static enum error end_member(
    struct archive_export *x, struct str name, struct sha256 *out_hash, struct problem *problem)
{
    char header[TAR_BLOCK_BYTES];
    tar_write(name, x->member_bytes, header);
    buf_append(&x->out, (struct str){ZEROS, tar_padding(x->member_bytes)});
    *out_hash = sha256_finish(x->hash);
    x->hash = NULL;
    TRY(flush(x, problem));
    return write_at(x, (struct str){header, sizeof header}, x->header_at, problem);
}

/* --- The head ------------------------------------------------------------------------------- */

static enum error write_head(
    struct archive_export *x, const struct archive_subject *subject, struct problem *problem)
{
    struct sha256 hash;
    begin_member(x);
    size_t from = x->out.len;
    archive_write_head(subject, &x->out);
    TRY(account(x, from, problem));
    TRY(end_member(x, STR("cairn.json"), &hash, problem));
    manifest_note(x->manifest, "cairn.json", x->member_bytes, NULL, hash);
    return OK;
}

/* --- Rows ----------------------------------------------------------------------------------- */

/* The last row of a page: the next page begins behind it. */
struct place {
    bool has_row;
    struct archive_value row[ARCHIVE_MAX_FIELDS];
    struct arena arena; /* of the values */
};

/* Takes the arena. */
static void place_set(struct place *p, const struct archive_value *row, const struct arena *arena)
{
    arena_deinit(&p->arena);
    memcpy(p->row, row, sizeof p->row);
    p->arena = *arena;
    p->has_row = true;
}

static enum error write_row(struct archive_export *x, const struct archive_member *m,
    const struct archive_value *row, struct problem *problem)
{
    size_t from = x->out.len;
    archive_write_line(m, row, &x->out);
    return account(x, from, problem);
}

/* --- The items of a thread ------------------------------------------------------------------ */

static int compare_hashes(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_LEN);
}

static void sort_items(struct archive_export *x)
{
    size_t n = 0;
    if (x->n_items > 0)
        qsort(x->items, x->n_items, sizeof(struct sha256), compare_hashes);
    for (size_t i = 0; i < x->n_items; i++)
        if (n == 0 || compare_hashes(&x->items[n - 1], &x->items[i]) != 0)
            x->items[n++] = x->items[i];
    x->n_items = n;
}

/* Snapshots share items: duplicates are removed before the list grows. */
static void note_item(struct archive_export *x, struct str hash)
{
    if (x->n_items == x->cap_items) {
        sort_items(x);
        if (2 * x->n_items >= x->cap_items) {
            x->cap_items = x->cap_items == 0 ? 1024 : 2 * x->cap_items;
            x->items = mem_realloc(x->items, x->cap_items * sizeof(struct sha256));
        }
    }
    struct sha256 *item = &x->items[x->n_items++];
    *item = (struct sha256){0};
    memcpy(item->bytes, hash.ptr, hash.len < SHA256_LEN ? hash.len : SHA256_LEN);
}

static enum error list_items(struct context *c, struct uuid thread_id, struct archive_export *x)
{
    enum { PAGE = 1000 };
    struct uuid snapshot = UUID_NIL;
    struct sha256 hash = {0};
    x->n_items = x->next_item = 0;
    for (size_t n = PAGE, at = 0; n == PAGE; at += n) {
        struct arena_mark mark = arena_mark(c->arena);
        struct query q;
        TRY(turn_page(c, x));
        context_query(c, &q, &SQL_ARCHIVE_ITEM_HASHES);
        query_uuid(&q, from, thread_id);
        query_uuid(&q, after_id, snapshot);
        query_bytes(&q, after_bytes, (struct str){(char *)hash.bytes, at == 0 ? 0 : SHA256_LEN});
        query_i64(&q, limit, PAGE);
        for (n = 0; query_next(&q); n++) {
            snapshot = row_uuid(&q);
            note_item(x, row_bytes(&q));
            hash = x->items[x->n_items - 1];
        }
        TRY(query_end(&q));
        arena_rewind(c->arena, mark);
    }
    sort_items(x);
    return OK;
}

static void bind_items(struct archive_export *x, const struct archive_member *m, struct query *q)
{
    size_t left = x->n_items - x->next_item, page = (size_t)m->page_rows;
    size_t n = left < page ? left : page;
    query_i64(q, count, (int64_t)n);
    query_bytes(q, hashes,
        n == 0 ? STR("") : (struct str){(char *)&x->items[x->next_item], n * SHA256_LEN});
    x->next_item += n;
}

/* --- Pages ---------------------------------------------------------------------------------- */

/* Unpacks the value of an item: the archive has the value itself, not its stored form. */
static enum error unpack_item(
    struct context *c, struct archive_export *x, struct arena *arena, struct archive_value *row)
{
    const struct archive_member *m = &archive_members[MEMBER_ITEMS];
    const struct archive_value *hash = &row[archive_field(m, "sha256")];
    struct archive_value *value = &row[archive_field(m, "value")];
    int64_t size = row[archive_field(m, "size_bytes")].number;
    bool good =
        size >= 0 && size <= SNAPSHOT_MAX_BYTES &&
        item_unpack(arena, row[archive_field(m, "bytes")].bytes,
            row[archive_field(m, "dictionary")].number, (size_t)size, &x->dictionary, &value->text);
    struct sha256 found = sha256_of(good ? value->text : STR(""));
    value->is_null = false;
    if (good && integrity_holds(c, hash->bytes, &found))
        return OK;
    return integrity_lost(
        c, "the item with the SHA-256 %.*s", STR_ARG(hex_encode(c->arena, hash->bytes)));
}

static enum error write_page(struct context *c, const struct archive_subject *subject,
    struct archive_export *x, const struct archive_member *m, struct place *p, int64_t *out_rows)
{
    struct archive_value row[ARCHIVE_MAX_FIELDS] = {0};
    struct arena page;
    struct query q;
    enum error e = OK;
    TRY(turn_page(c, x));
    arena_init(&page, SIZE_MAX);
    query_begin(&q, c->tx, m->select[subject->what], &page);
    query_uuid(&q, tenant_id, c->tenant_id);
    if (statement_takes(q.statement, from))
        query_uuid(&q, from, subject->id);
    if (statement_takes(q.statement, hashes))
        bind_items(x, m, &q);
    archive_bind_after(m, p->has_row ? p->row : NULL, &q);
    query_i64(&q, limit, m->page_rows);
    for (*out_rows = 0; e == OK && query_next(&q);) {
        struct arena_mark mark = arena_mark(&page);
        archive_read_row(m, &q, row);
        if (m == &archive_members[MEMBER_ITEMS])
            e = unpack_item(c, x, &page, row);
        if (e == OK)
            e = write_row(x, m, row, c->problem);
        if (++*out_rows < m->page_rows)
            arena_rewind(&page, mark);
    }
    enum error ended = query_end(&q);
    place_set(p, row, &page);
    return e == OK ? ended : e;
}

static enum error write_member(struct context *c, const struct archive_subject *subject,
    struct archive_export *x, const struct archive_member *m)
{
    struct place p = {0};
    struct sha256 hash;
    int64_t rows = 0, n = 0;
    enum error e = OK;
    begin_member(x);
    arena_init(&p.arena, SIZE_MAX);
    if (m->select[subject->what] != NULL)
        do {
            e = write_page(c, subject, x, m, &p, &n);
            rows += n;
        } while (e == OK && n == m->page_rows);
    arena_deinit(&p.arena);
    if (e == OK)
        e = end_member(x, str_of(m->name), &hash, c->problem);
    if (e == OK)
        manifest_note(x->manifest, m->name, x->member_bytes, &rows, hash);
    return e;
}

static int compare_blobs(const void *a, const void *b)
{
    const struct blob_place *left = a, *right = b;
    return memcmp(left->sha256.bytes, right->sha256.bytes, SHA256_LEN);
}

/* The versions of files may have the same content. */
static void sort_blobs(struct archive_export *x)
{
    size_t n = 0;
    if (x->n_blobs > 0)
        qsort(x->blobs, x->n_blobs, sizeof(struct blob_place), compare_blobs);
    for (size_t i = 0; i < x->n_blobs; i++)
        if (n == 0 || compare_blobs(&x->blobs[n - 1], &x->blobs[i]) != 0)
            x->blobs[n++] = x->blobs[i];
    x->n_blobs = n;
}

static void note_blob(struct archive_export *x, struct query *q)
{
    if (x->n_blobs == x->cap_blobs) {
        x->cap_blobs = x->cap_blobs == 0 ? 64 : 2 * x->cap_blobs;
        x->blobs = mem_realloc(x->blobs, x->cap_blobs * sizeof(struct blob_place));
    }
    struct blob_place *b = &x->blobs[x->n_blobs++];
    struct str hash = row_bytes(q);
    *b = (struct blob_place){0};
    memcpy(b->sha256.bytes, hash.ptr, hash.len < SHA256_LEN ? hash.len : SHA256_LEN);
    b->id = row_uuid(q);
    b->size_bytes = (uint64_t)row_i64(q);
}

enum { BLOB_PAGE_ROWS = 1000 };

static enum error list_blobs_of_tenant(struct context *c, struct archive_export *x)
{
    for (size_t n = BLOB_PAGE_ROWS; n == BLOB_PAGE_ROWS;) {
        struct arena_mark mark = arena_mark(c->arena);
        struct str after = STR("");
        struct query q;
        TRY(turn_page(c, x));
        if (x->n_blobs > 0)
            after = (struct str){(char *)x->blobs[x->n_blobs - 1].sha256.bytes, SHA256_LEN};
        context_query(c, &q, &SQL_ARCHIVE_BLOBS_OF_TENANT);
        query_bytes(&q, after_bytes, after);
        query_i64(&q, limit, BLOB_PAGE_ROWS);
        for (n = 0; query_next(&q); n++)
            note_blob(x, &q);
        TRY(query_end(&q));
        arena_rewind(c->arena, mark);
    }
    return OK;
}

static enum error list_blobs_of_thread(
    struct context *c, struct uuid thread_id, struct archive_export *x)
{
    struct uuid file = UUID_NIL;
    int64_t version = 0;
    for (size_t n = BLOB_PAGE_ROWS; n == BLOB_PAGE_ROWS;) {
        struct arena_mark mark = arena_mark(c->arena);
        struct query q;
        TRY(turn_page(c, x));
        context_query(c, &q, &SQL_ARCHIVE_BLOBS_OF_THREAD);
        query_uuid(&q, from, thread_id);
        query_uuid(&q, after_id, file);
        query_i64(&q, after_number, version);
        query_i64(&q, limit, BLOB_PAGE_ROWS);
        for (n = 0; query_next(&q); n++) {
            file = row_uuid(&q);
            version = row_i64(&q);
            note_blob(x, &q);
        }
        TRY(query_end(&q));
        arena_rewind(c->arena, mark);
    }
    sort_blobs(x);
    return OK;
}

static enum error list_blobs(
    struct context *c, const struct archive_subject *subject, struct archive_export *x)
{
    x->n_blobs = 0;
    if (subject->what == ARCHIVE_THREAD)
        return list_blobs_of_thread(c, subject->id, x);
    return subject->what == ARCHIVE_TENANT ? list_blobs_of_tenant(c, x) : OK;
}

enum error archive_find_subject(struct context *c, const struct archive_subject *subject)
{
    struct thread thread;
    struct agent agent;
    if (subject->what == ARCHIVE_THREAD)
        return thread_get_head(c, subject->id, &thread);
    if (subject->what == ARCHIVE_AGENT)
        return agent_get(c, subject->id, &agent);
    return OK;
}

/* --- Content -------------------------------------------------------------------------------- */

/* Writes the header. The content is a hole until archive_export_fill. */
static enum error place_blob(
    struct archive_export *x, struct blob_place *b, struct problem *problem)
{
    char header[TAR_BLOCK_BYTES], name[TAR_NAME_MAX_BYTES + 1];
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct str hex = hex_encode(&arena, (struct str){(char *)b->sha256.bytes, SHA256_LEN});
    snprintf(name, sizeof name, "blobs/%.*s", STR_ARG(hex));
    arena_deinit(&arena);
    tar_write(str_of(name), b->size_bytes, header);
    enum error e = write_at(x, (struct str){header, sizeof header}, x->at, problem);
    b->at = x->at + sizeof header;
    x->at = b->at + b->size_bytes + tar_padding(b->size_bytes);
    return e;
}

static enum error write_end(struct archive_export *x, uint64_t bytes, struct problem *problem)
{
    struct sha256_state *digest = sha256_create();
    struct sha256 unused;
    for (size_t i = 0; i < x->n_blobs; i++)
        sha256_add(digest, (struct str){(char *)x->blobs[i].sha256.bytes, SHA256_LEN});
    manifest_end(x->manifest, x->n_blobs, bytes, sha256_finish(digest));
    x->digest = sha256_of(manifest_text(x->manifest));
    begin_member(x);
    enum error e = add_bytes(x, manifest_text(x->manifest), problem);
    if (e == OK)
        e = end_member(x, STR("manifest.json"), &unused, problem);
    buf_append(&x->out, (struct str){ZEROS, TAR_END_BYTES});
    return e == OK ? flush(x, problem) : e;
}

static enum error place_content(struct archive_export *x, struct problem *problem)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < x->n_blobs; i++) {
        bytes += x->blobs[i].size_bytes;
        TRY(may_continue(x));
        TRY(place_blob(x, &x->blobs[i], problem));
    }
    return write_end(x, bytes, problem);
}

static enum error check_room(const struct archive_export *x, struct problem *problem)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < x->n_blobs; i++)
        bytes += x->blobs[i].size_bytes;
    if (content_spool_has_room(x->fd, bytes))
        return OK;
    return problem_set(problem, ERR_STORAGE_FULL,
        "the server's disk has no space for the %llu bytes of the archive",
        (unsigned long long)x->at);
}

enum error archive_export_rows(
    struct context *c, const struct archive_subject *subject, struct archive_export *x)
{
    x->at = 0;
    buf_reset(&x->out);
    manifest_destroy(x->manifest);
    x->manifest = manifest_create();
    enum error e = archive_find_subject(c, subject);
    if (e == OK && ftruncate(x->fd, 0) != 0)
        e = problem_set(c->problem, ERR_UNAVAILABLE, "the archive cannot be written");
    if (e == OK)
        e = write_head(x, subject, c->problem);
    if (e == OK)
        e = item_dictionary_newest(c, c->arena, &x->dictionary);
    if (e == OK && subject->what == ARCHIVE_THREAD)
        e = list_items(c, subject->id, x);
    for (size_t i = 0; e == OK && i < MEMBER_COUNT; i++)
        e = write_member(c, subject, x, &archive_members[i]);
    item_dictionary_release(&x->dictionary);
    if (e == OK)
        e = list_blobs(c, subject, x);
    if (e == OK)
        e = place_content(x, c->problem);
    return e == OK ? check_room(x, c->problem) : e;
}

static enum error copy_blob(struct archive_export *x, const struct blob_place *b,
    struct content_reader *r, struct problem *problem)
{
    char *piece = mem_alloc(CONTENT_PIECE_BYTES);
    struct sha256_state *hash = sha256_create();
    uint64_t at = 0;
    enum error e = OK;
    while (e == OK && at < b->size_bytes) {
        size_t size = 0;
        e = may_continue(x);
        if (e == OK)
            e = content_read(r, at, piece, CONTENT_PIECE_BYTES, &size);
        if (e == OK && size == 0)
            e = ERR_DAMAGED;
        struct str got = {piece, e == OK ? size : 0};
        sha256_add(hash, got);
        if (e == OK)
            e = write_at(x, got, b->at + at, problem);
        at += size;
    }
    struct sha256 found = sha256_finish(hash);
    mem_free(piece);
    if (e == OK && memcmp(found.bytes, b->sha256.bytes, SHA256_LEN) != 0)
        e = ERR_DAMAGED;
    return e;
}

/* --- Missing content -------------------------------------------------------------------------- */

struct doubt {
    struct uuid tenant_id;
    struct uuid id;
    bool is_known;
};

static enum error look_up(void *data, struct tx *tx)
{
    struct doubt *d = data;
    struct arena arena;
    struct problem unused;
    struct context c;
    arena_init(&arena, SIZE_MAX);
    problem_init(&unused, &arena);
    context_init(&c, &arena, &unused, tx);
    enum error e = blob_is_known(&c, d->tenant_id, d->id, &d->is_known);
    arena_deinit(&arena);
    return e;
}

/* Content of a file that was deleted after its row was read is not damage: the client may repeat
 * the export. */
static enum error blame(
    struct store *store, struct uuid tenant_id, const struct blob_place *b, struct problem *problem)
{
    struct doubt doubt = {tenant_id, b->id, false};
    TRY(store_call(store, STORE_READ, look_up, &doubt));
    if (!doubt.is_known)
        return problem_set(
            problem, ERR_UNAVAILABLE, "content was deleted during the export: try again");
    store_note_damage(store);
    return problem_set(
        problem, ERR_DAMAGED, "stored content is damaged: run cairn check for details");
}

enum error archive_export_fill(
    struct archive_export *x, struct store *store, struct uuid tenant_id, struct problem *problem)
{
    enum error e = OK;
    for (size_t i = 0; e == OK && i < x->n_blobs; i++) {
        const struct blob_place *b = &x->blobs[i];
        struct content_reader *r = NULL;
        e = content_open(store, tenant_id, b->id, b->size_bytes, &r);
        if (e == OK)
            e = copy_blob(x, b, r, problem);
        content_close(r);
        if (e == ERR_DAMAGED)
            e = blame(store, tenant_id, b, problem);
    }
    return e;
}
