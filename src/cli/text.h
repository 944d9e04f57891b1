/* SPDX-License-Identifier: Apache-2.0 */
/* Text for terminals: its width, how it is cut, and the removal of control characters. */
#ifndef CLI_TEXT_H
#define CLI_TEXT_H

#include "base/arena.h"

/* Control and direction characters become visible escapes (\n, \e, \u202e), bytes that are not
 * UTF-8 become U+FFFD. */
struct str text_clean(struct arena *arena, struct str text);
/* Returns the number of columns of a clean text. */
size_t text_columns(struct str clean);
/* Cuts a text to so many columns; a text that was cut ends in …. */
struct str text_cut(struct arena *arena, struct str clean, size_t columns);

/* "3 m ago", "in 2 h", "just now"; a date when it is far away. */
struct str text_relative_time(struct arena *arena, int64_t unix_us, int64_t now_us);
/* "512 B", "1.5 MiB" */
struct str text_bytes(struct arena *arena, uint64_t bytes);

#endif
