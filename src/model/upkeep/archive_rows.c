/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/json/json_write.h"
#include "model/upkeep/archive_tables.h"

/* --- From the database ---------------------------------------------------------------------- */

static void read_value(struct query *q, const struct archive_field *f, struct archive_value *out)
{
    *out = (struct archive_value){0};
    switch (f->kind) {
    case KIND_ID:
        out->is_null = !row_uuid_if(q, &out->id);
        break;
    case KIND_INT:
    case KIND_TIME:
        out->is_null = !row_i64_if(q, &out->number);
        break;
    case KIND_BOOL:
        out->is_null = !row_i64_if(q, &out->number);
        break;
    case KIND_HASH:
    case KIND_BYTES:
        out->bytes = row_bytes(q);
        out->is_null = str_is_none(out->bytes);
        break;
    case KIND_TEXT:
    case KIND_PRINCIPAL:
    case KIND_JSON:
    case KIND_OBJECT:
    case KIND_ARRAY:
    case KIND_DOCUMENT:
        out->text = row_text(q);
        out->is_null = str_is_none(out->text);
        break;
    }
}

void archive_read_row(const struct archive_member *m, struct query *q, struct archive_value *out)
{
    for (size_t i = 0; i < m->n_fields; i++)
        read_value(q, &m->fields[i], &out[i]);
}

/* --- As a line ------------------------------------------------------------------------------ */

static const char HEX[] = "0123456789abcdef";

static void write_hash(struct json_writer *w, struct str bytes)
{
    char digits[2 * SHA256_LEN];
    size_t n = bytes.len < SHA256_LEN ? bytes.len : SHA256_LEN;
    for (size_t i = 0; i < n; i++) {
        digits[2 * i] = HEX[(unsigned char)bytes.ptr[i] >> 4];
        digits[2 * i + 1] = HEX[(unsigned char)bytes.ptr[i] & 15];
    }
    json_write_string(w, (struct str){digits, 2 * n});
}

static void write_bytes(struct json_writer *w, struct str bytes)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    json_write_string(w, base64url_encode(&arena, bytes));
    arena_deinit(&arena);
}

static void write_value(
    struct json_writer *w, const struct archive_field *f, const struct archive_value *value)
{
    switch (f->kind) {
    case KIND_ID:
        json_write_uuid(w, value->id);
        break;
    case KIND_INT:
        json_write_i64(w, value->number);
        break;
    case KIND_TIME:
        json_write_time(w, value->number);
        break;
    case KIND_BOOL:
        json_write_bool(w, value->number != 0);
        break;
    case KIND_TEXT:
    case KIND_PRINCIPAL:
        json_write_string(w, value->text);
        break;
    case KIND_HASH:
        write_hash(w, value->bytes);
        break;
    case KIND_BYTES:
        write_bytes(w, value->bytes);
        break;
    case KIND_JSON:
    case KIND_OBJECT:
    case KIND_ARRAY:
    case KIND_DOCUMENT:
        json_write_raw(w, value->text);
        break;
    }
}

static bool is_left_out(const struct archive_field *f, const struct archive_value *value)
{
    return (f->flags & HIDDEN) || value->is_null || ((f->flags & OR_NIL) && uuid_is_nil(value->id));
}

void archive_write_line(
    const struct archive_member *m, const struct archive_value *row, struct buf *out)
{
    struct json_writer w;
    json_writer_init(&w, out);
    json_write_object(&w);
    for (size_t i = 0; i < m->n_fields; i++) {
        if (is_left_out(&m->fields[i], &row[i]))
            continue;
        json_write_name(&w, m->fields[i].name);
        write_value(&w, &m->fields[i], &row[i]);
    }
    json_write_end(&w);
    buf_append_byte(out, '\n');
}

/* --- From a line ---------------------------------------------------------------------------- */

static enum error broken(struct problem *problem, const struct archive_field *f, const char *rule)
{
    return problem_set(problem, ERR_INVALID, "\"%s\" %s", f->name, rule);
}

