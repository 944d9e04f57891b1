/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/resumption_check.h"

#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/execution/transcripts.h"

#define SECOND_PICO 1000000000000

static void default_to(bool *has, int64_t *value, int64_t otherwise)
{
    if (!*has)
        *value = otherwise;
    *has = true;
}

static void default_json(struct str *json, struct str otherwise)
{
    if (str_is_none(*json))
        *json = otherwise;
}

void resumption_defaults(struct resumption *r)
{
    default_to(&r->has_max_steps, &r->max_steps, 50);
    default_to(&r->has_thinking_tokens, &r->thinking_tokens, 0);
    default_to(&r->has_max_tokens, &r->max_tokens, 2048);
    default_to(&r->has_max_retries, &r->max_retries, 5);
    default_to(&r->has_base_delay, &r->base_delay_pico, SECOND_PICO);
    default_to(&r->has_last_known_input_tokens, &r->last_known_input_tokens, 0);
    default_to(&r->has_last_known_output_tokens, &r->last_known_output_tokens, 0);
    default_to(&r->has_current_step, &r->current_step, 0);
    r->has_stream_meta = true;
    default_json(&r->tool_schemas, STR("[]"));
    default_json(&r->server_tools, STR("[]"));
    default_json(&r->beta_headers, STR("[]"));
    default_json(&r->api_kwargs, STR("{}"));
    default_json(&r->file_registry, STR("{}"));
    default_json(&r->extras, STR("{}"));
}

/* --- Rules ---------------------------------------------------------------------------------- */

static enum error parse(struct context *c, struct str text, struct json_doc *out_doc)
{
    struct json_error bad;
    if (json_parse(c->arena, text, out_doc, &bad))
        return OK;
    return problem_set(
        c->problem, ERR_TOO_LARGE, "the resumption exceeds the memory limit of a request");
}

static bool is_text(struct context *c, struct json v, size_t max_bytes)
{
    if (json_type(v) != JSON_STRING)
        return false;
    struct str text = json_string(c->arena, v);
    return text.len >= 1 && text.len <= max_bytes;
}

static enum error check_count(
    struct context *c, struct json list, const char *pointer, size_t max_count)
{
    if (json_count(list) <= max_count)
        return OK;
    return problem_fault(c->problem, str_of(pointer), "must have at most %zu items", max_count);
}

static enum error check_tool(struct context *c, struct json tool, size_t i)
{
    struct json v;
    enum error e = OK;
    struct str at = arena_printf(c->arena, "/tool_schemas/%zu", i);
    if (json_type(tool) != JSON_OBJECT)
        return problem_fault(c->problem, at, "must be an object");
    if (!json_get(tool, STR("name"), &v) || !is_text(c, v, RESUMPTION_TOOL_NAME_MAX_BYTES))
        e = problem_fault(c->problem, arena_printf(c->arena, "%.*s/name", STR_ARG(at)),
            "must be a string of 1 to %d bytes", RESUMPTION_TOOL_NAME_MAX_BYTES);
    if (json_get(tool, STR("description"), &v) && json_type(v) != JSON_STRING &&
        json_type(v) != JSON_NULL)
        e = problem_fault(c->problem, arena_printf(c->arena, "%.*s/description", STR_ARG(at)),
            "must be a string or null");
    if (!json_get(tool, STR("input_schema"), &v) || json_type(v) != JSON_OBJECT)
        e = problem_fault(c->problem, arena_printf(c->arena, "%.*s/input_schema", STR_ARG(at)),
            "must be an object: the JSON Schema of the input");
    return e;
}

