/* SPDX-License-Identifier: Apache-2.0 */
/* The public type `cairn`: the instance, the calls in progress, and the waiting threads. */
#ifndef LIB_HANDLE_H
#define LIB_HANDLE_H

#include "cairn/cairn.h"
#include "lib/bell.h"
#include "lib/instance.h"

struct cairn {
    struct instance instance;
    pthread_mutex_t mutex;
    pthread_cond_t left; /* a call has ended */
    bool closing;
    size_t n_inside;
    unsigned refs;      /* one of the program, and one of each subscription */
    struct bell *bells; /* stopped by the close */
};

/* Every public function begins with handle_enter and ends with handle_leave; in between the store
 * is open and the handle exists. handle_enter returns false if the handle is closing; a caller
 * without a reference must then not use the handle any more. */
MUST_CHECK bool handle_enter(cairn *c);
void handle_leave(cairn *c);
/* For subscriptions, which may outlive cairn_close. */
void handle_ref(cairn *c);
void handle_unref(cairn *c);

/* Between enter and leave: registers the bell. If the handle is closing, the bell is stopped at
 * once. */
void handle_add_bell(cairn *c, struct bell *b, const struct interest *interest);
/* At any time: unregisters and deinitializes the bell. */
void handle_remove_bell(cairn *c, struct bell *b);

#endif
