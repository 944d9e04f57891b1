/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves everything from one database of Cairn to another, of the same engine or the other one.
 *
 *   transfer.c            the steps: look, mark, copy, verify, unmark
 *   transfer_verify.c     the canonical form, and the comparison
 *   transfer_plan.c       what is moved, found in the catalogues of both sides
 *   transfer_sqlite.c     one side on SQLite
 *   transfer_postgres.c   one side on PostgreSQL
 *   transfer_files.c      the content of files
 *   transfer_mark.c       what keeps a server away meanwhile
 *
 * Nobody may serve either side. The source is read in one snapshot and not changed; at the end it
 * is looked at once more, and whatever was written to it meanwhile keeps the mark. Rows go in the
 * order of their keys, some at a time, each time in one transaction: so what the target holds of a
 * table is always a beginning of it, and after a crash the work goes on behind its greatest key. A
 * mark on the target names the source it is being filled from. Until every table has the same
 * SHA-256 on both sides the mark stays, and no server opens what carries it.
 *
 * The canonical form of a table, which is what is hashed: its name and columns, then each row by
 * its key, each value with its kind and length. It is the same on both engines.
 */
#ifndef STORE_TRANSFER_H
#define STORE_TRANSFER_H

#include "base/hash.h"
#include "base/problem.h"
#include "base/progress.h"
#include "store/content_copy.h"
#include "store/query.h"

struct transfer_place {
    enum store_engine engine;
    struct str data_dir; /* SQLite */
    struct str url;      /* PostgreSQL: what libpq understands */
    struct str schema;
    struct str files_dir; /* PostgreSQL: where content is; STR_NONE: in the database */
};

enum transfer_mode {
    TRANSFER_MOVE,
    TRANSFER_DRY_RUN, /* changes nothing; says what a move would find */
    TRANSFER_VERIFY,  /* changes nothing; compares */
};

struct transfer_config {
    enum transfer_mode mode;
    struct transfer_place from;
    struct transfer_place to;
    bool despite_sessions; /* those called cairn on PostgreSQL are said to use other schemas */
};

struct transfer_count {
    const char *table;
    uint64_t rows;      /* in the source */
    uint64_t moved;     /* by this run */
    struct sha256 hash; /* of both sides; not in a dry run */
};

struct transfer_result {
    struct transfer_count *tables; /* in the order in which they are moved; in the arena */
    size_t n_tables;
    uint64_t rows;
    uint64_t moved;
    int64_t last_event_id;
    int64_t last_step_id;
    struct content_counts files;
    bool is_resumed;      /* an earlier run had begun */
    bool must_be_created; /* dry run: the target is not there yet */
    struct sha256 hash;   /* of all; not in a dry run */
};

/* When it fails or is cancelled, the same call goes on where this one ended. */
MUST_CHECK enum error transfer_run(const struct transfer_config *config, struct progress *progress,
    struct arena *arena, struct problem *problem, struct transfer_result *out_result);

#endif
