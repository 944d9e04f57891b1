/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mailbox is a lock-free stack. The loop takes the whole stack and reverses it, so tasks run in
 * the order of posting. The thread that pushes on an empty stack wakes the loop; later pushes need
 * no wake-up. Stopping is itself a task, so everything posted before it runs first.
 */
#include "net/loop.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/thread.h"

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_thread_t thread;
    bool started;
    struct loop_task stop;
    _Atomic(struct loop_task *) posted; /* latest first */
};

static _Thread_local struct loop *current;

static void run_posted(uv_async_t *wake)
{
    struct loop *loop = wake->data;
    struct loop_task *latest = atomic_exchange_explicit(&loop->posted, NULL, memory_order_acquire);
    struct loop_task *first = NULL;
    while (latest != NULL) {
        struct loop_task *earlier = latest->next;
        latest->next = first;
        first = latest;
        latest = earlier;
    }
    while (first != NULL) {
        struct loop_task *task = first;
        first = task->next;
        task->run(task);
    }
}

static void run_stop(struct loop_task *task)
{
    uv_stop(&CONTAINER_OF(task, struct loop, stop)->uv);
}

struct loop *loop_create(void)
{
    struct loop *loop = MEM_NEW(struct loop);
    atomic_init(&loop->posted, NULL);
    loop->stop.run = run_stop;
    /* Both fail only without descriptors or memory, before anything is served. */
    if (uv_loop_init(&loop->uv) != 0 || uv_async_init(&loop->uv, &loop->wake, run_posted) != 0)
        mem_exhausted(sizeof *loop);
    loop->wake.data = loop;
    return loop;
}

static void run_thread(void *arg)
{
    thread_set_name("cairn-loop");
    current = arg;
    uv_run(&current->uv, UV_RUN_DEFAULT);
    current = NULL;
}

void loop_start(struct loop *loop)
{
    assert(!loop->started);
    loop->started = true;
    if (uv_thread_create(&loop->thread, run_thread, loop) != 0)
        mem_exhausted(sizeof *loop);
}

void loop_stop(struct loop *loop)
{
    assert(!loop_is_current(loop));
    if (!loop->started)
        return;
    loop_post(loop, &loop->stop);
    uv_thread_join(&loop->thread);
    loop->started = false;
}

void loop_destroy(struct loop *loop)
{
    if (loop == NULL)
        return;
    assert(!loop->started);
    uv_close((uv_handle_t *)&loop->wake, NULL);
    /* Completes the handles that were closed in the last turn of the loop. */
    uv_run(&loop->uv, UV_RUN_DEFAULT);
    int busy = uv_loop_close(&loop->uv);
    assert(busy == 0 && "a handle outlives its loop");
    mem_free(loop);
}

void loop_post(struct loop *loop, struct loop_task *task)
{
    struct loop_task *latest = atomic_load_explicit(&loop->posted, memory_order_relaxed);
    do {
        task->next = latest;
    } while (!atomic_compare_exchange_weak_explicit(
        &loop->posted, &latest, task, memory_order_release, memory_order_relaxed));
    if (latest == NULL)
        uv_async_send(&loop->wake);
}

static void timer_due(uv_timer_t *uv)
{
    struct loop_timer *timer = CONTAINER_OF(uv, struct loop_timer, uv);
    timer->on_due(timer);
}

static void timer_closed(uv_handle_t *handle)
{
    struct loop_timer *timer = CONTAINER_OF((uv_timer_t *)handle, struct loop_timer, uv);
    if (timer->on_closed != NULL)
        timer->on_closed(timer);
}

void loop_timer_start(struct loop *loop, struct loop_timer *timer,
    void (*on_due)(struct loop_timer *timer), uint64_t first_ms, uint64_t repeat_ms)
{
    timer->on_due = on_due;
    uv_timer_init(&loop->uv, &timer->uv);
    uv_timer_start(&timer->uv, timer_due, first_ms, repeat_ms);
}

void loop_timer_again(struct loop_timer *timer, uint64_t first_ms)
{
    uv_timer_start(&timer->uv, timer_due, first_ms, 0);
}

void loop_timer_stop(struct loop_timer *timer)
{
    uv_timer_stop(&timer->uv);
}

void loop_timer_close(struct loop_timer *timer, void (*on_closed)(struct loop_timer *timer))
{
    timer->on_closed = on_closed;
    uv_close((uv_handle_t *)&timer->uv, timer_closed);
}

bool loop_is_current(const struct loop *loop)
{
    return current == loop;
}

uv_loop_t *loop_uv(struct loop *loop)
{
    return &loop->uv;
}

uint64_t loop_now_ms(struct loop *loop)
{
    return uv_now(&loop->uv);
}
