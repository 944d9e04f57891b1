/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking the server. Every request carries the key; every POST an Idempotency-Key, so that one
 * whose answer was lost is sent again without being done twice. What is read lies in the remote's
 * own memory until the next request.
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "cli/endpoint.h"
#include "net/client.h"

struct remote;

struct remote_request {
    const char *method;
    struct str path;              /* "/v1/threads?limit=5", encoded, without the URL's own path */
    struct str body;              /* JSON; STR_NONE: none */
    struct client_source *source; /* instead of it: bytes, which are sent once; NULL */
    const struct http_header *headers; /* more of them */
    size_t n_headers;
};

struct remote_answer {
    struct http_answer head;
    struct str body;
    bool has_json;
    struct json json; /* the body, when it is JSON */
};

/* EXIT_SUCCESS, or it has said what is wrong. */
int remote_open(struct cli *cli, struct remote **out_remote);
void remote_close(struct remote *r); /* accepts NULL */
void remote_closep(struct remote **r);
const struct endpoint *remote_endpoint(const struct remote *r);

/* Sends it, again a few times where that can do no harm, and says what went wrong. EXIT_SUCCESS:
 * the server answered below 400. */
int remote_ask(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
/* The same in two steps, for who has a use for refusals. */
enum client_result remote_send(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
int remote_judge(struct remote *r, enum client_result result, const struct remote_answer *answer);

/* The same with a `source`: never sent again. */
int remote_ask_once(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);

/* A stream: the head is judged already; then runs of its body, by http_client_read. */
enum client_result remote_begin(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
struct http_client *remote_client(struct remote *r);
/* Nothing is sent, waited for or tried again past this moment of clock_steady_us(). */
void remote_set_deadline(struct remote *r, int64_t deadline_us);
/* The server may work on what is asked next for an hour before it answers. */
void remote_be_patient(struct remote *r);
/* Waits, and returns early, with false, at Ctrl-C. */
bool remote_pause(struct remote *r, uint32_t ms);

/* Percent-encodes what is not unreserved. */
struct str remote_encode(struct arena *arena, struct str text);
/* The string at a pointer of a JSON value, or STR_NONE. */
struct str remote_string(struct arena *arena, struct json value, struct str pointer);

#endif
