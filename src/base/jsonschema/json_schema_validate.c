/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/hash.h"
#include "base/json/json_keys.h"
#include "base/json/json_number.h"
#include "base/jsonschema/json_schema_node.h"

/* The part of a pattern or value that a fault shows. */
enum { SHOWN_BYTES = 80 };

struct checker {
    struct arena scratch;
    struct problem *problem;
    struct str prefix;
    uint64_t steps; /* left */
    unsigned depth;
    unsigned in_name; /* a member's name is being checked */
    const char *gave_up;
};

/* The resources that were entered on the way here, for $dynamicRef. */
struct scope {
    const struct scope *up;
    const struct schema_resource *resource;
};

/* One value, met by one schema. */
struct visit {
    const struct schema_node *node;
    struct json value;
    const struct json_place *place;
    const struct scope *scope;
    uint64_t *marks; /* a bit for each evaluated member or item; NULL: not needed */
    bool quiet;
    bool valid;
};

static void spend(struct checker *c, uint64_t steps)
{
    if (steps <= c->steps) {
        c->steps -= steps;
        return;
    }
    c->steps = 0;
    if (c->gave_up == NULL)
        c->gave_up = "must be validated within 500000 steps";
}

static void PRINTF_LIKE(3, 4) fail(struct checker *c, struct visit *v, const char *fmt, ...)
{
    v->valid = false;
    if (v->quiet || c->gave_up != NULL)
        return;
    struct str pointer = STR(""), rule = STR("");
    if (c->problem->n_faults < PROBLEM_MAX_FAULTS) {
        va_list args;
        va_start(args, fmt);
        rule = arena_vprintf(&c->scratch, fmt, args);
        va_end(args);
        pointer = json_place_pointer(&c->scratch, c->prefix, v->place);
    }
    problem_fault(c->problem, pointer, "%s%.*s", c->in_name > 0 ? "its name " : "", STR_ARG(rule));
}

/* An invalid value whose faults are not reported needs no further check. */
static bool is_over(const struct checker *c, const struct visit *v)
{
    return c->gave_up != NULL || (v->quiet && !v->valid);
}

static struct str shown(struct str s)
{
    size_t len = s.len < SHOWN_BYTES ? s.len : SHOWN_BYTES;
    while (len < s.len && len > 0 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80)
        len--;
    return str_slice(s, 0, len);
}

static const char *cut_mark(struct str s)
{
    return s.len > SHOWN_BYTES ? "…" : "";
}

static bool check(struct checker *c, const struct schema_node *node, struct json value,
    const struct visit *from, const struct json_place *place, uint64_t *marks, bool quiet);

/* Checks the same value by another schema. */
static bool check_same(
    struct checker *c, const struct schema_node *node, const struct visit *v, bool quiet)
{
    return check(c, node, v->value, v, v->place, v->marks, quiet);
}

static void set_mark(uint64_t *marks, size_t index)
{
    if (marks != NULL)
        marks[index / 64] |= (uint64_t)1 << (index % 64);
}

static size_t mark_words(struct json value)
{
    return json_count(value) / 64 + 1;
}

/* --- Any value -------------------------------------------------------------------------------- */

static const struct {
    enum schema_type type;
    const char *name;
    const char *with_article;
} type_names[] = {
    {SCHEMA_NULL, "null", "null"},
    {SCHEMA_BOOLEAN, "boolean", "a boolean"},
    {SCHEMA_INTEGER, "integer", "an integer"},
    {SCHEMA_NUMBER, "number", "a number"},
    {SCHEMA_STRING, "string", "a string"},
    {SCHEMA_ARRAY, "array", "an array"},
    {SCHEMA_OBJECT, "object", "an object"},
};

static bool has_type(struct json value, uint8_t types)
{
    static const uint8_t by_json_type[] = {
        [JSON_NULL] = SCHEMA_NULL,
        [JSON_FALSE] = SCHEMA_BOOLEAN,
        [JSON_TRUE] = SCHEMA_BOOLEAN,
        [JSON_NUMBER] = SCHEMA_NUMBER,
        [JSON_STRING] = SCHEMA_STRING,
        [JSON_ARRAY] = SCHEMA_ARRAY,
        [JSON_OBJECT] = SCHEMA_OBJECT,
    };
    enum json_type type = json_type(value);
    if ((types & by_json_type[type]) != 0 || types == 0)
        return true;
    return type == JSON_NUMBER && (types & SCHEMA_INTEGER) != 0 &&
           json_number_is_integer(json_raw(value));
}

