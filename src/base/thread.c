/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

void thread_set_name(const char *name)
{
    pthread_setname_np(pthread_self(), name);
}

enum error thread_start(
    pthread_t *out_thread, void *(*run)(void *data), void *data, struct problem *problem)
{
    int failure = pthread_create(out_thread, NULL, run, data);
    if (failure == 0)
        return OK;
    return problem_set(problem, ERR_UNAVAILABLE, "cannot start a thread: %s", strerror(failure));
}
