/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/sweep.h"

#include "model/agents/agents.h"
#include "model/agents/used_versions.h"
#include "model/checkpoints/item_bytes.h"
#include "model/checkpoints/snapshot_collect.h"
#include "model/execution/awaited_tools.h"
#include "model/files/file_uploads.h"
#include "model/memory/memory_items.h"
#include "model/tenancy/deletions.h"
#include "model/tenancy/idempotency.h"
#include "model/tenancy/tenants.h"
#include "model/tenancy/tickets.h"
#include "model/threads/event_index.h"
#include "model/threads/events.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"
#include "model/upkeep/imports.h"
#include "model/upkeep/sweep.sql.h"

enum {
    LEASES_A_PASS = 100,
    OVERDUE_A_PASS = 100,
    TOOLS_A_PASS = 100,
    THREADS_A_PASS = 200, /* most of them need no work */
    DELETIONS_A_PASS = 4,
    GARBAGE_A_PASS = 4,
    SILENT_A_PASS = 100,
    TICKETS_A_PASS = 1000,
    UPLOADS_A_PASS = 32,
    REBASES_A_PASS = 16,
    IMPORTS_A_PASS = 4,
    LEFTOVERS_A_PASS = 8,
    AGENTS_A_PASS = 8,
    ITEMS_A_PASS = LEASES_A_PASS + OVERDUE_A_PASS + TOOLS_A_PASS + THREADS_A_PASS +
                   DELETIONS_A_PASS + GARBAGE_A_PASS + SILENT_A_PASS + UPLOADS_A_PASS +
                   SWEEP_CONTENT_A_PASS + REBASES_A_PASS + IMPORTS_A_PASS + LEFTOVERS_A_PASS +
                   AGENTS_A_PASS + 8,
};

/* Lists and queues are in the order of ids: new ids must be greater than all stored ones, also if
 * the clock was set back while no server ran. */
static enum error resume_ids(struct context *c)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SWEEP_NEWEST_IDS, c->arena);
    while (query_next(&q))
        for (int column = 0; column < 4; column++)
            uuid_v7_resume(row_uuid(&q));
    return query_end(&q);
}

enum error model_prepare(struct context *c)
{
    TRY(tenant_ensure_default(c));
    context_enter_system(c);
    TRY(resume_ids(c));
    TRY(participant_bound_online(c));
    if (!tx_is_shared(c->tx))
        TRY(import_fail_all(c));
    TRY(quota_count_missing(c));
    return run_renew_leases(c);
}

/* --- Due work ------------------------------------------------------------------------------- */

static void add(struct sweep_list *list, enum sweep_kind kind, struct uuid tenant, struct uuid id)
{
    list->items[list->count++] = (struct sweep_item){kind, tenant, id, NULL};
}

static enum error try_lock(struct context *c, bool *out_locked)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_SWEEP_LOCK, c->arena);
    *out_locked = query_next(&q) && row_bool(&q);
    return query_end(&q);
}

/* Adds up to `limit` objects that the function finds. */
static enum error list_found(struct context *c, struct sweep_list *list, enum sweep_kind kind,
    size_t limit, enum error (*find)(struct context *, size_t, struct owned_id *, size_t *))
{
    struct owned_id *found = ARENA_ARRAY(c->arena, struct owned_id, limit);
    size_t n = 0;
    TRY(find(c, limit, found, &n));
    for (size_t i = 0; i < n; i++)
        add(list, kind, found[i].tenant_id, found[i].id);
    list->more = list->more || n == limit;
    return OK;
}

static enum error list_silent(struct context *c, struct sweep_list *list)
{
    struct owned_id *silent = ARENA_ARRAY(c->arena, struct owned_id, SILENT_A_PASS);
    size_t n = 0;
    TRY(participant_list_silent(c, SILENT_A_PASS, silent, &n));
    for (size_t i = 0; i < n; i++)
        add(list, SWEEP_ONLINE, silent[i].tenant_id, silent[i].id);
    return OK;
}

