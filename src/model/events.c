#include "model/events.h"

#include "base/memory.h"
#include "model/statements.h"
#include "model/threads.h"

/* --- Kinds ---------------------------------------------------------------------------------- */

static const struct str PLAIN_KINDS[] = {
    {"progress", 8}, {"status", 6}, {"warning", 7}, {"error", 5}, {"final", 5}};

/* Namespaces in which Cairn itself speaks. */
static const struct str RESERVED[] = {{"cairn", 5}, {"thread", 6}, {"run", 3}, {"message", 7},
    {"participant", 11}, {"file", 4}, {"assistant", 9}, {"conversation", 12}, {"gap", 3}};

static bool is_kind_byte(char b)
{
    return (b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '_' || b == '-';
}

/* vendor.name, in parts of lower-case letters, digits, '_' and '-'. */
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

enum error event_check_kind(struct context *c, struct str kind, struct str pointer)
{
    for (size_t i = 0; i < COUNT_OF(PLAIN_KINDS); i++)
        if (str_eq(kind, PLAIN_KINDS[i]))
            return OK;
    if (!is_application_kind(kind))
        return problem_fault(c->problem, pointer,
            "must be progress, status, warning, error, final, or an application kind such as "
            "acme.tool_call (lower-case parts joined by dots, at most %d bytes)",
            EVENT_KIND_MAX_BYTES);
    struct str space = str_slice(kind, 0, str_find(kind, '.'));
    for (size_t i = 0; i < COUNT_OF(RESERVED); i++)
        if (str_eq(space, RESERVED[i]))
            return problem_fault(
                c->problem, pointer, "the kinds under \"%.*s.\" are Cairn's own", STR_ARG(space));
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

static void publish(struct context *c, const struct event *event)
{
    size_t size =
        sizeof(struct event_item) + event->kind.len + event->text.len + event->payload.len;
    struct event_item *item = mem_alloc(size);
    hub_item_init(&item->item, c->tenant_id, event->thread_id, size, destroy_item);
    item->event = *event;
    char *place = item->strings;
    item->event.kind = pack(&place, event->kind);
    item->event.text = pack(&place, event->text);
    item->event.payload = pack(&place, event->payload);
    tx_publish(c->tx, &item->item);
}

static void destroy_notice(struct hub_item *item)
{
    mem_free(item);
}

void event_publish_access_ended(struct context *c, struct uuid tenant_id, struct uuid id)
{
    struct hub_item *item = MEM_NEW(struct hub_item);
    hub_item_init(item, tenant_id, id, sizeof *item, destroy_notice);
    item->type = ITEM_ACCESS_ENDED;
    tx_publish(c->tx, item);
}

static enum error insert(struct context *c, const struct event *event)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_INSERT);
    query_i64(&q, "id", event->id);
    query_uuid(&q, "thread_id", event->thread_id);
    query_i64(&q, "seq", event->seq);
    query_uuid_if(&q, "run_id", event->has_run_id, event->run_id);
    query_text(&q, "kind", event->kind);
    query_text(&q, "text", event->text);
    query_text(&q, "payload", event->payload);
    query_i64(&q, "now", event->created_at);
    return query_run(&q);
}

enum error event_append(struct context *c, struct uuid thread_id, struct event *events, size_t n)
{
    const struct sequence seqs = {
        &SQL_EVENT_LAST_SEQ, &SQL_EVENT_ADVANCE_SEQ, c->tenant_id, thread_id};
    const struct sequence ids = {&SQL_EVENT_LAST_ID, &SQL_EVENT_ADVANCE_ID, UUID_NIL, UUID_NIL};
    uint64_t seq, id;
    enum error e = tx_sequence_take(c->tx, &seqs, n, &seq);
    if (e == OK)
        e = tx_sequence_take(c->tx, &ids, n, &id);
    for (size_t i = 0; e == OK && i < n; i++) {
        events[i].thread_id = thread_id;
        events[i].seq = (int64_t)(seq + i);
        events[i].id = (int64_t)(id + i);
        events[i].created_at = c->now_us;
        e = insert(c, &events[i]);
        if (e == OK)
            publish(c, &events[i]);
    }
    return e;
}

/* --- Read ----------------------------------------------------------------------------------- */

static void read_row(struct query *q, struct event *out)
{
    out->id = row_i64(q);
    out->thread_id = row_uuid(q);
    out->seq = row_i64(q);
    out->has_run_id = row_uuid_if(q, &out->run_id);
    out->kind = row_text(q);
    out->text = row_text(q);
    out->payload = row_text(q);
    out->created_at = row_i64(q);
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
    bool filtered = filter->has_run_id || !str_is_none(filter->kind);
    *out_end = last;
    if (!filtered || last - after <= EVENT_SCAN_MAX)
        return OK;
    if (filter->has_thread_id) {
        *out_end = after + EVENT_SCAN_MAX;
        return OK;
    }
    /* Between the ids of one tenant lie those of the others. */
    struct query q;
    context_query(c, &q, &SQL_EVENT_SCAN_TENANT);
    query_i64(&q, "after", after);
    query_i64(&q, "count", EVENT_SCAN_MAX - 1);
    while (query_next(&q))
        *out_end = row_i64(&q);
    return query_end(&q);
}

