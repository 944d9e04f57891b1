/* SPDX-License-Identifier: Apache-2.0 */
#include "api/threads/event_page.h"

#include "api/execution/memoria.h"
#include "model/tenancy/keys.h"

/* --- The subscriber ------------------------------------------------------------------------ */

void subscriber_copy(struct subscriber *to, const struct subscriber *from)
{
    *to = *from;
    if (!str_is_none(to->filter.kind))
        to->filter.kind.ptr = to->kind;
    if (!str_is_none(to->principal))
        to->principal.ptr = to->principal_text;
}

static void keep_principal(struct subscriber *s, struct str principal)
{
    s->principal = principal;
    if (str_is_none(principal))
        return;
    memcpy(s->principal_text, principal.ptr, principal.len);
    s->principal.ptr = s->principal_text;
}

void subscriber_init(struct subscriber *s, const struct call *call)
{
    const struct event_admission *a = call->answer.stream;
    *s = (struct subscriber){.tenant_id = call->caller.tenant_id,
        .has_key = call->caller.has_key,
        .key_id = call->caller.key_id,
        .has_expiry = call->caller.has_expiry,
        .expires_at = call->caller.expires_at,
        .memoria = a->memoria,
        .filter = a->filter,
        .cursor = a->cursor,
        .last_id = a->cursor_id};
    s->filter.page_bytes = EVENT_PAGE_BYTES;
    keep_principal(s, call->caller.principal);
    if (str_is_none(a->filter.kind))
        return;
    memcpy(s->kind, a->filter.kind.ptr, a->filter.kind.len);
    s->filter.kind.ptr = s->kind;
}

struct str subscriber_cursor_text(const struct subscriber *s, struct arena *arena)
{
    struct event_cursor cursor = s->cursor;
    if (s->memoria)
        cursor = (struct event_cursor){.position = s->last_id};
    return event_cursor_text(arena, cursor);
}

bool subscriber_hears(const struct subscriber *s, const struct event *event)
{
    return event_is_wanted(&s->filter, event) && (!s->memoria || memoria_event_is_shown(event));
}

bool subscriber_must_ask(const struct subscriber *s, const struct event *event)
{
    return event->ends_access && !str_is_none(s->principal);
}

bool subscriber_always_reads(const struct subscriber *s)
{
    return !str_is_none(s->principal) && !s->filter.has_thread_id;
}

bool subscriber_is_present(const struct subscriber *s)
{
    return s->filter.has_thread_id && !str_is_none(s->principal);
}

enum error subscriber_stay_online(const struct subscriber *s, struct tx *tx)
{
    struct arena arena;
    struct problem problem;
    struct context c;
    if (tx_is_full(tx))
        return OK;
    arena_init(&arena, SIZE_MAX);
    problem_init(&problem, &arena);
    context_init(&c, &arena, &problem, tx);
    context_enter(&c, s->tenant_id);
    c.actor = ACTOR_SYSTEM;
    c.principal = s->principal;
    enum error e = participant_stay_online(&c, s->filter.thread_id);
    arena_deinit(&arena);
    return e;
}

int64_t subscriber_position_of(const struct subscriber *s, const struct event *event)
{
    return s->filter.has_thread_id ? event->seq : event->id;
}

void subscriber_advance(struct subscriber *s, const struct event *event)
{
    s->cursor.position = subscriber_position_of(s, event);
    s->last_id = event->id;
}

bool subscriber_meets_gap(struct subscriber *s, const struct event_page *page)
{
    int64_t pruned = page->bounds.pruned;
    if (s->cursor.position >= pruned || s->cursor.told_gap >= pruned)
        return false;
    if (s->filter.has_thread_id)
        s->cursor.position = pruned;
    if (s->last_id < page->bounds.pruned_id)
        s->last_id = page->bounds.pruned_id;
    s->cursor.told_gap = pruned;
    return true;
}

/* --- The page ------------------------------------------------------------------------------ */

/* The notice that a key was revoked may have been sent before the stream subscribed, or may be lost
 * with others. */