/* Walks over the threads with an age limit in a circle, some in each pass. */
static enum error list_aged(
    struct context *c, const struct sweep_position *from, struct sweep_list *list)
{
    struct sweep_position last = {0};
    size_t n = 0;
    struct query q;
    query_begin(&q, c->tx, &SQL_SWEEP_AGED_THREADS, c->arena);
    query_uuid(&q, after_tenant, from->tenant_id);
    query_uuid(&q, after_id, from->thread_id);
    query_i64(&q, now, context_cautious_now_us(c));
    query_i64(&q, limit, THREADS_A_PASS);
    for (; query_next(&q); n++) {
        last.tenant_id = row_uuid(&q);
        last.thread_id = row_uuid(&q);
        if (row_bool(&q))
            add(list, SWEEP_AGED, last.tenant_id, last.thread_id);
    }
    bool more = n == THREADS_A_PASS;
    list->next = more ? last : (struct sweep_position){0};
    list->more = list->more || more;
    return query_end(&q);
}

/* While a tenant imports, it has items to which its snapshots do not refer yet. */
static enum error list_doubtful(struct context *c, struct sweep_list *list)
{
    struct uuid tenant_id = UUID_NIL;
    bool waits = true;
    while (waits) {
        TRY(item_next_doubtful(c, tenant_id, &tenant_id));
        waits = false;
        if (!uuid_is_nil(tenant_id))
            TRY(import_is_adding(c, tenant_id, &waits));
    }
    if (!uuid_is_nil(tenant_id))
        add(list, SWEEP_ITEMS, tenant_id, UUID_NIL);
    return OK;
}

/* The items of one tenant and the snapshots of one thread in each pass. */
static enum error list_snapshots(struct context *c, struct sweep_list *list)
{
    struct owned_id due[REBASES_A_PASS];
    struct uuid tenant_id = UUID_NIL, thread_id = UUID_NIL;
    size_t n = 0;
    TRY(snapshot_first_garbage(c, &tenant_id, &thread_id));
    if (!uuid_is_nil(thread_id))
        add(list, SWEEP_DROPPED, tenant_id, thread_id);
    TRY(list_doubtful(c, list));
    if (!tx_is_full(c->tx))
        TRY(snapshot_list_rebase(c, REBASES_A_PASS, due, &n));
    for (size_t i = 0; i < n; i++)
        add(list, SWEEP_REBASE, due[i].tenant_id, due[i].id);
    list->more = list->more || n > 0; /* a pass does a limited number: there may be more */
    return OK;
}

/* One tenant in each pass. */
static enum error list_unpacked(
    struct context *c, const struct sweep_position *from, struct sweep_list *list)
{
    struct uuid tenant_id = UUID_NIL;
    enum error e = item_next_to_pack(c, from->packed_id, &tenant_id);
    list->next.packed_id = tenant_id;
    if (e == OK && !uuid_is_nil(tenant_id))
        add(list, SWEEP_PACK, tenant_id, UUID_NIL);
    return e;
}

static enum error list_answers(struct context *c, struct sweep_list *list)
{
    bool any = false;
    TRY(idempotency_any_old(c, &any));
    if (any)
        add(list, SWEEP_ANSWERS, UUID_NIL, UUID_NIL);
    return OK;
}

static enum error list_tickets(struct context *c, struct sweep_list *list)
{
    bool any = false;
    TRY(ticket_any_expired(c, context_cautious_now_us(c), &any));
    if (any)
        add(list, SWEEP_TICKETS, UUID_NIL, UUID_NIL);
    return OK;
}

/* Messages that were added in bulk, or with many words; one thread in each pass. */
static enum error list_words(struct context *c, struct sweep_list *list)
{
    struct uuid tenant_id, thread_id;
    bool found = false;
    TRY(message_find_unsearchable(c, &found, &tenant_id, &thread_id));
    if (found)
        add(list, SWEEP_WORDS, tenant_id, thread_id);
    list->more = list->more || found;
    return OK;
}

/* One tenant in each pass. */
static enum error list_store_expired(struct context *c, struct sweep_list *list)
{
    struct uuid tenant_id;
    bool found = false;
    enum error e = memory_find_expired(c, context_cautious_now_us(c), &found, &tenant_id);
    if (e == OK && found)
        add(list, SWEEP_EXPIRED, tenant_id, UUID_NIL);
    list->more = list->more || found;
    return e;
}

static enum error list_store_words(struct context *c, struct sweep_list *list)
{
    struct uuid tenant_id;
    bool found = false;
    TRY(memory_find_unsearchable(c, &found, &tenant_id));
    if (found)
        add(list, SWEEP_STORED, tenant_id, UUID_NIL);
    list->more = list->more || found;
    return OK;
}

