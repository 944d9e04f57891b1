/* SPDX-License-Identifier: Apache-2.0 */
#include "model/threads/messages.h"

#include "api/resources.h"

#define MESSAGE_FIELD(member) offsetof(struct message, member)

enum { METADATA_MAX_BYTES = MESSAGE_METADATA_MAX_BYTES + MESSAGE_DEBUG_MAX_BYTES + 1024 };

/* What an edit may change comes first: MessageBody is that part of the table, Message the whole. */
enum { MESSAGE_BODY_FIELDS = 4 };

static const struct field message_fields[] = {
    {.name = "content",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = MESSAGE_FIELD(content),
        .max = MESSAGE_CONTENT_MAX_BYTES},
    {.name = "content_type",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = MESSAGE_FIELD(content_type),
        .min = 1,
        .max = MESSAGE_CONTENT_TYPE_MAX_BYTES,
        .summary = "what the content is; text/plain unless told"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = MESSAGE_FIELD(metadata),
        .max = METADATA_MAX_BYTES,
        .summary = "your own, and attribution, href, footer_items, tool_calls, tool_result; debug "
                   "is kept apart, and in an answer only when asked for"},
    {.name = "filenames",
        .kind = FIELD_ARRAY,
        .items = "string",
        .flags = FIELD_OPTIONAL,
        .offset = MESSAGE_FIELD(filenames),
        .summary = "names of files of the thread"},
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = MESSAGE_FIELD(id)},
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(thread_id)},
    {.name = "seq",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(seq),
        .summary = "the order of the thread; that of its message.created event"},
    {.name = "sender_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(sender_id),
        .has_offset = MESSAGE_FIELD(has_sender_id),
        .summary = "a participant; null: the service that holds the key"},
    {.name = "sender_role",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(sender_role),
        .summary = "user, assistant or service"},
    {.name = "type",
        .kind = FIELD_ENUM,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(type),
        .choices = message_types},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(run_id),
        .has_offset = MESSAGE_FIELD(has_run_id)},
    {.name = "responds_to",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(responds_to),
        .has_offset = MESSAGE_FIELD(has_responds_to)},
    {.name = "addressed_to",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(addressed_to),
        .has_offset = MESSAGE_FIELD(has_addressed_to)},
    {.name = "command",
        .kind = FIELD_OBJECT,
        .flags = FIELD_READ_ONLY | FIELD_HIDE_NONE,
        .offset = MESSAGE_FIELD(command),
        .summary = "of a command: its name, arguments and options"},
    {.name = "has_debug",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(has_debug)},
    {.name = "responses",
        .kind = FIELD_ARRAY,
        .items = "string",
        .flags = FIELD_READ_ONLY | FIELD_HIDE_NONE,
        .offset = MESSAGE_FIELD(responses),
        .summary = "ids of the first 100 messages that answer it; not in lists"},
    {.name = "snippet",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY | FIELD_HIDE_NONE,
        .offset = MESSAGE_FIELD(snippet),
        .summary = "of a search: what stands around the first word that was found"},
    {.name = "deleted_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(deleted_at),
        .has_offset = MESSAGE_FIELD(has_deleted_at),
        .summary = "of a tombstone, which has no content"},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = MESSAGE_FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_message = {
    "Message", message_fields, COUNT_OF(message_fields), sizeof(struct message), 0};
const struct schema schema_message_body = {
    "MessageBody", message_fields, MESSAGE_BODY_FIELDS, sizeof(struct message), 0};

/* --- Create --------------------------------------------------------------------------------- */

struct message_input {
    struct message message;
    struct nested_list messages; /* of the batch form only */
};
#define INPUT_FIELD(member) offsetof(struct message_input, message.member)

enum { MESSAGE_INPUT_FIELDS = 9 };

