/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, read into the arena. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "base/arena.h"

/* "-" is stdin. False: `out_why` says so in words that name the file. */
MUST_CHECK bool file_read(struct arena *arena, struct str path, size_t max_bytes,
    struct str *out_bytes, struct str *out_why);
/* Whether anybody but its owner may read it. */
bool file_is_exposed(struct arena *arena, struct str path);

#endif
