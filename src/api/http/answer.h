/* SPDX-License-Identifier: Apache-2.0 */
/* Heads and problem documents of answers: the same over HTTP and in-process. */
#ifndef API_HTTP_ANSWER_H
#define API_HTTP_ANSWER_H

#include "api/http/call.h"

enum { ANSWER_MAX_HEADERS = CALL_MAX_HEADERS + 10 };

struct answer_head {
    struct http_header items[ANSWER_MAX_HEADERS];
    size_t count;
};

/* Ignores a value that is STR_NONE. */
void answer_head_add(struct answer_head *head, struct str name, struct str value);
/* The headers of every answer. */
void answer_head_add_common(struct answer_head *head, const struct call *call);
/* The headers that a finished call adds to them. */
void answer_head_add_call(struct answer_head *head, const struct call *call);

/* A problem document (RFC 9457). */
struct str answer_problem(
    struct arena *arena, const struct problem *problem, struct str request_id, int status);

/* The problem document and the headers for a request that is not valid HTTP. */
struct str answer_refusal(struct arena *arena, const struct http_refusal *refusal);
enum { ANSWER_REFUSAL_HEADERS = 2 };
extern const struct http_header answer_refusal_headers[ANSWER_REFUSAL_HEADERS];

#endif
