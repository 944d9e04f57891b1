/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rehearsal.h"

#include <stdatomic.h>

static atomic_size_t all_bytes; /* kept by all rehearsals of the process */

static void forget(struct rehearsal *r)
{
    atomic_fetch_sub(&all_bytes, r->counted_bytes);
    arena_deinit(&r->arena);
    r->counted_bytes = 0;
    r->n_kept = 0;
    r->plan = NULL;
}

void rehearsal_deinit(struct rehearsal *r)
{
    forget(r);
}

void rehearsal_begin(struct rehearsal *r)
{
    forget(r);
    arena_init(&r->arena, SIZE_MAX);
    r->stage = REHEARSAL_RUNNING;
    r->rounds++;
}

/* A rehearsal that kept nothing would keep nothing the next time either. */
void rehearsal_end(struct rehearsal *r)
{
    r->stage = REHEARSAL_NONE;
    if (r->n_kept == 0 && r->plan == NULL)
        r->rounds = REHEARSAL_ROUNDS;
}

bool rehearsal_is_running(const struct context *c)
{
    return c->rehearsal != NULL && c->rehearsal->stage == REHEARSAL_RUNNING;
}

enum error rehearsal_first(struct context *c, size_t size_bytes)
{
    struct rehearsal *r = c->rehearsal;
    if (r == NULL || r->stage == REHEARSAL_RUNNING || size_bytes < REHEARSAL_FROM_BYTES ||
        r->rounds == REHEARSAL_ROUNDS || r->plan_is_used)
        return OK;
    r->stage = REHEARSAL_WANTED;
    return ERR_CANCELLED;
}

bool rehearsal_find(const struct context *c, enum rehearsed what, struct str first,
    struct str second, struct str *out_result)
{
    const struct rehearsal *r = c->rehearsal;
    for (size_t i = 0; r != NULL && i < r->n_kept; i++) {
        const struct rehearsed_result *kept = &r->kept[i];
        if (kept->what == what && str_eq(kept->inputs[0], first) &&
            str_eq(kept->inputs[1], second)) {
            *out_result = kept->result;
            return true;
        }
    }
    return false;
}

bool rehearsal_reserve(struct rehearsal *r, size_t size_bytes)
{
    if (r->counted_bytes + size_bytes > REHEARSAL_MAX_BYTES)
        return false;
    if (atomic_fetch_add(&all_bytes, size_bytes) + size_bytes > REHEARSAL_ALL_MAX_BYTES) {
        atomic_fetch_sub(&all_bytes, size_bytes);
        return false;
    }
    r->counted_bytes += size_bytes;
    return true;
}

bool rehearsal_has_text(const struct rehearsal *r, struct str text)
{
    uintptr_t from = (uintptr_t)r->body.ptr, at = (uintptr_t)text.ptr;
    return r->body.len > 0 && at >= from && at - from <= r->body.len &&
           text.len <= r->body.len - (at - from);
}

void rehearsal_keep(
    struct context *c, enum rehearsed what, struct str first, struct str second, struct str result)
{
    struct rehearsal *r = c->rehearsal;
    if (!rehearsal_is_running(c) || r->n_kept == REHEARSAL_KEPT_MAX ||
        !rehearsal_reserve(r, first.len + second.len + result.len))
        return;
    r->kept[r->n_kept++] = (struct rehearsed_result){what,
        {arena_str(&r->arena, first), arena_str(&r->arena, second)}, arena_str(&r->arena, result)};
}
