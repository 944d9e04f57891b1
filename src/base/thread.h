/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a thread, which a machine may refuse at any time: an ordinary error, told in words. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

#include "base/problem.h"

/* How the running thread is called by tools that list threads: at most 15 bytes. */
void thread_set_name(const char *name);
MUST_CHECK enum error thread_start(
    pthread_t *out_thread, void *(*run)(void *data), void *data, struct problem *problem);

#endif
