/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives: a thread, an agent or a whole tenant as one tar file that describes itself.
 * docs/archives.md specifies the format, docs/decisions/0009-archives.md gives the reasons. The
 * same content gives the same bytes: an archive has no time of its export, and its rows are in the
 * order of their creation.
 *
 * Rows are spooled through a plain file (`fd`), which the caller opens and closes.
 *
 *   export   archive_export_rows reads all rows in one READ_LONG job, so that they are consistent;
 *            then archive_export_fill copies the content, outside of any job
 *   import   archive_verify checks every byte and every rule that depends on the file alone;
 *            archive_check searches for conflicts with the tenant, in READ jobs; archive_stage
 *            makes the content durable; archive_add adds the rows, a slice in each WRITE job. An
 *            import that ends before its last slice is undone: see imports.h
 *
 * Memory is bounded: rows are processed one at a time. Only 48 bytes for each object with an id and
 * 72 for each content are kept.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_H
#define MODEL_UPKEEP_ARCHIVE_H

#include "base/buf.h"
#include "base/enum.h"
#include "base/hash.h"
#include "model/context.h"

enum { ARCHIVE_VERSION = 1 };

enum {
    /* Limits of an import, which bound its memory. */
    ARCHIVE_MAX_ROWS = 5 * 1000 * 1000,
    ARCHIVE_MAX_BLOBS = 1000 * 1000,
    /* The agents and threads, which the answer lists. */
    ARCHIVE_MAX_LISTED = 200 * 1000,
};
#define ARCHIVE_MAX_BYTES ((uint64_t)1 << 40)

/* The object that an archive contains. */
#define ARCHIVE_WHATS(X) \
    X(ARCHIVE_THREAD, "thread") X(ARCHIVE_AGENT, "agent") X(ARCHIVE_TENANT, "tenant")
ENUM_DECLARE(archive_what, ARCHIVE_NOTHING, archive_whats, ARCHIVE_WHATS);
enum { ARCHIVE_WHAT_COUNT = ARCHIVE_TENANT + 1 };

struct archive_subject {
    enum archive_what what;
    struct uuid id; /* of the thread or agent */
};

/* The number of objects of each type. */
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

/* ERR_NOT_FOUND if the thread or agent does not exist. */
MUST_CHECK enum error archive_find_subject(
    struct context *c, const struct archive_subject *subject);

struct archive_export;
/* `may_continue` is called before each page of rows and each piece of content; an error of it ends
 * the export. NULL: the export always continues. */
struct archive_export *archive_export_create(
    int fd, enum error (*may_continue)(void *data), void *data);
void archive_export_destroy(struct archive_export *x); /* accepts NULL */
/* In a READ_LONG job; each call starts the file over. Leaves holes for the content, so that the
 * size is final. */
MUST_CHECK enum error archive_export_rows(
    struct context *c, const struct archive_subject *subject, struct archive_export *x);
uint64_t archive_export_size(const struct archive_export *x);
/* The hash of the manifest, which covers every byte. */
struct sha256 archive_export_digest(const struct archive_export *x);
/* On a content thread. ERR_UNAVAILABLE if content was deleted after the rows were read: the caller
 * may repeat the whole export. ERR_DAMAGED, which is also counted, if content that should exist is
 * missing or differs. */
MUST_CHECK enum error archive_export_fill(
    struct archive_export *x, struct store *store, struct uuid tenant_id, struct problem *problem);

/* --- Import --------------------------------------------------------------------------------- */

/* clang-format off */
#define ARCHIVE_ID_MODES(X)                                                                       \
    X(ARCHIVE_IDS_KEEP,  "keep")  /* an id that already exists is a conflict */                   \
    X(ARCHIVE_IDS_REMAP, "remap") /* objects get new ids, in the same order */
/* clang-format on */
ENUM_DECLARE(archive_ids, ARCHIVE_IDS_NONE, archive_id_modes, ARCHIVE_ID_MODES);

/* Reads the bytes of an archive: from content at first, from a file while rows are added. */
struct archive_source {
    enum error (*read)(void *data, uint64_t at, char *place, size_t size, struct problem *problem);
    void *data;
};

/* clang-format off */
#define ARCHIVE_NAME_MODES(X)                                                                     \
    X(ARCHIVE_NAMES_KEEP,   "keep")   /* an agent with a name that already exists is a conflict */ \
    X(ARCHIVE_NAMES_RENAME, "rename") /* the imported agent gets another name */
/* clang-format on */
ENUM_DECLARE(archive_names, ARCHIVE_NAMES_NONE, archive_name_modes, ARCHIVE_NAME_MODES);

struct archive;
struct archive *archive_create(const struct archive_source *source, uint64_t size_bytes);
void archive_destroy(struct archive *a); /* accepts NULL */

/* ERR_INVALID reports the position and the broken rule. */
MUST_CHECK enum error archive_verify(struct archive *a, struct problem *problem);
/* On a content thread: makes the content of a verified archive durable, under new ids. */
MUST_CHECK enum error archive_stage(
    struct archive *a, struct store *store, struct uuid tenant_id, struct problem *problem);
/* On a content thread: copies the rows into this file, from which all later calls read them. */
MUST_CHECK enum error archive_spool_rows(struct archive *a, int fd, struct problem *problem);
/* On a content thread, at the end of the import: deletes staged content that was not adopted. */
void archive_unstage(struct archive *a, struct store *store, struct uuid tenant_id, bool succeeded);
/* For a verified archive. */
struct archive_subject archive_subject(const struct archive *a);
struct archive_counts archive_counts(const struct archive *a);

/* Before archive_check: an agent whose name the tenant already has gets a number behind it, up to
 * this one. Agents of the archive of a thread are matched by their names instead. */
enum { ARCHIVE_NAME_NUMBER_MAX = 100 };
void archive_rename_agents(struct archive *a);
/* For a verified archive whose rows are spooled. In READ jobs: compares some rows with the tenant;
 * out_more: call again. ERR_CONFLICT names the existing row. */
MUST_CHECK enum error archive_check(
    struct context *c, struct archive *a, enum archive_ids ids, bool *out_more);
/* In WRITE jobs, after archive_check and archive_stage: adds some rows. out_more: commit, and call
 * again in another job. Otherwise the import is complete with this commit. */
MUST_CHECK enum error archive_add(
    struct context *c, struct archive *a, enum archive_ids ids, bool *out_more);
/* For import_fail, if archive_add fails or is not called to the end. */
struct uuid archive_import_id(const struct archive *a);

/* An imported thread or agent and its ids. */
struct archive_mapped {
    struct str type; /* "thread" or "agent" */
    struct uuid from;
    struct uuid to;
    bool was_there;        /* an agent that the tenant already had */
    bool key_dropped;      /* a thread whose key another thread of the tenant has */
    struct str renamed_to; /* an agent whose name another agent had; lives as long as the archive */
};
/* Returns the i-th of them, or false past the last. */
bool archive_mapped(const struct archive *a, size_t i, struct archive_mapped *out_mapped);

#endif
