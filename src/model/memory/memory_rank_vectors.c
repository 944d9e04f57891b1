/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks items by the similarity of their vectors to a given one; the best vector of each item
 * counts. */
#include <stdlib.h>

#include "model/memory/memory_rank.h"
#include "model/memory/memory_vectors.h"
#include "model/memory/memory_vectors.sql.h"

enum { ITEMS_AT_ONCE = 128 };

struct likeness {
    struct context *c;
    const struct memory_search *search;
    struct candidate *all; /* by number */
    size_t count;
    float *wanted;
    float *other;
    size_t dimensions;
    size_t looked;
};

static struct str pointer_to(struct likeness *l, const char *member)
{
    return arena_printf(l->c->arena, "%.*s/%s", STR_ARG(l->search->at), member);
}

static enum error refuse_too_many(struct likeness *l)
{
    return problem_fault(l->c->problem, pointer_to(l, "namespace_prefix"),
        "must select at most %d vectors for a search by vector: use a longer prefix",
        MEMORY_VECTORS_MAX);
}

static enum error find_items(struct likeness *l, struct arena *arena)
{
    struct query q;
    context_query(l->c, &q, &SQL_MEMORY_VECTOR_ITEMS);
    query_text(&q, from, l->search->prefix);
    query_text(&q, above, memory_above_namespace(l->c->arena, l->search->prefix));
    query_i64(&q, now, l->c->now_us);
    query_i64(&q, limit, MEMORY_VECTORS_MAX + 1);
    l->all = arena_alloc(arena, (MEMORY_VECTORS_MAX + 1) * sizeof *l->all);
    TRY(memory_read_heads(&q, MEMORY_VECTORS_MAX + 1, l->all, &l->count));
    if (l->count > MEMORY_VECTORS_MAX)
        return refuse_too_many(l);
    if (l->count > 0)
        qsort(l->all, l->count, sizeof *l->all, memory_by_number);
    for (size_t i = 0; i < l->count; i++)
        l->all[i].score = -2;
    return OK;
}

static enum error compare_row(struct likeness *l, struct query *q)
{
    const struct candidate key = {.number = row_i64(q)};
    size_t dimensions = (size_t)row_i64(q);
    struct str bytes = row_bytes(q);
    struct candidate *item = bsearch(&key, l->all, l->count, sizeof key, memory_by_number);
    if (l->looked++ == MEMORY_VECTORS_MAX)
        return refuse_too_many(l);
    if (dimensions != l->dimensions || bytes.len != dimensions * sizeof(float))
        return problem_fault(l->c->problem, pointer_to(l, "vector"),
            "must have %zu numbers like the vectors under this prefix", dimensions);
    if (item == NULL)
        return OK;
    memory_vector_decode(bytes, l->other);
    double cosine = memory_cosine(l->wanted, l->other, dimensions);
    item->score = cosine > item->score ? cosine : item->score;
    return OK;
}

static enum error compare_some(
    struct likeness *l, struct arena *scratch, const struct candidate *items, size_t n)
{
    struct json_text numbers;
    struct query q;
    enum error e = OK;
    json_text_init(&numbers, SIZE_MAX);
    json_write_array(&numbers.w);
    for (size_t i = 0; i < n; i++)
        json_write_i64(&numbers.w, items[i].number);
    json_write_end(&numbers.w);
    query_begin(&q, l->c->tx, &SQL_MEMORY_VECTOR_READ, scratch);
    query_uuid(&q, tenant_id, l->c->tenant_id);
    query_text(&q, numbers, json_text_take(&numbers, scratch));
    while (e == OK && query_next(&q))
        e = compare_row(l, &q);
    enum error ended = query_end(&q);
    arena_clear(scratch);
    return e == OK ? ended : e;
}

enum error memory_rank_by_vector(struct context *c, const struct memory_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count)
{
    struct likeness l = {.c = c, .search = search};
    struct memory_vector_bytes wanted;
    struct arena scratch;
    TRY(memory_vector_encode(c, search->vector, pointer_to(&l, "vector"), &wanted));
    l.dimensions = wanted.dimensions;
    l.wanted = ARENA_ARRAY(arena, float, wanted.dimensions);
    l.other = ARENA_ARRAY(arena, float, MEMORY_DIMENSIONS_MAX);
    memory_vector_decode(wanted.bytes, l.wanted);
    enum error e = find_items(&l, arena);
    arena_init(&scratch, SIZE_MAX);
    for (size_t i = 0; e == OK && i < l.count; i += ITEMS_AT_ONCE)
        e = compare_some(
            &l, &scratch, l.all + i, l.count - i < ITEMS_AT_ONCE ? l.count - i : ITEMS_AT_ONCE);
    arena_deinit(&scratch);
    if (e == OK && l.count > 0)
        qsort(l.all, l.count, sizeof *l.all, memory_by_rank);
    *out_all = l.all;
    *out_count = l.count;
    return e;
}
