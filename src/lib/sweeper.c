/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/sweeper.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "lib/errand.h"
#include "lib/leftovers.h"
#include "model/checkpoints/item_bytes.h"
#include "model/tenancy/deletions.h"
#include "store/content.h"

enum { PAUSE_MS = 1000, SHORT_PAUSE_MS = 20 };

struct sweeper {
    struct store *store;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool stopping;
    bool prepares;
    atomic_uint_fast64_t *sweeps;
    struct sweep_position position;
    struct sweep_list list; /* its items are in the arena */
    struct arena arena;
    struct item_packing packing;
    bool more;
};

/* --- One pass ------------------------------------------------------------------------------- */

/* Runs after the commit. content_sweep finds content whose removal failed, as after a crash. */
static void remove_unused(struct store *store, const struct sweep_report *report)
{
    for (size_t i = 0; i < report->n_unused; i++) {
        const struct owned_id *note = &report->unused[i];
        enum error e = content_remove(store, note->tenant_id, note->id);
        if (e != OK)
            LOG(LOG_WARN, "unreferenced content could not be removed",
                LOG_STR("code", error_info(e)->code));
    }
}

struct pass {
    const struct sweep_position *from;
    struct sweep_position next;
    struct sweep_report report;
};

/* The pass may run more than once: the position advances only at the end. */
static enum error run_pass(struct context *c, void *data)
{
    struct pass *pass = data;
    pass->next = *pass->from;
    return model_sweep(c, &pass->next, &pass->report);
}

enum error sweep_at_once(struct store *store, struct sweep_position *position, bool *out_more)
{
    struct pass pass = {.from = position};
    TRY(errand_run(store, STORE_WRITE, run_pass, &pass));
    *position = pass.next;
    *out_more = pass.report.more;
    remove_unused(store, &pass.report);
    return OK;
}

static enum error list(struct context *c, void *data)
{
    struct sweeper *s = data;
    struct sweep_list *l = &s->list;
    TRY(sweep_list(c, &s->position, l));
    arena_clear(&s->arena);
    struct sweep_item *items = ARENA_ARRAY(&s->arena, struct sweep_item, l->count);
    if (l->count > 0)
        memcpy(items, l->items, l->count * sizeof *items);
    l->items = items;
    return OK;
}

struct items_job {
    const struct sweep_list *list;
    size_t from, next;
    bool one_only;
    struct sweep_report report;
};

/* A list has at most SWEEP_CONTENT_A_PASS items with content. */
static void add_report(struct sweep_report *sum, const struct sweep_report *one)
{
    sum->more = sum->more || one->more;
    for (size_t i = 0; i < one->n_unused; i++)
        sum->unused[sum->n_unused++] = one->unused[i];
}

/* Compressing items and training dictionaries takes too long for a job. */
static bool must_be_prepared(const struct sweep_item *item)
{
    return item->kind == SWEEP_PACK && item->packing == NULL;
}

/* Does items until the slice is over, or the next one must be prepared. The job may run more than
 * once. */
static enum error do_items(struct context *c, void *data)
{
    struct items_job *job = data;
    struct slice slice = slice_begin(0);
    job->report = (struct sweep_report){0};
    job->next = job->from;
    do {
        struct sweep_report report;
        TRY(sweep_do(c, &job->list->items[job->next++], &report));
        add_report(&job->report, &report);
    } while (!job->one_only && job->next < job->list->count &&
             !must_be_prepared(&job->list->items[job->next]) && !slice_is_over(&slice));
    return OK;
}

static bool is_stopping(struct sweeper *s)
{
    pthread_mutex_lock(&s->mutex);
    bool stopping = s->stopping;
    pthread_mutex_unlock(&s->mutex);
    return stopping;
}

struct prepare_job {
    const struct sweep_item *item;
    struct item_packing *packing;
};

static enum error prepare(struct context *c, void *data)
{
    struct prepare_job *job = data;
    return sweep_prepare(c, job->item, job->packing);
}

/* Trains dictionaries and compresses on this thread, whose priority is low. A pass has at most one
 * such item. */
static enum error prepare_item(struct sweeper *s, struct sweep_item *item)
{
    struct prepare_job job = {item, &s->packing};
    TRY(errand_run(s->store, STORE_READ, prepare, &job));
    item_packing_compute(&s->packing);
    item->packing = &s->packing;
    return OK;
}

