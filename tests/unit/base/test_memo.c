/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memo.h"

#include "test.h"

enum { MAX_BYTES = MEMO_RINGS * 4096, ENTRIES = 20000, THREADS = 4 };

static struct memo memo = MEMO_INIT(MAX_BYTES);

static struct str key_of(struct arena *arena, size_t i)
{
    return arena_printf(arena, "key %zu", i);
}

/* Entries of many lengths, so that they end anywhere in a ring. */
static struct str bytes_of(struct arena *arena, size_t i)
{
    size_t len = i * 7919 % 900;
    char *bytes = arena_alloc(arena, len + 1);
    memset(bytes, (int)('a' + i % 26), len);
    return (struct str){bytes, len};
}

static bool has(struct arena *arena, size_t i)
{
    struct str found, bytes = bytes_of(arena, i);
    char *copy = arena_alloc(arena, bytes.len + 1);
    bool is = memo_get(&memo, key_of(arena, i), arena, &found);
    EXPECT_EQ(memo_copy(&memo, key_of(arena, i), bytes.len, copy), is);
    EXPECT_EQ(memo_equals(&memo, key_of(arena, i), bytes), is);
    if (is) {
        EXPECT_STR(found, bytes);
        EXPECT_STR(((struct str){copy, bytes.len}), bytes);
    }
    return is;
}

TEST(a_memo_returns_what_was_added_until_other_entries_replace_it)
{
    struct arena arena;
    size_t kept = 0;
    arena_init(&arena, SIZE_MAX);
    EXPECT(!has(&arena, 0));
    for (size_t i = 0; i < ENTRIES; i++) {
        memo_add(&memo, key_of(&arena, i), bytes_of(&arena, i));
        EXPECT(has(&arena, i));
    }
    for (size_t i = 0; i < ENTRIES; i++)
        kept += has(&arena, i);
    EXPECT(kept > MAX_BYTES / 900 / 2 && kept < ENTRIES / 10);
    EXPECT(!has(&arena, 0));
    memo_clear(&memo);
    EXPECT(!has(&arena, ENTRIES - 1));
    arena_deinit(&arena);
}

TEST(the_newest_bytes_of_a_key_are_found_and_only_with_their_length)
{
    char copy[8];
    struct str found;
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    memo_add(&memo, STR("key"), STR("old"));
    memo_add(&memo, STR("key"), STR("newer"));
    memo_add(&memo, STR("key"), STR("newer"));
    memo_add(&memo, STR("empty"), STR(""));
    EXPECT(memo_get(&memo, STR("key"), &arena, &found));
    EXPECT_STR(found, STR("newer"));
    EXPECT(!memo_copy(&memo, STR("key"), 3, copy));
    EXPECT(!memo_equals(&memo, STR("key"), STR("old")));
    EXPECT(memo_equals(&memo, STR("empty"), STR("")));
    EXPECT(!memo_equals(&memo, STR("ke"), STR("ynewer")));
    memo_clear(&memo);
    arena_deinit(&arena);
}

TEST(an_entry_that_is_larger_than_half_of_a_ring_is_not_kept)
{
    static char large[MAX_BYTES / MEMO_RINGS];
    memo_add(&memo, STR("large"), (struct str){large, sizeof large / 2});
    EXPECT(!memo_equals(&memo, STR("large"), (struct str){large, sizeof large / 2}));
    memo_add(&memo, STR("large"), (struct str){large, sizeof large / 2 - 64});
    EXPECT(memo_equals(&memo, STR("large"), (struct str){large, sizeof large / 2 - 64}));
    memo_clear(&memo);
}

static void *add_and_compare(void *unused)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < ENTRIES; i++) {
        struct arena_mark mark = arena_mark(&arena);
        struct str found;
        memo_add(&memo, key_of(&arena, i % 300), bytes_of(&arena, i % 300));
        if (memo_get(&memo, key_of(&arena, (i + 150) % 300), &arena, &found))
            EXPECT_STR(found, bytes_of(&arena, (i + 150) % 300));
        arena_rewind(&arena, mark);
    }
    arena_deinit(&arena);
    return unused;
}

TEST(threads_that_share_a_memo_find_whole_entries)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, add_and_compare, NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    memo_clear(&memo);
}
