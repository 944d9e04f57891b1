/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_keys.h"
#include "base/json/json_number.h"
#include "base/json/json_pointer.h"
#include "base/json/json_tape.h"
#include "base/jsonschema/json_schema_node.h"

/* One keyword of one schema, while it is compiled. */
struct keyword {
    struct schema_compiler *c;
    struct schema_node *node;
    struct schema_resource *resource;
    const struct json_place *place; /* of the keyword's value */
    struct str name;
    struct json value;
};

struct str json_place_pointer(
    struct arena *arena, struct str prefix, const struct json_place *place)
{
    size_t depth = 0;
    for (const struct json_place *p = place; p != NULL; p = p->up)
        depth++;
    const struct json_place **places = ARENA_ARRAY(arena, const struct json_place *, depth + 1);
    size_t at = depth;
    for (const struct json_place *p = place; p != NULL; p = p->up)
        places[--at] = p;
    struct str pointer = prefix;
    for (size_t i = 0; i < depth; i++) {
        struct str token = places[i]->name;
        if (str_is_none(token))
            token = arena_printf(arena, "%zu", places[i]->index);
        pointer = json_pointer_join(arena, pointer, token);
    }
    return pointer;
}

/* Faults past the maximum are only counted: their pointers could be long. */
static struct str fault_pointer(struct schema_compiler *c, const struct json_place *place)
{
    bool counted = c->problem->n_faults == PROBLEM_MAX_FAULTS;
    return counted ? STR("") : json_place_pointer(c->scratch, c->prefix, place);
}

void schema_fault(struct schema_compiler *c, const struct json_place *place, const char *rule)
{
    problem_fault(c->problem, fault_pointer(c, place), "%s", rule);
}

static void fault(const struct keyword *k, const char *rule)
{
    schema_fault(k->c, k->place, rule);
}

static const struct json_place *place_of(
    struct schema_compiler *c, const struct json_place *up, struct str name, size_t index)
{
    struct json_place *place = ARENA_NEW(c->scratch, struct json_place);
    *place = (struct json_place){.up = up, .name = name, .index = index};
    return place;
}

static struct schema_node *compile_schema(struct schema_compiler *c, struct json value,
    const struct json_place *place, struct schema_resource *resource);

/* --- Parts of nodes, made when the first keyword needs them ----------------------------------- */

static struct schema_numbers *numbers_of(const struct keyword *k)
{
    if (k->node->numbers == NULL)
        k->node->numbers = ARENA_NEW(k->c->arena, struct schema_numbers);
    return k->node->numbers;
}

static struct schema_strings *strings_of(const struct keyword *k)
{
    if (k->node->strings == NULL) {
        k->node->strings = ARENA_NEW(k->c->arena, struct schema_strings);
        k->node->strings->max_length = UINT64_MAX;
    }
    return k->node->strings;
}

static struct schema_arrays *arrays_of(const struct keyword *k)
{
    if (k->node->arrays == NULL) {
        k->node->arrays = ARENA_NEW(k->c->arena, struct schema_arrays);
        k->node->arrays->max_items = k->node->arrays->max_contains = UINT64_MAX;
        k->node->arrays->min_contains = 1;
    }
    return k->node->arrays;
}

static struct schema_objects *objects_of(const struct keyword *k)
{
    if (k->node->objects == NULL) {
        k->node->objects = ARENA_NEW(k->c->arena, struct schema_objects);
        k->node->objects->max_properties = UINT64_MAX;
    }
    return k->node->objects;
}

static struct schema_combined *combined_of(const struct keyword *k)
{
    if (k->node->combined == NULL)
        k->node->combined = ARENA_NEW(k->c->arena, struct schema_combined);
    return k->node->combined;
}

/* --- Forms that values of keywords have ------------------------------------------------------- */

static bool is_type(const struct keyword *k, enum json_type type, const char *rule)
{
    if (json_type(k->value) == type)
        return true;
    fault(k, rule);
    return false;
}

static bool take_bool(const struct keyword *k, bool *out)
{
    *out = json_type(k->value) == JSON_TRUE;
    if (*out || json_type(k->value) == JSON_FALSE)
        return true;
    fault(k, "must be true or false");
    return false;
}

static bool take_text(const struct keyword *k, struct str *out)
{
    if (!is_type(k, JSON_STRING, "must be a string"))
        return false;
    *out = json_string(k->c->arena, k->value);
    return true;
}

