/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/snapshots.h"

#include "model/checkpoints/items.h"
#include "model/checkpoints/snapshot_rows.h"
#include "model/checkpoints/snapshots.sql.h"
#include "model/integrity.h"

/* --- Reading manifests ---------------------------------------------------------------------- */

static enum error not_found(struct context *c, struct uuid id)
{
    return context_not_found(c, "snapshot", id);
}

static enum error damaged(struct context *c, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    tx_note_damage(c->tx);
    return integrity_lost(c, "the manifest of snapshot %.*s", UUID_TEXT_LEN, text);
}

/* Reads one snapshot of the chain. The last one is the requested snapshot and sets its members. */
static bool read_link(struct query *q, struct arena *arena, bool is_first,
    struct snapshot_loaded *s, struct str *hash)
{
    int64_t dropped_at;
    s->head.thread_id = row_uuid(q);
    s->has_base = row_uuid_if(q, &s->base_id);
    s->depth = row_i64(q);
    struct str manifest = row_bytes(q);
    s->chain_bytes += manifest.len;
    *hash = row_bytes(q);
    s->head.size_bytes = row_i64(q);
    s->head.created_at = row_i64(q);
    s->is_dropped = row_i64_if(q, &dropped_at);
    return is_first != s->has_base && manifest_read(arena, manifest, &s->manifest);
}

enum error snapshot_load(
    struct context *c, struct arena *arena, struct uuid id, struct snapshot_loaded *out)
{
    struct snapshot_loaded s = {.head.id = id};
    struct str hash = STR_NONE;
    bool good = true;
    size_t links = 0;
    struct query q;
    query_begin(&q, c->tx, &SQL_SNAPSHOT_CHAIN, arena);
    query_uuid(&q, tenant_id, c->tenant_id);
    query_uuid(&q, id, id);
    for (; query_next(&q); links++)
        good = read_link(&q, arena, links == 0, &s, &hash) && good;
    TRY(query_end(&q));
    if (links == 0)
        return not_found(c, id);
    s.head.sha256 = good ? manifest_hash(&s.manifest) : (struct sha256){0};
    if (!good || hash.len != SHA256_LEN || memcmp(hash.ptr, s.head.sha256.bytes, SHA256_LEN) != 0 ||
        manifest_len(&s.manifest) != (uint64_t)s.head.size_bytes)
        return damaged(c, id);
    *out = s;
    return OK;
}

/* Loads a snapshot that was not dropped. */
static enum error load(
    struct context *c, struct arena *arena, struct uuid id, struct snapshot_loaded *out)
{
    TRY(snapshot_load(c, arena, id, out));
    return out->is_dropped ? not_found(c, id) : OK;
}

enum error snapshot_get_head(struct context *c, struct uuid id, struct snapshot *out_snapshot)
{
    struct query q;
    bool found = false;
    context_query(c, &q, &SQL_SNAPSHOT_HEAD);
    query_uuid(&q, id, id);
    while (query_next(&q)) {
        struct snapshot s = {.id = id, .thread_id = row_uuid(&q)};
        struct str hash = row_bytes(&q);
        s.size_bytes = row_i64(&q);
        s.created_at = row_i64(&q);
        if (hash.len == SHA256_LEN)
            memcpy(s.sha256.bytes, hash.ptr, SHA256_LEN);
        *out_snapshot = s;
        found = true;
    }
    TRY(query_end(&q));
    return !found ? not_found(c, id) : OK;
}

/* --- Reading documents ---------------------------------------------------------------------- */

static void want(struct cut *cut, struct piece **wanted, size_t *n)
{
    for (size_t i = 0; i < cut->n; i++)
        if (cut->pieces[i].is_item)
            wanted[(*n)++] = &cut->pieces[i];
}

static char *put_str(char *at, struct str s)
{
    memcpy(at, s.ptr, s.len);
    return at + s.len;
}

static char *put_cut(char *at, const struct cut *cut)
{
    if (cut->is_array)
        *at++ = '[';
    for (size_t i = 0; i < cut->n; i++) {
        const struct piece *piece = &cut->pieces[i];
        if (i > 0)
            *at++ = ',';
        at = put_str(at, (struct str){piece->is_item ? piece->text : piece->at, piece->len});
    }
    if (cut->is_array)
        *at++ = ']';
    return at;
}

