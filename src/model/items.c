#include "model/items.h"

#include "model/integrity.h"
#include "model/statements.h"

enum { AS_IT_IS = -1 }; /* in the column `dictionary` */

static int by_hash(const void *a, const void *b)
{
    const struct piece *const *x = a, *const *y = b;
    return memcmp((*x)->at, (*y)->at, SHA256_LEN);
}

/* In the order of their hashes, each once; of equal ones the one with its text. Their hashes, one
 * after the other, go to the arena. */
static struct str sort_once(struct arena *arena, const struct piece **pieces, size_t *n)
{
    size_t kept = 0;
    if (*n > 0)
        qsort(pieces, *n, sizeof(pieces[0]), by_hash);
    for (size_t i = 0; i < *n; i++) {
        if (kept == 0 || by_hash(&pieces[kept - 1], &pieces[i]) != 0)
            pieces[kept++] = pieces[i];
        else if (pieces[kept - 1]->text == NULL)
            pieces[kept - 1] = pieces[i];
    }
    *n = kept;
    char *hashes = arena_alloc(arena, kept * SHA256_LEN + 1);
    for (size_t i = 0; i < kept; i++)
        memcpy(hashes + i * SHA256_LEN, pieces[i]->at, SHA256_LEN);
    return (struct str){hashes, kept * SHA256_LEN};
}

static void begin_on_hashes(struct context *c, struct query *q, struct arena *arena,
    const struct sql_statement *statement, struct str hashes)
{
    query_begin(q, c->tx, statement, arena);
    query_uuid(q, "tenant_id", c->tenant_id);
    query_bytes(q, "hashes", hashes);
    query_i64(q, "count", (int64_t)(hashes.len / SHA256_LEN));
}

/* --- Storing -------------------------------------------------------------------------------- */

static enum error insert(struct context *c, const struct piece *piece)
{
    struct query q;
    context_query(c, &q, &SQL_ITEM_INSERT);
    query_bytes(&q, "sha256", (struct str){piece->at, SHA256_LEN});
    query_i64(&q, "size_bytes", piece->len);
    query_i64(&q, "dictionary", AS_IT_IS);
    query_bytes(&q, "bytes", (struct str){piece->text, piece->len});
    query_i64(&q, "now", c->now_us);
    return query_run(&q);
}

/* Moves those that are not stored to the front. */
static enum error find_absent(struct context *c, struct arena *arena, struct str hashes,
    const struct piece **pieces, size_t n, size_t *out_absent)
{
    struct query q;
    size_t absent = 0, at = 0;
    begin_on_hashes(c, &q, arena, &SQL_ITEM_PRESENT, hashes);
    while (query_next(&q)) {
        struct str hash = row_bytes(&q);
        while (at < n && memcmp(pieces[at]->at, hash.ptr, SHA256_LEN) < 0)
            pieces[absent++] = pieces[at++];
        at += at < n && memcmp(pieces[at]->at, hash.ptr, SHA256_LEN) == 0;
    }
    while (at < n)
        pieces[absent++] = pieces[at++];
    *out_absent = absent;
    return query_end(&q);
}

static enum error refer(
    struct context *c, struct arena *arena, struct uuid snapshot_id, struct str hashes)
{
    struct query q;
    begin_on_hashes(c, &q, arena, &SQL_ITEM_REFER, hashes);
    query_uuid(&q, "snapshot_id", snapshot_id);
    return query_run(&q);
}

static enum error gone(struct context *c, const struct piece *piece)
{
    tx_note_damage(c->tx);
    return integrity_lost(c, "the item with the SHA-256 %.*s",
        STR_ARG(hex_encode(c->arena, (struct str){piece->at, SHA256_LEN})));
}

enum error item_refer(
    struct context *c, struct uuid snapshot_id, const struct manifest_named *named)
{
    size_t n = named->n, absent = 0;
    if (n == 0)
        return OK;
    struct str hashes = sort_once(named->arena, named->pieces, &n);
    enum error e = find_absent(c, named->arena, hashes, named->pieces, n, &absent);
    for (size_t i = 0; e == OK && i < absent; i++)
        e = named->pieces[i]->text == NULL ? gone(c, named->pieces[i])
                                           : insert(c, named->pieces[i]);
    return e == OK ? refer(c, named->arena, snapshot_id, hashes) : e;
}

/* --- Reading -------------------------------------------------------------------------------- */

static const struct piece *find(const struct piece *const *pieces, size_t n, struct str hash)
{
    const struct piece key = {.at = hash.ptr}, *at = &key;
    const struct piece *const *found = bsearch(&at, pieces, n, sizeof(pieces[0]), by_hash);
    return found == NULL ? NULL : *found;
}

static enum error read_row(
    struct context *c, struct query *q, const struct piece *const *wanted, size_t n)
{
    struct str hash = row_bytes(q);
    int64_t size = row_i64(q), dictionary = row_i64(q);
    struct str bytes = row_bytes(q);
    struct piece *piece =
        hash.len == SHA256_LEN ? (struct piece *)(uintptr_t)find(wanted, n, hash) : NULL;
    if (piece == NULL)
        return OK;
    struct sha256 found = sha256_of(bytes);
    if (dictionary != AS_IT_IS || size != (int64_t)bytes.len || piece->len != bytes.len ||
        !integrity_holds(c, hash, &found))
        return gone(c, piece);
    piece->text = bytes.ptr;
    return OK;
}

enum error item_read(struct context *c, struct arena *arena, struct piece *const *pieces, size_t n)
{
    const struct piece **wanted = ARENA_ARRAY(arena, const struct piece *, n + 1);
    struct query q;
    enum error e = OK;
    size_t count = n;
    if (n == 0)
        return OK;
    memcpy(wanted, pieces, n * sizeof(pieces[0]));
    begin_on_hashes(c, &q, arena, &SQL_ITEM_READ, sort_once(arena, wanted, &count));
    while (e == OK && query_next(&q))
        e = read_row(c, &q, wanted, count);
    enum error ended = query_end(&q);
    e = ended == OK ? e : ended;
    for (size_t i = 0; e == OK && i < n; i++) {
        pieces[i]->text = find(wanted, count, (struct str){pieces[i]->at, SHA256_LEN})->text;
        if (pieces[i]->text == NULL ||
            pieces[i]->len != find(wanted, count, (struct str){pieces[i]->at, SHA256_LEN})->len)
            e = gone(c, pieces[i]);
    }
    return e;
}

/* --- No longer needed ----------------------------------------------------------------------- */

enum error item_doubt_snapshot(struct context *c, struct uuid snapshot_id)
{
    struct query q;
    context_query(c, &q, &SQL_ITEM_DOUBT_SNAPSHOT);
    query_uuid(&q, "snapshot_id", snapshot_id);
    query_i64(&q, "now", c->lease_now_us);
    return query_run(&q);
}
