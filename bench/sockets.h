/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to a server on this machine, and where an HTTP answer ends. */
#ifndef BENCH_SOCKETS_H
#define BENCH_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

/* Connected, TCP_NODELAY, non-blocking from then on. The source address goes by the index, so that
 * ports do not run out. */
int connect_to(unsigned long port, size_t index);
/* With a receive buffer of a few KiB and the segments of an Ethernet. On the loopback's, of 64 KiB,
 * the kernel takes 3 MB of an answer that nobody reads off the server's hands; on these, 74 KB. */
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
/* Takes a piece of the answer. True when it was the last one; a failure to read it ends the
 * program. There is no second answer behind the first. */
bool answer_take(struct answer_reader *r, const char *bytes, size_t n);

#endif
