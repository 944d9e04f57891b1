/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libFuzzer changes the stories of fuzz_request: whole requests are added, dropped, doubled and
 * moved, and inside one of them bytes are changed as ever. A request that is added is made from a
 * row of the route table, its parameters and its body from that row's field tables: so a new route
 * is fuzzed as soon as it is in the table.
 */
#include "api/http/route.h"
#include "base/buf.h"

#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
    uint8_t *out, size_t max_size, unsigned seed);

enum { MAX_PARTS = 64, MAX_TEXT = 256 * 1024 };

static const struct str SEPARATOR = {"\n--\n", 4};

static uint64_t state;

/* splitmix64 */
static uint64_t draw(uint64_t n)
{
    uint64_t x = state += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % n;
}

#define PICK(list) ((list)[draw(COUNT_OF(list))])

static bool one_in(uint64_t n)
{
    return draw(n) == 0;
}

/* --- Values --------------------------------------------------------------------------------- */

static void add_object(struct buf *out, const struct schema *schema, unsigned depth);

static void add_text(struct buf *out, const struct field *f)
{
    static const char *const texts[] = {"a", "b", "", "progress", "status", "final", "my.kind",
        "cairn.x", "\\u0000", "\\ud83d\\ude00", "\xc3\xa4", "a b", "{c}", "{e}", "{s}", "../x",
        "%"};
    if (one_in(12)) {
        for (int64_t i = f->max < 3000 ? f->max + (int64_t)draw(2) : 10; i > 0; i--)
            buf_append_byte(out, 'x');
        return;
    }
    buf_append(out, str_of(PICK(texts)));
}

static void add_id(struct buf *out)
{
    static const char *const ids[] = {
        "{t}", "{T}", "{r}", "{R}", "{k}", "{n}", "00000000-0000-0000-0000-000000000000"};
    buf_append(out, str_of(PICK(ids)));
}

static void add_time(struct buf *out)
{
    static const char *const times[] = {"2040-01-01T00:00:00Z", "1970-01-01T00:00:00.000001Z",
        "2026-02-28T23:59:60+01:00", "9999-12-31T23:59:59.999999Z", "2020-01-01T00:00:00-00:00"};
    buf_append(out, str_of(PICK(times)));
}

static void add_int(struct buf *out, const struct field *f)
{
    const int64_t ints[] = {f->min, f->min + 1, f->max, f->min - 1, 0, 1, 2, 5, 1000, INT64_MAX};
    buf_append_i64(out, PICK(ints));
}

static void add_choice(struct buf *out, const char *const *choices)
{
    size_t n = 0;
    while (choices[n] != NULL)
        n++;
    buf_append(out, str_of(choices[draw(n)]));
}

static void add_json(struct buf *out, enum field_kind kind)
{
    static const char *const objects[] = {"{}", "{\"a\":1}", "{\"a\":{\"b\":[1,2]},\"c\":\"d\"}",
        "{\"pending_input\":{\"q\":\"?\"}}", "{\"\":null,\"~/\":true}"};
    static const char *const values[] = {"[]", "[1,\"x\",null]", "1.5e-7", "\"x\"", "true", "-0"};
    bool object = kind == FIELD_OBJECT || one_in(2);
    buf_append(out, str_of(object ? PICK(objects) : PICK(values)));
}

static void add_items(struct buf *out, const struct field *f, unsigned depth)
{
    buf_append_byte(out, '[');
    for (uint64_t i = draw(4); i > 0; i--) {
        if (f->kind == FIELD_NESTED_LIST)
            add_object(out, f->nested, depth + 1);
        else {
            buf_append_byte(out, '"');
            if (f->choices != NULL)
                add_choice(out, f->choices);
            else
                add_text(out, f);
            buf_append_byte(out, '"');
        }
        buf_append(out, i > 1 ? STR(",") : STR(""));
    }
    buf_append_byte(out, ']');
}

/* As it is in a query; in JSON there are quotes around it. */
static void add_scalar(struct buf *out, const struct field *f)
{
    switch (f->kind) {
    case FIELD_ENUM:
        add_choice(out, f->choices);
        break;
    case FIELD_INT:
    case FIELD_MONEY:
        add_int(out, f);
        break;
    case FIELD_BOOL:
        buf_append(out, one_in(2) ? STR("true") : STR("false"));
        break;
    case FIELD_TIME:
        add_time(out);
        break;
    case FIELD_UUID:
        add_id(out);
        break;
    default:
        add_text(out, f);
    }
}