static void check_type(struct checker *c, struct visit *v)
{
    uint8_t types = v->node->types;
    if (has_type(v->value, types))
        return;
    struct str list = STR("");
    for (size_t i = 0; i < COUNT_OF(type_names); i++) {
        if (types == type_names[i].type) {
            const char *is = json_type(v->value) == JSON_NUMBER && types == SCHEMA_INTEGER
                                 ? "a number with a fraction"
                                 : json_type_name(json_type(v->value));
            fail(c, v, "must be %s, not %s", type_names[i].with_article, is);
            return;
        }
        if ((types & type_names[i].type) != 0)
            list = arena_printf(&c->scratch, "%.*s%s%s", STR_ARG(list), list.len > 0 ? ", " : "",
                type_names[i].name);
    }
    fail(c, v, "must be one of %.*s, not %s", STR_ARG(list), json_type_name(json_type(v->value)));
}

static bool is_equal(struct checker *c, struct json a, struct json b)
{
    enum { BYTES_A_STEP = 64, LEAST_STEPS = 4 };
    spend(c, 1);
    if (json_type(a) != json_type(b))
        return false;
    spend(c, (json_raw(a).len + json_raw(b).len) / BYTES_A_STEP + LEAST_STEPS);
    return c->gave_up == NULL && json_equal(a, b);
}

static void check_enum(struct checker *c, struct visit *v)
{
    struct json_iter it = json_iter(v->node->allowed);
    struct json item;
    while (json_next(&it, NULL, &item))
        if (is_equal(c, v->value, item))
            return;
    struct str list = json_raw(v->node->allowed);
    fail(c, v, "must be one of %.*s%s", STR_ARG(shown(list)), cut_mark(list));
}

static void check_const(struct checker *c, struct visit *v)
{
    struct str expected = json_raw(v->node->exactly);
    if (!is_equal(c, v->value, v->node->exactly))
        fail(c, v, "must be %.*s%s", STR_ARG(shown(expected)), cut_mark(expected));
}

/* --- Numbers and strings ---------------------------------------------------------------------- */

static void check_number(struct checker *c, struct visit *v)
{
    enum { DIGITS_A_STEP = 16 };
    const struct schema_numbers *n = v->node->numbers;
    struct str number = json_raw(v->value);
    spend(c, number.len / DIGITS_A_STEP);
    if (n->minimum.ptr != NULL && json_number_cmp(number, n->minimum) < 0)
        fail(c, v, "must be at least %.*s", STR_ARG(shown(n->minimum)));
    if (n->maximum.ptr != NULL && json_number_cmp(number, n->maximum) > 0)
        fail(c, v, "must be at most %.*s", STR_ARG(shown(n->maximum)));
    if (n->exclusive_minimum.ptr != NULL && json_number_cmp(number, n->exclusive_minimum) <= 0)
        fail(c, v, "must be above %.*s", STR_ARG(shown(n->exclusive_minimum)));
    if (n->exclusive_maximum.ptr != NULL && json_number_cmp(number, n->exclusive_maximum) >= 0)
        fail(c, v, "must be below %.*s", STR_ARG(shown(n->exclusive_maximum)));
    if (n->multiple_of.ptr != NULL && !json_number_is_multiple(number, n->multiple_of))
        fail(c, v, "must be a multiple of %.*s", STR_ARG(shown(n->multiple_of)));
}

static uint64_t count_code_points(struct str s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s.len; i++)
        count += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return count;
}

static void check_size(
    struct checker *c, struct visit *v, uint64_t size, uint64_t min, uint64_t max, const char *unit)
{
    if (size < min)
        fail(c, v, "must have at least %" PRIu64 " %s%s", min, unit, min == 1 ? "" : "s");
    if (size > max)
        fail(c, v, "must have at most %" PRIu64 " %s%s", max, unit, max == 1 ? "" : "s");
}

static bool matches(struct checker *c, const struct pattern *pattern, struct str text)
{
    bool found;
    if (!pattern_search(pattern, text, &c->steps, &found))
        spend(c, UINT64_MAX);
    return found;
}

