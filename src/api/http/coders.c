/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/coders.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/thread.h"

/* The tasks of one tenant that are queued, being done, or not released yet. */
struct coders_turn {
    struct coders_turn *next;
    struct uuid tenant_id;
    struct coders_task *first; /* the queue */
    struct coders_task **last;
    size_t count;
    size_t held_bytes;
    size_t offered_bytes;
    bool is_running; /* a thread works for the tenant */
};

struct coders {
    pthread_mutex_t mutex; /* guards everything below */
    pthread_cond_t cond;
    struct coders_turn *turns;    /* the next tenant first */
    struct coders_task *released; /* to be freed */
    size_t held_bytes;
    size_t offered_bytes;
    bool is_ending;
    const char *thread_name;
    pthread_t threads[CODERS_THREADS];
};

/* --- Turns: under the mutex ----------------------------------------------------------------- */

static void append_turn(struct coders *cs, struct coders_turn *turn)
{
    struct coders_turn **end = &cs->turns;
    while (*end != NULL)
        end = &(*end)->next;
    turn->next = NULL;
    *end = turn;
}

static void remove_turn(struct coders *cs, struct coders_turn *turn)
{
    struct coders_turn **link = &cs->turns;
    while (*link != turn)
        link = &(*link)->next;
    *link = turn->next;
}

/* Returns NULL if the tenant has no tasks. */
static struct coders_turn *find_turn(struct coders *cs, struct uuid tenant_id)
{
    struct coders_turn *turn = cs->turns;
    while (turn != NULL && !uuid_eq(turn->tenant_id, tenant_id))
        turn = turn->next;
    return turn;
}

static struct coders_turn *turn_of(struct coders *cs, struct uuid tenant_id)
{
    struct coders_turn *turn = find_turn(cs, tenant_id);
    if (turn != NULL)
        return turn;
    turn = MEM_NEW(struct coders_turn);
    turn->tenant_id = tenant_id;
    turn->last = &turn->first;
    append_turn(cs, turn);
    return turn;
}

static void append_task(struct coders_turn *turn, struct coders_task *task)
{
    task->next = NULL;
    *turn->last = task;
    turn->last = &task->next;
}

static void add(struct coders *cs, struct coders_task *task)
{
    task->turn = turn_of(cs, task->tenant_id);
    task->turn->count++;
    append_task(task->turn, task);
    pthread_cond_signal(&cs->cond);
}

static bool has_room(struct coders *cs, struct uuid tenant_id, size_t size_bytes)
{
    const struct coders_turn *turn = find_turn(cs, tenant_id);
    size_t of_tenant = turn != NULL ? turn->offered_bytes : 0;
    return (of_tenant == 0 || of_tenant + size_bytes <= CODERS_TENANT_OFFERED_BYTES) &&
           cs->offered_bytes + size_bytes <= CODERS_OFFERED_BYTES;
}

/* Returns the next task that may be done, or NULL; its tenant is last from now on. */
static struct coders_task *take_next(struct coders *cs)
{
    struct coders_turn *turn = cs->held_bytes < CODERS_BYTES ? cs->turns : NULL;
    while (turn != NULL &&
           (turn->first == NULL || turn->is_running || turn->held_bytes >= CODERS_TENANT_BYTES))
        turn = turn->next;
    if (turn == NULL)
        return NULL;
    struct coders_task *task = turn->first;
    turn->first = task->next;
    if (turn->first == NULL)
        turn->last = &turn->first;
    turn->is_running = true;
    remove_turn(cs, turn);
    append_turn(cs, turn);
    return task;
}

static void hold(struct coders *cs, struct coders_task *task)
{
    task->held_bytes = task->arena.used_bytes;
    task->turn->held_bytes += task->held_bytes;
    task->turn->offered_bytes -= task->offered_bytes;
    cs->held_bytes += task->held_bytes;
    cs->offered_bytes -= task->offered_bytes;
}

static void forget(struct coders *cs, struct coders_task *task)
{
    struct coders_turn *turn = task->turn;
    cs->held_bytes -= task->held_bytes;
    turn->held_bytes -= task->held_bytes;
    mem_free(task);
    if (--turn->count > 0)
        return;
    remove_turn(cs, turn);
    mem_free(turn);
}

