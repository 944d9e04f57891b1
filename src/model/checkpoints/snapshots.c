/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/snapshots.h"

#include "model/checkpoints/items.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/checkpoints/snapshot_memory.h"
#include "model/checkpoints/snapshot_plan.h"
#include "model/checkpoints/snapshots.sql.h"
#include "model/integrity.h"
#include "model/rehearsal.h"

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
    struct buf whole CLEANUP(buf_deinit);
    bool found;
    buf_init(&whole, MANIFEST_MAX_BYTES);
    TRY(snapshot_recall(c, arena, id, &found, out));
    if (found)
        return OK;
    TRY(snapshot_load(c, arena, id, out));
    if (out->is_dropped)
        return not_found(c, id);
    manifest_write(&out->manifest, &whole, NULL);
    snapshot_remember(c, out, buf_str(&whole));
    return OK;
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

/* A document that is being written: its text up to `at`, and the places of its items, whose texts
 * are read afterwards. */
struct layout {
    char *at;
    struct item_place *places;
    size_t n;
};

static void lay_str(struct layout *l, struct str s)
{
    memcpy(l->at, s.ptr, s.len);
    l->at += s.len;
}

static void lay_piece(struct layout *l, const struct piece *piece)
{
    if (!piece->is_item) {
        lay_str(l, (struct str){piece->at, piece->len});
        return;
    }
    l->places[l->n++] = (struct item_place){.item = piece, .to = l->at};
    l->at += piece->len;
}

static void lay_cut(struct layout *l, const struct cut *cut)
{
    if (cut->is_array)
        *l->at++ = '[';
    for (size_t i = 0; i < cut->n; i++) {
        if (i > 0)
            *l->at++ = ',';
        lay_piece(l, &cut->pieces[i]);
    }
    if (cut->is_array)
        *l->at++ = ']';
}

enum error snapshot_read_cut(
    struct context *c, struct arena *arena, const struct cut *cut, struct str *out_text)
{
    size_t len = (size_t)cut_len(cut);
    char *text = arena_alloc(c->arena, len + 1);
    struct layout l = {text, ARENA_ARRAY(arena, struct item_place, cut->n + 1), 0};
    lay_cut(&l, cut);
    *out_text = (struct str){text, len};
    return item_read(c, arena, l.places, l.n);
}

static enum error read_object(
    struct context *c, struct arena *arena, const struct manifest *m, struct str *out_document)
{
    size_t len = (size_t)manifest_len(m);
    char *text = arena_alloc(c->arena, len + 1);
    struct layout l = {text, ARENA_ARRAY(arena, struct item_place, manifest_pieces(m) + 1), 0};
    *l.at++ = '{';
    for (size_t i = 0; i < m->n_members; i++) {
        if (i > 0)
            *l.at++ = ',';
        lay_str(&l, m->members[i].key);
        *l.at++ = ':';
        lay_cut(&l, &m->members[i].value);
    }
    *l.at++ = '}';
    assert((size_t)(l.at - text) == len);
    *out_document = (struct str){text, len};
    return item_read(c, arena, l.places, l.n);
}

enum error snapshot_read_document(
    struct context *c, struct arena *arena, const struct manifest *m, struct str *out_document)
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

enum error snapshot_insert(struct context *c, const struct snapshot_row *row)
{
    const struct snapshot *s = &row->snapshot;
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_INSERT);
    query_uuid(&q, id, s->id);
    query_uuid(&q, thread_id, s->thread_id);
    query_uuid_if(&q, base_id, row->has_base, row->base_id);
    query_i64(&q, depth, row->depth);
    query_bytes(&q, manifest, row->manifest);
    query_bytes(&q, sha256, (struct str){(const char *)s->sha256.bytes, SHA256_LEN});
    query_i64(&q, size_bytes, s->size_bytes);
    query_i64(&q, now, s->created_at);
    query_i64_if(&q, dropped_at, row->is_dropped, s->created_at);
    return query_run(&q);
}

static bool may_build_on(const struct snapshot_loaded *base, size_t delta_len, size_t whole_len)
{
    size_t least = whole_len > SNAPSHOT_CHAIN_MIN_BYTES ? whole_len : SNAPSHOT_CHAIN_MIN_BYTES;
    return delta_len < whole_len && base->chain_bytes + delta_len <= least * SNAPSHOT_CHAIN_FACTOR;
}

