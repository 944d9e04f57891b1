/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two texts, line by line: Myers' O(ND) search in linear space. The work is
 * bounded: where two texts have too little in common the result is coarser, never wrong. Applied to
 * the old text it always gives the new one. Everything lives in the arena and borrows the texts.
 *
 *   struct diff diff;
 *   struct diff_hunk hunk = {0};
 *   struct diff_line line;
 *   if (diff_compute(arena, before, after, &diff))
 *       while (diff_next_hunk(&diff, &hunk))
 *           while (diff_next_line(&diff, &hunk, &line))
 *               …
 */
#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/arena.h"
#include "base/buf.h"

enum {
    DIFF_MAX_LINES = 200 * 1000, /* of one text */
    DIFF_CONTEXT = 3,            /* unchanged lines around a change, unless told */
};

/* One of the two texts; `lines` include their newlines, `changed` tells which are not in the other.
 */
struct diff_side {
    struct str *lines;
    uint32_t *ids; /* equal where the lines are */
    bool *changed;
    size_t n;
};

struct diff {
    struct diff_side old;
    struct diff_side new;
    size_t n_removed;
    size_t n_added;
    size_t context; /* unchanged lines around a change: may be set before hunks are asked for */
};

/* Lines count from 0 here; the numbers of a hunk's header are those of diff_start. */
struct diff_hunk {
    size_t old_from, old_to;
    size_t new_from, new_to;
    size_t old_at, new_at; /* diff_next_line's */
};

struct diff_line {
    char sign; /* ' ', '-' or '+' */
    struct str text;
    bool has_newline;
};

/* False: a text has more than DIFF_MAX_LINES. */
MUST_CHECK bool diff_compute(
    struct arena *arena, struct str before, struct str after, struct diff *out_diff);
/* The hunk after this one; the first after one of zeroes. */
bool diff_next_hunk(const struct diff *diff, struct diff_hunk *hunk);
/* The next line of the hunk. */
bool diff_next_line(const struct diff *diff, struct diff_hunk *hunk, struct diff_line *out_line);

/* The number by which a header names the place: from 1; of an empty run, the line before it. */
static inline size_t diff_start(size_t from, size_t to)
{
    return from == to ? from : from + 1;
}

/* The hunks in the unified format, as patch(1) takes them; without the two lines of names. */
void diff_print(const struct diff *diff, struct buf *out);

#endif
