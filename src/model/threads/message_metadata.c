/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a message's metadata with a meaning for every client. Applications may use others.
 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "base/link.h"
#include "model/threads/message_parts.h"

enum { MAX_TEXT_BYTES = 2000, MAX_ITEMS = 100 };

/* The member being checked. */
struct place {
    struct context *c;
    struct str pointer;
};

static struct place inside(struct place p, struct str token)
{
    return (struct place){p.c, json_pointer_join(p.c->arena, p.pointer, token)};
}

static struct place item(struct place p, size_t index)
{
    return (struct place){p.c, arena_printf(p.c->arena, "%.*s/%zu", STR_ARG(p.pointer), index)};
}

static enum error refuse(struct place p, const char *rule)
{
    return problem_fault(p.c->problem, p.pointer, "%s", rule);
}

static enum error check_text(struct place p, struct json v)
{
    if (json_type(v) != JSON_STRING)
        return refuse(p, "must be a string");
    if (json_string(p.c->arena, v).len > MAX_TEXT_BYTES)
        return problem_fault(p.c->problem, p.pointer, "must have at most %d bytes", MAX_TEXT_BYTES);
    return OK;
}

static enum error check_filled_text(struct place p, struct json v)
{
    TRY(check_text(p, v));
    return json_string(p.c->arena, v).len == 0 ? refuse(p, "must not be empty") : OK;
}

static enum error check_href(struct place p, struct json v)
{
    TRY(check_text(p, v));
    struct str uri = json_string(p.c->arena, v);
    if (link_is_safe(uri))
        return OK;
    return refuse(p, LINK_RULE);
}

static enum error check_footer_items(struct place p, struct json v)
{
    struct json_iter it = json_iter(v);
    struct json text;
    if (json_type(v) == JSON_STRING)
        return check_text(p, v);
    if (json_type(v) != JSON_ARRAY || json_count(v) > MAX_ITEMS)
        return refuse(p, "must be a string or an array of at most 100 strings");
    for (size_t i = 0; json_next(&it, NULL, &text); i++)
        TRY(check_text(item(p, i), text));
    return OK;
}

static enum error check_tool_call(struct place p, struct json v)
{
    static const struct str NAMED[] = {{"id", 2}, {"name", 4}};
    struct json member;
    if (json_type(v) != JSON_OBJECT)
        return refuse(p, "must be an object with id, name and arguments");
    for (size_t i = 0; i < COUNT_OF(NAMED); i++) {
        struct place named = inside(p, NAMED[i]);
        if (!json_get(v, NAMED[i], &member))
            return refuse(named, "must be given");
        TRY(check_filled_text(named, member));
    }
    if (json_get(v, STR("arguments"), &member) && json_type(member) != JSON_OBJECT)
        return refuse(inside(p, STR("arguments")), "must be an object");
    return OK;
}

static enum error check_tool_calls(struct place p, struct json v)
{
    struct json_iter it = json_iter(v);
    struct json call;
    if (json_type(v) != JSON_ARRAY || json_count(v) > MAX_ITEMS)
        return refuse(p, "must be an array of at most 100 objects");
    for (size_t i = 0; json_next(&it, NULL, &call); i++)
        TRY(check_tool_call(item(p, i), call));
    return OK;
}

static enum error check_tool_result(struct place p, struct json v)
{
    struct json member;
    if (json_type(v) != JSON_OBJECT)
        return refuse(p, "must be an object with tool_call_id and content");
    struct place id = inside(p, STR("tool_call_id"));
    if (!json_get(v, STR("tool_call_id"), &member))
        return refuse(id, "must be given");
    TRY(check_filled_text(id, member));
    if (!json_get(v, STR("content"), &member))
        return refuse(inside(p, STR("content")), "must be given, as any JSON value");
    return OK;
}

static enum error check_debug(struct place p, struct json v)
{
    if (json_type(v) != JSON_OBJECT)
        return refuse(p, "must be an object");
    if (json_compact_len(v) > MESSAGE_DEBUG_MAX_BYTES)
        return problem_fault(
            p.c->problem, p.pointer, "must have at most %d bytes", MESSAGE_DEBUG_MAX_BYTES);
    return OK;
}

static const struct {
    struct str name;
    enum error (*check)(struct place p, struct json v);
} MEMBERS[] = {
    {{"attribution", 11}, check_text},
    {{"href", 4}, check_href},
    {{"debug", 5}, check_debug},
    {{"footer_items", 12}, check_footer_items},
    {{"tool_calls", 10}, check_tool_calls},
    {{"tool_result", 11}, check_tool_result},
};

static struct str without_debug(struct arena *arena, struct json object)
{
    struct json_iter it = json_iter(object);
    struct json key, value;
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    while (json_next(&it, &key, &value)) {
        if (json_string_eq(key, STR("debug")))
            continue;
        json_write_key_value(&text.w, key);
        json_write_value(&text.w, value);
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

enum error message_check_metadata(struct context *c, struct message *message, struct str at)
{
    struct place p = {c, arena_printf(c->arena, "%.*s/metadata", STR_ARG(at))};
    struct json_doc doc;
    struct json_error unused;
    struct json member;
    message->debug = STR_NONE;
    message->has_debug = false;
    if (str_eq(message->metadata, STR("{}")))
        return OK;
    if (!json_parse(c->arena, message->metadata, &doc, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    struct json root = json_root(&doc);
    for (size_t i = 0; i < COUNT_OF(MEMBERS); i++)
        if (json_get(root, MEMBERS[i].name, &member))
            TRY(MEMBERS[i].check(inside(p, MEMBERS[i].name), member));
    message->has_debug = json_get(root, STR("debug"), &member);
    if (message->has_debug) {
        message->debug = json_compact(c->arena, member);
        message->metadata = without_debug(c->arena, root);
    }
    if (message->metadata.len > MESSAGE_METADATA_MAX_BYTES)
        return problem_fault(c->problem, p.pointer,
            "must have at most %d bytes as compact JSON, besides debug",
            MESSAGE_METADATA_MAX_BYTES);
    return OK;
}

void message_join_debug(struct context *c, struct message *message)
{
    if (str_is_none(message->debug))
        return;
    struct str rest = str_slice(message->metadata, 1, message->metadata.len);
    message->metadata = arena_printf(c->arena, "{\"debug\":%.*s%s%.*s", STR_ARG(message->debug),
        rest.len > 1 ? "," : "", STR_ARG(rest));
}
