/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a thread. A name is data, never a path: it stands for one file of its thread, and each
 * upload under it makes the next version. Numbers of versions are never given twice, not even when
 * the file was deleted in between. Content is stored once a tenant, by its SHA-256; what nothing
 * refers to any more is left to blob_doubts.h. Each change is told by an event of the thread, in
 * the same transaction.
 */
#ifndef MODEL_FILES_FILES_H
#define MODEL_FILES_FILES_H

#include "base/hash.h"
#include "model/context.h"

enum {
    FILE_NAME_MAX_BYTES = 255,
    FILE_TYPE_MAX_BYTES = 255,
    FILE_METADATA_MAX_BYTES = 16 * 1024,
    FILE_COPY_MAX_VERSIONS = 10000, /* of a copy with history */
};

/* A file, with what is told of its current version. */
struct file {
    struct uuid id;
    struct uuid thread_id;
    struct str name;
    int64_t version;
    int64_t size_bytes;
    struct str sha256; /* in hexadecimal */
    struct str content_type;
    struct str created_by; /* the principal; STR_NONE: the service that holds the key */
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t revision; /* counts every change, also of the metadata */
};

struct file_version {
    int64_t version;
    int64_t size_bytes;
    struct str sha256; /* in hexadecimal */
    struct str content_type;
    struct str created_by;
    int64_t created_at;
    bool has_source; /* it was copied */
    struct uuid source_thread_id;
    struct str source_name;
    int64_t source_version;
    bool has_restored_from;
    int64_t restored_from;
    struct uuid blob_id;
    struct sha256 hash;
};

/* Whether the thread has a file of this name. */
MUST_CHECK enum error file_exists(
    struct context *c, struct uuid thread_id, struct str name, bool *out_exists);
/* A fault at `pointer` unless it may be a name. */
MUST_CHECK enum error file_check_name(struct context *c, struct str name, struct str pointer);
/* A fault at `pointer` unless it has the form of a media type. */
MUST_CHECK enum error file_check_type(struct context *c, struct str type, struct str pointer);

MUST_CHECK enum error file_get(
    struct context *c, struct uuid thread_id, struct str name, struct file *out_file);
/* Version 0 is the current one. */
MUST_CHECK enum error file_get_version(struct context *c, struct uuid thread_id, struct str name,
    int64_t version, struct file_version *out_version);

struct file_filter {
    struct uuid thread_id;
    struct str prefix; /* of the name; STR_NONE: any */
    struct str after;  /* the last name of the page before; STR_NONE: from the first */
};
/* In the order of the bytes of their names. */
MUST_CHECK enum error file_list(
    struct context *c, const struct file_filter *filter, struct page *page, struct file *out_files);
/* Newest first; `before` 0: from the newest. */
MUST_CHECK enum error file_list_versions(struct context *c, struct uuid thread_id, struct str name,
    int64_t before, struct page *page, struct file_version *out_versions);

/* What becomes the next version of a file; its content is in `blobs` already. */
struct file_put {
    struct uuid thread_id;
    struct str name;
    struct sha256 sha256;
    int64_t size_bytes;
    struct str content_type;
    bool is_upload;   /* what is wrong is said of the upload's members, not of headers */
    bool must_be_new; /* If-None-Match: * */
    bool must_exist;  /* If-Match: * */
};
/* Checks If-Match against the current version. */
MUST_CHECK enum error file_put(
    struct context *c, const struct file_put *put, bool *out_created, struct file *out_file);
/* What file_put would refuse for the file's state, before there is any content to adopt. */
MUST_CHECK enum error file_check_put(struct context *c, const struct file_put *put);
/* The content of that version becomes the next one. */
MUST_CHECK enum error file_restore(struct context *c, struct uuid thread_id, struct str name,
    int64_t version, struct file *out_file);
MUST_CHECK enum error file_set_metadata(
    struct context *c, const struct file *before, struct str metadata, struct file *out_file);
MUST_CHECK enum error file_delete(struct context *c, struct uuid thread_id, struct str name);
/* The newest that is left becomes the current one; without any the file goes. */
MUST_CHECK enum error file_delete_version(
    struct context *c, struct uuid thread_id, struct str name, int64_t version);

/* All of a tenant that is being deleted. */
MUST_CHECK enum error file_delete_all(struct context *c, struct uuid tenant_id);

struct file_copy {
    struct uuid from_thread_id;
    struct str from_name;
    int64_t version; /* 0: the current one */
    struct uuid to_thread_id;
    struct str to_name;
    bool with_history; /* all versions up to that one, their authors and times kept */
    bool may_exist;    /* then it adds versions to the file that is there */
};
MUST_CHECK enum error file_copy(
    struct context *c, const struct file_copy *copy, bool *out_created, struct file *out_file);

#endif
