/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs: content (store/content.h) that a tenant has, each once, by its SHA-256. The row makes
 * content count; what refers to a blob refers to its hash. Whoever deletes the row of one that
 * nothing refers to removes the content of that id after the commit, and no upload can meet it: the
 * same bytes sent again come under an id of their own.
 */
#ifndef MODEL_FILES_BLOBS_H
#define MODEL_FILES_BLOBS_H

#include "model/context.h"
#include "store/content.h"

struct blob {
    struct uuid id; /* of the content */
    struct sha256 sha256;
    int64_t size_bytes;
    int64_t created_at;
};

extern const struct content_statements blob_content_statements;

/*
 * Makes content that was written and synced the tenant's. When the tenant has the same bytes
 * already, out_stored is that blob, and the content of `uploaded` is left for its writer to remove:
 * it was adopted only if the two have the same id (then c->adopted_blob has it too).
 */
MUST_CHECK enum error blob_adopt(
    struct context *c, const struct blob *uploaded, struct blob *out_stored);
/* After blob_adopt found a blob that was there: when its content in the directory is missing or has
 * another size, what was just uploaded takes its place, for all who refer to it. */
MUST_CHECK enum error blob_mend(
    struct context *c, struct store *store, const struct blob *uploaded, struct blob *stored);
/* ERR_NOT_FOUND when the tenant has no such content. */
MUST_CHECK enum error blob_find(
    struct context *c, const struct sha256 *sha256, struct blob *out_blob);
/* All of the bytes, within a job, into the context's arena: for small ones. ERR_DAMAGED, also
 * counted, when they do not have their hash. */
MUST_CHECK enum error blob_read(
    struct context *c, struct store *store, const struct blob *blob, struct str *out_bytes);
/* Whether a row of the tenant's, a blob or an upload under way, knows this content. */
MUST_CHECK enum error blob_is_known(
    struct context *c, struct uuid tenant_id, struct uuid id, bool *out_known);

#endif
