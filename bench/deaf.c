/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SSE subscribers, of which some never read, while events are appended at a fixed rate.
 *   deaf PORT SUBSCRIBERS DEAF THREADS_FILE KEY SECONDS RATE BYTES
 * The subscribers and the events are spread over the threads of THREADS_FILE (new threads, one id
 * per line): RATE events a second in total, of BYTES each. A reader that is disconnected reconnects
 * with its cursor. Prints "ready" when all have subscribed, then events, deliveries, lost and
 * disorder (both must be 0), reconnects, answer_… of the appends and delivery_… to the readers, in
 * microseconds from the time the append was due.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "sockets.h"

enum {
    LINE_BYTES = 224, /* of a line; its start identifies the event */
    MAX_THREADS = 1024,
    MAX_SUBSCRIBERS = 60000,
    MAX_BYTES = 64 * 1024,
    READ_BYTES = 256 * 1024,
    EVENTS = 512,
    N_APPENDERS = 16,
    END_US = 20 * 1000000,
    TIMEOUT_MS = 20000,
};

struct subscriber {
    int fd;
    bool is_deaf;
    size_t thread;
    long long last_seq;
    size_t line_len; /* of the line so far, including discarded bytes */
    char line[LINE_BYTES];
};

struct appender {
    int fd;
    bool is_busy;
    size_t thread;
    double due_us;
    struct answer_reader answer;
};

static struct {
    unsigned long port, n_bytes;
    size_t n_subscribers, n_deaf, n_threads;
    double seconds, rate, start_us;
    const char *key;
    char threads[MAX_THREADS][40];
    long long last_seqs[MAX_THREADS]; /* of acknowledged appends */
    struct subscriber *subscribers;
    struct appender appenders[N_APPENDERS];
    size_t next_appender;
    size_t n_due; /* appends sent */
    size_t n_behind, n_disorder, n_reconnects;
    int epoll_fd;
    char *payload, *read_buffer, *request;
    struct samples delivery, answer;
} run;

static void watch(int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll_ctl failed");
}

/* --- Subscribers ---------------------------------------------------------------------------- */

static void subscribe(struct subscriber *s, size_t index)
{
    char request[512];
    s->fd = (s->is_deaf ? connect_narrow : connect_to)(run.port, index);
    s->line_len = 0;
    int n = snprintf(request, sizeof request,
        "GET /v1/threads/%s/events/stream?after=%lld HTTP/1.1\r\nHost: localhost\r\n"
        "Authorization: Bearer %s\r\n\r\n",
        run.threads[s->thread], s->last_seq, run.key);
    if (send(s->fd, request, (size_t)n, MSG_NOSIGNAL) != n)
        die("cannot send");
    if (!s->is_deaf)
        watch(s->fd, s);
}

/* Waits for the head of the response, which stays in the socket. */
static void await_answer(const struct subscriber *s)
{
    char start[13] = "";
    struct pollfd ready = {.fd = s->fd, .events = POLLIN};
    if (poll(&ready, 1, TIMEOUT_MS) != 1 || recv(s->fd, start, 12, MSG_PEEK) != 12 ||
        strcmp(start, "HTTP/1.1 200") != 0)
        die("a stream was rejected: %s", start);
}

static void take_event(struct subscriber *s, const char *data, double now)
{
    const char *seq_at = strstr(data, "\"seq\":"), *due_at = strstr(data, "\"due ");
    if (seq_at == NULL)
        die("an event without a seq: %s", data);
    long long seq = strtoll(seq_at + 6, NULL, 10);
    run.n_disorder += seq != s->last_seq + 1;
    s->last_seq = seq;
    if (due_at != NULL)
        samples_add(&run.delivery, now - strtod(due_at + 5, NULL));
}

static void end_line(struct subscriber *s, double now)
{
    size_t kept = s->line_len < LINE_BYTES - 1 ? s->line_len : LINE_BYTES - 1;
    s->line[kept] = '\0';
    if (strncmp(s->line, "data: {\"id\"", 11) == 0)
        take_event(s, s->line + 6, now);
    s->line_len = 0;
}

static void take_bytes(struct subscriber *s, const char *at, size_t n, double now)
{
    for (const char *end = at + n; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((line_end != NULL ? line_end : end) - at);
        if (s->line_len < LINE_BYTES - 1) {
            size_t room = LINE_BYTES - 1 - s->line_len;
            memcpy(s->line + s->line_len, at, len < room ? len : room);
        }
        s->line_len += len;
        at += len;
        if (line_end == NULL)
            return;
        end_line(s, now);
        at++;
    }
}

static void read_stream(struct subscriber *s)
{
    ssize_t n = recv(s->fd, run.read_buffer, READ_BYTES, 0);
    if (n > 0) {
        take_bytes(s, run.read_buffer, (size_t)n, now_us());
    } else if (n == 0 || errno != EAGAIN) {
        close(s->fd);
        run.n_reconnects++;
        subscribe(s, (size_t)(s - run.subscribers));
    }
}

/* --- Appends -------------------------------------------------------------------------------- */

static double due_us(size_t index)
{
    return run.start_us + (double)index * 1e6 / run.rate;
}

static bool is_due(double now)
{
    return due_us(run.n_due) <= now && due_us(run.n_due) < run.start_us + run.seconds * 1e6;
}

