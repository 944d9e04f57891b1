/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Three rows of the usual table: this one, the one above, and the one above that for swaps. */
size_t suggest_distance(struct str a, struct str b)
{
    size_t rows[3][SUGGEST_MAX_LEN + 1];
    if (a.len > SUGGEST_MAX_LEN || b.len > SUGGEST_MAX_LEN)
        return SIZE_MAX;
    size_t *above2 = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        above[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t replaced = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, replaced);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1])
                row[j] = least(row[j], above2[j - 2] + 1);
        }
        size_t *spent = above2;
        above2 = above;
        above = row;
        row = spent;
    }
    return above[b.len];
}

void suggestion_init(struct suggestion *s, struct str mistyped)
{
    /* A third of the letters may be wrong, and at least one. */
    *s = (struct suggestion){mistyped, STR_NONE, mistyped.len / 3 + 1};
    if (s->distance < 2)
        s->distance = 2;
}

void suggestion_offer(struct suggestion *s, struct str word)
{
    bool begun = s->mistyped.len >= 3 && str_starts_with(word, s->mistyped);
    size_t distance = begun ? 1 : suggest_distance(s->mistyped, word);
    if (distance < s->distance && distance < word.len) {
        s->best = word;
        s->distance = distance;
    }
}
