/* SPDX-License-Identifier: Apache-2.0 */
/* Reads whole files into the arena. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include "base/arena.h"

/* "-" is stdin. Returns false with `out_why`, a text that names the file. */
MUST_CHECK bool file_read(struct arena *arena, struct str path, size_t max_bytes,
    struct str *out_bytes, struct str *out_why);
/* Returns true if users other than the owner can read the file. */
bool file_is_exposed(struct arena *arena, struct str path);

#endif
