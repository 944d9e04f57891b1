/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "net/conn.h"

enum { ACCEPTS_AT_ONCE = 16, ACCEPT_AGAIN_MS = 200 };

union address {
    struct sockaddr any;
    struct sockaddr_storage all;
};

static int accept_one(int listen_fd, union address *out_address)
{
    socklen_t len = sizeof *out_address;
#ifdef __linux__
    return accept4(listen_fd, &out_address->any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    int fd = accept(listen_fd, &out_address->any, &len);
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
#endif
}

/* Returns NULL if the address has no limits. */
static struct share *take_share(struct http_server *s, const union address *address)
{
    struct uuid id;
    bool is_loopback;
    if (s->config.max_per_address == 0 || !share_id_of_address(&address->any, &id, &is_loopback) ||
        (is_loopback && !s->config.limits_loopback))
        return NULL;
    return shares_take(&s->addresses, id);
}

static void open_accepted(struct shard *shard, int fd, const union address *from)
{
    struct http_server *s = shard->server;
    struct share *address = take_share(s, from);
    size_t max = s->config.max_connections, max_here = s->config.max_per_address;
    size_t open = server_add_open(s);
    size_t open_here = address == NULL ? 0 : atomic_fetch_add(&address->connections, 1) + 1;
    const char *excess = open > max ? "the server has too many connections" : NULL;
    if (excess == NULL && open_here > max_here)
        excess = "the address has too many connections (--max-connections-per-address)";
    if (excess != NULL)
        count_up(&shard->counters.excess, 1);
    if (open <= max + REFUSED_CONNECTIONS && open_here <= max_here + REFUSED_CONNECTIONS) {
        conn_open(shard, fd, address, excess);
        return;
    }
    close(fd);
    server_remove_open(s);
    if (address != NULL)
        share_remove(&address->connections, 1);
    shares_release(&s->addresses, address);
}

static void on_accept_again(uv_timer_t *timer)
{
    shard_listen(timer->data);
}

static void on_listener(uv_poll_t *listener, int status, int events)
{
    struct shard *shard = listener->data;
    /* A few at a time: other loops take the rest, and existing connections must be served too. */
    for (int i = 0; i < ACCEPTS_AT_ONCE && shard->listen_fd >= 0; i++) {
        union address from;
        int fd = accept_one(shard->listen_fd, &from);
        if (fd >= 0) {
            open_accepted(shard, fd, &from);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            /* Out of descriptors or memory: the socket stays readable, so stop polling it for a
             * while. */
            uv_poll_stop(listener);
            uv_timer_start(&shard->accept_again, on_accept_again, ACCEPT_AGAIN_MS, 0);
            return;
        }
    }
}

void shard_listen(struct shard *shard)
{
    if (shard->listener.data == NULL) {
        uv_poll_init(loop_uv(shard->loop), &shard->listener, shard->listen_fd);
        shard->listener.data = shard;
    }
    uv_poll_start(&shard->listener, UV_READABLE, on_listener);
}

void shard_stop_listening(struct shard *shard)
{
    if (shard->listen_fd < 0)
        return;
    uv_timer_stop(&shard->accept_again);
    if (shard->listener.data != NULL)
        uv_close((uv_handle_t *)&shard->listener, NULL);
    close(shard->listen_fd);
    shard->listen_fd = -1;
}
