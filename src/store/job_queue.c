/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_queue.h"

void job_queue_init(struct job_queue *q)
{
    *q = (struct job_queue){0};
    q->end = &q->first;
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->cond, NULL);
}

void job_queue_deinit(struct job_queue *q)
{
    assert(q->first == NULL);
    pthread_cond_destroy(&q->cond);
    pthread_mutex_destroy(&q->mutex);
}

bool job_queue_put(struct job_queue *q, struct store_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&q->mutex);
    bool open = !q->closed;
    if (open) {
        *q->end = job;
        q->end = &job->next;
        q->count++;
        pthread_cond_signal(&q->cond);
    }
    pthread_mutex_unlock(&q->mutex);
    return open;
}

void job_queue_close(struct job_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->closed = true;
    pthread_cond_broadcast(&q->cond);
    pthread_mutex_unlock(&q->mutex);
}

struct store_job *job_queue_take(struct job_queue *q, size_t max)
{
    pthread_mutex_lock(&q->mutex);
    while (q->first == NULL && !q->closed)
        pthread_cond_wait(&q->cond, &q->mutex);
    struct store_job *taken = q->first;
    struct store_job **end = &taken;
    for (size_t i = 0; i < max && *end != NULL; i++) {
        end = &(*end)->next;
        q->count--;
    }
    q->first = *end;
    *end = NULL;
    if (q->first == NULL)
        q->end = &q->first;
    pthread_mutex_unlock(&q->mutex);
    return taken;
}

size_t job_queue_count(const struct job_queue *q)
{
    struct job_queue *mutable = (struct job_queue *)q;
    pthread_mutex_lock(&mutable->mutex);
    size_t count = q->count;
    pthread_mutex_unlock(&mutable->mutex);
    return count;
}
