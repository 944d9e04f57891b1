/* SPDX-License-Identifier: Apache-2.0 */
#include "model/upkeep/tail.h"

#include "base/clock.h"
#include "base/json/json_write.h"
#include "model/tenancy/keys.h"
#include "model/threads/events.h"
#include "model/threads/events.sql.h"
#include "model/upkeep/tail.sql.h"

/* Revocations are reported for some time, because clocks differ and a listener may start late. */
static const int64_t REVOKED_FOR_US = 5 * 60 * (int64_t)1000000;
static const int64_t ACCESS_EVERY_US = 1000000;

void tail_page_clear(struct tail_page *page)
{
    while (page->first != NULL) {
        struct hub_item *item = page->first;
        page->first = item->next_in_tx;
        hub_item_unref(item);
    }
    *page = (struct tail_page){.end = &page->first};
}

static void add(struct tail_page *page, struct hub_item *item)
{
    item->next_in_tx = NULL;
    *page->end = item;
    page->end = &item->next_in_tx;
}

static struct str encode(struct arena *arena, const struct uuid *tenants, size_t n)
{
    struct json_text text;
    char id[UUID_TEXT_LEN];
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++) {
        uuid_format(tenants[i], id);
        json_write_string(&text.w, (struct str){id, sizeof id});
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error read_events(
    struct context *c, const struct tail *tail, struct str tenants, struct tail_page *page)
{
    struct query q;
    size_t bytes = 0;
    query_begin(&q, c->tx, &SQL_EVENT_TAIL, c->arena);
    query_text(&q, tenants, tenants);
    query_i64(&q, after, tail->position);
    query_i64(&q, through, page->after.position);
    while (bytes < TAIL_PAGE_MAX_BYTES && query_next(&q)) {
        struct event event = {0};
        event_read_row(&q, &event);
        struct hub_item *item = event_item_create(row_uuid(&q), &event);
        add(page, item);
        bytes += item->size_bytes;
        if (bytes >= TAIL_PAGE_MAX_BYTES)
            page->after.position = event.id;
    }
    return query_end(&q);
}

static enum error read_revoked(struct context *c, struct str tenants, struct tail_page *page)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TAIL_REVOKED_KEYS, c->arena);
    query_text(&q, tenants, tenants);
    query_i64(&q, since, c->lease_now_us - REVOKED_FOR_US);
    while (query_next(&q)) {
        struct uuid tenant_id = row_uuid(&q);
        add(page, event_access_ended_create(tenant_id, row_uuid(&q)));
    }
    return query_end(&q);
}

static enum error read_gone(struct context *c, struct str tenants, struct tail_page *page)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TAIL_DELETED_TENANTS, c->arena);
    query_text(&q, tenants, tenants);
    while (query_next(&q)) {
        struct uuid tenant_id = row_uuid(&q);
        add(page, event_access_ended_create(tenant_id, tenant_id));
    }
    return query_end(&q);
}

/* A listener without a key listens to the default tenant. */
static enum error read_first_key(struct context *c, struct tail_page *page)
{
    bool any;
    enum error e = key_any(c, &any);
    context_enter_system(c);
    if (e == OK && any)
        add(page, event_access_ended_create(DEFAULT_TENANT_ID, UUID_NIL));
    return e;
}

static enum error read_access(
    struct context *c, const struct tail *tail, struct str tenants, struct tail_page *page)
{
    if (c->now_us - tail->access_checked_us < ACCESS_EVERY_US &&
        c->now_us >= tail->access_checked_us)
        return OK;
    page->after.access_checked_us = c->now_us;
    TRY(read_revoked(c, tenants, page));
    TRY(read_gone(c, tenants, page));
    return read_first_key(c, page);
}

/* Returns true if the tail must jump to the horizon without publishing the events before it. */
static bool must_leap(const struct context *c, const struct tail *tail, int64_t now_us)
{
    return !tail->has_position || c->server_began_us != tail->server_began_us ||
           c->horizon - tail->position > TAIL_MAX_BEHIND || now_us - tail->told_us > TAIL_LATE_US;
}

static void leap(struct tail *tail, int64_t horizon, int64_t now_us)
{
    tail->has_position = true;
    tail->position = horizon;
    tail->told_us = tail->probed_us = now_us;
    tail->id_at_probe = horizon;
}

static void note_told(struct tail *tail, int64_t last_id, int64_t now_us)
{
    if (tail->position < tail->id_at_probe)
        return;
    tail->told_us = tail->probed_us;
    tail->probed_us = now_us;
    tail->id_at_probe = last_id;
}

enum error tail_read(
    struct context *c, const struct tail *tail, struct hub *hub, struct tail_page *page)
{
    int64_t horizon, now_us = clock_steady_us();
    struct uuid *tenants;
    tail_page_clear(page);
    context_enter_system(c);
    enum error e = event_horizon(c, &horizon);
    if (e != OK)
        return e;
    size_t n = hub_watched(hub, c->arena, &tenants);
    page->after = *tail;
    page->after.server_began_us = c->server_began_us;
    if (n == 0 || must_leap(c, tail, now_us)) {
        page->lost = tail->has_position && n > 0;
        leap(&page->after, horizon, now_us);
    }
    if (n == 0)
        return OK;
    struct str list = encode(c->arena, tenants, n);
    if (horizon > page->after.position) {
        page->after.position =
            horizon - tail->position > TAIL_PAGE_MAX ? tail->position + TAIL_PAGE_MAX : horizon;
        e = read_events(c, tail, list, page);
    }
    page->more = page->after.position < horizon;
    note_told(&page->after, c->last_event_id, now_us);
    return e == OK ? read_access(c, tail, list, page) : e;
}

void tail_publish(struct tail *tail, struct tail_page *page, struct hub *hub)
{
    *tail = page->after;
    if (page->lost)
        hub_lose(hub);
    if (page->first != NULL)
        hub_publish(hub, page->first);
    tail_page_clear(page);
}
