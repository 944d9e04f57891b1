/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/memory_search.h"

#include "model/memory/memory_filter.h"
#include "model/memory/memory_items.sql.h"
#include "model/memory/memory_rank.h"

enum { HEADS_AT_FIRST = 500, READ_AT_ONCE = 64, READ_MAX_BYTES = 4 * 1024 * 1024 };

/* A search in progress. */
struct walk {
    struct context *c;
    const struct memory_search *search;
    const struct memory_filter *filter;
    struct memory_found *found;
    struct str above;
    struct arena scratch; /* of the items being examined */
    bool is_ranked;
    int64_t place; /* number of examined candidates of a ranking */
    size_t skip;
    size_t looks; /* the limit */
    size_t looked;
    int64_t looked_bytes;
    size_t answer_bytes;
    bool is_over;
};

/* --- Looking at candidates -------------------------------------------------------------------- */

static void pass(struct walk *w, const struct candidate *candidate)
{
    w->found->next.updated_at = candidate->updated_at;
    w->found->next.number = w->is_ranked ? ++w->place : candidate->number;
    w->found->next.skip = (int64_t)w->skip;
    w->found->next.is_ranked = w->is_ranked;
    w->found->next.is_given = true;
}

static bool is_enough(const struct walk *w)
{
    return w->found->count == w->search->limit || w->answer_bytes > PAGE_MAX_BYTES ||
           w->looked >= w->looks ||
           w->looked_bytes > (int64_t)w->looks * (MEMORY_LOOKED_MAX_BYTES / MEMORY_LOOKS_MAX);
}

static struct memory_item *find_item(struct memory_item *items, size_t n, int64_t number)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].number == number)
            return &items[i];
    return NULL;
}

static bool is_wanted(struct walk *w, const struct memory_item *item)
{
    struct json_doc doc;
    struct json_error unused;
    return w->filter == NULL || (json_parse(&w->scratch, item->value, &doc, &unused) &&
                                    memory_filter_holds(w->filter, json_root(&doc)));
}

/* Copies the item from the scratch arena into the answer. */
static void keep(struct walk *w, const struct memory_item *item, const struct candidate *candidate)
{
    struct memory_item *kept = &w->found->items[w->found->count++];
    *kept = *item;
    kept->ns = arena_str(w->c->arena, item->ns);
    kept->labels = memory_split_namespace(w->c->arena, kept->ns);
    kept->key = arena_str(w->c->arena, item->key);
    kept->value = arena_str(w->c->arena, item->value);
    kept->has_score = w->is_ranked;
    kept->score =
        (int64_t)(candidate->score * MEMORY_SCORE_UNIT + (candidate->score < 0 ? -0.5 : 0.5));
    w->answer_bytes += kept->value.len;
}

static struct str list_numbers(struct arena *arena, const struct candidate *candidates, size_t n)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    for (size_t i = 0; i < n; i++)
        json_write_i64(&text.w, candidates[i].number);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

static enum error read_items(struct walk *w, const struct candidate *candidates, size_t n,
    struct memory_item *out_items, size_t *out_count)
{
    struct query q;
    size_t count = 0;
    query_begin(&q, w->c->tx, &SQL_MEMORY_ITEM_READ, &w->scratch);
    query_uuid(&q, tenant_id, w->c->tenant_id);
    query_text(&q, numbers, list_numbers(&w->scratch, candidates, n));
    query_i64(&q, now, w->c->now_us);
    while (count < n && query_next(&q))
        memory_item_read_row(&q, &out_items[count++]);
    *out_count = count;
    return query_end(&q);
}

/* Returns how many candidates to read at once: up to the size of a page, and at least one. */
static size_t read_ahead(const struct walk *w, const struct candidate *candidates, size_t n)
{
    size_t most = w->filter != NULL ? READ_AT_ONCE : w->search->limit - w->found->count;
    int64_t bytes = 0;
    size_t i = 0;
    for (; i < n && i < most && i < READ_AT_ONCE; i++) {
        bytes += candidates[i].size_bytes;
        if (i > 0 && bytes > READ_MAX_BYTES)
            break;
    }
    return i;
}

/* Reads these candidates and takes the matching ones, until the page is full. */
static enum error look_at(
    struct walk *w, const struct candidate *candidates, size_t n, size_t *out_passed)
{
    struct memory_item items[READ_AT_ONCE];
    size_t count = 0, i = 0;
    enum error e = read_items(w, candidates, n, items, &count);
    for (; e == OK && i < n && !is_enough(w); i++) {
        const struct memory_item *item = find_item(items, count, candidates[i].number);
        bool wanted = item != NULL && is_wanted(w, item);
        if (wanted && w->skip > 0)
            w->skip--;
        else if (wanted)
            keep(w, item, &candidates[i]);
        w->looked += w->filter != NULL;
        w->looked_bytes += w->filter != NULL ? candidates[i].size_bytes : 0;
        pass(w, &candidates[i]);
    }
    arena_clear(&w->scratch);
    *out_passed = i;
    return e;
}

