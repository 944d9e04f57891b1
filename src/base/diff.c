/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diff.h"

#include "base/hash.h"

enum {
    MAX_COST = 1024,                /* edits that the search of one box considers */
    MAX_STEPS = 24 * 1000 * 1000,   /* of all searches together */
    N_DIAGONALS = 2 * MAX_COST + 5, /* -MAX_COST - 2 … MAX_COST + 2 */
};

/* --- Lines, and a number for each different one --------------------------------------------- */

static size_t count_lines(struct str text)
{
    size_t n = 0;
    struct str rest = text;
    while (rest.len > 0) {
        rest = str_slice(rest, str_find(rest, '\n') + 1, rest.len);
        n++;
    }
    return n;
}

static void split(struct arena *arena, struct str text, struct diff_side *side)
{
    side->n = count_lines(text);
    side->lines = ARENA_ARRAY(arena, struct str, side->n);
    side->ids = ARENA_ARRAY(arena, uint32_t, side->n);
    side->changed = ARENA_ARRAY(arena, bool, side->n);
    for (size_t i = 0; i < side->n; i++) {
        size_t end = str_find(text, '\n');
        side->lines[i] = str_slice(text, 0, end + 1);
        text = str_slice(text, end + 1, text.len);
    }
}

/* Open addressing. An entry is the number of a line, counted through both texts, plus 1. */
struct line_table {
    uint32_t *entries;
    size_t mask;
    const struct diff_side *sides[2];
};

static struct str table_line(const struct line_table *t, uint32_t entry)
{
    size_t i = entry - 1;
    return i < t->sides[0]->n ? t->sides[0]->lines[i] : t->sides[1]->lines[i - t->sides[0]->n];
}

/* Returns the entry of the first equal line. */
static uint32_t number_line(struct line_table *t, struct str line, uint32_t entry)
{
    size_t at = hash_bytes(line.ptr, line.len) & t->mask;
    while (t->entries[at] != 0 && !str_eq(table_line(t, t->entries[at]), line))
        at = (at + 1) & t->mask;
    if (t->entries[at] == 0)
        t->entries[at] = entry;
    return t->entries[at];
}

static void number_lines(struct arena *arena, struct diff *diff)
{
    struct line_table t = {.mask = 15, .sides = {&diff->old, &diff->new}};
    size_t n = diff->old.n + diff->new.n;
    while (t.mask < 2 * n)
        t.mask = 2 * t.mask + 1;
    t.entries = ARENA_ARRAY(arena, uint32_t, t.mask + 1);
    for (size_t i = 0; i < diff->old.n; i++)
        diff->old.ids[i] = number_line(&t, diff->old.lines[i], (uint32_t)i + 1);
    for (size_t i = 0; i < diff->new.n; i++)
        diff->new.ids[i] = number_line(&t, diff->new.lines[i], (uint32_t)(diff->old.n + i) + 1);
}

/* --- The search ------------------------------------------------------------------------------ */

/* A part of one text and a part of the other, which are compared. */
struct box {
    int64_t old_from, old_to, new_from, new_to;
};

/* How far each diagonal (x - y) was reached with the edits so far; -1: not reached. */
struct reach {
    int64_t x[N_DIAGONALS];
};

struct search {
    struct diff *diff;
    struct box box;
    int64_t width, height; /* of the box */
    int64_t steps_left;
    struct reach forward;
    struct reach backward; /* counted from the far corner */
};

static int64_t *diagonal(struct reach *r, int64_t k)
{
    return &r->x[k + MAX_COST + 2];
}

static bool same(const struct search *s, bool backward, int64_t x, int64_t y)
{
    const struct box *b = &s->box;
    int64_t i = backward ? b->old_to - 1 - x : b->old_from + x;
    int64_t k = backward ? b->new_to - 1 - y : b->new_from + y;
    return s->diff->old.ids[i] == s->diff->new.ids[k];
}

/* Adds one edit onto diagonal k, then follows it while the lines are equal. */
static int64_t extend(struct search *s, bool backward, int64_t cost, int64_t k)
{
    struct reach *r = backward ? &s->backward : &s->forward;
    int64_t right = *diagonal(r, k - 1), down = *diagonal(r, k + 1);
    right = right >= 0 && right < s->width ? right + 1 : -1;
    if (down - k > s->height)
        down = -1;
    int64_t x = cost == 0 ? 0 : right > down ? right : down;
    if (x >= 0)
        while (x < s->width && x - k < s->height && same(s, backward, x, x - k)) {
            x++;
            s->steps_left--;
        }
    s->steps_left--;
    *diagonal(r, k) = x;
    return x;
}

