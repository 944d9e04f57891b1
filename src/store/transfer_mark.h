/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mark on a database that is being filled: the table cairn_transfer, one row, which names what
 * it is filled from. A database that carries it is not whole, and a server does not open it.
 */
#ifndef STORE_TRANSFER_MARK_H
#define STORE_TRANSFER_MARK_H

#include <libpq-fe.h>
#include <sqlite3.h>

#include "base/problem.h"

/* The first key of the advisory lock that a transfer holds alone on PostgreSQL, and whoever serves
 * the schema shares, unless behind a pooler; the second is the hash of the schema's name. */
enum { TRANSFER_LOCK = 1667328367 };

/* OK: a server may open it. The connection is in blocking mode and in no pipeline. */
MUST_CHECK enum error transfer_check_sqlite(sqlite3 *db, struct problem *problem);
MUST_CHECK enum error transfer_check_postgres(
    PGconn *conn, const char *schema, struct problem *problem);

#endif
