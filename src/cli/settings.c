/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/settings.h"

#include "base/json/json_write.h"
#include "cli/config.h"
#include "cli/suggest.h"
#include "net/http.h"
#include "store/store.h"

/* --- Rules of values ------------------------------------------------------------------------ */

/* Each returns NULL, or the rule that the value violates. */
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

static const char *read_text(struct str value, struct str *out)
{
    *out = value;
    return NULL;
}

static const char *read_directory(struct str value, struct str *out)
{
    *out = value;
    return value.len > 0 ? NULL : "must name a directory";
}

static const char *read_db_url(struct str value, struct str *out)
{
    *out = value;
    return str_starts_with(value, STR("postgres://")) ||
                   str_starts_with(value, STR("postgresql://"))
               ? NULL
               : "must be a URL that begins with postgres:// or postgresql://";
}

static const char *read_schema(struct str value, struct str *out)
{
    *out = value;
    return store_is_schema_name(value)
               ? NULL
               : "must be a lower-case letter or _, then up to 62 of a-z, 0-9 and _";
}

static const char *read_count(
    struct str value, uint64_t min, uint64_t max, const char *rule, uint64_t *out)
{
    return str_to_u64(value, out) && *out >= min && *out <= max ? NULL : rule;
}

static const char *read_threads(struct str value, unsigned *out)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 64, "must be 1 to 64", &n);
    *out = (unsigned)n;
    return rule;
}

static const char *set_max_upload(struct server_config *c, struct str value)
{
    uint64_t mib = 0;
    const char *rule = read_count(value, 1, 1 << 20, "must be 1 to 1048576", &mib);
    c->upload_max_bytes = mib << 20;
    return rule;
}

static const char *set_connections(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 1, 1000000, "must be 1 to 1000000", &n);
    c->max_connections = n;
    return rule;
}

static const char *set_per_address(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    c->has_max_per_address = !str_eq(value, STR("auto"));
    if (!c->has_max_per_address)
        return NULL;
    const char *rule = read_count(value, 0, 1000000, "must be auto, or 0 to 1000000", &n);
    c->max_per_address = n;
    return rule;
}

/* A key may have a quarter of it, and the largest body has 16 MiB. */
static const char *set_body_memory(struct server_config *c, struct str value)
{
    uint64_t mib = 0;
    const char *rule = read_count(value, 64, 1 << 20, "must be 64 to 1048576", &mib);
    c->body_memory_bytes = (size_t)mib << 20;
    return rule;
}

static const char *set_drain(struct server_config *c, struct str value)
{
    uint64_t n = 0;
    const char *rule = read_count(value, 0, 3600, "must be 0 to 3600 seconds", &n);
    c->drain_ms = (uint32_t)n * 1000;
    return rule;
}

static const char *add_name(struct str value, struct str *names, size_t *n)
{
    if (*n == SERVER_MAX_NAMES)
        return "can be given 32 times";
    names[(*n)++] = value;
    return NULL;
}

static const char *add_host(struct server_config *c, struct str value)
{
    return add_name(value, c->allow_hosts, &c->n_allow_hosts);
}

static const char *add_origin(struct server_config *c, struct str value)
{
    return add_name(value, c->allow_origins, &c->n_allow_origins);
}

static const char *set_log_level(struct server_config *c, struct str value)
{
    return log_level_parse(value, &c->log_level) ? NULL : "must be debug, info, warn or error";
}

/* Setters of members that a rule reads. */
#define SETTER(name, read, member)                                     \
    static const char *name(struct server_config *c, struct str value) \
    {                                                                  \
        return read(value, &c->member);                                \
    }
SETTER(set_data, read_directory, data_dir)
SETTER(set_db, read_db_url, db_url)
SETTER(set_db_schema, read_schema, db_schema)
SETTER(set_db_replica, read_db_url, db_replica_url)
SETTER(set_db_writers, read_threads, db_writers)
SETTER(set_files_dir, read_directory, files_dir)
SETTER(set_loops, read_threads, loops)
SETTER(set_readers, read_threads, readers)
SETTER(set_certificate, read_text, tls_certificate)
SETTER(set_key, read_text, tls_key)

/* --- The table ------------------------------------------------------------------------------ */

/* clang-format off */
/*    flag               variable                 argument     default
 *        setter, whether it repeats, choices, help */