static void take_number(const struct keyword *k, struct str *out)
{
    if (is_type(k, JSON_NUMBER, "must be a number"))
        *out = json_raw(k->value);
}

static void take_size(const struct keyword *k, uint64_t *out)
{
    struct str raw = json_raw(k->value);
    bool good = json_type(k->value) == JSON_NUMBER && json_number_is_integer(raw) &&
                json_number_cmp(raw, STR("0")) >= 0;
    int64_t size;
    if (!good)
        fault(k, "must be an integer of at least 0");
    else /* no value has more */
        *out = json_to_i64(k->value, &size) ? (uint64_t)size : UINT64_MAX;
}

static void take_schema(const struct keyword *k, struct schema_node **out)
{
    *out = compile_schema(k->c, k->value, k->place, k->resource);
}

static void take_schemas(const struct keyword *k, struct schema_list *out)
{
    if (!is_type(k, JSON_ARRAY, "must be an array of schemas"))
        return;
    if (json_count(k->value) == 0) {
        fault(k, "must have at least one schema");
        return;
    }
    out->items = ARENA_ARRAY(k->c->arena, struct schema_node *, json_count(k->value));
    struct json_iter it = json_iter(k->value);
    struct json item;
    for (; !k->c->full && json_next(&it, NULL, &item); out->count++)
        out->items[out->count] =
            compile_schema(k->c, item, place_of(k->c, k->place, STR_NONE, out->count), k->resource);
}

static int by_name(const void *a, const void *b)
{
    const struct schema_member *x = a, *y = b;
    return str_cmp(x->name, y->name);
}

