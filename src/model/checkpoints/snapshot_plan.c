/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/snapshot_plan.h"

#include "model/checkpoints/items.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/rehearsal.h"
#include "model/tenancy/deletions.h"

enum plan_state {
    PLAN_WHOLE,  /* not stored: few items */
    PLAN_AHEAD,  /* being stored in slices */
    PLAN_STORED, /* the job may adopt the snapshot */
    PLAN_VOID,   /* a slice failed, or the sweep has deleted what was stored */
};

struct snapshot_plan {
    struct snapshot_inputs inputs;
    struct snapshot_row row;
    struct piece *items; /* with their texts, sorted by hash */
    size_t n;
    enum plan_state state;
    size_t next; /* the first item that no committed slice has stored */
    size_t slice_end;
};

/* --- Making it ------------------------------------------------------------------------------- */

static int by_hash(const void *a, const void *b)
{
    return memcmp(((const struct piece *)a)->at, ((const struct piece *)b)->at, SHA256_LEN);
}

static size_t bytes_of(const struct manifest_named *named)
{
    size_t bytes = 0;
    for (size_t i = 0; i < named->n; i++)
        bytes += named->pieces[i]->len;
    return bytes;
}

/* An item that is only known by its hash may be deleted before the plan is used. */
static bool has_texts(const struct manifest_named *named)
{
    for (size_t i = 0; i < named->n; i++)
        if (named->pieces[i]->text == NULL)
            return false;
    return true;
}

static struct piece copy_of(struct arena *arena, const struct piece *piece)
{
    struct piece copy = *piece;
    copy.at = arena_str(arena, (struct str){piece->at, SHA256_LEN}).ptr;
    copy.text = arena_str(arena, (struct str){piece->text, piece->len}).ptr;
    return copy;
}

void snapshot_plan_make(struct context *c, const struct snapshot_inputs *inputs,
    const struct snapshot_row *row, const struct manifest_named *named)
{
    struct rehearsal *r = c->rehearsal;
    size_t bytes = bytes_of(named);
    bool has_key = rehearsal_has_text(r, inputs->key);
    if (!has_texts(named) ||
        !rehearsal_reserve(r, (has_key ? 0 : inputs->key.len) + row->manifest.len + bytes +
                                  named->n * (sizeof(struct piece) + SHA256_LEN)))
        return;
    struct snapshot_plan *plan = ARENA_NEW(&r->arena, struct snapshot_plan);
    plan->inputs = (struct snapshot_inputs){
        inputs->thread_id, has_key ? inputs->key : arena_str(&r->arena, inputs->key)};
    plan->row = *row;
    plan->row.manifest = arena_str(&r->arena, row->manifest);
    plan->items = ARENA_ARRAY(&r->arena, struct piece, named->n + 1);
    plan->n = named->n;
    for (size_t i = 0; i < named->n; i++)
        plan->items[i] = copy_of(&r->arena, named->pieces[i]);
    qsort(plan->items, plan->n, sizeof plan->items[0], by_hash);
    bool is_small = plan->n <= SNAPSHOT_PLAN_ITEMS_AT_ONCE && bytes <= SNAPSHOT_PLAN_BYTES_AT_ONCE;
    plan->state = is_small ? PLAN_WHOLE : PLAN_AHEAD;
    r->plan = plan;
}

/* The references of a dropped base may be incomplete: no snapshot may build on it any more. */
static enum error is_base_dropped(struct context *c, const struct snapshot_plan *plan, bool *out_is)
{
    *out_is = false;
    return plan->row.has_base ? snapshot_is_dropped(c, plan->row.base_id, out_is) : OK;
}

/* --- Slices ---------------------------------------------------------------------------------- */

static enum error refer(
    struct context *c, const struct snapshot_plan *plan, size_t first, size_t count)
{
    struct manifest_named named = {.arena = c->arena};
    for (size_t i = 0; i < count; i++)
        manifest_name(&named, &plan->items[first + i]);
    return item_refer(c, plan->row.snapshot.id, &named);
}

