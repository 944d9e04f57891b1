/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/threads.h"

#include "base/json/json_write.h"
#include "model/agents/states.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/runs.h"
#include "model/files/blob_doubts.h"
#include "model/tenancy/audit.h"
#include "model/threads/event_index.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"
#include "model/threads/threads.sql.h"

ENUM_DEFINE(thread_statuses, THREAD_STATUSES);
ENUM_DEFINE(thread_run_policies, RUN_POLICIES);

static enum error check_transition(
    struct context *c, enum thread_status from, enum thread_status to)
{
#define NEXT(status, word, next) [status] = next,
    static const unsigned allowed[] = {THREAD_STATUSES(NEXT)};
#undef NEXT
    return transition_check(c, "thread", thread_statuses, allowed[from], from, to);
}

void thread_defaults(struct thread *thread)
{
    struct str *const documents[] = {
        &thread->context, &thread->preferences, &thread->important_steps, &thread->metadata};
    for (size_t i = 0; i < COUNT_OF(documents); i++)
        if (str_is_none(*documents[i]))
            *documents[i] = STR("{}");
    if (thread->status == THREAD_STATUS_NONE)
        thread->status = THREAD_ACTIVE;
    if (thread->run_policy == RUN_POLICY_NONE)
        thread->run_policy = RUN_POLICY_REJECT;
}

/* The parameters that insert and update share. */
static void bind(struct query *q, const struct thread *t, int64_t now_us)
{
    thread_bind(q, t);
    query_i64(q, now, now_us);
}

static enum error write_documents(
    struct context *c, const struct sql_statement *statement, const struct thread *t)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, t->id);
    query_text(&q, context, t->context);
    query_text(&q, preferences, t->preferences);
    query_text(&q, important_steps, t->important_steps);
    return query_run(&q);
}

/* --- Metadata for the equality filter ------------------------------------------------------- */

static enum error add_metadata(
    struct context *c, struct uuid thread_id, struct str key, struct str value)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_METADATA_ADD);
    query_text(&q, key, key);
    query_text(&q, value, value);
    query_uuid(&q, thread_id, thread_id);
    return query_run(&q);
}

/* A filter cannot contain U+0000, which PostgreSQL cannot store; long texts are not indexed. */
static bool can_be_indexed(struct str text)
{
    return text.len <= THREAD_METADATA_INDEXED_BYTES && !str_has_byte(text, '\0');
}

/* Strings are stored decoded; numbers, true, false and null as written. */
bool thread_metadata_next(
    struct arena *arena, struct json_iter *members, struct str *out_key, struct str *out_value)
{
    struct json key, value;
    while (json_next(members, &key, &value)) {
        enum json_type type = json_type(value);
        if (type == JSON_OBJECT || type == JSON_ARRAY)
            continue;
        *out_value = type == JSON_STRING ? json_string(arena, value) : json_raw(value);
        *out_key = json_string(arena, key);
        if (can_be_indexed(*out_key) && can_be_indexed(*out_value))
            return true;
    }
    return false;
}

enum error thread_index_metadata(struct context *c, struct uuid thread_id, struct str metadata)
{
    struct json_doc doc;
    struct json_error unused;
    if (!json_parse(c->arena, metadata, &doc, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    if (json_count(json_root(&doc)) > THREAD_METADATA_MEMBERS)
        return problem_fault(
            c->problem, STR("/metadata"), "must have at most %d members", THREAD_METADATA_MEMBERS);
    struct json_iter members = json_iter(json_root(&doc));
    struct str key, value;
    while (thread_metadata_next(c->arena, &members, &key, &value))
        TRY(add_metadata(c, thread_id, key, value));
    return OK;
}

static enum error reindex_metadata(struct context *c, struct uuid thread_id, struct str metadata)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_METADATA_CLEAR);
    query_uuid(&q, thread_id, thread_id);
    TRY(query_run(&q));
    return thread_index_metadata(c, thread_id, metadata);
}

/* --- Keys ----------------------------------------------------------------------------------- */

/* Each principal has a namespace of keys, and so has the tenant: a principal cannot take a key that
 * the tenant's own programs use. */
static enum error find_owner(
    struct context *c, struct str key, bool *out_found, struct uuid *out_id)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_ID_OF_KEY);
    query_text(&q, key, key);
    query_text(&q, key_owner, c->principal);
    *out_found = query_next(&q);
    if (*out_found)
        *out_id = row_uuid(&q);
    return query_end(&q);
}