static void take_members(const struct keyword *k, struct schema_members *out)
{
    if (!is_type(k, JSON_OBJECT, "must be an object whose values are schemas"))
        return;
    out->items = ARENA_ARRAY(k->c->arena, struct schema_member, json_count(k->value) + 1);
    struct json_iter it = json_iter(k->value);
    struct json key, item;
    while (!k->c->full && json_next(&it, &key, &item)) {
        struct str name = json_string(k->c->arena, key);
        out->items[out->count++] = (struct schema_member){
            name, compile_schema(k->c, item, place_of(k->c, k->place, name, 0), k->resource)};
    }
    qsort(out->items, out->count, sizeof *out->items, by_name);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* An array of distinct strings. */
static void take_names(struct schema_compiler *c, struct json value, const struct json_place *place,
    struct schema_names *out)
{
    bool good = json_type(value) == JSON_ARRAY;
    struct json_iter it = json_iter(value);
    struct json item;
    out->items = ARENA_ARRAY(c->arena, struct str, json_count(value) + 1);
    while (good && json_next(&it, NULL, &item)) {
        good = json_type(item) == JSON_STRING;
        if (good)
            out->items[out->count++] = json_string(c->arena, item);
    }
    qsort(out->items, out->count, sizeof *out->items, by_text);
    for (size_t i = 1; i < out->count; i++)
        good = good && !str_eq(out->items[i - 1], out->items[i]);
    if (!good)
        schema_fault(c, place, "must be an array of distinct strings");
}

static struct pattern *take_pattern(
    struct schema_compiler *c, struct str text, const struct json_place *place)
{
    struct pattern *pattern = NULL;
    struct pattern_error error;
    if (!pattern_compile(c->arena, text, &pattern, &error)) {
        problem_fault(c->problem, fault_pointer(c, place),
            "must be an ECMA-262 regular expression that Cairn supports: %s (byte %zu)", error.rule,
            error.offset);
        return NULL;
    }
    size_t before = c->n_states;
    c->n_states += pattern_states(pattern);
    if (before <= JSON_SCHEMA_MAX_STATES && c->n_states > JSON_SCHEMA_MAX_STATES) {
        schema_fault(c, place, "must keep the patterns of the schema within 40000 states in total");
        c->full = true;
    }
    return pattern;
}

/* --- The keywords ----------------------------------------------------------------------------- */

static uint8_t type_named(struct json name)
{
    static const struct {
        struct str name;
        enum schema_type type;
    } types[] = {
        {STR("null"), SCHEMA_NULL},
        {STR("boolean"), SCHEMA_BOOLEAN},
        {STR("integer"), SCHEMA_INTEGER},
        {STR("number"), SCHEMA_NUMBER},
        {STR("string"), SCHEMA_STRING},
        {STR("array"), SCHEMA_ARRAY},
        {STR("object"), SCHEMA_OBJECT},
    };
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (json_string_eq(name, types[i].name))
            return (uint8_t)types[i].type;
    return 0;
}

static void compile_type(const struct keyword *k)
{
    struct json_iter it = json_iter(k->value);
    struct json item = k->value;
    bool is_array = json_type(k->value) == JSON_ARRAY, good = !is_array || json_count(item) > 0;
    while (good && (!is_array || json_next(&it, NULL, &item))) {
        uint8_t type = type_named(item);
        good = type != 0 && (k->node->types & type) == 0;
        k->node->types |= type;
        if (!is_array)
            break;
    }
    if (!good)
        fault(k, "must be one of null, boolean, integer, number, string, array and object, or an "
                 "array of distinct names of types");
}

static void compile_enum(const struct keyword *k)
{
    if (is_type(k, JSON_ARRAY, "must be an array of the allowed values"))
        k->node->allowed = k->value;
}

static void compile_const(const struct keyword *k)
{
    k->node->exactly = k->value;
}

static void compile_bound(const struct keyword *k)
{
    struct schema_numbers *numbers = numbers_of(k);
    bool exclusive = str_starts_with(k->name, STR("exclusive"));
    if (str_ends_with(k->name, STR("inimum")))
        take_number(k, exclusive ? &numbers->exclusive_minimum : &numbers->minimum);
    else
        take_number(k, exclusive ? &numbers->exclusive_maximum : &numbers->maximum);
}

static void compile_multiple_of(const struct keyword *k)
{
    struct str divisor = STR_NONE;
    take_number(k, &divisor);
    if (str_is_none(divisor))
        return;
    if (json_number_cmp(divisor, STR("0")) <= 0)
        fault(k, "must be above 0");
    else if (!json_number_is_divisor(divisor))
        fault(k, "must have at most 18 significant digits");
    else
        numbers_of(k)->multiple_of = divisor;
}

static void compile_size(const struct keyword *k)
{
    if (str_eq(k->name, STR("minLength")))
        take_size(k, &strings_of(k)->min_length);
    else if (str_eq(k->name, STR("maxLength")))
        take_size(k, &strings_of(k)->max_length);
    else if (str_eq(k->name, STR("minItems")))
        take_size(k, &arrays_of(k)->min_items);
    else if (str_eq(k->name, STR("maxItems")))
        take_size(k, &arrays_of(k)->max_items);
    else if (str_eq(k->name, STR("minContains")))
        take_size(k, &arrays_of(k)->min_contains);
    else if (str_eq(k->name, STR("maxContains")))
        take_size(k, &arrays_of(k)->max_contains);
    else if (str_eq(k->name, STR("minProperties")))
        take_size(k, &objects_of(k)->min_properties);
    else
        take_size(k, &objects_of(k)->max_properties);
}

static void compile_pattern(const struct keyword *k)
{
    struct str text;
    if (!take_text(k, &text))
        return;
    strings_of(k)->pattern = take_pattern(k->c, text, k->place);
    strings_of(k)->pattern_text = text;
}

static void compile_format(const struct keyword *k)
{
    struct str name;
    if (!take_text(k, &name))
        return;
    strings_of(k)->format = json_format_find(name);
    if (strings_of(k)->format == NULL)
        fault(k, "must be a format of JSON Schema 2020-12, such as date-time, email or uuid");
}

static void compile_unique(const struct keyword *k)
{
    bool unique;
    if (take_bool(k, &unique))
        arrays_of(k)->unique = unique;
}

static void compile_items(const struct keyword *k)
{
    if (str_eq(k->name, STR("prefixItems")))
        take_schemas(k, &arrays_of(k)->prefix);
    else if (str_eq(k->name, STR("items")))
        take_schema(k, &arrays_of(k)->items);
    else if (str_eq(k->name, STR("contains")))
        take_schema(k, &arrays_of(k)->contains);
    else
        take_schema(k, &arrays_of(k)->unevaluated);
}

static void compile_object(const struct keyword *k)
{
    if (str_eq(k->name, STR("properties")))
        take_members(k, &objects_of(k)->properties);
    else if (str_eq(k->name, STR("additionalProperties")))
        take_schema(k, &objects_of(k)->additional);
    else if (str_eq(k->name, STR("propertyNames")))
        take_schema(k, &objects_of(k)->property_names);
    else if (str_eq(k->name, STR("dependentSchemas")))
        take_members(k, &objects_of(k)->dependents);
    else if (str_eq(k->name, STR("required")))
        take_names(k->c, k->value, k->place, &objects_of(k)->required);
    else
        take_schema(k, &objects_of(k)->unevaluated);
}

static void compile_pattern_properties(const struct keyword *k)
{
    if (!is_type(k, JSON_OBJECT, "must be an object whose values are schemas"))
        return;
    struct schema_objects *objects = objects_of(k);
    objects->patterns = ARENA_ARRAY(k->c->arena, struct schema_pattern, json_count(k->value) + 1);
    struct json_iter it = json_iter(k->value);
    struct json key, item;
    while (!k->c->full && json_next(&it, &key, &item)) {
        struct str text = json_string(k->c->arena, key);
        const struct json_place *place = place_of(k->c, k->place, text, 0);
        objects->patterns[objects->n_patterns++] = (struct schema_pattern){
            .pattern = take_pattern(k->c, text, place),
            .node = compile_schema(k->c, item, place, k->resource),
        };
    }
}

static void compile_dependent_required(const struct keyword *k)
{
    if (!is_type(k, JSON_OBJECT, "must be an object whose values are arrays of strings"))
        return;
    struct schema_objects *objects = objects_of(k);
    objects->dependencies =
        ARENA_ARRAY(k->c->arena, struct schema_dependency, json_count(k->value) + 1);
    struct json_iter it = json_iter(k->value);
    struct json key, item;
    while (!k->c->full && json_next(&it, &key, &item)) {
        struct schema_dependency *d = &objects->dependencies[objects->n_dependencies++];
        d->name = json_string(k->c->arena, key);
        take_names(k->c, item, place_of(k->c, k->place, d->name, 0), &d->needs);
    }
}

static void compile_combined(const struct keyword *k)
{
    if (str_eq(k->name, STR("allOf")))
        take_schemas(k, &combined_of(k)->all_of);
    else if (str_eq(k->name, STR("anyOf")))
        take_schemas(k, &combined_of(k)->any_of);
    else if (str_eq(k->name, STR("oneOf")))
        take_schemas(k, &combined_of(k)->one_of);
    else if (str_eq(k->name, STR("not")))
        take_schema(k, &combined_of(k)->not );
    else if (str_eq(k->name, STR("if")))
        take_schema(k, &combined_of(k)->when);
    else if (str_eq(k->name, STR("then")))
        take_schema(k, &combined_of(k)->then);
    else
        take_schema(k, &combined_of(k)->otherwise);
}

static void compile_ref(const struct keyword *k)
{
    struct str reference;
    if (!take_text(k, &reference))
        return;
    if (!json_format_is_uri_reference(reference))
        fault(k, "must be a URI reference");
    else if (str_eq(k->name, STR("$ref")))
        combined_of(k)->ref = reference;
    else
        combined_of(k)->dynamic_ref = reference;
}

static bool is_anchor_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool first = is_letter(c) || c == '_';
        bool later = is_digit(c) || c == '-' || c == '.';
        if (!first && (i == 0 || !later))
            return false;
    }
    return name.len > 0;
}

