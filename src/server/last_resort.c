/* SPDX-License-Identifier: Apache-2.0 */
#include "server/last_resort.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

struct last_resort {
    pthread_t thread;
    struct timespec until; /* on the steady clock */
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_over;
};

static void *wait_for_end(void *data)
{
    struct last_resort *l = data;
    int result = 0;
    pthread_mutex_lock(&l->mutex);
    while (!l->is_over && result == 0)
        result = pthread_cond_timedwait(&l->cond, &l->mutex, &l->until);
    bool is_over = l->is_over;
    pthread_mutex_unlock(&l->mutex);
    if (is_over)
        return NULL;
    LOG(LOG_WARN, "stopping: work in progress did not end in time");
    _exit(EXIT_SUCCESS);
}

static void destroy(struct last_resort *l)
{
    pthread_cond_destroy(&l->cond);
    pthread_mutex_destroy(&l->mutex);
    mem_free(l);
}

struct last_resort *last_resort_create(int64_t limit_ms)
{
    struct last_resort *l = MEM_NEW(struct last_resort);
    int64_t until_us = clock_steady_us() + limit_ms * 1000;
    pthread_condattr_t attributes;
    l->until = (struct timespec){
        .tv_sec = (time_t)(until_us / 1000000), .tv_nsec = until_us % 1000000 * 1000};
    pthread_mutex_init(&l->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->cond, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&l->thread, NULL, wait_for_end, l) == 0)
        return l;
    destroy(l);
    return NULL;
}

void last_resort_destroy(struct last_resort *l)
{
    if (l == NULL)
        return;
    pthread_mutex_lock(&l->mutex);
    l->is_over = true;
    pthread_cond_signal(&l->cond);
    pthread_mutex_unlock(&l->mutex);
    pthread_join(l->thread, NULL);
    destroy(l);
}
