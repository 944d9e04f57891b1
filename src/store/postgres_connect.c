/* SPDX-License-Identifier: Apache-2.0 */
#include <netdb.h>
#include <poll.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/postgres.h"

/* --- Where to ------------------------------------------------------------------------------- */

enum { MAX_KEYWORDS = 64, MAX_HOST_BYTES = 256, MAX_ADDRESSES = 8 };

/* Cairn's defaults, which the URL can override. */
static const struct {
    const char *keyword;
    const char *value;
} DEFAULTS[] = {
    {"application_name", "cairn"},
    {"client_encoding", "UTF8"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "10000"},
};

static const char *value_of(const struct pg_target *t, const char *keyword)
{
    for (size_t i = 0; t->keywords[i] != NULL; i++)
        if (strcmp(t->keywords[i], keyword) == 0)
            return t->values[i];
    return NULL;
}

static void add(struct pg_target *t, const char *keyword, const char *value)
{
    size_t n = 0;
    while (t->keywords[n] != NULL)
        n++;
    assert(n < MAX_KEYWORDS - 1);
    t->keywords[n] = keyword;
    t->values[n] = value;
}

static void add_default(struct pg_target *t, const char *keyword, const char *value)
{
    if (value_of(t, keyword) == NULL)
        add(t, keyword, value);
}

/* Returns the parameters that libpq would use, from the URL, the service or the environment. libpq
 * reports them only for a connection; this one has an invalid value and fails before it contacts a
 * server. */
static PQconninfoOption *ask_libpq(const struct pg_target *t)
{
    const char *keywords[MAX_KEYWORDS + 1] = {NULL}, *values[MAX_KEYWORDS + 1] = {NULL};
    size_t n = 0;
    for (; t->keywords[n] != NULL; n++) {
        keywords[n] = t->keywords[n];
        values[n] = t->values[n];
    }
    keywords[n] = "channel_binding";
    values[n] = "not a value";
    PGconn *conn = PQconnectStartParams(keywords, values, 0);
    PQconninfoOption *used = PQconninfo(conn);
    if (used == NULL)
        mem_exhausted(0);
    PQfinish(conn);
    return used;
}

static const PQconninfoOption *find_used(const struct pg_target *t, const char *keyword)
{
    const PQconninfoOption *o = t->used;
    while (strcmp(o->keyword, keyword) != 0)
        o++;
    return o;
}

static bool is_set(const PQconninfoOption *o)
{
    return o->val != NULL && o->val[0] != '\0';
}

/* Adds the hosts and ports, from whatever source. */
static void add_hosts(struct pg_target *t)
{
    static const char *const LISTS[] = {"host", "hostaddr", "port"};
    for (size_t i = 0; i < COUNT_OF(LISTS); i++)
        if (is_set(find_used(t, LISTS[i])))
            add_default(t, LISTS[i], find_used(t, LISTS[i])->val);
}

/* Copies the n-th part of a comma-separated list, or the only one. */
static void copy_part(const char *list, size_t n, char *out, size_t size)
{
    for (const char *comma; n > 0 && (comma = strchr(list, ',')) != NULL; n--)
        list = comma + 1;
    snprintf(out, size, "%.*s", (int)strcspn(list, ","), list);
}

static size_t count_parts(const char *list)
{
    size_t n = 1;
    for (; *list != '\0'; list++)
        n += *list == ',';
    return n;
}

static bool is_socket(const char *host)
{
    return host[0] == '/' || host[0] == '@';
}

static bool are_here(const char *hosts)
{
    bool here = true;
    for (size_t n = hosts != NULL ? count_parts(hosts) : 0; here && n > 0; n--) {
        char host[MAX_HOST_BYTES];
        copy_part(hosts, n - 1, host, sizeof host);
        here = is_socket(host) || strcmp(host, "localhost") == 0 ||
               strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
    }
    return here;
}

/* Returns true if the URL, the environment, or a service file sets sslmode. */
static bool is_mode_told(const struct pg_target *t)
{
    const PQconninfoOption *mode = find_used(t, "sslmode");
    return value_of(t, "sslmode") != NULL || getenv("PGSSLMODE") != NULL ||
           (is_set(mode) && strcmp(mode->val, mode->compiled) != 0);
}

/* Parameters that libpq cannot resolve now, e.g. a missing service, may lead anywhere later. */
static bool is_near(const struct pg_target *t)
{
    return is_set(find_used(t, "sslmode")) && are_here(value_of(t, "host")) &&
           are_here(value_of(t, "hostaddr"));
}