static void compile_anchor(const struct keyword *k)
{
    struct str name;
    if (!take_text(k, &name))
        return;
    if (!is_anchor_name(name)) {
        fault(k,
            "must begin with a letter or _ and otherwise contain only letters, digits, _, - and .");
        return;
    }
    struct schema_anchor *anchor = ARENA_NEW(k->c->arena, struct schema_anchor);
    *anchor = (struct schema_anchor){
        .next = k->resource->anchors,
        .name = name,
        .dynamic = str_eq(k->name, STR("$dynamicAnchor")),
        .node = k->node,
    };
    k->resource->anchors = anchor;
    k->resource->n_anchors++;
}

static void compile_dialect(const struct keyword *k)
{
    static const struct str dialect = STR("https://json-schema.org/draft/2020-12/schema");
    struct str uri;
    if (!take_text(k, &uri))
        return;
    if (str_ends_with(uri, STR("#")))
        uri = str_slice(uri, 0, uri.len - 1);
    if (!str_eq(uri, dialect))
        fault(k, "must be https://json-schema.org/draft/2020-12/schema");
    else if (k->resource->node != k->node)
        fault(k, "must be at the root of a schema or beside an $id");
}

static void compile_definitions(const struct keyword *k)
{
    struct schema_members definitions = {0};
    take_members(k, &definitions);
}