static enum error check_tools(struct context *c, struct str tools)
{
    struct json_doc doc;
    struct json tool, name;
    enum error e = parse(c, tools, &doc);
    if (e == OK)
        e = check_count(c, json_root(&doc), "/tool_schemas", RESUMPTION_TOOLS_MAX);
    if (e != OK)
        return e;
    struct str *names = ARENA_ARRAY(c->arena, struct str, json_count(json_root(&doc)) + 1);
    struct json_iter it = json_iter(json_root(&doc));
    for (size_t i = 0; json_next(&it, NULL, &tool); i++) {
        enum error bad = check_tool(c, tool, i);
        if (bad != OK) {
            e = bad;
            continue;
        }
        json_get(tool, STR("name"), &name);
        names[i] = json_string(c->arena, name);
        for (size_t k = 0; k < i; k++)
            if (!str_is_none(names[k]) && str_eq(names[k], names[i]))
                e = problem_fault(c->problem, arena_printf(c->arena, "/tool_schemas/%zu/name", i),
                    "must differ from the name of tool %zu", k);
    }
    return e;
}

static enum error check_each(
    struct context *c, struct str list, const char *member, size_t max_count, size_t max_bytes)
{
    struct json_doc doc;
    struct json item;
    enum error e = parse(c, list, &doc);
    if (e == OK)
        e = check_count(c, json_root(&doc),
            arena_cstr(c->arena, arena_printf(c->arena, "/%s", member)), max_count);
    if (e != OK)
        return e;
    struct json_iter it = json_iter(json_root(&doc));
    for (size_t i = 0; json_next(&it, NULL, &item); i++) {
        struct str at = arena_printf(c->arena, "/%s/%zu", member, i);
        if (max_bytes > 0 && !is_text(c, item, max_bytes))
            e = problem_fault(c->problem, at, "must be a string of 1 to %zu bytes", max_bytes);
        if (max_bytes == 0 && json_type(item) != JSON_OBJECT)
            e = problem_fault(c->problem, at, "must be an object");
    }
    return e;
}

static enum error check_files(struct context *c, struct str registry)
{
    struct json_doc doc;
    struct json key, file, name;
    enum error e = parse(c, registry, &doc);
    if (e == OK)
        e = check_count(c, json_root(&doc), "/file_registry", RESUMPTION_FILES_MAX);
    if (e != OK)
        return e;
    struct json_iter it = json_iter(json_root(&doc));
    while (json_next(&it, &key, &file)) {
        bool good = json_type(file) == JSON_OBJECT && json_get(file, STR("filename"), &name) &&
                    is_text(c, name, RESUMPTION_NAME_MAX_BYTES);
        if (!good)
            e = problem_fault(c->problem,
                json_pointer_join(c->arena, STR("/file_registry"), json_string(c->arena, key)),
                "must be an object with a \"filename\" of 1 to %d bytes",
                RESUMPTION_NAME_MAX_BYTES);
    }
    return e;
}

enum error resumption_check(struct context *c, const struct resumption *r)
{
    enum error results[] = {
        check_tools(c, r->tool_schemas),
        check_each(c, r->server_tools, "server_tools", RESUMPTION_TOOLS_MAX, 0),
        check_each(c, r->beta_headers, "beta_headers", RESUMPTION_HEADERS_MAX,
            RESUMPTION_HEADER_MAX_BYTES),
        check_files(c, r->file_registry),
        str_is_none(r->messages) ? OK : transcript_check(c, r->messages, STR("/messages")),
        str_is_none(r->conversation_history)
            ? OK
            : transcript_check(c, r->conversation_history, STR("/conversation_history")),
    };
    for (size_t i = 0; i < COUNT_OF(results); i++)
        if (results[i] != OK)
            return results[i];
    return OK;
}

struct str resumption_tool_names(struct context *c, struct str tool_schemas)
{
    struct json_doc doc;
    struct json tool, name;
    struct json_text text;
    if (parse(c, tool_schemas, &doc) != OK)
        return STR("[]");
    json_text_init(&text, RESUMPTION_TOOLS_MAX_BYTES);
    json_write_array(&text.w);
    struct json_iter it = json_iter(json_root(&doc));
    while (json_next(&it, NULL, &tool))
        if (json_get(tool, STR("name"), &name))
            json_write_value(&text.w, name);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}
