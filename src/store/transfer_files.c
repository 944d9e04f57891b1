/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of files, which is not in a table: moved after the rows, from and to a directory or
 * the chunks of PostgreSQL, and compared with the hashes of the rows. Existing content of the right
 * size is not moved again: the comparison at the end finds damage.
 */
#include <errno.h>
#include <fcntl.h>

#include "base/alloc.h"
#include "base/fd.h"
#include "store/content_copy.h"
#include "store/content_place.h"
#include "store/sidecar.h"
#include "store/transfer_state.h"

enum { NAMES_A_PAGE = 500, PIECE_BYTES = CONTENT_CHUNK_BYTES };

/* Content that is being moved, a piece at a time. */
struct errand {
    struct transfer *t;
    const struct content_name *name;
    const char *from; /* the directories; NULL: in the database */
    const char *to;
    int from_fd;
    int to_fd;
    const char *to_path;
    char *piece;
};

/* NULL: the side keeps content in its database. */
static const char *directory_of(const struct side *side)
{
    const struct transfer_place *place = side->place;
    struct str parent = place->engine == ENGINE_SQLITE ? place->data_dir : place->files_dir;
    if (str_is_none(parent))
        return NULL;
    return arena_cstr(
        side->arena, arena_printf(side->arena, "%.*s/" CONTENT_ROOT_NAME, STR_ARG(parent)));
}

static struct str show_name(struct arena *arena, const struct content_name *name)
{
    char text[UUID_TEXT_LEN];
    uuid_format(name->id, text);
    return arena_str(arena, (struct str){text, sizeof text});
}

static enum error lost(struct transfer *t, const struct side *side, const struct content_name *name)
{
    bool may_be_elsewhere =
        side->place->engine == ENGINE_POSTGRES && str_is_none(side->place->files_dir);
    return problem_set(t->problem, ERR_DAMAGED,
        "the %s: the content %.*s of a file does not exist, or is damaged%s", side->name,
        STR_ARG(show_name(t->arena, name)),
        may_be_elsewhere && side->role == SIDE_FROM
            ? ": if its servers have --files-dir, pass the same directory with --from-files-dir"
            : "");
}

/* --- Names ---------------------------------------------------------------------------------- */

/* Reads the next names of the source, in the order of their ids. */
static enum error read_names(struct transfer *t, struct content_name *names, size_t *n)
{
    static const uint32_t TYPES[] = {PG_UUID, PG_UUID};
    struct side *from = t->from;
    const struct content_name after = *n > 0 ? names[*n - 1] : (struct content_name){0};
    const struct transfer_value key[] = {
        {VALUE_BYTES, 0, {(const char *)after.tenant_id.bytes, sizeof after.tenant_id}},
        {VALUE_BYTES, 0, {(const char *)after.id.bytes, sizeof after.id}}};
    struct transfer_value row[4];
    char p = from->ops->sql.parameter;
    const char *sql = arena_cstr(
        t->arena, arena_printf(t->arena,
                      "SELECT tenant_id, id, size_bytes, sha256 FROM blobs WHERE (tenant_id, id) >"
                      " (%c1, %c2) ORDER BY tenant_id, id LIMIT %d",
                      p, p, NAMES_A_PAGE));
    bool found = true;
    *n = 0;
    TRY(from->ops->ask(from, sql, key, TYPES, COUNT_OF(TYPES)));
    while (found) {
        TRY(from->ops->next(from, row, COUNT_OF(row), &found));
        if (!found)
            return OK;
        struct content_name *name = &names[(*n)++];
        if (row[0].bytes.len != sizeof name->tenant_id || row[1].bytes.len != sizeof name->id ||
            row[2].number < 0 || row[3].bytes.len != SHA256_LEN)
            return problem_set(
                t->problem, ERR_DAMAGED, "the source has a damaged row in the table blobs");
        memcpy(&name->tenant_id, row[0].bytes.ptr, sizeof name->tenant_id);
        memcpy(&name->id, row[1].bytes.ptr, sizeof name->id);
        name->size_bytes = (uint64_t)row[2].number;
        memcpy(name->sha256.bytes, row[3].bytes.ptr, SHA256_LEN);
    }
    return OK;
}

/* --- Chunks of PostgreSQL ------------------------------------------------------------------- */

static const uint32_t CHUNK_TYPES[] = {PG_UUID, PG_UUID, PG_INT8, PG_BYTEA};

static void chunk_key(const struct content_name *name, int64_t n, struct transfer_value out[3])
{
    out[0] = (struct transfer_value){
        VALUE_BYTES, 0, {(const char *)name->tenant_id.bytes, sizeof name->tenant_id}};
    out[1] =
        (struct transfer_value){VALUE_BYTES, 0, {(const char *)name->id.bytes, sizeof name->id}};
    out[2] = (struct transfer_value){VALUE_INT, n, STR_NONE};
}

