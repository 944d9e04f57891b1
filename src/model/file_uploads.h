/*
 * Resumable uploads: a file that comes in several requests. What has arrived stands as content
 * under the upload's id, and counts up to `offset_bytes`; bytes behind that were never acknowledged
 * and are cut off by whoever goes on. With the last byte the whole is hashed; to complete the
 * upload makes it the next version of its file. One that nobody goes on with expires.
 */
#ifndef MODEL_FILE_UPLOADS_H
#define MODEL_FILE_UPLOADS_H

#include "model/files.h"

enum {
    FILE_UPLOADS_MAX = 100, /* under way in one thread */
    FILE_UPLOAD_LIFE_S = 24 * 3600,
};
/* What one file may come to. */
#define FILE_UPLOAD_MAX_BYTES (INT64_C(1) << 40)

struct file_upload {
    struct uuid id;
    struct uuid thread_id;
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
};

/* Creates the one that `upload` describes, and fills in the rest of it. */
MUST_CHECK enum error file_upload_create(struct context *c, struct file_upload *upload);
MUST_CHECK enum error file_upload_get(
    struct context *c, struct uuid thread_id, struct uuid id, struct file_upload *out_upload);
/* Newest first. */
MUST_CHECK enum error file_upload_list(struct context *c, struct uuid thread_id, bool has_before,
    struct uuid before, size_t limit, struct file_upload *out_uploads, size_t *out_count,
    bool *out_more);

/* ERR_CONFLICT, which tells the right one, unless the upload goes on from this offset. */
MUST_CHECK enum error file_upload_check_offset(
    struct context *c, const struct file_upload *upload, int64_t offset);
/* The content has come to `size_bytes`, and that is on the disk; `hash` is that of the whole when
 * all of it is there, else NULL. */
MUST_CHECK enum error file_upload_advance(
    struct context *c, struct file_upload *upload, int64_t size_bytes, const struct sha256 *hash);
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
