/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/events.h"

#include "base/alloc.h"
#include "base/json/json_write.h"
#include "model/threads/event_index.h"
#include "model/threads/events.sql.h"
#include "model/threads/threads.h"

/* --- Kinds ---------------------------------------------------------------------------------- */

ENUM_DEFINE(event_kinds, EVENT_KINDS);

/* The namespaces of kinds that only Cairn appends. */
static const char *const RESERVED[] = {"cairn", "thread", "run", "message", "participant", "file",
    "assistant", "conversation", "gap", "turn", "steps", "checkpoint", "tool", "resumption",
    "history", NULL};

static bool is_kind_byte(char b)
{
    return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_' || b == '-';
}

/* Returns true for "vendor.name": parts of lower-case letters, digits, '_' and '-'. */
static bool is_application_kind(struct str kind)
{
    size_t parts = 0;
    struct str rest = kind, part;
    while (str_next_part(&rest, '.', &part)) {
        if (part.len == 0)
            return false;
        for (size_t i = 0; i < part.len; i++)
            if (!is_kind_byte(part.ptr[i]))
                return false;
        parts++;
    }
    return parts >= 2 && kind.len <= EVENT_KIND_MAX_BYTES;
}

bool event_kind_is_known(struct str kind)
{
    return event_kind_is_plain(kind) || is_application_kind(kind);
}

bool event_kind_is_plain(struct str kind)
{
    return !str_has_byte(kind, '.') && event_kind_parse(kind) != EVENT_KIND_NONE;
}

bool event_kind_is_free(struct str kind)
{
    enum event_kind parsed = event_kind_parse(kind);
    return parsed == EVENT_PROGRESS || parsed == EVENT_WARNING;
}

bool event_kind_is_reserved(struct str kind)
{
    return enum_parse(RESERVED, str_slice(kind, 0, str_find(kind, '.'))) != 0;
}

/* "final.x", which a client that matches by prefix could take for "final". */
static bool begins_like_a_status(struct str kind)
{
    struct str first = str_slice(kind, 0, str_find(kind, '.'));
    return event_kind_is_plain(first) && !event_kind_is_free(first);
}

enum error event_check_kind(struct context *c, struct str kind, struct str pointer)
{
    if (event_kind_is_free(kind))
        return OK;
    if (event_kind_is_plain(kind))
        return problem_fault(c->problem, pointer,
            "must not be %.*s, which only Cairn appends: change the status of the run or thread",
            STR_ARG(kind));
    if (!is_application_kind(kind))
        return problem_fault(c->problem, pointer,
            "must be progress, warning, or an application kind such as acme.tool_call "
            "(lower-case parts joined by dots, at most %d bytes)",
            EVENT_KIND_MAX_BYTES);
    if (event_kind_is_reserved(kind) || begins_like_a_status(kind))
        return problem_fault(c->problem, pointer,
            "must not begin with \"%.*s.\", which is reserved by Cairn",
            STR_ARG(str_slice(kind, 0, str_find(kind, '.'))));
    return OK;
}

/* --- Append --------------------------------------------------------------------------------- */

static void destroy_item(struct hub_item *item)
{
    mem_free(CONTAINER_OF(item, struct event_item, item));
}

static struct str pack(char **place, struct str s)
{
    if (str_is_none(s))
        return s;
    if (s.len > 0)
        memcpy(*place, s.ptr, s.len);
    struct str packed = {*place, s.len};
    *place += s.len;
    return packed;
}

struct hub_item *event_item_create(struct uuid tenant_id, const struct event *event)
{
    size_t size =
        sizeof(struct event_item) + event->kind.len + event->text.len + event->payload.len;
    struct event_item *item = mem_alloc(size);
    hub_item_init(&item->item, tenant_id, event->thread_id, size, destroy_item);
    item->item.is_read = true;
    item->event = *event;
    char *place = item->strings;
    item->event.kind = pack(&place, event->kind);
    item->event.text = pack(&place, event->text);
    item->event.payload = pack(&place, event->payload);
    return &item->item;
}

static void destroy_notice(struct hub_item *item)
{
    mem_free(item);
}

struct hub_item *event_access_ended_create(struct uuid tenant_id, struct uuid id)
{
    struct hub_item *item = MEM_NEW(struct hub_item);
    hub_item_init(item, tenant_id, id, sizeof *item, destroy_notice);
    item->type = ITEM_ACCESS_ENDED;
    return item;
}

void event_publish_access_ended(struct context *c, struct uuid tenant_id, struct uuid id)
{
    tx_publish(c->tx, event_access_ended_create(tenant_id, id));
}

