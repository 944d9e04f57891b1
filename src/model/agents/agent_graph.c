/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the nodes and edges of a workflow graph. */
#include "base/condition.h"
#include "base/json/json.h"
#include "model/agents/agent_definition.h"

#include <stdlib.h>

struct named {
    struct str name;
    size_t index; /* in the list of nodes */
};

/* The edges from a node are linked by `next`; indexes begin with 1, and 0 is the end. */
struct graph {
    struct context *c;
    struct str pointer;
    const struct graph_node *nodes;
    size_t n_nodes;
    struct named *by_name;
    size_t *first; /* for each node */
    size_t *next, *target;
    size_t n_links;
};

static int compare_named(const void *a, const void *b)
{
    return str_cmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

static bool find_node(const struct graph *g, struct str name, size_t *out_index)
{
    struct named wanted = {.name = name};
    const struct named *found =
        bsearch(&wanted, g->by_name, g->n_nodes, sizeof *g->by_name, compare_named);
    if (found != NULL)
        *out_index = found->index;
    return found != NULL;
}

static struct str place(const struct graph *g, const char *list, size_t index, const char *member)
{
    return arena_printf(g->c->arena, "%.*s/%s/%zu%s", STR_ARG(g->pointer), list, index, member);
}

static void name_nodes(struct graph *g)
{
    g->by_name = ARENA_ARRAY(g->c->arena, struct named, g->n_nodes);
    for (size_t i = 0; i < g->n_nodes; i++)
        g->by_name[i] = (struct named){g->nodes[i].name, i};
    qsort(g->by_name, g->n_nodes, sizeof *g->by_name, compare_named);
    for (size_t i = 1; i < g->n_nodes; i++) {
        const struct named *a = &g->by_name[i - 1], *b = &g->by_name[i];
        if (str_eq(a->name, b->name))
            problem_fault(g->c->problem,
                place(g, "nodes", a->index > b->index ? a->index : b->index, "/name"),
                "must differ from the names of the other nodes: \"%.*s\"", STR_ARG(a->name));
    }
}

/* --- Edges ---------------------------------------------------------------------------------- */

static void link_to(struct graph *g, bool has_from, size_t from, struct str to, struct str where)
{
    size_t target;
    if (!find_node(g, to, &target)) {
        problem_fault(g->c->problem, where, "must be the name of a node of the graph, not \"%.*s\"",
            STR_ARG(to));
    } else if (has_from) {
        size_t link = ++g->n_links;
        g->target[link] = target;
        g->next[link] = g->first[from];
        g->first[from] = link;
    }
}

static bool is_repeated(struct json list, size_t index, struct json item)
{
    struct json_iter it = json_iter(list);
    struct json other;
    for (size_t i = 0; i < index && json_next(&it, NULL, &other); i++)
        if (json_equal(item, other))
            return true;
    return false;
}

static void link_to_list(
    struct graph *g, bool has_from, size_t from, struct json list, struct str where)
{
    struct json_iter it = json_iter(list);
    struct json item;
    size_t n = json_count(list);
    if (n == 0 || n > GRAPH_TARGETS_MAX) {
        problem_fault(g->c->problem, where, "must have 1 to %d names of nodes", GRAPH_TARGETS_MAX);
        return;
    }
    for (size_t i = 0; json_next(&it, NULL, &item); i++) {
        struct str at = arena_printf(g->c->arena, "%.*s/%zu", STR_ARG(where), i);
        if (json_type(item) != JSON_STRING)
            problem_fault(g->c->problem, at, "must be the name of a node");
        else if (is_repeated(list, i, item))
            problem_fault(g->c->problem, at, "must not repeat a node");
        else
            link_to(g, has_from, from, json_string(g->c->arena, item), at);
    }
}

static void check_condition(struct graph *g, size_t index, struct str condition)
{
    struct condition_error bad;
    if (!str_is_none(condition) && !condition_check(condition, &bad))
        problem_fault(g->c->problem, place(g, "edges", index, "/condition"),
            "must be a valid condition: at byte %zu, %s", bad.offset, bad.rule);
}

static void add_edge(struct graph *g, size_t index, const struct graph_edge *edge)
{
    struct json_doc *doc = ARENA_NEW(g->c->arena, struct json_doc);
    struct json_error unused;
    struct str where = place(g, "edges", index, "/to");
    size_t from = 0;
    bool has_from = find_node(g, edge->from, &from);
    if (!has_from)
        problem_fault(g->c->problem, place(g, "edges", index, "/from"),
            "must be the name of a node of the graph, not \"%.*s\"", STR_ARG(edge->from));
    check_condition(g, index, edge->condition);
    if (str_is_none(edge->to) || !json_parse(g->c->arena, edge->to, doc, &unused)) {
        problem_fault(g->c->problem, where, "must be the name of a node, or a list of names");
        return;
    }
    struct json to = json_root(doc);
    if (json_type(to) == JSON_STRING)
        link_to(g, has_from, from, json_string(g->c->arena, to), where);
    else if (json_type(to) == JSON_ARRAY)
        link_to_list(g, has_from, from, to, where);
    else
        problem_fault(g->c->problem, where, "must be the name of a node, or a list of names");
}

/* --- Reach ---------------------------------------------------------------------------------- */

static void check_reach(struct graph *g, size_t entry, struct str entry_name)
{
    bool *reached = ARENA_ARRAY(g->c->arena, bool, g->n_nodes);
    size_t *waiting = ARENA_ARRAY(g->c->arena, size_t, g->n_nodes), n_waiting = 0;
    reached[entry] = true;
    waiting[n_waiting++] = entry;
    while (n_waiting > 0) {
        size_t node = waiting[--n_waiting];
        for (size_t link = g->first[node]; link != 0; link = g->next[link])
            if (!reached[g->target[link]]) {
                reached[g->target[link]] = true;
                waiting[n_waiting++] = g->target[link];
            }
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        if (!reached[i])
            problem_fault(g->c->problem, place(g, "nodes", i, ""),
                "must be reachable from the entry point \"%.*s\": \"%.*s\"", STR_ARG(entry_name),
                STR_ARG(g->nodes[i].name));
}

enum error agent_graph_check(struct context *c, struct str pointer, const struct agent_graph *graph)
{
    size_t faults_before = c->problem->n_faults, entry;
    size_t most_links = graph->edges.count * GRAPH_TARGETS_MAX + 1;
    struct graph g = {.c = c,
        .pointer = pointer,
        .nodes = graph->nodes.items,
        .n_nodes = graph->nodes.count,
        .first = ARENA_ARRAY(c->arena, size_t, graph->nodes.count),
        .next = ARENA_ARRAY(c->arena, size_t, most_links),
        .target = ARENA_ARRAY(c->arena, size_t, most_links)};
    name_nodes(&g);
    for (size_t i = 0; i < graph->edges.count; i++)
        add_edge(&g, i, &((const struct graph_edge *)graph->edges.items)[i]);
    if (!find_node(&g, graph->entry_point, &entry))
        problem_fault(c->problem, arena_printf(c->arena, "%.*s/entry_point", STR_ARG(pointer)),
            "must be the name of a node of the graph, not \"%.*s\"", STR_ARG(graph->entry_point));
    else if (c->problem->n_faults == faults_before)
        check_reach(&g, entry, graph->entry_point);
    return c->problem->n_faults == faults_before ? OK : ERR_INVALID;
}
