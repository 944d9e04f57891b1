/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/messages.h"

#include "base/json/json_write.h"
#include "model/files/files.h"
#include "model/threads/message_parts.h"
#include "model/threads/messages.sql.h"
#include "model/threads/participants.h"

ENUM_DEFINE(message_types, MESSAGE_TYPES);
ENUM_DEFINE(sender_roles, SENDER_ROLES);

/* --- Read ----------------------------------------------------------------------------------- */

static enum error read_responses(struct context *c, struct message *message)
{
    struct json_text ids;
    struct query q;
    json_text_init(&ids, SIZE_MAX);
    json_write_array(&ids.w);
    context_query(c, &q, &SQL_MESSAGE_RESPONSES);
    query_uuid(&q, id, message->id);
    query_i64(&q, limit, MESSAGE_RESPONSES_MAX);
    while (query_next(&q))
        json_write_uuid(&ids.w, row_uuid(&q));
    json_write_end(&ids.w);
    message->responses = json_text_take(&ids, c->arena);
    return query_end(&q);
}

static enum error check_thread(
    struct context *c, struct uuid thread_id, struct event_bounds *out_bounds)
{
    const struct event_filter of_thread = {.has_thread_id = true, .thread_id = thread_id};
    return event_bounds(c, &of_thread, out_bounds);
}

/* Reports a missing thread before a missing message. */
static enum error not_found(struct context *c, struct uuid thread_id, struct uuid id)
{
    struct event_bounds unused;
    TRY(check_thread(c, thread_id, &unused));
    return context_not_found(c, "message", id);
}

enum error message_get(struct context *c, struct uuid thread_id, struct uuid id, bool with_debug,
    struct message *out_message)
{
    struct query q;
    TRY(context_lock_thread(c, thread_id));
    context_query(c, &q, &SQL_MESSAGE_GET);
    query_uuid(&q, thread_id, thread_id);
    query_uuid(&q, id, id);
    query_bool(&q, with_debug, with_debug);
    bool found;
    TRY(message_read_one(&q, &found, out_message));
    if (!found)
        return not_found(c, thread_id, id);
    message_join_debug(c, out_message);
    return read_responses(c, out_message);
}

static const struct sql_statement *list_statement(const struct message_filter *filter)
{
    if (filter->has_run_id)
        return filter->newest_first ? &SQL_MESSAGE_LIST_RUN_DOWN : &SQL_MESSAGE_LIST_RUN_UP;
    return filter->newest_first ? &SQL_MESSAGE_LIST_DOWN : &SQL_MESSAGE_LIST_UP;
}

static void bind_filter(struct query *q, const struct message_filter *filter)
{
    query_uuid(q, thread_id, filter->thread_id);
    query_i64(q, after, filter->after);
    query_i64(q, before, filter->before);
    query_text(q, type, message_type_word(filter->type));
    query_uuid_if(q, sender_id, filter->has_sender_id, filter->sender_id);
    if (filter->has_run_id)
        query_uuid(q, run_id, filter->run_id);
    query_bool(q, with_debug, filter->with_debug);
}

/* Limits the seqs that a page with a filter without an index examines; true if others remain. */
static bool narrow(struct message_filter *filter)
{
    bool filtered = filter->type != MESSAGE_TYPE_NONE || filter->has_sender_id;
    if (!filtered || filter->has_run_id || filter->before - filter->after <= MESSAGE_SCAN_MAX + 1)
        return false;
    if (filter->newest_first)
        filter->after = filter->before - MESSAGE_SCAN_MAX - 1;
    else
        filter->before = filter->after + MESSAGE_SCAN_MAX + 1;
    return true;
}

static enum error read_page(
    struct context *c, const struct message_filter *filter, struct message_page *page)
{
    struct query q;
    page_begin(c, &q, list_statement(filter), &page->page);
    bind_filter(&q, filter);
    while (page_next(&q, &page->page))
        message_read(&q, &page->messages[page->page.count++]);
    return query_end(&q);
}

enum error message_list(
    struct context *c, const struct message_filter *wanted, struct message_page *page)
{
    struct message_filter filter = *wanted;
    struct event_bounds bounds;
    TRY(check_thread(c, wanted->thread_id, &bounds));
    if (filter.before > bounds.newest)
        filter.before = bounds.newest + 1;
    if (filter.before < 1)
        filter.before = 1;
    if (filter.after >= filter.before)
        filter.after = filter.before - 1;
    bool cut = narrow(&filter);
    enum error e = read_page(c, &filter, page);
    page->first_seq = filter.after + 1;
    page->last_seq = filter.before - 1;
    if (page->page.more) {
        int64_t last = page->messages[page->page.count - 1].seq;
        *(filter.newest_first ? &page->first_seq : &page->last_seq) = last;
    }
    page->page.more |= cut;
    for (size_t i = 0; e == OK && i < page->page.count; i++)
        message_join_debug(c, &page->messages[i]);
    return e;
}

