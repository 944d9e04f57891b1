/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the handlers of files and of uploads. */
#ifndef API_FILES_FILES_API_H
#define API_FILES_FILES_API_H

#include "api/http/call.h"
#include "model/files/file_uploads.h"

/* Answers the file with the ETag of its bytes; 201 if it is new. */
enum error files_answer(struct call *call, const struct file *file, bool is_new);
/* Answers the upload with headers for its offset. */
enum error uploads_answer(
    struct call *call, const struct context *c, const struct file_upload *upload);
/* Returns the media type to store: the given one, or a guess from the name and the first bytes,
 * which may be unknown (STR_NONE). */
struct str files_media_type(struct str given, struct str name, struct str head);

#endif
