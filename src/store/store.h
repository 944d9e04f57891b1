/*
 * The store: connections, transactions and the commit queue. Work comes as jobs; a job is a plain
 * function of a transaction. Store threads own the connections and never touch a socket.
 *
 *   WRITE  on SQLite the one writer thread takes every queued job, runs each in a savepoint of its
 *          own inside one transaction, commits once, then finishes them all;
 *   READ   runs on a reader thread at a snapshot.
 *
 * A job whose `run` returns an error has changed nothing. `done` is called on a store thread after
 * the commit has reached the disk, or after the failure: only then may success be told to anybody.
 * What was published with tx_publish reaches the hub between the commit and `done`.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/problem.h"
#include "store/hub.h"
#include "store/query.h"

struct store;

enum store_mode { STORE_READ, STORE_WRITE };

struct store_job {
    struct store_job *next;
    enum store_mode mode;
    enum error (*run)(struct store_job *job, struct tx *tx);
    void (*done)(struct store_job *job, enum error result);
    enum error result; /* the store's own, between run and done */
};

struct store_config {
    enum store_engine engine;
    struct str data_dir;
    unsigned readers;
    const struct sql_statement *const *statements;
    size_t n_statements;
    /* A failure after which nothing may be acknowledged (an fsync error, a corrupt database). It is
     * called on a store thread and must not return. */
    void (*on_fatal)(const char *what);
};

/* On failure the problem's detail says what to do about it. */
MUST_CHECK enum error store_open(
    const struct store_config *config, struct problem *problem, struct store **out_store);
/* Finishes every queued job, then closes. Accepts NULL. */
void store_close(struct store *store);

/* Any thread. While the store closes, a job that comes too late fails at once. */
void store_submit(struct store *store, struct store_job *job);
/* Submits and waits for the result; not from a store or loop thread. */
MUST_CHECK enum error store_call(struct store *store, enum store_mode mode,
    enum error (*run)(void *data, struct tx *tx), void *data);

struct hub *store_hub(struct store *store);

struct store_stats {
    uint64_t commits;
    uint64_t writes;
    uint64_t reads;
    uint64_t rollbacks;
    uint64_t checkpoints;
    uint64_t queued;
    uint64_t commit_us;
};
struct store_stats store_stats(const struct store *store);

/* --- Inside a job --------------------------------------------------------------------------- */

/* Hands the item's reference over; it is dropped when the job fails. WRITE jobs only. */
void tx_publish(struct tx *tx, struct hub_item *item);

/*
 * A counter without gaps, kept by the tables themselves. `load` answers the last value taken;
 * `advance` takes :count more and answers the last value. Both bind :tenant_id and :key. SQLite's
 * one writer loads once and counts in memory; engines with many writers advance under the row's
 * lock.
 */
struct sequence {
    const struct sql_statement *load;
    const struct sql_statement *advance;
    struct uuid tenant_id;
    struct uuid key;
};
/* Takes `count` values; the first of them is returned. */
MUST_CHECK enum error tx_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first);

#endif