static bool is_choice(const struct archive_field *f, struct str text)
{
    for (size_t i = 0; f->choices[i] != NULL; i++)
        if (str_eq(str_of(f->choices[i]), text))
            return true;
    return false;
}

static enum error check_length(const struct archive_field *f, size_t len, struct problem *problem)
{
    int64_t max = f->max > 0 ? f->max : ARCHIVE_LINE_MAX_BYTES;
    if ((int64_t)len >= f->min && (int64_t)len <= max)
        return OK;
    return problem_set(problem, ERR_INVALID, "\"%s\" must have %lld to %lld bytes", f->name,
        (long long)f->min, (long long)max);
}

static enum error take_text(struct arena *arena, const struct archive_field *f, struct json v,
    struct problem *problem, struct archive_value *out)
{
    if (json_type(v) != JSON_STRING)
        return broken(problem, f, "must be a string");
    out->text = json_string(arena, v);
    if (str_has_byte(out->text, '\0'))
        return broken(problem, f, "must not contain U+0000");
    if (f->choices != NULL)
        return is_choice(f, out->text) ? OK : broken(problem, f, "has an unknown value");
    return check_length(f, out->text.len, problem);
}

static enum error take_number(const struct archive_field *f, struct json v, struct problem *problem,
    struct archive_value *out)
{
    int64_t max = f->max > 0 ? f->max : INT64_MAX;
    if (json_type(v) != JSON_NUMBER || !json_to_i64(v, &out->number))
        return broken(problem, f, "must be a whole number");
    if (out->number >= f->min && out->number <= max)
        return OK;
    return problem_set(problem, ERR_INVALID, "\"%s\" must be from %lld to %lld", f->name,
        (long long)f->min, (long long)max);
}

static bool fits_type(enum archive_kind kind, enum json_type type)
{
    switch (kind) {
    case KIND_OBJECT:
        return type == JSON_OBJECT;
    case KIND_ARRAY:
        return type == JSON_ARRAY;
    case KIND_DOCUMENT:
        return type == JSON_OBJECT || type == JSON_ARRAY;
    default:
        return true;
    }
}

static enum error take_json(struct arena *arena, const struct archive_field *f, struct json v,
    struct problem *problem, struct archive_value *out)
{
    if (!fits_type(f->kind, json_type(v)))
        return broken(problem, f,
            f->kind == KIND_OBJECT  ? "must be an object"
            : f->kind == KIND_ARRAY ? "must be an array"
                                    : "must be an object or an array");
    out->text = json_compact(arena, v);
    return check_length(f, out->text.len, problem);
}

static enum error take_coded(struct arena *arena, const struct archive_field *f, struct json v,
    struct problem *problem, struct archive_value *out)
{
    struct str text = json_type(v) == JSON_STRING ? json_string(arena, v) : STR("");
    switch (f->kind) {
    case KIND_ID:
        return uuid_parse(text, &out->id) && !uuid_is_nil(out->id)
                   ? OK
                   : broken(problem, f, "must be a UUID");
    case KIND_TIME:
        return clock_parse(text, &out->number) ? OK
                                               : broken(problem, f, "must be an RFC 3339 time");
    case KIND_HASH: {
        unsigned char *hash = arena_alloc(arena, SHA256_LEN);
        out->bytes = (struct str){(const char *)hash, SHA256_LEN};
        return hex_decode_lower(text, hash, SHA256_LEN)
                   ? OK
                   : broken(problem, f, "must be a SHA-256 in 64 lower-case hexadecimal digits");
    }
    default:
        if (json_type(v) != JSON_STRING || !base64url_decode(arena, text, &out->bytes))
            return broken(problem, f, "must be base64url without padding");
        return check_length(f, out->bytes.len, problem);
    }
}

