/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests the known word that is most like a mistyped one. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include "base/str.h"

enum { SUGGEST_MAX_LEN = 64 };

/* Returns the number of letters to insert, drop, replace or swap with their neighbour to change `a`
 * into `b`. */
size_t suggest_distance(struct str a, struct str b);

/* Keeps the most similar of the offered words, if one is similar enough. */
struct suggestion {
    struct str mistyped;
    struct str best; /* STR_NONE: none so far */
    size_t distance;
};
void suggestion_init(struct suggestion *s, struct str mistyped);
void suggestion_offer(struct suggestion *s, struct str word);

#endif
