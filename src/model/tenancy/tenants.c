/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tenancy/tenants.h"

#include "base/json/json_write.h"
#include "model/files/blob_doubts.sql.h"
#include "model/tenancy/audit.h"
#include "model/tenancy/deletions.h"
#include "model/tenancy/tenants.sql.h"
#include "model/threads/events.h"
#include "model/threads/threads.h"

static enum error insert(struct context *c, struct uuid id, struct str name, int64_t *out_changed)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_INSERT, c->arena);
    query_uuid(&q, id, id);
    query_text(&q, name, name);
    query_i64(&q, now, c->now_us);
    return query_run_counted(&q, out_changed);
}

enum error tenant_ensure_default(struct context *c)
{
    int64_t changed;
    context_enter(c, DEFAULT_TENANT_ID);
    return insert(c, DEFAULT_TENANT_ID, STR("default"), &changed);
}

/* Jobs that manage tenants see all rows; afterwards an operator's job returns to its own tenant. */
static enum error leave(struct context *c, enum error e)
{
    context_enter(c, c->tenant_id);
    return e;
}

static enum error name_taken(struct context *c, struct str name)
{
    return problem_set(
        c->problem, ERR_CONFLICT, "a tenant with the name \"%.*s\" already exists", STR_ARG(name));
}

/* The detail of an audit record. */
static struct str describe(struct arena *arena, struct str name)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("name"));
    json_write_string(&text.w, name);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static void read_row(struct query *q, struct tenant *out)
{
    tenant_read(q, out);
    quota_limits_read(q, &out->quotas);
}

static enum error get(struct context *c, struct uuid id, struct tenant *out_tenant)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_GET, c->arena);
    query_uuid(&q, id, id);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_tenant);
    TRY(query_end(&q));
    return !found ? context_not_found(c, "tenant", id) : OK;
}

enum error tenant_create(struct context *c, struct str name, struct tenant *out_tenant)
{
    /* The key of another tenant would end access without a key, and no client could use the default
     * tenant any more. */
    if (c->actor == ACTOR_OPEN)
        return problem_set(
            c->problem, ERR_CONFLICT, "create a key with the scope operator first: POST /v1/keys");
    struct uuid id = uuid_v7();
    int64_t changed;
    context_enter_system(c);
    enum error e = context_lock_tenant(c);
    if (e == OK)
        e = insert(c, id, name, &changed);
    if (e == OK && changed == 0)
        e = name_taken(c, name);
    if (e == OK)
        e = audit_record(c, "tenant.created", "tenant", id, describe(c->arena, name));
    if (e == OK)
        e = get(c, id, out_tenant);
    return leave(c, e);
}

enum error tenant_get(struct context *c, struct uuid id, struct tenant *out_tenant)
{
    context_enter_system(c);
    return leave(c, get(c, id, out_tenant));
}

enum error tenant_list(struct context *c, bool has_before, struct uuid before, struct page *page,
    struct tenant *out_tenants)
{
    struct query q;
    context_enter_system(c);
    query_begin(&q, c->tx, &SQL_TENANT_LIST, c->arena);
    query_uuid_if(&q, before, has_before, before);
    page_bind(&q, page);
    while (page_next(&q, page))
        read_row(&q, &out_tenants[page->count++]);
    return leave(c, query_end(&q));
}

static void write_quotas(struct json_writer *w, const struct quota_limits *quotas)
{
    const struct {
        const char *name;
        bool has;
        int64_t value;
    } rows[] = {
        {"bytes", quotas->has_max_bytes, quotas->max_bytes},
        {"threads", quotas->has_max_threads, quotas->max_threads},
        {"events_per_day", quotas->has_max_events_per_day, quotas->max_events_per_day},
        {"streams", quotas->has_max_streams, quotas->max_streams},
        {"connections", quotas->has_max_connections, quotas->max_connections},
        {"requests_per_second", quotas->has_max_requests_per_second,
            quotas->max_requests_per_second},
        {"concurrent_runs", quotas->has_max_concurrent_runs, quotas->max_concurrent_runs},
    };
    json_write_object(w);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].has) {
            json_write_key(w, str_of(rows[i].name));
            json_write_i64(w, rows[i].value);
        }
    json_write_end(w);
}

/* The detail of an audit record about the plan and the quotas. */
static struct str describe_plan(struct arena *arena, const struct tenant *t)
{
    struct json_text text;
    json_text_init(&text, 64 * 1024);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("plan_tier"));
    if (str_is_none(t->plan_tier))
        json_write_null(&text.w);
    else
        json_write_string(&text.w, t->plan_tier);
    json_write_key(&text.w, STR("quotas"));
    write_quotas(&text.w, &t->quotas);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error record_update(
    struct context *c, const struct tenant *before, const struct tenant *wanted)
{
    struct str plan = describe_plan(c->arena, wanted);
    bool is_replanned = !str_eq(describe_plan(c->arena, before), plan);
    if (!str_eq(before->name, wanted->name))
        TRY(audit_record(
            c, "tenant.renamed", "tenant", wanted->id, describe(c->arena, wanted->name)));
    return is_replanned ? audit_record(c, "tenant.updated", "tenant", wanted->id, plan) : OK;
}