static enum error check_owner(struct context *c, const struct message *message, const char *what)
{
    struct participant self;
    bool found;
    if (str_is_none(c->principal))
        return OK;
    TRY(participant_self(c, message->thread_id, &found, &self));
    if (found && message->has_sender_id && uuid_eq(self.id, message->sender_id))
        return OK;
    return problem_set(c->problem, ERR_FORBIDDEN, "only the sender can %s a message", what);
}

enum error message_list_versions(struct context *c, const struct message *message, int64_t before,
    bool with_debug, struct page *page, struct message_version *out_versions)
{
    struct query q;
    TRY(check_owner(c, message, "read the history of"));
    page_begin(c, &q, &SQL_MESSAGE_VERSION_LIST, page);
    query_uuid(&q, id, message->id);
    query_i64(&q, before, before > 0 ? before : INT64_MAX);
    query_bool(&q, with_debug, with_debug);
    while (page_next(&q, page)) {
        struct message_version *v = &out_versions[page->count++];
        message_version_read(&q, v);
        struct message joined = {.metadata = v->metadata, .debug = row_text(&q)};
        message_join_debug(c, &joined);
        v->metadata = joined.metadata;
    }
    return query_end(&q);
}

/* --- Events --------------------------------------------------------------------------------- */

static void write_id(struct json_writer *w, const char *name, bool has, struct uuid id)
{
    json_write_name(w, name);
    if (has)
        json_write_uuid(w, id);
    else
        json_write_null(w);
}

static void write_json(struct json_writer *w, const char *name, struct str text)
{
    json_write_name(w, name);
    json_write_raw(w, text);
}

/* Returns at most this many bytes, without cutting a character. */
static struct str beginning(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && ((unsigned char)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return str_slice(text, 0, max);
}

static void write_content(struct json_writer *w, const struct message *m)
{
    json_write_text_member(w, "content", beginning(m->content, MESSAGE_TOLD_MAX_BYTES));
    if (m->content.len > MESSAGE_TOLD_MAX_BYTES) {
        json_write_name(w, "content_truncated");
        json_write_bool(w, true);
    }
    json_write_name(w, "content_bytes");
    json_write_u64(w, m->content.len);
    json_write_text_member(w, "content_type", m->content_type);
    bool whole = m->metadata.len <= MESSAGE_TOLD_MAX_BYTES;
    write_json(w, "metadata", whole ? m->metadata : STR("{}"));
    if (!whole) {
        json_write_name(w, "metadata_truncated");
        json_write_bool(w, true);
    }
    write_json(w, "filenames", m->filenames);
    json_write_name(w, "has_debug");
    json_write_bool(w, m->has_debug);
}

static struct event event_of(struct context *c, const struct message *m, enum event_kind kind)
{
    struct json_text payload;
    json_text_init(&payload, SIZE_MAX);
    struct json_writer *w = &payload.w;
    json_write_object(w);
    write_id(w, "message_id", true, m->id);
    json_write_text_member(w, "type", message_type_word(m->type));
    write_id(w, "sender_id", m->has_sender_id, m->sender_id);
    json_write_text_member(w, "sender_role", m->sender_role);
    if (!m->has_deleted_at)
        write_content(w, m);
    write_id(w, "responds_to", m->has_responds_to, m->responds_to);
    if (!str_is_none(m->command) && !m->has_deleted_at) {
        write_id(w, "addressed_to", m->has_addressed_to, m->addressed_to);
        write_json(w, "command", m->command);
    }
    json_write_name(w, "version");
    json_write_i64(w, m->version);
    json_write_end(w);
    return (struct event){.kind = event_kind_word(kind),
        .has_run_id = m->has_run_id,
        .run_id = m->run_id,
        .payload = json_text_take(&payload, c->arena)};
}

/* --- Create --------------------------------------------------------------------------------- */

enum error message_append_begin(struct context *c, struct uuid thread_id, struct message *messages,
    size_t n, struct str at, struct message_append *out_append)
{
    TRY(context_lock_thread(c, thread_id));
    for (size_t i = 0; i < n; i++) {
        struct str place =
            str_is_none(at) ? STR("") : arena_printf(c->arena, "%.*s/%zu", STR_ARG(at), i);
        messages[i].thread_id = thread_id;
        TRY(message_check(c, &messages[i], place));
    }
    struct event *events = ARENA_ARRAY(c->arena, struct event, n);
    for (size_t i = 0; i < n; i++) {
        messages[i].id = uuid_v7();
        messages[i].version = 1;
        messages[i].created_at = messages[i].updated_at = c->now_us;
        events[i] = event_of(c, &messages[i], EVENT_MESSAGE_CREATED);
    }
    *out_append = (struct message_append){.thread_id = thread_id, .messages = messages, .n = n};
    return event_append_begin(c, thread_id, events, n, &out_append->events);
}

static enum error put_debug(struct context *c, const struct message *m)
{
    struct query q;
    context_query(c, &q, m->has_debug ? &SQL_MESSAGE_DEBUG_PUT : &SQL_MESSAGE_DEBUG_DROP);
    query_uuid(&q, id, m->id);
    if (m->has_debug)
        query_text(&q, debug, m->debug);
    return query_run(&q);
}

static enum error insert(struct context *c, const struct message *m)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_INSERT);
    message_bind_insert(&q, m);
    query_i64(&q, now, c->now_us);
    TRY(query_run(&q));
    if (m->has_debug)
        TRY(put_debug(c, m));
    return m->is_searchable ? message_index(c, m) : OK;
}

