/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that decode large bodies, and threads that encode answers, so that no loop waits for
 * either. Tenants take turns, and a tenant uses one thread at a time: with tasks of one tenant in
 * the queue, the next task of another tenant is done at once.
 *
 * A decoded body may take many times the memory of its text, and keeps it until the call ends. A
 * task waits in the queue while the results of its tenant, or of all tenants, exceed their limit.
 * So memory is bounded by the limits and one body for each thread.
 */
#ifndef API_HTTP_CODERS_H
#define API_HTTP_CODERS_H

#include "base/arena.h"
#include "base/uuid.h"

enum {
    CODERS_THREADS = 2,
    CODERS_TENANT_BYTES = 64 << 20, /* of the results of one tenant */
    CODERS_BYTES = 256 << 20,       /* of all of them */
    /* Of the input of optional tasks that are not done yet. */
    CODERS_TENANT_OFFERED_BYTES = 4 << 20,
    CODERS_OFFERED_BYTES = 128 << 20,
};

struct coders;
struct coders_turn;

/* One piece of work. The caller sets the first members; the others belong to this module. */
struct coders_task {
    struct uuid tenant_id;
    void *data;
    /* Works on a thread of the coders; results are in the arena. Returns true if there is more to
     * do: then other tasks have their turn first. */
    bool (*work)(struct coders_task *task);
    /* Follows on the same thread; may release the task. */
    void (*done)(struct coders_task *task);
    struct arena arena;

    struct coders_task *next;
    struct coders_turn *turn;
    size_t held_bytes;
    size_t offered_bytes;
};

struct coders *coders_create(const char *thread_name);
/* Every task has been released. */
void coders_destroy(struct coders *cs);
struct coders_task *coders_task_create(size_t arena_budget_bytes);
/* Any thread. */
void coders_submit(struct coders *cs, struct coders_task *task);
/* Any thread: submits a task that may be omitted, with an input of this size. Returns false, and
 * frees the task, if others wait already, and the tenant's or all inputs would exceed their limit.
 */
MUST_CHECK bool coders_offer(struct coders *cs, struct coders_task *task, size_t size_bytes);
/* Any thread, once, after `done` has begun: another thread frees the arena and the task, because
 * freeing a large arena takes time too. */
void coders_release(struct coders *cs, struct coders_task *task);

#endif