static void add_value(struct buf *out, const struct field *f, unsigned depth)
{
    bool bare = f->kind == FIELD_INT || f->kind == FIELD_MONEY || f->kind == FIELD_BOOL;
    if (one_in(16)) {
        buf_append(out, one_in(2) ? STR("null") : STR("7"));
        return;
    }
    switch (f->kind) {
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_ARRAY:
    case FIELD_DOCUMENT:
        add_json(out, f->kind);
        break;
    case FIELD_STRINGS:
    case FIELD_NESTED_LIST:
        add_items(out, f, depth);
        break;
    case FIELD_NESTED:
        add_object(out, f->nested, depth + 1);
        break;
    default:
        buf_append(out, bare ? STR("") : STR("\""));
        add_scalar(out, f);
        buf_append(out, bare ? STR("") : STR("\""));
    }
}

static void add_object(struct buf *out, const struct schema *schema, unsigned depth)
{
    bool first = true;
    buf_append_byte(out, '{');
    for (const struct field *f = NULL; depth < 3 && (f = schema_next(schema, f)) != NULL;) {
        if (schema_requires(schema, f) ? one_in(20) : !one_in(3))
            continue;
        buf_printf(out, "%s\"%s\":", first ? "" : ",", f->name);
        add_value(out, f, depth);
        first = false;
    }
    buf_append_byte(out, '}');
}

/* --- A request ------------------------------------------------------------------------------ */

static void add_path(struct buf *out, const char *template)
{
    for (; *template != '\0'; template ++) {
        if (*template != '{') {
            buf_append_byte(out, *template);
            continue;
        }
        static const char *const own[][2] = {{"{thread_id}", "{t}"}, {"{message_id}", "{m}"},
            {"{workflow_id}", "{t}"}, {"{run_id}", "{r}"}, {"{key_id}", "{k}"},
            {"{tenant_id}", "{n}"}};
        const char *slot = NULL;
        for (size_t i = 0; i < COUNT_OF(own); i++)
            if (strncmp(template, own[i][0], strlen(own[i][0])) == 0)
                slot = own[i][1];
        if (slot != NULL && !one_in(12))
            buf_append(out, str_of(slot));
        else
            add_id(out);
        template = strchr(template, '}');
    }
}

static void add_query(struct buf *out, const struct schema *schema)
{
    char mark = '?';
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        if (!one_in(3))
            continue;
        buf_printf(out, "%c%s=", mark, f->name);
        add_scalar(out, f);
        mark = '&';
    }
}

static void add_headers(struct buf *out)
{
    static const char *const headers[] = {"If-Match: {e}", "If-Match: \"1\"", "If-None-Match: {e}",
        "Idempotency-Key: a", "Idempotency-Key: b", "Cairn-Fencing-Token: {f}",
        "Cairn-Fencing-Token: 1", "Last-Event-ID: {c}", "Last-Event-ID: 1",
        "Cairn-Consistency: eventual", "X-Request-Id: x", "Authorization: Bearer {s}",
        "Content-Type: application/json"};
    while (one_in(2)) {
        buf_append_byte(out, '\n');
        buf_append(out, str_of(PICK(headers)));
    }
}

static const struct field *pick_field(const struct schema *schema)
{
    const struct field *picked = NULL;
    uint64_t seen = 0;
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;)
        if (draw(++seen) == 0)
            picked = f;
    return picked;
}

static void add_json_patch(struct buf *out, const struct schema *schema)
{
    static const char *const operations[] = {"add", "remove", "replace", "test", "copy", "move"};
    buf_append(out, STR("\nContent-Type: application/json-patch+json\n\n["));
    for (uint64_t i = 1 + draw(3); i > 0; i--) {
        const struct field *f = pick_field(schema);
        const struct field *from = pick_field(schema);
        buf_printf(out,
            "{\"op\":\"%s\",\"path\":\"/%s%s\",\"from\":\"/%s\",\"value\":", PICK(operations),
            f->name, one_in(3) ? "/a" : "", from->name);
        add_value(out, f, 0);
        buf_append(out, i > 1 ? STR("},") : STR("}"));
    }
    buf_append_byte(out, ']');
}

