/* SPDX-License-Identifier: Apache-2.0 */
/* Which known word a mistyped one was meant to be. */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include "base/str.h"

enum { SUGGEST_MAX_LEN = 64 };

/* How many letters to insert, drop, replace or swap with their neighbour make `a` into `b`. */
size_t suggest_distance(struct str a, struct str b);

/* Keeps the nearest of the words it is shown, if one is near enough. */
struct suggestion {
    struct str mistyped;
    struct str best; /* STR_NONE: none so far */
    size_t distance;
};
void suggestion_init(struct suggestion *s, struct str mistyped);
void suggestion_offer(struct suggestion *s, struct str word);

#endif
