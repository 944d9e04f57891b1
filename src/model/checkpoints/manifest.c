/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/manifest.h"

#include "base/json/json_write.h"
#include "model/checkpoints/manifest_format.h"

/* --- In memory ------------------------------------------------------------------------------ */

static void *grow(struct arena *arena, const void *old, size_t n, size_t cap, size_t size)
{
    void *place = arena_alloc(arena, cap * size);
    if (n > 0)
        memcpy(place, old, n * size);
    return place;
}

void cut_reserve(struct arena *arena, struct cut *cut, size_t more)
{
    if (cut->pieces != NULL && more <= cut->cap - cut->n)
        return;
    size_t cap = cut->cap * 2 > cut->n + more ? cut->cap * 2 : cut->n + more + 1;
    cut->pieces = grow(arena, cut->pieces, cut->n, cap, sizeof *cut->pieces);
    cut->cap = cap;
}

void cut_append(struct arena *arena, struct cut *cut, struct piece piece)
{
    cut_reserve(arena, cut, 1);
    cut->pieces[cut->n++] = piece;
}

void manifest_append(struct arena *arena, struct manifest *m, struct manifest_member member)
{
    if (m->n_members == m->cap_members) {
        size_t cap = m->cap_members * 2 + 8;
        m->members = grow(arena, m->members, m->n_members, cap, sizeof *m->members);
        m->cap_members = cap;
    }
    m->members[m->n_members++] = member;
}

size_t manifest_pieces(const struct manifest *m)
{
    size_t n = m->is_object ? m->n_members : m->value.n;
    for (size_t i = 0; i < m->n_members; i++)
        n += m->members[i].value.n;
    return n;
}

uint64_t cut_len(const struct cut *cut)
{
    uint64_t len = cut->is_array ? 2 + (cut->n > 0 ? cut->n - 1 : 0) : 0;
    for (size_t i = 0; i < cut->n; i++)
        len += cut->pieces[i].len;
    return len;
}

uint64_t manifest_len(const struct manifest *m)
{
    if (!m->is_object)
        return cut_len(&m->value);
    uint64_t len = 2 + (m->n_members > 0 ? m->n_members - 1 : 0);
    for (size_t i = 0; i < m->n_members; i++)
        len += m->members[i].key.len + 1 + cut_len(&m->members[i].value);
    return len;
}

static bool key_is(struct str key, struct str name)
{
    if (key.len < 2)
        return false;
    struct str inner = str_slice(key, 1, key.len - 1);
    if (!str_has_byte(inner, '\\'))
        return str_eq(inner, name);
    CLEANUP(arena_deinit) struct arena scratch;
    arena_init(&scratch, SIZE_MAX);
    struct json_doc doc;
    struct json_error error;
    return json_parse(&scratch, key, &doc, &error) && json_string_eq(json_root(&doc), name);
}

size_t manifest_find(const struct manifest *m, struct str name)
{
    size_t i = 0;
    while (i < m->n_members && !key_is(m->members[i].key, name))
        i++;
    return i;
}

/* --- Members by key -------------------------------------------------------------------------- */

/* The members of a base by key: a hash table with open addressing, created when it is first needed.
 * Usually the members of two versions are in the same order, and a guess finds them. */
struct index {
    const struct manifest *base;
    uint32_t *slots; /* an index + 1; 0: free */
    size_t mask;
};

static void index_build(struct index *index, struct arena *arena)
{
    size_t size = 16;
    while (size < index->base->n_members * 2)
        size *= 2;
    index->slots = ARENA_ARRAY(arena, uint32_t, size);
    index->mask = size - 1;
    for (size_t i = 0; i < index->base->n_members; i++) {
        struct str key = index->base->members[i].key;
        size_t at = hash_bytes(key.ptr, key.len) & index->mask;
        while (index->slots[at] != 0)
            at = (at + 1) & index->mask;
        index->slots[at] = (uint32_t)i + 1;
    }
}

static bool index_find(
    struct index *index, struct arena *arena, struct str key, size_t guess, size_t *out_at)
{
    if (guess < index->base->n_members && str_eq(index->base->members[guess].key, key)) {
        *out_at = guess;
        return true;
    }
    if (index->slots == NULL)
        index_build(index, arena);
    for (size_t at = hash_bytes(key.ptr, key.len) & index->mask; index->slots[at] != 0;
         at = (at + 1) & index->mask) {
        *out_at = index->slots[at] - 1;
        if (str_eq(index->base->members[*out_at].key, key))
            return true;
    }
    return false;
}

/* --- Cutting -------------------------------------------------------------------------------- */