/* Afterwards w->is_over is true if the page is full and there are others. */
static enum error walk_over(struct walk *w, const struct candidate *candidates, size_t n)
{
    size_t i = 0, passed;
    for (; w->filter == NULL && w->skip > 0 && i < n; i++) {
        w->skip--;
        pass(w, &candidates[i]);
    }
    while (i < n && !w->is_over) {
        w->is_over = is_enough(w);
        if (w->is_over)
            break;
        TRY(look_at(w, candidates + i, read_ahead(w, candidates + i, n - i), &passed));
        i += passed;
    }
    return OK;
}

/* --- By time ---------------------------------------------------------------------------------- */

static void bind_place(struct walk *w, struct query *q)
{
    query_text(q, from, w->search->prefix);
    query_text(q, above, w->above);
    query_i64(q, now, w->c->now_us);
}

/* Each page sorts all items under the prefix. If the first page is not enough, the second one has
 * as many rows as the search may examine. */
static size_t heads_a_page(const struct walk *w)
{
    if (w->filter == NULL)
        return w->skip + w->search->limit + 1;
    return w->looked == 0 ? HEADS_AT_FIRST : w->looks - w->looked + 1;
}

static enum error walk_by_time(struct walk *w)
{
    const struct memory_position *from = &w->search->from;
    struct candidate last = {.number = from->is_given ? from->number : INT64_MAX,
        .updated_at = from->is_given ? from->updated_at : INT64_MAX};
    CLEANUP(arena_deinit) struct arena pages;
    arena_init(&pages, SIZE_MAX);
    for (size_t page = 0, n = 0; n == page && !w->is_over;) {
        struct query q;
        page = heads_a_page(w);
        struct candidate *heads = arena_alloc(&pages, page * sizeof *heads);
        context_query(w->c, &q, &SQL_MEMORY_ITEM_PAGE);
        bind_place(w, &q);
        query_i64(&q, before_at, last.updated_at);
        query_i64(&q, before_number, last.number);
        query_i64(&q, limit, (int64_t)page);
        TRY(memory_read_heads(&q, page, heads, &n));
        if (n > 0) {
            last = heads[n - 1];
            TRY(walk_over(w, heads, n));
        }
        arena_clear(&pages);
    }
    return OK;
}

/* --- By rank ---------------------------------------------------------------------------------- */

static enum error walk_by_rank(struct walk *w)
{
    struct arena ranks;
    struct candidate *all = NULL;
    size_t n = 0;
    arena_init(&ranks, SIZE_MAX);
    enum error e = str_is_none(w->search->vector)
                       ? memory_rank_by_words(w->c, w->search, &ranks, &all, &n)
                       : memory_rank_by_vector(w->c, w->search, &ranks, &all, &n);
    if (e == OK && w->place < (int64_t)n)
        e = walk_over(w, all + w->place, n - (size_t)w->place);
    arena_deinit(&ranks);
    return e;
}

enum error memory_search(
    struct context *c, const struct memory_search *search, struct memory_found *out_found)
{
    struct walk w = {.c = c, .search = search, .found = out_found};
    w.looks = search->looks > 0 ? search->looks : MEMORY_LOOKS_MAX;
    w.is_ranked = search->query.len > 0 || !str_is_none(search->vector);
    w.above = memory_above_namespace(c->arena, search->prefix);
    w.skip = search->from.is_given ? (size_t)search->from.skip : search->offset;
    w.place = search->from.is_given && w.is_ranked ? search->from.number : 0;
    *out_found =
        (struct memory_found){.items = ARENA_ARRAY(c->arena, struct memory_item, search->limit)};
    struct str at = arena_printf(c->arena, "%.*s/filter", STR_ARG(search->at));
    TRY(memory_filter_parse(c, search->filter, at, &w.filter));
    if (search->from.is_given && search->from.is_ranked != w.is_ranked)
        return problem_fault(c->problem, arena_printf(c->arena, "%.*s/cursor", STR_ARG(search->at)),
            "must be the next_cursor of a page of the same search");
    arena_init(&w.scratch, SIZE_MAX);
    enum error e = w.is_ranked ? walk_by_rank(&w) : walk_by_time(&w);
    arena_deinit(&w.scratch);
    out_found->more = w.is_over;
    out_found->looked = w.looked;
    return e;
}
