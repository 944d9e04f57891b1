/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that a call answers: content or a spooled file, of any size, read piece by piece while they
 * are sent. Conditions and ranges (RFC 9110) are judged here; who sends asks for the pieces.
 *
 * What is read whole is compared with its SHA-256 on the way. The last piece is given only when the
 * two agree, so nobody takes damaged content for whole; a part of it cannot be judged.
 */
#ifndef API_HTTP_DOWNLOAD_H
#define API_HTTP_DOWNLOAD_H

#include "model/files/blobs.h"

struct call;

struct download {
    bool is_wanted;
    struct uuid tenant_id;
    struct uuid id;
    bool has_spool; /* instead of content */
    int spool_fd;
    uint64_t size_bytes;
    bool has_sha256;
    struct sha256 sha256;
    /* Of a spooled file that is not complete yet: what completes it, before the first of it is read
     * and where content may be read. With its data, which `drop_fill` frees; NULL: none. */
    enum error (*fill)(void *data, struct store *store, struct uuid tenant_id);
    void (*drop_fill)(void *data);
    void *fill_data;
    uint64_t first; /* what is asked for of it */
    uint64_t count;
};

/* What the head of the answer says of the bytes. */
struct download_facts {
    struct str content_type;
    struct str file_name;     /* STR_NONE: none */
    struct str etag;          /* strong, with its quotes; STR_NONE */
    int64_t last_modified_us; /* 0: none */
};

/* --- For handlers --------------------------------------------------------------------------- */

/* What clients stored is no page of this origin: browsers save it, under this name unless it is
 * STR_NONE, and run nothing in it. */
void call_mark_foreign(struct call *call, struct str file_name);

/* Answers content: 200, 206, 304, or the error of 412 and 416. */
MUST_CHECK enum error call_answer_blob(
    struct call *call, const struct blob *blob, const struct download_facts *facts);
/* Answers a file that only its descriptor knows (content_spool); takes it over. */
MUST_CHECK enum error call_answer_spool(
    struct call *call, int fd, uint64_t size_bytes, const struct download_facts *facts);

/* --- For who carries the bytes -------------------------------------------------------------- */

void download_init(struct download *d);
/* Nothing is answered so; closes the spooled file. */
void download_drop(struct download *d);

/* Reads what is wanted, in order. It has a copy of all it needs; on any thread but a loop's or a
 * store's. */
struct download_reader {
    struct store *store;
    struct download what;
    struct content_reader *content;
    struct sha256_state *hash; /* of what is read whole */
    uint64_t at;
};
/* Takes the download over from the call. */
void download_reader_init(struct download_reader *r, struct call *call);
/* The next piece, of at most CONTENT_PIECE_BYTES; 0 bytes at the end. ERR_DAMAGED, also counted,
 * when it is not what was stored. */
MUST_CHECK enum error download_read(struct download_reader *r, char *place, size_t *out_size);
bool download_is_over(const struct download_reader *r);
void download_reader_deinit(struct download_reader *r);

#endif
