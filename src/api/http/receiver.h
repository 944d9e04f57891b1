/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives the body of an upload from a socket and writes it as content (api/http/intake.h): the
 * loop collects a piece while a content thread writes the previous one, and reading pauses when the
 * thread is slower. On the exchange's loop. The receiver is part of its owner, which keeps the
 * exchange from receiver_start to `ended`.
 */
#ifndef API_HTTP_RECEIVER_H
#define API_HTTP_RECEIVER_H

#include "api/http/call.h"
#include "net/server.h"

struct receiver {
    struct call *call;
    struct http_exchange *x;
    struct loop *loop;
    struct buf filling; /* from the socket */
    int64_t until_us;
    bool has_all;  /* the whole body has arrived */
    bool has_left; /* the client has left before that */
    bool is_over;  /* `done` was called */
    bool is_busy;  /* the members below belong to a content thread */
    struct content_task task;
    struct loop_task back;
    struct content_writer *writer;
    struct buf writing;
    bool is_final; /* the piece is the last one */
    bool is_ending;
    enum error result;
    struct content_info info;
    void (*done)(struct receiver *r, enum error e);
    void (*ended)(struct receiver *r);
};

/* Calls `done` once: OK if the whole body is written, synced and matches its digest. ERR_CANCELLED
 * if the client has left, unless the received part is kept. */
void receiver_start(struct receiver *r, struct http_exchange *x, struct call *call,
    void (*done)(struct receiver *r, enum error e));
/* Takes a run of the body from http_exchange_stream_body. */
void receiver_take(struct receiver *r, struct str run, bool last);
/* The exchange has ended. */
void receiver_client_left(struct receiver *r);
/* After `done` and the call: keeps or removes the content, then calls `ended`, possibly at once. */
void receiver_end(struct receiver *r, void (*ended)(struct receiver *r));

#endif
