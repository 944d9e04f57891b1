/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The context of a job: caller, transaction, time and conditions of the request. It is the first
 * argument of every model function. The key alone determines the tenant. A context belongs to one
 * job and is on its stack; strings that the model returns are in the context's arena.
 */
#ifndef MODEL_CONTEXT_H
#define MODEL_CONTEXT_H

#include "base/problem.h"
#include "base/uuid.h"
#include "model/page.h"
#include "model/tenancy/quotas.h"
#include "store/store.h"

struct rehearsal;

/* The permissions of a key. `admin` has every scope in its tenant, `operator` in all tenants. */
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

extern const char *const scope_names[SCOPE_COUNT + 1]; /* indexed by bit; ends in NULL */
const char *scope_name(enum scope scope);
/* SCOPE_NONE: there is no scope of this name. */
enum scope scope_parse(struct str name);
/* Returns the scope that reads what this scope writes, or the same scope if there is none. */
enum scope scope_to_read(enum scope scope);
/* Returns the scopes including those that `admin` and `operator` imply. */
unsigned scopes_effective(unsigned scopes);

enum actor_kind {
    ACTOR_OPEN, /* no key exists yet: any client on the loopback address */
    ACTOR_KEY,
    ACTOR_SYSTEM, /* a sweep */
};

struct context {
    struct arena *arena;
    struct problem *problem;
    struct tx *tx;
    struct uuid tenant_id;
    enum actor_kind actor;
    struct uuid key_id;
    unsigned scopes; /* effective */
    /* The principal that the key acts for, "user:NAME" or "agent:UUID"; STR_NONE: the tenant. */
    struct str principal;
    struct quota_limits quotas; /* of the tenant, for requests with a key */
    bool may_exceed_quotas;     /* the request is counted, but not rejected */
    struct str request_id;
    int64_t now_us;
    int64_t lease_now_us;
    /* The fencing token of the request. */
    bool has_fence;
    int64_t fence;
    /* The versions in If-Match. */
    bool has_match;
    const int64_t *match_versions;
    size_t n_match_versions;
    /* If-Match: * and If-None-Match: *, on routes that require a condition. */
    bool match_any;
    bool match_none;
    /* The locks of this job on a shared store; the nil id: no thread. */
    struct uuid locked_thread;
    bool has_locked_tenant;
    /* Uploaded content that a row now refers to (blobs.h); the nil id: none. */
    struct uuid adopted_blob;
    /* The horizon of event ids, once read; see events.h. */
    int64_t horizon;
    int64_t last_event_id;
    int64_t server_began_us;
    size_t indexed_words;        /* by this job; see context_may_index */
    struct rehearsal *rehearsal; /* of the call; NULL: expensive work is done in its job */
};

/* An index of words is written on the writer, for which all tenants wait: a job that has indexed
 * this number of words leaves further texts to the sweep. */
enum { CONTEXT_WORDS_AT_ONCE = 10 * 1000 };

/* The tenant that always exists; its operators manage the others. */
extern const struct uuid DEFAULT_TENANT_ID;

/* `tx` is NULL if the job neither reads nor writes. */
void context_init(struct context *c, struct arena *arena, struct problem *problem, struct tx *tx);
/* Selects the tenant: until the next call the store shows only its rows. */
void context_enter(struct context *c, struct uuid tenant_id);
/* For system jobs that read across tenants: shows all rows until the next context_enter. */
void context_enter_system(struct context *c);

/* The wall clock for times that a client has set: on a shared store, the clock of the database. */
int64_t context_due_now_us(const struct context *c);
/* The wall clock for ages. A clock that was set forward would prune recent events, so the wall
 * clock advances only as far as the steady clock (on a shared store, the clock of the database). */
int64_t context_cautious_now_us(const struct context *c);

/* Returns false if the job has indexed so many words that the sweep should index the next text. */
bool context_may_index(const struct context *c);

/*
 * A WRITE job locks the objects that it changes before it reads them. The row of a thread is the
 * lock of the thread and all its objects, the row of a tenant that of its keys, audit log and name.
 * Threads are locked before tenants, or two jobs could wait for each other. The functions do
 * nothing on a store with one writer, in READ jobs, and if the job already has the lock.
 */
MUST_CHECK enum error context_lock_thread(struct context *c, struct uuid thread_id);
/* Locks both threads in the order of their ids, so that jobs which lock the same two threads cannot
 * wait for each other. */
MUST_CHECK enum error context_lock_threads(struct context *c, struct uuid a, struct uuid b);
/* Locks the thread of this run, unless the job has already locked a thread: a job changes runs of
 * only one thread. */
MUST_CHECK enum error context_lock_run(struct context *c, struct uuid run_id);
MUST_CHECK enum error context_lock_tenant(struct context *c);

/* Begins a query with the arena and the tenant of the context. */
void context_query(struct context *c, struct query *q, const struct sql_statement *statement);

/* An object of any tenant, for system jobs. */
struct owned_id {
    struct uuid tenant_id;
    struct uuid id;
};
/* Reads the rows (tenant, id) of the query, of which its :limit allows as many as `out_found` has
 * room for, and ends it. */
MUST_CHECK enum error context_owned_ids(
    struct query *q, struct owned_id *out_found, size_t *out_count);

/* Reads the one number that the query returns, and ends it; 0 if there is no row. */
MUST_CHECK enum error context_number(struct query *q, int64_t *out_number);

/* Returns ERR_NOT_FOUND, for an id that does not exist and for one of another tenant alike. */
enum error context_not_found(struct context *c, const char *what, struct uuid id);
/* Returns ERR_STALE if the If-Match of the request has another version. */
/* As if the request had If-Match with this version. */
void context_match_only(struct context *c, int64_t version);
/* Returns true if If-Match allows a change of this version. */
bool context_matches(const struct context *c, int64_t version);
MUST_CHECK enum error context_check_match(struct context *c, int64_t version);

#endif
