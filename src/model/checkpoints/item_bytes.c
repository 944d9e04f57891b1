/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkpoints/item_bytes.h"

#include <pthread.h>

#include "base/alloc.h"
#include "model/checkpoints/items.sql.h"
#include "model/integrity.h"

/* --- Prepared dictionaries ------------------------------------------------------------------ */

/* Preparing a dictionary takes longer than storing an item. Dictionaries are found by their hash,
 * so one that a transaction created and rolled back does not affect others. */
enum { KEPT = 16 };

struct kept {
    struct sha256 sha256;
    struct dictionary *dictionary; /* NULL: the slot is free */
    unsigned users;
    uint64_t used_at;
};

static struct {
    pthread_mutex_t mutex;
    uint64_t clock;
    struct kept places[KEPT];
} cache = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the mutex. */
static struct kept *find_kept(struct str sha256)
{
    for (size_t i = 0; i < KEPT; i++)
        if (cache.places[i].dictionary != NULL &&
            memcmp(cache.places[i].sha256.bytes, sha256.ptr, SHA256_LEN) == 0)
            return &cache.places[i];
    return NULL;
}

static const struct dictionary *use(struct kept *kept)
{
    kept->users++;
    kept->used_at = ++cache.clock;
    return kept->dictionary;
}

static const struct dictionary *cache_get(struct str sha256)
{
    pthread_mutex_lock(&cache.mutex);
    struct kept *kept = find_kept(sha256);
    const struct dictionary *found = kept != NULL ? use(kept) : NULL;
    pthread_mutex_unlock(&cache.mutex);
    return found;
}

/* Returns the least recently used slot that is not in use, or NULL. */
static struct kept *find_place(void)
{
    struct kept *place = NULL;
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *kept = &cache.places[i];
        if (kept->users == 0 && (place == NULL || kept->used_at < place->used_at))
            place = kept;
    }
    return place;
}

/* Takes the dictionary. If there is no free slot, its only user owns it. */
static const struct dictionary *cache_put(struct str sha256, struct dictionary *made)
{
    const struct dictionary *result = made;
    pthread_mutex_lock(&cache.mutex);
    struct kept *kept = find_kept(sha256);
    if (kept == NULL) {
        kept = find_place();
        if (kept != NULL) {
            dictionary_destroy(kept->dictionary);
            *kept = (struct kept){.dictionary = made};
            memcpy(kept->sha256.bytes, sha256.ptr, SHA256_LEN);
            made = NULL;
        }
    }
    if (kept != NULL) {
        result = use(kept);
        dictionary_destroy(made);
    }
    pthread_mutex_unlock(&cache.mutex);
    return result;
}

static void let_go(const struct dictionary *prepared)
{
    struct kept *kept = NULL;
    pthread_mutex_lock(&cache.mutex);
    for (size_t i = 0; i < KEPT && kept == NULL; i++)
        if (cache.places[i].dictionary == prepared)
            kept = &cache.places[i];
    if (kept != NULL)
        kept->users--;
    pthread_mutex_unlock(&cache.mutex);
    if (kept == NULL)
        dictionary_destroy((struct dictionary *)(uintptr_t)prepared);
}

void item_dictionary_release(struct item_dictionary *dictionary)
{
    if (dictionary->prepared != NULL)
        let_go(dictionary->prepared);
    compressor_destroy(dictionary->compressor);
    *dictionary = (struct item_dictionary){0};
}

static enum error load(struct context *c, struct arena *arena, int64_t number, struct str sha256,
    const struct dictionary **out_prepared)
{
    struct query q;
    struct str bytes = STR("");
    query_begin(&q, c->tx, &SQL_ITEM_DICTIONARY_GET, arena);
    query_uuid(&q, tenant_id, c->tenant_id);
    query_i64(&q, number, number);
    while (query_next(&q))
        bytes = row_bytes(&q);
    TRY(query_end(&q));
    struct sha256 found = sha256_of(bytes);
    if (!integrity_holds(c, sha256, &found))
        return integrity_lost(c, "dictionary %lld of items", (long long)number);
    *out_prepared = cache_put(sha256, dictionary_create(bytes, COMPRESS_FAST));
    return OK;
}

