/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that wait for a store thread, in the order in which they came. Private to src/store. */
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
/* It must be empty. */
void job_queue_deinit(struct job_queue *q);

/* False when the queue is closed: what is in it is finished, nothing more is taken. */
MUST_CHECK bool job_queue_put(struct job_queue *q, struct store_job *job);
void job_queue_close(struct job_queue *q);
/* Waits for work and takes up to `max` jobs; none only when the queue is closed and empty. */
struct store_job *job_queue_take(struct job_queue *q, size_t max);

size_t job_queue_count(const struct job_queue *q);

#endif
