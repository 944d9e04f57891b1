/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures libpq alone with the statements of Cairn's appends, taken from the table that Cairn is
 * built with. This program knows in advance all values that Cairn has to look up, so it sends a
 * whole transaction at once and waits only for its end. This is the upper limit.
 *   libpq append URL SCHEMA TENANT KEY THREADS_FILE CONNECTIONS APPENDS_PER_COMMIT
 *       EVENTS_PER_APPEND SECONDS
 *     prints events a second. THREADS_FILE has one thread id per line; each connection has its
 *     own share of the threads, like the writers of Cairn.
 *   libpq deliver URL SCHEMA TENANT KEY THREADS_FILE ROUNDS
 *     prints microseconds from the sending of one event until another connection has read it after
 *     a notification: the median and the 99th percentile.
 */
#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/tenancy/keys.sql.h"
#include "model/threads/events.sql.h"

enum { MAX_PARAMS = 16, MAX_CONNECTIONS = 256, MAX_THREADS = 4096 };

static const char EVENT[] = "{\"kind\":\"progress\",\"text\":\"step done\",\"payload\":{\"n\":1,"
                            "\"of\":10,\"note\":\"about as long as a progress line is\"},"
                            "\"marks\":0}";

/* Statements of the engine itself, which are not in the table. */
static const char BEGIN[] = "BEGIN ISOLATION LEVEL READ COMMITTED";
static const char SET_TENANT[] = "SELECT set_config('cairn.tenant', $1, true)";
static const char PAYLOAD[] =
    "{\"n\":1,\"of\":10,\"note\":\"about as long as a progress line is\"}";
static const char NOTIFY[] = "SELECT pg_notify($1, $2)";

static const Oid TYPE_OIDS[] = {[SQL_UUID] = 2950,
    [SQL_INT] = 20,
    [SQL_BOOL] = 16,
    [SQL_TEXT] = 25,
    [SQL_JSON] = 114,
    [SQL_BYTES] = 17};

static struct {
    const char *url, *schema, *tenant;
    char channel[128];
    unsigned char tenant_id[16], key_id[16];
    unsigned char threads[MAX_THREADS][16];
    unsigned n_threads, n_connections, n_appends, n_events;
    char *events;
    double seconds;
} config;

struct worker {
    pthread_t thread;
    unsigned index;
    PGconn *conn;
    unsigned sent; /* in this transaction */
    double rate;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "libpq: %s\n", what);
    exit(1);
}

static void check(struct worker *w, bool good)
{
    if (!good)
        die(PQerrorMessage(w->conn));
}

/* --- Statements ----------------------------------------------------------------------------- */

static void prepare(struct worker *w, const char *name, const char *sql, int n, const Oid *oids)
{
    PGresult *r = PQprepare(w->conn, name, sql, n, oids);
    check(w, PQresultStatus(r) == PGRES_COMMAND_OK);
    PQclear(r);
}

static void prepare_from_table(struct worker *w, const struct sql_statement *s)
{
    Oid oids[MAX_PARAMS];
    if (s->n_params > MAX_PARAMS)
        die("too many parameters");
    for (unsigned i = 0; i < s->n_params; i++)
        oids[i] = TYPE_OIDS[s->types[i]];
    prepare(w, s->name, s->text[ENGINE_POSTGRES], (int)s->n_params, oids);
}

static void send_own(struct worker *w, const char *name, const char *first, const char *second)
{
    const char *values[] = {first, second};
    int n = second != NULL ? 2 : first != NULL ? 1 : 0;
    check(w, PQsendQueryPrepared(w->conn, name, n, values, NULL, NULL, 1) == 1);
    w->sent++;
}

struct value {
    const char *param;
    const void *bytes;
    int length;
};