enum error snapshot_read_cut(
    struct context *c, struct arena *arena, struct cut *cut, struct str *out_text)
{
    struct piece **wanted = ARENA_ARRAY(arena, struct piece *, cut->n + 1);
    size_t n = 0;
    want(cut, wanted, &n);
    TRY(item_read(c, arena, wanted, n));
    size_t len = (size_t)cut_len(cut);
    char *text = arena_alloc(c->arena, len + 1);
    put_cut(text, cut);
    *out_text = (struct str){text, len};
    return OK;
}

static enum error read_object(
    struct context *c, struct arena *arena, struct manifest *m, struct str *out_document)
{
    struct piece **wanted = ARENA_ARRAY(arena, struct piece *, manifest_pieces(m) + 1);
    size_t n = 0, len = (size_t)manifest_len(m);
    for (size_t i = 0; i < m->n_members; i++)
        want(&m->members[i].value, wanted, &n);
    TRY(item_read(c, arena, wanted, n));
    char *text = arena_alloc(c->arena, len + 1), *at = text;
    *at++ = '{';
    for (size_t i = 0; i < m->n_members; i++) {
        if (i > 0)
            *at++ = ',';
        at = put_str(at, m->members[i].key);
        *at++ = ':';
        at = put_cut(at, &m->members[i].value);
    }
    *at++ = '}';
    assert((size_t)(at - text) == len);
    *out_document = (struct str){text, len};
    return OK;
}

enum error snapshot_read_document(
    struct context *c, struct arena *arena, struct manifest *m, struct str *out_document)
{
    return m->is_object ? read_object(c, arena, m, out_document)
                        : snapshot_read_cut(c, arena, &m->value, out_document);
}

enum error snapshot_get(struct context *c, struct uuid id, struct str *out_document)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot_loaded s;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    TRY(load(c, &scratch, id, &s));
    return snapshot_read_document(c, &scratch, &s.manifest, out_document);
}

enum error snapshot_get_members(
    struct context *c, struct uuid id, const struct str *names, size_t n, struct str *out_values)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot_loaded s;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    TRY(load(c, &scratch, id, &s));
    for (size_t i = 0; i < n; i++) {
        size_t at = manifest_find(&s.manifest, names[i]);
        out_values[i] = STR_NONE;
        if (at < s.manifest.n_members)
            TRY(snapshot_read_cut(c, &scratch, &s.manifest.members[at].value, &out_values[i]));
    }
    return OK;
}

enum error snapshot_get_member(
    struct context *c, struct uuid id, struct str name, struct str *out_value)
{
    return snapshot_get_members(c, id, &name, 1, out_value);
}

/* --- Storing -------------------------------------------------------------------------------- */

static enum error check_limits(struct context *c, const struct manifest *m)
{
    if (manifest_len(m) > SNAPSHOT_MAX_BYTES)
        return problem_set(c->problem, ERR_INVALID,
            "the document has %llu bytes; a snapshot can have at most %d",
            (unsigned long long)manifest_len(m), SNAPSHOT_MAX_BYTES);
    if (manifest_pieces(m) > SNAPSHOT_MAX_ITEMS)
        return problem_set(c->problem, ERR_INVALID,
            "the document has %zu members and elements of members; a snapshot can have at most %d",
            manifest_pieces(m), SNAPSHOT_MAX_ITEMS);
    return OK;
}

static enum error insert(struct context *c, const struct snapshot *s,
    const struct snapshot_loaded *base, struct str manifest)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_INSERT);
    query_uuid(&q, id, s->id);
    query_uuid(&q, thread_id, s->thread_id);
    query_uuid_if(&q, base_id, base != NULL, base != NULL ? base->head.id : UUID_NIL);
    query_i64(&q, depth, base != NULL ? base->depth + 1 : 0);
    query_bytes(&q, manifest, manifest);
    query_bytes(&q, sha256, (struct str){(const char *)s->sha256.bytes, SHA256_LEN});
    query_i64(&q, size_bytes, s->size_bytes);
    query_i64(&q, now, s->created_at);
    return query_run(&q);
}

static bool may_build_on(const struct snapshot_loaded *base, size_t delta_len, size_t whole_len)
{
    size_t least = whole_len > SNAPSHOT_CHAIN_MIN_BYTES ? whole_len : SNAPSHOT_CHAIN_MIN_BYTES;
    return delta_len < whole_len && base->chain_bytes + delta_len <= least * SNAPSHOT_CHAIN_FACTOR;
}

