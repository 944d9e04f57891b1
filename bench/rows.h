/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of events in a database that Cairn itself has made, written with its own statement, its
 * pragmas and its rule for checkpoints (src/store/sqlite_open.c, sqlite_writer.c): what SQLite
 * takes for an append, and nothing else. One thread.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum { ROWS_MAX_THREADS = 1024 };

struct rows {
    sqlite3 *db;
    sqlite3_stmt *insert, *begin, *commit;
    size_t n_threads;
    unsigned char thread_ids[ROWS_MAX_THREADS][16];
    int64_t last_seqs[ROWS_MAX_THREADS];
    int64_t last_id;
    int wal_pages, wal_pages_tried;
};

/* The database of the data directory `dir`, with this many threads of the log: always the same
 * ones, and it goes on where the rows that are there end. */
void rows_open(struct rows *r, const char *dir, size_t n_threads);
void rows_close(struct rows *r);
void rows_step(struct rows *r, sqlite3_stmt *stmt);
/* The next row of the thread with this index. */
void rows_insert(struct rows *r, size_t thread);
void rows_checkpoint_if_due(struct rows *r, size_t n_waiting);

#endif
