/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to the server. Every request has the API key; every POST has an Idempotency-Key, so that
 * it can be repeated after a lost answer without a second effect. Answers are in the remote's own
 * memory until the next request.
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
    struct client_source *source; /* bytes instead of a body, which are sent once; NULL */
    const struct http_header *headers; /* further headers */
    size_t n_headers;
};

struct remote_answer {
    struct http_answer head;
    struct str body;
    bool has_json;
    struct json json; /* the body, if it is JSON */
};

/* Returns EXIT_SUCCESS, or reports the error. */
int remote_open(struct cli *cli, struct remote **out_remote);
void remote_close(struct remote *r); /* accepts NULL */
void remote_closep(struct remote **r);
const struct endpoint *remote_endpoint(const struct remote *r);

/* Sends a request, repeats it a few times if that is safe, and reports errors. Returns EXIT_SUCCESS
 * if the status is below 400. */
int remote_ask(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
/* The same in two steps, for commands that handle errors themselves. */
enum client_result remote_send(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
int remote_judge(struct remote *r, enum client_result result, const struct remote_answer *answer);

/* The same with a `source`; the request is never repeated. */
int remote_ask_once(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);

/* Begins a request whose body is read piece by piece with http_client_read. */
enum client_result remote_begin(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer);
struct http_client *remote_client(struct remote *r);
/* Nothing is sent, awaited or repeated after this moment of clock_steady_us(). */
void remote_set_deadline(struct remote *r, int64_t deadline_us);
/* Waits up to an hour for the next answer. */
void remote_be_patient(struct remote *r);
/* Waits. Returns false, early, at Ctrl-C. */
bool remote_pause(struct remote *r, uint32_t ms);

/* Percent-encodes all bytes that are not unreserved. */
struct str remote_encode(struct arena *arena, struct str text);
/* Returns the string at a pointer of a JSON value, or STR_NONE. */
struct str remote_string(struct arena *arena, struct json value, struct str pointer);

#endif