/* The bits of the column `marks` (0002_nodes.sql). */
enum { MARK_FREES_RUN = EVENT_MARK_FREES_RUN, MARK_IS_LAST = 2, MARK_ENDS_ACCESS = 4 };

static int64_t marks_of(const struct event *event)
{
    return (event->frees_run ? MARK_FREES_RUN : 0) | (event->is_last ? MARK_IS_LAST : 0) |
           (event->ends_access ? MARK_ENDS_ACCESS : 0);
}

static void bind_content(struct query *q, const struct event *event)
{
    query_uuid_if(q, run_id, event->has_run_id, event->run_id);
    query_text(q, kind, event->kind);
    query_text(q, text, event->text);
    query_text(q, payload, event->payload);
    query_i64(q, marks, marks_of(event));
}

static enum error insert(struct context *c, const struct event *event)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_INSERT);
    query_i64(&q, id, event->id);
    query_uuid(&q, thread_id, event->thread_id);
    query_i64(&q, seq, event->seq);
    query_i64(&q, now, event->created_at);
    bind_content(&q, event);
    return query_run(&q);
}

static struct sequence seqs_of(struct uuid tenant_id, struct uuid thread_id)
{
    return (struct sequence){.load = &SQL_EVENT_LAST_SEQ,
        .load_settled = &SQL_EVENT_LAST_SEQ_INDEXED,
        .tenant_id = tenant_id,
        .key = thread_id};
}

void event_forget_thread(struct context *c, struct uuid thread_id)
{
    const struct sequence seqs = seqs_of(c->tenant_id, thread_id);
    tx_sequence_drop(c->tx, &seqs);
}

void event_forget_tenant(struct context *c, struct uuid tenant_id)
{
    const struct sequence all = seqs_of(tenant_id, UUID_NIL);
    tx_sequence_drop(c->tx, &all);
}

static uint64_t bytes_of(const struct event *events, size_t n)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += events[i].text.len + events[i].payload.len;
    return bytes;
}

static enum error append_alone(
    struct context *c, struct uuid thread_id, struct event *events, size_t n)
{
    const struct sequence seqs = seqs_of(c->tenant_id, thread_id);
    uint64_t seq, id;
    enum error e = tx_sequence_take(c->tx, &seqs, n, &seq);
    if (e == ERR_NOT_FOUND)
        return context_not_found(c, "thread", thread_id);
    if (e == OK)
        e = tx_sequence_take(c->tx, &event_ids, n, &id);
    for (size_t i = 0; e == OK && i < n; i++) {
        events[i].thread_id = thread_id;
        events[i].seq = (int64_t)(seq + i);
        events[i].id = (int64_t)(id + i);
        events[i].created_at = c->now_us;
        e = insert(c, &events[i]);
        if (e == OK)
            tx_publish(c->tx, event_item_create(c->tenant_id, &events[i]));
    }
    return e == OK ? event_index_if_due(c, (int64_t)(id + n - 1), bytes_of(events, n)) : e;
}

static void write_member(struct json_writer *w, const char *name, struct str text)
{
    if (str_is_none(text))
        return;
    json_write_key(w, str_of(name));
    json_write_string(w, text);
}

static void write_event(struct json_writer *w, const struct event *event)
{
    char run_id[UUID_TEXT_LEN];
    json_write_object(w);
    if (event->has_run_id) {
        uuid_format(event->run_id, run_id);
        write_member(w, "run_id", (struct str){run_id, sizeof run_id});
    }
    write_member(w, "kind", event->kind);
    write_member(w, "text", event->text);
    if (!str_is_none(event->payload)) {
        json_write_key(w, STR("payload"));
        json_write_raw(w, event->payload);
    }
    json_write_key(w, STR("marks"));
    json_write_i64(w, marks_of(event));
    json_write_end(w);
}

static struct str encode_events(struct arena *arena, const struct event *events, size_t n)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++)
        write_event(&text.w, &events[i]);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

/* The statement itself takes the numbers, with the row of the thread locked. */
static void begin_append(
    struct context *c, struct query *q, struct uuid thread_id, const struct event *events, size_t n)
{
    tx_once(c->tx, &SQL_EVENT_REGISTER);
    tx_notify(c->tx);
    context_query(c, q, n == 1 ? &SQL_EVENT_APPEND_ONE : &SQL_EVENT_APPEND_ALL);
    query_uuid(q, thread_id, thread_id);
    query_i64(q, now, c->now_us);
    if (n == 1) {
        bind_content(q, &events[0]);
    } else {
        query_i64(q, count, (int64_t)n);
        query_text(q, events, encode_events(c->arena, events, n));
    }
}

