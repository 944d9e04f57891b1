/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_keys.h"
#include "base/json/json_pointer.h"
#include "base/jsonschema/json_schema_node.h"

/* --- URIs (RFC 3986, section 5) --------------------------------------------------------------- */

/* An absent part is STR_NONE. */
struct uri {
    struct str scheme;
    struct str authority;
    struct str path;
    struct str query;
    struct str fragment;
};

static bool is_scheme(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = is_letter(c);
        if (!letter && (i == 0 || !(is_digit(c) || c == '+' || c == '-' || c == '.')))
            return false;
    }
    return s.len > 0;
}

/* Removes `mark` and the text after it, and returns that text. */
static struct str cut(struct str *text, char mark)
{
    size_t at = str_find(*text, mark);
    if (at == text->len)
        return STR_NONE;
    struct str after = {text->ptr + at + 1, text->len - at - 1};
    *text = str_slice(*text, 0, at);
    return after;
}

static struct uri split_uri(struct str text)
{
    struct uri uri = {.scheme = STR_NONE, .authority = STR_NONE};
    uri.fragment = cut(&text, '#');
    uri.query = cut(&text, '?');
    size_t colon = str_find(text, ':');
    if (colon < text.len && is_scheme(str_slice(text, 0, colon))) {
        uri.scheme = str_slice(text, 0, colon);
        text = str_slice(text, colon + 1, text.len);
    }
    if (str_starts_with(text, STR("//"))) {
        text = str_slice(text, 2, text.len);
        size_t slash = str_find(text, '/');
        uri.authority = str_slice(text, 0, slash);
        text = str_slice(text, slash, text.len);
    }
    uri.path = text;
    return uri;
}

/* Removes the last segment and its slash. */
static size_t drop_segment(const char *path, size_t len)
{
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len > 0 ? len - 1 : 0;
}

static struct str without_dots(struct arena *arena, struct str path)
{
    char *out = arena_alloc(arena, path.len + 1);
    size_t len = 0;
    bool absolute = path.len > 0 && path.ptr[0] == '/';
    struct str rest = absolute ? str_slice(path, 1, path.len) : path;
    if (absolute)
        out[len++] = '/';
    for (;;) {
        size_t end = str_find(rest, '/');
        struct str segment = str_slice(rest, 0, end);
        bool last = end == rest.len, up = str_eq(segment, STR(".."));
        if (up && len > 0) {
            len = drop_segment(out, len - 1);
            if (len > 0 || absolute)
                out[len++] = '/';
        } else if (!up && !str_eq(segment, STR("."))) {
            if (segment.len > 0)
                memcpy(out + len, segment.ptr, segment.len);
            len += segment.len;
            if (!last)
                out[len++] = '/';
        }
        if (last)
            return (struct str){out, len};
        rest = str_slice(rest, end + 1, rest.len);
    }
}

static struct str merge_paths(struct arena *arena, const struct uri *base, struct str path)
{
    if (!str_is_none(base->authority) && base->path.len == 0)
        return arena_printf(arena, "/%.*s", STR_ARG(path));
    size_t keep = base->path.len;
    while (keep > 0 && base->path.ptr[keep - 1] != '/')
        keep--;
    return arena_printf(arena, "%.*s%.*s", STR_ARG(str_slice(base->path, 0, keep)), STR_ARG(path));
}

static struct uri resolve(struct arena *arena, const struct uri *base, struct uri r)
{
    bool absolute = !str_is_none(r.scheme);
    if (absolute || !str_is_none(r.authority)) {
        r.path = without_dots(arena, r.path);
    } else if (r.path.len == 0) {
        r.path = base->path;
        if (str_is_none(r.query))
            r.query = base->query;
        r.authority = base->authority;
    } else {
        r.path =
            without_dots(arena, r.path.ptr[0] == '/' ? r.path : merge_paths(arena, base, r.path));
        r.authority = base->authority;
    }
    if (!absolute)
        r.scheme = base->scheme;
    return r;
}

struct str schema_uri_resolve(
    struct arena *arena, struct str base, struct str reference, struct str *out_fragment)
{
    struct uri from = split_uri(base);
    struct uri uri = resolve(arena, &from, split_uri(reference));
    *out_fragment = uri.fragment;
    bool scheme = !str_is_none(uri.scheme), authority = !str_is_none(uri.authority);
    bool query = !str_is_none(uri.query);
    return arena_printf(arena, "%.*s%s%s%.*s%.*s%s%.*s", STR_ARG(uri.scheme), scheme ? ":" : "",
        authority ? "//" : "", STR_ARG(uri.authority), STR_ARG(uri.path), query ? "?" : "",
        STR_ARG(uri.query));
}

