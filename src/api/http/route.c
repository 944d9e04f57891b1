/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/route.h"

#include <pthread.h>

#include "base/alloc.h"

/* The segments of a path; the first is the text before the first slash. */
struct segments {
    struct str items[ROUTE_MAX_SEGMENTS];
    size_t count;
};

/* A row of the table, split once. */
struct template
{
    struct segments segments;
    struct str params[ROUTE_MAX_PARAMS]; /* their names */
    const struct template *next;         /* the next row with the same segments, names aside */
};

/* The templates as a tree: each node is a segment behind those of its parents. The table has words
 * before parameters where both fit a path, so a search that tries words first finds the row that
 * comes first (a unit test checks that of every pair of rows). */
struct node {
    struct str word;            /* STR_NONE: a parameter */
    struct node *sibling;       /* the next word behind the same parent */
    struct node *words, *param; /* the segments that may follow; `param` fits any but "" */
    struct template *first;     /* the rows that end here */
};

static struct template *templates; /* by the index of the row */
static struct node root;

static bool is_param(struct str segment)
{
    return segment.len > 2 && segment.ptr[0] == '{';
}

/* Returns false if there are more segments than any route has. */
static bool split(struct str path, struct segments *out)
{
    out->count = 0;
    while (!str_is_none(path)) {
        if (out->count == ROUTE_MAX_SEGMENTS)
            return false;
        str_next_part(&path, '/', &out->items[out->count++]);
    }
    return true;
}

static struct node *find_word(const struct node *node, struct str segment)
{
    struct node *word = node->words;
    while (word != NULL && !str_eq(word->word, segment))
        word = word->sibling;
    return word;
}

/* Returns the node behind `node` for a segment of a template; adds it if there is none. */
static struct node *extend(struct node *node, struct str segment)
{
    bool param = is_param(segment);
    struct node *found = param ? node->param : find_word(node, segment);
    if (found != NULL)
        return found;
    found = MEM_NEW(struct node);
    *found = (struct node){.word = param ? STR_NONE : segment};
    if (param) {
        node->param = found;
    } else {
        found->sibling = node->words;
        node->words = found;
    }
    return found;
}

static void add_template(struct template *t)
{
    struct node *node = &root;
    size_t n = 0;
    for (size_t i = 0; i < t->segments.count; i++) {
        struct str segment = t->segments.items[i];
        node = extend(node, segment);
        if (is_param(segment)) {
            assert(n < ROUTE_MAX_PARAMS);
            t->params[n++] = str_slice(segment, 1, segment.len - 1);
        }
    }
    t->next = node->first;
    node->first = t;
}

static void split_templates(void)
{
    templates = mem_zalloc(route_count * sizeof *templates);
    for (size_t i = 0; i < route_count; i++) {
        if (!split(str_of(routes[i].path), &templates[i].segments))
            abort(); /* ROUTE_MAX_SEGMENTS is too small for the table */
        add_template(&templates[i]);
    }
}

static const struct template *all_templates(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, split_templates);
    return templates;
}

/* Returns the row of the method that fits the segments from `at`, behind `node`; NULL: none. */
static const struct template *search(
    const struct node *node, const struct segments *path, size_t at, struct str method)
{
    if (at == path->count) {
        const struct template *t = node->first;
        while (t != NULL && !str_eq(str_of(routes[t - templates].method), method))
            t = t->next;
        return t;
    }
    const struct template *found = NULL;
    const struct node *word = find_word(node, path->items[at]);
    if (word != NULL)
        found = search(word, path, at + 1, method);
    if (found == NULL && node->param != NULL && path->items[at].len > 0)
        found = search(node->param, path, at + 1, method);
    return found;
}

/* Returns true if the path fits the template. */
static bool fits(const struct segments *path, const struct segments *template)
{
    if (template->count != path->count)
        return false;
    for (size_t i = 0; i < path->count; i++) {
        struct str expected = template->items[i], actual = path->items[i];
        if (is_param(expected) ? actual.len == 0 : !str_eq(expected, actual))
            return false;
    }
    return true;
}

static void take_params(const struct template *template, const struct segments *path,
    struct str out_params[ROUTE_MAX_PARAMS])
{
    size_t n = 0;
    for (size_t i = 0; i < path->count; i++)
        if (is_param(template->segments.items[i]))
            out_params[n++] = path->items[i];
    for (; n < ROUTE_MAX_PARAMS; n++)
        out_params[n] = STR_NONE;
}

static struct str add_allowed(struct arena *arena, struct str allow, const char *method)
{
    const char *head = strcmp(method, "GET") == 0 ? ", HEAD" : "";
    return arena_printf(
        arena, "%.*s%s%s%s", STR_ARG(allow), allow.len > 0 ? ", " : "", method, head);
}

/* The methods of all rows that fit, in their order. */
static struct str list_methods(struct arena *arena, const struct segments *path)
{
    struct str allow = STR("");
    for (size_t i = 0; i < route_count; i++)
        if (fits(path, &templates[i].segments))
            allow = add_allowed(arena, allow, routes[i].method);
    return allow;
}

enum route_found route_find(struct arena *arena, struct str method, struct str path,
    const struct route **out_route, struct str out_params[ROUTE_MAX_PARAMS], struct str *out_allow)
{
    struct str wanted = str_eq(method, STR("HEAD")) ? STR("GET") : method;
    const struct template *all = all_templates();
    struct segments segments;
    if (!split(path, &segments))
        return ROUTE_UNKNOWN;
    const struct template *found = search(&root, &segments, 0, wanted);
    if (found != NULL) {
        *out_route = &routes[found - all];
        take_params(found, &segments, out_params);
        return ROUTE_FOUND;
    }
    *out_allow = list_methods(arena, &segments);
    return out_allow->len > 0 ? ROUTE_OTHER_METHOD : ROUTE_UNKNOWN;
}

struct str route_param_name(const struct route *route, size_t index)
{
    return index < ROUTE_MAX_PARAMS ? all_templates()[route - routes].params[index] : STR_NONE;
}

enum route_param route_param_kind(struct str name)
{
    static const struct str numbers[] = {
        {"version", 7}, {"from", 4}, {"to", 2}, {"number", 6}, {"sequence", 8}};
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (str_eq(name, numbers[i]))
            return ROUTE_PARAM_NUMBER;
    if (str_eq(name, STR("notebook_id")))
        return ROUTE_PARAM_EITHER;
    return str_ends_with(name, STR("_id")) ? ROUTE_PARAM_UUID : ROUTE_PARAM_TEXT;
}

bool route_is_public(const struct route *route)
{
    return route->mode == ROUTE_STATIC || (route->flags & ROUTE_PUBLIC) != 0;
}

bool route_takes_ticket(const struct route *route)
{
    return route->mode == ROUTE_SSE || route->mode == ROUTE_WEBSOCKET;
}