/* The error does not reveal a thread in which the principal does not participate. */
static enum error key_taken(struct context *c, struct str key, bool has_owner, struct uuid owner)
{
    char id[UUID_TEXT_LEN];
    bool may_see = false;
    if (has_owner)
        TRY(participant_may_see(c, owner, &may_see));
    if (!may_see)
        return problem_set(
            c->problem, ERR_CONFLICT, "another thread already has the key \"%.*s\"", STR_ARG(key));
    uuid_format(owner, id);
    c->problem->extension = arena_printf(c->arena, "{\"thread_id\":\"%.*s\"}", UUID_TEXT_LEN, id);
    return problem_set(c->problem, ERR_CONFLICT, "the thread %.*s already has the key \"%.*s\"",
        UUID_TEXT_LEN, id, STR_ARG(key));
}

/* If another job takes the key before the update, the unique index rejects this one. */
static enum error check_new_key(struct context *c, struct str key)
{
    struct uuid owner;
    bool found = false;
    if (!str_is_none(key))
        TRY(find_owner(c, key, &found, &owner));
    return found ? key_taken(c, key, true, owner) : OK;
}

/* A principal may change only keys of its own namespace. */
static enum error check_key_change(struct context *c, const struct thread *before, struct str key)
{
    bool is_own = str_is_none(before->key) || str_is_none(c->principal) ||
                  str_eq(before->key_owner, c->principal);
    if (!is_own)
        return problem_set(c->problem, ERR_FORBIDDEN,
            "the key of the thread is not in the namespace of %.*s", STR_ARG(c->principal));
    return check_new_key(c, key);
}

/* --- Create, read, list --------------------------------------------------------------------- */

/* Writes the small members of the thread, but no documents. */
enum { TOLD_METADATA_MAX_BYTES = 4096 };

static void write_member(struct json_writer *w, const char *name, struct str text)
{
    if (str_is_none(text))
        return;
    json_write_name(w, name);
    json_write_string(w, text);
}

static void write_about(struct json_writer *w, const struct thread *thread)
{
    write_member(w, "key", thread->key);
    write_member(w, "title", thread->title);
    write_member(w, "agent", thread->agent);
    if (str_eq(thread->metadata, STR("{}")) || thread->metadata.len > TOLD_METADATA_MAX_BYTES)
        return;
    json_write_name(w, "metadata");
    json_write_raw(w, thread->metadata);
}

static enum error tell_created(struct context *c, const struct thread *thread)
{
    struct str status = thread_status_word(thread->status);
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    write_member(&payload.w, "change", STR("thread.created"));
    write_member(&payload.w, "to", status);
    write_about(&payload.w, thread);
    json_write_end(&payload.w);
    struct event event = {.kind = event_kind_word(EVENT_CONVERSATION_CREATED),
        .text = arena_printf(c->arena, "thread is %.*s", STR_ARG(status)),
        .payload = json_text_take(&payload, c->arena),
        .frees_run = true};
    return event_emit(c, thread->id, &event);
}

static enum error emit(struct context *c, struct uuid thread_id, const char *change,
    enum thread_status old_status, enum thread_status new_status)
{
    struct str from = thread_status_word(old_status), to = thread_status_word(new_status);
    bool is_last = old_status != THREAD_STATUS_NONE && new_status == THREAD_STATUS_NONE;
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    write_member(&payload.w, "change", str_of(change));
    write_member(&payload.w, "from", from);
    write_member(&payload.w, "to", to);
    json_write_end(&payload.w);
    struct event event = {
        .kind = event_kind_word(is_last ? EVENT_CONVERSATION_DELETED : EVENT_STATUS),
        .text = str_is_none(to) ? arena_printf(c->arena, "%s", change)
                                : arena_printf(c->arena, "thread is %.*s", STR_ARG(to)),
        .payload = json_text_take(&payload, c->arena),
        .is_last = is_last,
        .frees_run = new_status == THREAD_ACTIVE};
    return event_emit(c, thread_id, &event);
}

static enum error begin_after(struct context *c, const struct thread *thread)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_BEGIN_AFTER);
    query_uuid(&q, id, thread->id);
    query_i64(&q, seq, thread->last_seq);
    return query_run(&q);
}

