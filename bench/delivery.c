/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the delivery of events to all subscribers: in each round it appends one event and waits
 * until every subscriber has received it.
 *   delivery APPEND_PORT STREAM_PORT thread|tenant THREAD KEY SUBSCRIBERS ROUNDS
 * Prints microseconds from the sending of the append, including the commit: answer_… until its
 * response, one_… until a subscriber has the event (all subscribers of all rounds), all_… until the
 * last subscriber has it (one value per round). This process shares the machine with the server, so
 * the figures include the cost of reading from all sockets.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"
#include "sockets.h"

enum { CARRY = 32, TIMEOUT_MS = 10000, WARM_UP_ROUNDS = 3, PAUSE_US = 5000, MAX_COUNT = 100000 };

struct subscriber {
    int fd;
    bool has_it;
    size_t kept; /* of the previous bytes, which may contain the start of the mark */
    char carry[CARRY];
};

static struct {
    const char *thread, *key;
    bool tenant;
    size_t n_subscribers, n_rounds;
    int append_fd, epoll_fd;
    struct subscriber *subscribers;
    struct samples answer, one, all;
} run;

static void send_text(int fd, const char *text)
{
    if (send(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
        die("cannot send");
}

static void send_append(const char *mark)
{
    char body[256], request[1024];
    snprintf(body, sizeof body, "{\"kind\":\"progress\",\"text\":\"%s\"}", mark);
    snprintf(request, sizeof request,
        "POST /v1/threads/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
        run.thread, run.key, strlen(body), body);
    send_text(run.append_fd, request);
}

static void receive(int fd, char *out, size_t size)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, TIMEOUT_MS) != 1)
        die("no response in time");
    ssize_t n = recv(fd, out, size - 1, 0);
    if (n <= 0)
        die("a connection was closed");
    out[n] = '\0';
}

/* A response is small enough to arrive in one piece. */
static void read_answer(char *out, size_t size)
{
    receive(run.append_fd, out, size);
    if (strncmp(out, "HTTP/1.1 20", 11) != 0)
        die("the append was rejected: %s", out);
}

static long long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        die("the response lacks %s", name);
    return strtoll(at + strlen(name), NULL, 10);
}

static void watch(int fd, uint64_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
    if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

/* Starts after an existing event, to skip the history of earlier measurements. */
static void subscribe(unsigned long port)
{
    char answer[4096], request[1024], path[256];
    send_append("the first");
    read_answer(answer, sizeof answer);
    if (run.tenant)
        snprintf(
            path, sizeof path, "/v1/events/stream?after=%lld", number_after(answer, "\"id\":"));
    else
        snprintf(path, sizeof path, "/v1/threads/%s/events/stream?after=%lld", run.thread,
            number_after(answer, "\"seq\":"));
    usleep(200 * 1000);
    snprintf(request, sizeof request,
        "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", path, run.key);
    for (size_t i = 0; i < run.n_subscribers; i++) {
        run.subscribers[i].fd = connect_to(port, i);
        send_text(run.subscribers[i].fd, request);
    }
    for (size_t i = 0; i < run.n_subscribers; i++) {
        receive(run.subscribers[i].fd, answer, sizeof answer);
        if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
            die("a stream was rejected: %s", answer);
        watch(run.subscribers[i].fd, i);
    }
    usleep(300 * 1000);
}

static void take(struct subscriber *s, const char *mark, double took_us, bool counts)
{
    char bytes[CARRY + 16384];
    memcpy(bytes, s->carry, s->kept);
    ssize_t n = recv(s->fd, bytes + s->kept, sizeof bytes - s->kept, 0);
    if (n <= 0)
        die("a stream ended");
    size_t len = s->kept + (size_t)n;
    if (!s->has_it && memmem(bytes, len, mark, strlen(mark)) != NULL) {
        s->has_it = true;
        if (counts)
            samples_add(&run.one, took_us);
    }
    s->kept = len < CARRY ? len : CARRY;
    memcpy(s->carry, bytes + len - s->kept, s->kept);
}

static void run_round(size_t round)
{
    char mark[CARRY], answer[4096];
    struct epoll_event events[256];
    bool counts = round >= WARM_UP_ROUNDS, answered = false;
    size_t missing = run.n_subscribers;
    snprintf(mark, sizeof mark, "mark %zu of it", round);
    for (size_t i = 0; i < run.n_subscribers; i++)
        run.subscribers[i].has_it = false;
    double start = now_us(), last_us = 0;
    send_append(mark);
    while (missing > 0 || !answered) {
        int n = epoll_wait(run.epoll_fd, events, 256, TIMEOUT_MS);
        if (n <= 0)
            die("an event was not delivered in time");
        for (int i = 0; i < n; i++) {
            double took_us = now_us() - start;
            if (events[i].data.u64 == run.n_subscribers) {
                read_answer(answer, sizeof answer);
                answered = true;
                if (counts)
                    samples_add(&run.answer, took_us);
                continue;
            }
            struct subscriber *s = &run.subscribers[events[i].data.u64];
            bool had_it = s->has_it;
            take(s, mark, took_us, counts);
            if (s->has_it && !had_it) {
                missing--;
                last_us = took_us;
            }
        }
    }
    if (counts)
        samples_add(&run.all, last_us);
    usleep(PAUSE_US);
}

int main(int argc, char **argv)
{
    if (argc != 8)
        die("usage: delivery APPEND_PORT STREAM_PORT thread|tenant THREAD KEY SUBSCRIBERS ROUNDS");
    run.tenant = strcmp(argv[3], "tenant") == 0;
    run.thread = argv[4];
    run.key = argv[5];
    run.n_subscribers = parse_count(argv[6], MAX_COUNT);
    run.n_rounds = parse_count(argv[7], MAX_COUNT);
    run.subscribers = calloc(run.n_subscribers, sizeof *run.subscribers);
    run.epoll_fd = epoll_create1(0);
    if (run.subscribers == NULL || run.epoll_fd < 0)
        die("cannot start");
    raise_file_limit();
    run.append_fd = connect_to(parse_count(argv[1], 65535), run.n_subscribers);
    subscribe(parse_count(argv[2], 65535));
    watch(run.append_fd, run.n_subscribers);
    for (size_t i = 0; i < run.n_rounds + WARM_UP_ROUNDS; i++)
        run_round(i);
    print_samples("answer", &run.answer);
    print_samples("one", &run.one);
    print_samples("all", &run.all);
    return 0;
}
