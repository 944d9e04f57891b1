/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: one thread that owns sockets and timers, and a mailbox for tasks from other threads.
 * Tasks run on the loop's thread in the order in which they were posted; all tasks posted before
 * loop_stop run. Everything else in net is called on the loop's own thread unless stated otherwise.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <uv.h>

#include "base/str.h"

struct loop;

/* Part of the object that is posted. The sender owns it until `run` is called, then `run` owns it.
 * */
struct loop_task {
    struct loop_task *next;
    void (*run)(struct loop_task *task);
};

struct loop *loop_create(void);
/* Starts the thread. */
void loop_start(struct loop *loop);
/* Any thread. Tasks posted before this still run, then the thread ends and is joined. */
void loop_stop(struct loop *loop);
void loop_destroy(struct loop *loop);

/* Any thread. Tasks that are posted before the loop wakes up share one wake-up. */
void loop_post(struct loop *loop, struct loop_task *task);

/*
 * A timer on the loop's thread. The owner provides the memory and must keep it until `on_closed` of
 * loop_timer_close has been called, or without on_closed until the loop is destroyed.
 */
struct loop_timer {
    uv_timer_t uv;
    void (*on_due)(struct loop_timer *timer);
    void (*on_closed)(struct loop_timer *timer);
};

/* Calls on_due after first_ms, then every repeat_ms; 0: once only. */
void loop_timer_start(struct loop *loop, struct loop_timer *timer,
    void (*on_due)(struct loop_timer *timer), uint64_t first_ms, uint64_t repeat_ms);
/* Sets the time until a timer that was started is due the next time; without a repetition. */
void loop_timer_again(struct loop_timer *timer, uint64_t first_ms);
/* A stopped timer is never due again and must still be closed. */
void loop_timer_stop(struct loop_timer *timer);
/* on_closed may be NULL. */
void loop_timer_close(struct loop_timer *timer, void (*on_closed)(struct loop_timer *timer));

bool loop_is_current(const struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
/* Steady milliseconds at the start of this turn of the loop; cheap. */
uint64_t loop_now_ms(struct loop *loop);

#endif
