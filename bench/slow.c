/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow clients: each transfers the minimum every INTERVAL and reconnects at once when the server
 * closes the connection. A third send a head byte by byte, a third a body, and a third request a
 * large response and read a few bytes at a time: half of them a page of events, half a stream.
 *   slow PORT CLIENTS SECONDS INTERVAL_MS RAMP_SECONDS THREAD KEY
 * THREAD must have many bytes of events. The clients connect one after another over RAMP_SECONDS.
 * Prints for each kind (head, body, page, stream) KIND_cuts, the number of disconnects, and
 * KIND_age_…, the age of the closed connections in microseconds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "sockets.h"

enum kind { SLOW_HEAD, SLOW_BODY, SLOW_PAGE, SLOW_STREAM, N_KINDS };
static const char *const NAMES[N_KINDS] = {"head", "body", "page", "stream"};

enum { TAKE_BYTES = 64, MAX_CLIENTS = 20000, ADDRESS_OFFSET = 100000 };

struct client {
    int fd;
    enum kind kind;
    double opened_us;
};

static struct {
    unsigned long port, interval_ms;
    size_t n_clients;
    const char *thread, *key;
    struct client *clients;
    struct samples ages[N_KINDS];
} run;

static enum kind kind_of(size_t index)
{
    static const enum kind KINDS[] = {
        SLOW_HEAD, SLOW_BODY, SLOW_PAGE, SLOW_HEAD, SLOW_BODY, SLOW_STREAM};
    return KINDS[index % (sizeof KINDS / sizeof KINDS[0])];
}

static void write_opening(const struct client *c, char *out, size_t size)
{
    if (c->kind == SLOW_HEAD)
        snprintf(out, size, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
    else if (c->kind == SLOW_BODY)
        snprintf(out, size,
            "POST /v1/threads/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
            "Content-Type: application/json\r\nContent-Length: 65536\r\n\r\n",
            run.thread, run.key);
    else
        snprintf(out, size,
            "GET /v1/threads/%s/events%s HTTP/1.1\r\nHost: localhost\r\n"
            "Authorization: Bearer %s\r\n\r\n",
            run.thread, c->kind == SLOW_PAGE ? "?limit=200" : "/stream?after=0", run.key);
}

static void open_client(struct client *c, size_t index)
{
    char opening[1024];
    bool reads = c->kind == SLOW_PAGE || c->kind == SLOW_STREAM;
    c->fd = (reads ? connect_narrow : connect_to)(run.port, ADDRESS_OFFSET + index);
    c->opened_us = now_us();
    write_opening(c, opening, sizeof opening);
    if (send(c->fd, opening, strlen(opening), MSG_NOSIGNAL) < 0)
        die("cannot send");
}

/* Returns false if the server has closed the connection. */
static bool act(const struct client *c)
{
    char bytes[TAKE_BYTES];
    if ((c->kind == SLOW_HEAD || c->kind == SLOW_BODY) && send(c->fd, "a", 1, MSG_NOSIGNAL) < 0)
        return false;
    ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
    if (n < 0)
        return errno == EAGAIN;
    /* A response before the end of a head or body is a rejection. */
    return n > 0 && c->kind != SLOW_HEAD && c->kind != SLOW_BODY;
}

static void sleep_until(double at_us)
{
    double us = at_us - now_us();
    if (us <= 0)
        return;
    struct timespec wait = {.tv_sec = (time_t)(us / 1e6), .tv_nsec = (long)us % 1000000 * 1000};
    nanosleep(&wait, NULL);
}

static void visit(size_t index)
{
    struct client *c = &run.clients[index];
    if (c->fd >= 0 && act(c))
        return;
    if (c->fd >= 0) {
        samples_add(&run.ages[c->kind], now_us() - c->opened_us);
        close(c->fd);
    }
    open_client(c, index);
}

/* The clients take turns, evenly over the interval; the first time over the ramp. */
static void run_all(double seconds, double ramp_us)
{
    double start = now_us(), at = start, n = (double)run.n_clients;
    for (size_t i = 0; at - start < seconds * 1e6; i++) {
        sleep_until(at);
        visit(i % run.n_clients);
        at += (i < run.n_clients ? ramp_us : (double)run.interval_ms * 1e3) / n;
    }
}

int main(int argc, char **argv)
{
    if (argc != 8)
        die("usage: slow PORT CLIENTS SECONDS INTERVAL_MS RAMP_SECONDS THREAD KEY");
    run.port = parse_count(argv[1], 65535);
    run.n_clients = parse_count(argv[2], MAX_CLIENTS);
    double seconds = strtod(argv[3], NULL);
    run.interval_ms = parse_count(argv[4], 100000);
    double ramp_us = strtod(argv[5], NULL) * 1e6;
    run.thread = argv[6];
    run.key = argv[7];
    run.clients = calloc(run.n_clients, sizeof *run.clients);
    if (run.clients == NULL)
        die("out of memory");
    raise_file_limit();
    for (size_t i = 0; i < run.n_clients; i++) {
        run.clients[i].kind = kind_of(i);
        run.clients[i].fd = -1;
    }
    run_all(seconds, ramp_us);
    for (size_t i = 0; i < N_KINDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_cuts", NAMES[i]);
        print_result(name, (double)run.ages[i].n);
        snprintf(name, sizeof name, "%s_age", NAMES[i]);
        print_samples(name, &run.ages[i]);
        samples_deinit(&run.ages[i]);
    }
    free(run.clients);
    return 0;
}