static void compile_text(const struct keyword *k)
{
    struct str text;
    if (take_text(k, &text))
        return;
}

static void compile_flag(const struct keyword *k)
{
    bool flag;
    if (take_bool(k, &flag))
        return;
}

static void compile_examples(const struct keyword *k)
{
    if (!is_type(k, JSON_ARRAY, "must be an array"))
        return;
}

static void compile_unjudged(const struct keyword *k)
{
    struct schema_node *unused;
    if (str_eq(k->name, STR("contentSchema")))
        take_schema(k, &unused);
}

static const struct {
    struct str name;
    void (*compile)(const struct keyword *k);
} keywords[] = {
    {STR("$schema"), compile_dialect},
    {STR("$id"), compile_unjudged}, /* read before all others */
    {STR("$ref"), compile_ref},
    {STR("$dynamicRef"), compile_ref},
    {STR("$anchor"), compile_anchor},
    {STR("$dynamicAnchor"), compile_anchor},
    {STR("$defs"), compile_definitions},
    {STR("$comment"), compile_text},
    {STR("type"), compile_type},
    {STR("enum"), compile_enum},
    {STR("const"), compile_const},
    {STR("minimum"), compile_bound},
    {STR("maximum"), compile_bound},
    {STR("exclusiveMinimum"), compile_bound},
    {STR("exclusiveMaximum"), compile_bound},
    {STR("multipleOf"), compile_multiple_of},
    {STR("minLength"), compile_size},
    {STR("maxLength"), compile_size},
    {STR("pattern"), compile_pattern},
    {STR("format"), compile_format},
    {STR("minItems"), compile_size},
    {STR("maxItems"), compile_size},
    {STR("uniqueItems"), compile_unique},
    {STR("minContains"), compile_size},
    {STR("maxContains"), compile_size},
    {STR("prefixItems"), compile_items},
    {STR("items"), compile_items},
    {STR("contains"), compile_items},
    {STR("unevaluatedItems"), compile_items},
    {STR("minProperties"), compile_size},
    {STR("maxProperties"), compile_size},
    {STR("required"), compile_object},
    {STR("properties"), compile_object},
    {STR("patternProperties"), compile_pattern_properties},
    {STR("additionalProperties"), compile_object},
    {STR("propertyNames"), compile_object},
    {STR("dependentRequired"), compile_dependent_required},
    {STR("dependentSchemas"), compile_object},
    {STR("unevaluatedProperties"), compile_object},
    {STR("allOf"), compile_combined},
    {STR("anyOf"), compile_combined},
    {STR("oneOf"), compile_combined},
    {STR("not"), compile_combined},
    {STR("if"), compile_combined},
    {STR("then"), compile_combined},
    {STR("else"), compile_combined},
    {STR("title"), compile_text},
    {STR("description"), compile_text},
    {STR("default"), compile_unjudged},
    {STR("deprecated"), compile_flag},
    {STR("readOnly"), compile_flag},
    {STR("writeOnly"), compile_flag},
    {STR("examples"), compile_examples},
    {STR("contentEncoding"), compile_text},
    {STR("contentMediaType"), compile_text},
    {STR("contentSchema"), compile_unjudged},
};

/* Keywords of older drafts, with their replacement. */
static const struct {
    struct str name;
    const char *rule;
} outdated[] = {
    {STR("definitions"), "belongs to an older draft: use $defs of JSON Schema 2020-12"},
    {STR("dependencies"), "belongs to an older draft: use dependentRequired and dependentSchemas "
                          "of JSON Schema 2020-12"},
    {STR("additionalItems"), "belongs to an older draft: use items of JSON Schema 2020-12 for the "
                             "items after prefixItems"},
    {STR("id"), "belongs to an older draft: use $id of JSON Schema 2020-12"},
    {STR("$recursiveRef"), "belongs to an older draft: use $dynamicRef of JSON Schema 2020-12"},
    {STR("$recursiveAnchor"),
        "belongs to an older draft: use $dynamicAnchor of JSON Schema 2020-12"},
};

static void compile_keyword(const struct keyword *k)
{
    for (size_t i = 0; i < COUNT_OF(keywords); i++) {
        if (str_eq(k->name, keywords[i].name)) {
            keywords[i].compile(k);
            return;
        }
    }
    for (size_t i = 0; i < COUNT_OF(outdated); i++) {
        if (str_eq(k->name, outdated[i].name)) {
            fault(k, outdated[i].rule);
            return;
        }
    }
    fault(k, "is not a keyword of JSON Schema 2020-12 that Cairn supports");
}

