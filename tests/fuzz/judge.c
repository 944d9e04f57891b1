/* SPDX-License-Identifier: Apache-2.0 */
#include "judge.h"

#include "fuzz.h"
#include "throwaway.h"

/* A refusal's status is in the table of errors or one of the HTTP parser's. That Cairn failed
 * (500), that it cannot answer (503) or that the disk is full (507) is never what a request does.
 */
static bool is_refusal(int status)
{
    static const int of_http[] = {400, 413, 414, 417, 431, 501, 505};
    for (size_t i = 0; i < COUNT_OF(of_http); i++)
        if (status == of_http[i])
            return true;
    for (enum error e = OK + 1; e < ERROR_COUNT; e++)
        if (status == error_info(e)->status && status < 500)
            return true;
    return false;
}

static void judge_problem(struct arena *arena, const cairn_answer *a)
{
    static const char *const texts[] = {"type", "title", "code", "detail", "request_id"};
    const char *type = cairn_answer_header(a, "Content-Type");
    struct json problem = answer_json(arena, a), value;
    int64_t status;
    FUZZ_CHECK(type != NULL && strcmp(type, "application/problem+json") == 0);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        FUZZ_CHECK(json_get(problem, str_of(texts[i]), &value));
        FUZZ_CHECK(json_type(value) == JSON_STRING && json_raw(value).len > 2);
    }
    FUZZ_CHECK(json_get(problem, STR("status"), &value) && json_to_i64(value, &status));
    FUZZ_CHECK(status == cairn_answer_status(a));
    FUZZ_CHECK(json_get(problem, STR("retryable"), &value));
    FUZZ_CHECK((json_type(value) == JSON_TRUE) == (status == 429));
}

/* --- Success -------------------------------------------------------------------------------- */

static void judge_object(const struct schema *schema, struct json object);

static void judge_value(const struct field *f, struct json value)
{
    if (json_type(value) == JSON_NULL) {
        FUZZ_CHECK((f->flags & FIELD_NULLABLE) || f->kind == FIELD_JSON);
        return;
    }
    switch (f->kind) {
    case FIELD_BOOL:
        FUZZ_CHECK(json_type(value) == JSON_TRUE || json_type(value) == JSON_FALSE);
        break;
    case FIELD_INT:
    case FIELD_MONEY:
        FUZZ_CHECK(json_type(value) == JSON_NUMBER);
        break;
    case FIELD_OBJECT:
        FUZZ_CHECK(json_type(value) == JSON_OBJECT);
        break;
    case FIELD_STRINGS:
        FUZZ_CHECK(json_type(value) == JSON_ARRAY);
        break;
    case FIELD_NESTED:
        judge_object(f->nested, value);
        break;
    case FIELD_STRING:
    case FIELD_ENUM:
    case FIELD_TIME:
    case FIELD_UUID:
        FUZZ_CHECK(json_type(value) == JSON_STRING);
        break;
    default:
        break;
    }
}

/* Every member is one of the schema's, and those that it always has are there. */
static void judge_object(const struct schema *schema, struct json object)
{
    size_t known = 0;
    FUZZ_CHECK(json_type(object) == JSON_OBJECT);
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        struct json value;
        bool has = json_get(object, str_of(f->name), &value);
        FUZZ_CHECK(has || f->hide_none);
        if (has)
            judge_value(f, value);
        known += has;
    }
    FUZZ_CHECK(known == json_count(object));
}

static void judge_page(const struct route *route, struct json page)
{
    size_t members = route->flags & ROUTE_TWO_WAYS ? 5 : 3;
    struct json items, item, more, next;
    FUZZ_CHECK(json_count(page) == members && json_get(page, STR("data"), &items));
    FUZZ_CHECK(json_get(page, STR("has_more"), &more) && json_get(page, STR("next_cursor"), &next));
    FUZZ_CHECK(json_type(items) == JSON_ARRAY);
    FUZZ_CHECK(json_type(more) == JSON_FALSE || json_type(next) == JSON_STRING);
    struct json_iter it = json_iter(items);
    while (json_next(&it, NULL, &item))
        judge_object(route->answer, item);
}

static void judge_success(struct arena *arena, const struct route *route, const cairn_answer *a)
{
    const char *type = cairn_answer_header(a, "Content-Type");
    if (route->answer == NULL || (type != NULL && strncmp(type, "text/x-diff", 11) == 0))
        return;
    struct json body = answer_json(arena, a), count;
    bool many = route->answer_to_many != NULL && json_get(body, STR("count"), &count);
    if (route->flags & ROUTE_LIST)
        judge_page(route, body);
    else
        judge_object(many ? route->answer_to_many : route->answer, body);
}

static bool is_success(const struct route *route, int status)
{
    return status == route->status || (status == 304 && (route->flags & ROUTE_ETAG)) ||
           (status == 204 && (route->flags & ROUTE_MAYBE_NOTHING)) ||
           (status == 206 && (route->flags & ROUTE_BYTES)) ||
           (status == 201 && (route->flags & ROUTE_MAY_CREATE));
}

void judge_answer(
    struct arena *arena, const struct route *route, struct str method, const cairn_answer *a)
{
    int status = cairn_answer_status(a);
    size_t len;
    cairn_answer_body(a, &len);
    FUZZ_CHECK(status >= 400 ? is_refusal(status) : route != NULL && is_success(route, status));
    if (status == 204 || status == 304 || str_eq(method, STR("HEAD"))) {
        FUZZ_CHECK(len == 0 || status >= 400);
        return;
    }
    if (status >= 400)
        judge_problem(arena, a);
    else
        judge_success(arena, route, a);
}
