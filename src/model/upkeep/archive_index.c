/* SPDX-License-Identifier: Apache-2.0 */

#include "base/alloc.h"
#include "base/json/json.h"
#include "base/tar.h"
#include "model/upkeep/archive_file.h"

enum { READ_BYTES = 256 * 1024, ROW_MAX_MEMORY = 128 * 1024 * 1024 };

enum error archive_broken(struct problem *problem, struct str place, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str detail = arena_vprintf(problem->arena, fmt, args);
    va_end(args);
    problem->detail = STR_NONE;
    return problem_fault(problem, arena_str(problem->arena, place), "%.*s", STR_ARG(detail));
}

enum error archive_pread(
    const struct archive *a, uint64_t at, char *place, size_t size, struct problem *problem)
{
    if (at > a->size_bytes || size > a->size_bytes - at)
        return archive_broken(problem, STR("the archive"), "ends too early: it has %llu bytes",
            (unsigned long long)a->size_bytes);
    return a->source.read(a->source.data, at, place, size, problem);
}

/* --- Members -------------------------------------------------------------------------------- */

struct indexer {
    struct archive *archive;
    struct problem *problem;
    uint64_t at;
    struct tar_header header; /* of the member at `at` */
    bool is_end;              /* there is no further member */
    char *piece;              /* READ_BYTES */
    struct archive_manifest *manifest;
    struct sha256_state *digest; /* of the hashes of contents */
};

static struct str name_of(const struct indexer *x)
{
    return str_of(x->header.name);
}

static enum error read_header(struct indexer *x)
{
    char block[TAR_BLOCK_BYTES];
    TRY(archive_pread(x->archive, x->at, block, sizeof block, x->problem));
    x->is_end = tar_is_zero(block);
    const char *rule = x->is_end ? NULL : tar_read(block, &x->header);
    if (rule != NULL)
        return archive_broken(x->problem,
            arena_printf(x->problem->arena, "the member at byte %llu", (unsigned long long)x->at),
            "%s", rule);
    x->at += sizeof block;
    if (!x->is_end && x->header.size_bytes > x->archive->size_bytes - x->at)
        return archive_broken(x->problem, name_of(x), "is truncated");
    return OK;
}

static enum error expect_member(struct indexer *x, const char *name)
{
    TRY(read_header(x));
    if (x->is_end)
        return archive_broken(x->problem, str_of(name), "is missing");
    if (!str_eq(name_of(x), str_of(name)))
        return archive_broken(x->problem, name_of(x), "was found instead of %s", name);
    return OK;
}

/* Returns whether the next member has another name, without consuming it. */
static enum error look_ahead(struct indexer *x, const char *name, bool *out_absent)
{
    uint64_t at = x->at;
    enum error e = read_header(x);
    *out_absent = e == OK && (x->is_end || !str_eq(name_of(x), str_of(name)));
    x->is_end = false;
    x->at = at;
    return e;
}

static enum error skip_padding(struct indexer *x)
{
    char padding[TAR_BLOCK_BYTES] = {0};
    size_t size = tar_padding(x->header.size_bytes);
    enum error e = archive_pread(x->archive, x->at, padding, size, x->problem);
    if (e == OK && !tar_is_zero(padding))
        return archive_broken(x->problem, name_of(x), "must be padded with zeros");
    x->at += size;
    return e;
}

static int64_t count_lines(struct str piece)
{
    int64_t n = 0;
    for (size_t i = 0; i < piece.len; i++)
        n += piece.ptr[i] == '\n';
    return n;
}

/* Hashes the member, counts its lines, and skips it. */
static enum error pass_member(struct indexer *x, struct archive_place *out)
{
    struct sha256_state *hash = sha256_create();
    uint64_t left = x->header.size_bytes;
    enum error e = OK;
    *out = (struct archive_place){.at = x->at, .size_bytes = left};
    while (e == OK && left > 0) {
        size_t size = left < READ_BYTES ? (size_t)left : READ_BYTES;
        e = archive_pread(x->archive, x->at, x->piece, size, x->problem);
        struct str piece = {x->piece, e == OK ? size : 0};
        sha256_add(hash, piece);
        out->rows += count_lines(piece);
        x->at += size;
        left -= size;
    }
    out->hash = sha256_finish(hash);
    return e == OK ? skip_padding(x) : e;
}

/* --- cairn.json ----------------------------------------------------------------------------- */