enum error event_append_begin(struct context *c, struct uuid thread_id, struct event *events,
    size_t n, struct event_append *out_append)
{
    *out_append = (struct event_append){.thread_id = thread_id, .events = events, .n = n};
    TRY(quota_count_events(c, thread_id, n));
    if (!tx_is_shared(c->tx))
        return append_alone(c, thread_id, events, n);
    begin_append(c, &out_append->query, thread_id, events, n);
    query_send(&out_append->query);
    return OK;
}

enum error event_append_end(struct context *c, struct event_append *append)
{
    struct query *q = &append->query;
    size_t count = 0;
    if (!tx_is_shared(c->tx))
        return OK;
    while (count < append->n && query_next(q)) {
        struct event *event = &append->events[count++];
        event->id = row_i64(q);
        event->seq = row_i64(q);
        event->thread_id = append->thread_id;
        event->created_at = c->now_us;
    }
    TRY(query_end(q));
    return count < append->n ? context_not_found(c, "thread", append->thread_id) : OK;
}

enum error event_append(struct context *c, struct uuid thread_id, struct event *events, size_t n)
{
    struct event_append append;
    TRY(event_append_begin(c, thread_id, events, n, &append));
    return event_append_end(c, &append);
}

enum error event_emit(struct context *c, struct uuid thread_id, struct event *event)
{
    TRY(quota_count_events(c, thread_id, 1));
    if (!tx_is_shared(c->tx))
        return append_alone(c, thread_id, event, 1);
    struct query q;
    begin_append(c, &q, thread_id, event, 1);
    return query_run(&q);
}

enum error event_take_id(struct context *c, bool *out_has, int64_t *out_id)
{
    uint64_t id;
    *out_has = !tx_is_shared(c->tx);
    if (!*out_has) {
        tx_once(c->tx, &SQL_EVENT_REGISTER);
        tx_notify(c->tx);
        return OK;
    }
    *out_id = 0;
    TRY(tx_sequence_take(c->tx, &event_ids, 1, &id));
    *out_id = (int64_t)id;
    return event_index_if_due(c, *out_id - 1, 0);
}

/* No box has room for it, so that every subscriber sees an overflow and reads from the store. */
void event_publish_many(struct context *c)
{
    struct hub_item *item = MEM_NEW(struct hub_item);
    hub_item_init(item, c->tenant_id, UUID_NIL, HUB_ITEM_TOO_LARGE, destroy_notice);
    item->is_read = true;
    tx_publish(c->tx, item);
}

/* --- Read ----------------------------------------------------------------------------------- */

void event_read_row(struct query *q, struct event *out)
{
    event_read(q, out);
    int64_t marks = row_i64(q);
    out->frees_run = (marks & MARK_FREES_RUN) != 0;
    out->is_last = (marks & MARK_IS_LAST) != 0;
    out->ends_access = (marks & MARK_ENDS_ACCESS) != 0;
}

