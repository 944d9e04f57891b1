/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { LOWER_BY = 5 };

void thread_set_name(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

/* On Linux the calls concern one thread if they are given its id. A failure leaves the priority. */
void thread_lower_priority(void)
{
    id_t id = (id_t)gettid();
    (void)setpriority(PRIO_PROCESS, id, getpriority(PRIO_PROCESS, id) + LOWER_BY);
}

enum error thread_start(
    pthread_t *out_thread, void *(*run)(void *data), void *data, struct problem *problem)
{
    int failure = pthread_create(out_thread, NULL, run, data);
    if (failure == 0)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE, "cannot start a thread: %s", strerror(failure));
}

void thread_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool thread_cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_us)
{
    struct timespec until = {
        .tv_sec = (time_t)(until_us / 1000000), .tv_nsec = until_us % 1000000 * 1000};
    return pthread_cond_timedwait(cond, mutex, &until) == 0;
}
