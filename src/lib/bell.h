/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets a thread of the caller wait for the hub: the thread sleeps until an event is committed that
 * matches its interest, until a timeout, or until it is stopped. The bell is registered before the
 * first read from the store, so that it rings for every event that this read does not see. One
 * thread waits; any thread may stop it.
 */
#ifndef LIB_BELL_H
#define LIB_BELL_H

#include "api/http/interest.h"

struct bell {
    struct hub_listener listener;
    struct hub *hub;
    struct interest interest;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    bool woken;
    bool stopped;
    /* Unless NULL, bell_wait calls it for each event of the topic that does not match, in order, as
     * long as no matching event came before. Set it before the first bell_wait. */
    void (*pass_over)(struct bell *b, const struct event *event);
    struct bell *next; /* in the list of the cairn */
};

enum bell_news {
    BELL_SILENT, /* timeout, or stopped */
    BELL_RANG,   /* the store may have a new event */
    BELL_ASK,    /* the same, and earlier reads are invalid: read from the store again */
    BELL_ACCESS_ENDED,
};

#define BELL_FOREVER INT64_MAX

/* The interest's strings must outlive the bell. */
void bell_init(struct bell *b, struct hub *hub, const struct interest *interest);
/* Unregisters from the hub; the bell can still be stopped and waited for, and does not ring. */
void bell_detach(struct bell *b);
void bell_deinit(struct bell *b);

void bell_stop(struct bell *b);
bool bell_is_stopped(struct bell *b);
/* `until_us` is a time of the steady clock; if it has passed, bell_wait does not wait. */
enum bell_news bell_wait(struct bell *b, int64_t until_us);

#endif
