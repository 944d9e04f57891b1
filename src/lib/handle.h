/* SPDX-License-Identifier: Apache-2.0 */
/* What is behind a public `cairn`: the instance, who is inside a call, and who waits. */
#ifndef LIB_HANDLE_H
#define LIB_HANDLE_H

#include "cairn/cairn.h"
#include "lib/bell.h"
#include "lib/instance.h"

struct cairn {
    struct instance instance;
    pthread_mutex_t mutex;
    pthread_cond_t left; /* somebody has left */
    bool closing;
    size_t n_inside;
    unsigned refs;      /* the program's, and one a subscription */
    struct bell *bells; /* to be stopped when it closes */
};

/* Between these the store is open and the handle is there: the first and the last thing that a
 * public function does with it. False: it closes, and what holds no reference may touch nothing of
 * it any more. */
MUST_CHECK bool handle_enter(cairn *c);
void handle_leave(cairn *c);
/* For subscriptions, which may outlive cairn_close. */
void handle_ref(cairn *c);
void handle_unref(cairn *c);

/* While inside: begins to listen. One that comes late is stopped at once. */
void handle_add_bell(cairn *c, struct bell *b, const struct interest *interest);
/* Any time: deinits it. */
void handle_remove_bell(cairn *c, struct bell *b);

#endif