enum error sweep_list(
    struct context *c, const struct sweep_position *from, struct sweep_list *out_list)
{
    bool locked = false;
    *out_list = (struct sweep_list){
        .items = ARENA_ARRAY(c->arena, struct sweep_item, ITEMS_A_PASS), .next = *from};
    context_enter_system(c);
    TRY(try_lock(c, &locked));
    if (!locked)
        return OK;
    if (!tx_is_full(c->tx))
        TRY(event_index_recent(c));
    /* Ending a lease needs disk space. With a full disk no worker could claim the run either. */
    if (!tx_is_full(c->tx))
        TRY(list_found(c, out_list, SWEEP_LEASE, LEASES_A_PASS, run_list_expired));
    if (!tx_is_full(c->tx))
        TRY(list_found(c, out_list, SWEEP_OVERDUE, OVERDUE_A_PASS, run_list_overdue));
    if (!tx_is_full(c->tx))
        TRY(list_found(c, out_list, SWEEP_TOOLS, TOOLS_A_PASS, awaited_tools_list_overdue));
    if (!tx_is_full(c->tx))
        TRY(list_silent(c, out_list));
    if (!tx_is_full(c->tx))
        TRY(list_words(c, out_list));
    if (!tx_is_full(c->tx))
        TRY(list_store_words(c, out_list));
    TRY(list_store_expired(c, out_list));
    TRY(list_tickets(c, out_list));
    TRY(list_aged(c, from, out_list));
    TRY(list_found(c, out_list, SWEEP_DELETION, DELETIONS_A_PASS, deletion_list));
    TRY(list_found(c, out_list, SWEEP_GARBAGE, GARBAGE_A_PASS, event_list_garbage));
    TRY(list_found(c, out_list, SWEEP_UPLOAD, UPLOADS_A_PASS, file_upload_list_expired));
    TRY(list_found(c, out_list, SWEEP_IMPORT, IMPORTS_A_PASS, import_list_due));
    TRY(list_found(c, out_list, SWEEP_CONTENT, SWEEP_CONTENT_A_PASS, blob_list_doubtful));
    TRY(list_found(c, out_list, SWEEP_LEFTOVER, LEFTOVERS_A_PASS, snapshot_list_leftovers));
    TRY(list_found(c, out_list, SWEEP_VERSIONS, AGENTS_A_PASS, used_version_list_deleted));
    TRY(list_snapshots(c, out_list));
    if (!tx_is_full(c->tx))
        TRY(list_unpacked(c, from, out_list));
    return list_answers(c, out_list);
}

/* --- Doing it ------------------------------------------------------------------------------- */

static enum error prune_aged(struct context *c, struct uuid thread_id)
{
    struct thread thread;
    int64_t pruned;
    enum error e = thread_get_head(c, thread_id, &thread);
    if (e == ERR_NOT_FOUND)
        return OK;
    if (e != OK || !thread.has_event_max_age_s)
        return e;
    int64_t oldest_us = context_cautious_now_us(c) - thread.event_max_age_s * 1000000;
    return event_prune_older(c, thread_id, oldest_us, &pruned);
}

/* Continues a deletion, unless another job has completed it. */
static enum error delete_some(
    struct context *c, const struct sweep_item *item, struct sweep_report *report)
{
    bool is_tenant = uuid_eq(item->id, item->tenant_id), more = false;
    enum error e =
        is_tenant ? tenant_delete_some(c, item->id, &more) : thread_delete_some(c, item->id, &more);
    if (e == ERR_NOT_FOUND && !is_tenant)
        e = agent_delete_some(c, item->id, &more);
    report->more = report->more || more;
    return e == ERR_NOT_FOUND ? OK : e;
}

static enum error settle_content(
    struct context *c, const struct sweep_item *item, struct sweep_report *report)
{
    bool unused;
    TRY(blob_settle(c, item->id, &unused));
    if (unused)
        report->unused[report->n_unused++] = (struct owned_id){item->tenant_id, item->id};
    return OK;
}

