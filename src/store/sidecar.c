/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sidecar.h"

#include <errno.h>
#include <fcntl.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/fd.h"

enum { CHUNK_BYTES = 1024 * 1024, TEXT_MAX_BYTES = 64 * 1024 };

/* --- Names ---------------------------------------------------------------------------------- */

enum error file_problem(const char *what, const char *path, struct problem *problem)
{
    if (errno == ENOSPC || errno == EDQUOT)
        return problem_set(problem, ERR_STORAGE_FULL, "%s %s: the disk is full", what, path);
    return problem_set(problem, ERR_UNAVAILABLE, "%s %s: %s", what, path, strerror(errno));
}

const char *file_beside(struct arena *arena, const char *path, const char *ending)
{
    return arena_cstr(arena, arena_printf(arena, "%s%s", path, ending));
}

static size_t name_start(struct str path)
{
    size_t start = path.len;
    while (start > 0 && path.ptr[start - 1] != '/')
        start--;
    return start;
}

struct str file_directory(const char *path)
{
    struct str whole = str_of(path);
    size_t start = name_start(whole);
    return start == 0 ? STR(".") : str_slice(whole, 0, start);
}

struct str file_name(const char *path)
{
    struct str whole = str_of(path);
    return str_slice(whole, name_start(whole), whole.len);
}

int file_create(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

bool file_has_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && info.st_size > 0;
}

enum error file_sync_directory(const char *path, struct problem *problem)
{
    const char *directory = arena_cstr(problem->arena, file_directory(path));
    int fd CLEANUP(fd_closep) = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return file_problem("cannot open the directory", directory, problem);
    return fsync(fd) == 0 ? OK : file_problem("cannot fsync the directory", directory, problem);
}

/* --- Bytes ---------------------------------------------------------------------------------- */

enum error file_hash(int fd, const char *path, int to, const char *to_path, const char *stage,
    struct progress *progress, struct problem *problem, struct sha256 *out_hash, uint64_t *out_size)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return file_problem("cannot read", path, problem);
    char *buffer CLEANUP(mem_freep) = mem_alloc(CHUNK_BYTES);
    struct sha256_state *state CLEANUP(sha256_freep) = sha256_create();
    uint64_t done = 0;
    ssize_t n = 0;
    while ((n = fd_pread(fd, buffer, CHUNK_BYTES, done)) > 0) {
        sha256_add(state, (struct str){buffer, (size_t)n});
        done += (uint64_t)n;
        progress_report(progress, stage, done, (uint64_t)info.st_size);
        if (progress_is_cancelled(progress))
            return problem_set(problem, ERR_CANCELLED, "called off");
        if (to >= 0 && !fd_write_all(to, (struct str){buffer, (size_t)n}))
            return file_problem("cannot write", to_path, problem);
    }
    if (n < 0)
        return file_problem("cannot read", path, problem);
    *out_hash = sha256_so_far(state);
    *out_size = done;
    return OK;
}

/* --- FILE.sha256 ---------------------------------------------------------------------------- */

bool sha256_parse(struct str hex, struct sha256 *out_hash)
{
    return hex_decode(hex, out_hash->bytes, SHA256_LEN);
}

bool sidecar_has(const struct sidecar *sidecar, const struct sha256 *hash)
{
    for (size_t i = 0; i < sidecar->count; i++)
        if (memcmp(sidecar->hashes[i].bytes, hash->bytes, SHA256_LEN) == 0)
            return true;
    return false;
}

static enum error read_text(const char *path, struct problem *problem, struct str *out_text)
{
    int fd CLEANUP(fd_closep) = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return problem_set(problem, ERR_NOT_FOUND, "the file %s does not exist", path);
    char *text = arena_alloc(problem->arena, TEXT_MAX_BYTES);
    ssize_t n = fd < 0 ? -1 : read(fd, text, TEXT_MAX_BYTES);
    if (n < 0)
        return file_problem("cannot read", path, problem);
    *out_text = (struct str){text, (size_t)n};
    return OK;
}

/* Parses a line of sha256sum: the hash, a blank, the mode, and the name, which may be a path. */
static bool parse_line(struct str line, struct str name, struct sha256 *out_hash)
{
    enum { NAME_AT = 2 * SHA256_LEN + 2 };
    if (line.len <= NAME_AT || line.ptr[NAME_AT - 2] != ' ' ||
        (line.ptr[NAME_AT - 1] != ' ' && line.ptr[NAME_AT - 1] != '*'))
        return false;
    struct str path = str_slice(line, NAME_AT, line.len);
    return str_eq(str_slice(path, name_start(path), path.len), name) &&
           sha256_parse(str_slice(line, 0, 2 * SHA256_LEN), out_hash);
}

enum error sidecar_read(const char *file, struct problem *problem, struct sidecar *out_sidecar)
{
    const char *path = file_beside(problem->arena, file, ".sha256");
    struct str rest, line, name = file_name(file);
    TRY(read_text(path, problem, &rest));
    struct sidecar sidecar = {.count = 0};
    while (sidecar.count < SIDECAR_MAX_HASHES && str_next_part(&rest, '\n', &line))
        if (parse_line(line, name, &sidecar.hashes[sidecar.count]))
            sidecar.count++;
    if (sidecar.count == 0)
        return problem_set(problem, ERR_INVALID,
            "%s contains no SHA-256 of %.*s: its lines must have the format of sha256sum", path,
            STR_ARG(name));
    *out_sidecar = sidecar;
    return OK;
}

static enum error write_text(
    const char *path, struct str text, const struct stat *owner, struct problem *problem)
{
    int fd CLEANUP(fd_closep) = file_create(path);
    bool is_theirs = fd >= 0 && (owner == NULL || fchown(fd, owner->st_uid, owner->st_gid) == 0);
    bool written = is_theirs && fd_write_all(fd, text) && fsync(fd) == 0;
    return written ? OK : file_problem("cannot write", path, problem);
}

enum error sidecar_write(const char *file, const struct sidecar *sidecar, const struct stat *owner,
    struct problem *problem)
{
    const char *path = file_beside(problem->arena, file, ".sha256");
    const char *partial = file_beside(problem->arena, path, ".partial");
    struct buf text CLEANUP(buf_deinit) = BUF_INIT(TEXT_MAX_BYTES);
    for (size_t i = 0; i < sidecar->count; i++) {
        struct str bytes = {(const char *)sidecar->hashes[i].bytes, SHA256_LEN};
        buf_append(&text, hex_encode(problem->arena, bytes));
        buf_append(&text, STR("  "));
        buf_append(&text, file_name(file));
        buf_append_byte(&text, '\n');
    }
    enum error e = write_text(partial, buf_str(&text), owner, problem);
    if (e == OK && rename(partial, path) != 0)
        e = file_problem("cannot write", path, problem);
    if (e != OK) {
        unlink(partial);
        return e;
    }
    return file_sync_directory(path, problem);
}
