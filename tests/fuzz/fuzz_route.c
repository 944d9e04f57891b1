/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "METHOD PATH?QUERY" against the route table. A second matcher, which reads each template byte by
 * byte and shares no code with the real one, finds the same route and the same methods for Allow; a
 * path that is written again from its parsed parts finds the same route; and the parameters mean
 * the same however their names and values are percent-encoded.
 */
#include <ctype.h>

#include "api/http/params.h"

#include "fuzz.h"

enum { ARENA_BYTES = 16 * 1024 * 1024, MAX_METHODS = 8 };

/* --- The other matcher ---------------------------------------------------------------------- */

struct expected {
    const struct route *route; /* the first that fits, of this method; NULL */
    struct str params[ROUTE_MAX_PARAMS];
    struct str methods[MAX_METHODS]; /* of all that fit */
    size_t n_methods;
};

/*
 * In a template {name} matches one or more bytes other than '/'; every other byte matches itself.
 */
static bool fits(const char *template, struct str path, struct str params[ROUTE_MAX_PARAMS])
{
    size_t at = 0, n = 0;
    while (*template != '\0') {
        if (*template != '{') {
            if (at == path.len || path.ptr[at++] != *template ++)
                return false;
            continue;
        }
        size_t start = at;
        while (at < path.len && path.ptr[at] != '/')
            at++;
        if (at == start)
            return false;
        params[n++] = str_slice(path, start, at);
        template = strchr(template, '}') + 1;
    }
    return at == path.len;
}

static struct expected expect(struct str method, struct str path)
{
    struct expected e = {0};
    bool head = str_eq(method, STR("HEAD"));
    for (size_t i = 0; i < route_count; i++) {
        struct str params[ROUTE_MAX_PARAMS] = {{0}};
        struct str own = str_of(routes[i].method);
        if (!fits(routes[i].path, path, params))
            continue;
        e.methods[e.n_methods++] = own;
        if (str_eq(own, STR("GET")))
            e.methods[e.n_methods++] = STR("HEAD");
        FUZZ_CHECK(e.n_methods < MAX_METHODS - 1);
        if (e.route != NULL || !str_eq(own, head ? STR("GET") : method))
            continue;
        e.route = &routes[i];
        memcpy(e.params, params, sizeof params);
    }
    return e;
}

static bool lists(const struct str *list, size_t n, struct str item)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i], item))
            return true;
    return false;
}

/* The same methods, each once, in any order. */
static void check_allow(struct str allow, const struct expected *e)
{
    struct str seen[MAX_METHODS], part;
    size_t n = 0;
    while (str_next_part(&allow, ',', &part)) {
        part = str_trim_blanks(part);
        FUZZ_CHECK(n < e->n_methods && lists(e->methods, e->n_methods, part));
        FUZZ_CHECK(!lists(seen, n, part));
        seen[n++] = part;
    }
    FUZZ_CHECK(n == e->n_methods);
}

/* --- The path ------------------------------------------------------------------------------- */

static bool is_uuid(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text.ptr[i] != '-' : !isxdigit((unsigned char)text.ptr[i]))
            return false;
    }
    return text.len == 36;
}

static const struct route *find(
    struct arena *arena, struct str method, struct str path, struct str params[ROUTE_MAX_PARAMS])
{
    const struct expected expected = expect(method, path);
    const struct route *route = NULL;
    struct str allow = STR("");
    switch (route_find(arena, method, path, &route, params, &allow)) {
    case ROUTE_FOUND:
        FUZZ_CHECK(route == expected.route);
        for (size_t i = 0; i < ROUTE_MAX_PARAMS; i++) {
            FUZZ_CHECK(str_eq(params[i], expected.params[i]));
            FUZZ_CHECK(str_is_none(params[i]) == str_is_none(route_param_name(route, i)));
        }
        return route;
    case ROUTE_OTHER_METHOD:
        FUZZ_CHECK(expected.route == NULL && expected.n_methods > 0);
        check_allow(allow, &expected);
        return NULL;
    case ROUTE_UNKNOWN:
        FUZZ_CHECK(expected.n_methods == 0);
        return NULL;
    }
    abort();
}

static bool is_number(struct str text)
{
    int64_t number;
    return str_to_i64(text, &number) && number > 0;
}

static bool is_text(struct arena *arena, struct str encoded)
{
    struct str text;
    if (!http_decode_percent(arena, encoded, false, &text) || text.len > ROUTE_TEXT_MAX_BYTES)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (iscntrl((unsigned char)text.ptr[i]))
            return false;
    return true;
}