static void send_append(struct appender *a)
{
    char body_start[64];
    a->due_us = due_us(run.n_due);
    a->thread = run.n_due++ % run.n_threads;
    a->is_busy = true;
    answer_reader_init(&a->answer);
    int start_len = snprintf(body_start, sizeof body_start,
        "{\"kind\":\"progress\",\"text\":\"due %.0f\",\"payload\":\"", a->due_us);
    int n = sprintf(run.request,
        "POST /v1/threads/%s/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s%s\"}",
        run.threads[a->thread], run.key, (size_t)start_len + run.n_bytes + 2, body_start,
        run.payload);
    for (int sent = 0; sent < n;) {
        ssize_t k = send(a->fd, run.request + sent, (size_t)(n - sent), MSG_NOSIGNAL);
        if (k < 0 && errno != EAGAIN)
            die("cannot send");
        sent += k > 0 ? (int)k : 0;
    }
}

static void read_answer(struct appender *a)
{
    ssize_t n = recv(a->fd, run.read_buffer, READ_BYTES, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0 || !a->is_busy)
        die("the connection of an append was closed: %zd, %s", n, strerror(errno));
    if (!answer_take(&a->answer, run.read_buffer, (size_t)n))
        return;
    if (a->answer.status != 201)
        die("an append was rejected: %s", a->answer.head);
    a->is_busy = false;
    run.last_seqs[a->thread]++;
    samples_add(&run.answer, now_us() - a->due_us);
}

/* In turn, because the server closes idle connections. */
static void send_what_is_due(void)
{
    for (size_t i = 0; i < N_APPENDERS && is_due(now_us()); i++) {
        struct appender *a = &run.appenders[run.next_appender];
        run.next_appender = (run.next_appender + 1) % N_APPENDERS;
        if (!a->is_busy)
            send_append(a);
    }
}

/* --- Main ----------------------------------------------------------------------------------- */

static bool is_appender(const void *what)
{
    const struct appender *a = what;
    return a >= run.appenders && a < run.appenders + N_APPENDERS;
}

static void turn(void)
{
    struct epoll_event events[EVENTS];
    double wait_us = due_us(run.n_due) - now_us();
    wait_us = wait_us < 0 || wait_us > 20000 ? 20000 : wait_us;
    struct timespec wait = {.tv_nsec = (long)wait_us * 1000};
    int n = epoll_pwait2(run.epoll_fd, events, EVENTS, &wait, NULL);
    for (int i = 0; i < n; i++) {
        if (is_appender(events[i].data.ptr))
            read_answer(events[i].data.ptr);
        else
            read_stream(events[i].data.ptr);
    }
    send_what_is_due();
}

static size_t count_behind(void)
{
    size_t n = 0;
    for (size_t i = 0; i < run.n_subscribers; i++)
        if (!run.subscribers[i].is_deaf)
            n += (size_t)(run.last_seqs[run.subscribers[i].thread] - run.subscribers[i].last_seq);
    return n;
}

static void run_all(void)
{
    run.start_us = now_us();
    double end_us = run.start_us + run.seconds * 1e6;
    while (now_us() < end_us)
        turn();
    do {
        turn();
        run.n_behind = count_behind();
    } while ((run.n_behind > 0 || run.answer.n < run.n_due) && now_us() < end_us + END_US);
}

static void read_threads(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die("cannot read %s", path);
    while (run.n_threads < MAX_THREADS && fscanf(file, "%39s", run.threads[run.n_threads]) == 1)
        run.last_seqs[run.n_threads++] = 1; /* the event of its creation */
    fclose(file);
    if (run.n_threads == 0)
        die("%s names no threads", path);
}

static void begin(void)
{
    run.subscribers = calloc(run.n_subscribers, sizeof *run.subscribers);
    run.payload = calloc(1, run.n_bytes + 1);
    run.request = calloc(1, run.n_bytes + 1024);
    run.read_buffer = malloc(READ_BYTES);
    run.epoll_fd = epoll_create1(0);
    if (run.subscribers == NULL || run.payload == NULL || run.request == NULL ||
        run.read_buffer == NULL || run.epoll_fd < 0)
        die("cannot start");
    memset(run.payload, 'x', run.n_bytes);
    raise_file_limit();
    for (size_t i = 0; i < run.n_subscribers; i++) {
        run.subscribers[i].is_deaf = i < run.n_deaf;
        run.subscribers[i].thread = i % run.n_threads;
        subscribe(&run.subscribers[i], i);
    }
    for (size_t i = 0; i < run.n_subscribers; i++)
        await_answer(&run.subscribers[i]);
    for (size_t i = 0; i < N_APPENDERS; i++) {
        run.appenders[i].fd = connect_to(run.port, MAX_SUBSCRIBERS);
        watch(run.appenders[i].fd, &run.appenders[i]);
    }
    puts("ready");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc != 9)
        die("usage: deaf PORT SUBSCRIBERS DEAF THREADS_FILE KEY SECONDS RATE BYTES");
    run.port = parse_count(argv[1], 65535);
    run.n_subscribers = parse_count(argv[2], MAX_SUBSCRIBERS);
    run.n_deaf = parse_count(argv[3], run.n_subscribers);
    read_threads(argv[4]);
    run.key = argv[5];
    run.seconds = strtod(argv[6], NULL);
    run.rate = strtod(argv[7], NULL);
    run.n_bytes = parse_count(argv[8], MAX_BYTES);
    begin();
    run_all();
    print_result("events", (double)run.n_due);
    print_result("deliveries", (double)run.delivery.n);
    print_result("lost", (double)run.n_behind);
    print_result("disorder", (double)run.n_disorder);
    print_result("reconnects", (double)run.n_reconnects);
    print_samples("answer", &run.answer);
    print_samples("delivery", &run.delivery);
    return 0;
}
