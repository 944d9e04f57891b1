/* SPDX-License-Identifier: Apache-2.0 */
/* Reads manifests (manifest_format.h). The input may be any bytes. */
#include "model/checkpoints/manifest.h"
#include "model/checkpoints/manifest_format.h"

struct reader {
    struct arena *arena;
    const unsigned char *at;
    const unsigned char *end;
    struct manifest_named *named; /* NULL: not wanted */
    bool failed;
};

static bool fail(struct reader *r)
{
    r->failed = true;
    r->at = r->end;
    return false;
}

static size_t left(const struct reader *r)
{
    return (size_t)(r->end - r->at);
}

/* Returns 0 after a failure, and never more than a count or length of the format can be. */
static size_t read_number(struct reader *r)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 35 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return (size_t)number;
    }
    fail(r);
    return 0;
}

/* Every counted element takes at least one byte, so a wrong count cannot allocate much memory. */
static size_t read_count(struct reader *r)
{
    size_t n = read_number(r);
    if (n > left(r) || n > MANIFEST_MAX_PIECES) {
        fail(r);
        return 0;
    }
    return n;
}

static struct str read_bytes(struct reader *r, size_t len)
{
    struct str bytes = {(const char *)r->at, len};
    if (r->failed || len > left(r)) {
        fail(r);
        return STR("");
    }
    r->at += len;
    return bytes;
}

static void read_piece(struct reader *r, struct piece *out)
{
    size_t head = read_number(r);
    *out = (struct piece){.is_item = (head & 1) != 0, .len = (uint32_t)(head >> 1)};
    out->at = read_bytes(r, out->is_item ? SHA256_LEN : out->len).ptr;
    if (!r->failed && out->len == 0)
        fail(r);
}

static void read_pieces(struct reader *r, struct piece *out, size_t n)
{
    for (size_t i = 0; i < n && !r->failed; i++) {
        read_piece(r, &out[i]);
        if (out[i].is_item && !r->failed)
            manifest_name(r->named, &out[i]);
    }
}

static void read_cut(struct reader *r, size_t kind, struct cut *out)
{
    *out = (struct cut){.is_array = kind == BODY_LIST};
    if (kind != BODY_LIST && kind != BODY_PIECE)
        fail(r);
    size_t n = kind == BODY_LIST ? read_count(r) : 1;
    if (r->failed)
        return;
    cut_reserve(r->arena, out, n);
    read_pieces(r, out->pieces, n);
    out->n = n;
}

static void read_member(struct reader *r, struct manifest *m)
{
    struct manifest_member member;
    member.key = read_bytes(r, read_number(r));
    read_cut(r, read_number(r), &member.value);
    if (!r->failed)
        manifest_append(r->arena, m, member);
}

/* Moves the remaining end and leaves the start untouched: an append costs only its own size. */
static void read_splice(struct reader *r, struct cut *cut)
{
    size_t start = read_number(r), end = read_number(r), n = read_count(r);
    if (r->failed || !cut->is_array || start > cut->n || end > cut->n - start ||
        start + end + n > MANIFEST_MAX_PIECES) {
        fail(r);
        return;
    }
    size_t before = cut->n;
    cut_reserve(r->arena, cut, n);
    memmove(cut->pieces + start + n, cut->pieces + before - end, end * sizeof *cut->pieces);
    read_pieces(r, cut->pieces + start, n);
    cut->n = start + n + end;
}

static void read_edit(struct reader *r, const struct manifest *base, struct manifest *m)
{
    size_t kind = read_number(r);
    if (kind == EDIT_MEMBER) {
        read_member(r, m);
        return;
    }
    size_t from = read_number(r), n = kind == EDIT_KEEP ? read_number(r) : 1;
    if (r->failed || kind > EDIT_SPLICE || from > base->n_members || n > base->n_members - from ||
        n > MANIFEST_MAX_PIECES - m->n_members) {
        fail(r);
        return;
    }
    for (size_t i = 0; i < n; i++)
        manifest_append(r->arena, m, base->members[from + i]);
    if (kind == EDIT_SPLICE)
        read_splice(r, &m->members[m->n_members - 1].value);
}

static void read_object(struct reader *r, size_t kind, struct manifest *m)
{
    const struct manifest base = *m;
    size_t n = read_count(r);
    if (kind == BODY_EDITS && !base.is_object)
        fail(r);
    *m = (struct manifest){.is_object = true};
    for (size_t i = 0; i < n && !r->failed; i++) {
        if (kind == BODY_EDITS)
            read_edit(r, &base, m);
        else
            read_member(r, m);
    }
}

bool manifest_read(struct arena *arena, struct str bytes, struct manifest *m)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    struct reader r = {.arena = arena, .at = at, .end = at + bytes.len};
    if (read_number(&r) != MANIFEST_VERSION)
        return false;
    size_t kind = read_number(&r);
    if (kind == BODY_OBJECT || kind == BODY_EDITS) {
        read_object(&r, kind, m);
    } else if (kind == BODY_SPLICE) {
        if (m->is_object)
            return false;
        read_splice(&r, &m->value);
    } else {
        *m = (struct manifest){0};
        read_cut(&r, kind, &m->value);
    }
    return !r.failed && left(&r) == 0 && manifest_pieces(m) <= MANIFEST_MAX_PIECES;
}

bool manifest_is_delta(struct str bytes)
{
    return bytes.len >= 2 && (bytes.ptr[1] == BODY_SPLICE || bytes.ptr[1] == BODY_EDITS);
}

/* --- Only what is named --------------------------------------------------------------------- */

static void name_list(struct reader *r, size_t n)
{
    struct piece *pieces = ARENA_ARRAY(r->arena, struct piece, n > 0 ? n : 1);
    read_pieces(r, pieces, n);
}

static void name_member(struct reader *r)
{
    struct cut unused;
    read_bytes(r, read_number(r));
    read_cut(r, read_number(r), &unused);
}

static void name_splice(struct reader *r)
{
    read_number(r);
    read_number(r);
    name_list(r, read_count(r));
}

static void name_edit(struct reader *r)
{
    size_t kind = read_number(r);
    if (kind == EDIT_MEMBER) {
        name_member(r);
        return;
    }
    read_number(r);
    if (kind == EDIT_KEEP)
        read_number(r);
    else if (kind == EDIT_SPLICE)
        name_splice(r);
    else
        fail(r);
}

bool manifest_read_names(struct arena *arena, struct str bytes, struct manifest_named *named)
{
    const unsigned char *at = (const unsigned char *)bytes.ptr;
    struct reader r = {.arena = arena, .at = at, .end = at + bytes.len, .named = named};
    struct cut unused;
    if (read_number(&r) != MANIFEST_VERSION)
        return false;
    size_t kind = read_number(&r);
    if (kind == BODY_OBJECT || kind == BODY_EDITS) {
        size_t n = read_count(&r);
        for (size_t i = 0; i < n && !r.failed; i++) {
            if (kind == BODY_OBJECT)
                name_member(&r);
            else
                name_edit(&r);
        }
    } else if (kind == BODY_SPLICE) {
        name_splice(&r);
    } else {
        read_cut(&r, kind, &unused);
    }
    return !r.failed && left(&r) == 0;
}