/* The earlier pieces of one value; `cut` is NULL if there are none. */
struct earlier {
    const struct manifest_before *before;
    const struct cut *cut;
};

/* Returns the hash of an item that has the same text as the earlier one at its place, or NULL. */
static const char *known_hash(const struct earlier *earlier, size_t place, struct str text)
{
    if (earlier->cut == NULL || place >= earlier->cut->n)
        return NULL;
    const struct piece *piece = &earlier->cut->pieces[place];
    bool same = piece->is_item && piece->len == text.len &&
                earlier->before->has_text(earlier->before->data, piece, text);
    return same ? piece->at : NULL;
}

static struct piece make_piece(
    struct arena *arena, struct json value, const struct earlier *earlier, size_t place)
{
    struct str text = json_compact_part(arena, value);
    assert(text.len <= UINT32_MAX);
    if (text.len < PIECE_INLINE_BYTES)
        return (struct piece){.at = text.ptr, .len = (uint32_t)text.len};
    const char *hash = known_hash(earlier, place, text);
    if (hash == NULL) {
        struct sha256 *made = ARENA_NEW(arena, struct sha256);
        *made = sha256_of(text);
        hash = (const char *)made->bytes;
    }
    return (struct piece){hash, text.ptr, (uint32_t)text.len, true};
}

static void cut_value(
    struct arena *arena, struct json value, const struct earlier *earlier, struct cut *out_cut)
{
    *out_cut = (struct cut){0};
    if (json_type(value) != JSON_ARRAY || json_count(value) > MANIFEST_CUT_MAX) {
        cut_append(arena, out_cut, make_piece(arena, value, earlier, 0));
        return;
    }
    out_cut->is_array = true;
    cut_reserve(arena, out_cut, json_count(value));
    struct json_iter it = json_iter(value);
    struct json element;
    while (json_next(&it, NULL, &element))
        cut_append(arena, out_cut, make_piece(arena, element, earlier, out_cut->n));
}

void manifest_cut_value(struct arena *arena, struct json value, struct cut *out_cut)
{
    const struct earlier none = {0};
    cut_value(arena, value, &none, out_cut);
}

void manifest_cut(struct arena *arena, struct json document, const struct manifest_before *before,
    struct manifest *out_manifest)
{
    const struct manifest empty = {0};
    const struct manifest *base = before != NULL ? before->manifest : &empty;
    struct index index = {.base = base};
    struct earlier earlier = {before, before != NULL && !base->is_object ? &base->value : NULL};
    *out_manifest = (struct manifest){0};
    if (json_type(document) != JSON_OBJECT || json_count(document) > MANIFEST_CUT_MAX) {
        cut_value(arena, document, &earlier, &out_manifest->value);
        return;
    }
    out_manifest->is_object = true;
    struct json_iter it = json_iter(document);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        struct manifest_member member = {.key = json_raw(key)};
        size_t at;
        bool found = index_find(&index, arena, member.key, out_manifest->n_members, &at);
        earlier.cut = found ? &base->members[at].value : NULL;
        cut_value(arena, value, &earlier, &member.value);
        manifest_append(arena, out_manifest, member);
    }
}

/* --- Writing -------------------------------------------------------------------------------- */

struct writer {
    struct buf *out;
    struct manifest_named *named;
};

static void write_number(struct writer *w, uint64_t number)
{
    while (number >= 0x80) {
        buf_append_byte(w->out, (char)(number | 0x80));
        number >>= 7;
    }
    buf_append_byte(w->out, (char)number);
}

void manifest_name(struct manifest_named *named, const struct piece *piece)
{
    if (named == NULL)
        return;
    if (named->n == named->cap) {
        size_t cap = named->cap * 2 + 32;
        named->pieces = grow(named->arena, named->pieces, named->n, cap, sizeof *named->pieces);
        named->cap = cap;
    }
    named->pieces[named->n++] = piece;
}

static void write_piece(struct writer *w, const struct piece *piece)
{
    write_number(w, (uint64_t)piece->len * 2 + piece->is_item);
    buf_append(w->out, (struct str){piece->at, piece->is_item ? SHA256_LEN : piece->len});
    if (piece->is_item)
        manifest_name(w->named, piece);
}

static void write_pieces(struct writer *w, const struct piece *pieces, size_t n)
{
    write_number(w, n);
    for (size_t i = 0; i < n; i++)
        write_piece(w, &pieces[i]);
}

static void write_cut(struct writer *w, const struct cut *cut)
{
    write_number(w, cut->is_array ? BODY_LIST : BODY_PIECE);
    if (cut->is_array)
        write_pieces(w, cut->pieces, cut->n);
    else
        write_piece(w, &cut->pieces[0]);
}

