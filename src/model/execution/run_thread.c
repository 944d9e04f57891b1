/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs that change a thread and its active runs. */
#include "model/execution/run_rows.h"

/* Applies a verb to every active run, except those with the status `leave`. What the change of a
 * run has read is released before the next one, so that any number of large runs fits. */
static enum error each_active(struct context *c, struct thread *thread, enum run_status leave,
    enum error (*verb)(struct context *c, struct run *run))
{
    struct run_array active;
    TRY(run_list_active(c, thread->id, &active));
    struct arena_mark mark = arena_mark(c->arena);
    for (size_t i = 0; i < active.count; i++) {
        if (active.runs[i].status != leave)
            TRY(verb(c, &active.runs[i]));
        arena_rewind(c->arena, mark);
    }
    return OK;
}

/* If-Match refers to the thread, not to the versions of its runs. */
static enum error take_match(struct context *c, const struct thread *thread)
{
    enum error e = context_check_match(c, thread->version);
    c->has_match = false;
    return e;
}

enum error thread_pause(struct context *c, struct thread *thread)
{
    TRY(take_match(c, thread));
    TRY(thread_set_status(c, thread, THREAD_PAUSED));
    TRY(each_active(c, thread, RUN_PAUSED, run_pause_tree));
    return thread_get(c, thread->id, thread);
}

static enum error resume_if_paused(struct context *c, struct run *run)
{
    return run->status == RUN_PAUSED ? run_resume_tree(c, run) : OK;
}

enum error thread_resume(struct context *c, struct thread *thread)
{
    TRY(take_match(c, thread));
    TRY(thread_set_status(c, thread, THREAD_ACTIVE));
    TRY(each_active(c, thread, RUN_STATUS_NONE, resume_if_paused));
    return thread_get(c, thread->id, thread);
}

enum error thread_cancel(struct context *c, struct thread *thread, struct str reason)
{
    struct run_array active = {0};
    TRY(take_match(c, thread));
    TRY(thread_set_status(c, thread, THREAD_CANCELLED));
    TRY(run_list_active(c, thread->id, &active));
    struct arena_mark mark = arena_mark(c->arena);
    /* Newest first, so that the end of a run does not start the next one. */
    for (size_t i = active.count; i > 0; i--) {
        TRY(run_change(c, &active.runs[i - 1], RUN_CANCELLED, reason));
        arena_rewind(c->arena, mark);
    }
    return thread_get(c, thread->id, thread);
}
