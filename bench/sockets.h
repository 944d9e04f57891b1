/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to a server on this machine, and the framing of HTTP responses. */
#ifndef BENCH_SOCKETS_H
#define BENCH_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns a connected, non-blocking socket with TCP_NODELAY. The source address depends on the
 * index, so that ports do not run out. */
int connect_to(unsigned long port, size_t index);
/* The same with a receive buffer of a few KiB and Ethernet-sized segments. With the loopback's
 * segments of 64 KiB, the kernel buffers 3 MB of an unread response; with these, 74 KB. */
int connect_narrow(unsigned long port, size_t index);

enum { HEAD_MAX = 2048 };

struct answer_reader {
    char head[HEAD_MAX];
    size_t head_len;
    size_t body_left;
    bool in_body;
    int status;
};
void answer_reader_init(struct answer_reader *r);
/* Consumes a piece of the response. Returns true if it was the last piece; a parse error ends the
 * program. Responses are not pipelined. */
bool answer_take(struct answer_reader *r, const char *bytes, size_t n);

#endif