static void add_request(struct buf *out)
{
    static const char *const others[] = {"!", "~", "?"};
    const struct route *route = &routes[draw(route_count)];
    if (one_in(12)) {
        buf_append(out, one_in(2) ? STR("SWEEP") : STR("DAY"));
        return;
    }
    if (route->scope == SCOPE_OPERATOR ? !one_in(8) : one_in(8))
        buf_append(out, str_of(route->scope == SCOPE_OPERATOR ? "!" : PICK(others)));
    buf_append(out, str_of(one_in(30) ? "HEAD" : route->method));
    buf_append_byte(out, ' ');
    add_path(out, route->path);
    add_query(out, route->query);
    add_headers(out);
    if (route->body == NULL || ((route->flags & ROUTE_BODY_OPTIONAL) && one_in(3)))
        return;
    if ((route->flags & ROUTE_PATCH) && one_in(3)) {
        add_json_patch(out, route->body);
        return;
    }
    buf_append(out, STR("\n\n"));
    add_object(out, route->body, 0);
}

/* --- A story -------------------------------------------------------------------------------- */

struct story {
    struct str parts[MAX_PARTS];
    size_t n;
};

static void read_story(struct story *s, struct str text)
{
    s->n = 0;
    for (bool more = text.len > 0; more && s->n < MAX_PARTS;) {
        const char *at = memmem(text.ptr, text.len, SEPARATOR.ptr, SEPARATOR.len);
        size_t end = at == NULL ? text.len : (size_t)(at - text.ptr);
        s->parts[s->n++] = str_slice(text, 0, end);
        more = at != NULL;
        text = str_slice(text, end + SEPARATOR.len, text.len);
    }
}

static void insert_part(struct story *s, size_t at, struct str part)
{
    if (s->n == MAX_PARTS)
        return;
    memmove(&s->parts[at + 1], &s->parts[at], (s->n - at) * sizeof part);
    s->parts[at] = part;
    s->n++;
}

static void remove_part(struct story *s, size_t at)
{
    s->n--;
    memmove(&s->parts[at], &s->parts[at + 1], (s->n - at) * sizeof s->parts[0]);
}

/* Only as many whole requests as there is room for. */
static size_t write_story(const struct story *s, uint8_t *out, size_t max_size)
{
    size_t size = 0;
    for (size_t i = 0; i < s->n; i++) {
        struct str before = i > 0 ? SEPARATOR : STR("");
        if (size + before.len + s->parts[i].len > max_size)
            break;
        memcpy(out + size, before.ptr, before.len);
        memcpy(out + size + before.len, s->parts[i].ptr, s->parts[i].len);
        size += before.len + s->parts[i].len;
    }
    return size;
}

/* The bytes of one request, or of its body alone. */
static void change_part(struct str *part, struct buf *room)
{
    size_t keep = 0;
    const char *body = memmem(part->ptr, part->len, "\n\n", 2);
    if (body != NULL && !one_in(3))
        keep = (size_t)(body - part->ptr) + 2;
    size_t len = part->len - keep;
    buf_append(room, *part);
    char *space = buf_reserve(room, len + 64);
    len = LLVMFuzzerMutate((uint8_t *)space - len, len, len + 64);
    *part = (struct str){room->ptr, keep + len};
}

static void change_story(struct story *s, struct buf *room)
{
    size_t at = draw(s->n + 1);
    switch (s->n == 0 ? 0 : draw(6)) {
    case 0:
    case 1:
        add_request(room);
        insert_part(s, at, buf_str(room));
        break;
    case 2:
        remove_part(s, draw(s->n));
        break;
    case 3:
        insert_part(s, at, s->parts[draw(s->n)]);
        break;
    case 4: {
        struct str moved = s->parts[draw(s->n)];
        s->parts[draw(s->n)] = moved;
        break;
    }
    default:
        change_part(&s->parts[draw(s->n)], room);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct buf text CLEANUP(buf_deinit), room CLEANUP(buf_deinit);
    struct story story;
    state = seed;
    buf_init(&text, MAX_TEXT);
    buf_init(&room, MAX_TEXT);
    if (one_in(6))
        return LLVMFuzzerMutate(data, size, max_size);
    buf_append(&text, (struct str){(const char *)data, size});
    read_story(&story, buf_str(&text));
    change_story(&story, &room);
    size_t written = write_story(&story, data, max_size);
    return written > 0 ? written : LLVMFuzzerMutate(data, size, max_size);
}

/* The beginning of the one and the end of the other. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size,
    uint8_t *out, size_t max_size, unsigned seed)
{
    struct story story, other;
    state = seed;
    read_story(&story, (struct str){(const char *)a, a_size});
    read_story(&other, (struct str){(const char *)b, b_size});
    story.n = story.n > 0 ? 1 + draw(story.n) : 0;
    for (size_t i = other.n > 0 ? draw(other.n) : 0; i < other.n; i++)
        insert_part(&story, story.n, other.parts[i]);
    return write_story(&story, out, max_size);
}