enum error event_horizon(struct context *c, int64_t *out_horizon)
{
    if (c->horizon == 0) {
        struct query q;
        query_begin(&q, c->tx, &SQL_EVENT_HORIZON, c->arena);
        while (query_next(&q)) {
            c->horizon = row_i64(&q);
            c->last_event_id = row_i64(&q);
            c->server_began_us = row_i64(&q);
        }
        TRY(query_end(&q));
        /* The horizon never moves back: a transaction that registers late may report a smaller id,
         * but settled ids remain settled, and a reader must not be behind the tail. */
        c->horizon = tx_settled(c->tx, c->server_began_us, c->horizon);
        /* Each statement of a WRITE job has a snapshot of its own. */
        if (!tx_is_shared(c->tx))
            tx_refresh(c->tx);
    }
    *out_horizon = c->horizon;
    return OK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool event_is_wanted(const struct event_filter *filter, const struct event *event)
{
    if (filter->has_run_id && !(event->has_run_id && uuid_eq(event->run_id, filter->run_id)))
        return false;
    return str_is_none(filter->kind) || str_eq(filter->kind, event->kind);
}

enum error event_scan_end(struct context *c, const struct event_filter *filter, int64_t after,
    int64_t last, int64_t *out_end)
{
    bool filtered = filter->has_run_id || !str_is_none(filter->kind) ||
                    (!filter->has_thread_id && !str_is_none(c->principal));
    *out_end = last;
    if (!filtered || last - after <= EVENT_SCAN_MAX)
        return OK;
    if (filter->has_thread_id) {
        *out_end = after + EVENT_SCAN_MAX;
        return OK;
    }
    /* The ids of a tenant have gaps: other tenants use the same sequence. */
    struct query q;
    context_query(c, &q, &SQL_EVENT_SCAN_TENANT);
    query_i64(&q, after, after);
    query_i64(&q, count, EVENT_SCAN_MAX - 1);
    while (query_next(&q))
        *out_end = least(row_i64(&q), last);
    return query_end(&q);
}

enum error event_list(struct context *c, const struct event_filter *filter, int64_t after,
    struct page *page, struct event *out_events)
{
    struct query q;
    int64_t through = filter->through > 0 ? filter->through : INT64_MAX, horizon = INT64_MAX;
    if (!filter->has_thread_id)
        TRY(event_horizon(c, &horizon));
    page->max_bytes = filter->page_bytes > 0 ? filter->page_bytes : EVENT_PAGE_MAX_BYTES;
    page_begin(c, &q, filter->has_thread_id ? &SQL_EVENT_LIST : &SQL_EVENT_LIST_TENANT, page);
    if (filter->has_thread_id)
        query_uuid(&q, thread_id, filter->thread_id);
    else
        query_text(&q, principal, c->principal);
    query_i64(&q, after, after);
    query_i64(&q, through, least(through, horizon));
    query_uuid_if(&q, run_id, filter->has_run_id, filter->run_id);
    query_text(&q, kind, filter->kind);
    while (page_next(&q, page))
        event_read_row(&q, &out_events[page->count++]);
    return query_end(&q);
}

/* Reads the bounds and ends the query. Events past the horizon are not readable yet. In the log of
 * the tenant, positions are ids. */
static enum error read_bounds(struct query *q, bool of_thread, int64_t horizon,
    struct event_bounds *out_bounds, bool *out_found)
{
    *out_found = query_next(q);
    if (*out_found) {
        out_bounds->newest = row_i64(q);
        out_bounds->last = least(out_bounds->newest, horizon);
        out_bounds->pruned = least(row_i64(q), horizon);
        out_bounds->pruned_id = of_thread ? row_i64(q) : out_bounds->pruned;
    }
    return query_end(q);
}

static enum error thread_bounds(
    struct context *c, struct uuid thread_id, struct event_bounds *out_bounds)
{
    struct query q;
    bool found;
    context_query(c, &q, &SQL_EVENT_BOUNDS);
    query_uuid(&q, thread_id, thread_id);
    TRY(read_bounds(&q, true, INT64_MAX, out_bounds, &found));
    return !found ? context_not_found(c, "thread", thread_id) : OK;
}

static enum error tenant_bounds(struct context *c, int64_t horizon, struct event_bounds *out_bounds)
{
    struct query q;
    bool found;
    context_query(c, &q, &SQL_EVENT_BOUNDS_TENANT);
    TRY(read_bounds(&q, false, horizon, out_bounds, &found));
    return !found ? context_not_found(c, "tenant", c->tenant_id) : OK;
}

enum error event_bounds(
    struct context *c, const struct event_filter *filter, struct event_bounds *out_bounds)
{
    if (filter->has_thread_id)
        return thread_bounds(c, filter->thread_id, out_bounds);
    int64_t horizon;
    TRY(event_horizon(c, &horizon));
    return tenant_bounds(c, horizon, out_bounds);
}

enum error event_next_seq(struct context *c, struct uuid thread_id, int64_t *out_seq)
{
    const struct sequence seqs = seqs_of(c->tenant_id, thread_id);
    struct event_bounds bounds;
    uint64_t seq;
    if (tx_is_shared(c->tx)) {
        TRY(thread_bounds(c, thread_id, &bounds));
        *out_seq = bounds.last + 1;
        return OK;
    }
    TRY(tx_sequence_take(c->tx, &seqs, 0, &seq));
    *out_seq = (int64_t)seq;
    return OK;
}

enum error event_seq_at_id(struct context *c, struct uuid thread_id, int64_t id, int64_t *out_seq)
{
    struct event_bounds bounds = {0};
    struct thread thread;
    struct query q;
    int64_t seq;
    /* An event of a thread may be visible although it is past the horizon. */
    TRY(tenant_bounds(c, INT64_MAX, &bounds));
    TRY(thread_get_head(c, thread_id, &thread));
    if (id > bounds.last)
        return ERR_BAD_CURSOR;
    context_query(c, &q, &SQL_EVENT_SEQ_AT_ID);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, id, id);
    TRY(context_number(&q, &seq));
    /* A cursor at or after the last pruned event has missed no event. */
    *out_seq = seq < thread.pruned_seq && id >= thread.pruned_event_id ? thread.pruned_seq : seq;
    return OK;
}
