/* SPDX-License-Identifier: Apache-2.0 */
#include "client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "test.h"

void sleep_ms(unsigned ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static void connect_with(struct client *c, uint8_t host, uint16_t port, int receive_bytes)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    struct timeval patience = {.tv_sec = CLIENT_PATIENCE_MS / 1000};
    *c = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    buf_init(&c->in, 256 << 20);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (receive_bytes > 0)
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (host > 1) {
        struct sockaddr_in from = {.sin_family = AF_INET};
        from.sin_addr.s_addr = htonl((INADDR_LOOPBACK & ~0xffu) | host);
        EXPECT_EQ(bind(c->fd, (struct sockaddr *)&from, sizeof from), 0);
    }
    EXPECT_EQ(connect(c->fd, (struct sockaddr *)&to, sizeof to), 0);
}

void client_connect(struct client *c, uint16_t port)
{
    connect_with(c, 1, port, 0);
}

void client_connect_from(struct client *c, uint8_t host, uint16_t port)
{
    connect_with(c, host, port, 0);
}

void client_connect_narrow(struct client *c, uint16_t port)
{
    connect_with(c, 1, port, 8192);
}

void client_close(struct client *c)
{
    SSL_free(c->tls);
    close(c->fd);
    buf_deinit(&c->in);
}

static ssize_t put(struct client *c, struct str bytes)
{
    if (c->tls != NULL)
        return SSL_write(c->tls, bytes.ptr, (int)bytes.len);
    return send(c->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
}

bool client_say(struct client *c, struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t sent = put(c, bytes);
        if (sent <= 0)
            return false;
        bytes = str_slice(bytes, (size_t)sent, bytes.len);
    }
    return true;
}

bool client_listen(struct client *c)
{
    enum { ROOM = 64 * 1024 };
    char *place = buf_reserve(&c->in, ROOM);
    if (place == NULL)
        return false;
    ssize_t got = c->tls != NULL ? SSL_read(c->tls, place, ROOM) : recv(c->fd, place, ROOM, 0);
    if (got <= 0)
        return false;
    buf_advance(&c->in, (size_t)got);
    return true;
}

bool client_need(struct client *c, size_t size)
{
    while (c->in.len < size)
        if (!client_listen(c))
            return false;
    return true;
}

void client_hang_up(struct client *c)
{
    shutdown(c->fd, SHUT_WR);
}

bool client_sees_end(struct client *c)
{
    bool ended = c->in.len == 0 && !client_listen(c);
    client_hang_up(c);
    return ended;
}

/* --- Answers --------------------------------------------------------------------------------- */

void answer_deinit(struct answer *a)
{
    buf_deinit(&a->head);
    buf_deinit(&a->body);
}

static struct str line_of(struct str text)
{
    for (size_t i = 0; i + 1 < text.len; i++)
        if (text.ptr[i] == '\r' && text.ptr[i + 1] == '\n')
            return str_slice(text, 0, i);
    return STR_NONE;
}

/* Moves one line from `in` to `out`. */
static bool hear_line(struct client *c, struct buf *out)
{
    struct str line;
    while (str_is_none(line = line_of(buf_str(&c->in))))
        if (!client_listen(c))
            return false;
    buf_append(out, line);
    buf_append(out, STR("\r\n"));
    buf_consume(&c->in, line.len + 2);
    return true;
}

struct str answer_header(const struct answer *a, struct str name)
{
    struct str rest = buf_str(&a->head), line;
    while (str_next_part(&rest, '\n', &line)) {
        size_t colon = str_find(line, ':');
        if (colon < line.len && str_eq_nocase(str_slice(line, 0, colon), name))
            return str_trim_blanks(str_slice(line, colon + 1, line.len - 1));
    }
    return STR_NONE;
}

void client_hear_head(struct client *c, struct answer *out)
{
    *out = (struct answer){0};
    buf_init(&out->head, 1 << 20);
    buf_init(&out->body, 256 << 20);
    size_t before;
    do {
        before = out->head.len;
        if (!hear_line(c, &out->head))
            return;
    } while (out->head.len > before + 2);
    uint64_t status;
    struct str head = buf_str(&out->head);
    if (str_starts_with(head, STR("HTTP/1.1 ")) && str_to_u64(str_slice(head, 9, 12), &status))
        out->status = (int)status;
}

static bool hear_bytes(struct client *c, size_t size, struct buf *out)
{
    if (!client_need(c, size))
        return false;
    buf_append(out, str_slice(buf_str(&c->in), 0, size));
    buf_consume(&c->in, size);
    return true;
}

static bool hear_chunks(struct client *c, struct buf *out)
{
    for (;;) {
        struct buf line CLEANUP(buf_deinit), end CLEANUP(buf_deinit);
        buf_init(&line, 64);
        buf_init(&end, 64);
        if (!hear_line(c, &line))
            return false;
        size_t size = 0;
        for (size_t i = 0; i < line.len - 2; i++)
            size = size * 16 + (size_t)(str_find(STR("0123456789abcdef"), line.ptr[i]));
        if (!hear_bytes(c, size, out) || !hear_line(c, &end) || end.len != 2)
            return false;
        if (size == 0)
            return true;
    }
}

void client_hear(struct client *c, bool head_only, struct answer *out)
{
    client_hear_head(c, out);
    uint64_t length;
    bool whole = true;
    if (head_only || out->status == 204 || out->status == 304 || out->status < 200)
        return;
    if (str_to_u64(answer_header(out, STR("Content-Length")), &length)) {
        whole = hear_bytes(c, (size_t)length, &out->body);
    } else if (str_eq(answer_header(out, STR("Transfer-Encoding")), STR("chunked"))) {
        whole = hear_chunks(c, &out->body);
    } else {
        while (client_listen(c))
            ;
        whole = hear_bytes(c, c->in.len, &out->body);
    }
    if (!whole)
        out->status = 0;
}

int client_ask(uint16_t port, struct str request)
{
    struct client c CLEANUP(client_close);
    struct answer a CLEANUP(answer_deinit);
    client_connect(&c, port);
    client_say(&c, request);
    client_hear(&c, false, &a);
    return a.status;
}
