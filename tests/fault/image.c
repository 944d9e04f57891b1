/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { SECTOR = 512, FILES_MAX = 4096, NAMES_MAX = 512, ROOM = 4096 };

const char *const image_policy_words[IMAGE_POLICY_COUNT] = {
#define IMAGE_WORDS(name, words) words,
    IMAGE_POLICIES(IMAGE_WORDS)
#undef IMAGE_WORDS
};

struct content {
    char *bytes; /* zero behind the size */
    size_t size, cap;
};

struct list {
    uint32_t *ops;
    size_t n, cap;
};

struct file {
    struct content durable; /* what is on the disk for certain */
    struct content cached; /* what the cache held at the last sync; the same, but for failed ones */
    struct list pending;   /* writes and truncations since */
};

struct name {
    char path[DISK_PATH_MAX];
    uint16_t file;
};

struct names {
    struct name items[NAMES_MAX];
    size_t n;
};

struct image {
    const struct disk_log *log;
    bool ignores_syncs;
    uint32_t position;
    struct file files[FILES_MAX];
    struct names names; /* that last */
    struct list pending_names;
    uint64_t random;
};

/* --- Small parts ---------------------------------------------------------------------------- */

static uint64_t next_random(struct image *image)
{
    uint64_t z = image->random += 0x9e3779b97f4a7c15U; /* splitmix64 */
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
}

static void *grown(void *ptr, size_t size)
{
    void *more = realloc(ptr, size);
    if (more == NULL)
        abort();
    return more;
}

static void list_add(struct list *list, uint32_t op)
{
    if (list->n == list->cap) {
        list->cap = 2 * list->cap + 16;
        list->ops = grown(list->ops, list->cap * sizeof *list->ops);
    }
    list->ops[list->n++] = op;
}

static void reserve(struct content *c, size_t size)
{
    if (size <= c->cap)
        return;
    size_t cap = (size + size / 2) / ROOM * ROOM + ROOM;
    c->bytes = grown(c->bytes, cap);
    memset(c->bytes + c->cap, 0, cap - c->cap);
    c->cap = cap;
}

static void resize(struct content *c, size_t size)
{
    reserve(c, size);
    if (size < c->size)
        memset(c->bytes + size, 0, c->size - size);
    c->size = size;
}

static void copy(struct content *to, const struct content *from)
{
    resize(to, 0);
    resize(to, from->size);
    if (from->size > 0)
        memcpy(to->bytes, from->bytes, from->size);
}

/* --- Files ---------------------------------------------------------------------------------- */

static void apply(const struct image *image, const struct disk_op *op, struct content *c)
{
    size_t end = op->offset + op->len;
    if (op->kind == DISK_TRUNCATE) {
        resize(c, op->offset);
        return;
    }
    if (end > c->size)
        resize(c, end);
    memcpy(c->bytes + op->offset, image->log->bytes + op->at, op->len);
}

/* The sectors that a write touched, as the cache has them now. */
static void settle_sectors(struct file *f, const struct disk_op *op)
{
    size_t start = op->offset / SECTOR * SECTOR, end = op->offset + op->len;
    end = (end + SECTOR - 1) / SECTOR * SECTOR;
    reserve(&f->cached, end);
    reserve(&f->durable, end);
    memcpy(f->durable.bytes + start, f->cached.bytes + start, end - start);
}

static void sync_file(struct image *image, struct file *f, bool lasts)
{
    for (size_t i = 0; i < f->pending.n; i++) {
        const struct disk_op *op = &image->log->ops[f->pending.ops[i]];
        apply(image, op, &f->cached);
        if (lasts && op->kind == DISK_TRUNCATE)
            resize(&f->durable, op->offset);
        else if (lasts)
            settle_sectors(f, op);
    }
    if (lasts) {
        reserve(&f->durable, f->cached.size);
        f->durable.size = f->cached.size;
    }
    f->pending.n = 0;
}

