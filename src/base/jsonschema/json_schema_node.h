/* SPDX-License-Identifier: Apache-2.0 */
/* A compiled schema; only for the JSON Schema modules of base. */
#ifndef BASE_JSONSCHEMA_JSON_SCHEMA_NODE_H
#define BASE_JSONSCHEMA_JSON_SCHEMA_NODE_H

#include "base/jsonschema/json_schema.h"
#include "base/jsonschema/json_schema_format.h"
#include "base/jsonschema/pattern.h"

/* A place in a document: a member or an item of its parent. The root is NULL. */
struct json_place {
    const struct json_place *up;
    struct str name; /* decoded; STR_NONE for an item */
    size_t index;
};

struct str json_place_pointer(
    struct arena *arena, struct str prefix, const struct json_place *place);

enum schema_type {
    SCHEMA_NULL = 1,
    SCHEMA_BOOLEAN = 2,
    SCHEMA_INTEGER = 4,
    SCHEMA_NUMBER = 8,
    SCHEMA_STRING = 16,
    SCHEMA_ARRAY = 32,
    SCHEMA_OBJECT = 64,
};

struct schema_node;

struct schema_list {
    struct schema_node **items;
    size_t count;
};

struct schema_member {
    struct str name;
    struct schema_node *node;
};

/* Sorted by name. */
struct schema_members {
    struct schema_member *items;
    size_t count;
};

struct schema_names {
    struct str *items;
    size_t count;
};

struct schema_pattern {
    struct pattern *pattern;
    struct schema_node *node;
};

struct schema_dependency {
    struct str name;
    struct schema_names needs;
};

/* As written; STR_NONE if the keyword is absent. */
struct schema_numbers {
    struct str minimum;
    struct str maximum;
    struct str exclusive_minimum;
    struct str exclusive_maximum;
    struct str multiple_of;
};

struct schema_strings {
    uint64_t min_length;
    uint64_t max_length;
    struct pattern *pattern;
    struct str pattern_text;
    const struct json_format *format;
};

struct schema_arrays {
    uint64_t min_items;
    uint64_t max_items;
    uint64_t min_contains;
    uint64_t max_contains;
    bool unique;
    struct schema_list prefix;
    struct schema_node *items;
    struct schema_node *contains;
    struct schema_node *unevaluated;
};

struct schema_objects {
    uint64_t min_properties;
    uint64_t max_properties;
    struct schema_names required;
    struct schema_members properties;
    struct schema_pattern *patterns;
    size_t n_patterns;
    struct schema_node *additional;
    struct schema_node *property_names;
    struct schema_dependency *dependencies;
    size_t n_dependencies;
    struct schema_members dependents;
    struct schema_node *unevaluated;
};

/* Subschemas that apply to the same value as the schema itself. */
struct schema_combined {
    struct str ref; /* as written; STR_NONE if absent */
    struct str dynamic_ref;
    struct schema_node *ref_to;
    struct schema_node *dynamic_to;
    struct str
        dynamic_name; /* of the $dynamicAnchor that was found first; STR_NONE: behaves like $ref */
    struct schema_list all_of;
    struct schema_list any_of;
    struct schema_list one_of;
    struct schema_node * not ;
    struct schema_node *when;
    struct schema_node *then;
    struct schema_node *otherwise;
};

struct schema_anchor {
    struct schema_anchor *next;
    struct str name;
    bool dynamic;
    struct schema_node *node;
};

/* A schema with an $id, or the root. */
struct schema_resource {
    struct schema_resource *next;
    struct str uri; /* without a fragment */
    struct json root;
    struct schema_node *node;
    struct schema_anchor *anchors;
    size_t n_anchors;
};

enum schema_mark { SCHEMA_NEW, SCHEMA_OPEN, SCHEMA_DONE };

struct schema_node {
    const struct json_place *place;
    const struct schema_resource *resource;
    struct schema_node *next; /* in the order of compilation */
    struct json allowed;      /* the values of enum; doc is NULL when absent */
    struct json exactly;      /* const */
    struct schema_numbers *numbers;
    struct schema_strings *strings;
    struct schema_arrays *arrays;
    struct schema_objects *objects;
    struct schema_combined *combined;
    uint8_t types; /* 0: any */
    bool refuses;  /* the schema `false` */
    enum schema_mark mark;
};

struct json_schema {
    struct schema_node *root;
};

struct schema_compiler {
    struct arena *arena;
    struct arena *scratch;
    struct problem *problem;
    struct str prefix;
    struct json schema;
    struct schema_node **by_node; /* the compiled form of each value of the document, or NULL */
    struct json_keys **keys;      /* of objects that a pointer has traversed, or NULL */
    size_t n_values;
    struct schema_node *first;
    struct schema_node **last;
    struct schema_resource *resources;
    size_t n_nodes;
    size_t n_states;
    bool full;
};

void schema_fault(struct schema_compiler *c, const struct json_place *place, const char *rule);

/* Resolves `reference` against `base` and returns the URI without its fragment; the fragment is
 * STR_NONE if absent. */
struct str schema_uri_resolve(
    struct arena *arena, struct str base, struct str reference, struct str *out_fragment);
/* Resolves each reference and rejects circular ones. */
void schema_link(struct schema_compiler *c);

#endif
