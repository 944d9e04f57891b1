/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/memory_filter.h"

#include "base/json/json_patch.h"

#define OPERATORS(X)         \
    X(EQUAL, "$eq")          \
    X(NOT_EQUAL, "$ne")      \
    X(GREATER, "$gt")        \
    X(GREATER_EQUAL, "$gte") \
    X(LESS, "$lt")           \
    X(LESS_EQUAL, "$lte")    \
    X(IN, "$in")             \
    X(NOT_IN, "$nin")
ENUM_DECLARE(operator, OPERATOR_NONE, filter_operators, OPERATORS);
ENUM_DEFINE(filter_operators, OPERATORS);

struct condition {
    struct str member;
    enum operator op;
    struct json operand;
};

struct memory_filter {
    struct json_doc doc;
    struct arena *arena;
    struct condition *conditions;
    size_t count;
};

/* --- Reading ---------------------------------------------------------------------------------- */

static bool has_operator(struct arena *arena, struct json value)
{
    struct json_iter it = json_iter(value);
    struct json key, unused;
    if (json_type(value) != JSON_OBJECT)
        return false;
    while (json_next(&it, &key, &unused))
        if (str_starts_with(json_string(arena, key), STR("$")))
            return true;
    return false;
}

static enum error read_operators(struct context *c, struct memory_filter *filter, struct str member,
    struct json operators, struct str at)
{
    struct json_iter it = json_iter(operators);
    struct json key, operand;
    while (json_next(&it, &key, &operand)) {
        struct str name = json_string(c->arena, key);
        struct str pointer = json_pointer_join(c->arena, at, name);
        enum operator op = operator_parse(name);
        if (op == OPERATOR_NONE)
            return problem_fault(
                c->problem, pointer, "must be one of $eq, $ne, $gt, $gte, $lt, $lte, $in and $nin");
        if ((op == IN || op == NOT_IN) && json_type(operand) != JSON_ARRAY)
            return problem_fault(c->problem, pointer, "must be an array");
        filter->conditions[filter->count++] = (struct condition){member, op, operand};
    }
    return OK;
}

static enum error read_members(struct context *c, struct memory_filter *filter, struct str at)
{
    struct json_iter it = json_iter(json_root(&filter->doc));
    struct json key, operand;
    while (json_next(&it, &key, &operand)) {
        struct str member = json_string(c->arena, key);
        if (has_operator(c->arena, operand))
            TRY(read_operators(
                c, filter, member, operand, json_pointer_join(c->arena, at, member)));
        else
            filter->conditions[filter->count++] = (struct condition){member, EQUAL, operand};
    }
    return OK;
}

enum error memory_filter_parse(
    struct context *c, struct str text, struct str at, const struct memory_filter **out_filter)
{
    struct memory_filter *filter = ARENA_NEW(c->arena, struct memory_filter);
    struct json_error bad;
    *out_filter = NULL;
    if (str_is_none(text))
        return OK;
    if (!json_parse(c->arena, text, &filter->doc, &bad))
        return problem_fault(c->problem, at, "must be valid JSON: %s", bad.rule);
    size_t members = json_count(json_root(&filter->doc));
    if (members == 0)
        return OK;
    if (members > MEMORY_FILTER_MAX_MEMBERS)
        return problem_fault(
            c->problem, at, "must have at most %d members", MEMORY_FILTER_MAX_MEMBERS);
    filter->arena = c->arena;
    filter->conditions = ARENA_ARRAY(c->arena, struct condition, members * NOT_IN);
    TRY(read_members(c, filter, at));
    *out_filter = filter;
    return OK;
}

/* --- Comparing -------------------------------------------------------------------------------- */

static bool text_to_number(struct str text, double *out)
{
    struct arena scratch;
    struct json_doc doc;
    struct json_error unused;
    struct str trimmed = str_trim_blanks(text);
    *out = 0;
    if (trimmed.len == 0)
        return true;
    arena_init(&scratch, SIZE_MAX);
    bool is_number = trimmed.len <= 400 && json_parse(&scratch, trimmed, &doc, &unused) &&
                     json_type(json_root(&doc)) == JSON_NUMBER &&
                     json_to_double(json_root(&doc), out);
    arena_deinit(&scratch);
    return is_number;
}

/* Converts a value to a number as JavaScript does, but not an array or object; false if it is none.
 */
static bool to_number(struct arena *arena, struct json value, double *out)
{
    switch (json_type(value)) {
    case JSON_NULL:
    case JSON_FALSE:
        *out = 0;
        return true;
    case JSON_TRUE:
        *out = 1;
        return true;
    case JSON_NUMBER:
        return json_to_double(value, out);
    case JSON_STRING:
        return text_to_number(json_string(arena, value), out);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return false;
}

/* Sets out_order below 0, to 0 or above 0; false if the values cannot be compared. Numbers are
 * compared by value, texts that are not both numbers by their bytes, so that RFC 3339 times compare
 * as times. */
static bool compare(struct arena *arena, struct json a, struct json b, int *out_order)
{
    double x, y;
    if (to_number(arena, a, &x) && to_number(arena, b, &y)) {
        *out_order = x < y ? -1 : x > y;
        return true;
    }
    if (json_type(a) != JSON_STRING || json_type(b) != JSON_STRING)
        return false;
    *out_order = str_cmp(json_string(arena, a), json_string(arena, b));
    return true;
}

static bool is_among(struct json list, struct json value)
{
    struct json_iter it = json_iter(list);
    struct json item;
    while (json_next(&it, NULL, &item))
        if (json_equal(item, value))
            return true;
    return false;
}

static bool holds(struct arena *arena, const struct condition *condition, struct json value)
{
    int order = 0;
    switch (condition->op) {
    case EQUAL:
        return json_equal(value, condition->operand);
    case NOT_EQUAL:
        return !json_equal(value, condition->operand);
    case IN:
        return is_among(condition->operand, value);
    case NOT_IN:
        return !is_among(condition->operand, value);
    default:
        break;
    }
    if (!compare(arena, value, condition->operand, &order))
        return false;
    return condition->op == GREATER         ? order > 0
           : condition->op == GREATER_EQUAL ? order >= 0
           : condition->op == LESS          ? order < 0
                                            : order <= 0;
}

bool memory_filter_holds(const struct memory_filter *filter, struct json value)
{
    struct arena scratch;
    bool all = true;
    if (filter == NULL)
        return true;
    arena_init(&scratch, SIZE_MAX);
    for (size_t i = 0; all && i < filter->count; i++) {
        const struct condition *condition = &filter->conditions[i];
        struct json member;
        all = json_get(value, condition->member, &member)
                  ? holds(&scratch, condition, member)
                  : condition->op == NOT_EQUAL || condition->op == NOT_IN;
    }
    arena_deinit(&scratch);
    return all;
}