/* --- Names ---------------------------------------------------------------------------------- */

static void name_drop(struct names *names, const char *path)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i].path, path) == 0) {
            names->items[i] = names->items[--names->n];
            return;
        }
}

static void name_add(struct names *names, const char *path, uint16_t file)
{
    name_drop(names, path);
    assert(names->n < NAMES_MAX);
    struct name *name = &names->items[names->n++];
    memcpy(name->path, path, strlen(path) + 1);
    name->file = file;
}

static void apply_name(const struct image *image, const struct disk_op *op, struct names *names)
{
    const char *path = image->log->bytes + op->at;
    switch (op->kind) {
    case DISK_NAME:
        name_add(names, path, op->file);
        break;
    case DISK_UNNAME:
        name_drop(names, path);
        break;
    default:
        name_drop(names, path);
        name_add(names, path + strlen(path) + 1, op->file);
    }
}

/* All names of one operation are in one directory: Cairn and SQLite never move between two. */
static bool is_in(const char *path, const char *directory)
{
    size_t len = strlen(directory);
    const char *name = len == 0 ? path : path + len + 1;
    return (len == 0 || (strncmp(path, directory, len) == 0 && path[len] == '/')) &&
           strchr(name, '/') == NULL;
}

static void sync_directory(struct image *image, const char *directory)
{
    struct list *pending = &image->pending_names;
    size_t left = 0;
    for (size_t i = 0; i < pending->n; i++) {
        const struct disk_op *op = &image->log->ops[pending->ops[i]];
        if (is_in(image->log->bytes + op->at, directory))
            apply_name(image, op, &image->names);
        else
            pending->ops[left++] = pending->ops[i];
    }
    pending->n = left;
}

static void sync_all(struct image *image)
{
    struct list *pending = &image->pending_names;
    for (size_t i = 0; i < FILES_MAX; i++)
        sync_file(image, &image->files[i], true);
    for (size_t i = 0; i < pending->n; i++)
        apply_name(image, &image->log->ops[pending->ops[i]], &image->names);
    pending->n = 0;
}

/* --- Life ----------------------------------------------------------------------------------- */

struct image *image_create(const struct disk_log *log, bool ignores_syncs)
{
    struct image *image = grown(NULL, sizeof *image);
    memset(image, 0, sizeof *image);
    image->log = log;
    image->ignores_syncs = ignores_syncs;
    return image;
}

void image_destroy(struct image *image)
{
    for (size_t i = 0; i < FILES_MAX; i++) {
        free(image->files[i].durable.bytes);
        free(image->files[i].cached.bytes);
        free(image->files[i].pending.ops);
    }
    free(image->pending_names.ops);
    free(image);
}

uint32_t image_position(const struct image *image)
{
    return image->position;
}

bool image_advance(struct image *image)
{
    if (image->position == image->log->n_ops)
        return false;
    uint32_t at = image->position++;
    const struct disk_op *op = &image->log->ops[at];
    switch (op->kind) {
    case DISK_WRITE:
    case DISK_TRUNCATE:
        list_add(&image->files[op->file].pending, at);
        break;
    case DISK_SYNC:
    case DISK_SYNC_FAILED:
        if (!image->ignores_syncs)
            sync_file(image, &image->files[op->file], op->kind == DISK_SYNC);
        break;
    case DISK_SYNC_DIRECTORY:
        if (!image->ignores_syncs)
            sync_directory(image, image->log->bytes + op->at);
        break;
    case DISK_SYNC_ALL:
        if (!image->ignores_syncs)
            sync_all(image);
        break;
    default:
        list_add(&image->pending_names, at);
    }
    return true;
}

/* --- Kept writes ---------------------------------------------------------------------------- */

/* Whether a write is kept, or a size, or a name; and of a torn one the next sector. */
static bool is_kept(struct image *image, enum image_policy policy, bool is_name)
{
    switch (policy) {
    case IMAGE_LOST:
        return false;
    case IMAGE_KEPT:
        return true;
    case IMAGE_NAMES_LOST:
        return !is_name;
    case IMAGE_NAMES_KEPT:
        return is_name;
    default:
        return next_random(image) & 1;
    }
}

