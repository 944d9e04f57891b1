/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "cli/text.h"

enum {
    DIRECTORY_MODE = 0700,
    FILE_MODE = 0600,
    READ_BYTES = 64 * 1024,
    LINE_MAX_BYTES = 64 * 1024 * 1024,
    NAME_BYTES = 256,
    OPEN_DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
};

/* --- The directory -------------------------------------------------------------------------- */

int tree_open(struct tree *t, struct cli *cli, struct str path, bool create)
{
    *t = (struct tree){.cli = cli, .path = arena_cstr(cli_arena(cli), path), .fd = -1};
    if (create && mkdir(t->path, DIRECTORY_MODE) != 0 && errno != EEXIST)
        return cli_fail(cli, "cannot create %s: %s", t->path, strerror(errno));
    t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return t->fd >= 0 ? EXIT_SUCCESS
                      : cli_fail(cli, "cannot read %s: %s", t->path, strerror(errno));
}

void tree_close(struct tree *t)
{
    fd_close(t->fd);
    t->fd = -1;
}

static int fail(struct tree *t, const char *what, struct str name)
{
    return cli_fail(t->cli, "cannot %s %s/%.*s: %s", what, t->path, STR_ARG(name), strerror(errno));
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A temporary file that a crash has left; the next write of the file replaces it. */
static bool is_partial(const char *name)
{
    return name[0] == '.' && str_ends_with(str_of(name), STR(".partial"));
}

/* Takes `fd`. Returns NULL with errno. */
static DIR *open_stream(int fd)
{
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (stream == NULL)
        fd_close(fd);
    return stream;
}

int tree_check(struct tree *t, const char *const *names)
{
    DIR *stream CLEANUP(dir_closep) = open_stream(openat(t->fd, ".", OPEN_DIRECTORY));
    struct dirent *entry;
    if (stream == NULL)
        return fail(t, "read", STR(""));
    while ((entry = readdir(stream)) != NULL) {
        if (is_dots(entry->d_name) || is_one_of(entry->d_name, names) || is_partial(entry->d_name))
            continue;
        struct str shown = text_clean(cli_arena(t->cli), str_of(entry->d_name));
        return cli_fail(t->cli, "%s contains another file: %.*s", t->path, STR_ARG(shown));
    }
    return EXIT_SUCCESS;
}

/* --- Paths ---------------------------------------------------------------------------------- */

/* The last part of a name as a C string, and its directory. */
struct place {
    int directory;
    char name[NAME_BYTES];
    char partial[NAME_BYTES + 16];
};

static void leave_place(const struct place *place)
{
    fd_close(place->directory);
}

static int enter(int from, const char *name, bool create)
{
    int fd = openat(from, name, OPEN_DIRECTORY);
    if (fd >= 0 || errno != ENOENT || !create)
        return fd;
    if ((mkdirat(from, name, DIRECTORY_MODE) != 0 && errno != EEXIST) || fsync(from) != 0)
        return -1;
    return openat(from, name, OPEN_DIRECTORY);
}

/* Returns false with errno if a directory of the path cannot be opened. */
static bool find_place(struct tree *t, struct str name, bool create, struct place *out)
{
    struct str rest = name, part, ahead;
    int at = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    while (at >= 0 && str_next_part(&rest, '/', &part)) {
        assert(part.len > 0 && part.len < NAME_BYTES);
        memcpy(out->name, part.ptr, part.len);
        out->name[part.len] = '\0';
        ahead = rest;
        if (!str_next_part(&ahead, '/', &part))
            break;
        int next = enter(at, out->name, create);
        fd_close(at);
        at = next;
    }
    out->directory = at;
    snprintf(out->partial, sizeof(out->partial), ".%s.partial", out->name);
    return at >= 0;
}

static bool read_all(int fd, struct buf *out)
{
    for (;;) {
        char *place = buf_reserve(out, READ_BYTES);
        if (place == NULL) {
            errno = EFBIG;
            return false;
        }
        ssize_t n = fd_read(fd, place, READ_BYTES);
        if (n <= 0)
            return n == 0;
        buf_advance(out, (size_t)n);
    }
}

static int open_for_reading(int directory, const char *name)
{
    struct stat info;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int tree_read(struct tree *t, struct str name, struct buf *out, bool *out_found)
{
    struct place place CLEANUP(leave_place);
    bool ok = find_place(t, name, false, &place);
    int fd CLEANUP(fd_closep) = ok ? open_for_reading(place.directory, place.name) : -1;
    *out_found = fd >= 0;
    if (fd < 0 ? errno != ENOENT : !read_all(fd, out))
        return fail(t, "read", name);
    return EXIT_SUCCESS;
}

/* --- Files ---------------------------------------------------------------------------------- */

static bool has_bytes(const struct place *place, struct str bytes)
{
    struct stat info;
    struct buf there CLEANUP(buf_deinit) = BUF_INIT(bytes.len + 2 * READ_BYTES);
    int fd CLEANUP(fd_closep) = open_for_reading(place->directory, place->name);
    return fd >= 0 && fstat(fd, &info) == 0 && (uint64_t)info.st_size == bytes.len &&
           read_all(fd, &there) && str_eq(buf_str(&there), bytes);
}

static int open_partial(const struct place *place)
{
    if (unlinkat(place->directory, place->partial, 0) != 0 && errno != ENOENT)
        return -1;
    return openat(place->directory, place->partial,
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
}

static bool replace(const struct place *place, struct str bytes)
{
    int fd = open_partial(place);
    bool ok = fd >= 0 && fd_write_all(fd, bytes) && fsync(fd) == 0;
    ok = (fd < 0 || close(fd) == 0) && ok;
    return ok && renameat(place->directory, place->partial, place->directory, place->name) == 0 &&
           fsync(place->directory) == 0;
}

int tree_write(struct tree *t, struct str name, struct str bytes)
{
    struct place place CLEANUP(leave_place);
    bool ok =
        find_place(t, name, true, &place) && (has_bytes(&place, bytes) || replace(&place, bytes));
    return ok ? EXIT_SUCCESS : fail(t, "write", name);
}

int tree_remove(struct tree *t, struct str name)
{
    struct place place CLEANUP(leave_place);
    if (!find_place(t, name, false, &place))
        return errno == ENOENT ? EXIT_SUCCESS : fail(t, "remove", name);
    bool ok = unlinkat(place.directory, place.name, 0) == 0 || errno == ENOENT;
    if (!ok && (errno == EISDIR || errno == EPERM))
        ok = unlinkat(place.directory, place.name, AT_REMOVEDIR) == 0 || errno == ENOENT ||
             errno == ENOTEMPTY || errno == EEXIST;
    return ok && fsync(place.directory) == 0 ? EXIT_SUCCESS : fail(t, "remove", name);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void add_name(struct tree_names *names, size_t *room, struct arena *arena, const char *name)
{
    if (names->n == *room) {
        struct str *items = ARENA_ARRAY(arena, struct str, *room * 2);
        memcpy(items, names->items, names->n * sizeof(*items));
        names->items = items;
        *room *= 2;
    }
    names->items[names->n++] = arena_str(arena, str_of(name));
}

int tree_list(
    struct tree *t, struct str directory, struct arena *arena, struct tree_names *out_names)
{
    struct place place CLEANUP(leave_place);
    struct dirent *entry;
    size_t room = 64;
    *out_names = (struct tree_names){.items = ARENA_ARRAY(arena, struct str, room)};
    if (!find_place(t, directory, false, &place))
        return errno == ENOENT ? EXIT_SUCCESS : fail(t, "read", directory);
    DIR *stream CLEANUP(dir_closep) =
        open_stream(openat(place.directory, place.name, OPEN_DIRECTORY));
    if (stream == NULL)
        return errno == ENOENT ? EXIT_SUCCESS : fail(t, "read", directory);
    while ((entry = readdir(stream)) != NULL)
        if (entry->d_name[0] != '.')
            add_name(out_names, &room, arena, entry->d_name);
    qsort(out_names->items, out_names->n, sizeof(struct str), by_name);
    return EXIT_SUCCESS;
}

/* --- Lines ---------------------------------------------------------------------------------- */

/* Counts complete lines, keeps the last one, and returns where they end; false with errno. */
static bool count_lines(struct tree_lines *l, uint64_t *out_end)
{
    char bytes[READ_BYTES];
    struct buf line CLEANUP(buf_deinit) = BUF_INIT(LINE_MAX_BYTES);
    uint64_t at = 0;
    ssize_t n;
    *out_end = 0;
    while ((n = pread(l->fd, bytes, sizeof(bytes), (off_t)at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        struct str rest = {bytes, (size_t)n};
        while (str_has_byte(rest, '\n')) {
            size_t end = str_find(rest, '\n');
            buf_append(&line, str_slice(rest, 0, end));
            struct buf before = l->last;
            l->last = line;
            line = before;
            buf_reset(&line);
            l->count++;
            rest = str_slice(rest, end + 1, rest.len);
            *out_end = at + (size_t)n - rest.len;
        }
        buf_append(&line, rest);
        at += (size_t)n;
    }
    return true;
}

int tree_lines_open(struct tree *t, struct str name, struct tree_lines *l)
{
    struct place place;
    struct stat info;
    uint64_t end;
    *l = (struct tree_lines){.tree = t, .name = name, .fd = -1, .directory = -1};
    buf_init(&l->last, LINE_MAX_BYTES);
    if (!find_place(t, name, true, &place))
        return fail(t, "write", name);
    l->directory = place.directory;
    l->fd = openat(place.directory, place.name, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (l->fd < 0 && errno == ENOENT)
        return tree_lines_begin_anew(l);
    if (l->fd < 0 || fstat(l->fd, &info) != 0 || !count_lines(l, &end) ||
        ((uint64_t)info.st_size != end && ftruncate(l->fd, (off_t)end) != 0))
        return tree_lines_end(l, fail(t, "write", name));
    return EXIT_SUCCESS;
}

static void own_place(const struct tree_lines *l, struct place *out)
{
    struct str rest = l->name, part;
    while (str_next_part(&rest, '/', &part))
        snprintf(out->name, sizeof(out->name), "%.*s", STR_ARG(part));
    snprintf(out->partial, sizeof(out->partial), ".%s.partial", out->name);
    out->directory = l->directory;
}

int tree_lines_begin_anew(struct tree_lines *l)
{
    struct place place;
    own_place(l, &place);
    fd_close(l->fd);
    l->fd = open_partial(&place);
    l->is_new = true;
    l->count = 0;
    buf_reset(&l->last);
    return l->fd >= 0 ? EXIT_SUCCESS : tree_lines_end(l, fail(l->tree, "write", l->name));
}

int tree_lines_append(struct tree_lines *l, struct str lines)
{
    return fd_write_all(l->fd, lines) ? EXIT_SUCCESS : fail(l->tree, "write", l->name);
}

int tree_lines_end(struct tree_lines *l, int code)
{
    struct place place;
    own_place(l, &place);
    if (l->fd >= 0) {
        bool ok = code != EXIT_SUCCESS || fsync(l->fd) == 0;
        ok = close(l->fd) == 0 && ok;
        if (ok && l->is_new && code == EXIT_SUCCESS)
            ok = renameat(l->directory, place.partial, l->directory, place.name) == 0 &&
                 fsync(l->directory) == 0;
        if (!ok && code == EXIT_SUCCESS)
            code = fail(l->tree, "write", l->name);
        if (l->is_new && code != EXIT_SUCCESS)
            unlinkat(l->directory, place.partial, 0);
    }
    fd_close(l->directory);
    buf_deinit(&l->last);
    l->fd = l->directory = -1;
    return code;
}
