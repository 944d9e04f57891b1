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

/* An item to pack. */
struct unpacked_item {
    struct str sha256;
    struct str text;   /* STR_NONE: the item is damaged */
    struct str packed; /* the bytes to store; STR_NONE: the stored bytes remain */
    int64_t column;
};

/* --- Reading --------------------------------------------------------------------------------- */

/* Reads items without a dictionary, up to a number of items or bytes. Skips damaged ones: reading
 * them reports the damage. */
static enum error read_unpacked(struct context *c, struct arena *arena, size_t max,
    size_t max_bytes, struct unpacked_item *out, size_t *out_count)
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

static enum error read_items(
    struct context *c, struct item_packing *p, size_t max, size_t max_bytes)
{
    p->items = ARENA_ARRAY(&p->arena, struct unpacked_item, max);
    return read_unpacked(c, &p->arena, max, max_bytes, p->items, &p->n);
}

/* If the dictionary is damaged, the items are not changed and the sweep continues. Reading an item
 * that needs the dictionary reports the damage. */
enum error item_packing_read(struct context *c, struct item_packing *p)
{
    bool enough = false;
    item_packing_deinit(p);
    arena_init(&p->arena, MEMORY_BYTES);
    enum error e = item_dictionary_newest(c, &p->arena, &p->dictionary);
    if (e == ERR_DAMAGED)
        return OK;
    if (e == OK && p->dictionary.number > 0)
        return read_items(c, p, ITEMS_A_JOB, BYTES_A_JOB);
    if (e == OK)
        e = is_enough(c, &enough);
    return e == OK && enough ? read_items(c, p, SAMPLES, DICTIONARY_SAMPLE_BYTES) : e;
}

void item_packing_deinit(struct item_packing *p)
{
    item_dictionary_release(&p->dictionary);
    arena_deinit(&p->arena);
    *p = (struct item_packing){.trained = STR_NONE};
}

/* --- Computing -------------------------------------------------------------------------------- */

static void train(struct item_packing *p)
{
    size_t *sizes = ARENA_ARRAY(&p->arena, size_t, p->n);
    struct buf samples CLEANUP(buf_deinit);
    size_t used = 0;
    buf_init(&samples, DICTIONARY_SAMPLE_BYTES + SAMPLE_MAX_BYTES);
    for (size_t i = 0; i < p->n && samples.len < DICTIONARY_SAMPLE_BYTES; i++) {
        struct str text = str_slice(p->items[i].text, 0, SAMPLE_MAX_BYTES);
        if (text.len == 0)
            continue;
        buf_append(&samples, text);
        sizes[used++] = text.len;
    }
    /* An eighth of the samples, because the dictionary is stored too. */
    size_t max_bytes = samples.len / 8;
    if (max_bytes > DICTIONARY_MAX_BYTES)
        max_bytes = DICTIONARY_MAX_BYTES;
    if (!dictionary_train(&p->arena, buf_str(&samples), sizes, used, max_bytes, &p->trained))
        p->trained = STR_NONE;
}

static void pack(struct item_packing *p, struct unpacked_item *item)
{
    if (!str_is_none(item->text))
        item->packed =
            item_pack(&p->arena, item->text, &p->dictionary, COMPRESS_WELL, &item->column);
}

void item_packing_compute(struct item_packing *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->items[i].packed = STR_NONE;
    if (p->dictionary.number == 0 && p->n > 0)
        train(p);
    for (size_t i = 0; p->dictionary.number > 0 && i < p->n; i++)
        pack(p, &p->items[i]);
    p->is_computed = true;
}

/* --- Storing ---------------------------------------------------------------------------------- */

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

static enum error repack(struct context *c, const struct unpacked_item *item)
{
    struct query q;
    context_query(c, &q, &SQL_ITEM_REPACK);
    query_bytes(&q, sha256, item->sha256);
    query_bytes(&q, bytes, item->packed);
    query_i64(&q, dictionary, item->column);
    return query_run(&q);
}

/* The tenant may have been deleted, and another node may have stored a dictionary. */
static enum error is_current(struct context *c, const struct item_packing *p, bool *out_is)
{
    TRY(item_dictionary_is_newest(c, &p->dictionary, out_is));
    return *out_is && p->dictionary.number == 0 ? is_enough(c, out_is) : OK;
}

/* Items that have nothing in common are not tried again in each pass, and damaged ones are not
 * changed. */
enum error item_packing_store(struct context *c, struct item_packing *p, bool *out_more)
{
    bool is_valid = false;
    *out_more = false;
    if (p->is_computed && p->n > 0)
        TRY(is_current(c, p, &is_valid));
    if (!is_valid)
        return OK;
    if (!str_is_none(p->trained))
        return insert(c, p->trained);
    for (size_t i = 0; i < p->n; i++)
        TRY(str_is_none(p->items[i].packed) ? leave(c, p->items[i].sha256)
                                            : repack(c, &p->items[i]));
    *out_more = p->dictionary.number > 0;
    return OK;
}