static enum error run(struct side *side, const char *sql, const struct transfer_value *params,
    size_t n_params, struct transfer_value *out_row, size_t n_columns, bool *out_found)
{
    bool found = true;
    *out_found = false;
    TRY(side->ops->ask(side, sql, params, CHUNK_TYPES, n_params));
    while (found) {
        struct transfer_value row[2];
        TRY(side->ops->next(side, row, n_columns, &found));
        for (size_t i = 0; found && i < n_columns; i++) {
            out_row[i] = row[i];
            if (row[i].kind == VALUE_BYTES)
                out_row[i].bytes = arena_str(side->arena, row[i].bytes);
            *out_found = true;
        }
    }
    return OK;
}

static enum error chunks_size(
    struct side *side, const struct content_name *name, uint64_t *out_chunks, uint64_t *out_bytes)
{
    struct transfer_value key[3], row[2] = {{0}};
    bool found;
    chunk_key(name, 0, key);
    TRY(run(side,
        "SELECT count(*), coalesce(sum(octet_length(bytes)), 0)::bigint FROM blob_chunks"
        " WHERE tenant_id = $1 AND blob_id = $2",
        key, 2, row, 2, &found));
    *out_chunks = (uint64_t)row[0].number;
    *out_bytes = (uint64_t)row[1].number;
    return OK;
}

/* --- Pieces --------------------------------------------------------------------------------- */

static size_t piece_size(const struct content_name *name, uint64_t n)
{
    uint64_t left = name->size_bytes - n * PIECE_BYTES;
    return left < PIECE_BYTES ? (size_t)left : (size_t)PIECE_BYTES;
}

static uint64_t count_pieces(const struct content_name *name)
{
    return (name->size_bytes + PIECE_BYTES - 1) / PIECE_BYTES;
}

static enum error read_file(struct errand *r, int fd, uint64_t n, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = fd_pread(fd, r->piece + done, size - done, n * PIECE_BYTES + done);
        if (got <= 0)
            return ERR_DAMAGED;
        done += (size_t)got;
    }
    return OK;
}

/* Reads piece n of a side into r->piece. */
static enum error read_piece(struct errand *r, struct side *side, int fd, uint64_t n)
{
    size_t size = piece_size(r->name, n);
    if (fd >= 0)
        return read_file(r, fd, n, size) == OK ? OK : lost(r->t, side, r->name);
    struct transfer_value key[3], row[1] = {{0}};
    struct arena_mark mark = arena_mark(side->arena);
    bool found;
    chunk_key(r->name, (int64_t)n, key);
    TRY(run(side, "SELECT bytes FROM blob_chunks WHERE tenant_id = $1 AND blob_id = $2 AND n = $3",
        key, 3, row, 1, &found));
    if (!found || row[0].bytes.len != size)
        return lost(r->t, side, r->name);
    if (size > 0)
        memcpy(r->piece, row[0].bytes.ptr, size);
    arena_rewind(side->arena, mark);
    return OK;
}

static enum error write_piece(struct errand *r, uint64_t n)
{
    size_t size = piece_size(r->name, n);
    if (r->to != NULL)
        return fd_write_all(r->to_fd, (struct str){r->piece, size})
                   ? OK
                   : file_problem("cannot write", r->to_path, r->t->problem);
    struct transfer_value values[4];
    bool found;
    chunk_key(r->name, (int64_t)n, values);
    values[3] = (struct transfer_value){VALUE_BYTES, 0, {r->piece, size}};
    return run(r->t->to,
        "INSERT INTO blob_chunks (tenant_id, blob_id, n, bytes) VALUES ($1, $2, $3, $4)", values, 4,
        NULL, 0, &found);
}

/* --- One content ---------------------------------------------------------------------------- */

static const char *path_of(
    struct transfer *t, const char *directory, const struct content_name *name)
{
    const struct content_place place = content_place_of(name->tenant_id, name->id);
    return arena_cstr(t->arena, arena_printf(t->arena, "%s/%s", directory, place.file));
}