/* --- Schemas ---------------------------------------------------------------------------------- */

static struct schema_resource *add_resource(
    struct schema_compiler *c, struct schema_node *node, struct json root, struct str uri)
{
    struct schema_resource *resource = ARENA_NEW(c->arena, struct schema_resource);
    *resource =
        (struct schema_resource){.next = c->resources, .uri = uri, .root = root, .node = node};
    c->resources = resource;
    return resource;
}

/* Returns the resource of a schema: a new one if it has an $id. */
static struct schema_resource *resource_of(struct schema_compiler *c, struct schema_node *node,
    struct json value, struct schema_resource *outer)
{
    struct json id;
    struct str fragment, base = outer == NULL ? STR("") : outer->uri;
    if (json_type(value) != JSON_OBJECT || !json_get(value, STR("$id"), &id))
        return outer != NULL ? outer : add_resource(c, node, value, base);
    struct str reference = STR("");
    bool good = json_type(id) == JSON_STRING;
    if (good)
        reference = json_string(c->arena, id);
    if (!good || !json_format_is_uri_reference(reference)) {
        schema_fault(c, place_of(c, node->place, STR("$id"), 0), "must be a URI reference");
        reference = STR("");
    }
    struct str uri = schema_uri_resolve(c->arena, base, reference, &fragment);
    if (fragment.len > 0)
        schema_fault(c, place_of(c, node->place, STR("$id"), 0), "must not have a fragment");
    return add_resource(c, node, value, uri);
}

static struct schema_node *add_node(
    struct schema_compiler *c, struct json value, const struct json_place *place)
{
    struct schema_node *node = ARENA_NEW(c->arena, struct schema_node);
    node->place = place;
    *c->last = node;
    c->last = &node->next;
    c->by_node[value.at - c->schema.at] = node;
    if (++c->n_nodes == JSON_SCHEMA_MAX_SUBSCHEMAS + 1) {
        schema_fault(c, place, "exceeds the limit of 20000 subschemas in a schema");
        c->full = true;
    }
    return node;
}

static struct schema_node *compile_schema(struct schema_compiler *c, struct json value,
    const struct json_place *place, struct schema_resource *resource)
{
    enum json_type type = json_type(value);
    if (type != JSON_OBJECT && type != JSON_TRUE && type != JSON_FALSE)
        schema_fault(c, place, "must be a schema: an object, true or false");
    struct schema_node *node = add_node(c, value, place);
    node->refuses = type == JSON_FALSE;
    resource = resource_of(c, node, value, resource);
    node->resource = resource;
    if (type != JSON_OBJECT)
        return node;
    struct json_iter it = json_iter(value);
    struct json key, item;
    while (!c->full && json_next(&it, &key, &item)) {
        struct str name = json_string(c->arena, key);
        compile_keyword(&(struct keyword){
            .c = c,
            .node = node,
            .resource = resource,
            .place = place_of(c, place, name, 0),
            .name = name,
            .value = item,
        });
    }
    return node;
}

enum error json_schema_compile(struct arena *arena, struct json schema, struct str prefix,
    struct problem *problem, struct json_schema **out_schema)
{
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    size_t faults_before = problem->n_faults + problem->n_faults_untold;
    size_t n_values = json_node(schema)->next - schema.at;
    struct schema_compiler c = {
        .arena = arena,
        .scratch = &scratch,
        .problem = problem,
        .prefix = prefix,
        .schema = schema,
        .by_node = ARENA_ARRAY(&scratch, struct schema_node *, n_values),
        .keys = ARENA_ARRAY(&scratch, struct json_keys *, n_values),
        .n_values = n_values,
    };
    c.last = &c.first;
    struct json_schema *compiled = ARENA_NEW(arena, struct json_schema);
    compiled->root = compile_schema(&c, schema, NULL, NULL);
    if (!c.full)
        schema_link(&c);
    for (struct schema_node *node = c.first; node != NULL; node = node->next)
        node->place = NULL; /* it is in the scratch memory */
    if (problem->n_faults + problem->n_faults_untold > faults_before)
        return ERR_INVALID;
    *out_schema = compiled;
    return OK;
}
