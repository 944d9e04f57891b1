/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <sys/resource.h>
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