static bool is_good(struct call *call, size_t i, struct str param)
{
    switch (route_param_kind(route_param_name(call->route, i))) {
    case ROUTE_PARAM_UUID:
        return is_uuid(param);
    case ROUTE_PARAM_EITHER:
        return is_uuid(param) || is_number(param);
    case ROUTE_PARAM_NUMBER:
        return is_number(param);
    case ROUTE_PARAM_TEXT:
        return is_text(call->arena, param);
    }
    abort();
}

/* A parameter that may be an id or a number is one of them. */
static enum route_param kind_given(const struct call *call, size_t i)
{
    enum route_param kind = route_param_kind(route_param_name(call->route, i));
    if (kind != ROUTE_PARAM_EITHER)
        return kind;
    return call->request.numbers[i] > 0 ? ROUTE_PARAM_NUMBER : ROUTE_PARAM_UUID;
}

/* In the one form that Cairn itself writes: every byte of a text is encoded. */
static void write_param(struct buf *path, const struct call *call, size_t i)
{
    char id[UUID_TEXT_LEN];
    switch (kind_given(call, i)) {
    case ROUTE_PARAM_EITHER:
    case ROUTE_PARAM_UUID:
        uuid_format(call->request.params[i], id);
        buf_append(path, (struct str){id, sizeof id});
        break;
    case ROUTE_PARAM_NUMBER:
        buf_printf(path, "%lld", (long long)call->request.numbers[i]);
        break;
    case ROUTE_PARAM_TEXT:
        for (size_t k = 0; k < call->request.texts[i].len; k++)
            buf_printf(path, "%%%02x", (unsigned char)call->request.texts[i].ptr[k]);
        break;
    }
}

static struct str write_path(const struct call *call)
{
    const char *template = call->route->path;
    struct buf path CLEANUP(buf_deinit);
    buf_init(&path, 64 * 1024);
    for (size_t n = 0; *template != '\0';) {
        if (*template != '{') {
            buf_append_byte(&path, *template ++);
            continue;
        }
        write_param(&path, call, n++);
        template = strchr(template, '}') + 1;
    }
    return arena_str(call->arena, buf_str(&path));
}

static void check_path(struct call *call, const struct str params[ROUTE_MAX_PARAMS])
{
    const struct route *route = call->route;
    bool good = true;
    for (size_t i = 0; i < ROUTE_MAX_PARAMS && !str_is_none(params[i]); i++)
        good = good && is_good(call, i, params[i]);
    FUZZ_CHECK(call->request.is_bad == !good);
    if (!good)
        return;
    struct str again[ROUTE_MAX_PARAMS] = {{0}};
    FUZZ_CHECK(find(call->arena, call->request.http->method, write_path(call), again) == route);
    for (size_t i = 0; i < ROUTE_MAX_PARAMS && !str_is_none(again[i]); i++) {
        struct uuid id;
        struct str text;
        switch (kind_given(call, i)) {
        case ROUTE_PARAM_EITHER:
        case ROUTE_PARAM_UUID:
            FUZZ_CHECK(uuid_parse(again[i], &id) && uuid_eq(id, call->request.params[i]));
            FUZZ_CHECK(str_eq_nocase(again[i], params[i]));
            break;
        case ROUTE_PARAM_NUMBER:
            FUZZ_CHECK(str_eq(again[i], params[i]));
            break;
        case ROUTE_PARAM_TEXT:
            FUZZ_CHECK(http_decode_percent(call->arena, again[i], false, &text));
            FUZZ_CHECK(str_eq(text, call->request.texts[i]));
            break;
        }
    }
}

/* --- The query ------------------------------------------------------------------------------ */

static bool decode(struct arena *arena, struct str text, struct str *out)
{
    char *bytes = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i] == '+' ? ' ' : text.ptr[i];
        if (byte == '%') {
            const char pair[] = {i + 1 < text.len ? text.ptr[i + 1] : ' ',
                i + 2 < text.len ? text.ptr[i + 2] : ' ', '\0'};
            if (!isxdigit((unsigned char)pair[0]) || !isxdigit((unsigned char)pair[1]))
                return false;
            byte = (char)strtoul(pair, NULL, 16);
            i += 2;
        }
        if (byte == '\0')
            return false;
        bytes[len++] = byte;
    }
    *out = (struct str){bytes, len};
    return str_is_utf8(*out);
}

static void add_encoded(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_printf(out, "%%%02x", (unsigned char)text.ptr[i]);
}

struct reading {
    struct call call;
    struct problem problem;
    void *values;
    enum error verdict;
};

