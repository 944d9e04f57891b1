/* SPDX-License-Identifier: Apache-2.0 */
#include "sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "measure.h"

enum { CONNECTIONS_PER_ADDRESS = 10000, NARROW_BYTES = 4096, ETHERNET_SEGMENT = 1448 };

static int make_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0)
        die("cannot create a socket: the limit of open files is too low");
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static int connect_socket(int fd, unsigned long port, size_t index)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in from = {.sin_family = AF_INET,
        .sin_addr.s_addr = htonl((in_addr_t)(INADDR_LOOPBACK + index / CONNECTIONS_PER_ADDRESS))};
    if (bind(fd, (struct sockaddr *)&from, sizeof from) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

int connect_to(unsigned long port, size_t index)
{
    return connect_socket(make_socket(), port, index);
}

int connect_narrow(unsigned long port, size_t index)
{
    int fd = make_socket(), bytes = NARROW_BYTES, segment = ETHERNET_SEGMENT;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) != 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) != 0)
        die("cannot create a socket with a small buffer");
    return connect_socket(fd, port, index);
}

void answer_reader_init(struct answer_reader *r)
{
    r->head_len = r->body_left = 0;
    r->in_body = false;
    r->status = 0;
}

/* Returns the length of the head; 0: incomplete. */
static size_t head_end(const struct answer_reader *r)
{
    const char *end = memmem(r->head, r->head_len, "\r\n\r\n", 4);
    return end == NULL ? 0 : (size_t)(end - r->head) + 4;
}

static void parse_head(struct answer_reader *r)
{
    static const char LENGTH[] = "content-length:";
    r->head[HEAD_MAX - 1] = '\0';
    if (strncmp(r->head, "HTTP/1.1 ", 9) != 0)
        die("not an HTTP response: %.80s", r->head);
    r->status = (int)strtol(r->head + 9, NULL, 10);
    for (const char *line = r->head; (line = strchr(line, '\n')) != NULL;) {
        line++;
        if (strncasecmp(line, LENGTH, sizeof LENGTH - 1) == 0) {
            r->body_left = strtoul(line + sizeof LENGTH - 1, NULL, 10);
            return;
        }
    }
    die("a response has no Content-Length: %.200s", r->head);
}

bool answer_take(struct answer_reader *r, const char *bytes, size_t n)
{
    if (!r->in_body) {
        size_t before = r->head_len, room = HEAD_MAX - 1 - before;
        size_t taken = n < room ? n : room;
        memcpy(r->head + before, bytes, taken);
        r->head_len += taken;
        size_t end = head_end(r);
        if (end == 0) {
            if (r->head_len == HEAD_MAX - 1)
                die("the head of a response is too long");
            return false;
        }
        r->in_body = true;
        r->head[end - 1] = '\0';
        parse_head(r);
        bytes += end - before;
        n -= end - before;
    }
    if (n > r->body_left)
        die("unexpected bytes after a response");
    r->body_left -= n;
    return r->body_left == 0;
}
