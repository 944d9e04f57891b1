/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/params.h"

#include "base/clock.h"

static enum error decode_int(
    const struct field *f, struct str value, int64_t *out, struct problem *problem)
{
    int64_t number;
    int64_t max = f->max == 0 ? INT64_MAX : f->max;
    if (!str_to_i64(value, &number) || number < f->min || number > max)
        return problem_fault(problem, str_of(f->name), "must be an integer from %lld to %lld",
            (long long)f->min, (long long)max);
    *out = number;
    return OK;
}

static enum error decode_enum(
    const struct field *f, struct str text, void *out, struct problem *problem)
{
    unsigned value = enum_parse(f->choices, text);
    if (value != 0) {
        *(unsigned *)out = value;
        return OK;
    }
    struct buf choices;
    buf_init(&choices, 4096);
    for (const char *const *c = f->choices; *c != NULL; c++) {
        buf_append(&choices, c == f->choices ? STR("") : STR(", "));
        buf_append(&choices, str_of(*c));
    }
    struct str list = buf_str(&choices);
    problem_fault(problem, str_of(f->name), "must be one of %.*s", STR_ARG(list));
    buf_deinit(&choices);
    return ERR_INVALID;
}

static enum error decode_string(
    const struct field *f, struct str value, struct str *out, struct problem *problem)
{
    int64_t max = f->max == 0 ? SCHEMA_DEFAULT_STRING_BYTES : f->max;
    if ((int64_t)value.len < f->min || (int64_t)value.len > max)
        return problem_fault(problem, str_of(f->name), "must have %lld to %lld bytes",
            (long long)f->min, (long long)max);
    *out = value;
    return OK;
}

static enum error decode_value(
    const struct field *f, struct str value, char *out, struct problem *problem)
{
    void *place = out + f->offset;
    switch (f->kind) {
    case FIELD_STRING:
        return decode_string(f, value, place, problem);
    case FIELD_ENUM:
        return decode_enum(f, value, place, problem);
    case FIELD_INT:
        return decode_int(f, value, place, problem);
    case FIELD_UUID:
        return uuid_parse(value, place) ? OK
                                        : problem_fault(problem, str_of(f->name), "must be a UUID");
    case FIELD_TIME:
        return clock_parse(value, place)
                   ? OK
                   : problem_fault(problem, str_of(f->name), "must be an RFC 3339 time");
    case FIELD_BOOL:
        *(bool *)place = str_eq(value, STR("true"));
        return *(bool *)place || str_eq(value, STR("false"))
                   ? OK
                   : problem_fault(problem, str_of(f->name), "must be true or false");
    default:
        abort(); /* the row of a table has a kind that no query parameter can have */
    }
}

static bool has_presence_flag(const struct field *f)
{
    return (f->flags & FIELD_OPTIONAL) != 0 && (f->kind == FIELD_INT || f->kind == FIELD_UUID ||
                                                   f->kind == FIELD_TIME || f->kind == FIELD_BOOL);
}

static enum error decode_field(const struct field *f, struct str value, char *out, uint64_t *seen,
    size_t index, struct problem *problem)
{
    if (*seen & (UINT64_C(1) << index))
        return problem_fault(problem, str_of(f->name), "must not be repeated");
    *seen |= UINT64_C(1) << index;
    TRY(decode_value(f, value, out, problem));
    if (has_presence_flag(f))
        *(bool *)(out + f->has_offset) = true;
    return OK;
}

static enum error add_metadata_filter(
    struct call *call, struct str key, struct str value, struct problem *problem)
{
    for (size_t i = 0; i < COUNT_OF(call->request.metadata_keys); i++) {
        if (!str_is_none(call->request.metadata_keys[i]))
            continue;
        call->request.metadata_keys[i] = key;
        call->request.metadata_values[i] = value;
        return OK;
    }
    return problem_fault(problem, STR("metadata"), "at most %zu metadata filters are allowed",
        COUNT_OF(call->request.metadata_keys));
}

static enum error decode_pair(struct call *call, const struct schema *schema, struct str name,
    struct str value, void *out, uint64_t *seen, struct problem *problem)
{
    const struct str metadata = STR("metadata.");
    if ((call->route->flags & ROUTE_METADATA_FILTER) && str_starts_with(name, metadata))
        return add_metadata_filter(call, str_slice(name, metadata.len, name.len), value, problem);
    const struct field *f = schema_find(schema, name);
    if (f == NULL)
        return problem_fault(problem, name, "is not a parameter of this route");
    return decode_field(f, value, out, seen, (size_t)(f - schema->fields), problem);
}

/* Reports the half of the pair that cannot be decoded. */
static enum error refuse_pair(
    struct call *call, struct str name, struct str value, struct problem *problem)
{
    struct str decoded;
    bool named = http_decode_percent(call->arena, name, true, &decoded);
    const struct str nul = STR("%00");
    for (struct str rest = named ? value : name; rest.len >= nul.len;
         rest = str_slice(rest, 1, rest.len))
        if (str_starts_with(rest, nul))
            return problem_fault(
                problem, named ? decoded : STR("query"), "must not contain U+0000");
    return problem_fault(problem, STR("query"), "must be percent-encoded UTF-8");
}

enum error params_decode(struct call *call, const struct schema *schema, struct str query,
    void *out, struct problem *problem)
{
    uint64_t seen = 0;
    enum error e = OK;
    struct str pair;
    while (str_next_part(&query, '&', &pair)) {
        size_t equals = str_find(pair, '=');
        struct str name = str_slice(pair, 0, equals), decoded_name;
        struct str value = str_slice(pair, equals + 1, pair.len), decoded_value;
        if (pair.len == 0)
            continue;
        if (!http_decode_percent(call->arena, name, true, &decoded_name) ||
            !http_decode_percent(call->arena, value, true, &decoded_value)) {
            e = refuse_pair(call, name, value, problem);
            continue;
        }
        enum error bad =
            decode_pair(call, schema, decoded_name, decoded_value, out, &seen, problem);
        e = bad != OK ? bad : e;
    }
    for (const struct field *f = NULL; (f = schema_next(schema, f)) != NULL;)
        if (schema_requires(schema, f) && (seen & (UINT64_C(1) << (f - schema->fields))) == 0)
            e = problem_fault(problem, str_of(f->name), "must be given");
    return e;
}
