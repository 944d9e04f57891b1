/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at a database from outside, for cairn doctor: it reads, changes nothing and leaves nothing
 * behind, also beside a server that runs. On SQLite it never checkpoints: that is the one writer's
 * affair (see store/sqlite.h).
 */
#ifndef STORE_INSPECT_H
#define STORE_INSPECT_H

#include "base/problem.h"

/* The newest schema that this program knows, and makes when it starts. */
int64_t store_known_schema(void);

struct sqlite_inspection {
    bool is_served;         /* a process has the lock of the data directory */
    int64_t schema_version; /* 0: there is none yet */
    int64_t migrated_us;    /* when the newest migration ran */
    struct str damage;      /* a sentence about the first that was found; STR_NONE: none */
};

/* Whether a process serves the data directory. */
bool sqlite_is_served(struct str data_dir);

/* The structure of the file alone; store/fsck.h looks at everything. ERR_NOT_FOUND: there is no
 * database yet. On another failure the problem says why it could not be read. */
MUST_CHECK enum error sqlite_inspect(
    struct str data_dir, struct problem *problem, struct sqlite_inspection *out);

struct postgres_inspection {
    struct str server_version;
    int64_t schema_version;
    int64_t clock_ahead_us; /* of this machine's clock */
    int64_t
        log_position; /* bytes of write-ahead log: of the primary written, of a standby replayed */
    bool is_standby;
    bool may_lose_commits; /* fsync is off */
    bool may_be_damaged;   /* full_page_writes is off */
    bool ignores_row_security;
    struct str lacking; /* what the role may not do; STR_NONE: nothing */
};

/* On failure the problem says why; never with a password. `option` names the URL there. */
MUST_CHECK enum error postgres_inspect(struct str url, struct str schema, bool replica,
    const char *option, struct problem *problem, struct postgres_inspection *out);

#endif