#define SETTINGS(X) \
    X("listen",          "CAIRN_LISTEN",          "HOST:PORT", "127.0.0.1:7420", \
        set_listen, false, NULL, "the address to listen on; port 0 selects a free port") \
    X("data",            "CAIRN_DATA",            "DIR",       "./data", \
        set_data, false, NULL, "the data directory of SQLite") \
    X("db",              "CAIRN_DB",              "URL",       NULL, \
        set_db, false, NULL, "the URL of a PostgreSQL database, postgres://…") \
    X("db-schema",       "CAIRN_DB_SCHEMA",       "NAME",      "cairn", \
        set_db_schema, false, NULL, "the schema in that database") \
    X("db-replica",      "CAIRN_DB_REPLICA",      "URL",       NULL, \
        set_db_replica, false, NULL, "the URL of a replica for reads that may lag") \
    X("db-writers",      "CAIRN_DB_WRITERS",      "N",         "4", \
        set_db_writers, false, NULL, "connections that write to the database") \
    X("files-dir",       "CAIRN_FILES_DIR",       "DIR",       NULL, \
        set_files_dir, false, NULL, "with --db: the directory of files, shared by all nodes") \
    X("max-upload",      "CAIRN_MAX_UPLOAD",      "MIB",       "5120", \
        set_max_upload, false, NULL, "the maximum size of a file, in MiB") \
    X("loops",           "CAIRN_LOOPS",           "N",         "1", \
        set_loops, false, NULL, "threads that own sockets") \
    X("readers",         "CAIRN_READERS",         "N",         "2", \
        set_readers, false, NULL, "threads that read the database") \
    X("max-connections", "CAIRN_MAX_CONNECTIONS", "N",         "16384", \
        set_connections, false, NULL, "the maximum number of connections") \
    X("max-connections-per-address", "CAIRN_MAX_CONNECTIONS_PER_ADDRESS", "N", "auto", \
        set_per_address, false, NULL, \
        "the same for one address; 0: no limit; auto: a quarter, no limit for loopback addresses") \
    X("max-body-memory", "CAIRN_MAX_BODY_MEMORY", "MIB",       "256", \
        set_body_memory, false, NULL, "memory for the bodies of requests, in MiB") \
    X("drain-seconds",   "CAIRN_DRAIN_SECONDS",   "N",         "10", \
        set_drain, false, NULL, "the time for running requests when the server stops") \
    X("tls-cert",        "CAIRN_TLS_CERT",        "FILE",      NULL, \
        set_certificate, false, NULL, "certificate chain, PEM; with --tls-key") \
    X("tls-key",         "CAIRN_TLS_KEY",         "FILE",      NULL, \
        set_key, false, NULL, "private key, PEM") \
    X("allow-host",      "CAIRN_ALLOW_HOST",      "NAME",      NULL, \
        add_host, true, NULL, "a name that is allowed in the Host header") \
    X("allow-origin",    "CAIRN_ALLOW_ORIGIN",    "ORIGIN",    NULL, \
        add_origin, true, NULL, "an origin that browsers may use") \
    X("log-level",       "CAIRN_LOG_LEVEL",       "LEVEL",     "info", \
        set_log_level, false, log_levels, "the lowest level of messages in the log")
/* clang-format on */

#define OPTION_ROW(flag, env, arg, standard, set, many, choice, text) \
    {.name = flag,                                                    \
        .variable = env,                                              \
        .argument = arg,                                              \
        .fallback = standard,                                         \
        .repeats = many,                                              \
        .choices = choice,                                            \
        .help = text},
#define SETTER_ROW(flag, env, arg, standard, set, many, choice, text) set,

const struct cli_option settings_options[] = {SETTINGS(OPTION_ROW)};
static const char *(*const setters[])(struct server_config *c, struct str value) = {
    SETTINGS(SETTER_ROW)};
static_assert(COUNT_OF(settings_options) == SETTINGS_COUNT, "SETTINGS_COUNT counts the rows");

/* Returns the index of the row with this name. */
static size_t find(const char *name)
{
    size_t i = 0;
    while (strcmp(settings_options[i].name, name) != 0)
        i++;
    return i;
}

/* "db-schema" is db_schema in the file. */
static struct str file_key(struct arena *arena, size_t index)
{
    struct str name = str_of(settings_options[index].name);
    char *key = arena_alloc(arena, name.len);
    for (size_t i = 0; i < name.len; i++)
        key[i] = name.ptr[i] == '-' ? '_' : name.ptr[i];
    return (struct str){key, name.len};
}

bool settings_know(struct arena *arena, struct str key, struct str *out_near)
{
    struct suggestion s;
    suggestion_init(&s, key);
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        struct str known = file_key(arena, i);
        if (str_eq(known, key))
            return true;
        suggestion_offer(&s, known);
    }
    *out_near = s.best;
    return false;
}

/* --- Sources of values ---------------------------------------------------------------------- */

static bool take_flag(struct cli *cli, size_t index, struct setting_value *v)
{
    const char *name = settings_options[index].name;
    v->n_values = cli_count(cli, name);
    if (v->n_values == 0)
        return false;
    v->level = LEVEL_FLAG;
    v->source = arena_printf(cli_arena(cli), "--%s", name);
    v->values = ARENA_ARRAY(cli_arena(cli), struct str, v->n_values);
    for (size_t i = 0; i < v->n_values; i++)
        v->values[i] = cli_value_at(cli, name, i);
    return true;
}

