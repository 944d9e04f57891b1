/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of the tests' own to the database CAIRN_TEST_POSTGRES, beside the store. */
#ifndef TESTS_UNIT_MODEL_POSTGRES_H
#define TESTS_UNIT_MODEL_POSTGRES_H

#include <libpq-fe.h>

#include "base/arena.h"
#include "test.h"

const char *plain_url(void);
/* A name that no other test has. */
const char *plain_schema_name(struct arena *arena);
void plain_drop_schema(const char *schema);
/*
 * A schema for a test: a new name, or the schema of the test before, emptied, which saves making
 * all the tables again. One whose tables a test has changed by plain SQL is not used again.
 */
const char *plain_take_schema(struct arena *arena);
void plain_give_schema(const char *schema);

/* Sees the schema's tables, and the rows of every tenant. */
PGconn *plain_connect(const char *schema);
/* The same, on one connection for all tests, which is not to be closed: a new one would read the
 * catalogue again. */
PGconn *plain_shared(const char *schema);
/* The first column of the last row; yes and no are 1 and 0. A failure fails the test. */
struct str plain_text(PGconn *conn, struct arena *arena, const char *sql);
int64_t plain_i64(PGconn *conn, const char *sql);
void plain_exec(PGconn *conn, const char *sql);

#endif