struct point {
    int64_t x, y;
};

/* Returns true if the two searches have met on diagonal k of the forward one. */
static bool have_met(struct search *s, int64_t k)
{
    int64_t mirrored = s->width - s->height - k;
    if (mirrored < -MAX_COST - 2 || mirrored > MAX_COST + 2 || k < -MAX_COST - 2 ||
        k > MAX_COST + 2)
        return false;
    int64_t x = *diagonal(&s->forward, k), back = *diagonal(&s->backward, mirrored);
    return x >= 0 && back >= 0 && x + back >= s->width;
}

/* Adds one edit in one direction. Returns true, and the point, if the searches meet. */
static bool advance(struct search *s, bool backward, int64_t cost, struct point *out)
{
    int64_t delta = s->width - s->height;
    for (int64_t k = -cost; k <= cost; k += 2) {
        if (k < -s->height || k > s->width)
            continue;
        int64_t x = extend(s, backward, cost, k);
        int64_t in_forward = backward ? delta - k : k;
        if (x < 0 || !have_met(s, in_forward))
            continue;
        int64_t met = backward ? s->width - x : x;
        *out = (struct point){met, met - in_forward};
        return true;
    }
    return false;
}

/* Returns the point that was reached after the most lines. */
static struct point furthest(struct search *s)
{
    struct point best = {0, 0};
    for (int64_t k = -MAX_COST - 2; k <= MAX_COST + 2; k++) {
        int64_t x = *diagonal(&s->forward, k);
        if (x >= 0 && 2 * x - k > best.x + best.y)
            best = (struct point){x, x - k};
    }
    return best;
}

/* Returns a point on a shortest path, or a good one if the search was stopped. */
static struct point find_split(struct search *s)
{
    struct point met = {0, 0};
    memset(&s->forward, -1, sizeof s->forward);
    memset(&s->backward, -1, sizeof s->backward);
    for (int64_t cost = 0; cost <= MAX_COST && s->steps_left > 0; cost++)
        if (advance(s, false, cost, &met) || advance(s, true, cost, &met))
            return met;
    return furthest(s);
}

static void trim(const struct diff *diff, struct box *b)
{
    const uint32_t *old = diff->old.ids, *new = diff->new.ids;
    while (b->old_from < b->old_to && b->new_from < b->new_to &&
           old[b->old_from] == new[b->new_from]) {
        b->old_from++;
        b->new_from++;
    }
    while (b->old_from < b->old_to && b->new_from < b->new_to &&
           old[b->old_to - 1] == new[b->new_to - 1]) {
        b->old_to--;
        b->new_to--;
    }
}

static void replace(struct diff *diff, const struct box *b)
{
    for (int64_t i = b->old_from; i < b->old_to; i++)
        diff->old.changed[i] = true;
    for (int64_t i = b->new_from; i < b->new_to; i++)
        diff->new.changed[i] = true;
}

/* The first half of each box is processed by recursion. It has at most half of the edits, of which
 * there are at most 2 * MAX_COST, so the recursion is about a dozen levels deep. */
static void compare(struct search *s, struct box box)
{
    for (;;) {
        trim(s->diff, &box);
        int64_t width = box.old_to - box.old_from, height = box.new_to - box.new_from;
        if (width == 0 || height == 0 || s->steps_left <= 0) {
            replace(s->diff, &box);
            return;
        }
        s->box = box;
        s->width = width;
        s->height = height;
        struct point at = find_split(s);
        if (at.x + at.y <= 0 || at.x + at.y >= width + height) {
            replace(s->diff, &box);
            return;
        }
        compare(
            s, (struct box){box.old_from, box.old_from + at.x, box.new_from, box.new_from + at.y});
        box.old_from += at.x;
        box.new_from += at.y;
    }
}