static void check_string(struct checker *c, struct visit *v)
{
    enum { BYTES_A_STEP = 16 };
    const struct schema_strings *s = v->node->strings;
    struct str text = json_string(&c->scratch, v->value);
    spend(c, json_raw(v->value).len / BYTES_A_STEP);
    if (s->min_length > 0 || s->max_length < UINT64_MAX)
        check_size(c, v, count_code_points(text), s->min_length, s->max_length, "character");
    if (s->pattern != NULL && !is_over(c, v) && !matches(c, s->pattern, text))
        fail(c, v, "must match the pattern %.*s%s", STR_ARG(shown(s->pattern_text)),
            cut_mark(s->pattern_text));
    if (s->format == NULL || s->format->accepts == NULL || is_over(c, v))
        return;
    spend(c, s->format->steps_a_byte * (text.len + 1));
    if (c->gave_up == NULL && !s->format->accepts(text))
        fail(c, v, "must be %s", s->format->what);
}

/* --- Arrays ----------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t words[2] = {a, b};
    return hash_bytes(words, sizeof words);
}

/* Equal values have equal hashes. The recursion is as deep as the value, which is limited. */
static uint64_t hash_value(struct arena *scratch, struct json v)
{
    struct json_iter it = json_iter(v);
    struct json key, item;
    enum json_type type = json_type(v);
    uint64_t hash = type;
    if (type == JSON_NUMBER || type == JSON_STRING) {
        struct str text = type == JSON_STRING ? json_string(scratch, v)
                                              : json_number_canonical(scratch, json_raw(v));
        return mix(type, hash_bytes(text.ptr, text.len));
    }
    if (type != JSON_ARRAY && type != JSON_OBJECT)
        return hash;
    while (json_next(&it, &key, &item)) {
        uint64_t inner = hash_value(scratch, item);
        if (type == JSON_ARRAY)
            hash = mix(hash, inner);
        else /* a sum does not depend on the order */
            hash += mix(hash_value(scratch, key), inner);
    }
    return mix(type, hash);
}

