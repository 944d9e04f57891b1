/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs: the content (store/content.h) of a tenant, each content once, by its SHA-256. Content
 * exists for clients only if it has a row here; other rows refer to a blob by its hash. After the
 * row of an unreferenced blob was deleted and the deletion committed, the content of its id is
 * removed. An upload of the same bytes is not affected, because it has an id of its own.
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
 * Adds written and synced content to the tenant. If the tenant already has the same bytes,
 * out_stored is that blob, and the writer must remove the content of `uploaded`: it was adopted
 * only if both have the same id, which then is in c->adopted_blob too.
 */
MUST_CHECK enum error blob_adopt(
    struct context *c, const struct blob *uploaded, struct blob *out_stored);
/* After blob_adopt found an existing blob: if its content is missing in the directory or has
 * another size, the uploaded content replaces it for all references. */
MUST_CHECK enum error blob_mend(
    struct context *c, struct store *store, const struct blob *uploaded, struct blob *stored);
/* ERR_NOT_FOUND if the tenant has no such content. */
MUST_CHECK enum error blob_find(
    struct context *c, const struct sha256 *sha256, struct blob *out_blob);
/* Reads small content within a job, into the context's arena. ERR_DAMAGED, which is also counted,
 * if the bytes do not have their hash. */
MUST_CHECK enum error blob_read(
    struct context *c, struct store *store, const struct blob *blob, struct str *out_bytes);
/* Returns whether a blob or an unfinished upload of the tenant refers to this content. */
MUST_CHECK enum error blob_is_known(
    struct context *c, struct uuid tenant_id, struct uuid id, bool *out_known);

#endif
