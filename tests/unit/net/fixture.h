/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server for the tests, with a small application of a few routes (fixture_routes.c). Counters are
 * atomic, because the tests look at them from their own thread.
 */
#ifndef TESTS_UNIT_NET_FIXTURE_H
#define TESTS_UNIT_NET_FIXTURE_H

#include <stdatomic.h>

#include "client.h"
#include "net/server.h"
#include "test.h"

enum { SUBSCRIBERS_MAX = 64 };

struct fixture {
    struct http_server_config config;
    struct http_server *server;
    struct arena arena;
    struct loop *worker; /* the "other thread" that answers some requests */
    uint16_t port;

    struct http_exchange *subscribers[SUBSCRIBERS_MAX]; /* of the first loop */
    size_t n_subscribers;

    atomic_uint requests;
    atomic_uint ended;
    atomic_uint left;          /* connections that had data */
    atomic_uint refused_sends; /* a stream's queue was full */
    atomic_uint subscribed;
    atomic_size_t received; /* bytes of streamed uploads */
    atomic_size_t produced; /* bytes of downloads */
    atomic_size_t queued_most;
};

/* The configuration may be changed between the two. */
void fixture_init(struct fixture *f);
void fixture_start(struct fixture *f);
/* init and start */
void fixture_begin(struct fixture *f);
/* Drains and destroys; checks that every exchange has ended. */
void fixture_end(struct fixture *f);

/* Sends to every subscriber of the first loop, on that loop; waits until done. */
void fixture_publish(struct fixture *f, struct http_shared *event);

/* Waits, with patience, until the counter is at least that. */
bool reaches(atomic_uint *counter, unsigned value);

/* The application. */
void fixture_on_request(struct http_exchange *x, void *data);

/* "METHOD path HTTP/1.1" with a Host and nothing else. */
#define REQUEST(method, path) STR(method " " path " HTTP/1.1\r\nHost: test\r\n\r\n")

#endif
