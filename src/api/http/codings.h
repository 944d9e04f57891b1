/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content codings of bodies and answers. A coded body is decoded by call_decode, within the limit
 * of its route. Uploads are stored as they are sent, so they have no coding.
 *
 * An answer is encoded (encoding.h) for clients that accept it. Other bytes need another strong
 * ETag, so the coding is a part of it: "7" becomes "7-gzip". Conditions accept each of them.
 */
#ifndef API_HTTP_CODINGS_H
#define API_HTTP_CODINGS_H

#include "api/http/answer.h"
#include "base/coding.h"

/* Returns true if the header Content-Encoding names a coding, known or not. */
bool codings_has_body(const struct http_request *request);
/* Decodes request.body. ERR_MEDIA_TYPE: the coding is not supported on this route. */
MUST_CHECK enum error codings_decode_body(struct call *call);
/* The value of Accept-Encoding in an answer with 415; STR_NONE if the coding is not the fault. */
struct str codings_accepted(const struct call *call);

/* The coding that the answer should have: the client's choice; CODING_NONE for an answer that is
 * small, has no text, or shows a secret. */
enum coding codings_of_answer(const struct call *call);
/* The bytes of the answer have this coding now. */
void codings_mark(struct call *call, enum coding coding);
/* Content-Encoding and Vary. */
void codings_add_headers(struct answer_head *head, const struct call *call);
/* Returns the ETag of an encoded answer; with CODING_NONE, the tag itself. */
struct str codings_tag(struct arena *arena, struct str tag, enum coding coding);
/* The inverse, without the quotes: 7-gzip becomes 7. */
struct str codings_bare_tag(struct str opaque);

#endif
