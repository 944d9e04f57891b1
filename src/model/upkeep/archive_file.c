/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/archive_file.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/json/json_write.h"
#include "store/content.h"

ENUM_DEFINE(archive_whats, ARCHIVE_WHATS);
ENUM_DEFINE(archive_id_modes, ARCHIVE_ID_MODES);
ENUM_DEFINE(archive_name_modes, ARCHIVE_NAME_MODES);

/* --- cairn.json ----------------------------------------------------------------------------- */

void archive_write_head(const struct archive_subject *subject, struct buf *out)
{
    struct json_writer w;
    json_writer_init(&w, out);
    json_write_object(&w);
    json_write_name(&w, "format");
    json_write_string(&w, STR("cairn-archive"));
    json_write_name(&w, "version");
    json_write_i64(&w, ARCHIVE_VERSION);
    json_write_name(&w, "what");
    json_write_string(&w, archive_what_word(subject->what));
    if (subject->what != ARCHIVE_TENANT) {
        json_write_name(&w, "id");
        json_write_uuid(&w, subject->id);
    }
    json_write_end(&w);
    buf_append_byte(out, '\n');
}

/* --- manifest.json -------------------------------------------------------------------------- */

struct archive_manifest {
    struct buf text;
    struct json_writer w;
};

struct archive_manifest *manifest_create(void)
{
    struct archive_manifest *m = MEM_NEW(struct archive_manifest);
    buf_init(&m->text, ARCHIVE_MANIFEST_MAX_BYTES);
    json_writer_init(&m->w, &m->text);
    json_write_object(&m->w);
    json_write_name(&m->w, "members");
    json_write_array(&m->w);
    return m;
}

void manifest_destroy(struct archive_manifest *m)
{
    if (m != NULL)
        buf_deinit(&m->text);
    mem_free(m);
}

static void write_hash(struct json_writer *w, struct sha256 hash)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    json_write_name(w, "sha256");
    json_write_string(w, hex_encode(&arena, (struct str){(char *)hash.bytes, SHA256_LEN}));
    arena_deinit(&arena);
}

void manifest_note(struct archive_manifest *m, const char *name, uint64_t size_bytes,
    const int64_t *rows, struct sha256 hash)
{
    json_write_object(&m->w);
    json_write_name(&m->w, "name");
    json_write_string(&m->w, str_of(name));
    json_write_name(&m->w, "size_bytes");
    json_write_u64(&m->w, size_bytes);
    if (rows != NULL) {
        json_write_name(&m->w, "rows");
        json_write_i64(&m->w, *rows);
    }
    write_hash(&m->w, hash);
    json_write_end(&m->w);
}

void manifest_end(
    struct archive_manifest *m, uint64_t n_blobs, uint64_t size_bytes, struct sha256 digest)
{
    json_write_end(&m->w);
    json_write_name(&m->w, "blobs");
    json_write_object(&m->w);
    json_write_name(&m->w, "count");
    json_write_u64(&m->w, n_blobs);
    json_write_name(&m->w, "size_bytes");
    json_write_u64(&m->w, size_bytes);
    write_hash(&m->w, digest);
    json_write_end(&m->w);
    json_write_end(&m->w);
    buf_append_byte(&m->text, '\n');
}

struct str manifest_text(const struct archive_manifest *m)
{
    return buf_str(&m->text);
}

/* --- Ids ------------------------------------------------------------------------------------ */

struct archive_entry *ids_add(struct archive_ids_of *ids, struct uuid id)
{
    if (ids->count == ids->cap) {
        ids->cap = ids->cap == 0 ? 16 : 2 * ids->cap;
        ids->entries = mem_realloc(ids->entries, ids->cap * sizeof(struct archive_entry));
    }
    struct archive_entry *entry = &ids->entries[ids->count++];
    *entry = (struct archive_entry){.from = id, .to = id, .owner = NO_OWNER};
    return entry;
}

