/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <stdarg.h>

#include "base/json/json_patch.h"

void verdict_wrong(struct verdict *v, const char *fmt, ...)
{
    va_list args;
    if (atomic_exchange(&v->is_wrong, true))
        return;
    va_start(args, fmt);
    vsnprintf(v->words, sizeof v->words, fmt, args);
    va_end(args);
}

struct reply ask(struct arena *arena, cairn *c, const char *secret, const char *header,
    const char *method, const char *target, struct str body)
{
    const char *headers[3] = {NULL};
    size_t n = 0, len;
    if (secret[0] != '\0')
        headers[n++] = arena_cstr(arena, arena_printf(arena, "Authorization: Bearer %s", secret));
    if (header != NULL)
        headers[n++] = header;
    cairn_answer *a =
        cairn_call(c, method, target, headers, body.len == 0 ? NULL : body.ptr, body.len);
    const char *text = cairn_answer_body(a, &len);
    struct reply reply = {.status = cairn_answer_status(a),
        .body = arena_str(arena, (struct str){text, len}),
        .is_replayed = cairn_answer_header(a, "Idempotency-Replayed") != NULL};
    cairn_answer_free(a);
    return reply;
}

static bool find(struct arena *arena, struct str body, struct str pointer, struct json *out)
{
    struct json_doc *doc = ARENA_NEW(arena, struct json_doc);
    struct json_error error;
    return json_parse(arena, body, doc, &error) && json_pointer(json_root(doc), pointer, out);
}

struct str pointed(struct arena *arena, struct str body, struct str pointer)
{
    struct json value;
    return find(arena, body, pointer, &value) ? json_raw(value) : STR_NONE;
}

struct str pointed_text(struct arena *arena, struct str body, struct str pointer)
{
    struct json value;
    if (!find(arena, body, pointer, &value))
        return STR_NONE;
    return json_type(value) == JSON_STRING ? json_string(arena, value) : json_raw(value);
}

void expect_fact(struct arena *arena, cairn *c, const struct ledger_entry *fact, bool must_answer,
    struct verdict *verdict)
{
    struct reply r = ask(arena, c, fact->secret, NULL, "GET", fact->target, STR(""));
    if (r.status >= 500 && !must_answer)
        return;
    if (r.status != fact->status) {
        verdict_wrong(verdict, "GET %s answers %d instead of %d: %.*s", fact->target, r.status,
            fact->status, STR_ARG(r.body));
        return;
    }
    struct str rest = str_of(fact->text), line;
    while (str_next_part(&rest, '\n', &line)) {
        size_t at = str_find(line, '=');
        struct str pointer = str_slice(line, 0, at), expected = str_slice(line, at + 1, line.len);
        struct str found = line.len == 0 ? expected : pointed(arena, r.body, pointer);
        if (line.len > 0 && !str_eq(found, expected))
            verdict_wrong(verdict, "GET %s answers %.*s as %.*s, acknowledged was %.*s",
                fact->target, STR_ARG(found), STR_ARG(pointer), STR_ARG(expected));
    }
}
