/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "cli/cli.h"
#include "store/store.h"
#include "store/transfer.h"

static int run(struct cli *cli);

enum { OPTION_FROM, OPTION_TO };

static const struct cli_option options[] = {
    [OPTION_FROM] = {.name = "from",
        .argument = "PLACE",
        .help = "the source: sqlite:DIR or postgres://…",
        .variable = "CAIRN_MIGRATE_FROM"},
    [OPTION_TO] = {.name = "to",
        .argument = "PLACE",
        .help = "the target, in the same form; it must be empty or not exist",
        .variable = "CAIRN_MIGRATE_TO"},
    {.name = "from-schema",
        .argument = "NAME",
        .help = "the schema in the PostgreSQL database of --from",
        .fallback = "cairn"},
    {.name = "to-schema",
        .argument = "NAME",
        .help = "the schema in the PostgreSQL database of --to",
        .fallback = "cairn"},
    {.name = "from-files-dir",
        .argument = "DIR",
        .help = "the --files-dir of the servers of --from, if they have one"},
    {.name = "to-files-dir",
        .argument = "DIR",
        .help = "the --files-dir that the servers of --to will have, if any"},
    {.name = "verify-only", .help = "compare both sides without moving data"},
    {.name = "despite-sessions",
        .help = "dangerous: continue although sessions named cairn are connected"},
};

const struct command command_migrate = {
    .noun = "migrate",
    .summary = "move all data to another database, also of the other engine",
    .details =
        "Moves every row from one database to another, then compares the SHA-256 of each table on "
        "both sides. No server may use either database meanwhile. The source is only read. The "
        "content of files is moved into the data directory, the database or --to-files-dir, and "
        "compared with its hashes.\n"
        "If the command was interrupted, also by a crash, run the same command again to continue. "
        "No server opens the target before the move is complete.\n"
        "Set a URL with a password as CAIRN_MIGRATE_FROM or CAIRN_MIGRATE_TO rather than on the "
        "command line, which all users of the machine can see; PGPASSWORD and PGPASSFILE work, "
        "too.\n"
        "With --despite-sessions the command continues although sessions named cairn are connected "
        "to the PostgreSQL database. Use it only if all of them use other schemas: writes of such "
        "a session to one of the databases are lost, or prevent the move from completing.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_OUTPUT | COMMAND_DESTROYS,
    .run = run,
};

/* --- Places --------------------------------------------------------------------------------- */

static int read_schema(struct cli *cli, const char *option, struct transfer_place *place)
{
    struct str name = cli_value(cli, option);
    bool is_given = !str_is_none(name);
    if (is_given && place->engine == ENGINE_SQLITE)
        return cli_usage(cli, "--%s is only for a PostgreSQL database", option);
    if (is_given && !store_is_schema_name(name))
        return cli_usage(
            cli, "--%s must be a lower-case letter or _, then up to 62 of a-z, 0-9 and _", option);
    place->schema = is_given ? name : STR("cairn");
    return EXIT_SUCCESS;
}

static int read_files_dir(struct cli *cli, const char *option, struct transfer_place *place)
{
    place->files_dir = cli_value(cli, option);
    if (!str_is_none(place->files_dir) && place->engine == ENGINE_SQLITE)
        return cli_usage(cli, "--%s is only for a PostgreSQL database", option);
    return EXIT_SUCCESS;
}

static int read_place(struct cli *cli, const struct cli_option *o, const char *schema_option,
    struct transfer_place *out)
{
    const char *option = o->name;
    struct str value = cli_value(cli, option);
    if (str_is_none(value))
        value = str_of(getenv(o->variable));
    if (value.len == 0)
        return cli_usage(cli, "--%s is required: sqlite:DIR or postgres://…", option);
    *out = (struct transfer_place){0};
    if (str_starts_with(value, STR("postgres://")) ||
        str_starts_with(value, STR("postgresql://"))) {
        out->engine = ENGINE_POSTGRES;
        out->url = value;
    } else if (str_starts_with(value, STR("sqlite:")) && value.len > strlen("sqlite:")) {
        out->engine = ENGINE_SQLITE;
        out->data_dir = str_slice(value, strlen("sqlite:"), value.len);
    } else {
        return cli_usage(
            cli, "--%s must be sqlite:DIR or a URL that begins with postgres://", option);
    }
    return read_schema(cli, schema_option, out);
}

