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

bool loop_is_current(const struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);
/* Steady milliseconds as of this turn of the loop; cheap. */
uint64_t loop_now_ms(struct loop *loop);

#endif
