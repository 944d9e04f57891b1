/*
 * Files of a thread. A name is data, never a path: it stands for one file of its thread, and each
 * upload under it makes the next version. Content is stored once a tenant, by its SHA-256.
 */
#ifndef MODEL_FILES_H
#define MODEL_FILES_H

#include "model/context.h"

enum { FILE_NAME_MAX_BYTES = 255 };

/* Whether the thread has a file of this name. */
MUST_CHECK enum error file_exists(
    struct context *c, struct uuid thread_id, struct str name, bool *out_exists);

#endif
