/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 as bytes: strict parsing of a request's head, framing of its body, and the text of an
 * answer's head. No sockets, no memory but the arena, so that the fuzzer can drive it alone.
 * Strict means: one form of every line end, no folding, no control bytes, exactly one Host, a body
 * framed by exactly one of Content-Length and "chunked". What could be read in two ways is refused.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/arena.h"
#include "base/buf.h"

struct http_header {
    struct str name;  /* as sent */
    struct str value; /* without the blanks around it */
};

struct http_limits {
    size_t head_bytes;   /* request line and headers together */
    size_t target_bytes; /* of the request line */
    size_t headers;      /* how many */
    size_t body_bytes;   /* the largest that any route may ask for */
};

/* Of the server, unless it is told otherwise, and of requests that come without a socket. */
extern const struct http_limits http_default_limits;

/* What the memory of one request may come to: a share of its own, and a multiple of what its body
 * may take, for what is made of it. */
size_t http_arena_budget(size_t body_limit_bytes);

struct http_request {
    struct str method;
    struct str target;
    struct str path;  /* the target up to '?', still percent-encoded */
    struct str query; /* after '?', or STR_NONE */
    struct http_header *headers;
    size_t n_headers;
    struct str host;
    unsigned minor; /* HTTP/1.minor: 0 or 1 */
    bool keep_alive;
    bool expects_continue;
    bool chunked;
    bool has_length;
    uint64_t content_length;
};

/* The first header of that name (any case), or STR_NONE. */
struct str http_header(const struct http_request *r, struct str name);
/* How many headers have that name. */
size_t http_header_count(const struct http_request *r, struct str name);
/* Whether a comma-separated header lists the token (any case). */
bool http_header_lists(const struct http_request *r, struct str name, struct str token);

struct http_refusal {
    int status;       /* 400, 408, 413, 414, 417, 431, 501, 503 or 505 */
    const char *rule; /* "a header line must not be folded" */
};

enum http_parsed { HTTP_MORE, HTTP_DONE, HTTP_REFUSED };

/*
 * Looks for one whole head at the front of `bytes`. HTTP_DONE: `out_request` is filled (its strings
 * are copied into the arena) and `out_used` bytes belong to the head. HTTP_REFUSED: `out_refusal`.
 */
enum http_parsed http_head_parse(struct arena *arena, struct str bytes,
    const struct http_limits *limits, struct http_request *out_request, size_t *out_used,
    struct http_refusal *out_refusal);

/* The body's framing: a small machine that turns received bytes into runs of payload. */
struct http_body {
    bool chunked;
    uint64_t left; /* of the length, or of the current chunk */
    uint64_t seen; /* payload so far */
    uint64_t limit;
    unsigned state;
    size_t line_bytes;
};

void http_body_init(struct http_body *b, const struct http_request *r, uint64_t limit_bytes);
/*
 * Takes some of `bytes`: HTTP_MORE with a run of payload (maybe empty) in `out_run` and `out_used`
 * bytes taken; HTTP_DONE likewise when the body is complete; HTTP_REFUSED (413 over the limit).
 */
enum http_parsed http_body_feed(struct http_body *b, struct str bytes, struct str *out_run,
    size_t *out_used, struct http_refusal *out_refusal);

/* A value may stem from a client: a control byte in it becomes a blank, never a line end. */
void http_clean_value(char *value, size_t len);

/* Standard reason phrase, "" for an unknown status. */
const char *http_reason(int status);

/* Percent-decoding of one path segment or query part; '+' is a blank in queries. False: malformed,
 * a NUL, or not UTF-8. */
MUST_CHECK bool http_decode_percent(
    struct arena *arena, struct str encoded, bool query, struct str *out_decoded);

#endif
