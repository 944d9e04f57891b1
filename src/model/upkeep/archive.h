/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives: a thread, an agent or a whole tenant as one tar file, which says itself what it is
 * (docs/archives.md has the format, docs/decisions/0009-archives.md the reasons). The same content
 * gives the same bytes: there is no time of its making in it, and rows stand in the order in which
 * they came to be.
 *
 * Rows go both ways through a plain file (`fd`), which the caller opens and closes.
 *
 *   export   archive_export_rows in one READ job, so that all of it is of one moment; then
 *            archive_export_fill copies the content, outside of any job
 *   import   archive_verify looks at every byte and every rule that the file alone can break;
 *            archive_stage makes its content durable; archive_apply adds the rows, in one WRITE
 * job, or nothing
 *
 * Memory is bounded: rows go through one at a time. What grows is 40 bytes for each object with an
 * id, and 64 for each content.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_H
#define MODEL_UPKEEP_ARCHIVE_H

#include "base/buf.h"
#include "base/hash.h"
#include "model/context.h"

enum { ARCHIVE_VERSION = 1 };

enum {
    /* Of one that is imported. They go in by one transaction, which other writers wait for. */
    ARCHIVE_MAX_ROWS = 1000 * 1000,
    ARCHIVE_MAX_BLOBS = 1000 * 1000,
};
#define ARCHIVE_MAX_BYTES ((uint64_t)1 << 40)

enum archive_what { ARCHIVE_THREAD, ARCHIVE_AGENT, ARCHIVE_TENANT, ARCHIVE_WHAT_COUNT };
extern const char *const archive_whats[]; /* thread, agent, tenant; NULL */

struct archive_subject {
    enum archive_what what;
    struct uuid id; /* of the thread or agent */
};

/* How many there are of each. */
struct archive_counts {
    int64_t agents;
    int64_t storage;
    int64_t threads;
    int64_t participants;
    int64_t runs;
    int64_t events;
    int64_t messages;
    int64_t files;
    int64_t file_versions;
    int64_t states;
    int64_t blobs;
    int64_t bytes; /* of content */
};

/* --- Export --------------------------------------------------------------------------------- */

/* ERR_NOT_FOUND. */
MUST_CHECK enum error archive_find_subject(
    struct context *c, const struct archive_subject *subject);

struct archive_export;
struct archive_export *archive_export_create(int fd);
void archive_export_destroy(struct archive_export *x); /* accepts NULL */
/* In a READ job. May run again: it begins the file anew. What is left open is the bytes of content;
 * the size is final. */
MUST_CHECK enum error archive_export_rows(
    struct context *c, const struct archive_subject *subject, struct archive_export *x);
uint64_t archive_export_size(const struct archive_export *x);
/* Of its manifest, and so of every byte. */
struct sha256 archive_export_digest(const struct archive_export *x);
/* On a content thread. ERR_UNAVAILABLE when some was removed since the rows were read: then all of
 * it may be tried again. ERR_DAMAGED, also counted, when it should be there. */
MUST_CHECK enum error archive_export_fill(
    struct archive_export *x, struct store *store, struct uuid tenant_id, struct problem *problem);

/* --- Import --------------------------------------------------------------------------------- */

enum archive_ids {
    ARCHIVE_IDS_KEEP,  /* an id that is there already is a conflict */
    ARCHIVE_IDS_REMAP, /* new ones, in the same order */
};
extern const char *const archive_id_modes[]; /* keep, remap; NULL */

/* Where the bytes of an archive are: content at first, and a file while the rows are added. */
struct archive_source {
    enum error (*read)(void *data, uint64_t at, char *place, size_t size, struct problem *problem);
    void *data;
};

struct archive;
struct archive *archive_create(const struct archive_source *source, uint64_t size_bytes);
void archive_destroy(struct archive *a); /* accepts NULL */

/* ERR_INVALID with the place and the rule. */
MUST_CHECK enum error archive_verify(struct archive *a, struct problem *problem);
/* On a content thread: makes the content of a verified one durable, under new ids. */
MUST_CHECK enum error archive_stage(
    struct archive *a, struct store *store, struct uuid tenant_id, struct problem *problem);
/* On a content thread: copies the rows into this file, and reads them from there from now on. */
MUST_CHECK enum error archive_spool_rows(struct archive *a, int fd, struct problem *problem);
/* On a content thread, when all is over: removes what was staged and not adopted. */
void archive_unstage(struct archive *a, struct store *store, struct uuid tenant_id, bool succeeded);
/* Of a verified one. */
struct archive_subject archive_subject(const struct archive *a);
struct archive_counts archive_counts(const struct archive *a);

/* Adds what was verified and staged. May run again. ERR_CONFLICT names what is in the way. `dry`
 * looks only for that. */
MUST_CHECK enum error archive_apply(
    struct context *c, struct archive *a, enum archive_ids ids, bool dry);

/* Which threads and agents have come, under which ids: the i-th; false past the last. */
struct archive_mapped {
    struct str type; /* "thread" or "agent" */
    struct uuid from;
    struct uuid to;
    bool was_there;   /* an agent that the tenant had already */
    bool key_dropped; /* of a thread: another one has its key here */
};
bool archive_mapped(const struct archive *a, size_t i, struct archive_mapped *out_mapped);

#endif
