/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/file.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/buf.h"

enum { PIECE_BYTES = 64 * 1024 };

static bool fail(struct arena *arena, struct str path, const char *why, struct str *out_why)
{
    *out_why = arena_printf(arena, "%.*s: %s", STR_ARG(path), why);
    return false;
}

static void close_file(FILE **file)
{
    if (*file != NULL && *file != stdin)
        fclose(*file);
}

bool file_read(struct arena *arena, struct str path, size_t max_bytes, struct str *out_bytes,
    struct str *out_why)
{
    bool is_stdin = str_eq(path, STR("-"));
    FILE *file CLEANUP(close_file) = is_stdin ? stdin : fopen(arena_cstr(arena, path), "re");
    struct buf bytes CLEANUP(buf_deinit) = BUF_INIT(max_bytes);
    if (file == NULL)
        return fail(arena, path, strerror(errno), out_why);
    while (!feof(file) && !ferror(file)) {
        char piece[PIECE_BYTES];
        buf_append(&bytes, (struct str){piece, fread(piece, 1, sizeof piece, file)});
        if (bytes.failed)
            return fail(arena, path, "the file is too large", out_why);
    }
    if (ferror(file))
        return fail(arena, path, strerror(errno), out_why);
    *out_bytes = arena_str(arena, buf_str(&bytes));
    return true;
}

bool file_is_exposed(struct arena *arena, struct str path)
{
    struct stat about;
    return stat(arena_cstr(arena, path), &about) == 0 && (about.st_mode & (S_IRGRP | S_IROTH)) != 0;
}