/* out_changed 0: another thread has its key. */
static enum error insert_row(struct context *c, const struct thread *thread, int64_t *out_changed)
{
    struct query q;
    bool is_keyed = !str_is_none(thread->key);
    context_query(c, &q, is_keyed ? &SQL_THREAD_INSERT_KEYED : &SQL_THREAD_INSERT);
    bind(&q, thread, c->now_us);
    *out_changed = 1;
    return is_keyed ? query_run_counted(&q, out_changed) : query_run(&q);
}

static enum error create(struct context *c, struct thread *thread, bool *out_is_free)
{
    int64_t changed = 0;
    thread_defaults(thread);
    if (thread->status != THREAD_ACTIVE)
        return problem_fault(c->problem, STR("/status"), "must be active for a new thread");
    thread->id = uuid_v7();
    thread->key_owner = str_is_none(thread->key) ? STR_NONE : c->principal;
    TRY(quota_check_threads(c));
    TRY(insert_row(c, thread, &changed));
    *out_is_free = changed > 0;
    if (changed == 0)
        return OK;
    c->locked_thread = thread->id; /* no other job knows the new id */
    TRY(write_documents(c, &SQL_THREAD_INSERT_DOCUMENTS, thread));
    TRY(thread_index_metadata(c, thread->id, thread->metadata));
    if (thread->last_seq > 0)
        TRY(begin_after(c, thread));
    TRY(tell_created(c, thread));
    TRY(participant_join_creator(c, thread->id));
    return thread_get(c, thread->id, thread);
}

enum error thread_create(struct context *c, struct thread *thread)
{
    bool is_free = false, found;
    struct uuid owner;
    TRY(create(c, thread, &is_free));
    if (is_free)
        return OK;
    TRY(find_owner(c, thread->key, &found, &owner));
    return key_taken(c, thread->key, found, owner);
}

static enum error get(struct context *c, const struct sql_statement *statement, struct uuid id,
    struct thread *out_thread)
{
    struct query q;
    TRY(context_lock_thread(c, id));
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    bool found;
    TRY(thread_read_one(&q, &found, out_thread));
    return found ? OK : context_not_found(c, "thread", id);
}

enum error thread_get(struct context *c, struct uuid id, struct thread *out_thread)
{
    TRY(get(c, &SQL_THREAD_GET, id, out_thread));
    return event_add_recent(c, out_thread, 1);
}

enum error thread_get_head(struct context *c, struct uuid id, struct thread *out_thread)
{
    return get(c, &SQL_THREAD_GET_HEAD, id, out_thread);
}

/* Does not lock the thread, which may change afterwards. */
static enum error find_by_key(
    struct context *c, struct str key, struct str owner, bool *out_found, struct thread *out_thread)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_GET_BY_KEY);
    query_text(&q, key, key);
    query_text(&q, key_owner, owner);
    TRY(thread_read_one(&q, out_found, out_thread));
    return *out_found ? event_add_recent(c, out_thread, 1) : OK;
}

/* Looks in the namespace of the principal, then in the tenant's. Of the tenant's threads, a
 * principal finds those in which it participates. */
static enum error find_own_or_shared(struct context *c, struct str key, bool *out_found,
    bool *out_may_see, struct thread *out_thread)
{
    *out_may_see = false;
    TRY(find_by_key(c, key, c->principal, out_found, out_thread));
    if (*out_found)
        return participant_may_see(c, out_thread->id, out_may_see);
    if (str_is_none(c->principal))
        return OK;
    TRY(find_by_key(c, key, STR_NONE, out_found, out_thread));
    if (*out_found)
        TRY(participant_may_see(c, out_thread->id, out_may_see));
    *out_found = *out_may_see;
    return OK;
}

enum error thread_find_by_key(
    struct context *c, struct str key, bool *out_found, struct thread *out_thread)
{
    bool exists;
    return find_own_or_shared(c, key, &exists, out_found, out_thread);
}

enum error thread_get_by_key(struct context *c, struct str key, struct thread *out_thread)
{
    bool found;
    TRY(thread_find_by_key(c, key, &found, out_thread));
    if (!found)
        return problem_set(c->problem, ERR_NOT_FOUND, "no thread has this key");
    return OK;
}

/* The thread with the key may have been deleted meanwhile: then creating it is tried again. */
enum { ENSURE_TRIES = 3 };

