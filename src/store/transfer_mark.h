/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark on a database that is being filled: the table cairn_transfer with one row, which names
 * the source. A marked database is incomplete, and no server opens it.
 */
#ifndef STORE_TRANSFER_MARK_H
#define STORE_TRANSFER_MARK_H

#include <libpq-fe.h>
#include <sqlite3.h>

#include "base/problem.h"

/* The first key of an advisory lock on PostgreSQL: a transfer holds it exclusively, and servers of
 * the schema share it, unless behind a pooler. The second key is the hash of the schema name. */
enum { TRANSFER_LOCK = 1667328367 };

/* Returns OK if a server may open the database. The connection must be blocking and not in pipeline
 * mode. */
MUST_CHECK enum error transfer_check_sqlite(sqlite3 *db, struct problem *problem);
MUST_CHECK enum error transfer_check_postgres(
    PGconn *conn, const char *schema, struct problem *problem);

#endif
