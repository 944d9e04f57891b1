/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes that a call answers: content or a spooled file of any size, read piece by piece while
 * it is sent. Conditions and ranges (RFC 9110) are evaluated here; the sender asks for the pieces.
 *
 * Content that is read whole is compared with its SHA-256. The last piece is returned only if the
 * hash is right, so a client never receives damaged content completely. A partial read cannot be
 * checked.
 */
#ifndef API_HTTP_DOWNLOAD_H
#define API_HTTP_DOWNLOAD_H

#include "model/files/blobs.h"

struct call;

struct download {
    bool is_wanted;
    struct uuid tenant_id;
    struct uuid id;
    struct content_reader *spool; /* instead of content; NULL: none */
    uint64_t size_bytes;
    bool has_sha256;
    struct sha256 sha256;
    /* Completes a spooled file before its first piece is read, on a thread that may read content.
     * `drop_fill` frees `fill_data`. NULL: the file is complete. */
    enum error (*fill)(void *data, struct store *store, struct uuid tenant_id);
    void (*drop_fill)(void *data);
    void *fill_data;
    uint64_t first; /* the requested range */
    uint64_t count;
};

/* The bytes as the head of the answer describes them. */
struct download_facts {
    struct str content_type;
    struct str file_name;     /* STR_NONE: none */
    struct str etag;          /* strong, with its quotes; STR_NONE: none */
    int64_t last_modified_us; /* 0: none */
};

/* --- For handlers --------------------------------------------------------------------------- */

/* Marks bytes that a client has stored: a browser must save them, as `file_name` unless it is
 * STR_NONE, and must not display or execute them. */
void call_mark_foreign(struct call *call, struct str file_name);

/* Answers content: 200, 206, 304, or an error with 412 or 416. */
MUST_CHECK enum error call_answer_blob(
    struct call *call, const struct blob *blob, const struct download_facts *facts);
/* Answers an unnamed file (content_spool) and takes over its descriptor. */
MUST_CHECK enum error call_answer_spool(
    struct call *call, int fd, uint64_t size_bytes, const struct download_facts *facts);

/* --- For the code that sends the bytes ------------------------------------------------------ */

void download_init(struct download *d);
/* Discards the download and closes the spooled file. */
void download_drop(struct download *d);

/* Reads the requested range in order. The reader has copies of all it needs; it may be used on any
 * thread except those of loops and of the store. */
struct download_reader {
    struct store *store;
    struct download what;
    struct content_reader *content;
    struct sha256_state *hash; /* of content that is read whole */
    uint64_t at;
};
/* Takes the download over from the call. */
void download_reader_init(struct download_reader *r, struct call *call);
/* Reads the next piece, of at most CONTENT_PIECE_BYTES; 0 bytes at the end. Returns ERR_DAMAGED,
 * and counts it, if the content is not as it was stored. */
MUST_CHECK enum error download_read(struct download_reader *r, char *place, size_t *out_size);
bool download_is_over(const struct download_reader *r);
void download_reader_deinit(struct download_reader *r);

#endif