enum error event_list(struct context *c, const struct event_filter *filter, int64_t after,
    size_t limit, struct event *out_events, size_t *out_count, bool *out_more)
{
    struct query q;
    context_query(c, &q, filter->has_thread_id ? &SQL_EVENT_LIST : &SQL_EVENT_LIST_TENANT);
    if (filter->has_thread_id)
        query_uuid(&q, "thread_id", filter->thread_id);
    query_i64(&q, "after", after);
    query_i64(&q, "through", filter->through > 0 ? filter->through : INT64_MAX);
    query_uuid_if(&q, "run_id", filter->has_run_id, filter->run_id);
    query_text(&q, "kind", filter->kind);
    query_i64(&q, "limit", (int64_t)limit + 1);
    size_t max_bytes = filter->page_bytes > 0 ? filter->page_bytes : EVENT_PAGE_MAX_BYTES;
    size_t count = 0, bytes = 0;
    *out_more = false;
    while (query_next(&q)) {
        if (count == limit || bytes > max_bytes) {
            *out_more = true;
            break;
        }
        struct event *event = &out_events[count++];
        read_row(&q, event);
        bytes += event->text.len + event->payload.len;
    }
    *out_count = count;
    return query_end(&q);
}

enum error event_bounds(
    struct context *c, const struct event_filter *filter, struct event_bounds *out_bounds)
{
    struct query q;
    context_query(c, &q, filter->has_thread_id ? &SQL_EVENT_BOUNDS : &SQL_EVENT_BOUNDS_TENANT);
    if (filter->has_thread_id)
        query_uuid(&q, "thread_id", filter->thread_id);
    bool found = query_next(&q);
    if (found) {
        out_bounds->last = row_i64(&q);
        out_bounds->pruned = row_i64(&q);
    }
    enum error e = query_end(&q);
    return e == OK && !found ? context_not_found(c, "thread", filter->thread_id) : e;
}

static enum error one_number(struct query *q, int64_t *out_number)
{
    *out_number = 0;
    while (query_next(q))
        *out_number = row_i64(q);
    return query_end(q);
}

enum error event_seq_at_id(struct context *c, struct uuid thread_id, int64_t id, int64_t *out_seq)
{
    const struct event_filter tenant = {.kind = STR_NONE};
    struct event_bounds bounds;
    struct thread thread;
    struct query q;
    int64_t seq;
    enum error e = event_bounds(c, &tenant, &bounds);
    if (e == OK)
        e = thread_get_head(c, thread_id, &thread);
    if (e != OK)
        return e;
    if (id > bounds.last)
        return ERR_BAD_CURSOR;
    context_query(c, &q, &SQL_EVENT_SEQ_AT_ID);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "id", id);
    e = one_number(&q, &seq);
    /* Whoever is at or past the last event that was pruned has missed none. */
    if (e == OK)
        *out_seq =
            seq < thread.pruned_seq && id >= thread.pruned_event_id ? thread.pruned_seq : seq;
    return e;
}

/* --- Prune ---------------------------------------------------------------------------------- */

enum error event_raise_floor(struct context *c, int64_t id)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_EVENT_RAISE_FLOOR, c->arena);
    query_i64(&q, "id", id);
    return query_run(&q);
}

/* Notes, before the rows go, how far the thread, the tenant and the ids had come. */
static enum error mark_pruned(
    struct context *c, struct uuid thread_id, int64_t through, int64_t last)
{
    struct query q;
    int64_t max_id;
    context_query(c, &q, &SQL_EVENT_MAX_ID_THROUGH);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "through", through);
    enum error e = one_number(&q, &max_id);
    if (e == OK)
        e = event_raise_floor(c, max_id);
    if (e != OK)
        return e;
    context_query(c, &q, &SQL_EVENT_MARK_PRUNED_TENANT);
    query_i64(&q, "id", max_id);
    e = query_run(&q);
    if (e != OK)
        return e;
    context_query(c, &q, &SQL_EVENT_MARK_PRUNED);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "through", through);
    query_i64(&q, "last", last);
    query_i64(&q, "id", max_id);
    return query_run(&q);
}

enum { GARBAGE_SLICE = 500, GARBAGE_THREADS = 4 };

static enum error first_garbage(struct context *c, struct uuid thread_id, int64_t *out_first)
{
    struct query q;
    bool tenant = uuid_is_nil(thread_id);
    context_query(c, &q, tenant ? &SQL_EVENT_FIRST_ID : &SQL_EVENT_FIRST_SEQ);
    if (!tenant)
        query_uuid(&q, "thread_id", thread_id);
    return one_number(&q, out_first);
}