static enum error read_version(struct indexer *x, struct json root)
{
    struct json format, version;
    int64_t number;
    if (json_type(root) != JSON_OBJECT || !json_get(root, STR("format"), &format) ||
        !json_string_eq(format, STR("cairn-archive")))
        return archive_broken(
            x->problem, STR("cairn.json"), "must have the format \"cairn-archive\"");
    if (!json_get(root, STR("version"), &version) || json_type(version) != JSON_NUMBER ||
        !json_to_i64(version, &number))
        return archive_broken(x->problem, STR("cairn.json"), "has no version");
    if (number != ARCHIVE_VERSION)
        return archive_broken(x->problem, STR("cairn.json"),
            "has version %lld; this server supports version %d", (long long)number,
            ARCHIVE_VERSION);
    return OK;
}

static bool read_subject(struct json root, struct archive_subject *out)
{
    struct json what, id;
    struct arena arena;
    if (!json_get(root, STR("what"), &what) || json_type(what) != JSON_STRING)
        return false;
    arena_init(&arena, SIZE_MAX);
    out->what = archive_what_parse(json_string(&arena, what));
    bool good = out->what == ARCHIVE_TENANT ||
                (out->what != ARCHIVE_NOTHING && json_get(root, STR("id"), &id) &&
                    json_type(id) == JSON_STRING && uuid_parse(json_string(&arena, id), &out->id));
    arena_deinit(&arena);
    return good;
}

static enum error read_head(struct indexer *x)
{
    struct archive *a = x->archive;
    struct json_doc doc;
    struct json_error bad;
    TRY(expect_member(x, "cairn.json"));
    if (x->header.size_bytes > ARCHIVE_HEAD_MAX_BYTES)
        return archive_broken(x->problem, STR("cairn.json"), "is too large");
    TRY(pass_member(x, &a->head));
    struct str text = {x->piece, (size_t)a->head.size_bytes};
    if (!json_parse(x->problem->arena, text, &doc, &bad))
        return archive_broken(x->problem, STR("cairn.json"), "byte %zu: %s", bad.offset, bad.rule);
    TRY(read_version(x, json_root(&doc)));
    if (!read_subject(json_root(&doc), &a->subject))
        return archive_broken(
            x->problem, STR("cairn.json"), "must name its subject: a thread, an agent or a tenant");
    struct buf canonical;
    buf_init(&canonical, ARCHIVE_HEAD_MAX_BYTES);
    archive_write_head(&a->subject, &canonical);
    bool same = str_eq(buf_str(&canonical), text);
    buf_deinit(&canonical);
    return same ? OK : archive_broken(x->problem, STR("cairn.json"), "has an unknown member");
}

/* --- Contents ------------------------------------------------------------------------------- */

static enum error add_content(struct indexer *x, struct sha256 named)
{
    struct archive *a = x->archive;
    struct archive_place place;
    if (a->n_contents == ARCHIVE_MAX_BLOBS)
        return archive_broken(
            x->problem, STR("the archive"), "has more than %d contents", ARCHIVE_MAX_BLOBS);
    if (a->n_contents > 0 &&
        memcmp(a->contents[a->n_contents - 1].sha256.bytes, named.bytes, SHA256_LEN) >= 0)
        return archive_broken(x->problem, name_of(x), "is not in the order of the hashes");
    struct str name = arena_str(x->problem->arena, name_of(x));
    TRY(pass_member(x, &place));
    if (memcmp(place.hash.bytes, named.bytes, SHA256_LEN) != 0)
        return archive_broken(x->problem, name, "does not have the hash in its name");
    if (a->n_contents == a->cap_contents) {
        a->cap_contents = a->cap_contents == 0 ? 16 : 2 * a->cap_contents;
        a->contents = mem_realloc(a->contents, a->cap_contents * sizeof(struct archive_content));
    }
    a->contents[a->n_contents++] =
        (struct archive_content){.sha256 = named, .at = place.at, .size_bytes = place.size_bytes};
    a->content_bytes += place.size_bytes;
    sha256_add(x->digest, (struct str){(char *)named.bytes, SHA256_LEN});
    return OK;
}

/* Reads up to and including the header of the manifest. */
static enum error read_contents(struct indexer *x)
{
    const struct str folder = STR("blobs/");
    struct sha256 named;
    for (;;) {
        struct arena_mark mark = arena_mark(x->problem->arena);
        enum error e = read_header(x);
        if (e != OK || x->is_end || str_eq(name_of(x), STR("manifest.json")))
            return e != OK || !x->is_end
                       ? e
                       : archive_broken(x->problem, STR("manifest.json"), "is missing");
        struct str name = name_of(x);
        if (!str_starts_with(name, folder) ||
            !hex_decode_lower(str_slice(name, folder.len, name.len), named.bytes, SHA256_LEN))
            return archive_broken(x->problem, name, "does not belong in an archive");
        TRY(add_content(x, named));
        arena_rewind(x->problem->arena, mark);
    }
}

