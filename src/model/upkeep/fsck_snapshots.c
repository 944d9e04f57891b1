/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots have the documents of their hashes and refer to the items of their manifests; items
 * have the content of their hashes. */
#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/snapshot_rows.h"
#include "model/upkeep/fsck_relations.sql.h"
#include "model/upkeep/fsck_walk.h"

enum { SNAPSHOTS_A_PAGE = 32, ITEMS_A_PAGE = 64 };

/* --- Snapshots ------------------------------------------------------------------------------ */

struct seen_snapshot {
    struct uuid tenant_id;
    struct uuid id;
    struct str manifest;
};

static int by_hash(const void *a, const void *b)
{
    const struct piece *const *x = a, *const *y = b;
    return memcmp((*x)->at, (*y)->at, SHA256_LEN);
}

/* The stored references must be the items of the manifest, each once and in order. */
static enum error fsck_references(struct fsck_walk *w, const struct seen_snapshot *s)
{
    struct manifest_named named = {.arena = w->page};
    struct str object = fsck_object(w, "snapshot", s->id);
    struct query q;
    size_t at = 0;
    bool same = true;
    if (!manifest_read_names(w->page, s->manifest, &named)) {
        fsck_found(w->fsck, "snapshot", object, "the manifest is malformed");
        return OK;
    }
    if (named.n > 0)
        qsort(named.pieces, named.n, sizeof(named.pieces[0]), by_hash);
    fsck_begin(w, &q, &SQL_FSCK_SNAPSHOT_ITEMS);
    query_uuid(&q, tenant_id, s->tenant_id);
    query_uuid(&q, id, s->id);
    while (query_next(&q)) {
        struct str hash = row_bytes(&q);
        same = same && at < named.n && hash.len == SHA256_LEN &&
               memcmp(named.pieces[at]->at, hash.ptr, SHA256_LEN) == 0;
        for (at++; at < named.n && by_hash(&named.pieces[at - 1], &named.pieces[at]) == 0;)
            at++;
    }
    TRY(query_end(&q));
    if (!same || at < named.n)
        fsck_found(
            w->fsck, "snapshot", object, "the references differ from the items in the manifest");
    return OK;
}

static enum error fsck_document(struct fsck_walk *w, const struct seen_snapshot *s)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot_loaded unused;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    w->c->tenant_id = s->tenant_id;
    enum error e = snapshot_load(w->c, &scratch, s->id, &unused);
    if (e != ERR_DAMAGED)
        return e;
    fsck_found(w->fsck, "snapshot", fsck_object(w, "snapshot", s->id),
        "the manifest, or the manifest of a base, differs from what was stored");
    return OK;
}

enum error fsck_read_snapshots(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    struct seen_snapshot *seen = ARENA_ARRAY(w->page, struct seen_snapshot, SNAPSHOTS_A_PAGE);
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_SNAPSHOTS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_uuid(&q, after_id, w->after_id);
    query_i64(&q, limit, SNAPSHOTS_A_PAGE);
    for (; *out_rows < SNAPSHOTS_A_PAGE && query_next(&q); ++*out_rows) {
        struct seen_snapshot *s = &seen[*out_rows];
        w->after_tenant = s->tenant_id = row_uuid(&q);
        w->after_id = s->id = row_uuid(&q);
        s->manifest = row_bytes(&q);
    }
    TRY(query_end(&q));
    for (size_t i = 0; i < *out_rows; i++) {
        TRY(fsck_references(w, &seen[i]));
        if (!w->fsck->quick)
            TRY(fsck_document(w, &seen[i]));
    }
    *out_more = *out_rows == SNAPSHOTS_A_PAGE;
    return OK;
}

/* --- Items ---------------------------------------------------------------------------------- */

struct seen_item {
    struct uuid tenant_id;
    struct str sha256;
    int64_t size;
    int64_t column;
    struct str bytes;
    struct str dictionary_hash;
};

static bool is_whole(
    struct fsck_walk *w, const struct seen_item *item, struct item_dictionary *dictionary)
{
    struct str text;
    w->c->tenant_id = item->tenant_id;
    if (item->column > 0) {
        item_dictionary_release(dictionary);
        if (item_dictionary_get(w->c, w->page, item->column, item->dictionary_hash, dictionary) !=
            OK)
            return false;
    }
    if (item->sha256.len != SHA256_LEN || item->size < 0 || item->size > SNAPSHOT_MAX_BYTES ||
        !item_unpack(w->page, item->bytes, item->column, (size_t)item->size, dictionary, &text))
        return false;
    struct sha256 hash = sha256_of(text);
    return memcmp(hash.bytes, item->sha256.ptr, SHA256_LEN) == 0;
}

static void fsck_item(
    struct fsck_walk *w, const struct seen_item *item, struct item_dictionary *dictionary)
{
    if (is_whole(w, item, dictionary))
        return;
    fsck_found(w->fsck, "item",
        arena_printf(w->page, "item %.*s", STR_ARG(hex_encode(w->page, item->sha256))),
        "the item, or its dictionary, differs from what was stored");
}

enum error fsck_read_items(struct fsck_walk *w, size_t *out_rows, bool *out_more)
{
    CLEANUP(item_dictionary_release) struct item_dictionary dictionary = {0};
    struct seen_item *seen = ARENA_ARRAY(w->page, struct seen_item, ITEMS_A_PAGE);
    struct query q;
    fsck_begin(w, &q, &SQL_FSCK_ITEMS);
    query_uuid(&q, after_tenant, w->after_tenant);
    query_bytes(&q, after_bytes, w->after_key);
    query_i64(&q, limit, ITEMS_A_PAGE);
    for (; *out_rows < ITEMS_A_PAGE && query_next(&q); ++*out_rows) {
        struct seen_item *item = &seen[*out_rows];
        item->tenant_id = row_uuid(&q);
        item->sha256 = row_bytes(&q);
        item->size = row_i64(&q);
        item->column = row_i64(&q);
        item->bytes = row_bytes(&q);
        item->dictionary_hash = row_bytes(&q);
    }
    enum error e = query_end(&q);
    for (size_t i = 0; e == OK && i < *out_rows && !w->fsck->quick; i++)
        fsck_item(w, &seen[i], &dictionary);
    *out_more = *out_rows == ITEMS_A_PAGE;
    if (*out_more) { /* the copy outlives the page */
        arena_clear(w->c->arena);
        w->after_tenant = seen[*out_rows - 1].tenant_id;
        w->after_key = arena_str(w->c->arena, seen[*out_rows - 1].sha256);
    }
    return e;
}
