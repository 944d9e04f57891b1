/* SPDX-License-Identifier: Apache-2.0 */
/* What the handlers of files and of uploads share. */
#ifndef API_FILES_FILES_API_H
#define API_FILES_FILES_API_H

#include "api/http/call.h"
#include "model/files/file_uploads.h"

/* The file, with the ETag of its bytes; 201 when it is new. */
void files_answer(struct call *call, const struct file *file, bool is_new);
/* The upload, with headers that say how far it has come. */
void uploads_answer(struct call *call, const struct context *c, const struct file_upload *upload);
/* The media type to store: as given, or else a guess by the name and the first bytes, which may be
 * unknown (STR_NONE). */
struct str files_media_type(struct str given, struct str name, struct str head);

#endif
