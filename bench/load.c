/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a server over HTTP or the protocol of Redis, from one thread. All servers are measured with
 * the same client, so its cost is the same for all.
 *   load http|redis PORT CONNECTIONS FILE SECONDS REQUESTS RATE [LINES]
 *     FILE      the requests, sent repeatedly in this order; each is preceded by its length and a
 *               line end
 *     SECONDS   the duration; REQUESTS: the maximum number of requests (0: no limit)
 *     RATE      requests a second, sent when they are due without waiting for responses; 0: each
 *               connection sends its next request after the response to the previous one
 *     LINES     redis: the number of lines of a response
 * With a RATE, latencies start when a request was due, so that the stall of a server counts for all
 * requests that would have waited; without one, they start when the request was sent. Every
 * response must be 2xx, or not an error of Redis. With a RATE, a 503 counts like a response, and a
 * request without a response counts as if the response came when the program stopped waiting.
 * Prints rate, requests, unserved (503 or no response), latency_p50 … latency_max and cpu (its
 * own), in microseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "sockets.h"

enum { MAX_CONNECTIONS = 20000, READ_BYTES = 256 * 1024, EVENTS = 256, DRAIN_US = 10 * 1000000 };

struct request {
    const char *bytes;
    size_t len;
};

struct connection {
    int fd;
    bool is_busy;
    struct request out; /* bytes still to be sent */
    double due_us;
    struct answer_reader answer;
    unsigned long lines_left;
    bool at_line_start;
};

static struct {
    bool is_redis;
    unsigned long port, n_connections, max_requests, lines;
    double seconds, rate;
    struct request *requests;
    size_t n_requests;
    struct connection *connections;
    struct connection **idle; /* a ring, so that the connections take turns */
    size_t first_idle, n_idle;
    size_t n_sent, n_done, n_unserved;
    double start_us, last_us;
    int epoll_fd;
    struct samples latency;
    char *read_buffer;
} run;

/* --- Requests ------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *out_len)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        die("cannot read %s", path);
    long len = ftell(file);
    rewind(file);
    char *text = malloc((size_t)len + 1);
    if (text == NULL || fread(text, 1, (size_t)len, file) != (size_t)len)
        die("cannot read %s", path);
    fclose(file);
    text[len] = '\0';
    *out_len = (size_t)len;
    return text;
}

static void read_requests(const char *path)
{
    size_t len, capacity = 0;
    char *text = read_file(path, &len);
    for (char *at = text, *bytes; at < text + len;) {
        size_t request_len = strtoul(at, &bytes, 10);
        if (*bytes++ != '\n' || request_len == 0 || bytes + request_len > text + len)
            die("%s is not a file of requests", path);
        if (run.n_requests == capacity) {
            capacity = capacity == 0 ? 64 : 2 * capacity;
            run.requests = realloc(run.requests, capacity * sizeof *run.requests);
            if (run.requests == NULL)
                die("out of memory");
        }
        run.requests[run.n_requests++] = (struct request){bytes, request_len};
        at = bytes + request_len;
    }
    if (run.n_requests == 0)
        die("%s has no requests", path);
}

/* --- One connection ------------------------------------------------------------------------- */

