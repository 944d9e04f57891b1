/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks items by the words of a query. */
#include "model/memory/memory_rank.h"

#include <stdlib.h>

#include "model/memory/memory_items.sql.h"
#include "model/memory/memory_words.h"

enum error memory_read_heads(struct query *q, size_t max, struct candidate *out, size_t *out_count)
{
    size_t n = 0;
    for (; n < max && query_next(q); n++) {
        out[n].number = row_i64(q);
        out[n].updated_at = row_i64(q);
        out[n].size_bytes = row_i64(q);
        out[n].score = 0;
    }
    *out_count = n;
    return query_end(q);
}

int memory_by_number(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

int memory_by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->updated_at != y->updated_at)
        return x->updated_at > y->updated_at ? -1 : 1;
    return memory_by_number(b, a);
}

/* Writes a word in the query language of the engine; words.h leaves no special character in it. */
static struct str match_of(struct context *c, const struct memory_search *search, struct str word)
{
    struct str place = memory_place_word(c, search->prefix);
    return arena_printf(c->arena,
        tx_engine(c->tx) == ENGINE_POSTGRES ? "'%.*s' & '%.*s'" : "\"%.*s\" AND \"%.*s\"",
        STR_ARG(place), STR_ARG(word));
}

/* A word has the more weight the fewer items have it: one more for each halving. */
static int64_t weight_of(size_t items)
{
    int64_t weight = 1;
    for (size_t i = items > 0 ? items : 1; i < MEMORY_WORD_ITEMS_MAX; i *= 2)
        weight++;
    return weight;
}

/* Reads the items with this word. */
static enum error find_word(struct context *c, const struct memory_search *search, struct str word,
    struct candidate *out, size_t *out_count, int64_t *total_weight)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_WORD_FIND);
    query_text(&q, match, match_of(c, search, word));
    query_text(&q, from, search->prefix);
    query_text(&q, above, memory_above_namespace(c->arena, search->prefix));
    query_i64(&q, now, c->now_us);
    query_i64(&q, limit, MEMORY_WORD_ITEMS_MAX);
    enum error e = memory_read_heads(&q, MEMORY_WORD_ITEMS_MAX, out, out_count);
    size_t n = e == OK ? *out_count : 0;
    int64_t weight = weight_of(n);
    for (size_t i = 0; i < n; i++)
        out[i].score = (double)weight; /* an integer, so that sums are exact */
    *total_weight += weight;
    return e;
}

/* Merges candidates with the same number; the score is their share of the total weight. */
static size_t merge(struct candidate *all, size_t n, int64_t total_weight)
{
    size_t count = 0;
    if (n > 0)
        qsort(all, n, sizeof *all, memory_by_number);
    for (size_t i = 0; i < n; i++) {
        if (count > 0 && all[count - 1].number == all[i].number)
            all[count - 1].score += all[i].score;
        else
            all[count++] = all[i];
    }
    for (size_t i = 0; i < count; i++)
        all[i].score /= (double)total_weight;
    if (count > 0)
        qsort(all, count, sizeof *all, memory_by_rank);
    return count;
}

enum error memory_rank_by_words(struct context *c, const struct memory_search *search,
    struct arena *arena, struct candidate **out_all, size_t *out_count)
{
    struct word_set words;
    size_t n = 0, found = 0;
    int64_t total_weight = 0;
    enum error e = OK;
    word_set_init(&words, arena, MEMORY_QUERY_WORDS_MAX, SIZE_MAX);
    word_set_add_text(&words, search->query);
    struct candidate *all =
        arena_alloc(arena, (words.count * MEMORY_WORD_ITEMS_MAX + 1) * sizeof *all);
    for (size_t i = 0; e == OK && i < words.count; i++) {
        e = find_word(c, search, words.words[i], all + n, &found, &total_weight);
        n += found;
    }
    *out_all = all;
    *out_count = e == OK ? merge(all, n, total_weight) : 0;
    return e;
}
