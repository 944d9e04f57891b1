/* SPDX-License-Identifier: Apache-2.0 */
#include "base/schema.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/json/json_number.h"
#include "base/json/json_patch.h"

/* Decodes one object into a struct. */
struct decoder {
    struct arena *arena;
    struct problem *problem;
    struct str pointer; /* of the object in the body */
    char *out;
};

static struct presence decode_object(
    struct decoder *d, const struct schema *schema, struct json object);

const struct field *schema_next(const struct schema *schema, const struct field *previous)
{
    if (schema == NULL || schema->n_fields == 0)
        return NULL;
    const struct field *end = schema->fields + schema->n_fields;
    for (const struct field *f = previous == NULL ? schema->fields : previous + 1; f < end; f++)
        if ((f->in & schema->in) != 0)
            return f;
    return NULL;
}

const struct field *schema_find(const struct schema *schema, struct str name)
{
    const struct field *f = NULL;
    while ((f = schema_next(schema, f)) != NULL && !str_eq(str_of(f->name), name))
        ;
    return f;
}

bool schema_requires(const struct schema *schema, const struct field *f)
{
    return (f->flags & FIELD_OPTIONAL) == 0 && !f->refused && (f->optional_in & schema->in) == 0;
}

bool schema_is_read_only(const struct schema *schema, const struct field *f)
{
    if (f->refused)
        return true;
    bool any_sent = false;
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct field *other = &schema->fields[i];
        if ((other->in & IN_ANY_SENT) == 0)
            continue;
        any_sent = true;
        if (strcmp(other->name, f->name) == 0)
            return false;
    }
    return any_sent;
}

/* Returns true if a bool at `has_offset` states whether the row has a value. */
static bool has_flag(const struct field *f)
{
    switch (f->kind) {
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_MONEY:
    case FIELD_UUID:
    case FIELD_NESTED:
        return (f->flags & (FIELD_OPTIONAL | FIELD_NULLABLE)) != 0;
    default:
        return false;
    }
}

static int64_t limit_or(int64_t max, int64_t fallback)
{
    return max != 0 ? max : fallback;
}

static struct str pointer_to(const struct decoder *d, const struct field *f)
{
    return json_pointer_join(d->arena, d->pointer, str_of(f->name));
}

static void fault(struct decoder *d, const struct field *f, const char *rule)
{
    problem_fault(d->problem, pointer_to(d, f), "%s", rule);
}

static bool expect_type(
    struct decoder *d, const struct field *f, struct json v, enum json_type type)
{
    if (json_type(v) == type)
        return true;
    problem_fault(d->problem, pointer_to(d, f), "must be %s %s, not %s",
        type == JSON_ARRAY || type == JSON_OBJECT ? "an" : "a", json_type_name(type),
        json_type_name(json_type(v)));
    return false;
}

/* Text that both engines can store and that no C library cuts short. */
static bool read_text(struct decoder *d, struct str pointer, struct json v, struct str *out_text)
{
    if (json_type(v) != JSON_STRING) {
        problem_fault(
            d->problem, pointer, "must be a string, not %s", json_type_name(json_type(v)));
        return false;
    }
    *out_text = json_string(d->arena, v);
    return true;
}

static bool check_len(
    struct decoder *d, struct str pointer, size_t len, int64_t min, int64_t max, const char *unit)
{
    if ((int64_t)len < min)
        problem_fault(d->problem, pointer, "must have at least %" PRId64 " %s", min, unit);
    else if ((int64_t)len > max)
        problem_fault(d->problem, pointer, "must have at most %" PRId64 " %s", max, unit);
    else
        return true;
    return false;
}

static struct str choice_list(struct arena *arena, const char *const *choices)
{
    struct str list = STR("");
    for (size_t i = 0; choices[i] != NULL; i++)
        list = arena_printf(arena, "%.*s%s\"%s\"", STR_ARG(list), i == 0 ? "" : ", ", choices[i]);
    return list;
}

/* Returns 0 and reports a fault if the text is none of the choices. */
static unsigned check_choice(
    struct decoder *d, struct str pointer, const char *const *choices, struct str text)
{
    unsigned value = enum_parse(choices, text);
    if (value == 0) {
        struct str list = choice_list(d->arena, choices);
        problem_fault(d->problem, pointer, "must be one of %.*s", STR_ARG(list));
    }
    return value;
}

static void decode_string(struct decoder *d, const struct field *f, struct json v, void *out)
{
    struct str text, pointer = pointer_to(d, f);
    if (!read_text(d, pointer, v, &text))
        return;
    if (check_len(
            d, pointer, text.len, f->min, limit_or(f->max, SCHEMA_DEFAULT_STRING_BYTES), "bytes"))
        *(struct str *)out = text;
}