/* --- Targets of references -------------------------------------------------------------------- */

struct linker {
    struct schema_compiler *c;
    struct schema_resource **resources; /* by URI */
    size_t n_resources;
    struct anchor_of *anchors; /* by resource and name */
    size_t n_anchors;
};

struct anchor_of {
    const struct schema_resource *resource;
    const struct schema_anchor *anchor;
};

static int by_uri(const void *a, const void *b)
{
    const struct schema_resource *const *x = a, *const *y = b;
    return str_cmp((*x)->uri, (*y)->uri);
}

/* If two have the same URI, the root comes first, which may have no $id to report. */
static int by_uri_and_place(const void *a, const void *b)
{
    const struct schema_resource *const *x = a, *const *y = b;
    int order = by_uri(a, b);
    return order != 0 ? order : ((*x)->root.at > (*y)->root.at) - ((*x)->root.at < (*y)->root.at);
}

static int by_anchor(const void *a, const void *b)
{
    const struct anchor_of *x = a, *y = b;
    if (x->resource != y->resource)
        return (uintptr_t)x->resource < (uintptr_t)y->resource ? -1 : 1;
    return str_cmp(x->anchor->name, y->anchor->name);
}

static void fault_at(
    struct linker *l, const struct schema_node *node, struct str keyword, const char *rule)
{
    struct json_place place = {.up = node->place, .name = keyword};
    schema_fault(l->c, &place, rule);
}

static void collect(struct linker *l)
{
    size_t n_resources = 0, n_anchors = 0;
    for (struct schema_resource *r = l->c->resources; r != NULL; r = r->next) {
        n_resources++;
        n_anchors += r->n_anchors;
    }
    l->resources = ARENA_ARRAY(l->c->scratch, struct schema_resource *, n_resources);
    l->anchors = ARENA_ARRAY(l->c->scratch, struct anchor_of, n_anchors + 1);
    for (struct schema_resource *r = l->c->resources; r != NULL; r = r->next) {
        l->resources[l->n_resources++] = r;
        for (struct schema_anchor *a = r->anchors; a != NULL; a = a->next)
            l->anchors[l->n_anchors++] = (struct anchor_of){r, a};
    }
    qsort(l->resources, l->n_resources, sizeof(struct schema_resource *), by_uri_and_place);
    qsort(l->anchors, l->n_anchors, sizeof *l->anchors, by_anchor);
}

static void check_names_differ(struct linker *l)
{
    for (size_t i = 1; i < l->n_resources; i++)
        if (by_uri(&l->resources[i - 1], &l->resources[i]) == 0)
            fault_at(l, l->resources[i]->node, STR("$id"), "must differ from every other $id");
    for (size_t i = 1; i < l->n_anchors; i++)
        if (by_anchor(&l->anchors[i - 1], &l->anchors[i]) == 0)
            fault_at(l, l->anchors[i].anchor->node,
                l->anchors[i].anchor->dynamic ? STR("$dynamicAnchor") : STR("$anchor"),
                "must differ from the other anchors under the same $id");
}

static const struct schema_resource *find_resource(const struct linker *l, struct str uri)
{
    struct schema_resource wanted = {.uri = uri}, *key = &wanted;
    struct schema_resource **found =
        bsearch(&key, l->resources, l->n_resources, sizeof key, by_uri);
    return found != NULL ? *found : NULL;
}

static const struct schema_anchor *find_anchor(
    const struct linker *l, const struct schema_resource *resource, struct str name)
{
    struct schema_anchor wanted = {.name = name};
    struct anchor_of key = {resource, &wanted};
    struct anchor_of *found = bsearch(&key, l->anchors, l->n_anchors, sizeof key, by_anchor);
    return found != NULL ? found->anchor : NULL;
}

/* Finds the member of an object. Its names are indexed at the first use. */
static bool find_member(struct linker *l, struct json object, struct str name, struct json *out)
{
    struct json_keys **keys = &l->c->keys[object.at - l->c->schema.at];
    if (*keys == NULL) {
        *keys = ARENA_NEW(l->c->scratch, struct json_keys);
        json_keys_init(*keys, l->c->scratch, object);
    }
    return json_keys_find(*keys, name, out);
}

static struct schema_node *follow_pointer(
    struct linker *l, const struct schema_resource *resource, struct str pointer)
{
    struct json value = resource->root;
    struct str token;
    size_t index;
    if (!json_pointer_is_valid(pointer))
        return NULL;
    while (json_pointer_next(l->c->scratch, &pointer, &token)) {
        bool found = json_type(value) == JSON_ARRAY
                         ? json_pointer_index(token, &index) && json_at(value, index, &value)
                         : json_type(value) == JSON_OBJECT && find_member(l, value, token, &value);
        if (!found)
            return NULL;
    }
    return l->c->by_node[value.at - l->c->schema.at];
}