struct archive_content *archive_find_content(const struct archive *a, struct str sha256)
{
    size_t low = 0, high = a->n_contents;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = memcmp(a->contents[middle].sha256.bytes, sha256.ptr, SHA256_LEN);
        if (order == 0)
            return &a->contents[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- manifest.json -------------------------------------------------------------------------- */

static struct str text_in(struct json object, const char *name)
{
    struct json v;
    return json_get(object, str_of(name), &v) ? json_raw(v) : STR("no");
}

static enum error blame_member(struct indexer *x, struct json found)
{
    return archive_broken(x->problem, STR("manifest.json"),
        "does not match: the archive has %.*s with %.*s bytes, %.*s rows and the SHA-256 %.*s",
        STR_ARG(text_in(found, "name")), STR_ARG(text_in(found, "size_bytes")),
        STR_ARG(text_in(found, "rows")), STR_ARG(text_in(found, "sha256")));
}

/* Reports the first member that differs. */
static enum error blame(struct indexer *x, struct str text, struct str canonical)
{
    struct json_doc ours, theirs;
    struct json_error bad;
    struct json mine, yours, a, b;
    if (!json_parse(x->problem->arena, text, &theirs, &bad))
        return archive_broken(
            x->problem, STR("manifest.json"), "byte %zu: %s", bad.offset, bad.rule);
    if (json_parse(x->problem->arena, canonical, &ours, &bad) &&
        json_get(json_root(&ours), STR("members"), &mine) &&
        json_type(json_root(&theirs)) == JSON_OBJECT &&
        json_get(json_root(&theirs), STR("members"), &yours) && json_type(yours) == JSON_ARRAY)
        for (size_t i = 0; json_at(mine, i, &a); i++)
            if (!json_at(yours, i, &b) || !json_equal(a, b))
                return blame_member(x, a);
    return archive_broken(x->problem, STR("manifest.json"),
        "does not match: the archive has %zu contents of %llu bytes in blobs/",
        x->archive->n_contents, (unsigned long long)x->archive->content_bytes);
}

static enum error read_manifest(struct indexer *x)
{
    struct archive *a = x->archive;
    struct archive_place place;
    if (x->header.size_bytes > ARCHIVE_MANIFEST_MAX_BYTES)
        return archive_broken(x->problem, STR("manifest.json"), "is too large");
    TRY(pass_member(x, &place));
    struct str text = {x->piece, (size_t)place.size_bytes};
    struct sha256 digest = sha256_finish(x->digest);
    x->digest = NULL;
    manifest_end(x->manifest, a->n_contents, a->content_bytes, digest);
    return str_eq(text, manifest_text(x->manifest)) ? OK
                                                    : blame(x, text, manifest_text(x->manifest));
}

static enum error read_end(struct indexer *x)
{
    char end[TAR_END_BYTES];
    TRY(archive_pread(x->archive, x->at, end, sizeof end, x->problem));
    if (!tar_is_zero(end) || !tar_is_zero(end + TAR_BLOCK_BYTES) ||
        x->at + sizeof end != x->archive->size_bytes)
        return archive_broken(
            x->problem, STR("the archive"), "must end with two blocks of zeros after its manifest");
    return OK;
}

/* --- Lines ---------------------------------------------------------------------------------- */

/* The lines of a member, without their newlines. `rest` was read but not returned yet. */
struct lines {
    uint64_t at;
    uint64_t end;
    struct buf rest;
    size_t used;
};

static enum error fill(struct archive_walk *w, struct lines *l)
{
    uint64_t left = l->end - l->at;
    size_t size = left < READ_BYTES ? (size_t)left : READ_BYTES;
    buf_consume(&l->rest, l->used);
    l->used = 0;
    char *place = buf_reserve(&l->rest, size);
    if (place == NULL)
        return archive_broken(
            w->problem, STR("the line"), "is longer than %d bytes", ARCHIVE_LINE_MAX_BYTES);
    TRY(archive_pread(w->archive, l->at, place, size, w->problem));
    buf_advance(&l->rest, size);
    l->at += size;
    return OK;
}

static enum error next_line(
    struct archive_walk *w, struct lines *l, struct str *out_line, bool *out_found)
{
    for (size_t looked = 0;;) {
        struct str rest = str_slice(buf_str(&l->rest), l->used, l->rest.len);
        size_t end = looked + str_find(str_slice(rest, looked, rest.len), '\n');
        if (end < rest.len) {
            *out_line = str_slice(rest, 0, end);
            l->used += end + 1;
            *out_found = true;
            return OK;
        }
        *out_found = false;
        if (l->at == l->end)
            return rest.len == 0 ? OK
                                 : archive_broken(w->problem, STR("the line"),
                                       "does not end with a line feed");
        looked = rest.len;
        TRY(fill(w, l));
    }
}

/* Adds the member and the line to the fault of a row. */
static enum error place_fault(struct archive_walk *w, enum error e)
{
    struct problem *p = w->problem;
    if (e != ERR_INVALID)
        return e;
    struct str what = p->detail;
    if (str_is_none(what) && p->n_faults > 0)
        what = arena_printf(
            p->arena, "%.*s %.*s", STR_ARG(p->faults[0].pointer), STR_ARG(p->faults[0].detail));
    p->n_faults = 0;
    return archive_broken(p,
        arena_printf(p->arena, "%s line %lld", w->member->name, (long long)w->line), "%.*s",
        STR_ARG(what));
}

/* Takes the next row; out_found is false behind the last one. */
static enum error take_next(
    struct archive_walk *w, struct lines *l, struct archive_value *row, bool *out_found)
{
    struct str line;
    TRY(next_line(w, l, &line, out_found));
    if (!*out_found)
        return OK;
    TRY(archive_read_line(w->member, w->arena, line, w->problem, row));
    return w->take(w, row);
}

/* Walks over the rest of one member. */
static enum error walk_member(struct archive_walk *w, struct archive_position *position)
{
    const struct archive_place *place = &w->archive->members[position->member];
    struct lines lines = {.at = place->at + position->offset, .end = place->at + place->size_bytes};
    struct archive_value row[ARCHIVE_MAX_FIELDS];
    struct arena arena;
    bool found = true;
    enum error e = OK;
    w->member = &archive_members[position->member];
    w->arena = &arena;
    w->stops_before = w->stops_behind = false;
    arena_init(&arena, ROW_MAX_MEMORY);
    buf_init(&lines.rest, ARCHIVE_LINE_MAX_BYTES + READ_BYTES);
    while (e == OK && found && !w->stops_behind) {
        struct arena_mark mark = arena_mark(&arena);
        w->line = position->line + 1;
        e = place_fault(w, take_next(w, &lines, row, &found));
        arena_rewind(&arena, mark);
        if (e != OK || !found || w->stops_before)
            break;
        position->line = w->line;
        position->offset = lines.at - (lines.rest.len - lines.used) - place->at;
    }
    if (e == OK && !found)
        *position = (struct archive_position){.member = position->member + 1};
    buf_deinit(&lines.rest);
    arena_deinit(&arena);
    return e;
}

enum error archive_walk(struct archive_walk *w, enum archive_member_id member)
{
    struct archive_position position = {.member = member};
    return walk_member(w, &position);
}

enum error archive_walk_from(struct archive_walk *w, struct archive_position *position)
{
    enum error e = OK;
    w->stops_before = w->stops_behind = false;
    while (e == OK && !archive_is_at_end(position) && !w->stops_before && !w->stops_behind)
        e = walk_member(w, position);
    return e;
}

/* --- All of it ------------------------------------------------------------------------------ */

static enum error read_rows(struct indexer *x)
{
    int64_t n_rows = 0, n_listed = 0;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        struct archive_place *place = &x->archive->members[i];
        bool is_absent = false;
        if (archive_members[i].is_later)
            TRY(look_ahead(x, archive_members[i].name, &is_absent));
        if (is_absent)
            continue;
        TRY(expect_member(x, archive_members[i].name));
        TRY(pass_member(x, place));
        n_rows += place->rows;
        if (n_rows > ARCHIVE_MAX_ROWS)
            return archive_broken(x->problem, STR("the archive"),
                "has more than %d rows: import its threads and agents one by one",
                ARCHIVE_MAX_ROWS);
        n_listed += i == MEMBER_AGENTS || i == MEMBER_THREADS ? place->rows : 0;
        if (n_listed > ARCHIVE_MAX_LISTED)
            return archive_broken(x->problem, STR("the archive"),
                "has more than %d agents and threads: import them one by one", ARCHIVE_MAX_LISTED);
        manifest_note(
            x->manifest, archive_members[i].name, place->size_bytes, &place->rows, place->hash);
    }
    return OK;
}

enum error archive_index(struct archive *a, struct problem *problem)
{
    struct indexer x = {.archive = a,
        .problem = problem,
        .piece = mem_alloc(READ_BYTES),
        .manifest = manifest_create(),
        .digest = sha256_create()};
    enum error e = read_head(&x);
    if (e == OK) {
        manifest_note(x.manifest, "cairn.json", a->head.size_bytes, NULL, a->head.hash);
        e = read_rows(&x);
    }
    if (e == OK)
        e = read_contents(&x);
    if (e == OK)
        e = read_manifest(&x);
    if (e == OK)
        e = read_end(&x);
    mem_free(x.piece);
    manifest_destroy(x.manifest);
    if (x.digest != NULL)
        (void)sha256_finish(x.digest);
    return e;
}
