/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadlines of one loop's connections, in a wheel of coarse slots instead of one timer each. A
 * deadline that is postponed or removed stays in its slot and is checked again when the slot is
 * due. So the common case, a later deadline on every request, costs one store. Deadlines are served
 * up to two ticks late, never early. Only the loop's thread uses a wheel.
 */
#ifndef NET_DEADLINES_H
#define NET_DEADLINES_H

#include "base/macros.h"

enum { DEADLINES_TICK_MS = 100, DEADLINES_SLOTS = 256 };

#define DEADLINE_NEVER UINT64_MAX

/* Zeroed: not set. */
struct deadline {
    struct deadline *prev;
    struct deadline *next;
    uint64_t at_ms;
    uint64_t filed_tick;
};

struct deadlines {
    struct deadline slots[DEADLINES_SLOTS]; /* heads of rings */
    uint64_t tick;                          /* the last tick that was served */
    size_t count;
};

void deadlines_init(struct deadlines *wheel, uint64_t now_ms);
/* Advances an empty wheel that was not served for a while. */
void deadlines_catch_up(struct deadlines *wheel, uint64_t now_ms);
/* DEADLINE_NEVER removes the deadline. Clear it before its memory is freed. */
void deadline_set(struct deadlines *wheel, struct deadline *d, uint64_t at_ms);
void deadline_clear(struct deadlines *wheel, struct deadline *d);
/* Clears every deadline that has passed and calls `on_due` for it, which may set and clear any. */
void deadlines_serve(struct deadlines *wheel, uint64_t now_ms, void (*on_due)(struct deadline *d));

#endif