struct hashed {
    uint64_t hash;
    size_t index;
    struct json value;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void check_unique(struct checker *c, struct visit *v)
{
    enum { BYTES_A_STEP = 32 };
    size_t count = json_count(v->value), first = SIZE_MAX, second = SIZE_MAX;
    spend(c, json_raw(v->value).len / BYTES_A_STEP + count);
    if (count < 2 || c->gave_up != NULL)
        return;
    struct hashed *items = ARENA_ARRAY(&c->scratch, struct hashed, count);
    struct json_iter it = json_iter(v->value);
    for (size_t i = 0; i < count; i++) {
        json_next(&it, NULL, &items[i].value);
        items[i].hash = hash_value(&c->scratch, items[i].value);
        items[i].index = i;
    }
    qsort(items, count, sizeof *items, by_hash);
    for (size_t i = 1; i < count; i++) {
        bool equal = items[i].hash == items[i - 1].hash && items[i].index < second &&
                     json_equal(items[i].value, items[i - 1].value);
        if (equal) {
            first = items[i - 1].index;
            second = items[i].index;
        }
    }
    if (second < SIZE_MAX)
        fail(c, v, "must have distinct items: items %zu and %zu are equal", first, second);
}

static void check_items(struct checker *c, struct visit *v)
{
    const struct schema_arrays *a = v->node->arrays;
    struct json_iter it = json_iter(v->value);
    struct json item;
    for (size_t i = 0; !is_over(c, v) && json_next(&it, NULL, &item); i++) {
        const struct schema_node *node = i < a->prefix.count ? a->prefix.items[i] : a->items;
        if (node == NULL)
            return;
        struct json_place place = {.up = v->place, .index = i};
        v->valid &= check(c, node, item, v, &place, NULL, v->quiet);
        set_mark(v->marks, i);
    }
}

static void check_contains(struct checker *c, struct visit *v)
{
    const struct schema_arrays *a = v->node->arrays;
    struct json_iter it = json_iter(v->value);
    struct json item;
    uint64_t found = 0;
    for (size_t i = 0; c->gave_up == NULL && json_next(&it, NULL, &item); i++) {
        struct json_place place = {.up = v->place, .index = i};
        if (!check(c, a->contains, item, v, &place, NULL, true))
            continue;
        found++;
        set_mark(v->marks, i);
    }
    if (found < a->min_contains)
        fail(c, v, "must have at least %" PRIu64 " item%s matching contains, not %" PRIu64,
            a->min_contains, a->min_contains == 1 ? "" : "s", found);
    if (found > a->max_contains)
        fail(c, v, "must have at most %" PRIu64 " item%s matching contains, not %" PRIu64,
            a->max_contains, a->max_contains == 1 ? "" : "s", found);
}

static void check_array(struct checker *c, struct visit *v)
{
    const struct schema_arrays *a = v->node->arrays;
    check_size(c, v, json_count(v->value), a->min_items, a->max_items, "item");
    if (a->unique && !is_over(c, v))
        check_unique(c, v);
    if (a->prefix.count > 0 || a->items != NULL)
        check_items(c, v);
    if (a->contains != NULL && !is_over(c, v))
        check_contains(c, v);
}

/* --- Objects ---------------------------------------------------------------------------------- */

static int by_member_name(const void *name, const void *member)
{
    return str_cmp(*(const struct str *)name, ((const struct schema_member *)member)->name);
}

static const struct schema_node *find_member(const struct schema_members *members, struct str name)
{
    if (members->count == 0)
        return NULL;
    const struct schema_member *found =
        bsearch(&name, members->items, members->count, sizeof *members->items, by_member_name);
    return found != NULL ? found->node : NULL;
}

static void check_unknown_member(
    struct checker *c, struct visit *v, const struct json_place *place, struct json item)
{
    const struct schema_node *additional = v->node->objects->additional;
    struct visit member = {.place = place, .quiet = v->quiet};
    if (!additional->refuses) {
        v->valid &= check(c, additional, item, v, place, NULL, v->quiet);
        return;
    }
    fail(c, &member, "is not a property of the schema");
    v->valid = false;
}

static void check_member(
    struct checker *c, struct visit *v, size_t index, struct json key, struct json item)
{
    enum { BYTES_A_STEP = 64 };
    const struct schema_objects *o = v->node->objects;
    struct str name = json_string(&c->scratch, key);
    struct json_place place = {.up = v->place, .name = name};
    bool evaluated = false;
    spend(c, name.len / BYTES_A_STEP + 1);
    const struct schema_node *node = find_member(&o->properties, name);
    if (node != NULL) {
        v->valid &= check(c, node, item, v, &place, NULL, v->quiet);
        evaluated = true;
    }
    for (size_t i = 0; i < o->n_patterns && !is_over(c, v); i++) {
        if (!matches(c, o->patterns[i].pattern, name))
            continue;
        v->valid &= check(c, o->patterns[i].node, item, v, &place, NULL, v->quiet);
        evaluated = true;
    }
    if (!evaluated && o->additional != NULL && !is_over(c, v)) {
        check_unknown_member(c, v, &place, item);
        evaluated = true;
    }
    if (evaluated)
        set_mark(v->marks, index);
    if (o->property_names != NULL && !is_over(c, v)) {
        c->in_name++;
        v->valid &= check(c, o->property_names, key, v, &place, NULL, v->quiet);
        c->in_name--;
    }
}

static void check_names(struct checker *c, struct visit *v, const struct json_keys *keys,
    const struct schema_names *names, struct str because)
{
    struct json found;
    for (size_t i = 0; i < names->count && !is_over(c, v); i++) {
        spend(c, 1);
        if (json_keys_find(keys, names->items[i], &found))
            continue;
        if (str_is_none(because))
            fail(c, v, "must have the property \"%.*s\"", STR_ARG(shown(names->items[i])));
        else
            fail(c, v, "must have the property \"%.*s\", which \"%.*s\" requires",
                STR_ARG(shown(names->items[i])), STR_ARG(shown(because)));
    }
}

static void check_dependencies(struct checker *c, struct visit *v, const struct json_keys *keys)
{
    const struct schema_objects *o = v->node->objects;
    struct json found;
    for (size_t i = 0; i < o->n_dependencies && !is_over(c, v); i++) {
        spend(c, 1);
        if (json_keys_find(keys, o->dependencies[i].name, &found))
            check_names(c, v, keys, &o->dependencies[i].needs, o->dependencies[i].name);
    }
    for (size_t i = 0; i < o->dependents.count && !is_over(c, v); i++) {
        spend(c, 1);
        if (json_keys_find(keys, o->dependents.items[i].name, &found))
            v->valid &= check_same(c, o->dependents.items[i].node, v, v->quiet);
    }
}

static void check_object(struct checker *c, struct visit *v)
{
    const struct schema_objects *o = v->node->objects;
    size_t count = json_count(v->value);
    if (count < o->min_properties || count > o->max_properties) {
        const char *unit = o->min_properties == 1 && count < 1 ? "property" : "properties";
        bool few = count < o->min_properties;
        fail(c, v, "must have at %s %" PRIu64 " %s", few ? "least" : "most",
            few ? o->min_properties : o->max_properties, unit);
    }
    if (o->required.count > 0 || o->n_dependencies > 0 || o->dependents.count > 0) {
        struct json_keys keys;
        spend(c, count);
        json_keys_init(&keys, &c->scratch, v->value);
        check_names(c, v, &keys, &o->required, STR_NONE);
        check_dependencies(c, v, &keys);
    }
    if (o->properties.count == 0 && o->n_patterns == 0 && o->additional == NULL &&
        o->property_names == NULL)
        return;
    struct json_iter it = json_iter(v->value);
    struct json key, item;
    for (size_t i = 0; !is_over(c, v) && json_next(&it, &key, &item); i++)
        check_member(c, v, i, key, item);
}

/* --- Other schemas for the same value --------------------------------------------------------- */

/* A $dynamicRef refers to the outermost schema of its name on the way here. */
static const struct schema_node *dynamic_target(struct checker *c, const struct visit *v)
{
    const struct schema_combined *combined = v->node->combined;
    const struct schema_node *target = combined->dynamic_to;
    if (str_is_none(combined->dynamic_name))
        return target;
    for (const struct scope *s = v->scope; s != NULL; s = s->up) {
        spend(c, s->resource->n_anchors);
        for (const struct schema_anchor *a = s->resource->anchors; a != NULL; a = a->next)
            if (a->dynamic && str_eq(a->name, combined->dynamic_name))
                target = a->node;
    }
    return target;
}

/* Reports the faults of the one alternative that fits the type of the value. Returns true if there
 * is one. */
static bool explain(struct checker *c, const struct visit *v, const struct schema_list *list)
{
    const struct schema_node *meant = NULL;
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i]->refuses || !has_type(v->value, list->items[i]->types))
            continue;
        meant = list->items[i];
        count++;
    }
    return count == 1 && !v->quiet && !check_same(c, meant, v, false);
}