static void write_member(struct writer *w, const struct manifest_member *member)
{
    write_number(w, member->key.len);
    buf_append(w->out, member->key);
    write_cut(w, &member->value);
}

void manifest_write(const struct manifest *m, struct buf *out, struct manifest_named *named)
{
    struct writer w = {out, named};
    buf_append_byte(out, MANIFEST_VERSION);
    if (!m->is_object) {
        write_cut(&w, &m->value);
        return;
    }
    write_number(&w, BODY_OBJECT);
    write_number(&w, m->n_members);
    for (size_t i = 0; i < m->n_members; i++)
        write_member(&w, &m->members[i]);
}

struct sha256 manifest_hash(const struct manifest *m)
{
    struct buf whole CLEANUP(buf_deinit);
    buf_init(&whole, MANIFEST_MAX_BYTES);
    manifest_write(m, &whole, NULL);
    return sha256_of(buf_str(&whole));
}

/* --- Differences ---------------------------------------------------------------------------- */

static bool same_piece(const struct piece *a, const struct piece *b)
{
    return a->is_item == b->is_item && a->len == b->len &&
           memcmp(a->at, b->at, a->is_item ? SHA256_LEN : a->len) == 0;
}

static bool same_cut(const struct cut *a, const struct cut *b)
{
    if (a->is_array != b->is_array || a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_piece(&a->pieces[i], &b->pieces[i]))
            return false;
    return true;
}

static void write_splice(struct writer *w, const struct cut *base, const struct cut *now)
{
    size_t start = 0, end = 0;
    size_t shorter = base->n < now->n ? base->n : now->n;
    while (start < shorter && same_piece(&base->pieces[start], &now->pieces[start]))
        start++;
    while (end < shorter - start &&
           same_piece(&base->pieces[base->n - 1 - end], &now->pieces[now->n - 1 - end]))
        end++;
    write_number(w, start);
    write_number(w, end);
    write_pieces(w, now->pieces + start, now->n - start - end);
}

/* The edits; adjacent unchanged members are one edit. */
struct edits {
    struct writer w;
    size_t n;
    size_t keep_from;
    size_t keep_n;
};

static void flush_keep(struct edits *edits)
{
    if (edits->keep_n == 0)
        return;
    write_number(&edits->w, EDIT_KEEP);
    write_number(&edits->w, edits->keep_from);
    write_number(&edits->w, edits->keep_n);
    edits->keep_n = 0;
    edits->n++;
}

static void write_edit(struct edits *edits, const struct manifest *base, bool found, size_t at,
    const struct manifest_member *member)
{
    const struct cut *before = found ? &base->members[at].value : NULL;
    if (found && same_cut(before, &member->value)) {
        if (edits->keep_n > 0 && at == edits->keep_from + edits->keep_n) {
            edits->keep_n++;
            return;
        }
        flush_keep(edits);
        edits->keep_from = at;
        edits->keep_n = 1;
        return;
    }
    flush_keep(edits);
    edits->n++;
    if (found && before->is_array && member->value.is_array) {
        write_number(&edits->w, EDIT_SPLICE);
        write_number(&edits->w, at);
        write_splice(&edits->w, before, &member->value);
        return;
    }
    write_number(&edits->w, EDIT_MEMBER);
    write_member(&edits->w, member);
}

static void write_edits(
    struct writer *w, const struct manifest *base, const struct manifest *m, struct arena *arena)
{
    struct buf body CLEANUP(buf_deinit);
    buf_init(&body, MANIFEST_MAX_BYTES);
    struct edits edits = {.w = {&body, w->named}};
    struct index index = {.base = base};
    size_t guess = 0;
    for (size_t i = 0; i < m->n_members; i++) {
        size_t at = 0;
        bool found = index_find(&index, arena, m->members[i].key, guess, &at);
        write_edit(&edits, base, found, at, &m->members[i]);
        guess = found ? at + 1 : guess;
    }
    flush_keep(&edits);
    write_number(w, edits.n);
    buf_append(w->out, buf_str(&body));
}

bool manifest_write_delta(const struct manifest *base, const struct manifest *m,
    struct arena *arena, struct buf *out, struct manifest_named *named)
{
    struct writer w = {out, named};
    if (base->is_object != m->is_object)
        return false;
    if (!m->is_object && !(base->value.is_array && m->value.is_array))
        return false;
    buf_append_byte(out, MANIFEST_VERSION);
    write_number(&w, m->is_object ? BODY_EDITS : BODY_SPLICE);
    if (m->is_object)
        write_edits(&w, base, m, arena);
    else
        write_splice(&w, &base->value, &m->value);
    return true;
}
