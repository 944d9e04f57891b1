/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and naming threads, and conditions with a time limit. The system may refuse a thread at
 * any time, which is an ordinary error. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

#include "base/problem.h"

/* Sets the name of the running thread for tools that list threads: at most 15 bytes. */
void thread_set_name(const char *name);
/* For a thread whose work may wait: when cores are short, the running thread gets about a third of
 * the time that a thread of ordinary priority gets. */
void thread_lower_priority(void);
MUST_CHECK enum error thread_start(
    pthread_t *out_thread, void *(*run)(void *data), void *data, struct problem *problem);

/* A condition whose waits may end at a time of clock_steady_us. */
void thread_cond_init(pthread_cond_t *cond);
/* Returns false if the time has passed. */
MUST_CHECK bool thread_cond_wait_until(
    pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_us);

#endif
