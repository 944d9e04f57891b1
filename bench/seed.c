/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads PostgreSQL over its own protocol, as in the design that preceded Cairn: a request is one
 * INSERT into workflow_events and a commit. There is no number per workflow, which would need a
 * lock on its row. One thread, like load.c.
 *   seed URL CONNECTIONS WORKFLOWS ROWS_PER_INSERT SECONDS
 * The table must exist (seed.sql) with this number of workflows, whose ids count from 1. Prints
 * "ready" when all connections are open and waits for a line, so that the caller can exclude the
 * cost of connecting from the CPU of the server. Then prints rate, in rows a second; latency_… and
 * cpu (its own), in microseconds.
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "measure.h"

enum { MAX_CONNECTIONS = 1024, MAX_ROWS = 1000, EVENTS = 256, SQL_BYTES = 64 * 1024 };

static const char PAYLOAD[] =
    "{\"n\":1,\"of\":10,\"note\":\"about as long as a progress line is\"}";

struct connection {
    PGconn *pg;
    char workflow[40];
    double sent_us;
    bool is_busy;
};

static struct {
    struct connection connections[MAX_CONNECTIONS];
    size_t n_connections, n_workflows, n_rows, n_busy;
    const char *values[1 + 3 * MAX_ROWS];
    double end_us;
    int epoll_fd;
    struct samples latency;
} run;

static void check(const struct connection *c, bool good)
{
    if (!good)
        die("PostgreSQL: %s", PQerrorMessage(c->pg));
}

static void write_insert(char *sql, size_t size)
{
    size_t at = (size_t)snprintf(
        sql, size, "INSERT INTO workflow_events (workflow_id, kind, text, payload) VALUES ");
    for (size_t i = 0; i < run.n_rows; i++)
        at += (size_t)snprintf(sql + at, size - at, "%s($1::uuid,$%zu,$%zu,$%zu::jsonb)",
            i == 0 ? "" : ",", 3 * i + 2, 3 * i + 3, 3 * i + 4);
    snprintf(sql + at, size - at, " RETURNING id");
}

static void fill_values(void)
{
    for (size_t i = 0; i < run.n_rows; i++) {
        run.values[3 * i + 1] = "progress";
        run.values[3 * i + 2] = "step done";
        run.values[3 * i + 3] = PAYLOAD;
    }
}

static void open_connection(struct connection *c, const char *url, const char *insert, size_t i)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    c->pg = PQconnectdb(url);
    check(c, PQstatus(c->pg) == CONNECTION_OK);
    PGresult *result = PQprepare(c->pg, "insert", insert, 0, NULL);
    check(c, PQresultStatus(result) == PGRES_COMMAND_OK);
    PQclear(result);
    check(c, PQsetnonblocking(c->pg, 1) == 0);
    snprintf(
        c->workflow, sizeof c->workflow, "00000000-0000-0000-0000-%012zu", i % run.n_workflows + 1);
    if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, PQsocket(c->pg), &event) != 0)
        die("epoll_ctl failed");
}

static void send_insert(struct connection *c)
{
    run.values[0] = c->workflow;
    c->sent_us = now_us();
    check(c, PQsendQueryPrepared(
                 c->pg, "insert", (int)(1 + 3 * run.n_rows), run.values, NULL, NULL, 1) == 1);
    while (PQflush(c->pg) > 0) { /* the request fits into the socket's buffer */
    }
    c->is_busy = true;
    run.n_busy++;
}

static void finish(struct connection *c)
{
    PGresult *result;
    while ((result = PQgetResult(c->pg)) != NULL) {
        check(c, PQresultStatus(result) == PGRES_TUPLES_OK);
        PQclear(result);
    }
    double now = now_us();
    c->is_busy = false;
    run.n_busy--;
    if (now >= run.end_us)
        return;
    samples_add(&run.latency, now - c->sent_us);
    send_insert(c);
}

static void run_all(void)
{
    struct epoll_event events[EVENTS];
    for (size_t i = 0; i < run.n_connections; i++)
        send_insert(&run.connections[i]);
    while (run.n_busy > 0) {
        int n = epoll_wait(run.epoll_fd, events, EVENTS, 10000);
        if (n <= 0)
            die("PostgreSQL does not respond");
        for (int i = 0; i < n; i++) {
            struct connection *c = events[i].data.ptr;
            check(c, PQconsumeInput(c->pg) == 1);
            if (c->is_busy && !PQisBusy(c->pg))
                finish(c);
        }
    }
}

int main(int argc, char **argv)
{
    static char insert[SQL_BYTES];
    if (argc != 6)
        die("usage: seed URL CONNECTIONS WORKFLOWS ROWS_PER_INSERT SECONDS");
    run.n_connections = parse_count(argv[2], MAX_CONNECTIONS);
    run.n_workflows = parse_count(argv[3], 1000000);
    run.n_rows = parse_count(argv[4], MAX_ROWS);
    double seconds = strtod(argv[5], NULL);
    run.epoll_fd = epoll_create1(0);
    if (run.epoll_fd < 0 || run.n_workflows == 0)
        die("cannot start");
    write_insert(insert, sizeof insert);
    fill_values();
    for (size_t i = 0; i < run.n_connections; i++)
        open_connection(&run.connections[i], argv[1], insert, i);
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
        die("standard input was closed");
    double cpu = cpu_us();
    run.end_us = now_us() + seconds * 1e6;
    run_all();
    print_result("rate", (double)(run.latency.n * run.n_rows) / seconds);
    print_result("cpu", cpu_us() - cpu);
    print_samples("latency", &run.latency);
    for (size_t i = 0; i < run.n_connections; i++)
        PQfinish(run.connections[i].pg);
    samples_deinit(&run.latency);
    return 0;
}
