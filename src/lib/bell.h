/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a thread of the caller waits for the hub: it sleeps until something was committed that its
 * interest names, until its time is over, or until it is stopped. Registered before the first look
 * into the store, it rings for whatever that look does not see. One thread waits; any thread stops.
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
    /* Unless NULL, told by bell_wait of each event of the topic that does not matter, in order, as
     * long as nothing came before it that does. Set before the first bell_wait. */
    void (*pass_over)(struct bell *b, const struct event *event);
    struct bell *next; /* of the cairn that has it */
};

enum bell_news {
    BELL_SILENT, /* the time is over, or it was stopped */
    BELL_RANG,   /* the store has something new, or may have */
    BELL_ASK,    /* the same, and what was read before must not be given: ask the store again */
    BELL_ACCESS_ENDED,
};

#define BELL_FOREVER INT64_MAX

/* The interest's strings must outlive the bell. */
void bell_init(struct bell *b, struct hub *hub, const struct interest *interest);
/* Lets go of the hub; it can still be stopped and waited for, and stays silent. */
void bell_detach(struct bell *b);
void bell_deinit(struct bell *b);

void bell_stop(struct bell *b);
bool bell_is_stopped(struct bell *b);
/* By the steady clock; a time that is over: only looks. */
enum bell_news bell_wait(struct bell *b, int64_t until_us);

#endif