/* Over a network the server must authenticate itself, unless the operator disables that. */
static void add_tls(struct pg_target *t)
{
    static const char DEBIAN_ROOTS[] = "/etc/ssl/certs/ca-certificates.crt";
    if (is_mode_told(t) || is_near(t))
        return;
    add(t, "sslmode", "verify-full");
    if (!is_set(find_used(t, "sslrootcert")) && access(DEBIAN_ROOTS, R_OK) == 0)
        add(t, "sslrootcert", DEBIAN_ROOTS);
}

enum error pg_target_init(
    struct pg_target *t, struct str url, bool replica, const char *option, struct problem *problem)
{
    *t = (struct pg_target){.replica = replica};
    /* libpq's message may quote the password. */
    t->parsed = PQconninfoParse(arena_cstr(problem->arena, url), NULL);
    if (t->parsed == NULL)
        return problem_set(problem, ERR_BAD_REQUEST,
            "%s must be a URL such as postgres://user@host:5432/database?sslmode=verify-full "
            "(write %%3A, %%2F, %%40 for : / @ in a password)",
            option);
    t->keywords = mem_zalloc(MAX_KEYWORDS * sizeof(char *));
    t->values = mem_zalloc(MAX_KEYWORDS * sizeof(char *));
    for (const PQconninfoOption *o = t->parsed; o->keyword != NULL; o++)
        if (is_set(o))
            add(t, o->keyword, o->val);
    t->used = ask_libpq(t);
    add_hosts(t);
    for (size_t i = 0; i < COUNT_OF(DEFAULTS); i++)
        add_default(t, DEFAULTS[i].keyword, DEFAULTS[i].value);
    add_default(t, "target_session_attrs", replica ? "any" : "read-write");
    add_tls(t);
    return OK;
}

void pg_target_deinit(struct pg_target *t)
{
    PQconninfoFree(t->parsed);
    PQconninfoFree(t->used);
    mem_free(t->keywords);
    mem_free(t->values);
    *t = (struct pg_target){0};
}

/* --- Life ----------------------------------------------------------------------------------- */

static size_t count_prepared(const struct pg_connection *c)
{
    return c->store->base.config.n_statements + PG_OWN_COUNT;
}

void pg_connection_init(struct pg_connection *c, struct pg_store *s, const struct pg_target *target)
{
    *c = (struct pg_connection){.store = s, .target = target, .lost = true};
    c->prepared = mem_zalloc(count_prepared(c) * sizeof(bool));
}

void pg_disconnect(struct pg_connection *c)
{
    PQfinish(c->conn);
    c->conn = NULL;
    c->lost = true;
    c->sent_first = c->sent_count = 0;
    memset(c->prepared, 0, count_prepared(c) * sizeof(bool));
}

void pg_connection_deinit(struct pg_connection *c)
{
    if (c->store == NULL)
        return;
    pg_disconnect(c);
    pg_begin_transaction(c); /* clears the failure of the last transaction */
    while (c->free_queries != NULL) {
        struct pg_query *next = c->free_queries->next;
        mem_free(c->free_queries);
        c->free_queries = next;
    }
    mem_free(c->sent);
    mem_free(c->prepared);
}

/* --- Setting up ----------------------------------------------------------------------------- */

/* One statement that makes every setting, for the session or for the transaction. An inspection
 * holds no lock that others wait for, so its reads have no time limit. A long read has the usual
 * limit for each of its statements, and none for its transaction, whatever the server's is; the
 * setting for that exists since PostgreSQL 17. */
#define SETTINGS_WITH(statement_timeout, idle_timeout)                                          \
    "SELECT set_config('search_path', $1, $2::boolean),"                                        \
    " set_config('statement_timeout', '" statement_timeout "', $2::boolean),"                   \
    " set_config('lock_timeout', '250', $2::boolean),"                                          \
    " set_config('idle_in_transaction_session_timeout', '" idle_timeout "', $2::boolean),"      \
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"              \
    "   WHEN 'off' THEN 'on' WHEN 'local' THEN 'on' ELSE current_setting('synchronous_commit')" \
    "   END, $2::boolean)"
static const char SETTINGS[] = SETTINGS_WITH("10000", "5000");
static const char PATIENT_SETTINGS[] = SETTINGS_WITH("0", "0");
static const char LONG_SETTINGS[] =
    SETTINGS_WITH("10000", "60000") ", (SELECT set_config(name, '0', $2::boolean)"
                                    "   FROM pg_settings WHERE name = 'transaction_timeout')";
_Static_assert(POSTGRES_STATEMENT_TIMEOUT_MS == 10000 && POSTGRES_LOCK_TIMEOUT_MS == 250 &&
                   POSTGRES_IDLE_TIMEOUT_MS == 5000 && POSTGRES_LONG_IDLE_TIMEOUT_MS == 60000,
    "SETTINGS says the same");