/* Other users of the machine cannot see the environment, unlike the command line. */
static bool take_variable(struct cli *cli, size_t index, struct setting_value *v)
{
    const struct cli_option *o = &settings_options[index];
    struct str text = str_of(getenv(o->variable)), part;
    if (text.len == 0)
        return false;
    v->level = LEVEL_ENVIRONMENT;
    v->source = str_of(o->variable);
    v->values = ARENA_ARRAY(cli_arena(cli), struct str, text.len + 1);
    if (!o->repeats) {
        v->values[v->n_values++] = text;
        return true;
    }
    while (str_next_part(&text, ',', &part))
        v->values[v->n_values++] = str_trim_blanks(part);
    return true;
}

static int take_file(
    struct cli *cli, const struct config *config, size_t index, struct setting_value *v)
{
    struct str key = file_key(cli_arena(cli), index);
    const struct toml_entry *e = config_find(config, (struct str[]){STR("serve"), key}, 2);
    if (e == NULL)
        return EXIT_SUCCESS;
    v->level = LEVEL_FILE;
    v->source = arena_printf(cli_arena(cli), "%.*s:%u", STR_ARG(config->path), e->line);
    bool list = e->kind == TOML_STRINGS;
    if (e->kind == TOML_BOOLEAN || list != settings_options[index].repeats) {
        cli_fail(cli, "%.*s: %.*s must be %s", STR_ARG(v->source), STR_ARG(key),
            settings_options[index].repeats ? "an array of strings" : "a string or a number");
        return EXIT_USAGE;
    }
    v->n_values = list ? e->n_items : 1;
    v->values = ARENA_ARRAY(cli_arena(cli), struct str, v->n_values + 1);
    for (size_t i = 0; i < v->n_values; i++)
        v->values[i] = list ? e->items[i] : e->text;
    return EXIT_SUCCESS;
}

static int apply(struct cli *cli, size_t index, struct settings *s)
{
    const struct setting_value *v = &s->values[index];
    for (size_t i = 0; i < v->n_values; i++) {
        const char *rule = setters[index](&s->config, v->values[i]);
        if (rule == NULL)
            continue;
        if (v->level != LEVEL_FILE)
            return cli_usage(cli, "%.*s %s", STR_ARG(v->source), rule);
        struct str key = file_key(cli_arena(cli), index);
        cli_fail(cli, "%.*s: %.*s %s", STR_ARG(v->source), STR_ARG(key), rule);
        return EXIT_USAGE;
    }
    return EXIT_SUCCESS;
}

/* --- Combinations --------------------------------------------------------------------------- */

static void forget(struct settings *s, size_t index)
{
    s->values[index] = (struct setting_value){.source = STR("default")};
}

/* Both select the database: the source with the higher precedence counts, and one source cannot set
 * both. */
static int choose_store(struct cli *cli, struct settings *s)
{
    size_t data = find("data"), db = find("db"), replica = find("db-replica");
    enum setting_level data_level = s->values[data].level, db_level = s->values[db].level;
    if (data_level == LEVEL_DEFAULT || db_level == LEVEL_DEFAULT)
        return EXIT_SUCCESS;
    if (data_level == db_level)
        return cli_usage(cli, "%.*s and %.*s exclude each other", STR_ARG(s->values[data].source),
            STR_ARG(s->values[db].source));
    if (data_level < db_level) {
        forget(s, data);
        return EXIT_SUCCESS;
    }
    forget(s, db);
    s->config.db_url = STR_NONE;
    if (s->values[replica].level < data_level) {
        forget(s, replica);
        s->config.db_replica_url = STR_NONE;
    }
    return EXIT_SUCCESS;
}

static int check_together(struct cli *cli, struct settings *s)
{
    const struct server_config *c = &s->config;
    TRY_EXIT(choose_store(cli, s));
    if (str_is_none(c->tls_certificate) != str_is_none(c->tls_key))
        return cli_usage(cli, "--tls-cert and --tls-key require each other");
    if (!str_is_none(c->db_replica_url) && str_is_none(c->db_url))
        return cli_usage(cli, "--db-replica requires --db");
    if (!str_is_none(c->files_dir) && str_is_none(c->db_url))
        return cli_usage(cli, "--files-dir requires --db: with SQLite files are in --data");
    return EXIT_SUCCESS;
}