enum error thread_ensure(struct context *c, struct thread *thread, bool *out_is_new)
{
    struct thread existing;
    bool found = false, may_see = false;
    *out_is_new = false;
    for (int i = 0; i < ENSURE_TRIES; i++) {
        TRY(find_own_or_shared(c, thread->key, &found, &may_see, &existing));
        if (found) {
            *thread = may_see ? existing : *thread;
            return may_see ? OK : key_taken(c, thread->key, true, existing.id);
        }
        TRY(create(c, thread, out_is_new));
        if (*out_is_new)
            return OK;
    }
    return problem_set(c->problem, ERR_UNAVAILABLE,
        "threads with this key are being created and deleted: send the request again");
}

/* Returns a pattern for LIKE … ESCAPE '!' that matches the text anywhere. */
static struct str like_pattern(struct arena *arena, struct str part)
{
    if (str_is_none(part))
        return part;
    char *pattern = arena_alloc(arena, part.len * 2 + 2);
    size_t at = 0;
    pattern[at++] = '%';
    for (size_t i = 0; i < part.len; i++) {
        if (part.ptr[i] == '%' || part.ptr[i] == '_' || part.ptr[i] == '!')
            pattern[at++] = '!';
        pattern[at++] = part.ptr[i];
    }
    pattern[at++] = '%';
    return (struct str){pattern, at};
}

static const struct sql_statement *list_statement(
    const struct context *c, const struct thread_filter *filter)
{
    if (!str_is_none(filter->key))
        return filter->with_documents ? &SQL_THREAD_LIST_BY_KEY_WHOLE : &SQL_THREAD_LIST_BY_KEY;
    if (!str_is_none(c->principal))
        return filter->with_documents ? &SQL_THREAD_LIST_OF_PRINCIPAL_WHOLE
                                      : &SQL_THREAD_LIST_OF_PRINCIPAL;
    bool by_metadata = !str_is_none(filter->metadata_keys[0]);
    if (filter->with_documents)
        return by_metadata ? &SQL_THREAD_LIST_BY_METADATA_WHOLE : &SQL_THREAD_LIST_WHOLE;
    return by_metadata ? &SQL_THREAD_LIST_BY_METADATA : &SQL_THREAD_LIST;
}

static void bind_filter(struct context *c, struct query *q, const struct thread_filter *filter)
{
    static const char *const KEYS[] = {
        PARAM_TEXT_key_1, PARAM_TEXT_key_2, PARAM_TEXT_key_3, PARAM_TEXT_key_4};
    static const char *const VALUES[] = {
        PARAM_TEXT_value_1, PARAM_TEXT_value_2, PARAM_TEXT_value_3, PARAM_TEXT_value_4};
    if (!str_is_none(c->principal))
        query_text(q, principal, c->principal);
    if (!str_is_none(filter->key))
        query_text(q, key, filter->key);
    query_uuid_if(q, before, filter->has_before, filter->before);
    query_text(q, status, thread_status_word(filter->status));
    query_text(q, agent, filter->agent);
    query_text(q, title_like, like_pattern(c->arena, filter->title_part));
    query_i64_if(q, created_after, filter->has_created_after, filter->created_after);
    query_i64_if(q, created_before, filter->has_created_before, filter->created_before);
    for (size_t i = 0; i < THREAD_METADATA_FILTERS; i++) {
        if (str_is_none(filter->metadata_keys[i]))
            continue;
        query_bind_text(q, KEYS[i], filter->metadata_keys[i]);
        query_bind_text(q, VALUES[i], filter->metadata_values[i]);
    }
}

enum error thread_list(struct context *c, const struct thread_filter *filter, struct page *page,
    struct thread *out_threads)
{
    struct query q;
    page_begin(c, &q, list_statement(c, filter), page);
    bind_filter(c, &q, filter);
    TRY(thread_read_page(&q, page, out_threads));
    return event_add_recent(c, out_threads, page->count);
}

/* --- Change --------------------------------------------------------------------------------- */

static bool documents_differ(const struct thread *a, const struct thread *b)
{
    return !str_eq(a->context, b->context) || !str_eq(a->preferences, b->preferences) ||
           !str_eq(a->important_steps, b->important_steps);
}

static enum error save_undo(struct context *c, struct uuid thread_id)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_UNDO_SAVE);
    query_uuid(&q, id, thread_id);
    return query_run(&q);
}

static enum error write_row(struct context *c, const struct thread *thread)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_UPDATE);
    bind(&q, thread, c->now_us);
    return query_run(&q);
}

