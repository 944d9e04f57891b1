/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep compresses items: it creates a dictionary for each tenant and packs items with it. */
#include "base/buf.h"
#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/items.sql.h"
#include "model/integrity.h"

enum {
    ITEMS_A_JOB = 128,
    BYTES_A_JOB = 512 * 1024,
    MEMORY_BYTES = 64 * 1024 * 1024,
    SAMPLES = 2048,
    SAMPLE_MAX_BYTES = 16 * 1024, /* of one item: its beginning is representative */
};

enum error item_next_to_pack(struct context *c, struct uuid after, struct uuid *out_tenant_id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_ITEM_NEXT_TO_PACK, c->arena);
    query_uuid(&q, after, after);
    *out_tenant_id = UUID_NIL;
    while (query_next(&q))
        *out_tenant_id = row_uuid(&q);
    return query_end(&q);
}

/* An item to pack, in its stored form. */
struct unpacked {
    struct str sha256;
    struct str text;
};

/* Reads items without a dictionary, up to a number of items or bytes. Skips damaged ones: reading
 * them reports the damage. */
static enum error read_unpacked(struct context *c, struct arena *arena, size_t max,
    size_t max_bytes, struct unpacked *out, size_t *out_count)
{
    CLEANUP(item_dictionary_release) struct item_dictionary none = {0};
    struct query q;
    size_t n = 0, bytes = 0;
    query_begin(&q, c->tx, &SQL_ITEM_UNPACKED, arena);
    query_uuid(&q, tenant_id, c->tenant_id);
    query_i64(&q, limit, (int64_t)max);
    query_i64(&q, max_bytes, (int64_t)max_bytes);
    while (n < max && bytes < max_bytes && query_next(&q)) {
        out[n].sha256 = row_bytes(&q);
        int64_t size = row_i64(&q), column = row_i64(&q);
        struct str stored = row_bytes(&q);
        struct sha256 found = {0};
        bool good = size >= 0 && size <= INT32_MAX &&
                    item_unpack(arena, stored, column, (size_t)size, &none, &out[n].text);
        if (good)
            found = sha256_of(out[n].text);
        if (!good || !integrity_holds(c, out[n].sha256, &found))
            out[n].text = STR_NONE;
        bytes += stored.len;
        n++;
    }
    *out_count = n;
    return query_end(&q);
}

/* --- The dictionary --------------------------------------------------------------------------- */

static enum error is_enough(struct context *c, bool *out_is)
{
    struct query q;
    int64_t items = 0, bytes = 0;
    context_query(c, &q, &SQL_ITEM_UNPACKED_COUNT);
    query_i64(&q, limit, DICTIONARY_FROM_ITEMS);
    while (query_next(&q)) {
        items = row_i64(&q);
        bytes = row_i64(&q);
    }
    *out_is = items >= DICTIONARY_FROM_ITEMS || bytes >= DICTIONARY_FROM_BYTES;
    return query_end(&q);
}

/* If another node has created a dictionary with the same number, that one is used. */
static enum error insert(struct context *c, struct str bytes)
{
    struct query q;
    struct sha256 hash = sha256_of(bytes);
    context_query(c, &q, &SQL_ITEM_DICTIONARY_INSERT);
    query_i64(&q, number, 1);
    query_bytes(&q, bytes, bytes);
    query_bytes(&q, sha256, (struct str){(const char *)hash.bytes, SHA256_LEN});
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error leave(struct context *c, struct str sha256)
{
    struct query q;
    context_query(c, &q, &SQL_ITEM_LEAVE_UNPACKED);
    query_bytes(&q, sha256, sha256);
    return query_run(&q);
}

static enum error make_dictionary(struct context *c, struct arena *arena)
{
    struct unpacked *items = ARENA_ARRAY(arena, struct unpacked, SAMPLES);
    size_t *sizes = ARENA_ARRAY(arena, size_t, SAMPLES);
    struct buf samples CLEANUP(buf_deinit);
    struct str bytes;
    size_t n = 0, used = 0;
    buf_init(&samples, DICTIONARY_SAMPLE_BYTES + SAMPLE_MAX_BYTES);
    TRY(read_unpacked(c, arena, SAMPLES, DICTIONARY_SAMPLE_BYTES, items, &n));
    for (size_t i = 0; i < n && samples.len < DICTIONARY_SAMPLE_BYTES; i++) {
        struct str text = str_slice(items[i].text, 0, SAMPLE_MAX_BYTES);
        if (text.len == 0)
            continue;
        buf_append(&samples, text);
        sizes[used++] = text.len;
    }
    /* An eighth of the samples, because the dictionary is stored too. */
    size_t max_bytes = samples.len / 8;
    if (max_bytes > DICTIONARY_MAX_BYTES)
        max_bytes = DICTIONARY_MAX_BYTES;
    if (dictionary_train(arena, buf_str(&samples), sizes, used, max_bytes, &bytes))
        return insert(c, bytes);
    /* The items have nothing in common: do not try again in each pass. */
    for (size_t i = 0; i < n; i++)
        TRY(leave(c, items[i].sha256));
    return OK;
}

/* --- Packing ---------------------------------------------------------------------------------- */

static enum error repack(struct context *c, struct arena *arena, const struct unpacked *item,
    struct item_dictionary *dictionary)
{
    struct query q;
    int64_t column;
    if (str_is_none(item->text)) /* damaged items are not changed */
        return leave(c, item->sha256);
    struct str packed = item_pack(arena, item->text, dictionary, COMPRESS_WELL, &column);
    query_begin(&q, c->tx, &SQL_ITEM_REPACK, arena);
    query_uuid(&q, tenant_id, c->tenant_id);
    query_bytes(&q, sha256, item->sha256);
    query_bytes(&q, bytes, packed);
    query_i64(&q, dictionary, column);
    return query_run(&q);
}

static enum error pack_slice(
    struct context *c, struct arena *arena, struct item_dictionary *dictionary, bool *out_more)
{
    struct unpacked *items = ARENA_ARRAY(arena, struct unpacked, ITEMS_A_JOB);
    size_t n = 0;
    TRY(read_unpacked(c, arena, ITEMS_A_JOB, BYTES_A_JOB, items, &n));
    for (size_t i = 0; i < n; i++)
        TRY(repack(c, arena, &items[i], dictionary));
    *out_more = n > 0;
    return OK;
}

enum error item_pack_some(struct context *c, bool *out_more)
{
    CLEANUP(arena_deinit) struct arena scratch;
    CLEANUP(item_dictionary_release) struct item_dictionary dictionary = {0};
    bool enough = false;
    arena_init(&scratch, MEMORY_BYTES);
    *out_more = false;
    enum error e = item_dictionary_newest(c, &scratch, &dictionary);
    /* The items are not changed, and the sweep continues. Reading an item that needs the damaged
     * dictionary reports the damage. */
    if (e == ERR_DAMAGED)
        return OK;
    if (e == OK && dictionary.number > 0)
        return pack_slice(c, &scratch, &dictionary, out_more);
    if (e == OK)
        e = is_enough(c, &enough);
    return e == OK && enough ? make_dictionary(c, &scratch) : e;
}
