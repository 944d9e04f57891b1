/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/hash.h"
#include "store/params.h"
#include "store/sqlite.h"

void sequence_cache_init(struct sequence_cache *cache)
{
    *cache = (struct sequence_cache){0};
    cache->slots = mem_zalloc(SEQUENCE_SLOTS * sizeof(struct sequence_slot));
}

void sequence_cache_deinit(struct sequence_cache *cache)
{
    mem_free(cache->slots);
    *cache = (struct sequence_cache){0};
}

void sequence_cache_clear(struct sequence_cache *cache)
{
    memset(cache->slots, 0, SEQUENCE_SLOTS * sizeof(struct sequence_slot));
    cache->n_used = 0;
    cache->is_settled = false;
}

void sequence_cache_job_starts(struct sequence_cache *cache)
{
    cache->n_touched = 0;
    cache->touched_overflow = false;
    cache->settles = false;
}

static bool slot_is(const struct sequence_slot *slot, const struct sql_statement *load,
    struct uuid tenant_id, struct uuid key)
{
    return slot->load == load && uuid_eq(slot->key, key) && uuid_eq(slot->tenant_id, tenant_id);
}

/* Returns the slot of the counter, or the free slot for it. */
static struct sequence_slot *find_slot(struct sequence_cache *cache,
    const struct sql_statement *load, struct uuid tenant_id, struct uuid key)
{
    size_t at = hash_bytes(key.bytes, sizeof key.bytes) % SEQUENCE_SLOTS;
    while (cache->slots[at].load != NULL && !slot_is(&cache->slots[at], load, tenant_id, key))
        at = (at + 1) % SEQUENCE_SLOTS;
    return &cache->slots[at];
}

/* The value of a slot in the chain that the next use must load again. */
static const uint64_t UNKNOWN = UINT64_MAX;

void sequence_cache_job_failed(struct sequence_cache *cache)
{
    if (cache->settles)
        cache->is_settled = false;
    if (cache->touched_overflow) {
        sequence_cache_clear(cache);
        return;
    }
    for (size_t i = 0; i < cache->n_touched; i++) {
        const struct sequence_slot *t = &cache->touched[i];
        struct sequence_slot *slot = find_slot(cache, t->load, t->tenant_id, t->key);
        if (slot->load != NULL)
            slot->last = UNKNOWN;
    }
}

static void touch(struct sequence_cache *cache, const struct sequence_slot *slot)
{
    for (size_t i = 0; i < cache->n_touched; i++)
        if (slot_is(&cache->touched[i], slot->load, slot->tenant_id, slot->key))
            return;
    if (cache->n_touched == SEQUENCE_MAX_TOUCHED)
        cache->touched_overflow = true;
    else
        cache->touched[cache->n_touched++] = *slot;
}

static enum error load_last(struct tx *tx, const struct sequence *sequence,
    const struct sql_statement *load, uint64_t *out_last)
{
    struct arena unused = ARENA_INIT(0);
    bool found = false;
    struct query q;
    query_begin(&q, tx, load, &unused);
    query_uuid(&q, tenant_id, sequence->tenant_id);
    query_uuid(&q, key, sequence->key);
    while (query_next(&q)) {
        *out_last = (uint64_t)row_i64(&q);
        found = true;
    }
    TRY(query_end(&q));
    return !found ? ERR_NOT_FOUND : OK;
}

enum error sqlite_sequence_take(
    struct tx *tx, const struct sequence *sequence, uint64_t count, uint64_t *out_first)
{
    struct sqlite_connection *c = tx->connection;
    struct sequence_cache *cache = &c->store->sequences;
    if (cache->n_used > SEQUENCE_SLOTS / 2)
        sequence_cache_clear(cache);
    struct sequence_slot *slot =
        find_slot(cache, sequence->load, sequence->tenant_id, sequence->key);
    bool must_load = slot->load == NULL || slot->last == UNKNOWN;
    if (must_load) {
        uint64_t last = 0;
        bool is_unused = slot->load == NULL && cache->is_settled;
        TRY(load_last(tx, sequence,
            is_unused && sequence->load_settled != NULL ? sequence->load_settled : sequence->load,
            &last));
        if (slot->load == NULL)
            cache->n_used++;
        *slot = (struct sequence_slot){sequence->tenant_id, sequence->key, sequence->load, last};
    }
    /* A loaded value may include rows of the running job. */
    if (must_load || count > 0)
        touch(cache, slot);
    *out_first = slot->last + 1;
    slot->last += count;
    return OK;
}

/* An unknown value is loaded again, even after the job that dropped it has failed. */
void sqlite_sequence_drop(struct tx *tx, const struct sequence *sequence)
{
    struct sqlite_connection *c = tx->connection;
    struct sequence_cache *cache = &c->store->sequences;
    if (!uuid_is_nil(sequence->key)) {
        struct sequence_slot *slot =
            find_slot(cache, sequence->load, sequence->tenant_id, sequence->key);
        if (slot->load != NULL)
            slot->last = UNKNOWN;
        return;
    }
    for (size_t i = 0; i < SEQUENCE_SLOTS; i++)
        if (cache->slots[i].load != NULL && uuid_eq(cache->slots[i].tenant_id, sequence->tenant_id))
            cache->slots[i].last = UNKNOWN;
}

void sqlite_sequence_settle(struct tx *tx)
{
    struct sqlite_connection *c = tx->connection;
    c->store->sequences.is_settled = c->store->sequences.settles = true;
}