static void read_query(struct reading *r, const struct call *call, struct str query)
{
    const struct schema *schema = call->route->query;
    *r = (struct reading){.call = *call};
    problem_init(&r->problem, call->arena);
    r->values = arena_zalloc(call->arena, schema == NULL ? 1 : schema->struct_bytes);
    r->verdict = params_decode(&r->call, schema, query, r->values, &r->problem);
}

static bool same_text(struct str a, struct str b)
{
    return str_is_none(a) == str_is_none(b) && str_eq(a, b);
}

static bool same_value(const struct field *f, const char *a, const char *b)
{
    if (f->kind == FIELD_ENUM)
        return *(const unsigned *)(a + f->offset) == *(const unsigned *)(b + f->offset);
    if (f->kind == FIELD_STRING)
        return same_text(
            *(const struct str *)(a + f->offset), *(const struct str *)(b + f->offset));
    size_t size = f->kind == FIELD_UUID   ? sizeof(struct uuid)
                  : f->kind == FIELD_BOOL ? sizeof(bool)
                                          : sizeof(int64_t);
    return memcmp(a + f->offset, b + f->offset, size) == 0 && a[f->has_offset] == b[f->has_offset];
}

static void check_same(const struct reading *a, const struct reading *b)
{
    const struct schema *schema = a->call.route->query;
    FUZZ_CHECK(a->verdict == b->verdict && a->problem.n_faults == b->problem.n_faults);
    FUZZ_CHECK((a->verdict == OK) == (a->problem.n_faults == 0));
    for (const struct field *f = NULL; a->verdict == OK && (f = schema_next(schema, f)) != NULL;)
        FUZZ_CHECK(same_value(f, a->values, b->values));
    for (size_t i = 0; i < COUNT_OF(a->call.request.metadata_keys); i++) {
        FUZZ_CHECK(same_text(a->call.request.metadata_keys[i], b->call.request.metadata_keys[i]));
        FUZZ_CHECK(
            same_text(a->call.request.metadata_values[i], b->call.request.metadata_values[i]));
    }
}

/* Every pair with each of its bytes encoded. False: a pair cannot be decoded. */
static bool encode_all(struct arena *arena, struct str query, struct buf *out)
{
    for (struct str pair; str_next_part(&query, '&', &pair);) {
        size_t equals = str_find(pair, '=');
        struct str name = str_slice(pair, 0, equals), real_name;
        struct str value = str_slice(pair, equals + 1, pair.len), real_value;
        bool good = decode(arena, name, &name) && decode(arena, value, &value);
        bool really =
            http_decode_percent(arena, str_slice(pair, 0, equals), true, &real_name) &&
            http_decode_percent(arena, str_slice(pair, equals + 1, pair.len), true, &real_value);
        FUZZ_CHECK(good == really);
        if (!good)
            return false;
        FUZZ_CHECK(str_eq(name, real_name) && str_eq(value, real_value));
        if (pair.len == 0)
            continue;
        add_encoded(out, name);
        buf_append_byte(out, '=');
        add_encoded(out, value);
        buf_append_byte(out, '&');
    }
    return true;
}

static void check_query(const struct call *call, struct str query)
{
    struct buf encoded CLEANUP(buf_deinit);
    struct reading plain, again;
    buf_init(&encoded, SIZE_MAX);
    read_query(&plain, call, query);
    if (!encode_all(call->arena, query, &encoded)) {
        FUZZ_CHECK(plain.verdict == ERR_INVALID);
        return;
    }
    read_query(&again, call, buf_str(&encoded));
    check_same(&plain, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena CLEANUP(arena_deinit);
    struct str text = {size > 0 ? (const char *)data : "", size};
    size_t blank = str_find(text, ' ');
    struct str target = str_slice(text, blank + 1, text.len), params[ROUTE_MAX_PARAMS] = {{0}};
    size_t mark = str_find(target, '?');
    struct http_request request = {.method = str_slice(text, 0, blank),
        .target = target,
        .path = str_slice(target, 0, mark),
        .query = mark < target.len ? str_slice(target, mark + 1, target.len) : STR_NONE};
    struct call call;
    arena_init(&arena, ARENA_BYTES);
    call_init(&call, NULL, &arena, &request);
    const struct route *route = find(&arena, request.method, request.path, params);
    FUZZ_CHECK(call_route(&call) == (route != NULL));
    if (route == NULL) {
        FUZZ_CHECK(call.answer.status == 404 || call.answer.status == 405);
    } else {
        FUZZ_CHECK(call.route == route);
        check_path(&call, params);
        check_query(&call, request.query);
    }
    call_deinit(&call);
    return 0;
}