int settings_load(struct cli *cli, struct settings *out_settings)
{
    struct config config;
    struct settings *s = out_settings;
    *s = (struct settings){.file = STR_NONE};
    server_config_init(&s->config);
    int refused = config_load(cli, STR(SETTINGS_USUAL_FILE), &config);
    if (refused != EXIT_SUCCESS)
        return refused;
    s->file = config.path;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        struct setting_value *v = &s->values[i];
        v->source = STR("default");
        if (!take_flag(cli, i, v) && !take_variable(cli, i, v))
            refused = take_file(cli, &config, i, v);
        if (refused == EXIT_SUCCESS)
            refused = apply(cli, i, s);
        if (refused != EXIT_SUCCESS)
            return refused;
    }
    return check_together(cli, s);
}

/* --- Effective values ----------------------------------------------------------------------- */

static size_t find_text(struct str s, struct str part)
{
    for (size_t i = 0; i + part.len <= s.len; i++)
        if (str_starts_with(str_slice(s, i, s.len), part))
            return i;
    return s.len;
}

static struct str mask(struct arena *arena, struct str s, size_t from, size_t to)
{
    return arena_printf(
        arena, "%.*s***%.*s", STR_ARG(str_slice(s, 0, from)), STR_ARG(str_slice(s, to, s.len)));
}

/* Returns where the user's name and password end: at the last @ of the authority. Without a slash,
 * libpq reads parameters as a part of them. Returns `start` if there are none. */
static size_t find_host(struct str url, size_t start)
{
    struct str rest = str_slice(url, start, url.len);
    size_t query = str_find(rest, '?'), slash = str_find(rest, '/');
    size_t end = start + (query > slash ? query : slash), host = start;
    for (size_t i = start; i < end; i++)
        host = url.ptr[i] == '@' ? i : host;
    return host;
}

/* A name that cannot be decoded counts as a password. */
static bool names_password(struct arena *arena, struct str encoded)
{
    struct str name;
    if (!http_decode_percent(arena, encoded, false, &name))
        return true;
    for (size_t i = 0; i + strlen("password") <= name.len; i++)
        if (str_eq_nocase(str_slice(name, i, i + strlen("password")), STR("password")))
            return true;
    return false;
}

/* Masks the password after the user's name, and every parameter that is a password. */
struct str settings_mask_url(struct arena *arena, struct str url)
{
    size_t start = find_text(url, STR("://")) + strlen("://");
    if (start > url.len)
        return url;
    size_t host = find_host(url, start);
    size_t colon = start + str_find(str_slice(url, start, host), ':');
    size_t query = host + str_find(str_slice(url, host, url.len), '?');
    struct str rest = query < url.len ? str_slice(url, query + 1, url.len) : STR_NONE, parameter;
    struct str shown = str_slice(url, 0, query);
    if (colon < host)
        shown = mask(arena, shown, colon + 1, host);
    for (char before = '?'; str_next_part(&rest, '&', &parameter); before = '&') {
        size_t value = str_find(parameter, '=') + 1;
        if (value <= parameter.len && names_password(arena, str_slice(parameter, 0, value - 1)))
            parameter = mask(arena, parameter, value, parameter.len);
        shown = arena_printf(arena, "%.*s%c%.*s", STR_ARG(shown), before, STR_ARG(parameter));
    }
    return shown;
}

static struct str shown_value(struct arena *arena, size_t index, const struct setting_value *v)
{
    const struct cli_option *o = &settings_options[index];
    struct str text = v->level == LEVEL_DEFAULT ? str_of(o->fallback) : STR("");
    for (size_t i = 0; i < v->n_values; i++) {
        struct str value = v->values[i];
        if (strcmp(o->argument, "URL") == 0)
            value = settings_mask_url(arena, value);
        text = arena_printf(arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? "," : "", STR_ARG(value));
    }
    return text;
}

static const struct cli_column columns[] = {
    {"SETTING", "/setting", COLUMN_ID},
    {"VALUE", "/value", COLUMN_TEXT},
    {"FROM", "/from", COLUMN_TEXT},
};

void settings_print(struct cli *cli, const struct settings *settings)
{
    struct arena *arena = cli_arena(cli);
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const struct setting_value *v = &settings->values[i];
        struct json_text text;
        struct json_doc doc;
        struct json_error error;
        json_text_init(&text, SIZE_MAX);
        json_write_object(&text.w);
        json_write_key(&text.w, STR("setting"));
        json_write_string(&text.w, str_of(settings_options[i].name));
        json_write_key(&text.w, STR("value"));
        json_write_string(&text.w, shown_value(arena, i, v));
        json_write_key(&text.w, STR("from"));
        json_write_string(&text.w, v->source);
        json_write_end(&text.w);
        if (json_parse(arena, json_text_take(&text, arena), &doc, &error))
            cli_print_row(cli, columns, COUNT_OF(columns), json_root(&doc));
    }
    cli_print_end(cli, columns, COUNT_OF(columns));
}
