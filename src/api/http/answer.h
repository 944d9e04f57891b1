/* SPDX-License-Identifier: Apache-2.0 */
/* The head of an answer: what is the same over HTTP and in-process. */
#ifndef API_HTTP_ANSWER_H
#define API_HTTP_ANSWER_H

#include "api/http/call.h"

enum { ANSWER_MAX_HEADERS = CALL_MAX_HEADERS + 10 };

struct header_list {
    struct http_header items[ANSWER_MAX_HEADERS];
    size_t count;
};

/* Does nothing when the value is none. */
void header_add(struct header_list *list, struct str name, struct str value);
/* What every answer carries, and what a finished call adds to it. */
void header_add_common(struct header_list *list, const struct call *call);
void header_add_of_call(struct header_list *list, const struct call *call);

/* The problem document of a request that is not even one of HTTP, and its headers. */
struct str refusal_document(struct arena *arena, const struct http_refusal *refusal);
enum { REFUSAL_HEADER_COUNT = 2 };
extern const struct http_header refusal_headers[REFUSAL_HEADER_COUNT];

#endif