static void check_any_of(struct checker *c, struct visit *v)
{
    const struct schema_list *list = &v->node->combined->any_of;
    bool any = false;
    for (size_t i = 0; i < list->count && !(any && v->marks == NULL); i++)
        any |= check_same(c, list->items[i], v, true);
    if (any)
        return;
    if (explain(c, v, list))
        v->valid = false;
    else
        fail(c, v, "must match at least one of the %zu schemas of anyOf", list->count);
}

static void check_one_of(struct checker *c, struct visit *v)
{
    const struct schema_list *list = &v->node->combined->one_of;
    size_t count = 0;
    for (size_t i = 0; i < list->count && !(count > 1 && v->quiet); i++)
        count += check_same(c, list->items[i], v, true);
    if (count == 1)
        return;
    if (count == 0 && explain(c, v, list))
        v->valid = false;
    else
        fail(c, v, "must match exactly one of the %zu schemas of oneOf, not %zu", list->count,
            count);
}

static void check_condition(struct checker *c, struct visit *v)
{
    const struct schema_combined *combined = v->node->combined;
    const struct schema_node *next =
        check_same(c, combined->when, v, true) ? combined->then : combined->otherwise;
    if (next != NULL && c->gave_up == NULL)
        v->valid &= check_same(c, next, v, v->quiet);
}

static void check_combined(struct checker *c, struct visit *v)
{
    const struct schema_combined *combined = v->node->combined;
    if (combined->ref_to != NULL)
        v->valid &= check_same(c, combined->ref_to, v, v->quiet);
    if (combined->dynamic_to != NULL && !is_over(c, v))
        v->valid &= check_same(c, dynamic_target(c, v), v, v->quiet);
    for (size_t i = 0; i < combined->all_of.count && !is_over(c, v); i++)
        v->valid &= check_same(c, combined->all_of.items[i], v, v->quiet);
    if (combined->any_of.count > 0 && !is_over(c, v))
        check_any_of(c, v);
    if (combined->one_of.count > 0 && !is_over(c, v))
        check_one_of(c, v);
    if (combined->not != NULL && !is_over(c, v) &&
        check(c, combined->not, v->value, v, v->place, NULL, true))
        fail(c, v, "must not match the schema of not");
    if (combined->when != NULL && !is_over(c, v))
        check_condition(c, v);
}

/* --- Values that no other schema evaluated ---------------------------------------------------- */

