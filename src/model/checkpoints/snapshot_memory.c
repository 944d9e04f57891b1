/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/snapshot_memory.h"

#include "base/memo.h"
#include "model/checkpoints/items.h"
#include "model/checkpoints/snapshots.sql.h"

enum { MANIFESTS_MAX_BYTES = 8 * 1024 * 1024 };

static struct memo manifests = MEMO_INIT(MANIFESTS_MAX_BYTES);

struct key {
    struct uuid tenant_id;
    struct uuid id;
};

static struct str key_str(const struct key *key)
{
    return (struct str){(const char *)key, sizeof *key};
}

/* An entry is the snapshot without its manifest, and then the bytes of the manifest. If the sweep
 * has made a base whole, chain_bytes is too large, and the chain ends earlier than necessary. */
void snapshot_remember(
    const struct context *c, const struct snapshot_loaded *loaded, struct str whole)
{
    const struct key key = {c->tenant_id, loaded->head.id};
    struct snapshot_loaded head = *loaded;
    struct buf entry CLEANUP(buf_deinit);
    buf_init(&entry, sizeof head + whole.len);
    head.manifest = (struct manifest){0};
    buf_append(&entry, (struct str){(const char *)&head, sizeof head});
    buf_append(&entry, whole);
    memo_add(&manifests, key_str(&key), buf_str(&entry));
}

static bool is_same(const struct snapshot_loaded *a, const struct snapshot_loaded *b)
{
    return uuid_eq(a->head.thread_id, b->head.thread_id) && a->has_base == b->has_base &&
           (!a->has_base || uuid_eq(a->base_id, b->base_id)) && a->depth == b->depth &&
           memcmp(&a->head.sha256, &b->head.sha256, sizeof a->head.sha256) == 0 &&
           a->head.size_bytes == b->head.size_bytes && a->head.created_at == b->head.created_at;
}

/* Returns true if the row of the snapshot is the remembered one. */
static enum error check_row(
    struct context *c, const struct snapshot_loaded *known, bool *out_exists, bool *out_is_same)
{
    struct query q;
    *out_exists = *out_is_same = false;
    context_query(c, &q, &SQL_SNAPSHOT_ROW);
    query_uuid(&q, id, known->head.id);
    while (query_next(&q)) {
        struct snapshot_loaded row = {.head.thread_id = row_uuid(&q)};
        row.has_base = row_uuid_if(&q, &row.base_id);
        row.depth = row_i64(&q);
        struct str hash = row_bytes(&q);
        if (hash.len == SHA256_LEN)
            memcpy(row.head.sha256.bytes, hash.ptr, SHA256_LEN);
        row.head.size_bytes = row_i64(&q);
        row.head.created_at = row_i64(&q);
        *out_exists = true;
        *out_is_same = is_same(&row, known);
    }
    return query_end(&q);
}

enum error snapshot_recall(struct context *c, struct arena *arena, struct uuid id, bool *out_found,
    struct snapshot_loaded *out)
{
    const struct key key = {c->tenant_id, id};
    struct snapshot_loaded known;
    struct str entry;
    bool exists;
    *out_found = false;
    if (!memo_get(&manifests, key_str(&key), arena, &entry))
        return OK;
    memcpy(&known, entry.ptr, sizeof known);
    TRY(check_row(c, &known, &exists, out_found));
    if (!exists)
        return context_not_found(c, "snapshot", id);
    if (*out_found)
        *out_found =
            manifest_read(arena, str_slice(entry, sizeof known, entry.len), &known.manifest);
    if (*out_found)
        *out = known;
    return OK;
}

void snapshot_forget_all(void)
{
    memo_clear(&manifests);
    item_forget_texts();
}