enum error thread_update(struct context *c, const struct thread *before, struct thread *after)
{
    bool status_changes = before->status != after->status;
    bool metadata_changes = !str_eq(before->metadata, after->metadata);
    bool documents_change = documents_differ(before, after);
    bool key_changes = str_differs(before->key, after->key);
    struct str key = after->key;
    after->key_owner = !key_changes       ? before->key_owner
                       : str_is_none(key) ? STR_NONE
                                          : c->principal;
    enum error e = context_check_match(c, before->version);
    if (e == OK)
        e = run_check_thread_fence(c, before->id);
    if (e == OK && status_changes)
        e = check_transition(c, before->status, after->status);
    if (e == OK && key_changes)
        e = check_key_change(c, before, key);
    if (e == OK && (documents_change || metadata_changes))
        e = save_undo(c, before->id);
    after->id = before->id;
    if (e == OK)
        e = write_row(c, after);
    if (e == OK && documents_change)
        e = write_documents(c, &SQL_THREAD_UPDATE_DOCUMENTS, after);
    if (e == OK && metadata_changes)
        e = reindex_metadata(c, before->id, after->metadata);
    if (e == OK && status_changes)
        e = emit(c, before->id, "thread.status", before->status, after->status);
    if (e == OK)
        e = thread_get(c, before->id, after);
    /* The unique index does not report which thread has the key. */
    if (e == ERR_CONFLICT && key_changes && str_is_none(c->problem->detail))
        e = key_taken(c, key, false, UUID_NIL);
    return e;
}

enum error thread_tell_update(struct context *c, const struct thread *before, struct thread *after)
{
    const char *names[THREAD_DIFFERENCES_MAX];
    size_t n = thread_differences(before, after, names);
    struct json_text payload;
    if (n == 0)
        return OK;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    json_write_object(&payload.w);
    write_member(&payload.w, "change", STR("thread.updated"));
    json_write_name(&payload.w, "changed");
    json_write_array(&payload.w);
    for (size_t i = 0; i < n; i++)
        json_write_string(&payload.w, str_of(names[i]));
    json_write_end(&payload.w);
    write_about(&payload.w, after);
    json_write_end(&payload.w);
    struct event event = {.kind = event_kind_word(EVENT_CONVERSATION_UPDATED),
        .payload = json_text_take(&payload, c->arena)};
    TRY(event_emit(c, before->id, &event));
    return thread_get(c, before->id, after);
}

enum error thread_set_status(struct context *c, struct thread *thread, enum thread_status status)
{
    struct thread after = *thread;
    after.status = status;
    TRY(check_transition(c, thread->status, after.status));
    TRY(write_row(c, &after));
    TRY(emit(c, thread->id, "thread.status", thread->status, after.status));
    TRY(thread_get_head(c, thread->id, thread));
    return event_add_recent(c, thread, 1);
}

enum error thread_set_recent_run(struct context *c, struct thread *thread, struct uuid run_id)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_SET_RECENT_RUN);
    query_uuid(&q, id, thread->id);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    return thread_get_head(c, thread->id, thread);
}

enum error thread_report_deletion(struct context *c, const struct thread *thread)
{
    return emit(c, thread->id, "thread.deleted", thread->status, THREAD_STATUS_NONE);
}

/* --- Undo ----------------------------------------------------------------------------------- */

enum error thread_forget_undo(struct context *c, struct uuid run_id)
{
    struct query q;
    context_query(c, &q, &SQL_THREAD_UNDO_DROP);
    query_uuid(&q, run_id, run_id);
    return query_run(&q);
}

enum error thread_undo_run(struct context *c, struct uuid thread_id, struct uuid run_id)
{
    struct thread thread;
    TRY(thread_get_head(c, thread_id, &thread));
    struct query q;
    context_query(c, &q, &SQL_THREAD_UNDO_GET);
    query_uuid(&q, run_id, run_id);
    bool found = query_next(&q);
    if (found) {
        thread.context = row_text(&q);
        thread.preferences = row_text(&q);
        thread.important_steps = row_text(&q);
        thread.metadata = row_text(&q);
    }
    TRY(query_end(&q));
    if (!found)
        return OK;
    TRY(write_row(c, &thread));
    TRY(write_documents(c, &SQL_THREAD_UPDATE_DOCUMENTS, &thread));
    TRY(reindex_metadata(c, thread_id, thread.metadata));
    return emit(c, thread_id, "thread.rolled_back", THREAD_STATUS_NONE, THREAD_STATUS_NONE);
}