/* Stores the difference from the base, unless the chain would have too many links or bytes. */
enum error snapshot_store(struct context *c, struct arena *arena, struct uuid thread_id,
    const struct snapshot_loaded *base, const struct manifest *m, struct snapshot *out_snapshot)
{
    struct buf whole CLEANUP(buf_deinit), delta CLEANUP(buf_deinit);
    struct manifest_named in_whole = {.arena = arena}, in_delta = {.arena = arena};
    buf_init(&whole, MANIFEST_MAX_BYTES);
    buf_init(&delta, MANIFEST_MAX_BYTES);
    TRY(check_limits(c, m));
    manifest_write(m, &whole, &in_whole);
    bool has_base = base != NULL && base->depth + 1 < SNAPSHOT_DEPTH_MAX &&
                    manifest_write_delta(&base->manifest, m, arena, &delta, &in_delta) &&
                    !delta.failed && may_build_on(base, delta.len, whole.len);
    assert(!whole.failed);
    struct snapshot s = {.id = uuid_v7(),
        .thread_id = thread_id,
        .sha256 = sha256_of(buf_str(&whole)),
        .size_bytes = (int64_t)manifest_len(m),
        .created_at = c->now_us};
    TRY(insert(c, &s, has_base ? base : NULL, buf_str(has_base ? &delta : &whole)));
    TRY(item_refer(c, s.id, has_base ? &in_delta : &in_whole));
    *out_snapshot = s;
    return OK;
}

/* A base of another thread is reported like one that does not exist. */
enum error snapshot_load_base(struct context *c, struct arena *arena, struct uuid thread_id,
    struct uuid base_id, struct snapshot_loaded *out)
{
    TRY(load(c, arena, base_id, out));
    return !uuid_eq(out->head.thread_id, thread_id) ? not_found(c, base_id) : OK;
}

enum error snapshot_put(struct context *c, struct uuid thread_id, struct uuid base_id,
    struct str document, struct snapshot *out_snapshot)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot_loaded base;
    struct manifest m;
    struct json_doc doc;
    struct json_error error;
    enum error e = OK;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    if (!json_parse(&scratch, document, &doc, &error))
        return problem_set(c->problem, ERR_BAD_JSON,
            "the document is not valid JSON: %s, at byte %zu", error.rule, error.offset);
    bool has_base = !uuid_is_nil(base_id);
    if (has_base)
        e = snapshot_load_base(c, &scratch, thread_id, base_id, &base);
    if (e == ERR_DAMAGED) { /* the document is whole, and is stored without the damaged base */
        has_base = false;
        e = OK;
    }
    if (e != OK)
        return e;
    manifest_cut(&scratch, json_root(&doc), &m);
    return snapshot_store(c, &scratch, thread_id, has_base ? &base : NULL, &m, out_snapshot);
}

/* --- Dropping ------------------------------------------------------------------------------- */

static enum error run_on(struct context *c, const struct sql_statement *statement, struct uuid id)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    if (statement_takes(statement, now))
        query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error is_unneeded(
    struct context *c, struct uuid id, bool *out_is, struct uuid *out_base)
{
    struct query q;
    *out_is = false;
    *out_base = UUID_NIL;
    context_query(c, &q, &SQL_SNAPSHOT_UNNEEDED);
    query_uuid(&q, id, id);
    while (query_next(&q)) {
        *out_is = true;
        (void)row_uuid_if(&q, out_base);
    }
    return query_end(&q);
}

enum error snapshot_remove_unneeded(struct context *c, struct uuid id)
{
    bool unneeded = true;
    for (int i = 0; unneeded && !uuid_is_nil(id) && i < SNAPSHOT_DEPTH_MAX; i++) {
        struct uuid base;
        TRY(is_unneeded(c, id, &unneeded, &base));
        if (unneeded)
            TRY(item_doubt_snapshot(c, id));
        if (unneeded)
            TRY(run_on(c, &SQL_SNAPSHOT_DELETE, id));
        id = base;
    }
    return OK;
}

/* Snapshots that build on it become whole later, because they usually are dropped soon too. */
static enum error plan_rebase(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_PLAN_REBASE);
    query_uuid(&q, id, id);
    query_i64(&q, due, c->now_us + (int64_t)SNAPSHOT_REBASE_DELAY_S * 1000000);
    return query_run(&q);
}

enum error snapshot_drop(struct context *c, struct uuid id)
{
    TRY(run_on(c, &SQL_SNAPSHOT_DROP, id));
    TRY(plan_rebase(c, id));
    return snapshot_remove_unneeded(c, id);
}

enum error snapshot_discard_thread(struct context *c, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_DISCARD_THREAD);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error snapshot_delete_tenant(struct context *c, struct uuid tenant_id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SNAPSHOT_DELETE_TENANT, c->arena);
    query_uuid(&q, tenant_id, tenant_id);
    return query_run(&q);
}