static void decode_enum(struct decoder *d, const struct field *f, struct json v, void *out)
{
    struct str text, pointer = pointer_to(d, f);
    if (!read_text(d, pointer, v, &text))
        return;
    *(unsigned *)out = check_choice(d, pointer, f->choices, text);
}

static bool is_of_json_kind(enum field_kind kind, enum json_type type)
{
    switch (kind) {
    case FIELD_OBJECT:
        return type == JSON_OBJECT;
    case FIELD_ARRAY:
        return type == JSON_ARRAY;
    case FIELD_DOCUMENT:
        return type == JSON_OBJECT || type == JSON_ARRAY;
    default:
        return true;
    }
}

static void decode_json(struct decoder *d, const struct field *f, struct json v, void *out)
{
    if (!is_of_json_kind(f->kind, json_type(v))) {
        fault(d, f,
            f->kind == FIELD_OBJECT  ? "must be an object"
            : f->kind == FIELD_ARRAY ? "must be an array"
                                     : "must be an object or an array");
        return;
    }
    if (check_len(d, pointer_to(d, f), json_compact_len(v), f->min,
            limit_or(f->max, SCHEMA_DEFAULT_JSON_BYTES), "bytes"))
        *(struct str *)out = json_compact_part(d->arena, v);
}

static void decode_bool(struct decoder *d, const struct field *f, struct json v, void *out)
{
    if (json_type(v) == JSON_TRUE || json_type(v) == JSON_FALSE)
        *(bool *)out = json_type(v) == JSON_TRUE;
    else
        expect_type(d, f, v, JSON_TRUE);
}

static void decode_int(struct decoder *d, const struct field *f, struct json v, void *out)
{
    int64_t value, max = limit_or(f->max, INT64_MAX);
    if (!expect_type(d, f, v, JSON_NUMBER))
        return;
    if (!json_to_i64(v, &value))
        fault(d, f, "must be a 64-bit integer");
    else if (value < f->min)
        problem_fault(d->problem, pointer_to(d, f), "must be at least %" PRId64, f->min);
    else if (value > max)
        problem_fault(d->problem, pointer_to(d, f), "must be at most %" PRId64, max);
    else
        *(int64_t *)out = value;
}

static void money_fault(
    struct decoder *d, const struct field *f, const char *rule, int64_t limit_pico)
{
    struct json_text text;
    json_text_init(&text, 64);
    json_write_money(&text.w, limit_pico);
    struct str limit = json_text_take(&text, d->arena);
    problem_fault(d->problem, pointer_to(d, f), "%s %.*s", rule, STR_ARG(limit));
}

static bool scale_up(int places, int64_t *value)
{
    for (; places > 0; places--)
        if (__builtin_mul_overflow(*value, 10, value))
            return false;
    return true;
}

/* Programs compute with binary floats: 0.1 + 0.2 is sent as 0.30000000000000004. */
static void decode_money(struct decoder *d, const struct field *f, struct json v, void *out)
{
    enum { PICO_PLACES = 12 };
    int64_t value, max = limit_or(f->max, INT64_MAX);
    if (!expect_type(d, f, v, JSON_NUMBER))
        return;
    struct str raw = json_raw(v);
    bool fits = json_number_to_rounded(raw, f->places > 0 ? f->places : PICO_PLACES, &value) &&
                scale_up(f->places > 0 ? PICO_PLACES - f->places : 0, &value);
    if (!fits)
        value = raw.ptr[0] == '-' ? INT64_MIN : INT64_MAX;
    if (!fits && value > 0 && max == INT64_MAX)
        fault(d, f, "must be an amount below 9223372");
    else if (value < f->min)
        money_fault(d, f, "must be at least", f->min);
    else if (value > max)
        money_fault(d, f, "must be at most", max);
    else
        *(int64_t *)out = value;
}

static void decode_time(struct decoder *d, const struct field *f, struct json v, void *out)
{
    struct str text;
    if (!read_text(d, pointer_to(d, f), v, &text))
        return;
    if (!clock_parse(text, out))
        fault(d, f, "must be an RFC 3339 time such as 2026-01-31T23:59:59Z");
}

static void decode_uuid(struct decoder *d, const struct field *f, struct json v, void *out)
{
    struct str text;
    if (!read_text(d, pointer_to(d, f), v, &text))
        return;
    if (!uuid_parse(text, out))
        fault(d, f, "must be a UUID, 8-4-4-4-12 hexadecimal digits");
}

