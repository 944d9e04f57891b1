/* SPDX-License-Identifier: Apache-2.0 */
/* Long polls: a call that found nothing runs again at each event of interest, until its time is
 * over. A call that knows when its answer may change runs again at that time, too. */
#ifndef API_HTTP_POLL_H
#define API_HTTP_POLL_H

#include "api/http/interest.h"
#include "api/http/watch.h"

struct poll {
    struct watch watch;
    struct watchers *watchers;
    struct loop *loop;
    struct loop_timer timer;
    uint64_t end_ms; /* the end of the waiting time, on the clock of the loop */
    bool started;    /* registered, timer running */
    bool running;    /* the call is in the store; the owner clears this */
    bool again;      /* an event arrived while it was running */
    bool finished;   /* no more waiting: the next answer is final */
    uint64_t due_ms; /* the next run of an interest with by_time */
    struct interest interest;
    void (*rerun)(struct poll *p);
    void (*closed)(struct poll *p); /* the timer is closed: the memory may be freed */
};

/* Call after an empty answer. Returns true if the call waits. The first time, registers the watch
 * and runs the call once more, because an event may have arrived in between. Without an event the
 * call runs again after wake_ms; 0: not before the end of wait_ms. */
bool poll_wait(struct poll *p, struct loop *loop, uint64_t wait_ms, uint64_t wake_ms);
/* Call before the answer is sent: from now on the call does not run again. */
void poll_settle(struct poll *p);
/* Unregisters. `closed` is called on a later turn of the loop. */
void poll_finish(struct poll *p);

#endif
