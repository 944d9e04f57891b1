/* SPDX-License-Identifier: Apache-2.0 */
#include "server/last_resort.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

struct last_resort {
    pthread_t thread;
    int64_t until_us;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool is_over;
};

static void *wait_for_end(void *data)
{
    struct last_resort *l = data;
    bool is_early = true;
    pthread_mutex_lock(&l->mutex);
    while (!l->is_over && is_early)
        is_early = thread_cond_wait_until(&l->cond, &l->mutex, l->until_us);
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
    l->until_us = clock_steady_us() + limit_ms * 1000;
    pthread_mutex_init(&l->mutex, NULL);
    thread_cond_init(&l->cond);
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