/* The tenant itself may change its settings at the same time. */
static enum error lock_row(struct context *c, struct uuid id)
{
    struct query q;
    if (!tx_is_shared(c->tx))
        return OK;
    query_begin(&q, c->tx, &SQL_TENANT_LOCK, c->arena);
    query_uuid(&q, tenant_id, id);
    return query_run(&q);
}

static bool starts_or_ends_counting(const struct quota_limits *a, const struct quota_limits *b)
{
    return a->has_max_threads != b->has_max_threads || a->has_max_bytes != b->has_max_bytes;
}

static enum error update(struct context *c, const struct tenant *wanted, struct tenant *out_tenant)
{
    struct tenant before;
    /* The default tenant, for which operators act: makes names unique. */
    TRY(context_lock_tenant(c));
    TRY(lock_row(c, wanted->id));
    TRY(get(c, wanted->id, &before));
    TRY(context_check_match(c, before.version));
    struct query q;
    query_begin(&q, c->tx, &SQL_TENANT_UPDATE, c->arena);
    query_uuid(&q, id, wanted->id);
    query_text(&q, name, wanted->name);
    query_text(&q, plan_tier, wanted->plan_tier);
    quota_limits_bind(&q, &wanted->quotas);
    query_i64(&q, now, c->now_us);
    int64_t changed = 0;
    TRY(query_run_counted(&q, &changed));
    if (changed == 0)
        return name_taken(c, wanted->name);
    if (starts_or_ends_counting(&before.quotas, &wanted->quotas))
        TRY(quota_count_stored(c, wanted->id));
    TRY(record_update(c, &before, wanted));
    return get(c, wanted->id, out_tenant);
}

enum error tenant_update(struct context *c, const struct tenant *wanted, struct tenant *out_tenant)
{
    context_enter_system(c);
    enum error e = update(c, wanted, out_tenant);
    tx_drop_memo(c->tx); /* has the quotas */
    return leave(c, e);
}

enum error tenant_set_settings(struct context *c, struct str settings, struct tenant *out_tenant)
{
    struct query q;
    TRY(context_lock_tenant(c));
    context_query(c, &q, &SQL_TENANT_SET_SETTINGS);
    query_text(&q, settings, settings);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    TRY(audit_record(
        c, "tenant.updated", "tenant", c->tenant_id, STR("{\"changed\":[\"settings\"]}")));
    return get(c, c->tenant_id, out_tenant);
}

/* --- Deletion, in slices -------------------------------------------------------------------- */

static enum error delete_keys(struct context *theirs)
{
    struct query q;
    context_query(theirs, &q, &SQL_TENANT_DELETE_KEYS);
    return query_run(&q);
}

/* Without keys no request can enter the tenant from now on. */
static enum error begin_deletion(struct context *c, struct context *theirs, struct uuid id)
{
    struct tenant tenant;
    context_enter_system(c);
    TRY(context_lock_tenant(c));
    TRY(get(c, id, &tenant));
    TRY(context_check_match(c, tenant.version));
    if (uuid_eq(id, DEFAULT_TENANT_ID))
        return problem_set(c->problem, ERR_CONFLICT, "the default tenant cannot be deleted");
    TRY(audit_record(c, "tenant.deleted", "tenant", id, describe(c->arena, tenant.name)));
    context_enter(theirs, id);
    TRY(context_lock_tenant(theirs));
    TRY(delete_keys(theirs));
    tx_drop_memo(c->tx);
    event_publish_access_ended(c, id, id);
    return OK;
}

static enum error find_thread(struct context *theirs, bool *out_found, struct uuid *out_id)
{
    struct query q;
    context_query(theirs, &q, &SQL_TENANT_FIRST_THREAD);
    *out_found = query_next(&q);
    if (*out_found)
        *out_id = row_uuid(&q);
    return query_end(&q);
}

/* About as many small rows are deleted with a thread. */
enum { ROWS_OF_A_THREAD = 16 };

static enum error delete_threads(struct context *theirs, struct slice *s, bool *out_more)
{
    struct uuid thread_id;
    bool more = false;
    TRY(find_thread(theirs, out_more, &thread_id));
    while (*out_more && !more && !slice_is_over(s)) {
        TRY(thread_discard_some(theirs, s, thread_id, &more));
        s->rows_left -= ROWS_OF_A_THREAD;
        if (!more)
            TRY(find_thread(theirs, out_more, &thread_id));
    }
    return OK;
}

