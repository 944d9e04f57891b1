/*
 * How long an event takes to everybody who listens: appends one, waits until every subscriber has
 * it, and so on.
 *   delivery APPEND_PORT STREAM_PORT thread|tenant THREAD KEY SUBSCRIBERS ROUNDS
 * Prints microseconds from the sending of the append: the median of its answer, the median and the
 * 99th percentile of all deliveries. The answer comes after the commit, as a delivery does; so the
 * difference is what the delivery takes longer.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CARRY = 32, TIMEOUT_MS = 5000, WARM_UP_ROUNDS = 3, PAUSE_US = 2000 };

struct subscriber {
    int fd;
    bool has_it;
    size_t kept; /* of what came before, in which the mark may have begun */
    char carry[CARRY];
};

static struct {
    const char *thread, *key;
    bool tenant;
    size_t n_subscribers, n_rounds;
    int append_fd, epoll_fd;
    struct subscriber *subscribers;
    double *deliveries, *answers;
    size_t n_deliveries, n_answers;
} run;

static void die(const char *what)
{
    fprintf(stderr, "delivery: %s\n", what);
    exit(1);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int connect_to(const char *port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
        die("cannot connect");
    return fd;
}

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

/* An answer is small enough to come in one piece. */
static void read_answer(char *out, size_t size)
{
    ssize_t n = recv(run.append_fd, out, size - 1, 0);
    if (n <= 0)
        die("the append was not answered");
    out[n] = '\0';
    if (strncmp(out, "HTTP/1.1 20", 11) != 0)
        die(out);
}

static long long number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        die("the answer lacks a number");
    return strtoll(at + strlen(name), NULL, 10);
}

static void watch(int fd, uint64_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};
    if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl");
}

/* From an event on that is there already: nobody reads the history of earlier measurements. */
static void subscribe(const char *port)
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
        run.subscribers[i].fd = connect_to(port);
        send_text(run.subscribers[i].fd, request);
    }
    for (size_t i = 0; i < run.n_subscribers; i++) {
        ssize_t n = recv(run.subscribers[i].fd, answer, sizeof answer - 1, 0);
        answer[n > 0 ? n : 0] = '\0';
        if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
            die(answer);
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
            run.deliveries[run.n_deliveries++] = took_us;
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
    double start = now_us();
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
                    run.answers[run.n_answers++] = took_us;
                continue;
            }
            struct subscriber *s = &run.subscribers[events[i].data.u64];
            bool had_it = s->has_it;
            take(s, mark, took_us, counts);
            missing -= s->has_it && !had_it;
        }
    }
    usleep(PAUSE_US);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, compare);
    return values[(size_t)((double)(n - 1) * share)];
}

int main(int argc, char **argv)
{
    if (argc != 8)
        die("usage: delivery APPEND_PORT STREAM_PORT thread|tenant THREAD KEY SUBSCRIBERS ROUNDS");
    run.tenant = strcmp(argv[3], "tenant") == 0;
    run.thread = argv[4];
    run.key = argv[5];
    run.n_subscribers = strtoul(argv[6], NULL, 10);
    run.n_rounds = strtoul(argv[7], NULL, 10);
    run.subscribers = calloc(run.n_subscribers, sizeof *run.subscribers);
    run.deliveries = calloc(run.n_subscribers * run.n_rounds, sizeof(double));
    run.answers = calloc(run.n_rounds, sizeof(double));
    run.epoll_fd = epoll_create1(0);
    if (run.n_subscribers == 0 || run.n_rounds == 0 || run.subscribers == NULL ||
        run.deliveries == NULL || run.answers == NULL || run.epoll_fd < 0)
        die("cannot begin");
    run.append_fd = connect_to(argv[1]);
    subscribe(argv[2]);
    watch(run.append_fd, run.n_subscribers);
    for (size_t i = 0; i < run.n_rounds + WARM_UP_ROUNDS; i++)
        run_round(i);
    printf("%.0f %.0f %.0f\n", percentile(run.answers, run.n_answers, 0.5),
        percentile(run.deliveries, run.n_deliveries, 0.5),
        percentile(run.deliveries, run.n_deliveries, 0.99));
    return 0;
}
