/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/json/json.h"
#include "model/postgres.h"

bool on_postgres(void)
{
    const char *engine = getenv("CAIRN_TEST_ENGINE");
    return engine != NULL && strcmp(engine, "postgres") == 0;
}

void fixture_open(struct fixture *f)
{
    char *why = NULL;
    f->c = cairn_open(f->where, &f->options, &why);
    if (f->c == NULL) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
}

void fixture_begin(struct fixture *f)
{
    *f = (struct fixture){.options = {.size = sizeof f->options}};
    scratch_init(&f->scratch);
    f->arena = &f->scratch.arena;
    if (on_postgres()) {
        f->where = plain_url();
        f->options.schema = plain_take_schema(f->arena);
    } else {
        f->where = format(f->arena, "sqlite:%.*s", STR_ARG(f->scratch.data_dir));
    }
    fixture_open(f);
}

void fixture_end(struct fixture *f)
{
    cairn_close(f->c);
    if (on_postgres())
        plain_give_schema(f->options.schema);
    scratch_deinit(&f->scratch);
}

const char *format(struct arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str text = arena_vprintf(arena, fmt, args);
    va_end(args);
    return arena_cstr(arena, text);
}

/* --- Calls ---------------------------------------------------------------------------------- */

struct reply ask_as(struct arena *arena, cairn *c, const char *secret, const char *method,
    const char *target, const char *body)
{
    const char *headers[] = {NULL, NULL};
    size_t len;
    if (secret != NULL)
        headers[0] = format(arena, "Authorization: Bearer %s", secret);
    cairn_answer *a = cairn_call(c, method, target, headers, body, body == NULL ? 0 : strlen(body));
    const char *text = cairn_answer_body(a, &len);
    struct reply reply = {cairn_answer_status(a), arena_str(arena, (struct str){text, len})};
    cairn_answer_free(a);
    return reply;
}

struct reply ask(struct fixture *f, const char *method, const char *target, const char *body)
{
    return ask_as(f->arena, f->c, NULL, method, target, body);
}

struct str member(struct arena *arena, struct str object, const char *name)
{
    struct json_doc doc;
    struct json_error error = {0};
    struct json value;
    if (!json_parse(arena, object, &doc, &error)) {
        test_fail(__FILE__, __LINE__, "\"%.*s\" is no JSON: %s", STR_ARG(object), error.rule);
        return STR_NONE;
    }
    if (!json_get(json_root(&doc), str_of(name), &value))
        return STR_NONE;
    return json_type(value) == JSON_STRING ? json_string(arena, value) : json_raw(value);
}

const char *make_thread(struct fixture *f)
{
    struct reply r = ask(f, "POST", "/v1/threads", NULL);
    EXPECT_EQ(r.status, 201);
    return arena_cstr(f->arena, member(f->arena, r.body, "id"));
}

void append(struct fixture *f, const char *thread, const char *kind)
{
    struct reply r = ask(f, "POST", format(f->arena, "/v1/threads/%s/events", thread),
        format(f->arena, "{\"kind\":\"%s\"}", kind));
    EXPECT_EQ(r.status, 201);
}

/* --- Subscriptions -------------------------------------------------------------------------- */

cairn_subscription *subscribe(struct fixture *f, const char *target)
{
    cairn_answer *refusal = NULL;
    cairn_subscription *s = cairn_subscribe(f->c, target, NULL, &refusal);
    if (s == NULL) {
        fprintf(stderr, "%s: %s\n", target, cairn_answer_body(refusal, NULL));
        abort();
    }
    return s;
}

void expect_end(struct fixture *f, cairn_subscription *s, const char *reason)
{
    const struct cairn_event *event;
    int kind = cairn_next(s, 10000, &event);
    EXPECT_EQ(kind, CAIRN_ENDED);
    if (kind != CAIRN_ENDED)
        return;
    EXPECT_STR(member(f->arena, str_of(event->data), "reason"), str_of(reason));
    EXPECT_STR(member(f->arena, str_of(event->data), "cursor"), str_of(event->cursor));
}