static const char *settings_of(const struct pg_connection *c)
{
    if (c->store->base.config.inspects)
        return PATIENT_SETTINGS;
    return c->is_long ? LONG_SETTINGS : SETTINGS;
}

/* Through the pipeline, whose answers have a deadline. A pooler invents the process number of the
 * server that it reports to its clients. */
static bool set_up(struct pg_connection *c)
{
    int64_t pid;
    if (PQsetnonblocking(c->conn, 1) != 0 || PQenterPipelineMode(c->conn) != 1)
        return false;
    pg_begin_transaction(c);
    if (!pg_ask(c, "SELECT pg_backend_pid()", &pid, 1))
        return false;
    c->pooled = pid != PQbackendPID(c->conn);
    return c->pooled ||
           (pg_send_text(c, settings_of(c), c->store->schema, "false") && pg_catch_up(c));
}

bool pg_begin(struct pg_connection *c, enum pg_own begin)
{
    /* A pooler may assign another session once it has seen the end of the transaction. */
    if (c->pooled && !pg_settle(c))
        return false;
    if (!pg_send_own(c, begin, NULL, NULL))
        return false;
    return !c->pooled || pg_send_text(c, settings_of(c), c->store->schema, "true");
}

/* --- Connecting ----------------------------------------------------------------------------- */

/* Connects in steps, so that closing the store need not wait for a host that does not answer. */
static bool finish_connecting(struct pg_connection *c, int64_t deadline_us)
{
    PostgresPollingStatusType status = PGRES_POLLING_WRITING;
    while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
        struct pollfd fd = {
            .fd = PQsocket(c->conn), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        if (atomic_load(&c->store->closing) || clock_steady_us() > deadline_us)
            return false;
        if (poll(&fd, 1, 100) != 0)
            status = PQconnectPoll(c->conn);
    }
    return status == PGRES_POLLING_OK;
}

static bool is_supported(const struct pg_connection *c)
{
    return PQserverVersion(c->conn) >= POSTGRES_MIN_VERSION;
}

static void ignore_notice(void *data, const char *message)
{
}

static size_t count_hosts(const struct pg_target *t)
{
    const char *addresses = value_of(t, "hostaddr"), *hosts = value_of(t, "host");
    return addresses != NULL ? count_parts(addresses) : hosts != NULL ? count_parts(hosts) : 1;
}

struct addresses {
    char text[MAX_ADDRESSES][NI_MAXHOST];
    size_t count; /* 0: libpq resolves the name */
};

static void look_up(const struct pg_target *t, size_t n, struct addresses *out)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char host[MAX_HOST_BYTES] = "";
    out->count = 0;
    if (value_of(t, "host") != NULL)
        copy_part(value_of(t, "host"), n, host, sizeof host);
    if (host[0] == '\0' || is_socket(host) || value_of(t, "hostaddr") != NULL ||
        getaddrinfo(host, NULL, &hints, &list) != 0)
        return;
    for (struct addrinfo *a = list; a != NULL && out->count < MAX_ADDRESSES; a = a->ai_next)
        if (getnameinfo(a->ai_addr, a->ai_addrlen, out->text[out->count],
                sizeof out->text[out->count], NULL, 0, NI_NUMERICHOST) == 0)
            out->count++;
    freeaddrinfo(list);
}

/* Connects to one of several hosts, at one of its addresses. libpq would try them itself, but in
 * non-blocking mode it waits for an unresponsive address forever. */
static PGconn *start(const struct pg_target *t, size_t n, const char *address)
{
    const char *keywords[MAX_KEYWORDS + 1] = {NULL}, *values[MAX_KEYWORDS + 1] = {NULL};
    char host[MAX_HOST_BYTES], hostaddr[MAX_HOST_BYTES], port[16];
    const struct {
        const char *keyword;
        char *part;
        size_t size;
    } lists[] = {{"host", host, sizeof host}, {"hostaddr", hostaddr, sizeof hostaddr},
        {"port", port, sizeof port}};
    size_t count = 0;
    for (; t->keywords[count] != NULL; count++) {
        keywords[count] = t->keywords[count];
        values[count] = t->values[count];
        for (size_t i = 0; i < COUNT_OF(lists); i++)
            if (strcmp(keywords[count], lists[i].keyword) == 0) {
                copy_part(values[count], n, lists[i].part, lists[i].size);
                values[count] = lists[i].part;
            }
    }
    keywords[count] = address != NULL ? "hostaddr" : NULL;
    values[count] = address;
    return PQconnectStartParams(keywords, values, 0);
}

