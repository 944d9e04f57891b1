/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 as bytes: strict parsing of the head of a request, framing of its body, and reason
 * phrases. Without sockets and with no memory but the arena, so that a fuzzer can run it alone.
 * Strict means: one form of line end, no folding, no control bytes, exactly one Host (HTTP/1.0:
 * at most one), and a body framed by exactly one of Content-Length and "chunked". Ambiguous input
 * is rejected.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include "base/arena.h"
#include "base/buf.h"

struct http_header {
    struct str name;  /* as sent */
    struct str value; /* without surrounding blanks */
};

struct http_limits {
    size_t head_bytes;   /* request line and headers together */
    size_t target_bytes; /* of the request line */
    size_t headers;      /* the number of headers */
    size_t body_bytes;   /* the largest limit that a route may set */
};

/* The defaults of the server, and the limits of requests that do not use a socket. */
extern const struct http_limits http_default_limits;

/* The memory limit of one request: a fixed part, and a multiple of the body limit for the decoded
 * forms of the body. */
size_t http_arena_budget(size_t body_limit_bytes);

struct http_request {
    struct str method;
    struct str target; /* in origin form: of an absolute URL only the path and the query */
    struct str path;   /* the target up to '?', still percent-encoded */
    struct str query;  /* after '?', or STR_NONE */
    struct http_header *headers;
    size_t n_headers;
    struct str host; /* of an absolute target, else of Host; STR_NONE: an HTTP/1.0 without it */
    unsigned minor;  /* HTTP/1.minor: 0 or 1 */
    bool keep_alive;
    bool expects_continue;
    bool chunked;
    bool has_length;
    uint64_t content_length;
};

/* Returns the first header of this name (any case), or STR_NONE. */
struct str http_header(const struct http_request *r, struct str name);
/* Returns the number of headers of this name. */
size_t http_header_count(const struct http_request *r, struct str name);
/* Returns true if the comma-separated header contains the token (any case). */
bool http_header_lists(const struct http_request *r, struct str name, struct str token);

struct http_refusal {
    int status;       /* 400, 408, 413, 414, 417, 429, 431, 501, 503 or 505 */
    const char *rule; /* "a header line must not be folded" */
};

enum http_parsed { HTTP_MORE, HTTP_DONE, HTTP_REFUSED };

/*
 * Parses one complete head at the front of `bytes`. HTTP_DONE: `out_request` is set, its strings
 * are copied into the arena, and the head has `out_used` bytes. HTTP_REFUSED: `out_refusal` is set.
 */
enum http_parsed http_head_parse(struct arena *arena, struct str bytes,
    const struct http_limits *limits, struct http_request *out_request, size_t *out_used,
    struct http_refusal *out_refusal);

/* Reads the first well-formed headers of a head that was refused or is not complete. Only the
 * headers and the host of the request are set; the strings are copied into the arena. */
void http_head_salvage(struct arena *arena, struct str bytes, const struct http_limits *limits,
    struct http_request *out_request);

/* The framing of a body: a state machine that turns received bytes into runs of payload. */
struct http_body {
    bool chunked;
    uint64_t left; /* in the body, or in the current chunk */
    uint64_t seen; /* payload so far */
    uint64_t limit;
    unsigned state;
    size_t line_bytes;
    uint64_t extension_bytes; /* of all chunks so far */
};

void http_body_init(struct http_body *b, const struct http_request *r, uint64_t limit_bytes);
/*
 * Consumes `out_used` bytes. HTTP_MORE: `out_run` is a run of payload, which may be empty.
 * HTTP_DONE: the same, and the body is complete. HTTP_REFUSED: `out_refusal` is set; 413 if the
 * limit is exceeded.
 */
enum http_parsed http_body_feed(struct http_body *b, struct str bytes, struct str *out_run,
    size_t *out_used, struct http_refusal *out_refusal);

/* Replaces control bytes by blanks: a value that contains bytes from a client must not end the
 * line. */
void http_clean_value(char *value, size_t len);

/* Returns the standard reason phrase, or "" for an unknown status. */
const char *http_reason(int status);

/* Decodes the percent-encoding of one path segment or query part; '+' is a blank in queries.
 * Returns false if the text is malformed, contains NUL or is not UTF-8. */
MUST_CHECK bool http_decode_percent(
    struct arena *arena, struct str encoded, bool query, struct str *out_decoded);
/* The inverse, for a path segment or a query part. */
struct str http_encode_percent(struct arena *arena, struct str text);

#endif
