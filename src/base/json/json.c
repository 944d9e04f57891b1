/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json.h"

#include "base/json/json_keys.h"
#include "base/json/json_number.h"
#include "base/json/json_tape.h"
#include "base/utf8.h"

struct json json_root(const struct json_doc *doc)
{
    assert(doc->n_nodes > 0);
    return (struct json){doc, 0};
}

enum json_type json_type(struct json v)
{
    return (enum json_type)json_node(v)->type;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",
        [JSON_FALSE] = "boolean",
        [JSON_TRUE] = "boolean",
        [JSON_NUMBER] = "number",
        [JSON_STRING] = "string",
        [JSON_ARRAY] = "array",
        [JSON_OBJECT] = "object",
    };
    assert((size_t)type < COUNT_OF(names));
    return names[type];
}

struct str json_raw(struct json v)
{
    const struct json_node *node = json_node(v);
    return str_slice(v.doc->text, node->start, node->end);
}

size_t json_count(struct json v)
{
    return json_node(v)->count;
}

struct json_iter json_iter(struct json v)
{
    return (struct json_iter){
        .doc = v.doc,
        .at = v.at + 1,
        .end = json_node(v)->next,
        .object = json_type(v) == JSON_OBJECT,
    };
}

bool json_next(struct json_iter *it, struct json *out_key, struct json *out_value)
{
    if (it->at >= it->end)
        return false;
    if (it->object) {
        if (out_key != NULL)
            *out_key = (struct json){it->doc, it->at};
        it->at++;
    }
    *out_value = (struct json){it->doc, it->at};
    it->at = it->doc->nodes[it->at].next;
    return true;
}

bool json_get(struct json object, struct str key, struct json *out_value)
{
    if (json_type(object) != JSON_OBJECT)
        return false;
    struct json_iter it = json_iter(object);
    struct json name, value;
    while (json_next(&it, &name, &value)) {
        if (json_string_eq(name, key)) {
            *out_value = value;
            return true;
        }
    }
    return false;
}

bool json_at(struct json array, size_t index, struct json *out_value)
{
    if (json_type(array) != JSON_ARRAY || index >= json_count(array))
        return false;
    struct json_iter it = json_iter(array);
    struct json value = array;
    for (size_t i = 0; i <= index; i++)
        json_next(&it, NULL, &value);
    *out_value = value;
    return true;
}

/* A string is read in pieces: runs without escapes, and single escapes decoded into `escape`. */
struct pieces {
    struct str rest;
    char escape[UTF8_MAX_LEN];
};

static uint32_t hex_value(const char *four_digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned char c = (unsigned char)four_digits[i];
        value = value * 16 + (c <= '9' ? c - (unsigned)'0' : (c | 0x20u) - 'a' + 10);
    }
    return value;
}

/* The parser has checked the form: four digits, and surrogates only in pairs. */
static struct str read_u_escape(struct pieces *p)
{
    uint32_t code_point = hex_value(p->rest.ptr + 2);
    size_t len = 6;
    if (code_point >= 0xd800 && code_point <= 0xdbff) {
        uint32_t low = hex_value(p->rest.ptr + 8);
        code_point = 0x10000 + ((code_point - 0xd800) << 10) + (low - 0xdc00);
        len = 12;
    }
    p->rest = str_slice(p->rest, len, p->rest.len);
    return (struct str){p->escape, utf8_encode(code_point, p->escape)};
}

static struct str read_escape(struct pieces *p)
{
    static const char meanings[128] = {
        ['"'] = '"',
        ['\\'] = '\\',
        ['/'] = '/',
        ['b'] = '\b',
        ['f'] = '\f',
        ['n'] = '\n',
        ['r'] = '\r',
        ['t'] = '\t',
    };
    if (p->rest.ptr[1] == 'u')
        return read_u_escape(p);
    p->escape[0] = meanings[p->rest.ptr[1] & 127];
    p->rest = str_slice(p->rest, 2, p->rest.len);
    return (struct str){p->escape, 1};
}

static bool next_piece(struct pieces *p, struct str *out_piece)
{
    if (p->rest.len == 0)
        return false;
    if (p->rest.ptr[0] == '\\') {
        *out_piece = read_escape(p);
        return true;
    }
    size_t run = str_find(p->rest, '\\');
    *out_piece = str_slice(p->rest, 0, run);
    p->rest = str_slice(p->rest, run, p->rest.len);
    return true;
}

struct str json_string(struct arena *arena, struct json v)
{
    assert(json_type(v) == JSON_STRING);
    struct pieces pieces = {.rest = json_inner(v)};
    if (json_node(v)->plain)
        return pieces.rest;
    char *decoded = arena_alloc(arena, pieces.rest.len);
    size_t len = 0;
    struct str piece;
    while (next_piece(&pieces, &piece)) {
        memcpy(decoded + len, piece.ptr, piece.len);
        len += piece.len;
    }
    return (struct str){decoded, len};
}

bool json_string_eq(struct json v, struct str decoded)
{
    if (json_type(v) != JSON_STRING)
        return false;
    struct pieces pieces = {.rest = json_inner(v)};
    if (json_node(v)->plain)
        return str_eq(pieces.rest, decoded);
    struct str piece;
    while (next_piece(&pieces, &piece)) {
        if (!str_starts_with(decoded, piece))
            return false;
        decoded = str_slice(decoded, piece.len, decoded.len);
    }
    return decoded.len == 0;
}

bool json_to_i64(struct json v, int64_t *out_value)
{
    return json_type(v) == JSON_NUMBER && json_number_to_i64(json_raw(v), out_value);
}

bool json_to_double(struct json v, double *out_value)
{
    return json_type(v) == JSON_NUMBER && json_number_to_double(json_raw(v), out_value);
}

static bool equal(struct arena *scratch, struct json a, struct json b);

static bool strings_equal(struct arena *scratch, struct json a, struct json b)
{
    return json_string_eq(a, json_string(scratch, b));
}

static bool arrays_equal(struct arena *scratch, struct json a, struct json b)
{
    struct json_iter in_a = json_iter(a), in_b = json_iter(b);
    struct json x, y;
    while (json_next(&in_a, NULL, &x) && json_next(&in_b, NULL, &y))
        if (!equal(scratch, x, y))
            return false;
    return true;
}

static bool objects_equal(struct arena *scratch, struct json a, struct json b)
{
    struct json_keys keys;
    json_keys_init(&keys, scratch, b);
    struct json_iter it = json_iter(a);
    struct json key, x, y;
    while (json_next(&it, &key, &x))
        if (!json_keys_find(&keys, json_string(scratch, key), &y) || !equal(scratch, x, y))
            return false;
    return true;
}

static bool equal(struct arena *scratch, struct json a, struct json b)
{
    if (json_type(a) != json_type(b) || json_count(a) != json_count(b))
        return false;
    switch (json_type(a)) {
    case JSON_NUMBER:
        return json_number_eq(json_raw(a), json_raw(b));
    case JSON_STRING:
        return strings_equal(scratch, a, b);
    case JSON_ARRAY:
        return arrays_equal(scratch, a, b);
    case JSON_OBJECT:
        return objects_equal(scratch, a, b);
    default:
        return true;
    }
}

bool json_equal(struct json a, struct json b)
{
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    return equal(&scratch, a, b);
}

bool json_texts_equal(struct arena *arena, struct str a, struct str b)
{
    struct json_doc left, right;
    struct json_error unused;
    if (str_eq(a, b))
        return true;
    return json_parse(arena, a, &left, &unused) && json_parse(arena, b, &right, &unused) &&
           json_equal(json_root(&left), json_root(&right));
}
