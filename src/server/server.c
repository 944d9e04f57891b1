/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "api/http/front.h"
#include "api/http/metrics.h"
#include "base/alloc.h"
#include "lib/instance.h"
#include "net/notify.h"
#include "server/last_resort.h"

enum {
    EXIT_FATAL = 70,
    ARENA_BYTES = 1024 * 1024,
    SUBSCRIBER_MAX_BYTES = 256 * 1024,
    WS_MESSAGE_MAX_BYTES = 64 * 1024,
    HEARTBEAT_MS = 10000,
    CUT_OFF_MS = 10000, /* after the drain: for cancelled work to end, and to close */
};

struct server {
    const struct server_config *config;
    bool loopback;
    struct instance instance;
    bool is_open; /* the instance */
    struct front *front;
    struct http_server *http;
    struct str hosts[SERVER_MAX_NAMES + 4];
    size_t n_hosts;
    struct last_resort *last_resort; /* NULL: not stopping */
};

void server_config_init(struct server_config *config)
{
    *config = (struct server_config){.listen_host = STR("127.0.0.1"),
        .listen_port = 7420,
        .data_dir = STR("./data"),
        .db_url = STR_NONE,
        .db_replica_url = STR_NONE,
        .db_schema = STR("cairn"),
        .files_dir = STR_NONE,
        .upload_max_bytes = UPLOAD_MAX_BYTES,
        .db_writers = 4,
        .loops = 1,
        .readers = 2,
        .max_connections = 16384,
        .body_memory_bytes = 256 << 20,
        .drain_ms = 10000,
        .log_level = LOG_INFO};
}

static void on_fatal(const char *what)
{
    LOG(LOG_ERROR, "stopping: commits can no longer be acknowledged", LOG_STR("why", str_of(what)));
    _exit(EXIT_FATAL);
}

/* --- Metrics -------------------------------------------------------------------------------- */

static void write_metrics(struct buf *out, void *data)
{
    struct server *s = data;
    struct http_server_stats h = http_server_stats(s->http);
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"cairn_http_connections", "gauge", "Open connections.", (double)h.connections_open},
        {"cairn_http_connections_total", "counter", "Accepted connections.",
            (double)h.connections_total},
        {"cairn_http_requests_total", "counter", "Requests read.", (double)h.requests_total},
        {"cairn_http_refused_total", "counter", "Malformed requests.", (double)h.refused_total},
        {"cairn_http_received_bytes_total", "counter", "Bytes received.", (double)h.bytes_in},
        {"cairn_http_sent_bytes_total", "counter", "Bytes sent.", (double)h.bytes_out},
        {"cairn_http_shed_total", "counter", "Connections closed for taking answers too slowly.",
            (double)h.shed_total},
        {"cairn_http_connections_refused_total", "counter",
            "Connections above --max-connections or --max-connections-per-address.",
            (double)h.excess_total},
        {"cairn_subscribers", "gauge", "Streams and long polls.",
            (double)front_subscribers(s->front)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        metrics_write_one(out, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
}

/* --- Start and stop ------------------------------------------------------------------------- */

static bool is_loopback(struct str host)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(4096);
    struct in_addr v4;
    bool is_v4 = inet_pton(AF_INET, arena_cstr(&arena, host), &v4) == 1;
    return (is_v4 && (ntohl(v4.s_addr) >> 24) == 127) || str_eq(host, STR("::1")) ||
           str_eq_nocase(host, STR("localhost"));
}

/* On loopback, and if names were configured, a Host header must match: a page elsewhere that
 * resolves its own name to this address (DNS rebinding) is refused. */
static void list_hosts(struct server *s, struct arena *arena)
{
    const struct server_config *c = s->config;
    if (!s->loopback && c->n_allow_hosts == 0)
        return;
    s->hosts[s->n_hosts++] = STR("localhost");
    s->hosts[s->n_hosts++] = STR("127.0.0.1");
    s->hosts[s->n_hosts++] = STR("[::1]");
    bool v6 = str_has_byte(c->listen_host, ':');
    s->hosts[s->n_hosts++] =
        v6 ? arena_printf(arena, "[%.*s]", STR_ARG(c->listen_host)) : c->listen_host;
    for (size_t i = 0; i < c->n_allow_hosts; i++)
        s->hosts[s->n_hosts++] = c->allow_hosts[i];
}

