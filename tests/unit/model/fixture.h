/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model on a real store: SQLite's, or, with CAIRN_TEST_ENGINE=postgres, that of a schema of its
 * own in the database CAIRN_TEST_POSTGRES. A test speaks to the model inline: begin() opens a
 * transaction of the store's writer (or of a reader), whose thread then waits while the test works
 * in it; commit() lets the job end well, abandon() lets it fail. Strings live in the fixture's
 * arena until its end.
 */
#ifndef TESTS_UNIT_MODEL_FIXTURE_H
#define TESTS_UNIT_MODEL_FIXTURE_H

#include <semaphore.h>

#include "model/agents/agents.h"
#include "model/context.h"
#include "model/execution/runs.h"
#include "model/files/blobs.h"
#include "model/statements.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/idempotency.h"
#include "model/tenancy/keys.h"
#include "model/tenancy/tenants.h"
#include "model/threads/events.h"
#include "model/threads/threads.h"
#include "model/upkeep/sweep.h"
#include "store/scratch.h"

struct fixture {
    struct scratch scratch;
    struct arena *arena; /* the scratch directory's */
    struct store *store;
    const char *schema; /* PostgreSQL */
    bool has_joined;    /* and the schema is another's */

    struct store_job job;
    struct context context;
    struct problem problem;
    struct tx *tx;
    sem_t entered, leave, done;
    bool has_answer;
    enum error answer;
    enum error result;
};

/* Which engine the tests are for. */
bool on_postgres(void);
/* Delete all slices of a thread, agent or tenant in one transaction. */
enum error delete_thread(struct context *c, struct uuid id);
enum error delete_agent(struct context *c, struct uuid id);
enum error delete_tenant(struct context *c, struct uuid id);
/* Removes what was pruned, as sweeps do in time. */
void collect_garbage(struct fixture *f);
#define SQLITE_ONLY(test_name) TEST_WHERE(!on_postgres(), test_name)
#define POSTGRES_ONLY(test_name) TEST_WHERE(on_postgres(), test_name)

void fixture_begin(struct fixture *f);
void fixture_end(struct fixture *f);
void fixture_close(struct fixture *f);
/* A second node on the first one's schema; ends with fixture_end, before the first. */
void fixture_join(struct fixture *f, const struct fixture *first);
/* Opens the store and prepares the model, as the server does at its start. */
void fixture_open(struct fixture *f);

/* A transaction as an operator of the default tenant. */
struct context *begin(struct fixture *f);
struct context *begin_reading(struct fixture *f);
/* For the tenant alone. */
struct context *begin_as(struct fixture *f, struct uuid tenant_id);
/* Expects that the commit succeeds. */
void commit(struct fixture *f);
/* The job fails: nothing of it remains. */
void abandon(struct fixture *f);
/* Ends the job with this answer, and returns the result. */
enum error leave(struct fixture *f, enum error answer);
/* The last problem's detail, and a new one for the next call. */
struct str told(struct fixture *f);

/* --- Plain SQL beside the store, for what the model would never do ---------------------------- */

/* On a connection of their own, which sees every tenant. A failure fails the test. */
void sql_exec(struct fixture *f, const char *sql);
int64_t sql_i64(struct fixture *f, const char *sql);
struct str sql_text(struct fixture *f, const char *sql);
/* A column of bytes, in hexadecimal. */
struct str sql_hex(struct fixture *f, const char *column, const char *from);

/* --- Things to have, each in a transaction of its own ---------------------------------------- */

struct uuid make_tenant(struct fixture *f, const char *name);
struct uuid make_thread(struct fixture *f);
/* A run under the thread's policy, with that dispatch. */
struct run make_run(struct fixture *f, struct uuid thread_id, const char *dispatch);
/* A run that a worker has claimed. */
struct run make_claimed(struct fixture *f, struct uuid thread_id);
struct run get_run(struct fixture *f, struct uuid id);
struct thread get_thread(struct fixture *f, struct uuid id);
/* Appends `n` events of the kind progress. */
void add_events(struct fixture *f, struct uuid thread_id, size_t n);
struct event_bounds thread_bounds(struct fixture *f, struct uuid thread_id);
struct event_bounds tenant_bounds(struct fixture *f);
/* The newest event of the thread. */
struct event last_event(struct fixture *f, struct uuid thread_id);

#endif
