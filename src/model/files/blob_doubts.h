/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content that nothing refers to any more. Whoever deletes what refers to content notes it in
 * blob_doubts, in the same transaction, as doubtful; a sweep looks at each note. Content that a
 * version or an upload still refers to stays. Of other content the row in `blobs` goes, and after
 * that is committed, and only then, whoever sweeps removes the content itself (content_remove).
 *
 * This never races an upload. An id is never used again, so what is removed is not what anybody is
 * writing; and who finds the same content stored already (blob_adopt) locks its row, so that it is
 * either referred to when the sweep looks, or gone when the upload does, which then keeps its own.
 */
#ifndef MODEL_FILES_BLOB_DOUBTS_H
#define MODEL_FILES_BLOB_DOUBTS_H

#include "model/context.h"

/* What is about to be deleted refers to content. */
MUST_CHECK enum error blob_doubt_version(struct context *c, struct uuid file_id, int64_t version);
MUST_CHECK enum error blob_doubt_file(struct context *c, struct uuid file_id);
MUST_CHECK enum error blob_doubt_thread(struct context *c, struct uuid thread_id);
MUST_CHECK enum error blob_doubt_tenant(struct context *c, struct uuid tenant_id);
/* Content of which the id is known: that of an upload which ends, or that was stored already. */
MUST_CHECK enum error blob_doubt(struct context *c, struct uuid blob_id);

/* Content under a tenant and an id. */
struct blob_note {
    struct uuid tenant_id;
    struct uuid blob_id;
};
/* What is doubtful, the oldest first; of all tenants. */
MUST_CHECK enum error blob_list_doubtful(
    struct context *c, size_t limit, struct blob_note *out_notes, size_t *out_count);
/* Looks at one of the context's tenant. out_unused: its content is to be removed, once this is
 * committed. */
MUST_CHECK enum error blob_settle(struct context *c, struct uuid blob_id, bool *out_unused);

#endif