static struct str pointer_to_item(const struct decoder *d, struct str list, size_t index)
{
    return arena_printf(d->arena, "%.*s/%zu", STR_ARG(list), index);
}

static bool expect_list(struct decoder *d, const struct field *f, struct json v)
{
    return expect_type(d, f, v, JSON_ARRAY) &&
           check_len(d, pointer_to(d, f), json_count(v), f->min,
               limit_or(f->max, SCHEMA_DEFAULT_LIST_ITEMS), "items");
}

static void decode_strings(struct decoder *d, const struct field *f, struct json v, void *out)
{
    if (!expect_list(d, f, v))
        return;
    struct str_list list = {.items = ARENA_ARRAY(d->arena, struct str, json_count(v))};
    struct str list_pointer = pointer_to(d, f);
    struct json_iter it = json_iter(v);
    struct json item;
    while (json_next(&it, NULL, &item)) {
        struct str pointer = pointer_to_item(d, list_pointer, list.count);
        struct str *text = &list.items[list.count++];
        if (read_text(d, pointer, item, text) &&
            check_len(d, pointer, text->len, 0, SCHEMA_DEFAULT_STRING_BYTES, "bytes") &&
            f->choices != NULL)
            check_choice(d, pointer, f->choices, *text);
    }
    *(struct str_list *)out = list;
}

static void decode_nested(struct decoder *d, const struct field *f, struct json v, void *out)
{
    struct decoder nested = {d->arena, d->problem, pointer_to(d, f), out};
    decode_object(&nested, f->nested, v);
}

static void decode_nested_list(struct decoder *d, const struct field *f, struct json v, void *out)
{
    if (!expect_list(d, f, v))
        return;
    size_t stride = f->nested->struct_bytes;
    char *items = arena_zalloc(d->arena, json_count(v) * stride);
    struct nested_list list = {.items = items};
    struct str list_pointer = pointer_to(d, f);
    struct json_iter it = json_iter(v);
    struct json item;
    while (json_next(&it, NULL, &item)) {
        struct decoder nested = {d->arena, d->problem, pointer_to_item(d, list_pointer, list.count),
            items + list.count * stride};
        decode_object(&nested, f->nested, item);
        list.count++;
    }
    *(struct nested_list *)out = list;
}

typedef void decode_fn(struct decoder *d, const struct field *f, struct json v, void *out);

static decode_fn *const decoders[] = {
    [FIELD_STRING] = decode_string,
    [FIELD_ENUM] = decode_enum,
    [FIELD_JSON] = decode_json,
    [FIELD_OBJECT] = decode_json,
    [FIELD_ARRAY] = decode_json,
    [FIELD_DOCUMENT] = decode_json,
    [FIELD_BOOL] = decode_bool,
    [FIELD_INT] = decode_int,
    [FIELD_TIME] = decode_time,
    [FIELD_MONEY] = decode_money,
    [FIELD_UUID] = decode_uuid,
    [FIELD_STRINGS] = decode_strings,
    [FIELD_NESTED] = decode_nested,
    [FIELD_NESTED_LIST] = decode_nested_list,
};

static void decode_member(struct decoder *d, const struct field *f, struct json v)
{
    if (json_type(v) == JSON_NULL && (f->flags & FIELD_NULLABLE) != 0)
        return;
    if (json_type(v) == JSON_NULL && f->kind == FIELD_JSON)
        return;
    if (has_flag(f)) {
        assert(f->has_offset != f->offset);
        *(bool *)(d->out + f->has_offset) = true;
    }
    decoders[f->kind](d, f, v, d->out + f->offset);
}

static const struct field *field_named(const struct schema *schema, struct json name)
{
    const struct field *f = NULL;
    while ((f = schema_next(schema, f)) != NULL && !json_string_eq(name, str_of(f->name)))
        ;
    return f;
}

static uint64_t bit_of(const struct schema *schema, const struct field *f)
{
    assert(schema->n_fields <= SCHEMA_MAX_FIELDS);
    return UINT64_C(1) << (f - schema->fields);
}

static void mark(
    struct presence *presence, const struct schema *schema, const struct field *f, struct json v)
{
    presence->given |= bit_of(schema, f);
    if (json_type(v) == JSON_NULL)
        presence->null |= bit_of(schema, f);
}

