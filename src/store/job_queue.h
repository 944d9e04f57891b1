/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that wait for store threads, shared fairly between flows. Private to src/store.
 *
 * The jobs of one flow (store_job.flow: usually a tenant) run in order of submission. Between flows
 * the queue is fair by time: each flow has an account of the time that its jobs have used (on
 * SQLite including that of the pages that they wrote), and the flow with the smallest account is
 * served next. A job is charged the average of its flow when it
 * is taken, and the difference to its real time when it ends. A flow that was idle starts at the
 * account of the flow served last, so it is served soon, but cannot save time up. A flow in debt
 * waits, at most JOB_QUEUE_MAX_DEBT_US of the others' time.
 */
#ifndef STORE_JOB_QUEUE_H
#define STORE_JOB_QUEUE_H

#include "store/store.h"

enum {
    JOB_QUEUE_BUCKETS = 256,
    JOB_QUEUE_MAX_DEBT_US = 1000 * 1000,
    /* A batch ends with the job that uses this time up: while several flows have jobs, and while
     * one has, because another may come. */
    JOB_QUEUE_BATCH_US = 10 * 1000,
    JOB_QUEUE_LONE_BATCH_US = 20 * 1000,
};

struct flow;

struct job_queue {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct flow *buckets[JOB_QUEUE_BUCKETS];
    struct flow **heap; /* flows with a job to take; the smallest account first */
    size_t n_ready;
    size_t cap;
    size_t n_active;  /* flows with jobs that wait or run */
    unsigned share;   /* the jobs of one flow, except flow 0, that may run at the same time; 0: any
                         number */
    int64_t clock_us; /* the account of the flow served last, or a smaller one of a ready flow */
    size_t count;
    int64_t lone_batch_us; /* JOB_QUEUE_LONE_BATCH_US, but for tests */
    bool closed;
};

void job_queue_init(struct job_queue *q, unsigned share);
/* The queue must be empty, and every job that was taken must have ended. */
void job_queue_deinit(struct job_queue *q);

/* Returns false if the queue is closed: queued jobs still run, new ones are rejected. */
MUST_CHECK bool job_queue_put(struct job_queue *q, struct store_job *job);
void job_queue_close(struct job_queue *q);
/* Waits and takes up to `max` jobs, which are expected to use less than the time of a batch
 * together, unless there is only one. Returns NULL only if the queue is closed and empty. */
struct store_job *job_queue_take(struct job_queue *q, size_t max);
/* Waits until there is a job to take, or the queue is closed. Returns false if there was none for
 * this time. */
MUST_CHECK bool job_queue_wait(struct job_queue *q, int64_t wait_us);
/* Returns true if a batch that has run for this long should end. */
bool job_queue_is_used_up(struct job_queue *q, int64_t used_us);
/* Puts jobs that were taken but did not run back in front of their flows, in their order. Works on
 * a closed queue too. */
void job_queue_return(struct job_queue *q, struct store_job *jobs);
/* Charges the jobs of a list for the time in `used_us`. Every job that was taken and not returned
 * is ended once, before its `done`. */
void job_queue_end(struct job_queue *q, struct store_job *jobs);
void job_queue_end_one(struct job_queue *q, struct store_job *job);
/* Ends the job and puts it behind the other jobs of its flow, on a closed queue too. */
void job_queue_put_back(struct job_queue *q, struct store_job *job);

size_t job_queue_count(const struct job_queue *q);

#endif