enum error item_dictionary_get(struct context *c, struct arena *arena, int64_t number,
    struct str sha256, struct item_dictionary *out_dictionary)
{
    *out_dictionary = (struct item_dictionary){0};
    const struct dictionary *prepared = sha256.len == SHA256_LEN ? cache_get(sha256) : NULL;
    if (prepared == NULL)
        TRY(load(c, arena, number, sha256, &prepared));
    *out_dictionary = (struct item_dictionary){.number = number, .prepared = prepared};
    memcpy(out_dictionary->sha256.bytes, sha256.ptr, SHA256_LEN);
    return OK;
}

/* 0: the tenant has none. */
static enum error find_newest(
    struct context *c, struct arena *arena, int64_t *out_number, struct str *out_sha256)
{
    struct query q;
    *out_number = 0;
    *out_sha256 = STR_NONE;
    query_begin(&q, c->tx, &SQL_ITEM_DICTIONARY_NEWEST, arena);
    query_uuid(&q, tenant_id, c->tenant_id);
    while (query_next(&q)) {
        *out_number = row_i64(&q);
        *out_sha256 = row_bytes(&q);
    }
    return query_end(&q);
}

enum error item_dictionary_newest(
    struct context *c, struct arena *arena, struct item_dictionary *out_dictionary)
{
    int64_t number;
    struct str sha256;
    *out_dictionary = (struct item_dictionary){0};
    TRY(find_newest(c, arena, &number, &sha256));
    return number > 0 ? item_dictionary_get(c, arena, number, sha256, out_dictionary) : OK;
}

enum error item_dictionary_is_newest(
    struct context *c, const struct item_dictionary *dictionary, bool *out_is)
{
    int64_t number;
    struct str sha256;
    TRY(find_newest(c, c->arena, &number, &sha256));
    *out_is = number == dictionary->number &&
              (number == 0 ||
                  str_eq(sha256, (struct str){(const char *)dictionary->sha256.bytes, SHA256_LEN}));
    return OK;
}

/* --- Items ---------------------------------------------------------------------------------- */

static struct compressor *compressor_of(struct item_dictionary *dictionary)
{
    if (dictionary->compressor == NULL)
        dictionary->compressor = compressor_create();
    return dictionary->compressor;
}

struct str item_pack(struct arena *arena, struct str text, struct item_dictionary *dictionary,
    int level, int64_t *out_column)
{
    struct str packed;
    bool has = dictionary->prepared != NULL;
    if (compress_bytes(
            compressor_of(dictionary), arena, text, dictionary->prepared, level, &packed)) {
        *out_column = has ? dictionary->number : ITEM_PLAIN_YET;
        return packed;
    }
    *out_column = has ? ITEM_AS_IT_IS : ITEM_AS_IT_IS_YET;
    return text;
}

static bool is_as_it_is(int64_t column)
{
    return column == ITEM_AS_IT_IS || column == ITEM_AS_IT_IS_YET;
}

bool item_unpack_to(char *out_text, struct str bytes, int64_t column, size_t size,
    struct item_dictionary *dictionary)
{
    if (is_as_it_is(column)) {
        if (bytes.len != size)
            return false;
        memcpy(out_text, bytes.ptr, size);
        return true;
    }
    bool is_plain = column == ITEM_PLAIN || column == ITEM_PLAIN_YET;
    if (!is_plain && (column <= 0 || column != dictionary->number))
        return false;
    return decompress_bytes(
        compressor_of(dictionary), bytes, size, is_plain ? NULL : dictionary->prepared, out_text);
}

bool item_unpack(struct arena *arena, struct str bytes, int64_t column, size_t size,
    struct item_dictionary *dictionary, struct str *out_text)
{
    if (is_as_it_is(column)) {
        *out_text = bytes;
        return bytes.len == size;
    }
    char *text = arena_alloc(arena, size + 1);
    *out_text = (struct str){text, size};
    return item_unpack_to(text, bytes, column, size, dictionary);
}
