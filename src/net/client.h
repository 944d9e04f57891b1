/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A blocking HTTP/1.1 client, plain or over TLS with the server's certificate verified. One request
 * at a time on one connection, which is kept for the next. Every wait has an end: a deadline, or
 * the interrupt. Answers are read strictly and up to limits. For one thread; raises no signal.
 */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include "net/http_answer.h"

struct http_client_config {
    struct str host; /* a name or an address, IPv6 without brackets */
    uint16_t port;
    bool tls;
    struct str ca_file; /* PEM; STR_NONE: what the system trusts */
    uint32_t connect_timeout_ms;
    uint32_t answer_timeout_ms; /* for the head, and between two pieces of the body */
    size_t max_body_bytes;      /* of a body that http_client_ask takes whole */
    int interrupt_fd;           /* readable: give up; -1: none */
};
void http_client_config_init(struct http_client_config *config);

enum client_result {
    CLIENT_OK,
    CLIENT_UNREACHABLE, /* nothing was sent */
    CLIENT_LOST,        /* the connection broke or timed out after that: it may have been done */
    CLIENT_MALFORMED,   /* the answer breaks the rules of HTTP, or a limit */
    CLIENT_TIMED_OUT,   /* of http_client_read alone: nothing came in time */
    CLIENT_INTERRUPTED,
    CLIENT_CUT_OFF, /* the source of the body could not go on, or gave too little */
};

/* A body that is made while it is sent. */
struct client_source {
    bool has_size; /* else it goes in chunks */
    uint64_t size_bytes;
    /* Fills in at most `room` bytes; 0 at the end. False: it cannot go on. */
    bool (*read)(struct client_source *source, char *place, size_t room, size_t *out_size);
};

struct client_request {
    struct str method;
    struct str target;                 /* "/v1/threads?limit=5", encoded */
    const struct http_header *headers; /* but Host, Content-Length and Connection */
    size_t n_headers;
    struct str body;              /* STR_NONE: none */
    struct client_source *source; /* instead of `body`; NULL */
};

struct http_client;

/* NULL: the CA file cannot be used; `out_why` lies in the arena. */
struct http_client *http_client_create(
    const struct http_client_config *config, struct arena *arena, struct str *out_why);
void http_client_destroy(struct http_client *c); /* accepts NULL */

/* No call goes on past this moment of clock_steady_us(), whatever else it may take; INT64_MAX, as
 * at first: none. The lookup of a name alone may outlast it. */
void http_client_set_deadline(struct http_client *c, int64_t deadline_us);

/* Another answer_timeout_ms from here on: for what the server works on for long. */
void http_client_set_answer_timeout(struct http_client *c, uint32_t timeout_ms);

/* One whole exchange. Head and body lie in the arena. */
MUST_CHECK enum client_result http_client_ask(struct http_client *c,
    const struct client_request *request, struct arena *arena, struct http_answer *out_answer,
    struct str *out_body);

/* The same in pieces: the head, then runs of the body, of which an empty one is the end. A run is
 * valid until the next call; together they may be of any size. */
MUST_CHECK enum client_result http_client_begin(struct http_client *c,
    const struct client_request *request, struct arena *arena, struct http_answer *out_answer);
MUST_CHECK enum client_result http_client_read(
    struct http_client *c, uint32_t timeout_ms, struct str *out_run);
/* Ends the connection, whatever is on it. */
void http_client_close(struct http_client *c);

/* Why the last call failed: "cannot connect to 127.0.0.1:7420: Connection refused". */
struct str http_client_why(const struct http_client *c);

#endif
