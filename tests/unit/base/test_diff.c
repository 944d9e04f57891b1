/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diff.h"

#include "base/alloc.h"
#include "test.h"

static struct str unified(struct arena *arena, struct str before, struct str after)
{
    struct diff diff;
    struct buf out;
    buf_init(&out, 64 * 1024 * 1024);
    EXPECT(diff_compute(arena, before, after, &diff));
    diff_print(&diff, &out);
    struct str text = arena_str(arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

/* Applies the hunks to the old text: lines outside of the hunks stay. */
static struct str apply(struct arena *arena, struct str before, struct str after)
{
    struct diff diff;
    struct diff_hunk hunk = {0};
    struct diff_line line;
    struct buf out;
    size_t old_at = 0;
    buf_init(&out, 64 * 1024 * 1024);
    EXPECT(diff_compute(arena, before, after, &diff));
    while (diff_next_hunk(&diff, &hunk)) {
        for (; old_at < hunk.old_from; old_at++)
            buf_append(&out, diff.old.lines[old_at]);
        while (diff_next_line(&diff, &hunk, &line)) {
            if (line.sign != '+') {
                struct str known = diff.old.lines[old_at++];
                EXPECT(str_starts_with(known, line.text));
                EXPECT_EQ(known.len, line.text.len + line.has_newline);
            }
            if (line.sign == '-')
                continue;
            buf_append(&out, line.text);
            if (line.has_newline)
                buf_append_byte(&out, '\n');
        }
        EXPECT_EQ(old_at, hunk.old_to);
    }
    for (; old_at < diff.old.n; old_at++)
        buf_append(&out, diff.old.lines[old_at]);
    struct str text = arena_str(arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

static void expect_unified(const char *before, const char *after, const char *expected)
{
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    EXPECT_STR(unified(&arena, str_of(before), str_of(after)), str_of(expected));
    EXPECT_STR(apply(&arena, str_of(before), str_of(after)), str_of(after));
    arena_deinit(&arena);
}

TEST(a_diff_of_equal_texts_has_no_hunk)
{
    expect_unified("", "", "");
    expect_unified("a\nb\n", "a\nb\n", "");
    expect_unified("no newline", "no newline", "");
}

TEST(a_changed_line_stands_between_its_context)
{
    expect_unified("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
        "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(an_empty_text_begins_at_line_0_and_a_single_line_has_no_count)
{
    expect_unified("", "a\n", "@@ -0,0 +1 @@\n+a\n");
    expect_unified("a\n", "", "@@ -1 +0,0 @@\n-a\n");
    expect_unified("a\n", "b\n", "@@ -1 +1 @@\n-a\n+b\n");
}

TEST(a_missing_newline_at_the_end_is_told_and_is_a_difference)
{
    expect_unified("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    expect_unified("a\nb", "c\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n");
}

TEST(changes_within_six_lines_share_a_hunk_and_others_do_not)
{
    expect_unified("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
        "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
    expect_unified("a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
        "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

/* --- Against texts made by chance ------------------------------------------------------------ */

static uint32_t chance(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static struct str random_text(struct arena *arena, uint32_t *state, size_t lines, unsigned words)
{
    struct buf out;
    buf_init(&out, 64 * 1024 * 1024);
    for (size_t i = 0; i < lines; i++)
        buf_printf(&out, "%u\n", chance(state) % words);
    if (out.len > 0 && chance(state) % 2 == 0)
        out.len--;
    struct str text = arena_str(arena, buf_str(&out));
    buf_deinit(&out);
    return text;
}

/* The fewest edits there are, by the plain table. */
static size_t fewest_edits(struct arena *arena, const struct diff *d)
{
    size_t *row = ARENA_ARRAY(arena, size_t, d->new.n + 1);
    for (size_t k = 0; k <= d->new.n; k++)
        row[k] = k;
    for (size_t i = 1; i <= d->old.n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= d->new.n; k++) {
            size_t best = row[k] < row[k - 1] ? row[k] + 1 : row[k - 1] + 1;
            if (d->old.ids[i - 1] == d->new.ids[k - 1] && diagonal < best)
                best = diagonal;
            diagonal = row[k];
            row[k] = best;
        }
    }
    return row[d->new.n];
}

TEST(a_diff_of_any_two_texts_makes_the_one_of_the_other_with_the_fewest_edits)
{
    uint32_t state = 7;
    for (int i = 0; i < 600; i++) {
        struct arena arena;
        struct diff diff;
        arena_init(&arena, SIZE_MAX);
        unsigned words = 2 + chance(&state) % 12;
        struct str before = random_text(&arena, &state, chance(&state) % 40, words);
        struct str after = random_text(&arena, &state, chance(&state) % 40, words);
        EXPECT_STR(apply(&arena, before, after), after);
        EXPECT(diff_compute(&arena, before, after, &diff));
        EXPECT_EQ(diff.n_removed + diff.n_added, fewest_edits(&arena, &diff));
        arena_deinit(&arena);
    }
}

TEST(texts_with_little_in_common_are_compared_in_bounded_time_and_still_correctly)
{
    uint32_t state = 11;
    struct arena arena;
    arena_init(&arena, SIZE_MAX);
    struct str before = random_text(&arena, &state, 60000, 30000);
    struct str after = random_text(&arena, &state, 50000, 30000);
    EXPECT(str_eq(apply(&arena, before, after), after));
    arena_deinit(&arena);
}

TEST(a_text_of_too_many_lines_is_refused)
{
    struct arena arena;
    struct diff diff;
    arena_init(&arena, SIZE_MAX);
    char *lines = arena_alloc(&arena, DIFF_MAX_LINES + 1);
    memset(lines, '\n', DIFF_MAX_LINES + 1);
    struct str most = {lines, DIFF_MAX_LINES}, too_many = {lines, DIFF_MAX_LINES + 1};
    EXPECT(diff_compute(&arena, most, STR("x"), &diff));
    EXPECT_EQ(diff.n_removed, DIFF_MAX_LINES);
    EXPECT(!diff_compute(&arena, too_many, most, &diff));
    EXPECT(!diff_compute(&arena, most, too_many, &diff));
    arena_deinit(&arena);
}
