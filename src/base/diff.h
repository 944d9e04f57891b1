/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two texts, line by line: Myers' O(ND) search in linear space. The work is
 * bounded: texts that have little in common give a coarser result, which is still correct. Applied
 * to the old text, a diff always gives the new one. A diff lives in the arena and borrows the
 * texts.
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
    DIFF_CONTEXT = 3,            /* unchanged lines around a change, by default */
};

/* One of the two texts. `lines` include their newlines; `changed` marks lines that the other text
 * does not have. */
struct diff_side {
    struct str *lines;
    uint32_t *ids; /* equal lines have equal ids */
    bool *changed;
    size_t n;
};

struct diff {
    struct diff_side old;
    struct diff_side new;
    size_t n_removed;
    size_t n_added;
    size_t context; /* unchanged lines around a change; may be set before the first hunk is read */
};

/* Lines are counted from 0 here; diff_start gives the numbers for the header of a hunk. */
struct diff_hunk {
    size_t old_from, old_to;
    size_t new_from, new_to;
    size_t old_at, new_at; /* the position of diff_next_line */
};

struct diff_line {
    char sign; /* ' ', '-' or '+' */
    struct str text;
    bool has_newline;
};

/* Returns false if a text has more than DIFF_MAX_LINES. */
MUST_CHECK bool diff_compute(
    struct arena *arena, struct str before, struct str after, struct diff *out_diff);
/* Advances to the next hunk; a zeroed hunk stands before the first. */
bool diff_next_hunk(const struct diff *diff, struct diff_hunk *hunk);
/* Reads the next line of the hunk. */
bool diff_next_line(const struct diff *diff, struct diff_hunk *hunk, struct diff_line *out_line);

/* The line number in the header of a hunk: from 1; for an empty range, the line before it. */
static inline size_t diff_start(size_t from, size_t to)
{
    return from == to ? from : from + 1;
}

/* Prints the hunks in the unified format of patch(1), without the two lines of file names. */
void diff_print(const struct diff *diff, struct buf *out);

#endif
