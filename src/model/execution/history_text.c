/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/history_text.h"

#include "base/buf.h"

enum { TEXT_MAX_BYTES = 8 * 1024 * 1024 }; /* the list of messages */

struct str history_text_of_output(struct arena *arena, struct str output)
{
    static const struct str names[] = {
        {"text", 4}, {"content", 7}, {"answer", 6}, {"response", 8}, {"message", 7}};
    struct json_doc doc;
    struct json_error bad;
    struct json v;
    if (str_is_none(output) || !json_parse(arena, output, &doc, &bad))
        return STR_NONE;
    if (json_type(json_root(&doc)) == JSON_STRING)
        return json_string(arena, json_root(&doc));
    for (size_t i = 0; json_type(json_root(&doc)) == JSON_OBJECT && i < COUNT_OF(names); i++)
        if (json_get(json_root(&doc), names[i], &v) && json_type(v) == JSON_STRING)
            return json_string(arena, v);
    return STR_NONE;
}

/* Joins the text blocks of a message with line feeds. */
static struct str text_of_blocks(struct arena *arena, struct json blocks)
{
    struct json block, type, text;
    struct buf out;
    buf_init(&out, TEXT_MAX_BYTES);
    struct json_iter it = json_iter(blocks);
    while (json_next(&it, NULL, &block)) {
        if (json_type(block) != JSON_OBJECT || !json_get(block, STR("type"), &type) ||
            json_type(type) != JSON_STRING || !json_string_eq(type, STR("text")) ||
            !json_get(block, STR("text"), &text) || json_type(text) != JSON_STRING)
            continue;
        buf_append(&out, out.len > 0 ? STR("\n") : STR(""));
        buf_append(&out, json_string(arena, text));
    }
    struct str all = out.len > 0 ? arena_str(arena, buf_str(&out)) : STR_NONE;
    buf_deinit(&out);
    return all;
}

static struct str text_of_message(struct arena *arena, struct json message)
{
    struct json role, content;
    if (json_type(message) != JSON_OBJECT || !json_get(message, STR("role"), &role) ||
        json_type(role) != JSON_STRING || !json_string_eq(role, STR("assistant")) ||
        !json_get(message, STR("content"), &content))
        return STR_NONE;
    if (json_type(content) == JSON_STRING && json_raw(content).len > 2 /* the quotes */)
        return json_string(arena, content);
    return json_type(content) == JSON_ARRAY ? text_of_blocks(arena, content) : STR_NONE;
}

struct str history_text_of_messages(struct arena *arena, struct str list)
{
    struct json_doc doc;
    struct json_error bad;
    struct json message;
    struct str last = STR_NONE;
    if (!json_parse(arena, list, &doc, &bad))
        return STR_NONE;
    struct json_iter it = json_iter(json_root(&doc));
    while (json_next(&it, NULL, &message)) {
        struct str text = text_of_message(arena, message);
        last = str_is_none(text) ? last : text;
    }
    return last;
}