static enum error open_source(struct errand *r, struct side *side, const char *directory, int *out)
{
    struct stat info;
    if (directory == NULL)
        return OK;
    *out = open(path_of(r->t, directory, r->name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool whole = *out >= 0 && fstat(*out, &info) == 0 && S_ISREG(info.st_mode) &&
                 (uint64_t)info.st_size == r->name->size_bytes;
    return whole ? OK : lost(r->t, side, r->name);
}

static enum error has_content(struct errand *r, bool *out_has)
{
    uint64_t chunks = 0, bytes = 0;
    struct stat info;
    if (r->to != NULL) {
        *out_has = lstat(path_of(r->t, r->to, r->name), &info) == 0 && S_ISREG(info.st_mode) &&
                   (uint64_t)info.st_size == r->name->size_bytes;
        return OK;
    }
    TRY(chunks_size(r->t->to, r->name, &chunks, &bytes));
    *out_has = bytes == r->name->size_bytes;
    return OK;
}

static enum error begin_target(struct errand *r)
{
    struct transfer_value key[3];
    bool found;
    if (r->to != NULL)
        return content_make_file(
            r->to, r->name->tenant_id, r->name->id, r->t->problem, &r->to_path, &r->to_fd);
    chunk_key(r->name, 0, key);
    return run(r->t->to, "DELETE FROM blob_chunks WHERE tenant_id = $1 AND blob_id = $2", key, 2,
        NULL, 0, &found);
}

static void close_errand(struct errand *r)
{
    fd_close(r->from_fd);
    fd_close(r->to_fd);
    mem_free(r->piece);
}

static enum error move_content(struct transfer *t, const struct content_name *name)
{
    CLEANUP(close_errand)
    struct errand r = {.t = t,
        .name = name,
        .from = directory_of(t->from),
        .to = directory_of(t->to),
        .from_fd = -1,
        .to_fd = -1,
        .piece = mem_alloc(PIECE_BYTES)};
    bool has = false;
    TRY(has_content(&r, &has));
    if (has)
        return OK;
    TRY(open_source(&r, t->from, r.from, &r.from_fd));
    TRY(begin_target(&r));
    for (uint64_t n = 0; n < count_pieces(name); n++) {
        TRY(read_piece(&r, t->from, r.from_fd, n));
        TRY(write_piece(&r, n));
        if (progress_is_cancelled(t->progress))
            return transfer_cancelled(t);
    }
    return OK;
}

/* Compares the target's content with its row. */
static enum error verify_content(struct transfer *t, const struct content_name *name)
{
    CLEANUP(close_errand)
    struct errand r = {
        .t = t, .name = name, .from_fd = -1, .to_fd = -1, .piece = mem_alloc(PIECE_BYTES)};
    struct sha256_state *state CLEANUP(sha256_freep) = sha256_create();
    TRY(open_source(&r, t->to, directory_of(t->to), &r.from_fd));
    for (uint64_t n = 0; n < count_pieces(name); n++) {
        TRY(read_piece(&r, t->to, r.from_fd, n));
        sha256_add(state, (struct str){r.piece, piece_size(name, n)});
        if (progress_is_cancelled(t->progress))
            return transfer_cancelled(t);
    }
    struct sha256 hash = sha256_so_far(state);
    return memcmp(hash.bytes, name->sha256.bytes, SHA256_LEN) == 0 ? OK : lost(t, t->to, name);
}

/* --- All of it ------------------------------------------------------------------------------ */

static enum error for_each(struct transfer *t, const char *stage,
    enum error (*act)(struct transfer *t, const struct content_name *name))
{
    struct content_name *names = mem_alloc(NAMES_A_PAGE * sizeof *names);
    struct content_counts done = {0};
    size_t n = 0;
    enum error e = OK;
    do {
        e = read_names(t, names, &n);
        for (size_t i = 0; e == OK && i < n; i++) {
            struct arena_mark mark = arena_mark(t->arena);
            progress_report(t->progress, stage, done.n_bytes, t->result.files.n_bytes);
            e = act(t, &names[i]);
            done.n_files++;
            done.n_bytes += names[i].size_bytes;
            if (e == OK)
                arena_rewind(t->arena, mark);
        }
    } while (e == OK && n == NAMES_A_PAGE);
    mem_free(names);
    if (e == OK)
        t->result.files = done;
    return e;
}

enum error transfer_count_files(struct transfer *t)
{
    int64_t numbers[2] = {0, 0};
    enum error e = transfer_ask_numbers(t->from,
        "SELECT count(*), CAST(coalesce(sum(size_bytes), 0) AS bigint) FROM blobs", NULL, 0,
        numbers, 2);
    t->result.files = (struct content_counts){(uint64_t)numbers[0], (uint64_t)numbers[1]};
    return e;
}

enum error transfer_move_files(struct transfer *t)
{
    const char *to = directory_of(t->to);
    TRY(for_each(t, "copying files", move_content));
    if (to != NULL && t->result.files.n_files > 0)
        TRY(content_make_last(to, t->problem));
    return OK;
}

enum error transfer_verify_files(struct transfer *t)
{
    return for_each(t, "verifying files", verify_content);
}
