/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A blocking HTTP/1.1 client, plain or over TLS with verification of the server's certificate. One
 * request at a time on one connection, which is kept for the next request. Every wait ends by a
 * deadline or by the interrupt. Answers are parsed strictly and limited in size. For one thread;
 * raises no signal.
 */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include "net/http_answer.h"

struct http_client_config {
    struct str host; /* a name or an address, IPv6 without brackets */
    uint16_t port;
    bool tls;
    struct str ca_file; /* PEM; STR_NONE: the certificates that the system trusts */
    uint32_t connect_timeout_ms;
    uint32_t answer_timeout_ms; /* for the head, and between two parts of the body */
    size_t max_body_bytes;      /* of a body that http_client_ask reads whole */
    int interrupt_fd;           /* the call fails when it becomes readable; -1: none */
};
void http_client_config_init(struct http_client_config *config);

enum client_result {
    CLIENT_OK,
    CLIENT_UNREACHABLE, /* nothing was sent */
    CLIENT_LOST,      /* the connection failed or timed out after sending: the request may have been
                         carried out */
    CLIENT_MALFORMED, /* the answer violates HTTP, or exceeds a limit */
    CLIENT_TIMED_OUT, /* only http_client_read: nothing arrived in time */
    CLIENT_INTERRUPTED,
    CLIENT_CUT_OFF, /* the source of the body failed, or returned too few bytes */
};

/* A body that is produced while it is sent. */
struct client_source {
    bool has_size; /* else the body is sent in chunks */
    uint64_t size_bytes;
    /* Writes at most `room` bytes; 0 at the end. Returns false if the source fails. */
    bool (*read)(struct client_source *source, char *place, size_t room, size_t *out_size);
};

struct client_request {
    struct str method;
    struct str target;                 /* "/v1/threads?limit=5", encoded */
    const struct http_header *headers; /* without Host, Content-Length and Connection */
    size_t n_headers;
    struct str body;              /* STR_NONE: none */
    struct client_source *source; /* instead of `body`; or NULL */
};

struct http_client;

/* Returns NULL if the CA file cannot be used; `out_why` is in the arena. */
struct http_client *http_client_create(
    const struct http_client_config *config, struct arena *arena, struct str *out_why);
void http_client_destroy(struct http_client *c); /* accepts NULL */

/* Every call ends at this time of clock_steady_us() at the latest, except for the lookup of a name.
 * INT64_MAX, the default, means no deadline. */
void http_client_set_deadline(struct http_client *c, int64_t deadline_us);

/* Replaces answer_timeout_ms from now on, for requests on which the server works for long. */
void http_client_set_answer_timeout(struct http_client *c, uint32_t timeout_ms);

/* One whole exchange. Head and body are in the arena. */
MUST_CHECK enum client_result http_client_ask(struct http_client *c,
    const struct client_request *request, struct arena *arena, struct http_answer *out_answer,
    struct str *out_body);

/* The same in parts: the head, then runs of the body; an empty run is the end. A run is valid until
 * the next call. The body may have any size. */
MUST_CHECK enum client_result http_client_begin(struct http_client *c,
    const struct client_request *request, struct arena *arena, struct http_answer *out_answer);
MUST_CHECK enum client_result http_client_read(
    struct http_client *c, uint32_t timeout_ms, struct str *out_run);
/* Closes the connection, even in the middle of an exchange. */
void http_client_close(struct http_client *c);

/* Why the last call failed: "cannot connect to 127.0.0.1:7420: Connection refused". */
struct str http_client_why(const struct http_client *c);

#endif
