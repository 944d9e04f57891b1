/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resumable uploads: a file that comes in several requests. What has arrived stands as content
 * under the upload's content id, and counts up to `offset_bytes`; bytes behind that were never
 * acknowledged and are cut off by whoever goes on. With the last byte the whole is hashed; to
 * complete the upload makes it the next version of its file. One that nobody goes on with expires.
 *
 * One request writes at a time: it takes the lease, in the transaction that judges its offset,
 * before it opens the content, renews it while it writes, and records what came only if it still
 * has it. With the last byte the content gets an id of its own (content_seal), which no request
 * ever writes to: whoever goes on by mistake cannot meet what became a version.
 */
#ifndef MODEL_FILES_FILE_UPLOADS_H
#define MODEL_FILES_FILE_UPLOADS_H

#include "model/files/files.h"

enum {
    FILE_UPLOADS_MAX = 100, /* under way in one thread */
    FILE_UPLOAD_LIFE_S = 24 * 3600,
    /* Of who writes and neither renews nor ends it: its process has died. */
    FILE_UPLOAD_LEASE_S = 20,
};
/* What one file may come to. */
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
    int64_t expected_version; /* 0: the file must not be there */
    struct str sha256;        /* as expected, in hexadecimal; STR_NONE */
    struct str created_by;
    int64_t created_at;
    int64_t updated_at;
    int64_t expires_at;
    bool is_hashed;
    struct sha256 hash; /* of the whole, once it is there */
    bool has_writer;
    struct uuid writer;
    int64_t writer_until;
};

/* Creates the one that `upload` describes, and fills in the rest of it. */
MUST_CHECK enum error file_upload_create(struct context *c, struct file_upload *upload);
MUST_CHECK enum error file_upload_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct file_upload *out_upload);
/* Newest first. */
MUST_CHECK enum error file_upload_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, struct page *page, struct file_upload *out_uploads);

/* ERR_CONFLICT, which tells the right one, unless the upload goes on from this offset. */
MUST_CHECK enum error file_upload_check_offset(
    struct context *c, const struct file_upload *upload, int64_t offset);
/* ERR_FORBIDDEN for a principal who did not begin it. */
MUST_CHECK enum error file_upload_check_writer(struct context *c, const struct file_upload *upload);
/* `writer` (a new id) may write from this offset on. ERR_CONFLICT when another may, or when the
 * upload goes on elsewhere. */
MUST_CHECK enum error file_upload_lease(
    struct context *c, struct uuid thread_id, struct uuid id, int64_t offset, struct uuid writer);
/* ERR_CONFLICT when it is another's by now: nothing more may be written. */
MUST_CHECK enum error file_upload_renew(struct context *c, struct uuid id, struct uuid writer);
MUST_CHECK enum error file_upload_release(struct context *c, struct uuid id, struct uuid writer);
/* What `writer` has brought and made durable. */
struct file_upload_piece {
    struct uuid writer;
    int64_t size_bytes; /* to which the content has come */
    /* All of it is there: its hash, and the id that the content was sealed under. */
    bool is_whole;
    struct sha256 hash;
    struct uuid sealed_id;
};
/* Records it, and ends the lease. ERR_CONFLICT when that is another's by now. */
MUST_CHECK enum error file_upload_advance(
    struct context *c, struct file_upload *upload, const struct file_upload_piece *piece);
/* Makes it a version; the upload is over. */
MUST_CHECK enum error file_upload_complete(
    struct context *c, struct file_upload *upload, bool *out_created, struct file *out_file);
MUST_CHECK enum error file_upload_delete(struct context *c, struct uuid thread_id, struct uuid id);

struct expired_upload {
    struct uuid tenant_id;
    struct uuid id;
};
/* Of all tenants. */
MUST_CHECK enum error file_upload_list_expired(
    struct context *c, size_t limit, struct expired_upload *out_uploads, size_t *out_count);
/* Ends it, if it is still there and still expired. */
MUST_CHECK enum error file_upload_expire(struct context *c, struct uuid id);

#endif