/* --- Threads -------------------------------------------------------------------------------- */

static void free_released(struct coders *cs)
{
    struct coders_task *task = cs->released;
    cs->released = task->next;
    pthread_mutex_unlock(&cs->mutex);
    arena_deinit(&task->arena);
    pthread_mutex_lock(&cs->mutex);
    forget(cs, task);
    pthread_cond_broadcast(&cs->cond);
}

static void run(struct coders *cs, struct coders_task *task)
{
    pthread_mutex_unlock(&cs->mutex);
    bool is_done = !task->work(task);
    pthread_mutex_lock(&cs->mutex);
    task->turn->is_running = false;
    if (is_done)
        hold(cs, task);
    else
        append_task(task->turn, task);
    pthread_cond_broadcast(&cs->cond);
    if (!is_done)
        return;
    pthread_mutex_unlock(&cs->mutex);
    task->done(task);
    pthread_mutex_lock(&cs->mutex);
}

static void *work(void *data)
{
    struct coders *cs = data;
    struct coders_task *task;
    thread_set_name(cs->thread_name);
    thread_lower_priority();
    pthread_mutex_lock(&cs->mutex);
    for (;;) {
        if (cs->released != NULL)
            free_released(cs);
        else if ((task = take_next(cs)) != NULL)
            run(cs, task);
        else if (cs->is_ending)
            break;
        else
            pthread_cond_wait(&cs->cond, &cs->mutex);
    }
    pthread_mutex_unlock(&cs->mutex);
    return NULL;
}

/* --- Life ----------------------------------------------------------------------------------- */

struct coders *coders_create(const char *thread_name)
{
    struct coders *cs = MEM_NEW(struct coders);
    cs->thread_name = thread_name;
    pthread_mutex_init(&cs->mutex, NULL);
    pthread_cond_init(&cs->cond, NULL);
    for (size_t i = 0; i < CODERS_THREADS; i++)
        if (pthread_create(&cs->threads[i], NULL, work, cs) != 0)
            mem_exhausted(sizeof *cs); /* as for a loop: before anything is served */
    return cs;
}

void coders_destroy(struct coders *cs)
{
    pthread_mutex_lock(&cs->mutex);
    cs->is_ending = true;
    pthread_cond_broadcast(&cs->cond);
    pthread_mutex_unlock(&cs->mutex);
    for (size_t i = 0; i < CODERS_THREADS; i++)
        pthread_join(cs->threads[i], NULL);
    assert(cs->turns == NULL && "a task was not released");
    pthread_cond_destroy(&cs->cond);
    pthread_mutex_destroy(&cs->mutex);
    mem_free(cs);
}

struct coders_task *coders_task_create(size_t arena_budget_bytes)
{
    struct coders_task *task = MEM_NEW(struct coders_task);
    arena_init(&task->arena, arena_budget_bytes);
    return task;
}

void coders_submit(struct coders *cs, struct coders_task *task)
{
    pthread_mutex_lock(&cs->mutex);
    add(cs, task);
    pthread_mutex_unlock(&cs->mutex);
}

bool coders_offer(struct coders *cs, struct coders_task *task, size_t size_bytes)
{
    pthread_mutex_lock(&cs->mutex);
    bool is_taken = has_room(cs, task->tenant_id, size_bytes);
    if (is_taken) {
        add(cs, task);
        task->offered_bytes = size_bytes;
        task->turn->offered_bytes += size_bytes;
        cs->offered_bytes += size_bytes;
    }
    pthread_mutex_unlock(&cs->mutex);
    if (!is_taken) {
        arena_deinit(&task->arena);
        mem_free(task);
    }
    return is_taken;
}

void coders_release(struct coders *cs, struct coders_task *task)
{
    pthread_mutex_lock(&cs->mutex);
    if (task->held_bytes == 0) {
        arena_deinit(&task->arena);
        forget(cs, task);
    } else {
        task->next = cs->released;
        cs->released = task;
        pthread_cond_signal(&cs->cond);
    }
    pthread_mutex_unlock(&cs->mutex);
}
