/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a thread. A name is data, never a path: it identifies one file of its thread, and each
 * upload under the name creates the next version. Version numbers are never reused, even if the
 * file was deleted in between. Content is stored once per tenant, by its SHA-256; blob_doubts.h
 * describes how unreferenced content is removed. Each change appends an event to the thread in the
 * same transaction.
 */
#ifndef MODEL_FILES_FILES_H
#define MODEL_FILES_FILES_H

#include "base/hash.h"
#include "model/context.h"

enum {
    FILE_NAME_MAX_BYTES = 255,
    FILE_TYPE_MAX_BYTES = 255,
    FILE_METADATA_MAX_BYTES = 16 * 1024,
    FILE_COPY_MAX_VERSIONS = 10000, /* in a copy with history */
};

/* A file and its current version. */
struct file {
    struct uuid id;
    struct uuid thread_id;
    struct str name;
    int64_t version;
    int64_t size_bytes;
    struct str sha256; /* in hexadecimal */
    struct str content_type;
    struct str created_by; /* the principal; STR_NONE: a service, by its key */
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t revision; /* counts all changes, including those of the metadata */
};

struct file_version {
    int64_t version;
    int64_t size_bytes;
    struct str sha256; /* in hexadecimal */
    struct str content_type;
    struct str created_by;
    int64_t created_at;
    bool has_source; /* the version is a copy */
    struct uuid source_thread_id;
    struct str source_name;
    int64_t source_version;
    bool has_restored_from;
    int64_t restored_from;
    struct uuid blob_id;
    struct sha256 hash;
};

/* Returns whether the thread has a file with this name. */
MUST_CHECK enum error file_exists(
    struct context *c, struct uuid thread_id, struct str name, bool *out_exists);
/* Reports a fault at `pointer` if the name is not valid. */
MUST_CHECK enum error file_check_name(struct context *c, struct str name, struct str pointer);
/* Returns true for a text with the form of a media type. */
bool file_type_is_valid(struct str type);
/* Reports a fault at `pointer` if the type does not have the form of a media type. */
MUST_CHECK enum error file_check_type(struct context *c, struct str type, struct str pointer);

MUST_CHECK enum error file_get(
    struct context *c, struct uuid thread_id, struct str name, struct file *out_file);
/* Version 0 is the current version. */
MUST_CHECK enum error file_get_version(struct context *c, struct uuid thread_id, struct str name,
    int64_t version, struct file_version *out_version);

struct file_filter {
    struct uuid thread_id;
    struct str prefix; /* of the names; STR_NONE: all files */
    struct str after;  /* the last name of the page before; STR_NONE: the first page */
};
/* In bytewise order of the names. */
MUST_CHECK enum error file_list(
    struct context *c, const struct file_filter *filter, struct page *page, struct file *out_files);
/* Newest first. `before` 0 begins with the newest. */
MUST_CHECK enum error file_list_versions(struct context *c, struct uuid thread_id, struct str name,
    int64_t before, struct page *page, struct file_version *out_versions);

/* The next version of a file. Its content already is in `blobs`. */
struct file_put {
    struct uuid thread_id;
    struct str name;
    struct sha256 sha256;
    int64_t size_bytes;
    struct str content_type;
    bool is_upload;   /* faults name members of the upload instead of headers */
    bool must_be_new; /* If-None-Match: * */
    bool must_exist;  /* If-Match: * */
};
/* Checks If-Match against the current version. */
MUST_CHECK enum error file_put(
    struct context *c, const struct file_put *put, bool *out_created, struct file *out_file);
/* Returns the error that file_put would return for the state of the file, before there is content
 * to adopt. */
MUST_CHECK enum error file_check_put(struct context *c, const struct file_put *put);
/* Adds the content of this version as the next version. */
MUST_CHECK enum error file_restore(struct context *c, struct uuid thread_id, struct str name,
    int64_t version, struct file *out_file);
MUST_CHECK enum error file_set_metadata(
    struct context *c, const struct file *before, struct str metadata, struct file *out_file);
MUST_CHECK enum error file_delete(struct context *c, struct uuid thread_id, struct str name);
/* The newest remaining version becomes the current one. Deletes the file with its last version. */
MUST_CHECK enum error file_delete_version(
    struct context *c, struct uuid thread_id, struct str name, int64_t version);

/* Deletes so many versions of a file whose thread is being deleted, then the file. */
MUST_CHECK enum error file_discard_some(struct context *c, struct uuid file_id, int64_t limit);

struct file_copy {
    struct uuid from_thread_id;
    struct str from_name;
    int64_t version; /* 0: the current version */
    struct uuid to_thread_id;
    struct str to_name;
    bool with_history; /* all versions up to that one, with their authors and times */
    bool may_exist;    /* adds versions to an existing file of this name */
};
MUST_CHECK enum error file_copy(
    struct context *c, const struct file_copy *copy, bool *out_created, struct file *out_file);

#endif