static const struct schema_node *unevaluated_of(const struct visit *v)
{
    if (json_type(v->value) == JSON_OBJECT && v->node->objects != NULL)
        return v->node->objects->unevaluated;
    if (json_type(v->value) == JSON_ARRAY && v->node->arrays != NULL)
        return v->node->arrays->unevaluated;
    return NULL;
}

static void check_unevaluated(struct checker *c, struct visit *v, const struct schema_node *node)
{
    struct json_iter it = json_iter(v->value);
    struct json key = v->value, item;
    bool is_object = json_type(v->value) == JSON_OBJECT;
    for (size_t i = 0; !is_over(c, v) && json_next(&it, &key, &item); i++) {
        spend(c, 1);
        if ((v->marks[i / 64] >> (i % 64) & 1) != 0)
            continue;
        struct json_place place = {.up = v->place, .index = i};
        if (is_object)
            place.name = json_string(&c->scratch, key);
        struct visit member = {.place = &place, .quiet = v->quiet};
        if (node->refuses) {
            fail(c, &member, "is not %s of the schema", is_object ? "a property" : "an item");
            v->valid = false;
        } else {
            v->valid &= check(c, node, item, v, &place, NULL, v->quiet);
        }
        set_mark(v->marks, i);
    }
}

/* --- A schema --------------------------------------------------------------------------------- */

static void check_node(struct checker *c, struct visit *v)
{
    const struct schema_node *node = v->node;
    enum json_type type = json_type(v->value);
    if (node->refuses)
        fail(c, v, "is not allowed");
    if (node->types != 0)
        check_type(c, v);
    if (node->allowed.doc != NULL && !is_over(c, v))
        check_enum(c, v);
    if (node->exactly.doc != NULL && !is_over(c, v))
        check_const(c, v);
    if (is_over(c, v))
        return;
    if (type == JSON_NUMBER && node->numbers != NULL)
        check_number(c, v);
    else if (type == JSON_STRING && node->strings != NULL)
        check_string(c, v);
    else if (type == JSON_ARRAY && node->arrays != NULL)
        check_array(c, v);
    else if (type == JSON_OBJECT && node->objects != NULL)
        check_object(c, v);
    if (node->combined != NULL && !is_over(c, v))
        check_combined(c, v);
}

static bool check(struct checker *c, const struct schema_node *node, struct json value,
    const struct visit *from, const struct json_place *place, uint64_t *marks, bool quiet)
{
    struct arena_mark memory = arena_mark(&c->scratch);
    struct scope scope = {.up = from->scope, .resource = node->resource};
    bool same = from->scope != NULL && from->scope->resource == node->resource;
    struct visit v = {
        .node = node,
        .value = value,
        .place = place,
        .scope = same ? from->scope : &scope,
        .quiet = quiet,
        .valid = true,
    };
    const struct schema_node *unevaluated = unevaluated_of(&v);
    spend(c, 1);
    if (c->depth == JSON_SCHEMA_MAX_DEPTH && c->gave_up == NULL)
        c->gave_up = "must not pass through more than 512 nested schemas";
    if (c->gave_up != NULL)
        return false;
    if (marks != NULL || unevaluated != NULL) {
        spend(c, mark_words(value));
        v.marks = ARENA_ARRAY(&c->scratch, uint64_t, mark_words(value));
    }
    c->depth++;
    check_node(c, &v);
    if (unevaluated != NULL && !is_over(c, &v))
        check_unevaluated(c, &v, unevaluated);
    c->depth--;
    for (size_t i = 0; marks != NULL && v.valid && i < mark_words(value); i++)
        marks[i] |= v.marks[i];
    arena_rewind(&c->scratch, memory);
    return v.valid && c->gave_up == NULL;
}

static void checker_deinit(struct checker *c)
{
    arena_deinit(&c->scratch);
}

enum error json_schema_validate(
    const struct json_schema *schema, struct json value, struct str prefix, struct problem *problem)
{
    CLEANUP(checker_deinit)
    struct checker c = {.problem = problem, .prefix = prefix, .steps = JSON_SCHEMA_MAX_STEPS};
    arena_init(&c.scratch, SIZE_MAX);
    struct visit outside = {.scope = NULL};
    bool valid = check(&c, schema->root, value, &outside, NULL, NULL, false);
    if (c.gave_up != NULL)
        return problem_fault(problem, prefix, "%s", c.gave_up);
    return valid ? OK : ERR_INVALID;
}
