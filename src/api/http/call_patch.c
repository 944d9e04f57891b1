/* SPDX-License-Identifier: Apache-2.0 */
/* PATCH: RFC 7396 and RFC 6902 over the part of an object that clients may change. */
#include "api/http/access.h"
#include "base/json/json_patch.h"

static enum error refuse(struct call *call, const struct json_patch_error *bad)
{
    problem_fault(&call->problem, bad->pointer, "%.*s", STR_ARG(bad->rule));
    call->problem.code = bad->malformed ? ERR_INVALID : ERR_PATCH_FAILED;
    return call->problem.code;
}

static struct str document_of(struct call *call, const void *object)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    schema_encode(&text.w, call->route->body, object);
    return json_text_take(&text, call->arena);
}

enum member_state call_member(const struct call *call, const char *name)
{
    return schema_member(call->route->body, &call->request.given, name);
}

bool call_gives_others(const struct call *call, const char *name)
{
    return schema_gives_others(call->route->body, &call->request.given, name);
}

static enum error patch(struct call *call, struct str document, struct str *out_text)
{
    struct json_doc target;
    struct json_error bad;
    struct json_patch_error refused;
    if (!json_parse(call->arena, document, &target, &bad))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the object is too large to patch");
    size_t max = call->route->body_limit > SCHEMA_DEFAULT_JSON_BYTES ? call->route->body_limit
                                                                     : SCHEMA_DEFAULT_JSON_BYTES;
    bool applied = call->request.is_json_patch
                       ? json_patch(call->arena, json_root(&target), json_root(&call->request.doc),
                             max, out_text, &refused)
                       : json_merge_patch(call->arena, json_root(&target),
                             json_root(&call->request.doc), max, out_text, &refused);
    return applied ? OK : refuse(call, &refused);
}

enum error call_apply_patch(struct call *call, const void *object, void *out)
{
    struct context *c = call->context;
    struct json_doc result;
    struct json_error bad;
    struct str text;
    if (call->request.is_json_patch) /* its operations test and copy the object's members */
        TRY(access_require_scope(call, scope_to_read(call->route->scope)));
    struct str document = document_of(call, object);
    if (!rehearsal_find(c, REHEARSED_PATCH, document, STR(""), &text)) {
        TRY(rehearsal_first(c, document.len + call->request.body.len));
        TRY(patch(call, document, &text));
        rehearsal_keep(c, REHEARSED_PATCH, document, STR(""), text);
    }
    if (!json_parse(call->arena, text, &result, &bad))
        return problem_set(&call->problem, ERR_TOO_LARGE, "the patched object is too large");
    return schema_decode(call->arena, call->route->body, json_root(&result), out, &call->problem);
}
