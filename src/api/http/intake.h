/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of an upload (ROUTE_UPLOAD), in this order:
 *
 *   1. a READ job authenticates the client, checks its permission, and calls `admit` of the route;
 *   2. the body is written as content under a new id, with back-pressure, and synced;
 *   3. a WRITE job: `handle` finds the content in call->upload and may adopt it (blob_adopt);
 *   4. content that was not adopted is removed, and then the answer is sent.
 *
 * If the client leaves before the body is complete, or if a step fails, the content is removed. A
 * crash leaves content without a row, which the next start removes. If the outcome of the commit is
 * unknown, the content stays; the sweep removes it if it has no row.
 */
#ifndef API_HTTP_INTAKE_H
#define API_HTTP_INTAKE_H

#include "model/files/blobs.h"

/* The largest body, unless the route or the configuration sets another limit. */
#define UPLOAD_MAX_BYTES (UINT64_C(5) << 30)

enum { INTAKE_HEAD_BYTES = 512, INTAKE_REFUSAL_BYTES = 160, INTAKE_EXTENSION_BYTES = 64 };

struct call;

struct intake {
    /* `admit` may set these to continue the content of an upload of several requests at `offset`.
     * Received bytes are then kept even if the client leaves early: `handle` still runs, with
     * is_partial, and records the new offset. The content is never removed. */
    bool is_resumed;
    struct uuid upload_id;
    struct uuid id; /* of the content */
    uint64_t offset;
    uint64_t max_bytes;   /* lower than the limit of the route; 0: that limit */
    uint64_t whole_bytes; /* at this size the whole content is hashed */

    /* For `handle`: the received bytes. */
    uint64_t received_bytes;
    uint64_t size_bytes;  /* with the bytes of earlier requests */
    struct sha256 sha256; /* of the bytes of this request */
    bool is_partial;
    bool has_whole; /* whole_bytes have arrived, and `whole` is their hash */
    struct sha256 whole;
    struct uuid writer;    /* of the lease, model/files/file_uploads.h; nil: there is no lease */
    struct uuid sealed_id; /* of the whole content */
    int64_t renewed_us;
    char refusal[INTAKE_REFUSAL_BYTES];     /* why the content was not written; "": unknown */
    char extension[INTAKE_EXTENSION_BYTES]; /* of that problem */
    struct str head;                        /* the first bytes, at most INTAKE_HEAD_BYTES */
    char head_bytes[INTAKE_HEAD_BYTES];

    /* From the headers Content-Digest and Repr-Digest (RFC 9530). */
    bool has_digest;
    struct sha256 digest;
};

/* Returns the blob to adopt. */
struct blob intake_blob(const struct intake *upload);

/* --- For the code that receives the bytes: the front and the library ------------------------ */

MUST_CHECK enum error intake_read_digest(struct call *call);
/* Returns the largest number of bytes that the body may have. */
uint64_t intake_limit(const struct call *call);
/* Returns the error for a body above that limit. */
enum error intake_refuse_large(struct call *call);
/* Opens the content for writing. */
MUST_CHECK enum error intake_open(struct call *call, struct content_writer **out_writer);
/* Writes the next bytes. */
MUST_CHECK enum error intake_write(
    struct call *call, struct content_writer *writer, struct str bytes);
/* Makes the complete content durable. */
MUST_CHECK enum error intake_sync(
    struct call *call, struct content_writer *writer, struct content_info *out_info);
/* Returns true if the next step reads more than the last piece: all received bytes, or parts of
 * them. */
bool intake_is_long(const struct call *call, bool is_final);
/* Runs the route's `prepare` on the synced content, on the thread that wrote it. */
MUST_CHECK enum error intake_prepare(struct call *call, const struct content_info *info);
/* Completes call->upload from the synced content: the call may be submitted. Returns ERR_INVALID if
 * the content does not match the headers. */
MUST_CHECK enum error intake_complete(
    struct call *call, const struct content_info *info, bool is_partial);
/* Adds the reason of a failure, if it is known, to the problem; on the thread that answers the
 * call. */
void intake_explain(struct call *call, enum error e);
/* After the call, on the thread that wrote the content: keeps or removes it. */
void intake_end(struct call *call, struct content_writer *writer);

#endif
