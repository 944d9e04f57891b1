/* SPDX-License-Identifier: Apache-2.0 */
#include "net/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "net/conn.h"

enum { BACKLOG = 1024 };

void http_server_config_init(struct http_server_config *config)
{
    *config = (struct http_server_config){
        .host = STR("127.0.0.1"),
        .loops = 1,
        .limits = http_default_limits,
        .max_connections = 16384,
        .head_timeout_ms = 10000,
        .idle_timeout_ms = 75000,
        .stall_timeout_ms = 30000,
        .min_body_rate = 512,
        .body_timeout_ms = 600000,
        .collected_max_bytes = 256 << 20,
        .stream_max_bytes = 1 << 20,
        .unsent_max_bytes = 256 << 20,
        .ws_message_bytes = 1 << 20,
        .ws_ping_ms = 30000,
    };
}

/* --- The listening socket ------------------------------------------------------------------- */

static int bind_to(const struct addrinfo *address)
{
    int fd = socket(address->ai_family, SOCK_STREAM, 0);
    if (fd < 0)
        return -1;
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
        bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* Opens the first address of the host that can be bound, or returns -1. */
static int open_listener(
    const struct http_server_config *config, struct arena *arena, struct str *out_why)
{
    const char *host = arena_cstr(arena, config->host);
    const char *port = arena_printf(arena, "%u", config->port).ptr;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int unknown = getaddrinfo(host, port, &hints, &found);
    if (unknown != 0) {
        *out_why = arena_printf(arena, "cannot find %s: %s", host, gai_strerror(unknown));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = bind_to(a);
    if (fd < 0)
        *out_why =
            arena_printf(arena, "cannot listen on %s port %s: %s", host, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name = {0};
    socklen_t len = sizeof name;
    getsockname(fd, &name.any, &len);
    return ntohs(name.any.sa_family == AF_INET6 ? name.v6.sin6_port : name.v4.sin_port);
}

/* --- Life ----------------------------------------------------------------------------------- */

/* Each loop accepts on its own descriptor of the one listening socket. */
static void create_shards(struct http_server *s, int listen_fd)
{
    s->n_shards = s->config.loops > 0 ? s->config.loops : 1;
    s->shards = mem_zalloc(s->n_shards * sizeof *s->shards);
    for (size_t i = 0; i < s->n_shards; i++) {
        int fd = i == 0 ? listen_fd : fcntl(listen_fd, F_DUPFD_CLOEXEC, 0);
        /* As in loop_create: no descriptors, before anything is served. */
        if (fd < 0)
            mem_exhausted(sizeof fd);
        shard_init(&s->shards[i], s, fd);
    }
}

bool http_server_create(const struct http_server_config *config, const struct http_app *app,
    struct arena *arena, struct http_server **out_server, struct str *out_why)
{
    struct tls *tls = NULL;
    if (!str_is_none(config->tls_certificate) || !str_is_none(config->tls_key)) {
        tls = tls_create(config->tls_certificate, config->tls_key, arena, out_why);
        if (tls == NULL)
            return false;
    }
    int listen_fd = open_listener(config, arena, out_why);
    if (listen_fd < 0) {
        tls_destroy(tls);
        return false;
    }
    struct http_server *s = MEM_NEW(struct http_server);
    s->config = *config;
    s->config.host = s->config.tls_certificate = s->config.tls_key = STR_NONE;
    s->app = *app;
    s->tls = tls;
    s->port = port_of(listen_fd);
    shares_init(&s->addresses);
    shares_init(&s->owners);
    uv_mutex_init(&s->mutex);
    uv_cond_init(&s->changed);
    create_shards(s, listen_fd);
    *out_server = s;
    return true;
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->port;
}

bool http_server_is_tls(const struct http_server *s)
{
    return s->tls != NULL;
}

size_t http_server_loop_count(const struct http_server *s)
{
    return s->n_shards;
}

struct loop *http_server_loop(struct http_server *s, size_t index)
{
    assert(index < s->n_shards);
    return s->shards[index].loop;
}

void http_server_start(struct http_server *s)
{
    s->started = true;
    for (size_t i = 0; i < s->n_shards; i++) {
        shard_listen(&s->shards[i]);
        loop_start(s->shards[i].loop);
    }
}

void http_server_destroy(struct http_server *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->n_shards; i++)
        loop_stop(s->shards[i].loop);
    for (size_t i = 0; i < s->n_shards; i++)
        shard_deinit(&s->shards[i]);
    mem_free(s->shards);
    tls_destroy(s->tls);
    shares_deinit(&s->addresses);
    shares_deinit(&s->owners);
    uv_mutex_destroy(&s->mutex);
    uv_cond_destroy(&s->changed);
    mem_free(s);
}

/* --- Counting ------------------------------------------------------------------------------- */

size_t server_add_open(struct http_server *s)
{
    uv_mutex_lock(&s->mutex);
    size_t open = ++s->open;
    uv_mutex_unlock(&s->mutex);
    return open;
}

void server_remove_open(struct http_server *s)
{
    uv_mutex_lock(&s->mutex);
    if (--s->open == 0)
        uv_cond_signal(&s->changed);
    uv_mutex_unlock(&s->mutex);
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

struct http_server_stats http_server_stats(const struct http_server *s)
{
    struct http_server_stats sum = {0};
    uv_mutex_t *mutex = (uv_mutex_t *)&s->mutex;
    uv_mutex_lock(mutex);
    sum.connections_open = s->open;
    uv_mutex_unlock(mutex);
    for (size_t i = 0; i < s->n_shards; i++) {
        const struct shard_counters *c = &s->shards[i].counters;
        sum.connections_total += read_counter(&c->connections);
        sum.requests_total += read_counter(&c->requests);
        sum.refused_total += read_counter(&c->refused);
        sum.bytes_in += read_counter(&c->bytes_in);
        sum.bytes_out += read_counter(&c->bytes_out);
        sum.shed_total += read_counter(&c->shed);
        sum.excess_total += read_counter(&c->excess);
    }
    return sum;
}

/* --- Draining ------------------------------------------------------------------------------- */

static void run_drain(struct loop_task *task)
{
    struct shard *shard = CONTAINER_OF(task, struct shard, drain_task);
    shard->draining = true;
    shard_stop_listening(shard);
    conn_each(shard, conn_drain);
    struct http_server *s = shard->server;
    uv_mutex_lock(&s->mutex);
    s->draining++;
    uv_cond_signal(&s->changed);
    uv_mutex_unlock(&s->mutex);
}

static void run_cut(struct loop_task *task)
{
    conn_each(CONTAINER_OF(task, struct shard, cut_task), conn_close);
}

static bool is_drained(const struct http_server *s)
{
    return s->draining == s->n_shards && s->open == 0;
}

static void wait_until_drained(struct http_server *s, uint32_t grace_ms)
{
    uint64_t until_ns = uv_hrtime() + grace_ms * UINT64_C(1000000);
    while (!is_drained(s)) {
        uint64_t now_ns = uv_hrtime();
        if (now_ns >= until_ns)
            return;
        uv_cond_timedwait(&s->changed, &s->mutex, until_ns - now_ns);
    }
}

void http_server_drain(struct http_server *s, uint32_t grace_ms)
{
    if (!s->started || s->drained)
        return;
    s->drained = true;
    for (size_t i = 0; i < s->n_shards; i++) {
        s->shards[i].drain_task.run = run_drain;
        loop_post(s->shards[i].loop, &s->shards[i].drain_task);
    }
    uv_mutex_lock(&s->mutex);
    wait_until_drained(s, grace_ms);
    bool drained = is_drained(s);
    uv_mutex_unlock(&s->mutex);
    if (drained)
        return;
    for (size_t i = 0; i < s->n_shards; i++) {
        s->shards[i].cut_task.run = run_cut;
        loop_post(s->shards[i].loop, &s->shards[i].cut_task);
    }
    uv_mutex_lock(&s->mutex);
    while (!is_drained(s))
        uv_cond_wait(&s->changed, &s->mutex);
    uv_mutex_unlock(&s->mutex);
}