static bool try_address(struct pg_connection *c, size_t n, const char *address)
{
    int64_t patience_us = (c->target->replica ? 1 : 5) * 1000 * 1000;
    if (c->conn != NULL)
        pg_disconnect(c);
    c->conn = start(c->target, n, address);
    if (c->conn == NULL)
        mem_exhausted(0);
    c->patience_us = patience_us;
    PQsetNoticeProcessor(c->conn, ignore_notice, NULL);
    bool good = PQstatus(c->conn) != CONNECTION_BAD &&
                finish_connecting(c, clock_steady_us() + patience_us) && is_supported(c) &&
                set_up(c);
    c->patience_us = c->store->base.config.inspects ? POSTGRES_INSPECTION_TIMEOUT_US
                                                    : POSTGRES_ANSWER_TIMEOUT_US;
    return good;
}

static bool try_host(struct pg_connection *c, size_t n)
{
    struct addresses addresses;
    look_up(c->target, n, &addresses);
    if (addresses.count == 0)
        return try_address(c, n, NULL);
    for (size_t i = 0; i < addresses.count; i++) {
        size_t k = ((n == c->host ? c->address : 0) + i) % addresses.count;
        if (try_address(c, n, addresses.text[k])) {
            c->address = k;
            return true;
        }
    }
    return false;
}

/* Begins with the host that worked last. Keeps the last failure for its message. */
static bool try_connect(struct pg_connection *c)
{
    size_t n_hosts = count_hosts(c->target);
    for (size_t i = 0; i < n_hosts; i++) {
        size_t n = (c->host + i) % n_hosts;
        if (try_host(c, n)) {
            c->host = n;
            return true;
        }
    }
    return false;
}

/* Reports libpq's message in one line. It contains no password. */
static enum error refuse(struct pg_connection *c, struct problem *problem)
{
    const char *what = c->target->replica ? "the replica" : "the database";
    if (PQstatus(c->conn) == CONNECTION_OK && !is_supported(c))
        return problem_set(problem, ERR_UNAVAILABLE,
            "%s runs PostgreSQL %s; Cairn needs version %d or newer", what,
            PQparameterStatus(c->conn, "server_version"), POSTGRES_MIN_VERSION / 10000);
    struct str why = str_trim_blanks(str_of(PQerrorMessage(c->conn)));
    char *line = arena_alloc(problem->arena, why.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < why.len; i++)
        if (why.ptr[i] != '\n')
            line[n++] = why.ptr[i] == '\t' ? ' ' : why.ptr[i];
        else if (i + 1 < why.len)
            line[n++] = ' ';
    /* After a timeout libpq's message contains only the name of the host. */
    bool in_time = n > 0 && line[n - 1] != ':';
    return problem_set(problem, ERR_UNAVAILABLE, "cannot connect to %s: %.*s%s", what, (int)n, line,
        in_time ? "" : " no answer in time");
}

enum error pg_connect(struct pg_connection *c, struct problem *problem)
{
    if (try_connect(c)) {
        pg_begin_transaction(c);
        return OK;
    }
    enum error e = refuse(c, problem);
    pg_disconnect(c);
    return e;
}

/* Logs the first failure of an outage. */
static void log_refusal(struct pg_connection *c)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(64 * 1024);
    struct problem problem = PROBLEM_INIT(&arena);
    if (!atomic_load(&c->store->closing) && refuse(c, &problem) != OK)
        LOG(LOG_WARN, "cannot connect to the database", LOG_STR("error", problem.detail));
}

static void pause_until(struct pg_connection *c, int64_t until_us)
{
    while (clock_steady_us() < until_us && !atomic_load(&c->store->closing) &&
           !atomic_load(&c->store->draining))
        poll(NULL, 0, 20);
}

bool pg_ensure(struct pg_connection *c, int64_t deadline_us)
{
    if (c->conn != NULL && pg_is_gone(c))
        pg_disconnect(c);
    while (c->conn == NULL) {
        int64_t now_us = clock_steady_us();
        if (atomic_load(&c->store->closing) || now_us >= deadline_us)
            return false;
        if (now_us < c->retry_at_us && atomic_load(&c->store->draining))
            return false;
        if (now_us < c->retry_at_us) {
            pause_until(c, c->retry_at_us < deadline_us ? c->retry_at_us : deadline_us);
            continue;
        }
        if (try_connect(c)) {
            atomic_fetch_add(&c->store->n_reconnects, c->was_connected);
            c->was_connected = true;
            c->backoff_us = 0;
            break;
        }
        if (c->backoff_us == 0)
            log_refusal(c);
        pg_disconnect(c);
        c->backoff_us = c->backoff_us == 0 ? 50 * 1000 : c->backoff_us * 2;
        if (c->backoff_us > POSTGRES_BACKOFF_MAX_US)
            c->backoff_us = POSTGRES_BACKOFF_MAX_US;
        c->retry_at_us = clock_steady_us() + c->backoff_us;
    }
    pg_begin_transaction(c);
    return true;
}
