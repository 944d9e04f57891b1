/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/poll.h"

/* The number of polls per loop that run again by time in each second. */
enum { RERUNS_A_SECOND = 100 };

static struct poll *poll_of(struct watch *w)
{
    return CONTAINER_OF(w, struct poll, watch);
}

static void run_again(struct poll *p)
{
    if (p->running) {
        p->again = true;
        return;
    }
    p->running = true;
    p->rerun(p);
}

static void give_up(struct poll *p)
{
    p->finished = true;
    run_again(p);
}

static void on_event(struct watch *w, struct frames *frames)
{
    struct poll *p = poll_of(w);
    if (interest_is_met(&p->interest, frames->event))
        run_again(p);
}

static void on_lost(struct watch *w)
{
    run_again(poll_of(w));
}

static void on_access_ended(struct watch *w, struct uuid id)
{
    struct poll *p = poll_of(w);
    /* The next run checks the access. An event about other keys is ignored. */
    if (interest_is_of(&p->interest, id))
        run_again(p);
}

/* Each second, or less often if many calls wait, so that runs without a result stay cheap. */
static void on_tick(struct watch *w, uint64_t now_ms)
{
    struct poll *p = poll_of(w);
    if (!w->by_time || p->running || now_ms < p->due_ms)
        return;
    p->due_ms = now_ms + 1000 * (watch_count_by_time(p->watchers) / RERUNS_A_SECOND);
    run_again(p);
}

static void on_drain(struct watch *w)
{
    give_up(poll_of(w));
}

static const struct watch_ops ops = {.on_event = on_event,
    .on_lost = on_lost,
    .on_access_ended = on_access_ended,
    .on_tick = on_tick,
    .on_drain = on_drain};

static void on_timer(struct loop_timer *timer)
{
    struct poll *p = CONTAINER_OF(timer, struct poll, timer);
    if (loop_now_ms(p->loop) >= p->end_ms)
        give_up(p);
    else
        run_again(p);
}

static void start_timer(struct poll *p, uint64_t wait_ms)
{
    p->end_ms = loop_now_ms(p->loop) + wait_ms;
    loop_timer_start(p->loop, &p->timer, on_timer, wait_ms, 0);
}

/* The next answer is computed after wake_ms, unless the waiting time is over before. */
static void set_timer(struct poll *p, uint64_t wake_ms)
{
    uint64_t now_ms = loop_now_ms(p->loop);
    uint64_t left_ms = p->end_ms > now_ms ? p->end_ms - now_ms : 0;
    loop_timer_again(&p->timer, wake_ms > 0 && wake_ms < left_ms ? wake_ms : left_ms);
}

bool poll_wait(struct poll *p, struct loop *loop, uint64_t wait_ms, uint64_t wake_ms)
{
    if (p->finished || watchers_are_draining(p->watchers))
        return false;
    if (!p->started) {
        p->started = true;
        p->loop = loop;
        p->watch.ops = &ops;
        watch_add(p->watchers, &p->watch);
        start_timer(p, wait_ms);
        p->again = true;
    }
    set_timer(p, wake_ms);
    if (p->again) {
        p->again = false;
        run_again(p);
    }
    return true;
}

void poll_settle(struct poll *p)
{
    if (!p->started)
        return;
    watch_remove(p->watchers, &p->watch);
    loop_timer_stop(&p->timer);
}

static void on_timer_closed(struct loop_timer *timer)
{
    struct poll *p = CONTAINER_OF(timer, struct poll, timer);
    p->closed(p);
}

void poll_finish(struct poll *p)
{
    if (!p->started) {
        p->closed(p);
        return;
    }
    watch_remove(p->watchers, &p->watch);
    loop_timer_close(&p->timer, on_timer_closed);
}
