/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that come with a call (ROUTE_UPLOAD). They are judged, streamed and made durable in this
 * order:
 *
 *   1. a READ job: who asks, whether they may, and `admit` of the route;
 *   2. the body is written as content under a new id, with back-pressure, and synced;
 *   3. a WRITE job: `handle` finds it in call->upload and adopts it (blob_adopt), or not;
 *   4. what was not adopted is removed, and then the answer goes out.
 *
 * When the client leaves before the body is complete, or anything fails, the content is removed. A
 * crash leaves content that no row knows, which goes at the next start. When the outcome of the
 * commit is unknown, so is whether the content is adopted: it stays, and is swept as well.
 */
#ifndef API_HTTP_INTAKE_H
#define API_HTTP_INTAKE_H

#include "model/files/blobs.h"

/* The largest body, unless the route or the configuration says otherwise. */
#define UPLOAD_MAX_BYTES (UINT64_C(5) << 30)

enum { INTAKE_HEAD_BYTES = 512, INTAKE_REFUSAL_BYTES = 160, INTAKE_EXTENSION_BYTES = 64 };

struct call;

struct intake {
    /* `admit` may set these: it goes on with content that an upload of several requests has begun,
     * after so many bytes of it. What has come is kept also when the client leaves midway: `handle`
     * runs all the same, with is_partial, and records how far it is. Nothing is ever removed. */
    bool is_resumed;
    struct uuid upload_id;
    struct uuid id; /* of the content */
    uint64_t offset;
    uint64_t max_bytes;   /* fewer than the route takes; 0: as many */
    uint64_t whole_bytes; /* once it has come to so many, all of it is hashed */

    /* For `handle`: what came. */
    uint64_t received_bytes;
    uint64_t size_bytes;  /* with what was there before */
    struct sha256 sha256; /* of what came with this request */
    bool is_partial;
    bool has_whole; /* whole_bytes are there, and this is their hash */
    struct sha256 whole;
    struct uuid writer;    /* of the lease, model/files/file_uploads.h; nil: none was taken */
    struct uuid sealed_id; /* of the whole */
    int64_t renewed_us;
    char refusal[INTAKE_REFUSAL_BYTES];     /* why the content was not written; "": nobody said */
    char extension[INTAKE_EXTENSION_BYTES]; /* of that problem */
    struct str head;                        /* its first bytes, at most INTAKE_HEAD_BYTES */
    char head_bytes[INTAKE_HEAD_BYTES];

    /* From the headers Content-Digest and Repr-Digest (RFC 9530). */
    bool has_digest;
    struct sha256 digest;
};

/* The blob to adopt. */
struct blob intake_blob(const struct intake *upload);

/* --- For who carries the bytes: the front, and the library ---------------------------------- */

MUST_CHECK enum error intake_read_digest(struct call *call);
/* How many bytes may come. */
uint64_t intake_limit(const struct call *call);
/* The body is larger than that: the error to refuse it with. */
enum error intake_refuse_large(struct call *call);
/* Opens what the bytes go into. */
MUST_CHECK enum error intake_open(struct call *call, struct content_writer **out_writer);
/* Writes the next of them. */
MUST_CHECK enum error intake_write(
    struct call *call, struct content_writer *writer, struct str bytes);
/* All has come: makes it durable. */
MUST_CHECK enum error intake_sync(
    struct call *call, struct content_writer *writer, struct content_info *out_info);
/* All has come and is synced: what the route does with it before its job. Where it was written. */
/* Whether what comes next reads more than the last piece: all that was sent, or its parts. */
bool intake_is_long(const struct call *call, bool is_final);
MUST_CHECK enum error intake_prepare(struct call *call, const struct content_info *info);
/* All has come and is synced: the call may be submitted. ERR_INVALID when it is not what the
 * headers promised. */
MUST_CHECK enum error intake_complete(
    struct call *call, const struct content_info *info, bool is_partial);
/* None of that went well: tells why, as far as is known. Where the call is answered. */
void intake_explain(struct call *call, enum error e);
/* After the call, where it was written: keeps the content, or removes it. */
void intake_end(struct call *call, struct content_writer *writer);

#endif
