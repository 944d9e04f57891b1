/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of PostgreSQL on SQLite: `cairn sql` accepts the queries of the agent schemas word for
 * word on both engines. docs/sql.md lists the forms. Some are functions, which are added to a
 * connection. The others are rewritten in the tokens of the statement; a form that is not known
 * completely, or that could mean something else, is left as it is, so that SQLite reports the
 * error. The rewriter knows no grammar: it allows nothing that the authorizer of the connection
 * does not check afterwards.
 */
#ifndef STORE_SQLITE_DIALECT_H
#define STORE_SQLITE_DIALECT_H

#include <sqlite3.h>

#include "base/arena.h"

enum { SQLITE_DIALECT_MAX_TRIES = 1000 }; /* further forms are left as they are */

/* Returns the statement for SQLite; the same text if nothing is rewritten. */
struct str sqlite_dialect_rewrite(struct arena *arena, struct str text);

/* Adds the functions. now() returns `now_us` in every call; the number must outlive the
 * connection. Returns a code of SQLite. */
MUST_CHECK int sqlite_dialect_add_functions(sqlite3 *db, int64_t *now_us);

/* An interval: "7 days", "1 month 12 hours". */
struct interval {
    int64_t months;
    int64_t us;
};
MUST_CHECK bool interval_parse(struct str text, struct interval *out_interval);

#endif