/* Deletes the rows of which a tenant may have many, children first. */
static enum error delete_parts(struct context *theirs, struct slice *s, bool *out_more)
{
    static const struct slice_part parts[] = {
        {.delete = &SQL_TENANT_DELETE_MEMORY,
            .before = &SQL_TENANT_DELETE_WORDS,
            .weigh = &SQL_TENANT_WEIGH_MEMORY},
        {.delete = &SQL_TENANT_DELETE_STORAGE, .weigh = &SQL_TENANT_WEIGH_STORAGE},
        {.delete = &SQL_TENANT_DELETE_STATE_VERSIONS, .weigh = &SQL_TENANT_WEIGH_STATE_VERSIONS},
        {.delete = &SQL_TENANT_DELETE_AGENT_VERSIONS, .weigh = &SQL_TENANT_WEIGH_AGENT_VERSIONS},
        {.delete = &SQL_TENANT_DELETE_USED_VERSIONS, .weigh = &SQL_TENANT_WEIGH_USED_VERSIONS},
        {.delete = &SQL_TENANT_DELETE_DELETED_AGENTS},
        {.delete = &SQL_TENANT_DELETE_STATES},
        {.delete = &SQL_TENANT_DELETE_LINKS},
        {.delete = &SQL_TENANT_DELETE_ACTIVATIONS},
        {.delete = &SQL_TENANT_DELETE_AGENTS, .weigh = &SQL_TENANT_WEIGH_AGENTS},
        {.delete = &SQL_TENANT_DELETE_EVALS, .weigh = &SQL_TENANT_WEIGH_EVALS},
        {.delete = &SQL_TENANT_DELETE_PRICES},
        {.delete = &SQL_TENANT_DELETE_TICKETS},
        {.delete = &SQL_TENANT_DELETE_NOTEBOOKS, .weigh = &SQL_TENANT_WEIGH_NOTEBOOKS},
        {.delete = &SQL_TENANT_DELETE_IMPORT_OBJECTS},
        {.delete = &SQL_TENANT_DELETE_USAGE},
        {.delete = &SQL_TENANT_DELETE_ANSWERS, .weigh = &SQL_TENANT_WEIGH_ANSWERS},
        {.delete = &SQL_TENANT_DELETE_SNAPSHOT_ITEMS},
        {.delete = &SQL_TENANT_DELETE_SNAPSHOTS, .weigh = &SQL_TENANT_WEIGH_SNAPSHOTS},
        {.delete = &SQL_TENANT_DELETE_DOUBTS},
        {.delete = &SQL_TENANT_DELETE_ITEMS, .weigh = &SQL_TENANT_WEIGH_ITEMS},
        {.delete = &SQL_TENANT_DELETE_BLOBS, .before = &SQL_BLOB_DOUBT_TENANT},
    };
    TRY(delete_threads(theirs, s, out_more));
    for (size_t i = 0; !*out_more && i < COUNT_OF(parts); i++)
        TRY(slice_delete(theirs, s, &parts[i], UUID_NIL, out_more));
    return OK;
}

/* Event ids are never reused, so the floor rises above the deleted ones. */
static enum error delete_events(struct context *c, struct uuid tenant_id)
{
    struct query q;
    int64_t last_id;
    query_begin(&q, c->tx, &SQL_TENANT_LAST_EVENT_ID, c->arena);
    query_uuid(&q, tenant_id, tenant_id);
    TRY(context_number(&q, &last_id));
    TRY(event_raise_floor(c, last_id));
    return event_discard_tenant(c, tenant_id, last_id);
}

/* The events come after the threads, so that none can be appended. */
static enum error delete_rest(struct context *c, struct uuid id)
{
    struct query q;
    context_enter_system(c);
    query_begin(&q, c->tx, &SQL_TENANT_DELETE, c->arena);
    query_uuid(&q, id, id);
    TRY(query_run(&q));
    event_forget_tenant(c, id);
    return delete_events(c, id);
}

static enum error delete_some(struct context *c, struct uuid id, bool *out_more)
{
    struct slice slice = slice_begin(SLICE_MIN_ROWS);
    struct context theirs = *c;
    bool begun;
    context_enter(&theirs, id);
    TRY(deletion_find(&theirs, id, &begun));
    if (!begun)
        TRY(begin_deletion(c, &theirs, id));
    TRY(delete_parts(&theirs, &slice, out_more));
    return *out_more ? deletion_note(&theirs, id) : delete_rest(c, id);
}

enum error tenant_delete_some(struct context *c, struct uuid id, bool *out_more)
{
    return leave(c, delete_some(c, id, out_more));
}