/* The lock of the tenant excludes that an import begins meanwhile. */
static enum error settle_items(struct context *c, bool *out_more)
{
    bool is_adding = false;
    TRY(context_lock_tenant(c));
    TRY(import_is_adding(c, c->tenant_id, &is_adding));
    *out_more = false;
    return is_adding ? OK : item_settle(c, out_more);
}

/* An import does not add a version again that is about to be deleted. */
static enum error settle_versions(struct context *c, struct uuid agent_id, bool *out_more)
{
    bool is_adding = false;
    TRY(context_lock_tenant(c));
    TRY(import_is_adding(c, c->tenant_id, &is_adding));
    *out_more = false;
    return is_adding ? OK : used_version_settle(c, agent_id, out_more);
}

enum error sweep_prepare(
    struct context *c, const struct sweep_item *item, struct item_packing *packing)
{
    context_enter(c, item->tenant_id);
    return item_packing_read(c, packing);
}

static enum error pack(struct context *c, const struct sweep_item *item, bool *out_more)
{
    CLEANUP(item_packing_deinit) struct item_packing own = {0};
    if (item->packing != NULL)
        return item_packing_store(c, item->packing, out_more);
    TRY(item_packing_read(c, &own));
    item_packing_compute(&own);
    return item_packing_store(c, &own, out_more);
}

static enum error do_item(
    struct context *c, const struct sweep_item *item, struct sweep_report *report)
{
    bool locked = false;
    c->actor = ACTOR_SYSTEM;
    c->indexed_words = 0; /* an item must not wait for another one */
    context_enter_system(c);
    TRY(try_lock(c, &locked));
    if (!locked)
        return OK;
    if (item->kind != SWEEP_ANSWERS && item->kind != SWEEP_TICKETS)
        context_enter(c, item->tenant_id);
    switch (item->kind) {
    case SWEEP_LEASE:
        return run_end_lease(c, item->id);
    case SWEEP_OVERDUE:
        return run_end_overdue(c, item->id);
    case SWEEP_TOOLS:
        return awaited_tools_end_overdue(c, item->id);
    case SWEEP_AGED:
        return prune_aged(c, item->id);
    case SWEEP_ONLINE:
        return participant_end_online(c, item->id);
    case SWEEP_DELETION:
        return delete_some(c, item, report);
    case SWEEP_GARBAGE:
        return event_collect_garbage(c, item->id, &report->more);
    case SWEEP_WORDS:
        return message_make_searchable(c, item->id, &report->more);
    case SWEEP_UPLOAD:
        return file_upload_expire(c, item->id);
    case SWEEP_CONTENT:
        return settle_content(c, item, report);
    case SWEEP_ITEMS:
        return settle_items(c, &report->more);
    case SWEEP_IMPORT:
        return import_sweep(c, item->id, &report->more);
    case SWEEP_DROPPED:
        return snapshot_collect_garbage(c, item->id, &report->more);
    case SWEEP_LEFTOVER:
        return snapshot_collect_leftover(c, item->id, &report->more);
    case SWEEP_VERSIONS:
        return settle_versions(c, item->id, &report->more);
    case SWEEP_PACK:
        return pack(c, item, &report->more);
    case SWEEP_REBASE:
        return snapshot_rebase(c, item->id);
    case SWEEP_EXPIRED:
        return memory_expire_some(c, context_cautious_now_us(c));
    case SWEEP_STORED:
        return memory_make_searchable(c, &report->more);
    case SWEEP_TICKETS:
        return ticket_sweep(c, context_cautious_now_us(c), TICKETS_A_PASS, &report->more);
    case SWEEP_ANSWERS:
        break;
    }
    return idempotency_sweep(c, &report->more);
}

enum error sweep_do(
    struct context *c, const struct sweep_item *item, struct sweep_report *out_report)
{
    *out_report = (struct sweep_report){0};
    return do_item(c, item, out_report);
}

enum error model_sweep(
    struct context *c, struct sweep_position *position, struct sweep_report *out_report)
{
    struct sweep_list list;
    *out_report = (struct sweep_report){0};
    TRY(sweep_list(c, position, &list));
    bool more = list.more;
    for (size_t i = 0; i < list.count; i++) {
        out_report->more = false;
        TRY(do_item(c, &list.items[i], out_report));
        more = more || out_report->more;
    }
    out_report->more = more;
    *position = list.next;
    return OK;
}
