/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that wait for a store thread, in order of submission. Private to src/store. */
#ifndef STORE_JOB_QUEUE_H
#define STORE_JOB_QUEUE_H

#include "store/store.h"

struct job_queue {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    struct store_job *first;
    struct store_job **end;
    size_t count;
    bool closed;
};

void job_queue_init(struct job_queue *q);
/* The queue must be empty. */
void job_queue_deinit(struct job_queue *q);

/* Returns false if the queue is closed: queued jobs still run, new ones are rejected. */
MUST_CHECK bool job_queue_put(struct job_queue *q, struct store_job *job);
void job_queue_close(struct job_queue *q);
/* Waits and takes up to `max` jobs; returns NULL only if the queue is closed and empty. */
struct store_job *job_queue_take(struct job_queue *q, size_t max);

size_t job_queue_count(const struct job_queue *q);

#endif