/* Does the next items, after the first of them was prepared if necessary. */
static enum error run_items(struct sweeper *s, struct items_job *job)
{
    struct sweep_item *item = &s->list.items[job->from];
    if (must_be_prepared(item))
        TRY(prepare_item(s, item));
    return errand_run(s->store, STORE_WRITE, do_items, job);
}

/* Each job does few items, so that the jobs of requests need not wait long: one item if other nodes
 * write too, which may wait for its locks, and after a failure, which undoes the whole job. */
static enum error sweep_items(struct sweeper *s)
{
    enum error e = errand_run(s->store, STORE_WRITE, list, s), failure = OK;
    if (e != OK)
        return e;
    s->more = s->list.more;
    struct items_job job = {.list = &s->list, .one_only = store_is_shared(s->store)};
    /* A busy or failing item does not stop the others; an unreachable database does. */
    while (job.from < s->list.count && !is_stopping(s)) {
        if (e == ERR_UNAVAILABLE && !store_stats(s->store).connected)
            break;
        e = run_items(s, &job);
        if (e != OK && !job.one_only) {
            job.one_only = true;
            continue;
        }
        job.from = e == OK ? job.next : job.from + 1;
        failure = e != OK ? e : failure;
        if (e != OK)
            continue;
        s->more = s->more || job.report.more;
        remove_unused(s->store, &job.report);
    }
    item_packing_deinit(&s->packing);
    s->position = s->list.next;
    s->more = s->more && failure == OK; /* a failed item is not retried at once */
    return failure;
}

static enum error sweep(struct sweeper *s)
{
    s->more = false;
    if (s->prepares) {
        enum error e = errand_prepare(s->store);
        s->prepares = e != OK;
        return e;
    }
    return sweep_items(s);
}

/* --- The thread ----------------------------------------------------------------------------- */

/* Returns false if the sweeper must end. */
static bool wait_ms(struct sweeper *s, long ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&s->mutex);
    while (!s->stopping && pthread_cond_timedwait(&s->cond, &s->mutex, &until) == 0) {
    }
    bool stopping = s->stopping;
    pthread_mutex_unlock(&s->mutex);
    return !stopping;
}

static void *run(void *data)
{
    thread_set_name("cairn-sweeper");
    thread_lower_priority();
    struct sweeper *s = data;
    bool failing = false;
    int64_t next_look_us = 0;
    while (wait_ms(s, s->more ? SHORT_PAUSE_MS : PAUSE_MS)) {
        enum error e = sweep(s);
        if (e == OK && !s->more)
            atomic_fetch_add(s->sweeps, 1);
        content_look_again(s->store);
        if (clock_steady_us() >= next_look_us) {
            leftovers_sweep(s->store);
            next_look_us = store_is_shared(s->store)
                               ? clock_steady_us() + INT64_C(1000) * LEFTOVERS_EVERY_MS
                               : INT64_MAX;
        }
        /* Logs once per outage, not once per second. */
        if (e != OK && !failing)
            LOG(LOG_WARN, "sweeps fail", LOG_STR("code", error_info(e)->code));
        failing = e != OK;
    }
    return NULL;
}

static void destroy(struct sweeper *s)
{
    pthread_cond_destroy(&s->cond);
    pthread_mutex_destroy(&s->mutex);
    item_packing_deinit(&s->packing);
    arena_deinit(&s->arena);
    mem_free(s);
}

enum error sweeper_start(struct store *store, bool prepares, atomic_uint_fast64_t *sweeps,
    struct problem *problem, struct sweeper **out_sweeper)
{
    struct sweeper *s = MEM_NEW(struct sweeper);
    pthread_condattr_t monotonic;
    s->store = store;
    s->prepares = prepares;
    s->sweeps = sweeps;
    arena_init(&s->arena, SIZE_MAX);
    pthread_mutex_init(&s->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
    enum error e = thread_start(&s->thread, run, s, problem);
    if (e != OK) {
        destroy(s);
        return e;
    }
    *out_sweeper = s;
    return OK;
}

void sweeper_stop(struct sweeper *s)
{
    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_cond_signal(&s->cond);
    pthread_mutex_unlock(&s->mutex);
}

void sweeper_destroy(struct sweeper *s)
{
    if (s == NULL)
        return;
    sweeper_stop(s);
    pthread_join(s->thread, NULL);
    destroy(s);
}