/* If the job fails, no row has the id, and nothing finds what is remembered. */
static void remember(
    struct context *c, const struct snapshot_row *row, size_t chain_bytes, struct str whole)
{
    const struct snapshot_loaded loaded = {.head = row->snapshot,
        .depth = row->depth,
        .chain_bytes = chain_bytes,
        .has_base = row->has_base,
        .base_id = row->base_id};
    snapshot_remember(c, &loaded, whole);
}

/* Stores the difference from the base, unless the chain would have too many links or bytes. */
enum error snapshot_store(struct context *c, struct arena *arena,
    const struct snapshot_inputs *inputs, const struct snapshot_loaded *base,
    const struct manifest *m, struct snapshot *out_snapshot)
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
    const struct snapshot_row row = {.snapshot = {.id = uuid_v7(),
                                         .thread_id = inputs->thread_id,
                                         .sha256 = sha256_of(buf_str(&whole)),
                                         .size_bytes = (int64_t)manifest_len(m),
                                         .created_at = c->now_us},
        .has_base = has_base,
        .base_id = has_base ? base->head.id : UUID_NIL,
        .depth = has_base ? base->depth + 1 : 0,
        .manifest = buf_str(has_base ? &delta : &whole)};
    const struct manifest_named *named = has_base ? &in_delta : &in_whole;
    if (rehearsal_is_running(c))
        snapshot_plan_make(c, inputs, &row, named);
    remember(c, &row, (has_base ? base->chain_bytes : 0) + row.manifest.len, buf_str(&whole));
    item_remember(c, named);
    TRY(snapshot_insert(c, &row));
    TRY(item_refer(c, row.snapshot.id, named));
    *out_snapshot = row.snapshot;
    return OK;
}

/* A base of another thread is reported like one that does not exist. */
enum error snapshot_load_base(struct context *c, struct arena *arena, struct uuid thread_id,
    struct uuid base_id, struct snapshot_loaded *out)
{
    TRY(load(c, arena, base_id, out));
    return !uuid_eq(out->head.thread_id, thread_id) ? not_found(c, base_id) : OK;
}

static bool has_text(const void *data, const struct piece *item, struct str text)
{
    return item_is_known(data, item, text);
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
    const struct snapshot_inputs inputs = {thread_id, document};
    bool is_done;
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    TRY(snapshot_plan_use(c, &inputs, &is_done, out_snapshot));
    if (is_done)
        return OK;
    TRY(rehearsal_first(c, document.len));
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
    const struct manifest_before before = {&base.manifest, has_text, c};
    manifest_cut(&scratch, json_root(&doc), has_base ? &before : NULL, &m);
    return snapshot_store(c, &scratch, &inputs, has_base ? &base : NULL, &m, out_snapshot);
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

enum error snapshot_find_unneeded(struct context *c, struct uuid id, struct unneeded *out)
{
    struct query q;
    *out = (struct unneeded){0};
    context_query(c, &q, &SQL_SNAPSHOT_UNNEEDED);
    query_uuid(&q, id, id);
    while (query_next(&q)) {
        out->is_found = true;
        (void)row_uuid_if(&q, &out->base_id);
        out->manifest_bytes = row_i64(&q);
    }
    return query_end(&q);
}

enum error snapshot_delete(struct context *c, struct uuid id)
{
    return run_on(c, &SQL_SNAPSHOT_DELETE, id);
}

enum error snapshot_remove_unneeded(struct context *c, struct uuid id)
{
    struct unneeded found = {.is_found = true};
    for (int i = 0; found.is_found && !uuid_is_nil(id) && i < SNAPSHOT_DEPTH_MAX; i++) {
        TRY(snapshot_find_unneeded(c, id, &found));
        if (found.manifest_bytes > SNAPSHOT_REMOVE_MAX_BYTES)
            return snapshot_leftover_add(c, id, c->lease_now_us);
        if (found.is_found)
            TRY(item_doubt_snapshot(c, id));
        if (found.is_found)
            TRY(snapshot_delete(c, id));
        id = found.base_id;
    }
    return OK;
}

enum error snapshot_is_dropped(struct context *c, struct uuid id, bool *out_is)
{
    struct query q;
    context_query(c, &q, &SQL_SNAPSHOT_HEAD);
    query_uuid(&q, id, id);
    *out_is = !query_next(&q);
    return query_end(&q);
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