/* An unknown parameter means that the statement has changed and this program has not. */
static void send_from_table(
    struct worker *w, const struct sql_statement *s, const struct value *values, unsigned n_values)
{
    const char *bytes[MAX_PARAMS];
    int lengths[MAX_PARAMS], formats[MAX_PARAMS];
    for (unsigned i = 0; i < s->n_params; i++) {
        unsigned at = 0;
        while (at < n_values && strcmp(values[at].param, s->params[i]) != 0)
            at++;
        if (at == n_values)
            die(s->params[i]);
        bytes[i] = values[at].bytes;
        lengths[i] = values[at].length;
        formats[i] = 1;
    }
    check(w,
        PQsendQueryPrepared(w->conn, s->name, (int)s->n_params, bytes, lengths, formats, 1) == 1);
    w->sent++;
}

/* --- A transaction -------------------------------------------------------------------------- */

static void send_append(struct worker *w, const unsigned char thread_id[16])
{
    uint64_t count = htobe64(config.n_events), at = htobe64((uint64_t)time(NULL) * 1000000);
    uint64_t marks = 0;
    const struct value append[] = {{"tenant_id", config.tenant_id, 16},
        {"thread_id", thread_id, 16}, {"count", &count, sizeof count}, {"now", &at, sizeof at},
        {"events", config.events, (int)strlen(config.events)}, {"run_id", NULL, 0},
        {"kind", "progress", 8}, {"text", "step done", 9},
        {"payload", PAYLOAD, (int)strlen(PAYLOAD)}, {"marks", &marks, sizeof marks}};
    send_from_table(w, config.n_events == 1 ? &SQL_EVENT_APPEND_ONE : &SQL_EVENT_APPEND_ALL, append,
        sizeof append / sizeof append[0]);
}

static PGresult *next_result(struct worker *w)
{
    while (PQisBusy(w->conn)) {
        int unsent = PQflush(w->conn);
        struct pollfd fd = {
            .fd = PQsocket(w->conn), .events = (short)(POLLIN | (unsent > 0 ? POLLOUT : 0))};
        check(w, unsent >= 0);
        poll(&fd, 1, -1);
        check(w, PQconsumeInput(w->conn) == 1);
    }
    return PQgetResult(w->conn);
}

static void settle(struct worker *w)
{
    for (; w->sent > 0; w->sent--) {
        PGresult *r = next_result(w);
        check(w, PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK);
        PQclear(r);
        PQclear(next_result(w));
    }
    PGresult *r = next_result(w);
    check(w, PQresultStatus(r) == PGRES_PIPELINE_SYNC);
    PQclear(r);
}

static void run_transaction(struct worker *w, unsigned *next_thread)
{
    const struct value key[] = {{"tenant_id", config.tenant_id, 16}, {"id", config.key_id, 16}};
    send_own(w, "begin", NULL, NULL);
    send_own(w, "set_tenant", config.tenant, NULL);
    send_from_table(w, &SQL_KEY_SECRET, key, 2); /* once, because Cairn caches it as well */
    send_from_table(w, &SQL_EVENT_REGISTER, NULL, 0);
    for (unsigned i = 0; i < config.n_appends; i++) {
        send_append(w, config.threads[*next_thread]);
        *next_thread += config.n_connections;
        if (*next_thread >= config.n_threads)
            *next_thread = w->index;
    }
    send_own(w, "commit", NULL, NULL);
    check(w, PQpipelineSync(w->conn) == 1);
    settle(w);
}

/* After the commit, like Cairn: inside the transaction it would block all other commits. */
static void notify(struct worker *w)
{
    send_own(w, "notify", config.channel, "peer");
    check(w, PQpipelineSync(w->conn) == 1);
    settle(w);
}

/* --- Delivery ------------------------------------------------------------------------------- */

static int64_t ask_horizon(struct worker *w)
{
    send_from_table(w, &SQL_EVENT_HORIZON, NULL, 0);
    check(w, PQpipelineSync(w->conn) == 1);
    PGresult *r = next_result(w);
    uint64_t number;
    check(w, PQresultStatus(r) == PGRES_TUPLES_OK);
    memcpy(&number, PQgetvalue(r, 0, 0), sizeof number);
    PQclear(r);
    PQclear(next_result(w));
    w->sent = 0;
    settle(w);
    return (int64_t)be64toh(number);
}