static int by_id(const void *a, const void *b, void *entries)
{
    const struct archive_entry *all = entries;
    return uuid_cmp(all[*(const uint32_t *)a].from, all[*(const uint32_t *)b].from);
}

static bool is_in_order(const struct archive_ids_of *ids)
{
    for (size_t i = 1; i < ids->count; i++)
        if (uuid_cmp(ids->entries[i - 1].from, ids->entries[i].from) >= 0)
            return false;
    return true;
}

bool ids_sort(struct archive_ids_of *ids, struct uuid *out_twice)
{
    ids->is_complete = true;
    if (is_in_order(ids))
        return true;
    ids->sorted = mem_alloc(ids->count * sizeof(uint32_t));
    for (size_t i = 0; i < ids->count; i++)
        ids->sorted[i] = (uint32_t)i;
    qsort_r(ids->sorted, ids->count, sizeof(uint32_t), by_id, ids->entries);
    for (size_t i = 1; i < ids->count; i++) {
        *out_twice = ids_at(ids, i)->from;
        if (uuid_eq(ids_at(ids, i - 1)->from, *out_twice))
            return false;
    }
    return true;
}

struct archive_entry *ids_at(const struct archive_ids_of *ids, size_t place)
{
    return &ids->entries[ids->sorted != NULL ? ids->sorted[place] : place];
}

struct archive_entry *ids_find(const struct archive_ids_of *ids, struct uuid id)
{
    size_t low = 0, high = ids->is_complete ? ids->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct archive_entry *entry = ids_at(ids, middle);
        int order = uuid_cmp(entry->from, id);
        if (order == 0)
            return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

uint32_t ids_number(const struct archive_ids_of *ids, const struct archive_entry *entry)
{
    return (uint32_t)(entry - ids->entries);
}

void ids_deinit(struct archive_ids_of *ids)
{
    mem_free(ids->entries);
    mem_free(ids->sorted);
    *ids = (struct archive_ids_of){0};
}

/* --- Rows in a file ------------------------------------------------------------------------- */

static enum error read_file(
    void *data, uint64_t at, char *place, size_t size, struct problem *problem)
{
    const int *fd = data;
    while (size > 0) {
        ssize_t n = pread(*fd, place, size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return problem_set(problem, ERR_UNAVAILABLE, "the archive cannot be read: %s",
                n < 0 ? strerror(errno) : "the archive is shorter than expected");
        place += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return OK;
}

enum error archive_write_file(int fd, uint64_t at, struct str bytes, struct problem *problem)
{
    if (!content_spool_has_room(fd, bytes.len))
        return problem_set(
            problem, ERR_STORAGE_FULL, "the server's disk has no space for the archive");
    while (bytes.len > 0) {
        ssize_t n = pwrite(fd, bytes.ptr, bytes.len, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return problem_set(problem, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE,
                "the archive cannot be written: %s", strerror(errno));
        bytes = str_slice(bytes, (size_t)n, bytes.len);
        at += (uint64_t)n;
    }
    return OK;
}

enum error archive_spool_rows(struct archive *a, int fd, struct problem *problem)
{
    enum { PIECE = 256 * 1024 };
    uint64_t end = 0, at = 0;
    char *piece = mem_alloc(PIECE);
    enum error e = OK;
    for (size_t i = 0; i < MEMBER_COUNT; i++) /* older archives do not have the last members */
        if (a->members[i].at > 0)
            end = a->members[i].at + a->members[i].size_bytes;
    while (e == OK && at < end) {
        size_t size = end - at < PIECE ? (size_t)(end - at) : PIECE;
        e = archive_pread(a, at, piece, size, problem);
        if (e == OK)
            e = archive_write_file(fd, at, (struct str){piece, size}, problem);
        at += size;
    }
    mem_free(piece);
    a->fd = fd;
    if (e == OK)
        a->source = (struct archive_source){read_file, &a->fd};
    return e;
}
