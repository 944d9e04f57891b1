/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a URL, and the choice among the addresses of a host. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "fixture.h"
#include "store/postgres.h"
#include "test.h"

/* --- A name with two addresses, of which the first is silent --------------------------------- */

#define TWO_ADDRESSES "two-addresses.test"
#define SILENT "127.0.0.9"

typedef int getaddrinfo_fn(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* In the place of the C library's, for libpq too. */
__attribute__((visibility("default"))) int getaddrinfo(
    const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out_list)
{
    getaddrinfo_fn *real = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (name == NULL || strcmp(name, TWO_ADDRESSES) != 0)
        return real(name, service, hints, out_list);
    int rc = real(SILENT, service, hints, out_list);
    return rc != 0 ? rc : real("127.0.0.1", service, hints, &(*out_list)->ai_next);
}

static struct sockaddr_in place(const char *address, const char *port)
{
    int64_t number = 0;
    EXPECT(str_to_i64(str_of(port), &number));
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
    EXPECT_EQ(inet_pton(AF_INET, address, &at.sin_addr), 1);
    return at;
}

/* Accepts connections, and sends nothing unless the test answers them. */
static int listen_at(const char *address, const char *port)
{
    struct sockaddr_in at = place(address, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    EXPECT_EQ(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), 0);
    EXPECT_EQ(bind(fd, (const struct sockaddr *)&at, sizeof at), 0);
    EXPECT_EQ(listen(fd, 16), 0);
    return fd;
}

static const char *given(const struct pg_target *t, const char *keyword)
{
    for (size_t i = 0; t->keywords[i] != NULL; i++)
        if (strcmp(t->keywords[i], keyword) == 0)
            return t->values[i];
    return "";
}

struct reach {
    struct arena arena;
    struct problem problem;
    struct pg_store store;
    struct pg_target target;
    struct pg_connection connection;
};

/* To the tests' database, under another name; as to a replica, which is waited for a second. */
static void reach_begin(struct reach *r, const char *host)
{
    struct pg_target known;
    static char schema[] = "public";
    *r = (struct reach){.store.schema = schema};
    arena_init(&r->arena, SIZE_MAX);
    problem_init(&r->problem, &r->arena);
    EXPECT_EQ(
        pg_target_init(&known, str_of(getenv("CAIRN_TEST_POSTGRES")), true, "--db", &r->problem),
        OK);
    struct str url = arena_printf(&r->arena, "postgres://%s@%s:%s/%s?sslmode=disable",
        given(&known, "user"), host, given(&known, "port"), given(&known, "dbname"));
    EXPECT_EQ(pg_target_init(&r->target, url, true, "--db", &r->problem), OK);
    pg_target_deinit(&known);
    pg_connection_init(&r->connection, &r->store, &r->target);
}

static void reach_end(struct reach *r)
{
    pg_connection_deinit(&r->connection);
    pg_target_deinit(&r->target);
    arena_deinit(&r->arena);
}

POSTGRES_TEST(behind_a_silent_address_the_next_one_of_the_same_name_is_found_and_kept_to)
{
    struct reach r;
    reach_begin(&r, TWO_ADDRESSES);
    int silent = listen_at(SILENT, given(&r.target, "port"));
    if (pg_connect(&r.connection, &r.problem) != OK)
        test_fail(__FILE__, __LINE__, "%.*s", STR_ARG(r.problem.detail));
    pg_disconnect(&r.connection);
    int64_t start_us = clock_steady_us();
    EXPECT(pg_ensure(&r.connection, start_us + 900 * 1000));
    EXPECT(clock_steady_us() - start_us < 900 * 1000);
    close(silent);
    reach_end(&r);
}

POSTGRES_TEST(a_name_that_nobody_has_is_told_in_libpqs_words)
{
    struct reach r;
    reach_begin(&r, "nobody.invalid");
    EXPECT_EQ(pg_connect(&r.connection, &r.problem), ERR_UNAVAILABLE);
    EXPECT(strstr(arena_cstr(&r.arena, r.problem.detail), "nobody.invalid") != NULL);
    reach_end(&r);
}

/* --- A slow link ---------------------------------------------------------------------------- */

enum { PIECE_BYTES = 1000, PIECE_MS = 30 };

/* At the silent address, for one connection: what the database says arrives in pieces. */
struct link {
    pthread_t thread;
    int listener;
    struct sockaddr_in database;
    atomic_int pieces; /* to let through; then it is silent */
};

static void *carry(void *data)
{
    struct link *l = data;
    int node = accept(l->listener, NULL, NULL), database = socket(AF_INET, SOCK_STREAM, 0);
    ssize_t n = connect(database, (const struct sockaddr *)&l->database, sizeof l->database);
    struct pollfd fds[2] = {{.fd = node, .events = POLLIN}, {.fd = database, .events = POLLIN}};
    while (n >= 0) {
        char bytes[PIECE_BYTES];
        bool silent = atomic_load(&l->pieces) == 0;
        poll(fds, silent ? 1 : 2, 10);
        int from = fds[0].revents != 0 ? 0 : 1;
        if (fds[from].revents == 0 || (from == 1 && silent))
            continue;
        n = read(fds[from].fd, bytes, sizeof bytes);
        if (n <= 0)
            break;
        n = send(fds[1 - from].fd, bytes, (size_t)n, MSG_NOSIGNAL);
        if (from == 1) {
            atomic_fetch_sub(&l->pieces, 1);
            poll(NULL, 0, PIECE_MS);
        }
    }
    close(node);
    close(database);
    return NULL;
}

POSTGRES_TEST(an_answer_is_waited_for_as_long_as_it_makes_progress)
{
    struct reach r;
    int64_t number = 0;
    reach_begin(&r, SILENT);
    const char *port = given(&r.target, "port");
    struct link l = {
        .listener = listen_at(SILENT, port), .database = place("127.0.0.1", port), .pieces = 1000};
    EXPECT_EQ(pthread_create(&l.thread, NULL, carry, &l), 0);
    EXPECT_EQ(pg_connect(&r.connection, &r.problem), OK);
    r.connection.patience_us = 10 * PIECE_MS * 1000;
    int64_t start_us = clock_steady_us();
    EXPECT(pg_ask(&r.connection, "SELECT 7::bigint, repeat('x', 30000)", &number, 1));
    EXPECT_EQ(number, 7);
    EXPECT(clock_steady_us() - start_us > 2 * r.connection.patience_us);
    atomic_store(&l.pieces, 5);
    start_us = clock_steady_us();
    EXPECT(!pg_ask(&r.connection, "SELECT 7::bigint, repeat('x', 30000)", &number, 1));
    EXPECT(clock_steady_us() - start_us < 5 * 1000 * 1000);
    reach_end(&r);
    pthread_join(l.thread, NULL);
    close(l.listener);
}

/* --- TLS ------------------------------------------------------------------------------------ */

static void set_environment(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* The sslmode that Cairn asks for with this URL, or "" for libpq's own. */
static void expect_mode(const char *url, const char *expected)
{
    struct arena arena;
    struct problem problem;
    struct pg_target t;
    arena_init(&arena, SIZE_MAX);
    problem_init(&problem, &arena);
    EXPECT_EQ(pg_target_init(&t, str_of(url), false, "--db", &problem), OK);
    if (strcmp(given(&t, "sslmode"), expected) != 0)
        test_fail(__FILE__, __LINE__, "%s has sslmode \"%s\", expected \"%s\"", url,
            given(&t, "sslmode"), expected);
    pg_target_deinit(&t);
    arena_deinit(&arena);
}

TEST(over_a_network_the_server_must_prove_who_it_is_unless_the_operator_says_otherwise)
{
    expect_mode("postgres:///cairn", "");
    expect_mode("postgres://localhost/cairn", "");
    expect_mode("postgres://127.0.0.1,[::1]/cairn", "");
    expect_mode("postgres://%2Frun%2Fpostgresql/cairn", "");
    expect_mode("postgres://db.example.com/cairn", "verify-full");
    expect_mode("postgres://db.example.com/cairn?sslmode=prefer", "prefer");
    expect_mode("postgres://db.example.com/cairn?sslmode=disable", "disable");
    expect_mode("postgres:///cairn?hostaddr=192.0.2.1", "verify-full");
    expect_mode("postgres://localhost/cairn?hostaddr=192.0.2.1", "verify-full");
}

TEST(every_host_of_a_list_is_looked_at)
{
    expect_mode("postgres://localhost,db2.example.com/cairn", "verify-full");
    expect_mode("postgres:///cairn?host=/run,db2.example.com", "verify-full");
    expect_mode("postgres:///cairn?host=/run,/tmp,localhost", "");
    expect_mode("postgres:///cairn?host=localhost,", "verify-full"); /* an empty host */
    expect_mode("postgres:///cairn?hostaddr=127.0.0.1,192.0.2.1", "verify-full");
}

TEST(a_host_that_only_the_environment_names_is_looked_at_too)
{
    static const struct {
        const char *name, *value, *expected;
    } CASES[] = {{"PGHOST", "db.example.com", "verify-full"},
        {"PGHOST", "/run,db.example.com", "verify-full"}, {"PGHOST", "localhost", ""},
        {"PGHOSTADDR", "192.0.2.1", "verify-full"}, {"PGHOSTADDR", "127.0.0.1", ""}};
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        set_environment(CASES[i].name, CASES[i].value);
        expect_mode("postgres:///cairn", CASES[i].expected);
        expect_mode("postgres:///cairn?host=", CASES[i].expected);
        expect_mode("postgres:///cairn?sslmode=require", "require");
        setenv("PGSSLMODE", "prefer", 1);
        expect_mode("postgres:///cairn", "");
        unsetenv("PGSSLMODE");
        set_environment(CASES[i].name, NULL);
    }
}

TEST(a_host_that_a_service_names_is_looked_at_too)
{
    static const char SERVICES[] = "[far]\nhost=db.example.com\n"
                                   "[near]\nhost=/run\n"
                                   "[trusted]\nhost=db.example.com\nsslmode=disable\n";
    char path[] = "/tmp/cairn_services_XXXXXX";
    int fd = mkstemp(path);
    EXPECT_EQ(write(fd, SERVICES, sizeof SERVICES - 1), sizeof SERVICES - 1);
    close(fd);
    setenv("PGSERVICEFILE", path, 1);
    expect_mode("postgres:///cairn?service=far", "verify-full");
    expect_mode("postgres:///cairn?service=near", "");
    expect_mode("postgres:///cairn?service=trusted", "");
    expect_mode("postgres:///cairn?service=unknown", "verify-full");
    expect_mode("postgres://localhost/cairn?service=far", "");
    setenv("PGSERVICE", "far", 1);
    expect_mode("postgres:///cairn", "verify-full");
    expect_mode("postgres:///cairn?service=near", "");
    unsetenv("PGSERVICE");
    unsetenv("PGSERVICEFILE");
    unlink(path);
}
