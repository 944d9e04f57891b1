/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tail.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "lib/errand.h"
#include "model/upkeep/tail.h"

enum {
    WAIT_MS = 1000,
    PAUSE_AFTER_FAILURE_MS = 200,
    SILENT_MAX_US = 15 * 1000 * 1000, /* without a pass that succeeds */
};

struct tail_thread {
    struct store *store;
    pthread_t thread;
    atomic_bool stopping;
    struct tail tail;
    struct tail_page page;
    bool failing;     /* the last pass failed */
    int64_t heard_us; /* the last pass that succeeded, or the last time that streams were sent to
                         the store instead; by the steady clock */
};

static enum error read_on(struct context *c, void *data)
{
    struct tail_thread *t = data;
    return tail_read(c, &t->tail, store_hub(t->store), &t->page);
}

/* One pass; out_more: there is more to read. */
static enum error pass(struct tail_thread *t, bool *out_more)
{
    *out_more = false;
    TRY(errand_run(t->store, STORE_READ_AHEAD, read_on, t));
    *out_more = t->page.more;
    tail_publish(&t->tail, &t->page, store_hub(t->store));
    return OK;
}

static void pause_ms(long ms)
{
    const struct timespec pause = {.tv_nsec = ms * 1000000};
    nanosleep(&pause, NULL);
}

/* Logs the beginning and the end of an outage. No stream may stay open and silent: when the outage
 * lasts, every stream reads the store itself, and is closed if its read fails. */
static void note_result(struct tail_thread *t, enum error e)
{
    bool was_failing = t->failing;
    int64_t now_us = clock_steady_us();
    t->failing = e != OK;
    if (t->failing && !was_failing)
        LOG(LOG_WARN, "cannot read events for the streams, which wait",
            LOG_STR("code", error_info(e)->code));
    if (!t->failing && was_failing)
        LOG(LOG_INFO, "the streams continue");
    if (t->failing && now_us - t->heard_us < SILENT_MAX_US)
        return;
    t->heard_us = now_us;
    if (t->failing)
        hub_lose(store_hub(t->store));
}

static void *run(void *data)
{
    thread_set_name("cairn-tail");
    struct tail_thread *t = data;
    bool more = false;
    int64_t next_us = 0;
    t->heard_us = clock_steady_us();
    while (!atomic_load(&t->stopping)) {
        if (!more)
            store_wait(t->store, WAIT_MS);
        more = false;
        /* Without subscribers, one pass per second keeps the position close to the end. */
        if (!hub_is_watched(store_hub(t->store)) && clock_steady_us() < next_us)
            continue;
        next_us = clock_steady_us() + WAIT_MS * 1000;
        note_result(t, pass(t, &more));
        if (t->failing)
            pause_ms(PAUSE_AFTER_FAILURE_MS);
    }
    return NULL;
}

static void destroy(struct tail_thread *t)
{
    tail_page_clear(&t->page);
    mem_free(t);
}

enum error tail_thread_start(
    struct store *store, struct problem *problem, struct tail_thread **out_thread)
{
    struct tail_thread *t = MEM_NEW(struct tail_thread);
    bool more;
    t->store = store;
    atomic_init(&t->stopping, false);
    tail_page_clear(&t->page);
    enum error e = pass(t, &more);
    e = e == OK ? thread_start(&t->thread, run, t, problem)
                : problem_set(problem, ERR_UNAVAILABLE, "the database could not be read");
    if (e != OK) {
        destroy(t);
        return e;
    }
    *out_thread = t;
    return OK;
}

void tail_thread_stop(struct tail_thread *t)
{
    atomic_store(&t->stopping, true);
    store_wake(t->store);
}

void tail_thread_destroy(struct tail_thread *t)
{
    if (t == NULL)
        return;
    tail_thread_stop(t);
    pthread_join(t->thread, NULL);
    destroy(t);
}