static int read_places(struct cli *cli, struct transfer_config *config)
{
    TRY_EXIT(read_place(cli, &options[OPTION_FROM], "from-schema", &config->from));
    TRY_EXIT(read_place(cli, &options[OPTION_TO], "to-schema", &config->to));
    TRY_EXIT(read_files_dir(cli, "from-files-dir", &config->from));
    TRY_EXIT(read_files_dir(cli, "to-files-dir", &config->to));
    bool same = config->from.engine == config->to.engine &&
                str_eq(config->from.data_dir, config->to.data_dir) &&
                str_eq(config->from.url, config->to.url) &&
                str_eq(config->from.schema, config->to.schema);
    return same ? cli_usage(cli, "--from and --to name the same database") : EXIT_SUCCESS;
}

/* --- Output --------------------------------------------------------------------------------- */

static const struct cli_column columns[] = {
    {"TABLE", "/table", COLUMN_ID},
    {"ROWS", "/rows", COLUMN_NUMBER},
    {"MOVED", "/moved", COLUMN_NUMBER},
    {"SHA256", "/sha256", COLUMN_ID},
};

/* After a dry run is_hashed is false, because nothing was hashed. */
static void write_counts(struct json_writer *w, struct arena *arena, uint64_t rows, uint64_t moved,
    struct sha256 hash, bool is_hashed)
{
    struct str bytes = {(const char *)hash.bytes, sizeof hash.bytes};
    json_write_key(w, STR("rows"));
    json_write_u64(w, rows);
    json_write_key(w, STR("moved"));
    json_write_u64(w, moved);
    json_write_key(w, STR("sha256"));
    json_write_string(w, is_hashed ? hex_encode(arena, bytes) : STR_NONE);
}

static void write_table(
    struct json_writer *w, struct arena *arena, const struct transfer_count *table, bool is_hashed)
{
    json_write_object(w);
    json_write_key(w, STR("table"));
    json_write_string(w, str_of(table->table));
    write_counts(w, arena, table->rows, table->moved, table->hash, is_hashed);
    json_write_end(w);
}

enum { MAX_ROW_BYTES = 4096, MAX_DOCUMENT_BYTES = 1024 * 1024 };

static void print_document(
    struct cli *cli, const struct transfer_config *config, const struct transfer_result *result)
{
    static const char *const MODES[] = {
        [TRANSFER_MOVE] = "move", [TRANSFER_DRY_RUN] = "dry_run", [TRANSFER_VERIFY] = "verify"};
    bool is_hashed = config->mode != TRANSFER_DRY_RUN;
    struct json_text text;
    json_text_init(&text, MAX_DOCUMENT_BYTES);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("mode"));
    json_write_string(&text.w, str_of(MODES[config->mode]));
    json_write_key(&text.w, STR("resumed"));
    json_write_bool(&text.w, result->is_resumed);
    json_write_key(&text.w, STR("last_event_id"));
    json_write_i64(&text.w, result->last_event_id);
    json_write_key(&text.w, STR("last_step_id"));
    json_write_i64(&text.w, result->last_step_id);
    write_counts(&text.w, cli_arena(cli), result->rows, result->moved, result->hash, is_hashed);
    json_write_key(&text.w, STR("files"));
    json_write_object(&text.w);
    json_write_key(&text.w, STR("count"));
    json_write_u64(&text.w, result->files.n_files);
    json_write_key(&text.w, STR("size_bytes"));
    json_write_u64(&text.w, result->files.n_bytes);
    json_write_end(&text.w);
    json_write_key(&text.w, STR("tables"));
    json_write_array(&text.w);
    for (size_t i = 0; i < result->n_tables; i++)
        write_table(&text.w, cli_arena(cli), &result->tables[i], is_hashed);
    json_write_end(&text.w);
    json_write_end(&text.w);
    cli_print_object(cli, columns, COUNT_OF(columns), cli_document(cli, &text));
}

