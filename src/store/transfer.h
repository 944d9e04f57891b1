/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves all data from one database of Cairn to another, of the same or the other engine.
 *
 *   transfer.c            the steps: inspect, mark, copy, verify, unmark
 *   transfer_verify.c     the canonical form, and the comparison
 *   transfer_plan.c       the tables to move, from the catalogues of both sides
 *   transfer_sqlite.c     a side on SQLite
 *   transfer_postgres.c   a side on PostgreSQL
 *   transfer_files.c      the content of files
 *   transfer_mark.c       the mark that keeps servers away
 *
 * No server may use either side. The source is read in one snapshot and not changed; at the end it
 * is inspected again, and if it was written meanwhile, the mark stays. Rows are copied in the order
 * of their keys, in batches of one transaction each, so that the target always contains a prefix of
 * a table and, after a crash, the transfer continues after its greatest key. A mark on the target
 * names the source. The mark stays until every table has the same SHA-256 on both sides, and no
 * server opens a marked database.
 *
 * The hash covers the canonical form of a table: its name and columns, then each row in the order
 * of the key, each value with its kind and length. It is the same on both engines.
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
    struct str url;      /* PostgreSQL: a URL for libpq */
    struct str schema;
    struct str files_dir; /* PostgreSQL: the directory of content; STR_NONE: in the database */
};

enum transfer_mode {
    TRANSFER_MOVE,
    TRANSFER_DRY_RUN, /* changes nothing; reports what a move would do */
    TRANSFER_VERIFY,  /* changes nothing; compares both sides */
};

struct transfer_config {
    enum transfer_mode mode;
    struct transfer_place from;
    struct transfer_place to;
    bool despite_sessions; /* existing PostgreSQL sessions named cairn use other schemas */
};

struct transfer_count {
    const char *table;
    uint64_t rows;      /* in the source */
    uint64_t moved;     /* by this run */
    struct sha256 hash; /* of both sides; not in a dry run */
};

struct transfer_result {
    struct transfer_count *tables; /* in the order of the transfer; in the arena */
    size_t n_tables;
    uint64_t rows;
    uint64_t moved;
    int64_t last_event_id;
    int64_t last_step_id;
    struct content_counts files;
    bool is_resumed;      /* continues an earlier run */
    bool must_be_created; /* dry run: the target does not exist yet */
    struct sha256 hash;   /* of all; not in a dry run */
};

/* After a failure or a cancellation, the same call continues. */
MUST_CHECK enum error transfer_run(const struct transfer_config *config, struct progress *progress,
    struct arena *arena, struct problem *problem, struct transfer_result *out_result);

#endif