static enum error open_instance(struct server *s, struct problem *problem)
{
    const struct server_config *c = s->config;
    const struct instance_config config = {.data_dir = c->data_dir,
        .db_url = c->db_url,
        .db_replica_url = c->db_replica_url,
        .db_schema = c->db_schema,
        .files_dir = c->files_dir,
        .upload_max_bytes = c->upload_max_bytes,
        .db_writers = c->db_writers,
        .readers = c->readers,
        .may_be_open = s->loopback,
        .on_fatal = on_fatal};
    store_own_process();
    TRY(instance_open(&s->instance, &config, problem));
    s->is_open = true;
    if (s->instance.has_key)
        return OK;
    if (!s->loopback)
        return problem_set(problem, ERR_FORBIDDEN,
            "no API key exists: start on 127.0.0.1, create one with POST /v1/keys, then listen on "
            "%.*s",
            STR_ARG(c->listen_host));
    LOG(LOG_WARN, "open: no API key exists, so every user of this machine has full access");
    return OK;
}

static enum error open_listener(struct server *s, struct arena *arena, struct problem *problem)
{
    struct http_server_config config;
    struct str why;
    http_server_config_init(&config);
    config.host = s->config->listen_host;
    config.port = s->config->listen_port;
    config.loops = s->config->loops;
    config.tls_certificate = s->config->tls_certificate;
    config.tls_key = s->config->tls_key;
    config.max_connections = s->config->max_connections;
    config.max_per_address = s->config->has_max_per_address ? s->config->max_per_address
                                                            : (config.max_connections + 3) / 4;
    config.limits_loopback = s->config->has_max_per_address;
    config.collected_max_bytes = s->config->body_memory_bytes;
    config.stream_max_bytes = SUBSCRIBER_MAX_BYTES;
    config.ws_message_bytes = WS_MESSAGE_MAX_BYTES;
    config.ws_ping_ms = HEARTBEAT_MS;
    config.limits.body_bytes = INT64_MAX; /* each route has a limit of its own */
    list_hosts(s, arena);
    s->front = front_create(&(struct front_config){.api = &s->instance.api,
        .hosts = s->hosts,
        .n_hosts = s->n_hosts,
        .origins = s->config->allow_origins,
        .n_origins = s->config->n_allow_origins});
    struct http_app app = front_app(s->front);
    if (!http_server_create(&config, &app, arena, &s->http, &why))
        return problem_set(problem, ERR_UNAVAILABLE, "%.*s", STR_ARG(why));
    front_attach(s->front, s->http);
    metrics_add_source(s->instance.api.metrics, (struct metrics_source){s, write_metrics});
    return OK;
}

static void close_all(struct server *s)
{
    if (!s->is_open)
        return;
    instance_stop(&s->instance);
    if (s->http != NULL) {
        front_drain(s->front);
        http_server_drain(s->http, s->config->drain_ms);
        instance_cancel(&s->instance);
        front_detach(s->front);
    }
    /* Running jobs post their completions to the loops, so the loops outlive the store. */
    instance_close(&s->instance);
    if (s->http != NULL)
        http_server_destroy(s->http);
    if (s->front != NULL)
        front_destroy(s->front);
    instance_deinit(&s->instance);
}

static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void announce(const struct server *s)
{
    bool v6 = str_has_byte(s->config->listen_host, ':');
    printf("cairn " CAIRN_VERSION " listens on %s://%s%.*s%s:%u\n",
        str_is_none(s->config->tls_certificate) ? "http" : "https", v6 ? "[" : "",
        STR_ARG(s->config->listen_host), v6 ? "]" : "", http_server_port(s->http));
    fflush(stdout);
}

int server_run(const struct server_config *config)
{
    sigset_t signals;
    struct arena arena = ARENA_INIT(ARENA_BYTES);
    struct problem problem = PROBLEM_INIT(&arena);
    struct server s = {.config = config, .loopback = is_loopback(config->listen_host)};
    log_set_level(config->log_level);
    raise_file_limit();
    umask(077); /* files of Cairn are readable only by its own user */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is treated as a full disk */
    /* Blocked before any thread starts, so that only this thread receives them. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    enum error e = open_instance(&s, &problem);
    /* The listener is last: with it the loops run, and signals can end them. */
    if (e == OK)
        e = open_listener(&s, &arena, &problem);
    if (e == OK) {
        int received;
        http_server_start(s.http);
        announce(&s);
        notify_send(STR("READY=1"));
        sigwait(&signals, &received);
        notify_send(STR("STOPPING=1"));
        LOG(LOG_INFO, "draining");
        s.last_resort = last_resort_create((int64_t)config->drain_ms + CUT_OFF_MS);
        store_drain(s.instance.store);
        /* A second signal ends the process at once; nothing acknowledged is lost. */
        pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    } else {
        fprintf(stderr, "cairn: %.*s\n", STR_ARG(problem.detail));
    }
    close_all(&s);
    last_resort_destroy(s.last_resort);
    arena_deinit(&arena);
    return e == OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