static void keep_write(struct image *image, enum image_policy policy, const struct disk_op *op,
    struct content *cached, struct content *out)
{
    bool whole = is_kept(image, policy, false);
    size_t end = (op->offset + op->len + SECTOR - 1) / SECTOR * SECTOR;
    reserve(cached, end);
    reserve(out, end);
    for (size_t at = op->offset / SECTOR * SECTOR; at < end; at += SECTOR)
        if (policy == IMAGE_TORN ? is_kept(image, policy, false) : whole)
            memcpy(out->bytes + at, cached->bytes + at, SECTOR);
}

static void leave_file(
    struct image *image, const struct file *f, enum image_policy policy, struct content *out)
{
    struct content cached = {0};
    size_t size = f->durable.size;
    copy(out, &f->durable);
    copy(&cached, &f->cached);
    for (size_t i = 0; i < f->pending.n; i++) {
        const struct disk_op *op = &image->log->ops[f->pending.ops[i]];
        size_t before = cached.size;
        apply(image, op, &cached);
        if (cached.size != before && is_kept(image, policy, false))
            size = cached.size;
        if (op->kind == DISK_WRITE)
            keep_write(image, policy, op, &cached, out);
    }
    free(cached.bytes);
    reserve(out, size);
    out->size = size;
}

static void write_whole(const char *path, const struct content *c)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    size_t done = 0, end = c->size;
    while (end > 0 && c->bytes[end - 1] == 0) /* a hole does, above all for the reserve */
        end--;
    while (fd >= 0 && done < end) {
        ssize_t n = write(fd, c->bytes + done, end - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    if (fd < 0 || done < end || ftruncate(fd, (off_t)c->size) != 0 || close(fd) != 0) {
        perror(path);
        abort();
    }
}

/* A file without its directory cannot be reached. */
static void write_name(struct image *image, const struct names *names, size_t i,
    enum image_policy policy, const char *root)
{
    const struct name *name = &names->items[i];
    char path[2 * DISK_PATH_MAX], other[2 * DISK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name->path);
    snprintf(other, sizeof other, "%.*s", (int)(strrchr(path, '/') - path), path);
    if (access(other, F_OK) != 0)
        return;
    for (size_t k = 0; k < i; k++) {
        snprintf(other, sizeof other, "%s/%s", root, names->items[k].path);
        if (names->items[k].file == name->file && link(other, path) == 0)
            return;
    }
    struct content out = {0};
    leave_file(image, &image->files[name->file], policy, &out);
    write_whole(path, &out);
    free(out.bytes);
}

/* Creates the directories whose parent exists; returns true if it created any. A lost directory
 * loses its contents as well. */
static bool write_directories(const struct names *names, const char *root)
{
    char path[2 * DISK_PATH_MAX];
    bool any = false;
    for (size_t i = 0; i < names->n; i++) {
        snprintf(path, sizeof path, "%s/%s", root, names->items[i].path);
        if (names->items[i].file != DISK_DIRECTORY)
            continue;
        if (mkdir(path, 0700) == 0)
            any = true;
        else if (errno != EEXIST && errno != ENOENT)
            abort();
    }
    return any;
}

void image_write(struct image *image, enum image_policy policy, uint64_t seed, const char *root)
{
    struct names names = image->names;
    image->random = seed * 1000003 + image->position;
    for (size_t i = 0; i < image->pending_names.n; i++)
        if (is_kept(image, policy, true))
            apply_name(image, &image->log->ops[image->pending_names.ops[i]], &names);
    while (write_directories(&names, root))
        ;
    for (size_t i = 0; i < names.n; i++)
        if (names.items[i].file != DISK_DIRECTORY)
            write_name(image, &names, i, policy, root);
}
