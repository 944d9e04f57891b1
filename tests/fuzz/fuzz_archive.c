/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports the input as an archive. The input is text, so that mutations reach its members:
 *
 *   ids=remap            the query of the import
 *   @threads.jsonl       the lines up to the next "@" are this member
 *   @blob                a content; "#0" anywhere stands for the hash of the first, and so on
 *
 * The target packs these into a tar file with correct headers, hashes and manifest; members that
 * the input does not have are empty. An input that begins with "!" is the file itself. The import
 * is rejected and the tenant does not change, or it succeeds and its objects can be exported,
 * verified and deleted, after which the tenant is the same as before.
 */
#include "base/hash.h"
#include "base/json/json_write.h"
#include "base/tar.h"
#include "fuzz.h"
#include "model/upkeep/archive_tables.h"
#include "throwaway.h"

enum { MAX_MEMBERS = 64, MAX_INPUT = 256 * 1024 };

static struct throwaway here;
static struct str nothing; /* the export of an empty tenant */

/* --- Packing -------------------------------------------------------------------------------- */

struct section {
    struct str name;
    struct str bytes;
};

struct input {
    struct str query;
    struct section sections[MAX_MEMBERS];
    size_t n_sections;
    struct section blobs[MAX_MEMBERS]; /* the name is the hash */
    size_t n_blobs;
};

static struct str hash_of(struct arena *arena, struct str bytes)
{
    struct sha256 hash = sha256_of(bytes);
    return hex_encode(arena, (struct str){(char *)hash.bytes, SHA256_LEN});
}

static void cut(struct arena *arena, struct str text, struct input *out)
{
    struct str rest = text;
    *out = (struct input){.query = STR("ids=keep")};
    while (rest.len > 0) {
        struct str line = str_slice(rest, 0, str_find(rest, '\n'));
        rest = str_slice(rest, line.len + 1, rest.len);
        if (line.len == 0 || line.ptr[0] != '@') {
            out->query = line;
            continue;
        }
        size_t end = 0;
        while (end < rest.len && rest.ptr[end] != '@')
            end += str_find(str_slice(rest, end, rest.len), '\n') + 1;
        struct section s = {str_slice(line, 1, line.len), str_slice(rest, 0, end)};
        rest = str_slice(rest, end, rest.len);
        if (str_eq(s.name, STR("blob")) && out->n_blobs < MAX_MEMBERS)
            out->blobs[out->n_blobs++] = (struct section){hash_of(arena, s.bytes), s.bytes};
        else if (out->n_sections < MAX_MEMBERS)
            out->sections[out->n_sections++] = s;
    }
}

/* "#3" becomes the hash of the fourth content. */
static struct str with_hashes(struct arena *arena, const struct input *in, struct str text)
{
    struct buf out CLEANUP(buf_deinit);
    buf_init(&out, SIZE_MAX);
    for (size_t i = 0; i < text.len; i++) {
        size_t n = i + 1 < text.len ? (size_t)(text.ptr[i + 1] - '0') : SIZE_MAX;
        if (text.ptr[i] == '#' && n < in->n_blobs) {
            buf_append(&out, in->blobs[n].name);
            i++;
        } else {
            buf_append_byte(&out, text.ptr[i]);
        }
    }
    return arena_str(arena, buf_str(&out));
}

static void add(struct buf *out, struct str name, struct str bytes)
{
    static const char zeros[TAR_BLOCK_BYTES];
    char header[TAR_BLOCK_BYTES];
    if (!tar_is_name(name))
        name = STR("x");
    tar_write(name, bytes.len, header);
    buf_append(out, (struct str){header, sizeof header});
    buf_append(out, bytes);
    buf_append(out, (struct str){zeros, tar_padding(bytes.len)});
}

static void note(struct json_writer *w, struct arena *arena, struct str name, struct str bytes)
{
    int64_t rows = 0;
    for (size_t i = 0; i < bytes.len; i++)
        rows += bytes.ptr[i] == '\n';
    json_write_object(w);
    json_write_name(w, "name");
    json_write_string(w, name);
    json_write_name(w, "size_bytes");
    json_write_u64(w, bytes.len);
    if (!str_eq(name, STR("cairn.json"))) {
        json_write_name(w, "rows");
        json_write_i64(w, rows);
    }
    json_write_name(w, "sha256");
    json_write_string(w, hash_of(arena, bytes));
    json_write_end(w);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(((const struct section *)a)->name, ((const struct section *)b)->name);
}

static void add_blobs(
    struct arena *arena, struct buf *out, const struct input *in, struct json_writer *w)
{
    struct section sorted[MAX_MEMBERS];
    struct sha256_state *all = sha256_create();
    uint64_t bytes = 0;
    memcpy(sorted, in->blobs, sizeof sorted);
    qsort(sorted, in->n_blobs, sizeof *sorted, by_name);
    for (size_t i = 0; i < in->n_blobs; i++) {
        struct sha256 hash = sha256_of(sorted[i].bytes);
        sha256_add(all, (struct str){(char *)hash.bytes, SHA256_LEN});
        bytes += sorted[i].bytes.len;
        add(out, arena_printf(arena, "blobs/%.*s", STR_ARG(sorted[i].name)), sorted[i].bytes);
    }
    struct sha256 digest = sha256_finish(all);
    json_write_name(w, "blobs");
    json_write_object(w);
    json_write_name(w, "count");
    json_write_u64(w, in->n_blobs);
    json_write_name(w, "size_bytes");
    json_write_u64(w, bytes);
    json_write_name(w, "sha256");
    json_write_string(w, hex_encode(arena, (struct str){(char *)digest.bytes, SHA256_LEN}));
    json_write_end(w);
}