static enum error check_key(const struct subscriber *s, struct context *c)
{
    struct api_key key = {0};
    bool any = false;
    enum error e = s->has_key ? OK : key_any(c, &any);
    context_enter(c, s->tenant_id);
    if (s->has_key)
        e = key_get(c, s->key_id, &key);
    return e == OK && (key.is_revoked || any) ? ERR_UNAUTHENTICATED : e;
}

/* Every page checks again that the principal takes part: the events of the same snapshot were
 * committed while the principal did. The participants of a deleted thread are not known; its stream
 * ends. */
static enum error check_participation(const struct subscriber *s, struct context *c)
{
    c->principal = s->principal;
    if (str_is_none(s->principal) || !s->filter.has_thread_id)
        return OK;
    enum error e = participant_check_access(c, s->filter.thread_id, false);
    if (e != ERR_NOT_FOUND)
        return e;
    struct thread thread;
    e = thread_get_head(c, s->filter.thread_id, &thread);
    return e == OK ? ERR_UNAUTHENTICATED : e;
}

/* Finds where the page begins, and the bounds of the log. A deleted thread still has its last
 * event. */
static enum error find_page(struct event_page *p, struct context *c)
{
    const struct subscriber *s = &p->reader;
    enum error e = event_bounds(c, &s->filter, &p->bounds);
    p->position = s->by_id ? 0 : s->cursor.position;
    p->deleted = e == ERR_NOT_FOUND && s->filter.has_thread_id;
    if (p->deleted)
        return OK;
    if (e == OK && s->by_id)
        e = event_seq_at_id(c, s->filter.thread_id, s->cursor.position, &p->position);
    return e == OK && p->position > p->bounds.newest ? ERR_BAD_CURSOR : e;
}

enum error event_page_read(struct event_page *p, struct context *c)
{
    struct event_filter *filter = &p->reader.filter;
    p->bounds = (struct event_bounds){0};
    filter->through = 0;
    p->events = ARENA_ARRAY(c->arena, struct event, EVENT_PAGE_EVENTS);
    enum error e = check_key(&p->reader, c);
    if (e == OK)
        e = check_participation(&p->reader, c);
    if (e == OK)
        e = find_page(p, c);
    if (e == OK)
        e = event_scan_end(c, filter, p->position, p->bounds.last, &filter->through);
    struct page page = {.limit = EVENT_PAGE_EVENTS};
    if (e == OK)
        e = event_list(c, filter, p->position, &page, p->events);
    p->n_events = page.count;
    p->more = page.more;
    return e;
}

int64_t event_page_looked(const struct event_page *p)
{
    return p->reader.filter.through;
}

bool event_page_has_more(const struct event_page *p)
{
    return p->more || event_page_looked(p) < p->bounds.last;
}

/* --- Answers ------------------------------------------------------------------------------- */

const char *event_page_refusal(enum error e, bool *out_later)
{
    *out_later = false;
    switch (e) {
    case ERR_NOT_FOUND:
        return "deleted";
    case ERR_UNAUTHENTICATED:
        return "access_ended";
    case ERR_BAD_CURSOR:
        return "cursor_ahead";
    default:
        *out_later = true;
        return "unavailable";
    }
}

void event_gap_write(struct json_writer *w, const struct subscriber *s, struct str cursor)
{
    json_write_object(w);
    json_write_key(w, STR("kind"));
    json_write_string(w, STR("gap"));
    json_write_key(w, STR("pruned_through"));
    json_write_i64(w, s->memoria ? s->last_id : s->cursor.told_gap);
    json_write_key(w, STR("cursor"));
    json_write_string(w, cursor);
    json_write_end(w);
}

void event_closed_write(struct json_writer *w, const char *reason, struct str cursor)
{
    json_write_object(w);
    json_write_key(w, STR("reason"));
    json_write_string(w, str_of(reason));
    json_write_key(w, STR("cursor"));
    json_write_string(w, cursor);
    json_write_end(w);
}