/* Does the work of a node after a notification. Returns the number of events. */
static int read_on(struct worker *w, int64_t *position)
{
    char tenants[64];
    int64_t horizon = ask_horizon(w);
    uint64_t after = htobe64((uint64_t)*position), through = htobe64((uint64_t)horizon);
    uint64_t limit = htobe64(2000);
    snprintf(tenants, sizeof tenants, "[\"%s\"]", config.tenant);
    const struct value tail[] = {{"tenants", tenants, (int)strlen(tenants)},
        {"after", &after, sizeof after}, {"through", &through, sizeof through},
        {"limit", &limit, sizeof limit}};
    send_from_table(w, &SQL_EVENT_TAIL, tail, 4);
    check(w, PQpipelineSync(w->conn) == 1);
    PGresult *r = next_result(w);
    check(w, PQresultStatus(r) == PGRES_TUPLES_OK);
    int n = PQntuples(r);
    PQclear(r);
    PQclear(next_result(w));
    w->sent = 0;
    settle(w);
    *position = horizon;
    return n;
}

static void await_notification(struct worker *w)
{
    PGnotify *n;
    while ((n = PQnotifies(w->conn)) == NULL) {
        struct pollfd fd = {.fd = PQsocket(w->conn), .events = POLLIN};
        poll(&fd, 1, -1);
        check(w, PQconsumeInput(w->conn) == 1);
    }
    PQfreemem(n);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void deliver(struct worker *from, struct worker *to, unsigned rounds)
{
    unsigned next_thread = 0;
    int64_t position = ask_horizon(to);
    double *took = calloc(rounds, sizeof *took);
    if (took == NULL)
        die("out of memory");
    for (unsigned i = 0; i < rounds; i++) {
        const struct timespec pause = {.tv_nsec = 2000000};
        double start = now();
        run_transaction(from, &next_thread);
        notify(from);
        do
            await_notification(to);
        while (read_on(to, &position) == 0);
        took[i] = (now() - start) * 1e6;
        nanosleep(&pause, NULL);
    }
    qsort(took, rounds, sizeof *took, compare);
    printf("%.0f %.0f\n", took[(rounds - 1) / 2], took[(rounds - 1) * 99 / 100]);
    free(took);
}

/* --- Connections ---------------------------------------------------------------------------- */

static void execute(struct worker *w, const char *before, const char *name, const char *after)
{
    char sql[256];
    snprintf(sql, sizeof sql, "%s\"%s\"%s", before, name, after);
    PGresult *r = PQexec(w->conn, sql);
    check(w, PQresultStatus(r) == PGRES_COMMAND_OK);
    PQclear(r);
}

static void connect_to(struct worker *w, bool listens)
{
    const Oid texts[] = {25, 25};
    w->conn = PQconnectdb(config.url);
    check(w, PQstatus(w->conn) == CONNECTION_OK);
    execute(w, "SET search_path = ", config.schema, "");
    if (listens) {
        execute(w, "SET cairn.tenant = ", "*", "");
        execute(w, "LISTEN ", config.channel, "");
        prepare_from_table(w, &SQL_EVENT_HORIZON);
        prepare_from_table(w, &SQL_EVENT_TAIL);
    }
    prepare(w, "begin", BEGIN, 0, NULL);
    prepare(w, "set_tenant", SET_TENANT, 1, texts);
    prepare(w, "notify", NOTIFY, 2, texts);
    prepare(w, "commit", "COMMIT", 0, NULL);
    prepare_from_table(w, &SQL_KEY_SECRET);
    prepare_from_table(w, &SQL_EVENT_REGISTER);
    prepare_from_table(w, &SQL_EVENT_APPEND_ALL);
    prepare_from_table(w, &SQL_EVENT_APPEND_ONE);
    check(w, PQsetnonblocking(w->conn, 1) == 0 && PQenterPipelineMode(w->conn) == 1);
}

static void *run_worker(void *data)
{
    struct worker *w = data;
    unsigned next_thread = w->index;
    uint64_t n = 0;
    double start = now(), end = start;
    while (end - start < config.seconds) {
        run_transaction(w, &next_thread);
        n += (uint64_t)config.n_appends * config.n_events;
        end = now();
    }
    w->rate = (double)n / (end - start);
    return NULL;
}

/* --- Arguments ------------------------------------------------------------------------------ */

static void parse_uuid(const char *text, unsigned char out[16])
{
    unsigned n = 0;
    for (const char *at = text; *at != '\0' && *at != '\n' && n < 32; at++) {
        char digit[2] = {*at, '\0'};
        if (*at == '-')
            continue;
        unsigned value = (unsigned)strtoul(digit, NULL, 16);
        out[n / 2] = (unsigned char)(n % 2 == 0 ? value << 4 : out[n / 2] | value);
        n++;
    }
    if (n != 32)
        die("invalid UUID");
}

static void read_threads(const char *path)
{
    char line[128];
    FILE *file = fopen(path, "r");
    if (file == NULL)
        die("cannot read the file of threads");
    while (config.n_threads < MAX_THREADS && fgets(line, sizeof line, file) != NULL)
        parse_uuid(line, config.threads[config.n_threads++]);
    fclose(file);
}

static void make_events(void)
{
    size_t size = config.n_events * sizeof EVENT + 3, at = 0;
    config.events = malloc(size);
    if (config.events == NULL)
        die("out of memory");
    for (unsigned i = 0; i < config.n_events; i++)
        at += (size_t)snprintf(config.events + at, size - at, "%s%s", i == 0 ? "[" : ",", EVENT);
    snprintf(config.events + at, size - at, "]");
}

static unsigned parse_count(const char *text, unsigned max)
{
    unsigned long n = strtoul(text, NULL, 10);
    if (n < 1 || n > max)
        die("invalid number");
    return (unsigned)n;
}

static void run_deliver(unsigned rounds)
{
    struct worker from = {.index = 0}, to = {.index = 1};
    config.n_appends = config.n_events = config.n_connections = 1;
    make_events();
    connect_to(&from, false);
    connect_to(&to, true);
    deliver(&from, &to, rounds);
    PQfinish(from.conn);
    PQfinish(to.conn);
}

static void run_append(char **argv)
{
    static struct worker workers[MAX_CONNECTIONS];
    double rate = 0;
    config.n_connections = parse_count(argv[0], MAX_CONNECTIONS);
    config.n_appends = parse_count(argv[1], 100000);
    config.n_events = parse_count(argv[2], 10000);
    config.seconds = strtod(argv[3], NULL);
    if (config.n_threads < config.n_connections)
        die("there must be a thread for each connection");
    make_events();
    for (unsigned i = 0; i < config.n_connections; i++) {
        workers[i].index = i;
        connect_to(&workers[i], false);
    }
    for (unsigned i = 0; i < config.n_connections; i++)
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
            die("cannot start a thread");
    for (unsigned i = 0; i < config.n_connections; i++) {
        pthread_join(workers[i].thread, NULL);
        rate += workers[i].rate;
        PQfinish(workers[i].conn);
    }
    printf("%.0f\n", rate);
}

int main(int argc, char **argv)
{
    bool delivers = argc == 8 && strcmp(argv[1], "deliver") == 0;
    if (!delivers && !(argc == 11 && strcmp(argv[1], "append") == 0))
        die("usage: see the top of libpq.c");
    config.url = argv[2];
    config.schema = argv[3];
    config.tenant = argv[4];
    snprintf(config.channel, sizeof config.channel, "cairn_%s", config.schema);
    parse_uuid(argv[4], config.tenant_id);
    parse_uuid(argv[5], config.key_id);
    read_threads(argv[6]);
    if (delivers)
        run_deliver(parse_count(argv[7], 100000));
    else
        run_append(argv + 7);
    free(config.events);
    return 0;
}