/* Rows that belong to the tenant are left out, because they remain when threads and agents are
 * deleted. */
static bool is_in_thread_or_agent(const struct archive_member *m)
{
    return m->select[ARCHIVE_THREAD] != NULL || m->select[ARCHIVE_AGENT] != NULL ||
           m == &archive_members[MEMBER_AGENT_LINKS];
}

static struct str member(const struct input *in, const char *name)
{
    for (size_t i = 0; i < in->n_sections; i++)
        if (str_eq(in->sections[i].name, str_of(name)))
            return in->sections[i].bytes;
    return STR("");
}

static struct str pack(struct arena *arena, const struct input *in)
{
    static const char end[TAR_END_BYTES];
    struct buf out CLEANUP(buf_deinit);
    struct json_text manifest;
    buf_init(&out, SIZE_MAX);
    json_text_init(&manifest, SIZE_MAX);
    json_write_object(&manifest.w);
    json_write_name(&manifest.w, "members");
    json_write_array(&manifest.w);
    for (size_t i = 0; i <= MEMBER_COUNT; i++) {
        const char *name = i == 0 ? "cairn.json" : archive_members[i - 1].name;
        bool is_empty = i > 0 && !is_in_thread_or_agent(&archive_members[i - 1]);
        struct str bytes = is_empty ? STR("") : with_hashes(arena, in, member(in, name));
        add(&out, str_of(name), bytes);
        note(&manifest.w, arena, str_of(name), bytes);
    }
    json_write_end(&manifest.w);
    add_blobs(arena, &out, in, &manifest.w);
    json_write_end(&manifest.w);
    struct str text = json_text_take(&manifest, arena);
    add(&out, STR("manifest.json"), arena_printf(arena, "%.*s\n", STR_ARG(text)));
    buf_append(&out, (struct str){end, sizeof end});
    return arena_str(arena, buf_str(&out));
}

/* --- Asking --------------------------------------------------------------------------------- */

static struct str export_all(struct arena *arena)
{
    cairn_answer *a = cairn_call(here.cairn, "GET", "/v1/export", NULL, NULL, 0);
    FUZZ_CHECK(cairn_answer_status(a) == 200);
    size_t len;
    const char *bytes = cairn_answer_body(a, &len);
    struct str copy = arena_str(arena, (struct str){bytes, len});
    cairn_answer_free(a);
    return copy;
}

static int import(struct arena *arena, struct str query, struct str archive, struct json *out)
{
    static const char *const headers[] = {"Content-Type: application/x-tar", NULL};
    struct str target = arena_printf(arena, "/v1/imports?%.*s", STR_ARG(query));
    cairn_answer *a = cairn_call(
        here.cairn, "POST", arena_cstr(arena, target), headers, archive.ptr, archive.len);
    int status = cairn_answer_status(a);
    *out = answer_json(arena, a);
    cairn_answer_free(a);
    return status;
}

static void delete_all(struct arena *arena, struct json made, const char *type)
{
    struct json objects, object;
    FUZZ_CHECK(json_get(made, STR("objects"), &objects));
    struct json_iter it = json_iter(objects);
    while (json_next(&it, NULL, &object)) {
        struct str id = json_text_of(arena, object, "to");
        if (!str_eq(json_text_of(arena, object, "type"), str_of(type)))
            continue;
        struct str path = arena_printf(arena, "/v1/%ss/%.*s", type, STR_ARG(id));
        cairn_answer *a = cairn_call(here.cairn, "DELETE", arena_cstr(arena, path), NULL, NULL, 0);
        FUZZ_CHECK(cairn_answer_status(a) == 204);
        cairn_answer_free(a);
    }
}

static void judge(struct arena *arena, struct str query, struct str archive)
{
    struct json made, unused;
    int status = import(arena, query, archive, &made);
    FUZZ_CHECK(status == 200 || status == 201 || (status >= 400 && status < 500));
    if (status == 201) {
        int again = import(arena, STR("ids=remap&dry_run=true"), export_all(arena), &unused);
        if (again >= 300 && again != 409)
            fprintf(stderr, "export is refused: %.*s\n",
                STR_ARG(json_text_of(arena, unused, "detail")));
        FUZZ_CHECK(again == 200 || again == 409);
        delete_all(arena, made, "thread");
        delete_all(arena, made, "agent");
    }
    FUZZ_CHECK(str_eq(export_all(arena), nothing));
}

static void close_here(void)
{
    throwaway_close(&here);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arena kept;
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, SIZE_MAX);
    if (here.cairn == NULL) {
        throwaway_open(&here);
        atexit(close_here);
        arena_init(&kept, SIZE_MAX);
        nothing = export_all(&kept);
    }
    if (size > MAX_INPUT)
        return 0;
    struct str text = {(const char *)data, size};
    struct input *in = ARENA_NEW(&arena, struct input);
    if (str_starts_with(text, STR("!"))) {
        judge(&arena, STR("ids=keep"), str_slice(text, 1, text.len));
        return 0;
    }
    cut(&arena, text, in);
    bool remaps = str_eq(in->query, STR("ids=remap"));
    judge(&arena, remaps ? STR("ids=remap") : STR("ids=keep"), pack(&arena, in));
    return 0;
}
