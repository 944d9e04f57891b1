/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows of events into a database that Cairn has created, with its own statements, pragmas
 * and rules for the index and for checkpoints (event_index.h, sqlite_open.c, sqlite_writer.c): the
 * cost of an append in SQLite alone. One thread.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum { ROWS_MAX_THREADS = 1024 };

struct rows {
    sqlite3 *db;
    sqlite3_stmt *insert, *index, *mark, *begin, *commit;
    size_t n_threads;
    unsigned char thread_ids[ROWS_MAX_THREADS][16];
    int64_t last_seqs[ROWS_MAX_THREADS];
    int64_t last_id;
    int64_t indexed_id;
    int wal_pages, wal_pages_tried, wal_pages_moved;
    int64_t page_move_ns, sync_us;
};

/* Opens the database of the data directory `dir` with this number of threads of the log. The
 * threads are always the same, and new rows continue after the existing ones. */
void rows_open(struct rows *r, const char *dir, size_t n_threads);
void rows_close(struct rows *r);
void rows_step(struct rows *r, sqlite3_stmt *stmt);
/* Inserts the next row of the thread with this index. */
void rows_insert(struct rows *r, size_t thread);
void rows_commit(struct rows *r);
/* The caller writes without a pause, so the writer is never idle. */
void rows_checkpoint_if_due(struct rows *r);

#endif
