#include "cli/command.h"

#include "server/server.h"

static int run(int argc, char **argv);

const struct command command_serve = {"serve", "start the server", run};

/* Each returns NULL, or the rule that the value breaks. */
static const char *set_listen(struct server_config *c, struct str value)
{
    size_t colon = value.len;
    while (colon > 0 && value.ptr[colon - 1] != ':')
        colon--;
    uint64_t port;
    if (colon < 2 || !str_to_u64(str_slice(value, colon, value.len), &port) || port > UINT16_MAX)
        return "must be HOST:PORT, such as 127.0.0.1:7420 or [::1]:7420";
    struct str host = str_slice(value, 0, colon - 1);
    if (host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
        host = str_slice(host, 1, host.len - 1);
    c->listen_host = host;
    c->listen_port = (uint16_t)port;
    return NULL;
}

static const char *set_data(struct server_config *c, struct str value)
{
    c->data_dir = value;
    return value.len > 0 ? NULL : "must name a directory";
}

static bool is_db_url(struct str value)
{
    return str_starts_with(value, STR("postgres://")) ||
           str_starts_with(value, STR("postgresql://"));
}

static const char *set_db(struct server_config *c, struct str value)
{
    c->db_url = value;
    return is_db_url(value) ? NULL : "must be a URL that begins with postgres:// or postgresql://";
}

static const char *set_db_replica(struct server_config *c, struct str value)
{
    c->db_replica_url = value;
    return is_db_url(value) ? NULL : "must be a URL that begins with postgres:// or postgresql://";
}

/* A name that never needs to be quoted. */
static const char *set_db_schema(struct server_config *c, struct str value)
{
    static const char rule[] = "must be a lower-case letter or _, then up to 62 of a-z, 0-9 and _";
    c->db_schema = value;
    if (value.len == 0 || value.len > 63 || (value.ptr[0] >= '0' && value.ptr[0] <= '9'))
        return rule;
    for (size_t i = 0; i < value.len; i++)
        if (!str_has_byte(STR("abcdefghijklmnopqrstuvwxyz0123456789_"), value.ptr[i]))
            return rule;
    return NULL;
}

static const char *read_count(
    struct str value, uint64_t min, uint64_t max, const char *rule, uint64_t *out)
{
    return str_to_u64(value, out) && *out >= min && *out <= max ? NULL : rule;
}

static const char *set_loops(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 64, "must be 1 to 64", &n);
    c->loops = (unsigned)n;
    return rule;
}

static const char *set_db_writers(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 64, "must be 1 to 64", &n);
    c->db_writers = (unsigned)n;
    return rule;
}

static const char *set_readers(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 64, "must be 1 to 64", &n);
    c->readers = (unsigned)n;
    return rule;
}

static const char *set_connections(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 1000000, "must be 1 to 1000000", &n);
    c->max_connections = n;
    return rule;
}

static const char *set_drain(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 0, 3600, "must be 0 to 3600 seconds", &n);
    c->drain_ms = (uint32_t)n * 1000;
    return rule;
}

static const char *set_certificate(struct server_config *c, struct str value)
{
    c->tls_certificate = value;
    return NULL;
}

static const char *set_key(struct server_config *c, struct str value)
{
    c->tls_key = value;
    return NULL;
}

static const char *add_host(struct server_config *c, struct str value)
{
    if (c->n_allow_hosts == SERVER_MAX_NAMES)
        return "can be given 32 times";
    c->allow_hosts[c->n_allow_hosts++] = value;
    return NULL;
}

static const char *add_origin(struct server_config *c, struct str value)
{
    if (c->n_allow_origins == SERVER_MAX_NAMES)
        return "can be given 32 times";
    c->allow_origins[c->n_allow_origins++] = value;
    return NULL;
}

static const char *set_log_level(struct server_config *c, struct str value)
{
    return log_level_parse(value, &c->log_level) ? NULL : "must be debug, info, warn or error";
}

static const struct option {
    const char *name;
    const char *argument;
    const char *help;
    const char *(*set)(struct server_config *c, struct str value);
} options[] = {
    {"--listen", "HOST:PORT", "where to listen (127.0.0.1:7420); port 0 is any free one",
        set_listen},
    {"--data", "DIR", "the data directory of SQLite (./data)", set_data},
    {"--db", "URL", "PostgreSQL instead, postgres://…; or give it as CAIRN_DB", set_db},
    {"--db-schema", "NAME", "the schema in that database (cairn)", set_db_schema},
    {"--db-replica", "URL", "a replica for reads that may lag behind", set_db_replica},
    {"--db-writers", "N", "connections that write to it (4)", set_db_writers},
    {"--loops", "N", "threads that own sockets (1)", set_loops},
    {"--readers", "N", "threads that read the database (2)", set_readers},
    {"--max-connections", "N", "connections at once (16384)", set_connections},
    {"--drain-seconds", "N", "how long running requests may take at the end (10)", set_drain},
    {"--tls-cert", "FILE", "certificate chain, PEM; with --tls-key", set_certificate},
    {"--tls-key", "FILE", "private key, PEM", set_key},
    {"--allow-host", "NAME", "a name that a Host header may have; repeatable", add_host},
    {"--allow-origin", "ORIGIN", "an origin that browsers may come from; repeatable", add_origin},
    {"--log-level", "LEVEL", "debug, info, warn or error (info)", set_log_level},
};

static void print_help(void)
{
    puts("usage: cairn serve [OPTION]…\n");
    for (size_t i = 0; i < COUNT_OF(options); i++)
        printf("  %-18s %-10s %s\n", options[i].name, options[i].argument, options[i].help);
}

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(options); i++)
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    return NULL;
}

static int usage(const char *option, const char *rule)
{
    fprintf(stderr, "cairn serve: %s %s; see cairn serve --help\n", option, rule);
    return EXIT_USAGE;
}

static int check_together(const struct server_config *c)
{
    if (str_is_none(c->tls_certificate) != str_is_none(c->tls_key))
        return usage("--tls-cert", "and --tls-key go together");
    if (!str_is_none(c->db_replica_url) && str_is_none(c->db_url))
        return usage("--db-replica", "needs --db");
    return EXIT_SUCCESS;
}

static int run(int argc, char **argv)
{
    struct server_config config;
    server_config_init(&config);
    /* The environment, unlike the command line, is not shown to everybody on the machine. */
    const char *db = getenv("CAIRN_DB");
    if (db != NULL && db[0] != '\0') {
        const char *rule = set_db(&config, str_of(db));
        if (rule != NULL)
            return usage("CAIRN_DB", rule);
    }
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            print_help();
            return EXIT_SUCCESS;
        }
        const struct option *o = find_option(argv[i]);
        if (o == NULL)
            return usage(argv[i], "is not an option");
        if (i + 1 == argc)
            return usage(argv[i], "needs a value");
        const char *rule = o->set(&config, str_of(argv[i + 1]));
        if (rule != NULL)
            return usage(argv[i], rule);
    }
    int refused = check_together(&config);
    return refused != EXIT_SUCCESS ? refused : server_run(&config);
}
