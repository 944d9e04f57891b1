/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumable uploads: a file that is sent in several requests. The received bytes are content under
 * the upload's content id, and are valid up to `offset_bytes`. Bytes behind that were never
 * acknowledged; the next request truncates them. After the last byte the whole content is hashed.
 * Completing the upload makes it the next version of its file. An abandoned upload expires.
 *
 * Only one request writes at a time: it takes the lease in the transaction that checks its offset,
 * before it opens the content, renews the lease while it writes, and records the received bytes
 * only if it still holds the lease. With the last byte the content gets a new id (content_seal) to
 * which no request ever writes: a request that continues by mistake cannot change a version.
 */
#ifndef MODEL_FILES_FILE_UPLOADS_H
#define MODEL_FILES_FILE_UPLOADS_H

#include "model/files/files.h"

enum {
    FILE_UPLOADS_MAX = 100, /* unfinished uploads of one thread */
    FILE_UPLOAD_LIFE_S = 24 * 3600,
    /* A writer that neither renews nor releases its lease in this time is dead. */
    FILE_UPLOAD_LEASE_S = 20,
};
/* The maximum size of one file. */
#define FILE_UPLOAD_MAX_BYTES (INT64_C(1) << 40)

struct file_upload {
    struct uuid id;
    struct uuid thread_id;
    struct uuid content_id;
    struct str name;
    struct str content_type;
    int64_t size_bytes;
    int64_t offset_bytes;
    bool has_expected_version;
    int64_t expected_version; /* 0: the file must not exist */
    struct str sha256;        /* the expected hash in hexadecimal, or STR_NONE */
    struct str created_by;
    int64_t created_at;
    int64_t updated_at;
    int64_t expires_at;
    bool is_hashed;
    struct sha256 hash; /* of the whole content, if is_hashed */
    bool has_writer;
    struct uuid writer;
    int64_t writer_until;
};

/* Creates the upload that `upload` describes, and sets its other members. */
MUST_CHECK enum error file_upload_create(struct context *c, struct file_upload *upload);
MUST_CHECK enum error file_upload_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct file_upload *out_upload);
/* Newest first. */
MUST_CHECK enum error file_upload_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, struct page *page, struct file_upload *out_uploads);

/* ERR_CONFLICT, with the expected offset, if the upload does not continue at this one. */
MUST_CHECK enum error file_upload_check_offset(
    struct context *c, const struct file_upload *upload, int64_t offset);
/* ERR_FORBIDDEN for a principal that did not create the upload. */
MUST_CHECK enum error file_upload_check_writer(struct context *c, const struct file_upload *upload);
/* Gives the lease to `writer` (a new id), which may write from this offset on. ERR_CONFLICT if
 * another writer has the lease, or if the upload continues at another offset. */
MUST_CHECK enum error file_upload_lease(
    struct context *c, struct uuid thread_id, struct uuid id, int64_t offset, struct uuid writer);
/* ERR_CONFLICT if another writer has the lease: the caller must stop writing. */
MUST_CHECK enum error file_upload_renew(struct context *c, struct uuid id, struct uuid writer);
MUST_CHECK enum error file_upload_release(struct context *c, struct uuid id, struct uuid writer);
/* The bytes that `writer` has received and made durable. */
struct file_upload_piece {
    struct uuid writer;
    int64_t size_bytes; /* of all the content so far */
    /* The content is complete: its hash, and the id under which it was sealed. */
    bool is_whole;
    struct sha256 hash;
    struct uuid sealed_id;
};
/* Records the piece and releases the lease. ERR_CONFLICT if another writer has the lease. */
MUST_CHECK enum error file_upload_advance(
    struct context *c, struct file_upload *upload, const struct file_upload_piece *piece);
/* Makes the content a version of the file, and ends the upload. */
MUST_CHECK enum error file_upload_complete(
    struct context *c, struct file_upload *upload, bool *out_created, struct file *out_file);
MUST_CHECK enum error file_upload_delete(struct context *c, struct uuid thread_id, struct uuid id);

/* The expired uploads of all tenants. */
MUST_CHECK enum error file_upload_list_expired(
    struct context *c, size_t limit, struct owned_id *out_uploads, size_t *out_count);
/* Deletes the upload if it still exists and has still expired. */
MUST_CHECK enum error file_upload_expire(struct context *c, struct uuid id);

#endif
