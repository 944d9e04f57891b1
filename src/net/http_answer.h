/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the head of an answer as strictly as that of a request (net/http.h): without sockets and
 * with no memory but the arena. */
#ifndef NET_HTTP_ANSWER_H
#define NET_HTTP_ANSWER_H

#include "net/http.h"

struct http_answer {
    int status;
    struct str reason;
    unsigned minor; /* HTTP/1.minor */
    struct http_header *headers;
    size_t n_headers;
    bool keep_alive;
    bool chunked;
    bool has_length; /* neither chunked nor a length: the body ends with the connection */
    uint64_t content_length;
};

/* HTTP_DONE: the head has `out_used` bytes. HTTP_REFUSED: `out_rule` is the reason. */
enum http_parsed http_answer_parse(struct arena *arena, struct str bytes, size_t max_bytes,
    struct http_answer *out_answer, size_t *out_used, const char **out_rule);
/* Returns the first header of this name (any case), or STR_NONE. */
struct str http_answer_header(const struct http_answer *answer, struct str name);

#endif