static enum error begin_slice(struct context *c, struct snapshot_plan *plan, bool *out_is_void)
{
    int64_t due = c->lease_now_us + (int64_t)SNAPSHOT_PLAN_LEASE_S * 1000000;
    *out_is_void = false;
    if (plan->next > 0)
        return snapshot_leftover_renew(c, plan->row.snapshot.id, due, out_is_void);
    TRY(is_base_dropped(c, plan, out_is_void));
    if (*out_is_void)
        return OK;
    plan->row.is_dropped = true;
    TRY(snapshot_insert(c, &plan->row));
    return snapshot_leftover_add(c, plan->row.snapshot.id, due);
}

enum error snapshot_plan_store_some(struct context *c, struct snapshot_plan *plan)
{
    struct slice slice = slice_begin(0);
    size_t at = plan->next, bytes = 0;
    bool is_void;
    TRY(begin_slice(c, plan, &is_void));
    if (is_void)
        return problem_set(
            c->problem, ERR_CANCELLED, "the stored items, or the base, were deleted");
    size_t end =
        at + SNAPSHOT_PLAN_ITEMS_AT_ONCE < plan->n ? at + SNAPSHOT_PLAN_ITEMS_AT_ONCE : plan->n;
    /* Each slice stores something: the next one continues behind it, and begins no second time. */
    while (at < end && bytes < SNAPSHOT_PLAN_BYTES_AT_ONCE &&
           (at == plan->next || !slice_is_over(&slice))) {
        size_t count = 0;
        for (; count < SLICE_CHUNK_ROWS && at + count < end && bytes < SNAPSHOT_PLAN_BYTES_AT_ONCE;
             count++)
            bytes += plan->items[at + count].len;
        TRY(refer(c, plan, at, count));
        at += count;
    }
    plan->slice_end = at;
    return OK;
}

bool snapshot_plan_is_ahead(const struct snapshot_plan *plan)
{
    return plan != NULL && plan->state == PLAN_AHEAD;
}

bool snapshot_plan_needs_more(struct snapshot_plan *plan, enum error result)
{
    if (plan->state != PLAN_AHEAD)
        return false;
    if (result != OK)
        plan->state = PLAN_VOID;
    else if (plan->slice_end == plan->n)
        plan->state = PLAN_STORED;
    plan->next = plan->slice_end;
    return plan->state == PLAN_AHEAD;
}

/* --- Using it -------------------------------------------------------------------------------- */

static enum error store_whole(struct context *c, struct snapshot_plan *plan, bool *out_done)
{
    bool is_dropped;
    TRY(is_base_dropped(c, plan, &is_dropped));
    *out_done = !is_dropped;
    if (is_dropped)
        return OK;
    TRY(snapshot_insert(c, &plan->row));
    return plan->n > 0 ? refer(c, plan, 0, plan->n) : OK;
}

static bool is_same_key(struct str a, struct str b)
{
    return (a.ptr == b.ptr && a.len == b.len) || str_eq(a, b);
}

enum error snapshot_plan_use(struct context *c, const struct snapshot_inputs *inputs,
    bool *out_done, struct snapshot *out_snapshot)
{
    struct snapshot_plan *plan = c->rehearsal != NULL ? c->rehearsal->plan : NULL;
    *out_done = false;
    if (plan == NULL || c->rehearsal->plan_is_used ||
        !uuid_eq(plan->inputs.thread_id, inputs->thread_id) ||
        !is_same_key(plan->inputs.key, inputs->key))
        return OK;
    if (plan->state == PLAN_WHOLE)
        TRY(store_whole(c, plan, out_done));
    if (plan->state == PLAN_STORED)
        TRY(snapshot_leftover_adopt(c, plan->row.snapshot.id, out_done));
    if (*out_done)
        *out_snapshot = plan->row.snapshot;
    c->rehearsal->plan_is_used = *out_done;
    return OK;
}
