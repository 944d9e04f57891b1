/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/items.h"

#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/items.sql.h"
#include "model/integrity.h"

static int by_hash(const void *a, const void *b)
{
    const struct piece *const *x = a, *const *y = b;
    return memcmp((*x)->at, (*y)->at, SHA256_LEN);
}

/* Sorts the items by hash and removes duplicates, keeping those with a text. The concatenated
 * hashes are in the arena. */
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
    query_uuid(q, tenant_id, c->tenant_id);
    query_bytes(q, hashes, hashes);
    query_i64(q, count, (int64_t)(hashes.len / SHA256_LEN));
}

/* --- Storing -------------------------------------------------------------------------------- */

static enum error insert(struct context *c, struct arena *arena, const struct piece *piece,
    struct item_dictionary *dictionary)
{
    struct query q;
    int64_t column;
    struct str text = {piece->text, piece->len};
    struct str packed = item_pack(arena, text, dictionary, COMPRESS_FAST, &column);
    context_query(c, &q, &SQL_ITEM_INSERT);
    query_bytes(&q, sha256, (struct str){piece->at, SHA256_LEN});
    query_i64(&q, size_bytes, piece->len);
    query_i64(&q, dictionary, column);
    query_bytes(&q, bytes, packed);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error gone(struct context *c, const struct piece *piece)
{
    tx_note_damage(c->tx);
    return integrity_lost(c, "the item with the SHA-256 %.*s",
        STR_ARG(hex_encode(c->arena, (struct str){piece->at, SHA256_LEN})));
}

/* New items are stored even if the dictionary is damaged. */
static enum error insert_all(
    struct context *c, struct arena *arena, const struct piece **pieces, size_t n)
{
    CLEANUP(item_dictionary_release) struct item_dictionary dictionary = {0};
    enum error e = n > 0 ? item_dictionary_newest(c, arena, &dictionary) : OK;
    if (e == ERR_DAMAGED)
        e = OK;
    for (size_t i = 0; e == OK && i < n; i++)
        e = pieces[i]->text == NULL ? gone(c, pieces[i]) : insert(c, arena, pieces[i], &dictionary);
    return e;
}

/* Moves the items that are not stored to the front. */
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
    query_uuid(&q, snapshot_id, snapshot_id);
    return query_run(&q);
}

enum error item_refer(
    struct context *c, struct uuid snapshot_id, const struct manifest_named *named)
{
    size_t n = named->n, absent = 0;
    if (n == 0)
        return OK;
    struct str hashes = sort_once(named->arena, named->pieces, &n);
    TRY(find_absent(c, named->arena, hashes, named->pieces, n, &absent));
    TRY(insert_all(c, named->arena, named->pieces, absent));
    return refer(c, named->arena, snapshot_id, hashes);
}

/* --- Reading -------------------------------------------------------------------------------- */

static const struct piece *find(const struct piece *const *pieces, size_t n, struct str hash)
{
    const struct piece key = {.at = hash.ptr}, *at = &key;
    const struct piece *const *found = bsearch(&at, pieces, n, sizeof(pieces[0]), by_hash);
    return found == NULL ? NULL : *found;
}

/* The row of a requested item. Rows are unpacked after all were read, because that may need another
 * statement for a dictionary. */
struct found {
    struct piece *piece;
    struct str hash;
    int64_t size;
    int64_t column;
    struct str bytes;
    struct str dictionary_hash;
};

static enum error find_all(struct context *c, struct arena *arena,
    const struct piece *const *wanted, size_t n, struct str hashes, struct found *out,
    size_t *out_n)
{
    struct query q;
    *out_n = 0;
    begin_on_hashes(c, &q, arena, &SQL_ITEM_READ, hashes);
    while (*out_n < n && query_next(&q)) {
        struct found *found = &out[*out_n];
        found->hash = row_bytes(&q);
        found->size = row_i64(&q);
        found->column = row_i64(&q);
        found->bytes = row_bytes(&q);
        found->dictionary_hash = row_bytes(&q);
        const struct piece *piece =
            found->hash.len == SHA256_LEN ? find(wanted, n, found->hash) : NULL;
        found->piece = (struct piece *)(uintptr_t)piece;
        *out_n += piece != NULL;
    }
    return query_end(&q);
}

static enum error unpack(struct context *c, struct arena *arena, const struct found *found,
    struct item_dictionary *dictionary)
{
    struct str text;
    if (found->column > 0 && found->column != dictionary->number) {
        item_dictionary_release(dictionary);
        TRY(item_dictionary_get(c, arena, found->column, found->dictionary_hash, dictionary));
    }
    if (found->size != found->piece->len ||
        !item_unpack(arena, found->bytes, found->column, found->piece->len, dictionary, &text))
        return gone(c, found->piece);
    struct sha256 hash = sha256_of(text);
    if (memcmp(found->hash.ptr, hash.bytes, SHA256_LEN) != 0)
        return gone(c, found->piece);
    found->piece->text = text.ptr;
    return OK;
}

static enum error read_wanted(
    struct context *c, struct arena *arena, const struct piece **wanted, size_t *n)
{
    CLEANUP(item_dictionary_release) struct item_dictionary dictionary = {0};
    struct str hashes = sort_once(arena, wanted, n);
    struct found *found = ARENA_ARRAY(arena, struct found, *n);
    size_t n_found;
    TRY(find_all(c, arena, wanted, *n, hashes, found, &n_found));
    for (size_t i = 0; i < n_found; i++)
        TRY(unpack(c, arena, &found[i], &dictionary));
    return OK;
}

enum error item_read(struct context *c, struct arena *arena, struct piece *const *pieces, size_t n)
{
    const struct piece **wanted = ARENA_ARRAY(arena, const struct piece *, n + 1);
    size_t count = n;
    if (n == 0)
        return OK;
    memcpy(wanted, pieces, n * sizeof(pieces[0]));
    enum error e = read_wanted(c, arena, wanted, &count);
    for (size_t i = 0; e == OK && i < n; i++) {
        const struct piece *read = find(wanted, count, (struct str){pieces[i]->at, SHA256_LEN});
        if (read->text == NULL || read->len != pieces[i]->len)
            e = gone(c, pieces[i]);
        pieces[i]->text = read->text;
    }
    return e;
}

/* --- No longer needed ----------------------------------------------------------------------- */

enum error item_doubt_snapshot(struct context *c, struct uuid snapshot_id)
{
    struct query q;
    context_query(c, &q, &SQL_ITEM_DOUBT_SNAPSHOT);
    query_uuid(&q, snapshot_id, snapshot_id);
    query_i64(&q, now, c->lease_now_us);
    return query_run(&q);
}
