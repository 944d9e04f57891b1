/* SPDX-License-Identifier: Apache-2.0 */
#include "net/deadlines.h"

static void ring_init(struct deadline *head)
{
    head->prev = head->next = head;
}

static void unlink_from_ring(struct deadline *d)
{
    d->prev->next = d->next;
    d->next->prev = d->prev;
    d->prev = d->next = NULL;
}

void deadlines_init(struct deadlines *wheel, uint64_t now_ms)
{
    for (size_t i = 0; i < DEADLINES_SLOTS; i++)
        ring_init(&wheel->slots[i]);
    wheel->tick = now_ms / DEADLINES_TICK_MS;
    wheel->count = 0;
}

void deadlines_catch_up(struct deadlines *wheel, uint64_t now_ms)
{
    assert(wheel->count == 0);
    wheel->tick = now_ms / DEADLINES_TICK_MS;
}

/* A deadline beyond the wheel's range is put into the last slot and checked again there. */
static void file(struct deadlines *wheel, struct deadline *d)
{
    uint64_t tick = d->at_ms / DEADLINES_TICK_MS + 1;
    if (tick <= wheel->tick)
        tick = wheel->tick + 1;
    if (tick >= wheel->tick + DEADLINES_SLOTS)
        tick = wheel->tick + DEADLINES_SLOTS - 1;
    d->filed_tick = tick;
    struct deadline *head = &wheel->slots[tick % DEADLINES_SLOTS];
    d->prev = head->prev;
    d->next = head;
    head->prev->next = d;
    head->prev = d;
}

void deadline_clear(struct deadlines *wheel, struct deadline *d)
{
    if (d->next == NULL)
        return;
    unlink_from_ring(d);
    wheel->count--;
}

void deadline_set(struct deadlines *wheel, struct deadline *d, uint64_t at_ms)
{
    d->at_ms = at_ms;
    if (at_ms == DEADLINE_NEVER)
        return;
    if (d->next != NULL && at_ms / DEADLINES_TICK_MS + 1 >= d->filed_tick)
        return;
    if (d->next != NULL)
        unlink_from_ring(d);
    else
        wheel->count++;
    file(wheel, d);
}

/* Moves the slot to a ring of its own, because on_due may change any slot. */
static void serve_slot(struct deadlines *wheel, uint64_t now_ms, void (*on_due)(struct deadline *d))
{
    struct deadline *slot = &wheel->slots[wheel->tick % DEADLINES_SLOTS];
    if (slot->next == slot)
        return;
    struct deadline ring = *slot;
    ring.next->prev = ring.prev->next = &ring;
    ring_init(slot);
    while (ring.next != &ring) {
        struct deadline *d = ring.next;
        unlink_from_ring(d);
        if (d->at_ms > now_ms && d->at_ms != DEADLINE_NEVER) {
            file(wheel, d);
            continue;
        }
        wheel->count--;
        if (d->at_ms <= now_ms)
            on_due(d);
    }
}

void deadlines_serve(struct deadlines *wheel, uint64_t now_ms, void (*on_due)(struct deadline *d))
{
    uint64_t now_tick = now_ms / DEADLINES_TICK_MS;
    /* After a long sleep, one turn of the wheel serves all slots. */
    if (now_tick > wheel->tick + DEADLINES_SLOTS)
        wheel->tick = now_tick - DEADLINES_SLOTS;
    while (wheel->tick < now_tick) {
        wheel->tick++;
        serve_slot(wheel, now_ms, on_due);
    }
}
