/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/items.h"

#include "base/memo.h"
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

/* --- Remembering ----------------------------------------------------------------------------- */

enum { TEXTS_MAX_BYTES = 32 * 1024 * 1024 };

static struct memo texts = MEMO_INIT(TEXTS_MAX_BYTES);

/* No tenant can find out by the time of an answer what another one reads. */
struct text_key {
    struct uuid tenant_id;
    struct sha256 sha256;
};

static struct text_key key_of(const struct context *c, const struct piece *item)
{
    struct text_key key = {.tenant_id = c->tenant_id};
    memcpy(key.sha256.bytes, item->at, SHA256_LEN);
    return key;
}

static struct str key_str(const struct text_key *key)
{
    return (struct str){(const char *)key, sizeof *key};
}

static void remember(const struct context *c, const struct piece *item, const char *text)
{
    const struct text_key key = key_of(c, item);
    memo_add(&texts, key_str(&key), (struct str){text, item->len});
}

static bool recall(const struct context *c, const struct item_place *place)
{
    const struct text_key key = key_of(c, place->item);
    return memo_copy(&texts, key_str(&key), place->item->len, place->to);
}

void item_remember(const struct context *c, const struct manifest_named *named)
{
    for (size_t i = 0; i < named->n; i++)
        if (named->pieces[i]->text != NULL)
            remember(c, named->pieces[i], named->pieces[i]->text);
}

bool item_is_known(const struct context *c, const struct piece *item, struct str text)
{
    const struct text_key key = key_of(c, item);
    return memo_equals(&texts, key_str(&key), text);
}

void item_forget_texts(void)
{
    memo_clear(&texts);
}

/* --- Reading -------------------------------------------------------------------------------- */

static int by_item(const void *a, const void *b)
{
    const struct item_place *x = a, *y = b;
    return memcmp(x->item->at, y->item->at, SHA256_LEN);
}

/* Sorts the places by hash. Returns the different hashes, and the first place of each. */
static struct str sort_places(struct arena *arena, struct item_place *places, size_t n,
    struct item_place **out_firsts, size_t *out_n)
{
    struct item_place *firsts = ARENA_ARRAY(arena, struct item_place, n);
    char *hashes = arena_alloc(arena, n * SHA256_LEN);
    size_t count = 0;
    qsort(places, n, sizeof places[0], by_item);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && by_item(&places[i - 1], &places[i]) == 0)
            continue;
        memcpy(hashes + count * SHA256_LEN, places[i].item->at, SHA256_LEN);
        firsts[count++] = places[i];
    }
    *out_firsts = firsts;
    *out_n = count;
    return (struct str){hashes, count * SHA256_LEN};
}

static struct item_place *find(struct item_place *firsts, size_t n, struct str hash)
{
    const struct piece item = {.at = hash.ptr};
    const struct item_place key = {.item = &item};
    return hash.len == SHA256_LEN ? bsearch(&key, firsts, n, sizeof firsts[0], by_item) : NULL;
}

/* The row of a requested item. Rows are unpacked after all were read, because that may need another
 * statement for a dictionary. */
struct found {
    struct item_place *place;
    int64_t size;
    int64_t column;
    struct str bytes;
    struct str dictionary_hash;
};

static enum error find_all(struct context *c, struct arena *arena, struct str hashes,
    struct item_place *firsts, size_t n, struct found *out, size_t *out_n)
{
    struct query q;
    *out_n = 0;
    begin_on_hashes(c, &q, arena, &SQL_ITEM_READ, hashes);
    while (*out_n < n && query_next(&q)) {
        struct found *found = &out[*out_n];
        found->place = find(firsts, n, row_bytes(&q));
        found->size = row_i64(&q);
        found->column = row_i64(&q);
        found->bytes = row_bytes(&q);
        found->dictionary_hash = row_bytes(&q);
        *out_n += found->place != NULL;
    }
    return query_end(&q);
}

static enum error unpack(struct context *c, struct arena *arena, const struct found *found,
    struct item_dictionary *dictionary)
{
    struct item_place *place = found->place;
    const struct piece *item = place->item;
    if (found->column > 0 && found->column != dictionary->number) {
        item_dictionary_release(dictionary);
        TRY(item_dictionary_get(c, arena, found->column, found->dictionary_hash, dictionary));
    }
    if (found->size != item->len ||
        !item_unpack_to(place->to, found->bytes, found->column, item->len, dictionary))
        return gone(c, item);
    struct sha256 hash = sha256_of((struct str){place->to, item->len});
    if (memcmp(item->at, hash.bytes, SHA256_LEN) != 0)
        return gone(c, item);
    place->is_read = true;
    remember(c, item, place->to);
    return OK;
}

/* Reads each text to the first of its places. */
static enum error read_firsts(
    struct context *c, struct arena *arena, struct str hashes, struct item_place *firsts, size_t n)
{
    CLEANUP(item_dictionary_release) struct item_dictionary dictionary = {0};
    struct found *found = ARENA_ARRAY(arena, struct found, n);
    size_t n_found;
    TRY(find_all(c, arena, hashes, firsts, n, found, &n_found));
    for (size_t i = 0; i < n_found; i++)
        TRY(unpack(c, arena, &found[i], &dictionary));
    return OK;
}

static enum error read_stored(
    struct context *c, struct arena *arena, struct item_place *places, size_t n)
{
    struct item_place *first;
    size_t n_firsts;
    struct str hashes = sort_places(arena, places, n, &first, &n_firsts);
    TRY(read_firsts(c, arena, hashes, first, n_firsts));
    for (size_t i = 0; i < n; i++) {
        const struct piece *item = places[i].item;
        if (by_item(first, &places[i]) != 0)
            first++;
        if (!first->is_read || first->item->len != item->len)
            return gone(c, item);
        if (places[i].to != first->to)
            memcpy(places[i].to, first->to, item->len);
    }
    return OK;
}

enum error item_read(struct context *c, struct arena *arena, struct item_place *places, size_t n)
{
    size_t unknown = 0;
    for (size_t i = 0; i < n; i++)
        if (!recall(c, &places[i]))
            places[unknown++] = places[i];
    return unknown > 0 ? read_stored(c, arena, places, unknown) : OK;
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
