/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content: any number of bytes under a tenant and an id (UUIDv7) that is never used again. Content
 * is stored in a directory (beside the SQLite database; with PostgreSQL in one that all nodes
 * share) or in PostgreSQL itself, in chunks. The name consists of the two ids and never contains
 * user input.
 *
 * Nothing here is transactional: content is first written and made durable, then a transaction adds
 * a row of `blobs` or `uploads` that refers to it. To remove content, the row is deleted first. So
 * content without a row is left over from a crash, and content_sweep removes it. The sweep spares
 * the content of a writer until content_keep or content_abandon.
 *
 * The functions wait for the disk or the database: call them on any thread except a loop's or a
 * store's. content_submit runs a task on a suitable thread. One thread at a time uses a reader or a
 * writer. Memory is bounded, whatever the size of the content.
 */
#ifndef STORE_CONTENT_H
#define STORE_CONTENT_H

#include "base/hash.h"
#include "store/store.h"

struct content_writer;
struct content_reader;

enum {
    /* A good size for one read or write. */
    CONTENT_PIECE_BYTES = 256 * 1024,
    /* Uploads leave this much space on the disk of the database. */
    CONTENT_SPARE_BYTES = 16 * 1024 * 1024,
};
/* The maximum duration of an upload. Content younger than twice this time may belong to another
 * node. */
#define CONTENT_UPLOAD_MAX_US (12 * INT64_C(3600000000))

struct content_info {
    uint64_t size_bytes;
    struct sha256 sha256;
};

/* --- Writing -------------------------------------------------------------------------------- */

/* Creates content. ERR_STORAGE_FULL, ERR_UNAVAILABLE. */
MUST_CHECK enum error content_create(
    struct store *store, struct uuid tenant_id, struct uuid id, struct content_writer **out_writer);
/* Continues after the first `offset` bytes and truncates the rest, unless the content also has
 * another id, whose bytes stay. ERR_CONFLICT if another writer of this process has the content
 * open, ERR_DAMAGED if it is shorter. */
MUST_CHECK enum error content_reopen(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t offset, struct content_writer **out_writer);
/* After a failure call only content_abandon, or content_keep to keep the bytes synced before. */
MUST_CHECK enum error content_append(struct content_writer *w, struct str bytes);
/* Makes all appended bytes and their name durable; after an fsync error the process ends, or the
 * store fails, as for the database. Returns the size of the whole content and its hash; for a
 * reopened writer the hash covers only the bytes that it appended. More may be appended
 * afterwards. */
MUST_CHECK enum error content_sync(struct content_writer *w, struct content_info *out_info);
/* After the last sync: gives the content a second, new id, under which nothing is ever written; the
 * sweep spares both. The transaction that records the new id gives up the old one. In PostgreSQL
 * that transaction moves the chunks (UPDATE of blob_id) and this function does nothing. */
MUST_CHECK enum error content_seal(struct content_writer *w, struct uuid id);
/* Removes the second id if it was not recorded. Accepts NULL. */
void content_unseal(struct content_writer *w);
/* Closes the writer and keeps the content. Accepts NULL. */
void content_keep(struct content_writer *w);
/* Closes the writer and removes the content. Accepts NULL. */
void content_abandon(struct content_writer *w);

/* Between these calls the sweep removes nothing: for a caller that writes and keeps many contents
 * before it commits their rows. */
void content_stage_begin(struct store *store);
void content_stage_end(struct store *store);

/* --- Reading -------------------------------------------------------------------------------- */

/* Open content can be read to its end even if it is removed meanwhile (in PostgreSQL within an
 * hour). ERR_DAMAGED if it does not exist or has another size. */
MUST_CHECK enum error content_open(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, struct content_reader **out_reader);
/* Reads into `place` from `offset` on; returns less than `room` bytes only at the end. */
MUST_CHECK enum error content_read(
    struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size);
/* Accepts NULL. Any thread: a large spooled file is closed on a content thread, because its last
 * descriptor frees its blocks, which takes about a millisecond for each MiB. The reader of a
 * spooled file may be closed after the store. */
void content_close(struct content_reader *r);
/* Returns the descriptor of an unnamed temporary file, which is deleted with its last descriptor.
 * It is created beside the other content or, with content in the database, in $TMPDIR or /tmp.
 * Returns -1 and sets errno on failure. */
int content_spool(struct store *store);
/* Returns true if so many more bytes can be written and CONTENT_SPARE_BYTES remain on the disk. */
bool content_spool_has_room(int fd, uint64_t bytes);
/* Reads the temporary file and takes over the descriptor. */
struct content_reader *content_open_spool(struct store *store, int fd, uint64_t size_bytes);
/* Reads and hashes the whole content; calls `may_continue` (unless NULL) between two pieces. */
MUST_CHECK enum error content_measure(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, enum error (*may_continue)(void *data), void *data,
    struct content_info *out_info);

/* --- Removing ------------------------------------------------------------------------------- */

/* Call it after the deletion of the row is committed. Returns OK if the content does not exist. */
MUST_CHECK enum error content_remove(struct store *store, struct uuid tenant_id, struct uuid id);
/* Removes content whose removal a backup had prevented, if no backup is running now. Call it from
 * time to time. */
void content_look_again(struct store *store);
/* Removes content that is old enough, has no writer, and of which `is_known` returns that no row
 * refers to it. `is_known` may query the database. Ends early when the store closes. */
MUST_CHECK enum error content_sweep(struct store *store,
    enum error (*is_known)(void *data, struct uuid tenant_id, struct uuid id, bool *out_known),
    void *data, uint64_t *out_removed);

/* --- Threads -------------------------------------------------------------------------------- */

/* Embedded in the submitted object; `run` owns the task from its call on. */
struct content_task {
    struct content_task *next;
    void (*run)(struct content_task *task);
    /* The task reads or writes whole contents. Few such tasks run at once, so that threads remain
     * for the others. */
    bool is_long;
};
/* Any thread. Every submitted task runs, even while the store closes. */
void content_submit(struct store *store, struct content_task *task);

/* Returns true if content is in PostgreSQL, so that a job can read it there. A job may itself read
 * small files. */
bool content_is_in_database(const struct store *store);

/* The statements for content in PostgreSQL, written beside the model's. */
struct content_statements {
    const struct sql_statement *put;     /* :tenant_id :blob_id :n :bytes */
    const struct sql_statement *read;    /* :tenant_id :blob_id :n :from :count → bytes */
    const struct sql_statement *size;    /* :tenant_id :blob_id → number of chunks, total bytes */
    const struct sql_statement *cut;     /* :tenant_id :blob_id :n; deletes some chunks from n on */
    const struct sql_statement *discard; /* :tenant_id :blob_id :removed_at */
    const struct sql_statement *orphans; /* :before_id :limit → tenant_id, blob_id */
    const struct sql_statement *discarded; /* :removed_before :limit → tenant_id, blob_id */
    const struct sql_statement *forget;    /* :tenant_id :blob_id; deletes the note of a discard */
};

#endif