bool diff_compute(struct arena *arena, struct str before, struct str after, struct diff *out_diff)
{
    if (count_lines(before) > DIFF_MAX_LINES || count_lines(after) > DIFF_MAX_LINES)
        return false;
    *out_diff = (struct diff){.context = DIFF_CONTEXT};
    split(arena, before, &out_diff->old);
    split(arena, after, &out_diff->new);
    number_lines(arena, out_diff);
    struct search *s = ARENA_NEW(arena, struct search);
    s->diff = out_diff;
    s->steps_left = MAX_STEPS;
    compare(s, (struct box){0, (int64_t)out_diff->old.n, 0, (int64_t)out_diff->new.n});
    for (size_t i = 0; i < out_diff->old.n; i++)
        out_diff->n_removed += out_diff->old.changed[i];
    for (size_t i = 0; i < out_diff->new.n; i++)
        out_diff->n_added += out_diff->new.changed[i];
    return true;
}

/* --- Hunks ----------------------------------------------------------------------------------- */

/* Skips the changes that begin here. Returns true if there were any. */
static bool pass_changes(const struct diff *diff, size_t *old_at, size_t *new_at)
{
    size_t old_from = *old_at, new_from = *new_at;
    while (*old_at < diff->old.n && diff->old.changed[*old_at])
        ++*old_at;
    while (*new_at < diff->new.n && diff->new.changed[*new_at])
        ++*new_at;
    return *old_at > old_from || *new_at > new_from;
}

/* Skips unchanged lines, at most `max` of them. */
static size_t pass_same(const struct diff *diff, size_t *old_at, size_t *new_at, size_t max)
{
    size_t n = 0;
    while (n < max && *old_at < diff->old.n && *new_at < diff->new.n &&
           !diff->old.changed[*old_at] && !diff->new.changed[*new_at]) {
        ++*old_at;
        ++*new_at;
        n++;
    }
    return n;
}

bool diff_next_hunk(const struct diff *diff, struct diff_hunk *hunk)
{
    size_t old_at = hunk->old_to, new_at = hunk->new_to;
    size_t before = pass_same(diff, &old_at, &new_at, SIZE_MAX);
    if (before > diff->context)
        before = diff->context;
    hunk->old_from = old_at - before;
    hunk->new_from = new_at - before;
    if (!pass_changes(diff, &old_at, &new_at))
        return false;
    for (;;) {
        hunk->old_to = old_at;
        hunk->new_to = new_at;
        size_t between = pass_same(diff, &old_at, &new_at, 2 * diff->context);
        if (!pass_changes(diff, &old_at, &new_at)) {
            size_t after = between < diff->context ? between : diff->context;
            hunk->old_to += after;
            hunk->new_to += after;
            break;
        }
    }
    hunk->old_at = hunk->old_from;
    hunk->new_at = hunk->new_from;
    return true;
}

static struct diff_line line_of(char sign, struct str line)
{
    bool ends = str_ends_with(line, STR("\n"));
    return (struct diff_line){sign, str_slice(line, 0, line.len - (ends ? 1 : 0)), ends};
}

bool diff_next_line(const struct diff *diff, struct diff_hunk *hunk, struct diff_line *out_line)
{
    if (hunk->old_at < hunk->old_to && diff->old.changed[hunk->old_at])
        *out_line = line_of('-', diff->old.lines[hunk->old_at++]);
    else if (hunk->new_at < hunk->new_to && diff->new.changed[hunk->new_at])
        *out_line = line_of('+', diff->new.lines[hunk->new_at++]);
    else if (hunk->old_at < hunk->old_to) {
        *out_line = line_of(' ', diff->old.lines[hunk->old_at++]);
        hunk->new_at++;
    } else
        return false;
    return true;
}

static void print_range(struct buf *out, char sign, size_t from, size_t to)
{
    buf_printf(out, " %c%zu", sign, diff_start(from, to));
    if (to - from != 1)
        buf_printf(out, ",%zu", to - from);
}

void diff_print(const struct diff *diff, struct buf *out)
{
    struct diff_hunk hunk = {0};
    struct diff_line line;
    while (diff_next_hunk(diff, &hunk)) {
        buf_append(out, STR("@@"));
        print_range(out, '-', hunk.old_from, hunk.old_to);
        print_range(out, '+', hunk.new_from, hunk.new_to);
        buf_append(out, STR(" @@\n"));
        while (diff_next_line(diff, &hunk, &line)) {
            buf_append_byte(out, line.sign);
            buf_append(out, line.text);
            buf_append_byte(out, '\n');
            if (!line.has_newline)
                buf_append(out, STR("\\ No newline at end of file\n"));
        }
    }
}
