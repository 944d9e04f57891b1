/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of files. Private to file*.c. */
#ifndef MODEL_FILES_FILE_ROWS_H
#define MODEL_FILES_FILE_ROWS_H

#include "model/files/files.h"
#include "model/threads/events.h"

void file_read_row(struct context *c, struct query *q, struct file *out);
/* Finds the file without checking that the thread exists. */
MUST_CHECK enum error file_find(struct context *c, struct uuid thread_id, struct str name,
    bool *out_found, struct file *out_file);
/* Returns ERR_NOT_FOUND with a message that names the file. */
enum error file_missing(struct context *c, struct str name);
/* Assigns the next version number for this name. */
MUST_CHECK enum error file_next_version(
    struct context *c, struct uuid thread_id, struct str name, int64_t *out_version);
/* The row of a new file that begins with this version, or the new current version of an existing
 * file (`has_id`). */
struct file_row {
    bool has_id;
    struct uuid id;
    struct uuid thread_id;
    struct str name;
    int64_t version;
    struct str metadata;
};
MUST_CHECK enum error file_write_row(struct context *c, struct file_row *row);
/* Reads the file again and appends an event: file.created, file.updated or file.deleted. */
MUST_CHECK enum error file_tell(
    struct context *c, enum event_kind kind, const struct file *file, const struct file_copy *copy);

#endif
