/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_queue.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/thread.h"

static const size_t NOT_READY = SIZE_MAX;

struct flow {
    struct flow *next; /* in the bucket */
    uint64_t id;
    struct store_job *first;
    struct store_job **end;
    size_t running;
    bool active;
    size_t at; /* in the heap; NOT_READY */
    int64_t account_us;
    int64_t average_us; /* of a job */
};

void job_queue_init(struct job_queue *q, unsigned share)
{
    *q = (struct job_queue){.share = share, .lone_batch_us = JOB_QUEUE_LONE_BATCH_US};
    pthread_mutex_init(&q->mutex, NULL);
    thread_cond_init(&q->cond);
}

void job_queue_deinit(struct job_queue *q)
{
    assert(q->count == 0 && q->n_ready == 0);
    for (size_t i = 0; i < JOB_QUEUE_BUCKETS; i++)
        while (q->buckets[i] != NULL) {
            struct flow *flow = q->buckets[i];
            assert(flow->running == 0);
            q->buckets[i] = flow->next;
            mem_free(flow);
        }
    mem_free(q->heap);
    pthread_cond_destroy(&q->cond);
    pthread_mutex_destroy(&q->mutex);
}

/* --- The heap of flows that are ready ------------------------------------------------------- */

static void place(struct job_queue *q, struct flow *flow, size_t at)
{
    q->heap[at] = flow;
    flow->at = at;
}

/* Moves the flow to where its account belongs. */
static void settle(struct job_queue *q, struct flow *flow)
{
    size_t at = flow->at;
    while (at > 0 && q->heap[(at - 1) / 2]->account_us > flow->account_us) {
        place(q, q->heap[(at - 1) / 2], at);
        at = (at - 1) / 2;
    }
    for (size_t child; (child = 2 * at + 1) < q->n_ready; at = child) {
        if (child + 1 < q->n_ready && q->heap[child + 1]->account_us < q->heap[child]->account_us)
            child++;
        if (q->heap[child]->account_us >= flow->account_us)
            break;
        place(q, q->heap[child], at);
    }
    place(q, flow, at);
}

static void make_ready(struct job_queue *q, struct flow *flow)
{
    if (q->n_ready == q->cap) {
        q->cap = q->cap == 0 ? 16 : q->cap * 2;
        q->heap = mem_realloc(q->heap, q->cap * sizeof(struct flow *));
    }
    place(q, flow, q->n_ready++);
    settle(q, flow);
}

static void make_unready(struct job_queue *q, struct flow *flow)
{
    struct flow *last = q->heap[--q->n_ready];
    size_t at = flow->at;
    flow->at = NOT_READY;
    if (last == flow)
        return;
    place(q, last, at);
    settle(q, last);
}

/* After any change of the flow's jobs or account. */
static void update(struct job_queue *q, struct flow *flow)
{
    bool limited = q->share > 0 && flow->id != 0;
    bool ready = flow->first != NULL && (!limited || flow->running < q->share);
    bool active = flow->first != NULL || flow->running > 0;
    if (active != flow->active)
        q->n_active = active ? q->n_active + 1 : q->n_active - 1;
    flow->active = active;
    /* Jobs were returned, or used less than expected: a flow that comes now begins here too. */
    if (ready && flow->account_us < q->clock_us)
        q->clock_us = flow->account_us;
    if (ready && flow->at == NOT_READY)
        make_ready(q, flow);
    else if (!ready && flow->at != NOT_READY)
        make_unready(q, flow);
    else if (ready)
        settle(q, flow);
}

/* --- Flows ---------------------------------------------------------------------------------- */

static struct flow **find(struct job_queue *q, uint64_t id)
{
    struct flow **at = &q->buckets[(id >> 8) % JOB_QUEUE_BUCKETS];
    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    return at;
}

/* A flow without jobs and without debt is forgotten. */
static void forget_idle(struct job_queue *q, struct flow **at)
{
    while (*at != NULL) {
        struct flow *flow = *at;
        if (!flow->active && flow->account_us <= q->clock_us) {
            *at = flow->next;
            mem_free(flow);
        } else {
            at = &flow->next;
        }
    }
}

static struct flow *flow_of(struct job_queue *q, uint64_t id)
{
    struct flow **at = find(q, id);
    if (*at != NULL)
        return *at;
    forget_idle(q, &q->buckets[(id >> 8) % JOB_QUEUE_BUCKETS]);
    at = find(q, id);
    *at = MEM_NEW(struct flow);
    **at = (struct flow){.id = id, .at = NOT_READY, .account_us = q->clock_us};
    (*at)->end = &(*at)->first;
    return *at;
}

/* --- Jobs ----------------------------------------------------------------------------------- */

static void append(struct job_queue *q, struct store_job *job)
{
    struct flow *flow = flow_of(q, job->flow);
    if (!flow->active && flow->account_us < q->clock_us)
        flow->account_us = q->clock_us;
    job->next = NULL;
    job->queued_in = flow;
    *flow->end = job;
    flow->end = &job->next;
    q->count++;
    update(q, flow);
    pthread_cond_signal(&q->cond);
}

