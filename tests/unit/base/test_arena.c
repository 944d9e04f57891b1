/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "test.h"

TEST(allocations_are_aligned_apart_and_writable)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1024 * 1024);
    char *previous = NULL;
    for (size_t size = 0; size < 600; size++) {
        char *ptr = arena_alloc(&a, size);
        EXPECT_EQ((uintptr_t)ptr % 16, 0);
        EXPECT(ptr != previous || size == 1);
        memset(ptr, (int)size, size);
        previous = ptr;
    }
}

TEST(zeroed_allocations_are_zero_also_in_memory_used_before)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1024 * 1024);
    memset(arena_alloc(&a, 2000), 0xff, 2000);
    arena_clear(&a);
    const char *bytes = arena_zalloc(&a, 2000);
    for (size_t i = 0; i < 2000; i++)
        EXPECT_EQ(bytes[i], 0);
}

TEST(going_past_the_budget_shows_but_fails_nothing)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1000);
    EXPECT(!arena_is_over(&a));
    arena_alloc(&a, 992);
    EXPECT(!arena_is_over(&a));
    memset(arena_alloc(&a, 5000), 1, 5000);
    EXPECT(arena_is_over(&a));
    arena_clear(&a);
    EXPECT(!arena_is_over(&a));
}

TEST(rewinding_frees_what_came_after_the_mark_and_nothing_else)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 8000);
    struct str kept = arena_str(&a, STR("kept"));
    struct arena_mark mark = arena_mark(&a);
    char *first = arena_alloc(&a, 16);
    for (int i = 0; i < 3; i++) {
        memset(arena_alloc(&a, 100 * 1024), 0xff, 100 * 1024);
        memset(arena_alloc(&a, 16), 0xff, 16);
        EXPECT(arena_is_over(&a));
        arena_rewind(&a, mark);
        EXPECT(!arena_is_over(&a));
        EXPECT_EQ(a.used_bytes, mark.used_bytes);
        EXPECT_STR(kept, STR("kept"));
    }
    EXPECT(arena_alloc(&a, 16) == (void *)first);
}

TEST(an_arena_can_be_rewound_to_before_its_first_use)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1000);
    struct arena_mark mark = arena_mark(&a);
    memset(arena_alloc(&a, 5000), 1, 5000);
    arena_rewind(&a, mark);
    EXPECT(a.blocks == NULL && a.used_bytes == 0);
    memset(arena_alloc(&a, 10), 1, 10);
}

TEST(an_allocation_larger_than_any_block_gets_its_own)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, SIZE_MAX);
    size_t size = 3 * 1024 * 1024;
    memset(arena_alloc(&a, size), 1, size);
    memset(arena_alloc(&a, 10), 2, 10);
}

TEST(copies_are_apart_from_what_they_were_made_of)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1024);
    char original[] = "one";
    struct str copy = arena_str(&a, str_of(original));
    const char *c = arena_cstr(&a, (struct str){original, 2});
    original[0] = 'x';
    EXPECT_STR(copy, STR("one"));
    EXPECT_STR(str_of(c), STR("on"));
    EXPECT(str_is_none(arena_str(&a, STR_NONE)));
    EXPECT(!str_is_none(arena_str(&a, STR(""))));
}

TEST(formatted_text_has_any_length)
{
    CLEANUP(arena_deinit) struct arena a;
    arena_init(&a, 1024 * 1024);
    EXPECT_STR(arena_printf(&a, "%s-%d", "a", 7), STR("a-7"));
    EXPECT_EQ(arena_printf(&a, "%5000d", 1).len, 5000);
    EXPECT_EQ(arena_printf(&a, "%s", "").len, 0);
}
