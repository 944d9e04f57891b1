/* SPDX-License-Identifier: Apache-2.0 */
/* Long polls: a call that found nothing runs again when something happens, until its time is up. */
#ifndef API_HTTP_POLL_H
#define API_HTTP_POLL_H

#include "api/http/interest.h"
#include "api/http/watch.h"

struct poll {
    struct watch watch;
    struct watchers *watchers;
    struct loop_timer timer;
    bool started;    /* registered, timer running */
    bool running;    /* the call is in the store; the owner clears it */
    bool again;      /* something happened while it was */
    bool finished;   /* no more waiting: the next answer is final */
    uint64_t due_ms; /* when one that acts by time runs again */
    struct interest interest;
    void (*rerun)(struct poll *p);
    void (*closed)(struct poll *p); /* the timer is gone: the memory may go */
};

/* Whether to wait on: after an empty answer. Registers at the first time, and then asks for one
 * more run at once, because something may have happened in between. */
bool poll_wait(struct poll *p, struct loop *loop, uint64_t wait_ms);
/* Before the answer goes out: nothing makes the call run again from here on. */
void poll_settle(struct poll *p);
/* Unregisters; `closed` follows on a later turn of the loop. */
void poll_finish(struct poll *p);

#endif