static struct str percent_decode(struct arena *arena, struct str text)
{
    char *out = arena_alloc(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = i + 2 < text.len ? hex_digit(text.ptr[i + 2]) : -1;
        bool escape = text.ptr[i] == '%' && high >= 0 && low >= 0;
        out[len++] = escape ? (char)(high * 16 + low) : text.ptr[i];
        if (escape)
            i += 2;
    }
    return (struct str){out, len};
}

/* --- References ------------------------------------------------------------------------------- */

/* Returns NULL after a fault. `out_name` is the name of the $dynamicAnchor that was found, or
 * STR_NONE. */
static struct schema_node *find_target(struct linker *l, const struct schema_node *node,
    struct str keyword, struct str reference, struct str *out_name)
{
    struct str fragment;
    struct str uri = schema_uri_resolve(l->c->scratch, node->resource->uri, reference, &fragment);
    const struct schema_resource *resource = find_resource(l, uri);
    *out_name = STR_NONE;
    if (resource == NULL) {
        fault_at(l, node, keyword,
            "must refer to a part of this schema: Cairn never fetches another document");
        return NULL;
    }
    if (fragment.len == 0)
        return resource->node;
    fragment = percent_decode(l->c->scratch, fragment);
    if (fragment.ptr[0] == '/') {
        struct schema_node *found = follow_pointer(l, resource, fragment);
        if (found == NULL)
            fault_at(l, node, keyword, "must refer to a schema");
        return found;
    }
    const struct schema_anchor *anchor = find_anchor(l, resource, fragment);
    if (anchor == NULL) {
        fault_at(l, node, keyword, "must name an anchor of this schema");
        return NULL;
    }
    if (anchor->dynamic)
        *out_name = anchor->name;
    return anchor->node;
}

static void link_node(struct linker *l, struct schema_node *node)
{
    struct schema_combined *combined = node->combined;
    struct str unused;
    if (combined == NULL)
        return;
    if (!str_is_none(combined->ref))
        combined->ref_to = find_target(l, node, STR("$ref"), combined->ref, &unused);
    if (!str_is_none(combined->dynamic_ref))
        combined->dynamic_to = find_target(
            l, node, STR("$dynamicRef"), combined->dynamic_ref, &combined->dynamic_name);
}

/* --- Circles: a schema that applies itself to the same value would never end ------------------ */

static void visit(struct linker *l, struct schema_node *node, unsigned depth);

static void visit_list(struct linker *l, const struct schema_list *list, unsigned depth)
{
    for (size_t i = 0; i < list->count; i++)
        visit(l, list->items[i], depth);
}

static void visit_combined(struct linker *l, struct schema_node *node, unsigned depth)
{
    struct schema_combined *combined = node->combined;
    visit_list(l, &combined->all_of, depth);
    visit_list(l, &combined->any_of, depth);
    visit_list(l, &combined->one_of, depth);
    visit(l, combined->not, depth);
    visit(l, combined->when, depth);
    visit(l, combined->then, depth);
    visit(l, combined->otherwise, depth);
    if (combined->ref_to != NULL && combined->ref_to->mark == SCHEMA_OPEN)
        fault_at(l, node, STR("$ref"),
            "must not refer back to this schema for the same value in an infinite loop");
    else
        visit(l, combined->ref_to, depth);
}

static void visit(struct linker *l, struct schema_node *node, unsigned depth)
{
    if (node == NULL || node->mark != SCHEMA_NEW)
        return;
    if (depth == JSON_SCHEMA_MAX_DEPTH) {
        schema_fault(l->c, node->place, "must not be nested in more than 512 other schemas");
        return;
    }
    node->mark = SCHEMA_OPEN;
    if (node->combined != NULL)
        visit_combined(l, node, depth + 1);
    for (size_t i = 0; node->objects != NULL && i < node->objects->dependents.count; i++)
        visit(l, node->objects->dependents.items[i].node, depth + 1);
    node->mark = SCHEMA_DONE;
}

void schema_link(struct schema_compiler *c)
{
    struct linker l = {.c = c};
    collect(&l);
    check_names_differ(&l);
    for (struct schema_node *node = c->first; node != NULL; node = node->next)
        link_node(&l, node);
    for (struct schema_node *node = c->first; node != NULL; node = node->next)
        visit(&l, node, 0);
}
