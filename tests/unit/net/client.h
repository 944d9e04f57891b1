/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client for the tests: a blocking socket, plain or with TLS, that sends exactly the given bytes
 * and reads answers strictly. Nothing waits longer than CLIENT_PATIENCE_MS.
 */
#ifndef TESTS_UNIT_NET_CLIENT_H
#define TESTS_UNIT_NET_CLIENT_H

#include <openssl/ssl.h>

#include "base/buf.h"

enum { CLIENT_PATIENCE_MS = 30000 };

struct client {
    int fd;
    SSL *tls;      /* NULL: plain */
    struct buf in; /* received and not parsed yet */
};

struct answer {
    int status; /* 0: the connection ended, or spoke no HTTP */
    struct buf head;
    struct buf body;
};

void client_connect(struct client *c, uint16_t port);
/* From 127.0.0.`host`. */
void client_connect_from(struct client *c, uint8_t host, uint16_t port);
/* A small receive buffer, so that a client that does not read blocks the server soon. */
void client_connect_narrow(struct client *c, uint16_t port);
void client_close(struct client *c);
/* False when the server does not take it. */
bool client_say(struct client *c, struct str bytes);
/* Reads once; false at the end, on a reset and when patience runs out. */
bool client_listen(struct client *c);
/* Reads until `size` bytes are there. */
bool client_need(struct client *c, size_t size);
/* Sends no more, and may read on. */
void client_hang_up(struct client *c);
/* Whether the server ends the connection, cleanly or not, and says nothing before. Then hangs up,
 * so that the server need not linger. */
bool client_sees_end(struct client *c);

void answer_deinit(struct answer *a);
/* Reads one answer; the body as its head says. `head_only`: the answer to a HEAD. */
void client_hear(struct client *c, bool head_only, struct answer *out);
struct str answer_header(const struct answer *a, struct str name);
/* Reads the head alone; what follows stays in `in`. */
void client_hear_head(struct client *c, struct answer *out);

/* One request on a connection of its own; the status. */
int client_ask(uint16_t port, struct str request);

void sleep_ms(unsigned ms);

#endif
