/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspects a database from outside, for `cairn doctor`, while it is served or not: reads, changes
 * nothing and leaves no files behind. On SQLite it never checkpoints: only the one writer does that
 * (see store/sqlite.h).
 */
#ifndef STORE_INSPECT_H
#define STORE_INSPECT_H

#include "base/problem.h"

/* The schema version that this program creates and migrates to. */
int64_t store_known_schema(void);

struct sqlite_inspection {
    bool is_served;         /* a process has locked the data directory */
    int64_t schema_version; /* 0: no schema yet */
    int64_t migrated_us;    /* time of the newest migration */
    struct str damage;      /* a sentence about the first fault; STR_NONE: none */
};

/* Returns true if a process serves the data directory. */
bool sqlite_is_served(struct str data_dir);

/* Verifies only the structure of the file; store/fsck.h verifies everything. ERR_NOT_FOUND if there
 * is no database yet. After another failure the problem says why the file cannot be read. */
MUST_CHECK enum error sqlite_inspect(
    struct str data_dir, struct problem *problem, struct sqlite_inspection *out);

struct postgres_inspection {
    struct str server_version;
    int64_t schema_version;
    int64_t clock_ahead_us; /* relative to this machine's clock */
    /* Bytes of write-ahead log written by a primary, or replayed by a standby. */
    int64_t log_position;
    bool is_standby;
    bool may_lose_commits; /* fsync is off */
    bool may_be_damaged;   /* full_page_writes is off */
    bool ignores_row_security;
    struct str lacking; /* rights that the role lacks; STR_NONE: none */
};

/* On failure the problem says why, never with a password. `option` is its name for the URL. */
MUST_CHECK enum error postgres_inspect(struct str url, struct str schema, bool replica,
    const char *option, struct problem *problem, struct postgres_inspection *out);

#endif
