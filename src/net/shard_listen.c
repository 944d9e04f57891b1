/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "net/conn.h"

enum { ACCEPTS_AT_ONCE = 16, ACCEPT_AGAIN_MS = 200 };

static int accept_one(int listen_fd)
{
#ifdef __linux__
    return accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
    int fd = accept(listen_fd, NULL, NULL);
    if (fd >= 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
#endif
}

static void open_accepted(struct shard *shard, int fd)
{
    size_t max = shard->server->config.max_connections;
    size_t open = server_add_open(shard->server);
    if (open > max + REFUSED_CONNECTIONS) {
        close(fd);
        server_remove_open(shard->server);
        return;
    }
    conn_open(shard, fd, open > max);
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
        int fd = accept_one(shard->listen_fd);
        if (fd >= 0) {
            open_accepted(shard, fd);
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