static enum error delete_through(struct context *c, struct uuid thread_id, int64_t through)
{
    struct query q;
    bool tenant = uuid_is_nil(thread_id);
    context_query(c, &q, tenant ? &SQL_EVENT_DELETE_THROUGH_ID : &SQL_EVENT_DELETE_THROUGH);
    if (!tenant)
        query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "through", through);
    return query_run(&q);
}

/* Deletes a slice of what was pruned of one thread; out_more: it was not all. */
static enum error collect(struct context *c, struct uuid thread_id, int64_t through, bool *out_more)
{
    int64_t first = 0;
    enum error e = first_garbage(c, thread_id, &first);
    int64_t end = first > 0 ? first + GARBAGE_SLICE - 1 : through;
    *out_more = end < through;
    if (e == OK)
        e = delete_through(c, thread_id, *out_more ? end : through);
    if (e != OK || *out_more)
        return e;
    struct query q;
    context_query(c, &q, &SQL_EVENT_GARBAGE_DROP);
    query_uuid(&q, "thread_id", thread_id);
    return query_run(&q);
}

static enum error add_garbage(struct context *c, struct uuid thread_id, int64_t through)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_GARBAGE_ADD);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "through", through);
    return query_run(&q);
}

enum error event_discard_tenant(struct context *c, struct uuid tenant_id, int64_t through_id)
{
    struct context theirs = *c;
    bool more;
    theirs.tenant_id = tenant_id;
    enum error e = add_garbage(&theirs, UUID_NIL, through_id);
    return e == OK ? collect(&theirs, UUID_NIL, through_id, &more) : e;
}

enum error event_sweep_garbage(struct context *c, bool *out_more)
{
    struct {
        struct uuid tenant_id, thread_id;
        int64_t through;
    } found[GARBAGE_THREADS];
    size_t n = 0;
    struct query q;
    query_begin(&q, c->tx, &SQL_EVENT_GARBAGE_LIST, c->arena);
    query_i64(&q, "limit", GARBAGE_THREADS);
    while (query_next(&q)) {
        found[n].tenant_id = row_uuid(&q);
        found[n].thread_id = row_uuid(&q);
        found[n++].through = row_i64(&q);
    }
    enum error e = query_end(&q);
    *out_more = n == GARBAGE_THREADS;
    for (size_t i = 0; e == OK && i < n; i++) {
        bool more = false;
        c->tenant_id = found[i].tenant_id;
        e = collect(c, found[i].thread_id, found[i].through, &more);
        *out_more = *out_more || more;
    }
    return e;
}

enum error event_prune(
    struct context *c, struct uuid thread_id, int64_t through, int64_t *out_pruned)
{
    struct event_bounds bounds;
    const struct event_filter thread = {
        .has_thread_id = true, .thread_id = thread_id, .kind = STR_NONE};
    enum error e = event_bounds(c, &thread, &bounds);
    if (e != OK)
        return e;
    if (through > bounds.last)
        through = bounds.last;
    *out_pruned = 0;
    if (through <= bounds.pruned)
        return OK;
    e = mark_pruned(c, thread_id, through, bounds.last);
    bool more;
    if (e == OK)
        e = add_garbage(c, thread_id, through);
    if (e == OK)
        e = collect(c, thread_id, through, &more);
    if (e == OK)
        *out_pruned = through - bounds.pruned;
    return e;
}

static enum error time_of(struct context *c, struct uuid thread_id, int64_t seq, int64_t *out_time)
{
    struct query q;
    context_query(c, &q, &SQL_EVENT_TIME_OF);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "seq", seq);
    return one_number(&q, out_time);
}

/* Times rise with the numbers, which have no gaps: the place is found by halving. */
enum error event_prune_older(
    struct context *c, struct uuid thread_id, int64_t before_us, int64_t *out_pruned)
{
    struct thread thread = {0};
    enum error e = thread_get_head(c, thread_id, &thread);
    int64_t low = thread.pruned_seq, high = thread.last_seq;
    while (e == OK && low < high) {
        int64_t middle = low + (high - low + 1) / 2, time = 0;
        e = time_of(c, thread_id, middle, &time);
        if (time < before_us)
            low = middle;
        else
            high = middle - 1;
    }
    return e == OK ? event_prune(c, thread_id, low, out_pruned) : e;
}

enum error event_prune_finished(
    struct context *c, struct uuid thread_id, int64_t keep_from, int64_t *out_pruned)
{
    struct thread thread;
    struct query q;
    int64_t first_kept = 0;
    enum error e = thread_get_head(c, thread_id, &thread);
    if (e != OK)
        return e;
    context_query(c, &q, &SQL_EVENT_FIRST_SEQ_OF_UNFINISHED);
    query_uuid(&q, "thread_id", thread_id);
    query_i64(&q, "after", thread.pruned_seq);
    e = one_number(&q, &first_kept);
    if (first_kept == 0 || first_kept > keep_from)
        first_kept = keep_from;
    return e == OK ? event_prune(c, thread_id, first_kept - 1, out_pruned) : e;
}
