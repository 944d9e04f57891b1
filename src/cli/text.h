/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: how wide it is, how it is cut, and nothing in it that drives the terminal. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/arena.h"

/* Control and direction characters become visible escapes (\n, \e, \u202e), bytes that are not
 * UTF-8 become U+FFFD. */
struct str text_clean(struct arena *arena, struct str text);
/* How many columns of a terminal clean text takes. */
size_t text_columns(struct str clean);
/* As much as fits into so many columns, ended by … when something is missing. */
struct str text_cut(struct arena *arena, struct str clean, size_t columns);

/* "3 m ago", "in 2 h", "just now"; a date when it is far away. */
struct str text_relative_time(struct arena *arena, int64_t unix_us, int64_t now_us);
/* "512 B", "1.5 MiB" */
struct str text_bytes(struct arena *arena, uint64_t bytes);

#endif