static const struct schema schema_message_input;
static const struct field input_fields[] = {
    {.name = "content",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(content),
        .max = MESSAGE_CONTENT_MAX_BYTES,
        .summary = "must be given, and may be empty; of a command: /name argument key=value"},
    {.name = "content_type",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(content_type),
        .min = 1,
        .max = MESSAGE_CONTENT_TYPE_MAX_BYTES},
    {.name = "type",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(type),
        .choices = message_types,
        .summary = "chat unless told"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(metadata),
        .max = METADATA_MAX_BYTES,
        .summary = "at most 100 KiB besides debug, which may have a mebibyte"},
    {.name = "filenames",
        .kind = FIELD_ARRAY,
        .items = "string",
        .flags = FIELD_OPTIONAL,
        .offset = INPUT_FIELD(filenames),
        .summary = "names of files of the thread"},
    {.name = "sender_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = INPUT_FIELD(sender_id),
        .has_offset = INPUT_FIELD(has_sender_id),
        .summary = "a participant; a key that acts for a principal sends as that one"},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = INPUT_FIELD(run_id),
        .has_offset = INPUT_FIELD(has_run_id),
        .summary = "the run of this thread that it belongs to"},
    {.name = "responds_to",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = INPUT_FIELD(responds_to),
        .has_offset = INPUT_FIELD(has_responds_to),
        .summary = "a message of this thread; of a command-response: the command"},
    {.name = "addressed_to",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = INPUT_FIELD(addressed_to),
        .has_offset = INPUT_FIELD(has_addressed_to),
        .summary = "of a command: the participant that is to carry it out"},
    {.name = "messages",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct message_input, messages),
        .min = 1,
        .max = MESSAGE_BATCH_MAX,
        .nested = &schema_message_input,
        .summary = "many messages instead of one; all are created or none"},
};
static const struct schema schema_message_input = {
    "MessageInput", input_fields, MESSAGE_INPUT_FIELDS, sizeof(struct message_input), 0};
const struct schema schema_message_create = {
    "MessageCreate", input_fields, COUNT_OF(input_fields), sizeof(struct message_input), 0};

struct created {
    int64_t count;
    int64_t first_seq;
    int64_t last_seq;
    struct str_list ids;
};
static const struct field created_fields[] = {
    {.name = "count", .kind = FIELD_INT, .offset = offsetof(struct created, count)},
    {.name = "first_seq", .kind = FIELD_INT, .offset = offsetof(struct created, first_seq)},
    {.name = "last_seq", .kind = FIELD_INT, .offset = offsetof(struct created, last_seq)},
    {.name = "ids", .kind = FIELD_STRINGS, .offset = offsetof(struct created, ids)},
};
const struct schema schema_messages_created = {
    "MessagesCreated", created_fields, COUNT_OF(created_fields), sizeof(struct created), 0};

static void answer_created(struct call *call, const struct message_append *append)
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
    call_answer(call, &schema_messages_created, &created, 0);
}

static enum error answer_create(struct call *call, struct context *c)
{
    const struct message_input *body = call->request.input;
    struct message_append *append = call->later_data;
    enum error e = message_append_end(c, append);
    if (e != OK)
        return e;
    if (body->messages.count > 0)
        answer_created(call, append);
    else
        call_answer(call, &schema_message, &append->messages[0], append->messages[0].version);
    return OK;
}

/* A batch stands alone, and each message has its content. */
static enum error check_form(struct call *call, const struct message_input *body)
{
    const struct message_input *inputs = body->messages.items;
    const struct message *m = &body->message;
    bool one = !str_is_none(m->content) || !str_is_none(m->content_type) || !str_is_none(m->type) ||
               !str_is_none(m->metadata) || !str_is_none(m->filenames) || m->has_sender_id ||
               m->has_run_id || m->has_responds_to || m->has_addressed_to;
    if (body->messages.count == 0)
        return str_is_none(m->content)
                   ? problem_fault(&call->problem, STR("/content"), "must be given")
                   : OK;
    if (one)
        return problem_fault(
            &call->problem, STR("/messages"), "stands alone: give one message or a list of them");
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
    enum error e = check_form(call, body);
    if (e != OK)
        return e;
    struct message *messages = ARENA_ARRAY(call->arena, struct message, n);
    for (size_t i = 0; i < n; i++)
        messages[i] = inputs[i].message;
    struct message_append *append = ARENA_NEW(call->arena, struct message_append);
    call->later = answer_create;
    call->later_data = append;
    return message_append_begin(
        c, call->request.params[0], messages, n, batch ? STR("/messages") : STR_NONE, append);
}

/* --- Lists ---------------------------------------------------------------------------------- */

static const char *const includes[] = {"debug", NULL};