static enum error take_value(struct arena *arena, const struct archive_field *f, struct json v,
    struct problem *problem, struct archive_value *out)
{
    *out = (struct archive_value){0};
    switch (f->kind) {
    case KIND_INT:
        return take_number(f, v, problem, out);
    case KIND_BOOL:
        if (json_type(v) != JSON_TRUE && json_type(v) != JSON_FALSE)
            return broken(problem, f, "must be true or false");
        out->number = json_type(v) == JSON_TRUE;
        return OK;
    case KIND_TEXT:
    case KIND_PRINCIPAL:
        return take_text(arena, f, v, problem, out);
    case KIND_JSON:
    case KIND_OBJECT:
    case KIND_ARRAY:
    case KIND_DOCUMENT:
        return take_json(arena, f, v, problem, out);
    case KIND_ID:
    case KIND_TIME:
    case KIND_HASH:
    case KIND_BYTES:
        break;
    }
    return take_coded(arena, f, v, problem, out);
}

static enum error take_absent(
    const struct archive_field *f, struct problem *problem, struct archive_value *out)
{
    *out = (struct archive_value){.is_null = !(f->flags & OR_NIL)};
    return f->flags & (MAYBE | OR_NIL | HIDDEN) ? OK : broken(problem, f, "is missing");
}

enum error archive_read_line(const struct archive_member *m, struct arena *arena, struct str line,
    struct problem *problem, struct archive_value *out)
{
    struct json_doc doc;
    struct json_error bad;
    struct json v;
    size_t n_taken = 0;
    if (!json_parse_deep(arena, line, JSON_MAX_DEPTH + 1, &doc, &bad))
        return problem_set(problem, ERR_INVALID, "byte %zu: %s", bad.offset, bad.rule);
    struct json root = json_root(&doc);
    if (json_type(root) != JSON_OBJECT)
        return problem_set(problem, ERR_INVALID, "must be a JSON object");
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct archive_field *f = &m->fields[i];
        bool found = !(f->flags & HIDDEN) && json_get(root, str_of(f->name), &v);
        n_taken += found;
        TRY(found ? take_value(arena, f, v, problem, &out[i]) : take_absent(f, problem, &out[i]));
    }
    if (n_taken != json_count(root))
        return problem_set(problem, ERR_INVALID, "has an unknown member");
    return OK;
}

/* --- To the database ------------------------------------------------------------------------ */

static void bind_value(struct query *q, const struct archive_field *f, const char *param,
    const struct archive_value *v)
{
    switch (f->kind) {
    case KIND_ID:
        query_bind_uuid_if(q, param, !v->is_null, v->id);
        break;
    case KIND_INT:
    case KIND_TIME:
        query_bind_i64_if(q, param, !v->is_null, v->number);
        break;
    case KIND_BOOL:
        if (!v->is_null)
            query_bind_bool(q, param, v->number != 0);
        break;
    case KIND_HASH:
    case KIND_BYTES:
        query_bind_bytes(q, param, v->bytes);
        break;
    case KIND_TEXT:
    case KIND_PRINCIPAL:
    case KIND_JSON:
    case KIND_OBJECT:
    case KIND_ARRAY:
    case KIND_DOCUMENT:
        query_bind_text(q, param, v->text);
        break;
    }
}

void archive_bind_row(
    const struct archive_member *m, const struct archive_value *row, struct query *q)
{
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct archive_field *f = &m->fields[i];
        if (!(f->flags & HIDDEN) && statement_has_param(q->statement, f->name))
            bind_value(q, f, f->name, &row[i]);
    }
}

void archive_bind_after(
    const struct archive_member *m, const struct archive_value *row, struct query *q)
{
    static const struct archive_value first = {.text = STR(""), .bytes = STR("")};
    for (size_t i = 0; i < m->n_fields; i++)
        if ((m->fields[i].flags & KEY) && statement_has_param(q->statement, m->fields[i].after))
            bind_value(q, &m->fields[i], m->fields[i].after, row == NULL ? &first : &row[i]);
}