static void print_row(struct cli *cli, const struct transfer_count *table, bool is_hashed)
{
    struct json_text text;
    json_text_init(&text, MAX_ROW_BYTES);
    write_table(&text.w, cli_arena(cli), table, is_hashed);
    cli_print_row(cli, columns, COUNT_OF(columns), cli_document(cli, &text));
}

static void print_rows(
    struct cli *cli, const struct transfer_config *config, const struct transfer_result *result)
{
    bool is_hashed = config->mode != TRANSFER_DRY_RUN;
    const struct transfer_count total = {"total", result->rows, result->moved, result->hash};
    for (size_t i = 0; i < result->n_tables; i++)
        print_row(cli, &result->tables[i], is_hashed);
    print_row(cli, &total, is_hashed);
    cli_print_end(cli, columns, COUNT_OF(columns));
}

static void say_end(
    struct cli *cli, const struct transfer_config *config, const struct transfer_result *result)
{
    unsigned long long rows = result->rows, moved = result->moved;
    if (result->files.n_files > 0)
        cli_note(cli, "%llu files with %llu bytes %s", (unsigned long long)result->files.n_files,
            (unsigned long long)result->files.n_bytes,
            config->mode == TRANSFER_DRY_RUN ? "would be moved" : "are complete in the target");
    struct str hash = hex_encode(
        cli_arena(cli), (struct str){(const char *)result->hash.bytes, sizeof result->hash.bytes});
    switch (config->mode) {
    case TRANSFER_MOVE:
        cli_note(cli, "moved %llu rows%s; both sides have the same %llu rows, checksum %.*s", moved,
            result->is_resumed ? " in this run" : "", rows, STR_ARG(hash));
        break;
    case TRANSFER_VERIFY:
        cli_note(cli, "both sides have the same %llu rows, checksum %.*s", rows, STR_ARG(hash));
        break;
    case TRANSFER_DRY_RUN:
        cli_note(cli, "%llu rows would be moved%s; nothing was changed", rows,
            result->must_be_created ? ", into a database that would be created"
            : result->is_resumed    ? ", except those that an earlier run has moved"
                                    : "");
        break;
    }
}

/* --- The command ---------------------------------------------------------------------------- */

static int run(struct cli *cli)
{
    struct transfer_config config = {.despite_sessions = cli_flag(cli, "despite-sessions")};
    struct transfer_result result;
    struct problem problem = PROBLEM_INIT(cli_arena(cli));
    if (cli_is_dry_run(cli) && cli_flag(cli, "verify-only"))
        return cli_usage(cli, "--dry-run and --verify-only exclude each other");
    config.mode = cli_is_dry_run(cli)            ? TRANSFER_DRY_RUN
                  : cli_flag(cli, "verify-only") ? TRANSFER_VERIFY
                                                 : TRANSFER_MOVE;
    TRY_EXIT(read_places(cli, &config));
    if (transfer_run(&config, cli_progress(cli), cli_arena(cli), &problem, &result) != OK) {
        if (config.mode == TRANSFER_MOVE && cli_is_interrupted(cli))
            cli_note(cli, "run the same command again to continue");
        return cli_fail_problem(cli, &problem);
    }
    say_end(cli, &config, &result);
    if (cli_flag(cli, "json") || cli_flag(cli, "jsonl"))
        print_document(cli, &config, &result);
    else
        print_rows(cli, &config, &result);
    return EXIT_SUCCESS;
}