struct messages_query {
    struct str before;
    struct str after;
    bool has_limit;
    int64_t limit;
    struct str type;
    bool has_sender_id;
    struct uuid sender_id;
    bool has_run_id;
    struct uuid run_id;
    struct str include;
};
#define QUERY_FIELD(member) offsetof(struct messages_query, member)
static const struct field messages_query_fields[] = {
    {.name = "before",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(before),
        .max = 20,
        .summary = "a cursor: messages before it, newest first; so is a page without a cursor"},
    {.name = "after",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(after),
        .max = 20,
        .summary = "a cursor: messages after it, oldest first; 0: from the first one"},
    {.name = "limit",
        .kind = FIELD_INT,
        .offset = QUERY_FIELD(limit),
        .has_offset = QUERY_FIELD(has_limit),
        .min = 1,
        .max = PAGE_MAX,
        .summary = "items a page, 50 unless told"},
    {.name = "type", .kind = FIELD_ENUM, .offset = QUERY_FIELD(type), .choices = message_types},
    {.name = "sender_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(sender_id),
        .has_offset = QUERY_FIELD(has_sender_id)},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(run_id),
        .has_offset = QUERY_FIELD(has_run_id)},
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(include),
        .choices = includes,
        .summary = "debug: in the metadata, too"},
};
const struct schema query_messages = {"MessagesQuery", messages_query_fields,
    COUNT_OF(messages_query_fields), sizeof(struct messages_query), 0};

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

static void write_cursor(struct json_writer *w, struct arena *arena, const char *name, int64_t at)
{
    json_write_name(w, name);
    json_write_string(w, arena_printf(arena, "%lld", (long long)at));
}

static void answer_page(struct call *call, const struct message_page *page, bool newest_first)
{
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_name(&w, "data");
    json_write_array(&w);
    for (size_t i = 0; i < page->count; i++)
        schema_encode(&w, &schema_message, &page->messages[i]);
    json_write_end(&w);
    json_write_name(&w, "has_more");
    json_write_bool(&w, page->more);
    if (page->more) {
        write_cursor(
            &w, call->arena, "next_cursor", newest_first ? page->first_seq : page->last_seq);
    } else {
        json_write_name(&w, "next_cursor");
        json_write_null(&w);
    }
    write_cursor(&w, call->arena, "before_cursor", page->first_seq);
    write_cursor(&w, call->arena, "after_cursor", page->last_seq);
    json_write_end(&w);
}

enum error handle_message_list(struct call *call, struct context *c)
{
    const struct messages_query *q = call->request.query;
    size_t limit = q->has_limit ? (size_t)q->limit : PAGE_DEFAULT;
    struct message_page page = {.messages = ARENA_ARRAY(call->arena, struct message, limit)};
    struct message_filter filter = {.thread_id = call->request.params[0],
        .newest_first = str_is_none(q->after),
        .type = q->type,
        .has_sender_id = q->has_sender_id,
        .sender_id = q->sender_id,
        .has_run_id = q->has_run_id,
        .run_id = q->run_id,
        .with_debug = !str_is_none(q->include)};
    enum error e = read_cursor(call, q->after, "after", 0, &filter.after);
    if (e == OK)
        e = read_cursor(call, q->before, "before", INT64_MAX, &filter.before);
    if (e == OK)
        e = message_list(c, &filter, limit, &page);
    if (e == OK)
        answer_page(call, &page, filter.newest_first);
    return e;
}

struct search_query {
    struct page_query page;
    struct str text;
};
static const struct field search_query_fields[] = {
    {.name = "q",
        .kind = FIELD_STRING,
        .offset = offsetof(struct search_query, text),
        .min = 1,
        .max = MESSAGE_SEARCH_MAX_BYTES,
        .summary = "words that must all be there: word \"a phrase\" begin* -not"},
    PAGE_FIELDS(struct search_query),
};
const struct schema query_message_search = {"MessageSearchQuery", search_query_fields,
    COUNT_OF(search_query_fields), sizeof(struct search_query), 0};

static struct str cursor_of_hit(struct arena *arena, const void *item)
{
    return arena_printf(arena, "%lld", (long long)((const struct message *)item)->event_id);
}

static enum error search(struct call *call, struct context *c, struct message_search *search)
{
    const struct search_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct message *messages = ARENA_ARRAY(call->arena, struct message, limit);
    bool more;
    if (str_is_none(q->text))
        return problem_fault(&call->problem, STR("q"), "must be given");
    search->text = q->text;
    enum error e = read_cursor(call, q->page.cursor, "cursor", INT64_MAX, &search->before);
    if (e == OK)
        e = message_search(c, search, limit, messages, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_message, messages, count, more, cursor_of_hit);
    return e;
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
    enum error e = event_bounds(c, &thread, &bounds);
    return e == OK ? search(call, c, &in) : e;
}

/* --- One ------------------------------------------------------------------------------------ */