enum error message_append_end(struct context *c, struct message_append *append)
{
    TRY(event_append_end(c, &append->events));
    for (size_t i = 0; i < append->n; i++) {
        struct message *m = &append->messages[i];
        m->seq = append->events.events[i].seq;
        m->event_id = append->events.events[i].id;
        m->responses = STR("[]");
        m->is_searchable = context_may_index(c);
        TRY(insert(c, m));
    }
    return OK;
}

enum error message_create(struct context *c, struct uuid thread_id, struct message *message)
{
    struct message_append append;
    TRY(message_append_begin(c, thread_id, message, 1, STR_NONE, &append));
    return message_append_end(c, &append);
}

/* --- Change --------------------------------------------------------------------------------- */

static enum error keep_version(struct context *c, struct uuid id)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_VERSION_KEEP);
    query_uuid(&q, id, id);
    return query_run(&q);
}

static enum error write_row(struct context *c, struct message *m)
{
    struct query q;
    context_query(c, &q, &SQL_MESSAGE_UPDATE);
    message_bind_update(&q, m);
    query_i64(&q, now, c->now_us);
    m->version++;
    m->updated_at = c->now_us;
    TRY(query_run(&q));
    return put_debug(c, m);
}

static enum error check_edit(
    struct context *c, const struct message *before, const struct message *after)
{
    if (before->has_deleted_at)
        return problem_set(
            c->problem, ERR_CONFLICT, "the message was deleted and cannot be changed");
    if (!str_is_none(before->command) && !str_eq(before->content, after->content))
        return problem_fault(
            c->problem, STR("/content"), "must not change for a command, which has been delivered");
    return OK;
}

enum error message_update(struct context *c, const struct message *before, struct message *after)
{
    struct message m = *before;
    message_fill_in(after);
    m.content = after->content;
    m.content_type = after->content_type;
    m.metadata = after->metadata;
    m.filenames = after->filenames;
    bool same_files = str_eq(before->filenames, after->filenames);
    TRY(context_check_match(c, before->version));
    TRY(check_owner(c, before, "edit"));
    TRY(check_edit(c, before, after));
    if (!str_eq(before->content_type, after->content_type))
        TRY(file_check_type(c, after->content_type, STR("/content_type")));
    TRY(message_check_metadata(c, &m, STR("")));
    /* Files of the previous version may have been deleted. */
    if (!same_files)
        TRY(message_check_filenames(c, &m, STR("")));
    TRY(keep_version(c, m.id));
    TRY(write_row(c, &m));
    TRY(message_index(c, &m));
    struct event event = event_of(c, &m, EVENT_MESSAGE_UPDATED);
    *after = m;
    return event_emit(c, m.thread_id, &event);
}

enum error message_delete(struct context *c, struct message *message)
{
    TRY(check_owner(c, message, "delete"));
    TRY(context_check_match(c, message->version));
    if (message->has_deleted_at)
        return OK;
    TRY(keep_version(c, message->id));
    message->content = STR("");
    message->metadata = STR("{}");
    message->filenames = STR("[]");
    message->debug = STR_NONE;
    message->has_debug = false;
    message->has_deleted_at = true;
    message->deleted_at = c->now_us;
    TRY(write_row(c, message));
    TRY(message_unindex(c, message));
    struct event event = event_of(c, message, EVENT_MESSAGE_DELETED);
    return event_emit(c, message->thread_id, &event);
}