bool job_queue_put(struct job_queue *q, struct store_job *job)
{
    pthread_mutex_lock(&q->mutex);
    bool open = !q->closed;
    if (open)
        append(q, job);
    pthread_mutex_unlock(&q->mutex);
    return open;
}

void job_queue_close(struct job_queue *q)
{
    pthread_mutex_lock(&q->mutex);
    q->closed = true;
    pthread_cond_broadcast(&q->cond);
    pthread_mutex_unlock(&q->mutex);
}

static struct store_job *take_first(struct job_queue *q, struct flow *flow)
{
    struct store_job *job = flow->first;
    flow->first = job->next;
    if (flow->first == NULL)
        flow->end = &flow->first;
    job->next = NULL;
    job->charged_us = flow->average_us > 0 ? flow->average_us : 1;
    job->used_us = 0;
    flow->running++;
    q->count--;
    if (flow->account_us > q->clock_us)
        q->clock_us = flow->account_us;
    flow->account_us += job->charged_us;
    update(q, flow);
    return job;
}

static int64_t batch_us(const struct job_queue *q)
{
    return q->n_active > 1 ? JOB_QUEUE_BATCH_US : q->lone_batch_us;
}

struct store_job *job_queue_take(struct job_queue *q, size_t max)
{
    struct store_job *taken = NULL, **end = &taken;
    int64_t expected_us = 0;
    pthread_mutex_lock(&q->mutex);
    while (q->n_ready == 0 && !(q->closed && q->count == 0))
        pthread_cond_wait(&q->cond, &q->mutex);
    for (size_t n = 0; n < max && q->n_ready > 0; n++) {
        expected_us += q->heap[0]->average_us;
        if (taken != NULL && expected_us > batch_us(q))
            break;
        *end = take_first(q, q->heap[0]);
        end = &(*end)->next;
    }
    if (q->closed)
        pthread_cond_broadcast(&q->cond);
    pthread_mutex_unlock(&q->mutex);
    return taken;
}

bool job_queue_wait(struct job_queue *q, int64_t wait_us)
{
    int64_t until_us = clock_steady_us() + wait_us;
    bool is_early = true;
    pthread_mutex_lock(&q->mutex);
    while (q->n_ready == 0 && !q->closed && is_early)
        is_early = thread_cond_wait_until(&q->cond, &q->mutex, until_us);
    bool ended = q->n_ready > 0 || q->closed;
    pthread_mutex_unlock(&q->mutex);
    return ended;
}

bool job_queue_is_used_up(struct job_queue *q, int64_t used_us)
{
    if (used_us < JOB_QUEUE_BATCH_US)
        return false;
    pthread_mutex_lock(&q->mutex);
    bool used_up = used_us >= batch_us(q);
    pthread_mutex_unlock(&q->mutex);
    return used_up;
}

static void return_one(struct job_queue *q, struct store_job *job)
{
    struct flow *flow = job->queued_in;
    job->next = flow->first;
    if (flow->first == NULL)
        flow->end = &job->next;
    flow->first = job;
    flow->running--;
    flow->account_us -= job->charged_us;
    q->count++;
    update(q, flow);
}

void job_queue_return(struct job_queue *q, struct store_job *jobs)
{
    struct store_job *reversed = NULL;
    for (struct store_job *job = jobs, *next; job != NULL; job = next) {
        next = job->next;
        job->next = reversed;
        reversed = job;
    }
    pthread_mutex_lock(&q->mutex);
    for (struct store_job *job = reversed, *next; job != NULL; job = next) {
        next = job->next;
        return_one(q, job);
    }
    pthread_cond_signal(&q->cond);
    pthread_mutex_unlock(&q->mutex);
}

static void end_one(struct job_queue *q, struct store_job *job)
{
    struct flow *flow = job->queued_in;
    flow->running--;
    flow->average_us += (job->used_us - flow->average_us) / 4;
    flow->account_us += job->used_us - job->charged_us;
    if (flow->account_us > q->clock_us + JOB_QUEUE_MAX_DEBT_US)
        flow->account_us = q->clock_us + JOB_QUEUE_MAX_DEBT_US;
    update(q, flow);
    if (flow->at != NOT_READY)
        pthread_cond_signal(&q->cond);
}

void job_queue_end(struct job_queue *q, struct store_job *jobs)
{
    pthread_mutex_lock(&q->mutex);
    for (struct store_job *job = jobs; job != NULL; job = job->next)
        end_one(q, job);
    pthread_mutex_unlock(&q->mutex);
}

void job_queue_end_one(struct job_queue *q, struct store_job *job)
{
    pthread_mutex_lock(&q->mutex);
    end_one(q, job);
    pthread_mutex_unlock(&q->mutex);
}

void job_queue_put_back(struct job_queue *q, struct store_job *job)
{
    pthread_mutex_lock(&q->mutex);
    end_one(q, job);
    append(q, job);
    pthread_mutex_unlock(&q->mutex);
}

size_t job_queue_count(const struct job_queue *q)
{
    struct job_queue *mutable = (struct job_queue *)q;
    pthread_mutex_lock(&mutable->mutex);
    size_t count = q->count;
    pthread_mutex_unlock(&mutable->mutex);
    return count;
}