struct message_query {
    struct str include;
};
static const struct field message_query_fields[] = {
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct message_query, include),
        .choices = includes,
        .summary = "debug: in the metadata, too"},
};
const struct schema query_message = {
    "MessageQuery", message_query_fields, 1, sizeof(struct message_query), 0};

enum error handle_message_get(struct call *call, struct context *c)
{
    const struct message_query *q = call->request.query;
    struct message message;
    enum error e = message_get(
        c, call->request.params[0], call->request.params[1], !str_is_none(q->include), &message);
    if (e != OK)
        return e;
    if (str_eq(message.responses, STR("[]"))) {
        call_answer(call, &schema_message, &message, message.version);
        return OK;
    }
    /* A response leaves the version as it is: nobody who has the message has its responses. */
    call_add_header(
        call, STR("ETag"), arena_printf(call->arena, "\"%lld\"", (long long)message.version));
    call_answer(call, &schema_message, &message, 0);
    return OK;
}

enum error handle_message_patch(struct call *call, struct context *c)
{
    struct message before, after;
    enum error e = message_get(c, call->request.params[0], call->request.params[1], true, &before);
    if (e == OK)
        e = context_check_match(c, before.version);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK && str_is_none(after.content))
        e = problem_fault(&call->problem, STR("/content"), "cannot be removed");
    if (e == OK)
        e = message_update(c, &before, &after);
    if (e == OK)
        call_answer(call, &schema_message, &after, after.version);
    return e;
}

enum error handle_message_delete(struct call *call, struct context *c)
{
    struct message message;
    enum error e =
        message_get(c, call->request.params[0], call->request.params[1], false, &message);
    if (e == OK)
        e = message_delete(c, &message);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

/* --- What is kept apart --------------------------------------------------------------------- */

static const struct field debug_fields[] = {
    {.name = "message_id", .kind = FIELD_UUID, .offset = MESSAGE_FIELD(id)},
    {.name = "debug",
        .kind = FIELD_OBJECT,
        .flags = FIELD_NULLABLE,
        .offset = MESSAGE_FIELD(debug)},
};
const struct schema schema_message_debug = {
    "MessageDebug", debug_fields, COUNT_OF(debug_fields), sizeof(struct message), 0};

enum error handle_message_debug(struct call *call, struct context *c)
{
    struct message message;
    enum error e = message_get(c, call->request.params[0], call->request.params[1], true, &message);
    if (e == OK)
        call_answer(call, &schema_message_debug, &message, 0);
    return e;
}

#define VERSION_FIELD(member) offsetof(struct message_version, member)
static const struct field version_fields[] = {
    {.name = "version", .kind = FIELD_INT, .offset = VERSION_FIELD(version)},
    {.name = "content", .kind = FIELD_STRING, .offset = VERSION_FIELD(content)},
    {.name = "content_type", .kind = FIELD_STRING, .offset = VERSION_FIELD(content_type)},
    {.name = "metadata", .kind = FIELD_OBJECT, .offset = VERSION_FIELD(metadata)},
    {.name = "filenames",
        .kind = FIELD_ARRAY,
        .items = "string",
        .offset = VERSION_FIELD(filenames)},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .offset = VERSION_FIELD(created_at),
        .summary = "when this version was written"},
};
const struct schema schema_message_version = {
    "MessageVersion", version_fields, COUNT_OF(version_fields), sizeof(struct message_version), 0};

struct versions_query {
    struct page_query page;
    struct str include;
};
static const struct field versions_query_fields[] = {
    PAGE_FIELDS(struct versions_query),
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct versions_query, include),
        .choices = includes,
        .summary = "debug: in the metadata, too"},
};
const struct schema query_message_versions = {"MessageVersionsQuery", versions_query_fields,
    COUNT_OF(versions_query_fields), sizeof(struct versions_query), 0};

static struct str cursor_of_version(struct arena *arena, const void *item)
{
    return arena_printf(arena, "%lld", (long long)((const struct message_version *)item)->version);
}

enum error handle_message_versions(struct call *call, struct context *c)
{
    const struct versions_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct message_version *versions = ARENA_ARRAY(call->arena, struct message_version, limit);
    struct message message;
    int64_t before;
    bool more;
    enum error e = read_cursor(call, q->page.cursor, "cursor", INT64_MAX, &before);
    if (e == OK)
        e = message_get(c, call->request.params[0], call->request.params[1], false, &message);
    if (e == OK)
        e = message_list_versions(
            c, &message, before, !str_is_none(q->include), limit, versions, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_message_version, versions, count, more, cursor_of_version);
    return e;
}
