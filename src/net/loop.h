/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop: one thread that owns sockets and timers, and a mailbox through which every other thread
 * speaks to it. Tasks run on the loop's thread in the order in which they were posted; none is lost
 * until loop_stop. Everything else in net is called on the loop's own thread unless it says
 * otherwise.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <uv.h>

#include "base/str.h"

struct loop;

/* Embedded in what is posted; the poster owns it until `run` is called, `run` owns it then. */
struct loop_task {
    struct loop_task *next;
    void (*run)(struct loop_task *task);
};

struct loop *loop_create(void);
/* Starts the thread. */
void loop_start(struct loop *loop);
/* Any thread: what is posted before this still runs, then the thread ends. Joins it. */
void loop_stop(struct loop *loop);
void loop_destroy(struct loop *loop);

/* Any thread. One wake-up serves all that is posted before the loop gets to it. */
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
/* A stopped timer is never due again and must still be closed. */
void loop_timer_stop(struct loop_timer *timer);
/* on_closed may be NULL. */
void loop_timer_close(struct loop_timer *timer, void (*on_closed)(struct loop_timer *timer));

bool loop_is_current(const struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
/* Steady milliseconds as of this turn of the loop; cheap. */
uint64_t loop_now_ms(struct loop *loop);

#endif
