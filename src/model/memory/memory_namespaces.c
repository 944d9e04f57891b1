/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the namespaces that have items, cut to a depth, without duplicates, in the order of their
 * bytes. */
#include "model/memory/memory_items.sql.h"
#include "model/memory/memory_search.h"

/* With a depth, most rows of a page may have the same name, so fewer rows are read at once. */
enum { NAMES_A_PAGE = 1000, NAMES_TO_CUT_A_PAGE = 100 };

struct names {
    struct context *c;
    const struct memory_namespaces *asked;
    struct memory_namespaces_found *found;
    struct str above;
    size_t skip;
    size_t looked;
    bool is_over;
};

static bool fits(struct str pattern, struct str label)
{
    return str_eq(pattern, STR("*")) || str_eq(pattern, label);
}

static bool is_asked_for(const struct memory_namespaces *asked, struct str_list labels)
{
    const struct str_list *prefix = &asked->prefix, *suffix = &asked->suffix;
    if (prefix->count > labels.count || suffix->count > labels.count)
        return false;
    for (size_t i = 0; i < prefix->count; i++)
        if (!fits(prefix->items[i], labels.items[i]))
            return false;
    for (size_t i = 0; i < suffix->count; i++)
        if (!fits(suffix->items[i], labels.items[labels.count - suffix->count + i]))
            return false;
    return true;
}

/* Returns the namespace cut to the requested depth. */
static struct str cut(const struct names *n, struct str ns)
{
    size_t depth = 0;
    for (size_t i = 0; i < ns.len; i++)
        if (ns.ptr[i] == '.' && ++depth == n->asked->max_depth)
            return str_slice(ns, 0, i + 1);
    return ns;
}

/* Returns the position after the namespace: no text is between a text and the same text followed by
 * U+0001. */
static struct str behind(const struct names *n, struct str ns)
{
    return arena_printf(n->c->arena, "%.*s\x01", STR_ARG(ns));
}

static void look_at(struct names *n, struct str ns)
{
    struct memory_namespaces_found *found = n->found;
    struct str name = cut(n, ns);
    if (str_cmp(ns, found->last) < 0) /* would be cut to the previous name */
        return;
    if (!is_asked_for(n->asked, memory_split_namespace(n->c->arena, ns))) {
        found->last = behind(n, ns);
        return;
    }
    n->is_over = n->skip == 0 && found->count == n->asked->limit;
    if (n->is_over)
        return;
    if (n->skip > 0)
        n->skip--;
    else
        found->items[found->count++] = name;
    size_t depth = memory_split_namespace(n->c->arena, name).count;
    found->last =
        depth == n->asked->max_depth ? memory_above_namespace(n->c->arena, name) : behind(n, ns);
}

static size_t page_rows(const struct names *n)
{
    return n->asked->max_depth > 0 ? NAMES_TO_CUT_A_PAGE : NAMES_A_PAGE;
}

static enum error look_at_page(struct names *n, struct str from, size_t *out_rows)
{
    struct query q;
    context_query(n->c, &q, &SQL_MEMORY_NAMESPACES);
    query_text(&q, from, from);
    query_text(&q, above, n->above);
    query_i64(&q, now, n->c->now_us);
    query_i64(&q, limit, (int64_t)page_rows(n));
    *out_rows = 0;
    while (!n->is_over && query_next(&q)) {
        n->is_over = n->looked++ == MEMORY_NAMESPACE_LOOKS_MAX;
        if (!n->is_over)
            look_at(n, row_text(&q));
        ++*out_rows;
    }
    return query_end(&q);
}

/* The prefix up to its first "*", which the index can use. */
static enum error find_range(struct names *n, struct str *out_from)
{
    struct str_list head = {.items = n->asked->prefix.items};
    struct str at = n->asked->at, unused;
    while (head.count < n->asked->prefix.count && !str_eq(head.items[head.count], STR("*")))
        head.count++;
    TRY(memory_join_namespace(
        n->c, n->asked->prefix, arena_printf(n->c->arena, "%.*s/prefix", STR_ARG(at)), &unused));
    TRY(memory_join_namespace(
        n->c, n->asked->suffix, arena_printf(n->c->arena, "%.*s/suffix", STR_ARG(at)), &unused));
    return memory_join_namespace(n->c, head, at, out_from);
}

enum error memory_list_namespaces(struct context *c, const struct memory_namespaces *asked,
    struct memory_namespaces_found *out_found)
{
    struct names n = {.c = c, .asked = asked, .found = out_found};
    size_t rows = page_rows(&n);
    struct str from;
    TRY(find_range(&n, &from));
    n.above = memory_above_namespace(c->arena, from);
    n.skip = str_is_none(asked->after) ? asked->offset : asked->skip;
    if (!str_is_none(asked->after) && str_cmp(asked->after, from) > 0)
        from = asked->after;
    *out_found =
        (struct memory_namespaces_found){.items = ARENA_ARRAY(c->arena, struct str, asked->limit)};
    out_found->last = from;
    while (rows == page_rows(&n) && !n.is_over)
        TRY(look_at_page(&n, out_found->last, &rows));
    out_found->more = n.is_over;
    out_found->skip = n.skip;
    return OK;
}
