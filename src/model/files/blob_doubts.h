/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content without references. A transaction that deletes a reference to content also adds a note to
 * blob_doubts; a sweep examines each note. Content to which a version or an upload still refers
 * stays. For other content the sweep deletes the row in `blobs`, and only after that is committed
 * removes the content itself (content_remove).
 *
 * This never races with an upload. Ids are never reused, so removed content is never being written.
 * An upload that finds the same content stored (blob_adopt) locks its row: either the sweep sees
 * the new reference, or the upload finds the row deleted and keeps its own content.
 */
#ifndef MODEL_FILES_BLOB_DOUBTS_H
#define MODEL_FILES_BLOB_DOUBTS_H

#include "model/context.h"

/* Note the content of rows that are about to be deleted. */
MUST_CHECK enum error blob_doubt_version(struct context *c, struct uuid file_id, int64_t version);
MUST_CHECK enum error blob_doubt_file(struct context *c, struct uuid file_id);
MUST_CHECK enum error blob_doubt_thread(struct context *c, struct uuid thread_id);
/* The content of the first versions. */
MUST_CHECK enum error blob_doubt_some(struct context *c, struct uuid file_id, int64_t limit);
/* Notes the content of an upload that ends, or that was already stored. */
MUST_CHECK enum error blob_doubt(struct context *c, struct uuid blob_id);

/* The notes of all tenants, oldest first. */
MUST_CHECK enum error blob_list_doubtful(
    struct context *c, size_t limit, struct owned_id *out_notes, size_t *out_count);
/* Settles a note of the context's tenant. out_unused: the caller must remove the content after the
 * commit. */
MUST_CHECK enum error blob_settle(struct context *c, struct uuid blob_id, bool *out_unused);

#endif
