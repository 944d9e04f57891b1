/* SPDX-License-Identifier: Apache-2.0 */
/* Exports into memory, and imports from there. */
#ifndef TESTS_UNIT_MODEL_ARCHIVE_FILES_H
#define TESTS_UNIT_MODEL_ARCHIVE_FILES_H

#include "fixture.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "model/upkeep/archive.h"

static const struct archive_subject OF_TENANT = {.what = ARCHIVE_TENANT};

static inline int new_file(void)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    assert(fd >= 0);
    return fd;
}

static inline struct str bytes_of(struct fixture *f, int fd)
{
    struct stat st;
    EXPECT_EQ(fstat(fd, &st), 0);
    char *bytes = arena_alloc(f->arena, (size_t)st.st_size + 1);
    EXPECT_EQ(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
    return (struct str){bytes, (size_t)st.st_size};
}

static inline struct context *begin_reading_as(struct fixture *f, struct uuid tenant_id)
{
    struct context *c = begin_reading(f);
    context_enter(c, tenant_id);
    return c;
}

static inline struct str exported(
    struct fixture *f, struct uuid tenant, struct archive_subject subject)
{
    int fd = new_file();
    struct archive_export *x = archive_export_create(fd, NULL, NULL);
    EXPECT_EQ(archive_export_rows(begin_reading_as(f, tenant), &subject, x), OK);
    commit(f);
    EXPECT_EQ(archive_export_fill(x, f->store, tenant, &f->problem), OK);
    archive_export_destroy(x);
    struct str bytes = bytes_of(f, fd);
    close(fd);
    return bytes;
}

static inline enum error read_memory(
    void *data, uint64_t at, char *place, size_t size, struct problem *problem)
{
    const struct str *bytes = data;
    EXPECT(at + size <= bytes->len);
    memcpy(place, bytes->ptr + at, size);
    return OK;
}

static inline struct archive *opened(struct str *bytes)
{
    const struct archive_source source = {read_memory, bytes};
    return archive_create(&source, bytes->len);
}

/* Adds the rows of an archive, in as many transactions as that takes. */
static inline enum error added(
    struct fixture *f, struct uuid tenant, struct archive *a, enum archive_ids ids)
{
    bool more = true;
    enum error e = OK;
    while (e == OK && more)
        e = leave(f, archive_add(begin_as(f, tenant), a, ids, &more));
    return e;
}

/* Returns the result of an import; told() returns its problem. */
static inline enum error imported(
    struct fixture *f, struct uuid tenant, struct str bytes, enum archive_ids ids)
{
    int fd = new_file();
    struct archive *a = opened(&bytes);
    enum error e = archive_verify(a, &f->problem);
    if (e == OK)
        e = archive_stage(a, f->store, tenant, &f->problem);
    if (e == OK)
        e = archive_spool_rows(a, fd, &f->problem);
    if (e == OK)
        e = added(f, tenant, a, ids);
    archive_unstage(a, f->store, tenant, e == OK);
    archive_destroy(a);
    close(fd);
    return e;
}

#endif
