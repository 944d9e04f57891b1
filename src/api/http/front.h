/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API over HTTP: receives exchanges from the listener, turns them into calls, and answers them
 * on their loop. Checks Host and Origin, answers CORS preflights, runs long polls, starts streams.
 */
#ifndef API_HTTP_FRONT_H
#define API_HTTP_FRONT_H

#include "api/http/call.h"
#include "net/server.h"

struct front_config {
    struct api *api;
    /* Allowed names in the Host header, with any port; none: every name. */
    const struct str *hosts;
    size_t n_hosts;
    /* Allowed origins of browser pages besides the server's own: "https://app.example". */
    const struct str *origins;
    size_t n_origins;
};

struct front;

struct front *front_create(const struct front_config *config);
/* The application for the listener. */
struct http_app front_app(struct front *f);
/* Call when the listener exists, before it starts. */
void front_attach(struct front *f, struct http_server *server);
/* Any thread: the number of open streams and long polls. */
size_t front_subscribers(const struct front *f);
/* Any thread but a loop's: answers the long polls and ends the streams. Before http_server_drain.
 * */
void front_drain(struct front *f);
/* Any thread but a loop's: after the drain, before http_server_destroy. */
void front_detach(struct front *f);
void front_destroy(struct front *f);

#endif