static struct presence decode_members(
    struct decoder *d, const struct schema *schema, struct json object)
{
    struct presence presence = {0};
    struct json_iter it = json_iter(object);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        const struct field *f = field_named(schema, key);
        if (f == NULL) {
            struct str name = json_string(d->arena, key);
            problem_fault(d->problem, json_pointer_join(d->arena, d->pointer, name),
                "is not a member of %s", schema->name);
        } else if (f->refused) {
            fault(d, f, "is set by Cairn and must not be sent");
        } else {
            mark(&presence, schema, f, value);
            decode_member(d, f, value);
        }
    }
    return presence;
}

/* Returns the schema itself if the object does not name a variant. */
static const struct schema *variant_of(
    struct arena *arena, const struct schema *schema, struct json object)
{
    struct json word;
    const struct field *f = schema_next(schema, NULL);
    if (schema->variants == NULL || !json_get(object, str_of(f->name), &word) ||
        json_type(word) != JSON_STRING)
        return schema;
    unsigned value = enum_parse(f->choices, json_string(arena, word));
    return value == 0 ? schema : &schema->variants[value - 1];
}

static struct presence decode_object(
    struct decoder *d, const struct schema *schema, struct json object)
{
    if (json_type(object) != JSON_OBJECT) {
        problem_fault(
            d->problem, d->pointer, "must be an object, not %s", json_type_name(json_type(object)));
        return (struct presence){0};
    }
    schema = variant_of(d->arena, schema, object);
    struct presence presence = decode_members(d, schema, object);
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;)
        if ((presence.given & bit_of(schema, f)) == 0 && schema_requires(schema, f))
            fault(d, f, "must be given");
    return presence;
}

static enum error decode(struct arena *arena, const struct schema *schema, struct str pointer,
    struct json object, void *out, struct presence *out_presence, struct problem *problem)
{
    size_t faults_before = problem->n_faults + problem->n_faults_untold;
    memset(out, 0, schema->struct_bytes);
    struct decoder d = {arena, problem, pointer, out};
    *out_presence = decode_object(&d, schema, object);
    return problem->n_faults + problem->n_faults_untold > faults_before ? ERR_INVALID : OK;
}

enum error schema_decode_at(struct arena *arena, const struct schema *schema, struct str pointer,
    struct json object, void *out, struct problem *problem)
{
    struct presence unused;
    return decode(arena, schema, pointer, object, out, &unused, problem);
}

enum error schema_decode_presence(struct arena *arena, const struct schema *schema,
    struct json body, void *out, struct presence *out_presence, struct problem *problem)
{
    return decode(arena, schema, STR(""), body, out, out_presence, problem);
}

enum error schema_decode(struct arena *arena, const struct schema *schema, struct json body,
    void *out, struct problem *problem)
{
    return schema_decode_at(arena, schema, STR(""), body, out, problem);
}

struct presence schema_presence(const struct schema *schema, struct json object)
{
    struct presence presence = {0};
    if (json_type(object) != JSON_OBJECT)
        return presence;
    struct json_iter it = json_iter(object);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        const struct field *f = field_named(schema, key);
        if (f != NULL)
            mark(&presence, schema, f, value);
    }
    return presence;
}

enum member_state schema_member(
    const struct schema *schema, const struct presence *presence, const char *name)
{
    const struct field *f = schema_find(schema, str_of(name));
    assert(f != NULL);
    if ((presence->given & bit_of(schema, f)) == 0)
        return MEMBER_ABSENT;
    return presence->null & bit_of(schema, f) ? MEMBER_NULL : MEMBER_GIVEN;
}

bool schema_gives_others(
    const struct schema *schema, const struct presence *presence, const char *name)
{
    const struct field *f = schema_find(schema, str_of(name));
    assert(f != NULL);
    return (presence->given & ~presence->null & ~bit_of(schema, f)) != 0;
}

static size_t size_of(const struct field *f)
{
    switch (f->kind) {
    case FIELD_BOOL:
        return sizeof(bool);
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_MONEY:
        return sizeof(int64_t);
    case FIELD_UUID:
        return sizeof(struct uuid);
    case FIELD_STRINGS:
        return sizeof(struct str_list);
    case FIELD_NESTED:
        return f->nested->struct_bytes;
    case FIELD_NESTED_LIST:
        return sizeof(struct nested_list);
    case FIELD_ENUM:
        return sizeof(unsigned);
    default:
        return sizeof(struct str);
    }
}

void schema_keep_absent(
    const struct schema *schema, const struct presence *presence, const void *before, void *after)
{
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        if ((presence->given & bit_of(schema, f)) != 0)
            continue;
        memcpy((char *)after + f->offset, (const char *)before + f->offset, size_of(f));
        if (has_flag(f))
            ((char *)after)[f->has_offset] = ((const char *)before)[f->has_offset];
    }
}