static void flush(struct connection *c)
{
    while (c->out.len > 0) {
        ssize_t n = send(c->fd, c->out.bytes, c->out.len, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            die("a request could not be sent");
        c->out.bytes += n;
        c->out.len -= (size_t)n;
    }
}

static void begin(struct connection *c, double due_us)
{
    c->out = run.requests[run.n_sent++ % run.n_requests];
    c->is_busy = true;
    c->due_us = due_us;
    c->lines_left = run.lines;
    c->at_line_start = true;
    answer_reader_init(&c->answer);
    flush(c);
}

static bool take_lines(struct connection *c, const char *bytes, size_t n)
{
    for (const char *at = bytes, *end = bytes + n; at < end;) {
        if (c->at_line_start && *at == '-')
            die("Redis rejected: %.*s", (int)(end - at), at);
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        c->at_line_start = line_end != NULL;
        if (line_end == NULL)
            break;
        c->lines_left--;
        at = line_end + 1;
    }
    return c->lines_left == 0;
}

static bool take_answer(struct connection *c, const char *bytes, size_t n)
{
    if (!answer_take(&c->answer, bytes, n))
        return false;
    bool is_refused = run.rate > 0 && c->answer.status == 503;
    run.n_unserved += is_refused;
    if (!is_refused && c->answer.status / 100 != 2)
        die("a request was rejected: %.400s", c->answer.head);
    return true;
}

/* Returns true when a response is complete. The socket is edge-triggered: it is read until it is
 * empty, which a short read indicates. */
static bool receive(struct connection *c)
{
    bool is_done = false;
    for (;;) {
        ssize_t n = recv(c->fd, run.read_buffer, READ_BYTES, 0);
        if (n < 0 && errno == EAGAIN)
            return is_done;
        if (n <= 0)
            die("a connection was closed");
        if (!c->is_busy || is_done)
            die("a response without a request");
        is_done = run.is_redis ? take_lines(c, run.read_buffer, (size_t)n)
                               : take_answer(c, run.read_buffer, (size_t)n);
        if (n < READ_BYTES)
            return is_done;
    }
}

static void put_idle(struct connection *c)
{
    run.idle[(run.first_idle + run.n_idle++) % run.n_connections] = c;
}

static struct connection *take_idle(void)
{
    struct connection *c = run.idle[run.first_idle];
    run.first_idle = (run.first_idle + 1) % run.n_connections;
    run.n_idle--;
    return c;
}

/* --- Main ----------------------------------------------------------------------------------- */

static bool may_send(double now)
{
    return now - run.start_us < run.seconds * 1e6 &&
           (run.max_requests == 0 || run.n_sent < run.max_requests);
}

static void finish(struct connection *c)
{
    double now = now_us();
    c->is_busy = false;
    /* Requests that end after the time are not counted, so that they do not distort the rate. */
    if (now - run.start_us < run.seconds * 1e6) {
        samples_add(&run.latency, now - c->due_us);
        run.last_us = now;
    } else if (run.rate > 0) {
        samples_add(&run.latency, now - c->due_us);
    }
    run.n_done++;
    if (run.rate > 0 || !may_send(now))
        put_idle(c);
    else
        begin(c, now);
}

static double due_us(size_t index)
{
    return run.start_us + (double)index * 1e6 / run.rate;
}

static void send_what_is_due(void)
{
    double now = now_us();
    while (run.n_idle > 0 && due_us(run.n_sent) <= now && may_send(due_us(run.n_sent)))
        begin(take_idle(), due_us(run.n_sent));
}

static struct timespec wait_time(void)
{
    double us = 100 * 1000;
    if (run.rate > 0 && run.n_idle > 0 && may_send(due_us(run.n_sent)))
        us = due_us(run.n_sent) - now_us();
    us = us < 0 ? 0 : us;
    return (struct timespec){.tv_sec = (time_t)(us / 1e6), .tv_nsec = (long)us % 1000000 * 1000};
}

static void turn(void)
{
    struct epoll_event events[EVENTS];
    struct timespec wait = wait_time();
    int n = epoll_pwait2(run.epoll_fd, events, EVENTS, &wait, NULL);
    for (int i = 0; i < n; i++) {
        struct connection *c = events[i].data.ptr;
        flush(c);
        if (receive(c))
            finish(c);
    }
    if (run.rate > 0)
        send_what_is_due();
}

/* Counts the requests that got no response, and those that no connection was free for. */
static void give_up(double now)
{
    if (run.rate == 0)
        die("%zu requests got no response", run.n_sent - run.n_done);
    run.n_unserved += run.n_sent - run.n_done;
    for (size_t i = 0; i < run.n_connections; i++)
        if (run.connections[i].is_busy)
            samples_add(&run.latency, now - run.connections[i].due_us);
    for (; may_send(due_us(run.n_sent)); run.n_sent++, run.n_unserved++)
        samples_add(&run.latency, now - due_us(run.n_sent));
}

static bool is_over(void)
{
    double now = now_us();
    if (now - run.start_us > run.seconds * 1e6 + DRAIN_US) {
        give_up(now);
        return true;
    }
    bool may_more = run.rate > 0 ? may_send(due_us(run.n_sent)) : may_send(now);
    return !may_more && run.n_done == run.n_sent;
}

static void connect_all(void)
{
    run.connections = calloc(run.n_connections, sizeof *run.connections);
    run.idle = calloc(run.n_connections, sizeof(struct connection *));
    run.read_buffer = malloc(READ_BYTES);
    run.epoll_fd = epoll_create1(0);
    if (run.connections == NULL || run.idle == NULL || run.read_buffer == NULL || run.epoll_fd < 0)
        die("cannot start");
    for (size_t i = 0; i < run.n_connections; i++) {
        struct connection *c = &run.connections[i];
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
        c->fd = connect_to(run.port, i);
        if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0)
            die("epoll_ctl failed");
        put_idle(c);
    }
}

static void run_load(void)
{
    run.start_us = run.last_us = now_us();
    if (run.rate == 0)
        while (run.n_idle > 0 && may_send(run.start_us))
            begin(take_idle(), now_us());
    while (!is_over())
        turn();
}

static void print_results(double cpu)
{
    double took_us = run.max_requests > 0 ? run.last_us - run.start_us : run.seconds * 1e6;
    print_result("rate", (double)run.latency.n * 1e6 / took_us);
    print_result("requests", (double)run.n_done);
    print_result("unserved", (double)run.n_unserved);
    print_result("cpu", cpu);
    print_samples("latency", &run.latency);
}

int main(int argc, char **argv)
{
    if (argc < 8 || argc > 9)
        die("usage: load http|redis PORT CONNECTIONS FILE SECONDS REQUESTS RATE [LINES]");
    run.is_redis = strcmp(argv[1], "redis") == 0;
    run.port = parse_count(argv[2], 65535);
    run.n_connections = parse_count(argv[3], MAX_CONNECTIONS);
    read_requests(argv[4]);
    run.seconds = strtod(argv[5], NULL);
    run.max_requests = parse_count(argv[6], 1UL << 40);
    run.rate = strtod(argv[7], NULL);
    run.lines = argc > 8 ? parse_count(argv[8], 100000) : 0;
    raise_file_limit();
    connect_all();
    double cpu = cpu_us();
    run_load();
    print_results(cpu_us() - cpu);
    samples_deinit(&run.latency);
    return 0;
}
