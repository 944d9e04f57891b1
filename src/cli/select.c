/* SPDX-License-Identifier: Apache-2.0 */
/* cairn sql: one SELECT on the views of docs/sql.md, as a tenant. */
#include "server/select.h"

#include "base/json/json_write.h"
#include "cli/settings.h"
#include "cli/state.h"

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "tenant",
        .argument = "TENANT",
        .help = "the id or the name of the tenant whose rows are read",
        .fallback = "default"},
    {.name = "plan", .help = "print the plan of the statement instead of its rows"},
    {.name = "limit",
        .argument = "N",
        .help = "print at most so many rows, up to 100000",
        .fallback = "1000",
        .kind = OPTION_NUMBER},
    {.name = "timeout",
        .argument = "SECONDS",
        .help = "end the statement after this time, up to 300",
        .fallback = "10",
        .kind = OPTION_NUMBER},
    {.name = "data",
        .argument = "DIR",
        .help = "the data directory of SQLite",
        .fallback = "./data",
        .variable = "CAIRN_DATA"},
    {.name = "db",
        .argument = "URL",
        .help = "the URL of a PostgreSQL database, postgres://…",
        .variable = "CAIRN_DB"},
    {.name = "db-schema",
        .argument = "NAME",
        .help = "the schema in that database",
        .fallback = "cairn",
        .variable = "CAIRN_DB_SCHEMA"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file of the server",
        .fallback = "/etc/cairn/cairn.toml if it exists",
        .variable = "CAIRN_CONFIG"},
};

const struct command command_sql = {
    .noun = "sql",
    .arguments = "STATEMENT",
    .summary = "run a SELECT on the SQL views, read-only, as a tenant",
    .details =
        "Reads the database of the data directory or URL itself, also while a server uses it. The "
        "statement sees the views of docs/sql.md with the rows of one tenant, and nothing else: no "
        "tables, no other tenants, no functions that read files or change settings. It cannot "
        "write. cairn_document(REFERENCE) returns the list of messages that a view refers to. On "
        "SQLite it accepts the casts, intervals and functions of PostgreSQL that docs/sql.md "
        "lists.\n"
        "A result of more than --limit rows is cut, and the command reports that. A result of more "
        "than 64 MiB, and a statement that takes longer than --timeout, is an error.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_OUTPUT,
    .run = run,
};

/* The name of a column as a JSON Pointer. */
static const char *pointer_to(struct cli *cli, struct str name)
{
    struct buf out CLEANUP(buf_deinit);
    buf_init(&out, 64 * 1024);
    buf_append_byte(&out, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/')
            buf_append(&out, name.ptr[i] == '~' ? STR("~0") : STR("~1"));
        else
            buf_append_byte(&out, name.ptr[i]);
    }
    return arena_cstr(cli_arena(cli), buf_str(&out));
}

static void print(struct cli *cli, const struct select *select)
{
    struct cli_column *columns =
        ARENA_ARRAY(cli_arena(cli), struct cli_column, select->n_columns + 1);
    for (size_t i = 0; i < select->n_columns; i++)
        columns[i] = (struct cli_column){arena_cstr(cli_arena(cli), select->columns[i]),
            pointer_to(cli, select->columns[i]), COLUMN_TEXT};
    for (size_t i = 0; i < select->n_rows; i++) {
        struct json_text text;
        json_text_init(&text, SIZE_MAX);
        json_write_raw(&text.w, select->rows[i]);
        cli_print_row(cli, columns, select->n_columns, cli_document(cli, &text));
    }
    cli_print_page_members(
        cli, select->has_more ? STR(",\"has_more\":true") : STR(",\"has_more\":false"));
    cli_print_end(cli, columns, select->n_columns);
    if (select->has_more)
        cli_note(cli, "only the first %zu rows are shown: raise --limit", select->max_rows);
}

/* Reads a whole number from 1 to a maximum. */
static int number_of(
    struct cli *cli, const char *option, int64_t fallback, int64_t most, int64_t *out_number)
{
    struct str text = cli_value(cli, option);
    *out_number = fallback;
    if (!str_is_none(text) &&
        (!str_to_i64(text, out_number) || *out_number < 1 || *out_number > most))
        return cli_usage(cli, "--%s must be a number from 1 to %lld", option, (long long)most);
    return EXIT_SUCCESS;
}

static int run(struct cli *cli)
{
    struct settings settings;
    struct problem problem = PROBLEM_INIT(cli_arena(cli));
    int64_t limit, timeout_s;
    TRY_EXIT(number_of(cli, "limit", 1000, SELECT_MAX_ROWS, &limit));
    TRY_EXIT(number_of(cli, "timeout", 10, SELECT_MAX_TIMEOUT_S, &timeout_s));
    TRY_EXIT(settings_load(cli, &settings));
    struct str tenant = cli_value(cli, "tenant");
    struct select select = {
        .arena = cli_arena(cli),
        .text = cli_argument(cli, 0),
        .tenant = str_is_none(tenant) ? STR("default") : tenant,
        .timeout_ms = timeout_s * 1000,
        .max_rows = (size_t)limit,
        .plan = cli_flag(cli, "plan"),
    };
    if (server_select(&settings.config, &select, &problem) != OK)
        return cli_fail_problem(cli, &problem);
    print(cli, &select);
    return EXIT_SUCCESS;
}
