/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/messages.h"

#include "api/handlers.h"

enum { METADATA_MAX_BYTES = MESSAGE_METADATA_MAX_BYTES + MESSAGE_DEBUG_MAX_BYTES + 1024 };

#define OF struct message
static const struct field message_fields[] = {
    FIELD(STRING_OR_NONE, content, IN_BODY | IN_READ, .max = MESSAGE_CONTENT_MAX_BYTES),
    FIELD(STRING_OR_NONE, content_type, IN_BODY | IN_READ,
        "media type of the content; default: text/plain", .min = 1,
        .max = MESSAGE_CONTENT_TYPE_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ,
        "any members, besides attribution, href, footer_items, tool_calls and tool_result; debug "
        "is stored separately and returned only with include=debug",
        .max = METADATA_MAX_BYTES),
    FIELD(ARRAY_OR_NONE, filenames, IN_BODY | IN_READ, "names of files of the thread",
        .items = "string"),
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(INT, seq, IN_READ, "order in the thread: the seq of the message.created event"),
    FIELD(UUID_OR_NULL, sender_id, IN_READ, "participant; null: the service that holds the key"),
    FIELD(STRING, sender_role, IN_READ, "user, assistant or service"),
    FIELD(ENUM, type, IN_READ, .choices = message_types),
    FIELD(UUID_OR_NULL, run_id, IN_READ),
    FIELD(UUID_OR_NULL, responds_to, IN_READ),
    FIELD(UUID_OR_NULL, addressed_to, IN_READ),
    FIELD(
        OBJECT, command, IN_READ, "commands only: name, arguments and options", .hide_none = true),
    FIELD(BOOL, has_debug, IN_READ),
    FIELD(ARRAY, responses, IN_READ, "ids of the first 100 responses; omitted in lists",
        .items = "string", .hide_none = true),
    FIELD(
        STRING, snippet, IN_READ, "searches only: text around the first match", .hide_none = true),
    FIELD(TIME_OR_NULL, deleted_at, IN_READ,
        "time of the deletion; a deleted message has no content"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_message = SCHEMA("Message", struct message, message_fields, IN_READ);
const struct schema schema_message_body =
    SCHEMA("MessageBody", struct message, message_fields, IN_BODY);

/* --- Create -------------------------------------------------------------------------------- */

struct message_input {
    struct message message;
    struct nested_list messages; /* of the batch form only */
};

static const struct schema schema_message_input;
#define OF struct message_input
static const struct field input_fields[] = {
    FIELD_OF(message, STRING_OR_NONE, content, IN_BODY,
        "required, may be empty; format of a command: /name argument key=value",
        .max = MESSAGE_CONTENT_MAX_BYTES),
    FIELD_OF(message, STRING_OR_NONE, content_type, IN_BODY, .min = 1,
        .max = MESSAGE_CONTENT_TYPE_MAX_BYTES),
    FIELD_OF(message, ENUM_OR_NONE, type, IN_BODY, "default: chat", .choices = message_types),
    FIELD_OF(message, OBJECT_OR_NONE, metadata, IN_BODY,
        "at most 100 KiB without debug; debug: at most 1 MiB", .max = METADATA_MAX_BYTES),
    FIELD_OF(message, ARRAY_OR_NONE, filenames, IN_BODY, "names of files of the thread",
        .items = "string"),
    FIELD_OF(message, UUID_OR_NULL, sender_id, IN_BODY,
        "participant; a key with a principal must send as this principal"),
    FIELD_OF(
        message, UUID_OR_NULL, run_id, IN_BODY, "run of this thread to which the message belongs"),
    FIELD_OF(message, UUID_OR_NULL, responds_to, IN_BODY,
        "message of this thread; for a command-response: the command"),
    FIELD_OF(message, UUID_OR_NULL, addressed_to, IN_BODY,
        "commands only: participant that executes the command"),
    FIELD(LIST_OR_NONE, messages, IN_BATCH,
        "list of messages instead of one message; either all messages are created or none",
        .min = 1, .max = MESSAGE_BATCH_MAX, .nested = &schema_message_input),
};
#undef OF
static const struct schema schema_message_input =
    SCHEMA("MessageInput", struct message_input, input_fields, IN_BODY);
const struct schema schema_message_create =
    SCHEMA("MessageCreate", struct message_input, input_fields, IN_BODY | IN_BATCH);

struct created {
    int64_t count;
    int64_t first_seq;
    int64_t last_seq;
    struct str_list ids;
};
#define OF struct created
static const struct field created_fields[] = {
    FIELD(INT, count, IN_READ),
    FIELD(INT, first_seq, IN_READ),
    FIELD(INT, last_seq, IN_READ),
    FIELD(STRINGS, ids, IN_READ),
};
#undef OF
const struct schema schema_messages_created =
    SCHEMA("MessagesCreated", struct created, created_fields, IN_READ);

static enum error answer_created(struct call *call, const struct message_append *append)
{
    const struct message *m = append->messages;
    struct created created = {.count = (int64_t)append->n,
        .first_seq = m[0].seq,
        .last_seq = m[append->n - 1].seq,
        .ids = {.items = ARENA_ARRAY(call->arena, struct str, append->n), .count = append->n}};
    for (size_t i = 0; i < append->n; i++) {
        char text[UUID_TEXT_LEN];
        uuid_format(m[i].id, text);
        created.ids.items[i] = arena_str(call->arena, (struct str){text, sizeof text});
    }
    return call_answer(call, &schema_messages_created, &created, 0);
}

static enum error answer_create(struct call *call, struct context *c)
{
    const struct message_input *body = call->request.input;
    struct message_append *append = call->later_data;
    TRY(message_append_end(c, append));
    if (body->messages.count == 0)
        return call_answer(
            call, &schema_message, &append->messages[0], append->messages[0].version);
    answer_created(call, append);
    return OK;
}

/* A body with a list has no other members, and each message has content. */
static enum error check_form(struct call *call, const struct message_input *body)
{
    const struct message_input *inputs = body->messages.items;
    if (body->messages.count == 0)
        return str_is_none(body->message.content)
                   ? problem_fault(&call->problem, STR("/content"), "must be given")
                   : OK;
    if (call_gives_others(call, "messages"))
        return problem_fault(&call->problem, STR("/messages"),
            "must be the only member: send one message or a list of messages");
    for (size_t i = 0; i < body->messages.count; i++)
        if (str_is_none(inputs[i].message.content))
            return problem_fault(&call->problem,
                arena_printf(call->arena, "/messages/%zu/content", i), "must be given");
    return OK;
}

enum error handle_message_create(struct call *call, struct context *c)
{
    const struct message_input *body = call->request.input;
    bool batch = body->messages.count > 0;
    const struct message_input *inputs = batch ? body->messages.items : body;
    size_t n = batch ? body->messages.count : 1;
    TRY(check_form(call, body));
    struct message *messages = ARENA_ARRAY(call->arena, struct message, n);
    for (size_t i = 0; i < n; i++)
        messages[i] = inputs[i].message;
    struct message_append *append = ARENA_NEW(call->arena, struct message_append);
    call->later = answer_create;
    call->later_data = append;
    return message_append_begin(
        c, call->request.params[0], messages, n, batch ? STR("/messages") : STR_NONE, append);
}

/* --- Lists --------------------------------------------------------------------------------- */

struct messages_query {
    struct str before;
    struct str after;
    bool has_limit;
    int64_t limit;
    enum message_type type;
    bool has_sender_id;
    struct uuid sender_id;
    bool has_run_id;
    struct uuid run_id;
    enum include include;
};
#define OF struct messages_query
static const struct field messages_query_fields[] = {
    FIELD(STRING_OR_NONE, before, IN_QUERY,
        "cursor: return messages before it, newest first; default order: newest first", .max = 20),
    FIELD(STRING_OR_NONE, after, IN_QUERY,
        "cursor: return messages after it, oldest first; 0: from the first message", .max = 20),
    FIELD(INT_OR_NONE, limit, IN_QUERY, "items per page; default: 50", .min = 1, .max = PAGE_MAX),
    FIELD(ENUM_OR_NONE, type, IN_QUERY, .choices = message_types),
    FIELD(UUID_OR_NONE, sender_id, IN_QUERY),
    FIELD(UUID_OR_NONE, run_id, IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "debug: include debug in the metadata",
        .choices = include_debug),
};
#undef OF
const struct schema query_messages =
    SCHEMA("MessagesQuery", struct messages_query, messages_query_fields, IN_QUERY);

static enum error read_cursor(
    struct call *call, struct str text, const char *param, int64_t fallback, int64_t *out)
{
    *out = fallback;
    if (str_is_none(text) || (str_to_i64(text, out) && *out >= 0))
        return OK;
    problem_fault(&call->problem, str_of(param), "must be a cursor of this list");
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

static struct str cursor_at(struct call *call, int64_t seq)
{
    return arena_printf(call->arena, "%lld", (long long)seq);
}

static void answer_page(struct call *call, const struct message_page *page, bool newest_first)
{
    struct json_writer w;
    struct str before = cursor_at(call, page->first_seq), after = cursor_at(call, page->last_seq);
    call_begin_data(call, &w);
    for (size_t i = 0; i < page->page.count; i++)
        schema_encode(&w, &schema_message, &page->messages[i]);
    struct str next = newest_first ? before : after;
    call_end_data(&w, page->page.more, page->page.more ? next : STR_NONE);
    json_write_name(&w, "before_cursor");
    json_write_string(&w, before);
    json_write_name(&w, "after_cursor");
    json_write_string(&w, after);
    json_write_end(&w);
}

enum error handle_message_list(struct call *call, struct context *c)
{
    const struct messages_query *q = call->request.query;
    size_t limit = q->has_limit ? (size_t)q->limit : PAGE_DEFAULT;
    struct message_page page = {
        .page.limit = limit, .messages = ARENA_ARRAY(call->arena, struct message, limit)};
    struct message_filter filter = {.thread_id = call->request.params[0],
        .newest_first = str_is_none(q->after),
        .type = q->type,
        .has_sender_id = q->has_sender_id,
        .sender_id = q->sender_id,
        .has_run_id = q->has_run_id,
        .run_id = q->run_id,
        .with_debug = q->include != INCLUDE_NONE};
    TRY(read_cursor(call, q->after, "after", 0, &filter.after));
    TRY(read_cursor(call, q->before, "before", INT64_MAX, &filter.before));
    TRY(message_list(c, &filter, &page));
    answer_page(call, &page, filter.newest_first);
    return OK;
}

struct search_query {
    struct page_query page;
    struct str text;
};
#define OF struct search_query
static const struct field search_query_fields[] = {
    FIELD_AS(STRING, "q", text, IN_QUERY, "required words: word \"a phrase\" begin* -not", .min = 1,
        .max = MESSAGE_SEARCH_MAX_BYTES),
    PAGE_FIELDS(IN_QUERY),
};
#undef OF
const struct schema query_message_search =
    SCHEMA("MessageSearchQuery", struct search_query, search_query_fields, IN_QUERY);

static enum error search(struct call *call, struct context *c, struct message_search *search)
{
    const struct search_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct message *messages = ARENA_ARRAY(call->arena, struct message, page.limit);
    search->text = q->text;
    TRY(cursor_to_number(call, q->page.cursor, &search->before));
    TRY(message_search(c, search, &page, messages));
    return call_answer_page(
        call, &schema_message, messages, &page, CURSOR_BY(struct message, event_id));
}

enum error handle_message_search(struct call *call, struct context *c)
{
    struct message_search all = {0};
    return search(call, c, &all);
}

enum error handle_thread_message_search(struct call *call, struct context *c)
{
    struct message_search in = {.has_thread_id = true, .thread_id = call->request.params[0]};
    struct event_bounds bounds;
    const struct event_filter thread = {
        .has_thread_id = true, .thread_id = call->request.params[0]};
    TRY(event_bounds(c, &thread, &bounds));
    return search(call, c, &in);
}

/* --- One object ---------------------------------------------------------------------------- */

struct message_query {
    enum include include;
};
#define OF struct message_query
static const struct field message_query_fields[] = {
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "debug: include debug in the metadata",
        .choices = include_debug),
};
#undef OF
const struct schema query_message =
    SCHEMA("MessageQuery", struct message_query, message_query_fields, IN_QUERY);

enum error handle_message_get(struct call *call, struct context *c)
{
    const struct message_query *q = call->request.query;
    struct message message;
    TRY(message_get(
        c, call->request.params[0], call->request.params[1], q->include != INCLUDE_NONE, &message));
    if (str_eq(message.responses, STR("[]"))) {
        return call_answer(call, &schema_message, &message, message.version);
    }
    /* A response does not change the version: a client that has the version may not have the
     * responses. */
    call_add_header(
        call, STR("ETag"), arena_printf(call->arena, "\"%lld\"", (long long)message.version));
    return call_answer(call, &schema_message, &message, 0);
}

enum error handle_message_patch(struct call *call, struct context *c)
{
    struct message before, after;
    TRY(message_get(c, call->request.params[0], call->request.params[1], true, &before));
    TRY(context_check_match(c, before.version));
    TRY(call_apply_patch(call, &before, &after));
    if (str_is_none(after.content))
        return problem_fault(&call->problem, STR("/content"), "cannot be removed");
    TRY(message_update(c, &before, &after));
    return call_answer(call, &schema_message, &after, after.version);
}

enum error handle_message_delete(struct call *call, struct context *c)
{
    struct message message;
    TRY(message_get(c, call->request.params[0], call->request.params[1], false, &message));
    TRY(message_delete(c, &message));
    return call_answer_nothing(call);
}

/* --- Debug data and versions --------------------------------------------------------------- */

#define OF struct message
static const struct field debug_fields[] = {
    FIELD_AS(UUID, "message_id", id, IN_READ),
    FIELD(OBJECT_OR_NULL, debug, IN_READ),
};
#undef OF
const struct schema schema_message_debug =
    SCHEMA("MessageDebug", struct message, debug_fields, IN_READ);

enum error handle_message_debug(struct call *call, struct context *c)
{
    struct message message;
    TRY(message_get(c, call->request.params[0], call->request.params[1], true, &message));
    return call_answer(call, &schema_message_debug, &message, 0);
}

#define OF struct message_version
static const struct field version_fields[] = {
    FIELD(INT, version, IN_READ),
    FIELD(STRING, content, IN_READ),
    FIELD(STRING, content_type, IN_READ),
    FIELD(OBJECT, metadata, IN_READ),
    FIELD(ARRAY, filenames, IN_READ, .items = "string"),
    FIELD(TIME, created_at, IN_READ, "creation time of this version"),
};
#undef OF
const struct schema schema_message_version =
    SCHEMA("MessageVersion", struct message_version, version_fields, IN_READ);

struct versions_query {
    struct page_query page;
    enum include include;
};
#define OF struct versions_query
static const struct field versions_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "debug: include debug in the metadata",
        .choices = include_debug),
};
#undef OF
const struct schema query_message_versions =
    SCHEMA("MessageVersionsQuery", struct versions_query, versions_query_fields, IN_QUERY);

enum error handle_message_versions(struct call *call, struct context *c)
{
    const struct versions_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct message_version *versions = ARENA_ARRAY(call->arena, struct message_version, page.limit);
    struct message message;
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(message_get(c, call->request.params[0], call->request.params[1], false, &message));
    TRY(message_list_versions(c, &message, before, q->include != INCLUDE_NONE, &page, versions));
    return call_answer_page(
        call, &schema_message_version, versions, &page, CURSOR_BY(struct message_version, version));
}
