/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of an upload on its way from a socket into content (api/http/intake.h): collected on the
 * loop while the piece before it is written on a content thread, and no faster than that. On the
 * exchange's loop; it lives in its owner, who keeps the exchange from receiver_start to `ended`.
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
    bool has_all;  /* of the body */
    bool has_left; /* the client, before that */
    bool is_over;  /* `done` was called */
    bool is_busy;  /* what follows is a content thread's */
    struct content_task task;
    struct loop_task back;
    struct content_writer *writer;
    struct buf writing;
    bool is_final; /* nothing follows it */
    bool is_ending;
    enum error result;
    struct content_info info;
    void (*done)(struct receiver *r, enum error e);
    void (*ended)(struct receiver *r);
};

/* `done`, once: all of the body is written and synced, and it is what its digest says; or why not.
 * ERR_CANCELLED when the client has left, unless what came is to be kept. */
void receiver_start(struct receiver *r, struct http_exchange *x, struct call *call,
    void (*done)(struct receiver *r, enum error e));
/* A run of the body, as http_exchange_stream_body gives it. */
void receiver_take(struct receiver *r, struct str run, bool last);
/* The exchange has ended. */
void receiver_client_left(struct receiver *r);
/* After `done`, and the call: keeps or removes the content, then `ended`, maybe at once. */
void receiver_end(struct receiver *r, void (*ended)(struct receiver *r));

#endif