static bool is_absent(const struct field *f, const char *in)
{
    const char *at = in + f->offset;
    if (has_flag(f))
        return !*(const bool *)(in + f->has_offset);
    switch (f->kind) {
    case FIELD_BOOL:
    case FIELD_INT:
    case FIELD_TIME:
    case FIELD_MONEY:
    case FIELD_UUID:
    case FIELD_NESTED:
        return false;
    case FIELD_ENUM:
        return *(const unsigned *)at == 0;
    case FIELD_STRINGS:
        return ((const struct str_list *)at)->items == NULL &&
               ((f->flags & FIELD_NULLABLE) != 0 || f->hide_none);
    case FIELD_NESTED_LIST:
        return ((const struct nested_list *)at)->items == NULL &&
               ((f->flags & FIELD_NULLABLE) != 0 || f->hide_none);
    default:
        return str_is_none(*(const struct str *)at);
    }
}

/* Encodes objects, without the secrets that are shown once if `hides_secrets`. */
struct encoder {
    struct json_writer *w;
    bool hides_secrets;
    bool met_secret;
};

static void encode_object(struct encoder *e, const struct schema *schema, const void *in);

static void encode_strings(struct json_writer *w, const struct str_list *list)
{
    json_write_array(w);
    for (size_t i = 0; i < list->count; i++)
        json_write_string(w, list->items[i]);
    json_write_end(w);
}

static void encode_nested_list(
    struct encoder *e, const struct schema *schema, const struct nested_list *list)
{
    json_write_array(e->w);
    for (size_t i = 0; i < list->count; i++)
        encode_object(e, schema, (const char *)list->items + i * schema->struct_bytes);
    json_write_end(e->w);
}

static void encode_value(struct encoder *e, const struct field *f, const void *at)
{
    struct json_writer *w = e->w;
    switch (f->kind) {
    case FIELD_STRING:
        json_write_string(w, *(const struct str *)at);
        break;
    case FIELD_ENUM:
        json_write_string(w, enum_word(f->choices, *(const unsigned *)at));
        break;
    case FIELD_JSON:
    case FIELD_OBJECT:
    case FIELD_ARRAY:
    case FIELD_DOCUMENT:
        json_write_raw(w, *(const struct str *)at);
        break;
    case FIELD_BOOL:
        json_write_bool(w, *(const bool *)at);
        break;
    case FIELD_INT:
        json_write_i64(w, *(const int64_t *)at);
        break;
    case FIELD_TIME:
        json_write_time(w, *(const int64_t *)at);
        break;
    case FIELD_MONEY:
        json_write_money(w, *(const int64_t *)at);
        break;
    case FIELD_UUID:
        json_write_uuid(w, *(const struct uuid *)at);
        break;
    case FIELD_STRINGS:
        encode_strings(w, at);
        break;
    case FIELD_NESTED:
        encode_object(e, f->nested, at);
        break;
    case FIELD_NESTED_LIST:
        encode_nested_list(e, f->nested, at);
        break;
    }
}

static void encode_object(struct encoder *e, const struct schema *schema, const void *in)
{
    json_write_object(e->w);
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;) {
        bool absent = is_absent(f, in);
        if (absent && f->hide_none)
            continue;
        e->met_secret |= f->once;
        json_write_name(e->w, f->name);
        if (absent || (f->once && e->hides_secrets))
            json_write_null(e->w);
        else
            encode_value(e, f, (const char *)in + f->offset);
    }
    json_write_end(e->w);
}

static bool is_of_receipt(const struct field *f)
{
    return f->kind == FIELD_UUID || f->kind == FIELD_TIME || f->kind == FIELD_INT ||
           f->kind == FIELD_BOOL;
}

void schema_encode_receipt(struct json_writer *w, const struct schema *schema, const void *in)
{
    struct encoder e = {.w = w};
    json_write_object(w);
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;)
        if (is_of_receipt(f) && !is_absent(f, in)) {
            json_write_name(w, f->name);
            encode_value(&e, f, (const char *)in + f->offset);
        }
    json_write_end(w);
}

bool schema_encode(struct json_writer *w, const struct schema *schema, const void *in)
{
    struct encoder e = {.w = w};
    encode_object(&e, schema, in);
    return e.met_secret;
}

void schema_encode_without_secrets(
    struct json_writer *w, const struct schema *schema, const void *in)
{
    struct encoder e = {.w = w, .hides_secrets = true};
    encode_object(&e, schema, in);
}
