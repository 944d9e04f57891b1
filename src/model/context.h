/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks for what, when, in which transaction: the first argument of every model function. The
 * tenant comes from the key alone. One context serves one job and lives on its stack; strings that
 * the model returns are in its arena.
 */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H

#include "base/problem.h"
#include "base/uuid.h"
#include "model/page.h"
#include "store/store.h"

/* What a key may do. `admin` holds every scope of its tenant, `operator` also the tenants. */
#define SCOPE_TABLE(X)                                \
    X(SCOPE_THREADS_READ, "threads:read")             \
    X(SCOPE_THREADS_WRITE, "threads:write")           \
    X(SCOPE_RUNS_READ, "runs:read")                   \
    X(SCOPE_RUNS_WRITE, "runs:write")                 \
    X(SCOPE_EVENTS_READ, "events:read")               \
    X(SCOPE_EVENTS_WRITE, "events:write")             \
    X(SCOPE_MESSAGES_READ, "messages:read")           \
    X(SCOPE_MESSAGES_WRITE, "messages:write")         \
    X(SCOPE_FILES_READ, "files:read")                 \
    X(SCOPE_FILES_WRITE, "files:write")               \
    X(SCOPE_PARTICIPANTS_READ, "participants:read")   \
    X(SCOPE_PARTICIPANTS_WRITE, "participants:write") \
    X(SCOPE_AGENTS_READ, "agents:read")               \
    X(SCOPE_AGENTS_WRITE, "agents:write")             \
    X(SCOPE_STATES_READ, "states:read")               \
    X(SCOPE_STATES_WRITE, "states:write")             \
    X(SCOPE_STORAGE_READ, "storage:read")             \
    X(SCOPE_STORAGE_WRITE, "storage:write")           \
    X(SCOPE_CHECKPOINTS_READ, "checkpoints:read")     \
    X(SCOPE_CHECKPOINTS_WRITE, "checkpoints:write")   \
    X(SCOPE_STORE_READ, "store:read")                 \
    X(SCOPE_STORE_WRITE, "store:write")               \
    X(SCOPE_NOTEBOOKS_READ, "notebooks:read")         \
    X(SCOPE_NOTEBOOKS_WRITE, "notebooks:write")       \
    X(SCOPE_USAGE_READ, "usage:read")                 \
    X(SCOPE_USAGE_WRITE, "usage:write")               \
    X(SCOPE_EVALS_READ, "evals:read")                 \
    X(SCOPE_EVALS_WRITE, "evals:write")               \
    X(SCOPE_ADMIN, "admin")                           \
    X(SCOPE_OPERATOR, "operator")

enum scope_bit {
#define SCOPE_BIT(name, text) name##_BIT,
    SCOPE_TABLE(SCOPE_BIT)
#undef SCOPE_BIT
        SCOPE_COUNT
};

enum scope {
    SCOPE_NONE = 0,
#define SCOPE_VALUE(name, text) name = 1 << name##_BIT,
    SCOPE_TABLE(SCOPE_VALUE)
#undef SCOPE_VALUE
};

extern const char *const scope_names[SCOPE_COUNT + 1]; /* by bit; ends in NULL */
const char *scope_name(enum scope scope);
/* Every scope that holding these gives. */
unsigned scopes_effective(unsigned scopes);

enum actor_kind {
    ACTOR_OPEN, /* no key exists yet; whoever reaches the loopback address */
    ACTOR_KEY,
    ACTOR_SYSTEM, /* Cairn's own sweeps */
};

struct context {
    struct arena *arena;
    struct problem *problem;
    struct tx *tx;
    struct uuid tenant_id;
    enum actor_kind actor;
    struct uuid key_id;
    unsigned scopes; /* effective */
    /* "user:NAME" or "agent:UUID", for whom the key acts; STR_NONE: for its whole tenant. */
    struct str principal;
    struct str request_id;
    int64_t now_us;
    int64_t lease_now_us;
    /* The fencing token that came with the request. */
    bool has_fence;
    int64_t fence;
    /* The version that If-Match names. */
    bool has_match;
    int64_t match_version;
    /* On routes that need a condition: If-Match: * and If-None-Match: *. */
    bool match_any;
    bool match_none;
    /* On a shared store, what this job has locked already; the nil id: no thread. */
    struct uuid locked_thread;
    bool has_locked_tenant;
    /* Content that the request brought and that a row has now (blobs.h); the nil id: none. */
    struct uuid adopted_blob;
    /* Of event ids, once it was read; see events.h. */
    int64_t horizon;
    int64_t last_event_id;
    int64_t server_began_us;
};

/* The tenant that exists from the start; its operators manage the others. */
extern const struct uuid DEFAULT_TENANT_ID;

/* `tx` is NULL where there is nothing to read or write. */
void context_init(struct context *c, struct arena *arena, struct problem *problem, struct tx *tx);
/* Acts for this tenant from here on; the store shows the rows of no other. */
void context_enter(struct context *c, struct uuid tenant_id);
/* Cairn's own work, which looks across tenants: until the next context_enter every row is seen. */
void context_enter_system(struct context *c);

/*
 * What a WRITE job reads in order to change it, it locks first, so that nobody changes it between:
 * a thread with all that is in it by the row of the thread, a tenant's keys, audit log and name by
 * the tenant's row. In this order, thread before tenant, or two jobs wait for each other. Nothing
 * happens where there is one writer, in READ jobs, and the second time.
 */
MUST_CHECK enum error context_lock_thread(struct context *c, struct uuid thread_id);
/* Both, in the order of their ids: whoever does the same the other way round waits, and does not
 * hold what this one waits for. */
MUST_CHECK enum error context_lock_threads(struct context *c, struct uuid a, struct uuid b);
/* The thread of this run, unless the job has locked one: a job changes the runs of one thread. */
MUST_CHECK enum error context_lock_run(struct context *c, struct uuid run_id);
MUST_CHECK enum error context_lock_tenant(struct context *c);

/* A query whose text goes into the context's arena and whose :tenant_id is the context's. */
void context_query(struct context *c, struct query *q, const struct sql_statement *statement);

/* Reads and ends a query that answers one number; 0 when it has no row. */
MUST_CHECK enum error context_number(struct query *q, int64_t *out_number);

/* The error of an id that does not exist, or belongs to somebody else: the two look the same. */
enum error context_not_found(struct context *c, const char *what, struct uuid id);
/* ERR_STALE when the request names another version than this one. */
MUST_CHECK enum error context_check_match(struct context *c, int64_t version);

#endif
