/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content: bytes of any number under a tenant and an id (UUIDv7) that is never used again. It is
 * kept in a directory (beside SQLite's database; with PostgreSQL in one that every node shares), or
 * in PostgreSQL itself, in chunks. Its name is made of the two ids, never of what a user wrote.
 *
 * Nothing here is a transaction: content is written and made durable first, then a row of `blobs`
 * or `uploads` adopts it in one; who removes content deletes the row first. So what no row knows is
 * a leftover of a crash, and content_sweep removes it. A writer counts as under way, also for the
 * sweep, until it is kept or abandoned.
 *
 * Functions wait for the disk or the database: call them on any thread but a loop's or a store's.
 * content_submit runs a task on a thread made for them. A reader or writer is one thread's at a
 * time. Memory is bounded, however large the content.
 */
#ifndef STORE_CONTENT_H
#define STORE_CONTENT_H

#include "base/hash.h"
#include "store/store.h"

struct content_writer;
struct content_reader;

enum {
    /* What is best read and written at once. */
    CONTENT_PIECE_BYTES = 256 * 1024,
    /* What uploads leave free on the disk of the database. */
    CONTENT_SPARE_BYTES = 16 * 1024 * 1024,
};
/* An upload takes no longer than this; what is younger than twice of it may be another node's. */
#define CONTENT_UPLOAD_MAX_US (12 * INT64_C(3600000000))

struct content_info {
    uint64_t size_bytes;
    struct sha256 sha256;
};

/* --- Writing -------------------------------------------------------------------------------- */

/* New content. ERR_STORAGE_FULL, ERR_UNAVAILABLE. */
MUST_CHECK enum error content_create(
    struct store *store, struct uuid tenant_id, struct uuid id, struct content_writer **out_writer);
/* Goes on after the first `offset` bytes of what is there; what is behind them goes, but not from
 * under another id that it has as well. ERR_CONFLICT while another writer of this process has it,
 * ERR_DAMAGED when there is less. */
MUST_CHECK enum error content_reopen(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t offset, struct content_writer **out_writer);
/* After a failure only content_abandon, or content_keep for what was synced before, makes sense. */
MUST_CHECK enum error content_append(struct content_writer *w, struct str bytes);
/* All that was appended is on the disk, and what names it; an fsync error ends the process, or
 * breaks the store, as one of the database does. The size is that of the whole; the hash too, but
 * of a reopened writer only that of what it appended itself. More may be appended after it. */
MUST_CHECK enum error content_sync(struct content_writer *w, struct content_info *out_info);
/* After the last sync: the content has this new id too, under which nobody ever writes; the writer
 * counts as under way by both. The transaction that records the new id lets go of the old one. In
 * PostgreSQL that one moves the chunks (UPDATE of blob_id): here nothing happens. */
MUST_CHECK enum error content_seal(struct content_writer *w, struct uuid id);
/* That was not recorded: the new id goes. Accepts NULL. */
void content_unseal(struct content_writer *w);
/* Ends the writing; what was written stays. Accepts NULL. */
void content_keep(struct content_writer *w);
/* Ends the writing and removes all of it. Accepts NULL. */
void content_abandon(struct content_writer *w);

/* Between these the sweep removes nothing: for who writes many contents, keeps each, and commits
 * the rows that know them later. */
void content_stage_begin(struct store *store);
void content_stage_end(struct store *store);

/* --- Reading -------------------------------------------------------------------------------- */

/* What is open can be read to its end, also when it is removed meanwhile (in PostgreSQL within an
 * hour). ERR_DAMAGED when it is not there, or not of this size. */
MUST_CHECK enum error content_open(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, struct content_reader **out_reader);
/* Fills `place` from `offset` on; less than `room` only at the end. */
MUST_CHECK enum error content_read(
    struct content_reader *r, uint64_t offset, char *place, size_t room, size_t *out_size);
void content_close(struct content_reader *r); /* accepts NULL */
/* A file that only its descriptor knows, to be written and read once: it goes with the last one.
 * It is beside the other content; with content in the database in $TMPDIR, or else /tmp. -1 and
 * errno when there is none to be had. */
int content_spool(struct store *store);
/* Whether so many more bytes can be written to it and leave CONTENT_SPARE_BYTES on its disk. */
bool content_spool_has_room(int fd, uint64_t bytes);
/* Reads it; takes it over. */
struct content_reader *content_open_spool(struct store *store, int fd, uint64_t size_bytes);
/* Reads all of it; between the pieces it asks whether to go on (NULL: it does). */
MUST_CHECK enum error content_measure(struct store *store, struct uuid tenant_id, struct uuid id,
    uint64_t size_bytes, enum error (*may_go_on)(void *data), void *data,
    struct content_info *out_info);

/* --- Removing ------------------------------------------------------------------------------- */

/* The row that knew it is gone, and that is committed. OK also when there is none. */
MUST_CHECK enum error content_remove(struct store *store, struct uuid tenant_id, struct uuid id);
/* Removes what could not be removed while a backup held it, if none does now. Call it now and
 * then. */
void content_look_again(struct store *store);
/* Removes what nobody is writing, is old enough, and of which `is_known` says that no row knows it.
 * `is_known` may ask the database. Ends early when the store closes. */
MUST_CHECK enum error content_sweep(struct store *store,
    enum error (*is_known)(void *data, struct uuid tenant_id, struct uuid id, bool *out_known),
    void *data, uint64_t *out_removed);

/* --- Threads -------------------------------------------------------------------------------- */

/* Embedded in what is submitted; `run` owns it from when it is called. */
struct content_task {
    struct content_task *next;
    void (*run)(struct content_task *task);
    /* Reads or writes whole contents, not a piece: few of these run at once, and the others find a
     * thread meanwhile. */
    bool is_long;
};
/* Any thread. Every task that was submitted runs, also while the store closes. */
void content_submit(struct store *store, struct content_task *task);

/* Whether it is in PostgreSQL, so that a job can read it there; a job may read files itself, when
 * they are small. */
bool content_is_in_database(const struct store *store);

/* The statements of content in PostgreSQL, which are written beside the model's. */
struct content_statements {
    const struct sql_statement *put;     /* :tenant_id :blob_id :n :bytes */
    const struct sql_statement *read;    /* :tenant_id :blob_id :n :from :count → bytes */
    const struct sql_statement *size;    /* :tenant_id :blob_id → how many chunks, bytes in all */
    const struct sql_statement *cut;     /* :tenant_id :blob_id :n, from which on they go, some */
    const struct sql_statement *discard; /* :tenant_id :blob_id :removed_at */
    const struct sql_statement *orphans; /* :before_id :limit → tenant_id, blob_id */
    const struct sql_statement *discarded; /* :removed_before :limit → tenant_id, blob_id */
    const struct sql_statement *forget;    /* :tenant_id :blob_id, of what was discarded */
};

#endif
