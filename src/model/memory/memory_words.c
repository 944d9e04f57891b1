/* SPDX-License-Identifier: Apache-2.0 */
/* The words of items in the index: the different words of all strings in the value, at any depth.
 * For each prefix of its namespace an item also has a word that begins with '#' and is made of the
 * tenant and the prefix. */
#include "model/memory/memory_words.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/words.h"
#include "model/memory/memory_items.sql.h"

enum { INDEXED_A_PASS = 32, PLACE_WORD_BYTES = 16 };

/* --- Sets of words ---------------------------------------------------------------------------- */

void word_set_init(struct word_set *set, struct arena *arena, size_t max_words, size_t max_bytes)
{
    *set = (struct word_set){.arena = arena, .max_words = max_words, .max_bytes = max_bytes};
}

static size_t slot_of(const struct word_set *set, struct str word)
{
    size_t at = (size_t)hash_bytes(word.ptr, word.len) & (set->n_slots - 1);
    while (set->slots[at] != 0 && !str_eq(set->words[set->slots[at] - 1], word))
        at = (at + 1) & (set->n_slots - 1);
    return at;
}

/* At least twice as many slots as words. */
static void grow(struct word_set *set)
{
    size_t n = set->n_slots == 0 ? 64 : set->n_slots * 2;
    struct str *words = ARENA_ARRAY(set->arena, struct str, n / 2);
    if (set->count > 0)
        memcpy(words, set->words, set->count * sizeof *words);
    set->words = words;
    set->slots = ARENA_ARRAY(set->arena, uint32_t, n);
    set->n_slots = n;
    for (size_t i = 0; i < set->count; i++)
        set->slots[slot_of(set, words[i])] = (uint32_t)i + 1;
}

static bool is_full(const struct word_set *set, struct str word)
{
    return set->count == set->max_words || set->bytes + word.len > set->max_bytes;
}

void word_set_add_text(struct word_set *set, struct str text)
{
    struct words w;
    words_init(&w, text);
    while (!set->is_full && words_next(&w)) {
        struct str word = words_word(&w);
        if (set->count * 2 >= set->n_slots)
            grow(set);
        size_t at = slot_of(set, word);
        if (set->slots[at] != 0)
            continue;
        set->is_full = is_full(set, word);
        if (set->is_full)
            return;
        set->words[set->count++] = arena_str(set->arena, word);
        set->slots[at] = (uint32_t)set->count;
        set->bytes += word.len;
    }
}

static void add_value(struct word_set *set, struct json value)
{
    struct json_iter it = json_iter(value);
    struct json key, item;
    if (json_type(value) == JSON_STRING)
        word_set_add_text(set, json_string(set->arena, value));
    while (!set->is_full && json_next(&it, &key, &item))
        add_value(set, item);
}

/* --- The index -------------------------------------------------------------------------------- */

struct str memory_place_word(struct context *c, struct str prefix)
{
    struct sha256_state *state = sha256_create();
    sha256_add(state, (struct str){(const char *)c->tenant_id.bytes, sizeof c->tenant_id.bytes});
    sha256_add(state, prefix);
    struct sha256 hash = sha256_finish(state);
    struct str hex = hex_encode(c->arena, (struct str){(const char *)hash.bytes, PLACE_WORD_BYTES});
    return arena_printf(c->arena, "#n%.*s", STR_ARG(hex));
}

static void write_places(struct context *c, struct str ns, struct buf *out)
{
    buf_append(out, memory_place_word(c, STR("")));
    for (size_t i = 0; i < ns.len; i++)
        if (ns.ptr[i] == '.') {
            buf_append_byte(out, ' ');
            buf_append(out, memory_place_word(c, str_slice(ns, 0, i + 1)));
        }
}

/* The index of SQLite and the tsvector of PostgreSQL both take words separated by blanks. */
static struct str words_of(struct context *c, const struct memory_item *item)
{
    struct arena scratch;
    struct word_set set;
    struct json_doc doc;
    struct json_error unused;
    struct buf out;
    arena_init(&scratch, SIZE_MAX);
    word_set_init(&set, &scratch, MEMORY_WORDS_MAX, MEMORY_WORDS_MAX_BYTES);
    if (json_parse(&scratch, item->value, &doc, &unused))
        add_value(&set, json_root(&doc));
    buf_init(&out, 2 * MEMORY_WORDS_MAX_BYTES);
    write_places(c, item->ns, &out);
    for (size_t i = 0; i < set.count; i++) {
        buf_append_byte(&out, ' ');
        buf_append(&out, set.words[i]);
    }
    c->indexed_words += set.count;
    assert(!out.failed);
    struct str text = arena_str(c->arena, buf_str(&out));
    buf_deinit(&out);
    arena_deinit(&scratch);
    return text;
}

enum error memory_index(struct context *c, const struct memory_item *item)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_WORDS_PUT);
    query_i64(&q, number, item->number);
    query_text(&q, words, words_of(c, item));
    return query_run(&q);
}

enum error memory_unindex(struct context *c, int64_t number)
{
    struct query q;
    if (tx_engine(c->tx) == ENGINE_POSTGRES)
        return OK;
    context_query(c, &q, &SQL_MEMORY_WORDS_DROP);
    query_i64(&q, number, number);
    return query_run(&q);
}

/* --- Items that were written in bulk ---------------------------------------------------------- */

enum error memory_find_unsearchable(struct context *c, bool *out_found, struct uuid *out_tenant)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_MEMORY_FIRST_UNSEARCHABLE, c->arena);
    *out_found = query_next(&q);
    if (*out_found)
        *out_tenant = row_uuid(&q);
    return query_end(&q);
}

static enum error set_searchable(struct context *c, const struct memory_item *item)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_SET_SEARCHABLE);
    query_i64(&q, number, item->number);
    TRY(query_run(&q));
    return memory_index(c, item);
}

static enum error next_unsearchable(
    struct context *c, bool *out_found, struct memory_item *out_item)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_NEXT_UNSEARCHABLE);
    *out_found = query_next(&q);
    if (*out_found)
        memory_item_read_row(&q, out_item);
    return query_end(&q);
}

enum error memory_make_searchable(struct context *c, bool *out_more)
{
    bool found = true;
    for (size_t n = 0; found && n < INDEXED_A_PASS && context_may_index(c); n++) {
        struct arena_mark mark = arena_mark(c->arena);
        struct memory_item item;
        TRY(next_unsearchable(c, &found, &item));
        if (found)
            TRY(set_searchable(c, &item));
        arena_rewind(c->arena, mark);
    }
    *out_more = found;
    return OK;
}
