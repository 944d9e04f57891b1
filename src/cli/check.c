/* SPDX-License-Identifier: Apache-2.0 */
#include "server/fsck.h"

#include "cli/contents.h"
#include "cli/settings.h"

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "quick", .help = "skip indexes, documents, the content of events and the digest"},
    {.name = "deep", .help = "read the content of every file and compare its hash"},
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
    {.name = "files-dir",
        .argument = "DIR",
        .help = "with --db: the directory of files, unless they are in the database",
        .variable = "CAIRN_FILES_DIR"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file of the server",
        .fallback = "/etc/cairn/cairn.toml if it exists",
        .variable = "CAIRN_CONFIG"},
};

const struct command command_check = {
    .noun = "check",
    .summary = "check the database for damage and violated rules",
    .details = "Reads the whole database as of one point in time, also while a server uses it, and "
               "changes nothing. On SQLite the command checks the structure of the file, its "
               "indexes and references; on both engines the rules of Cairn, such as gapless events "
               "of a thread and an unchanged audit log. The content of every file must exist and "
               "have its size; with --deep the content is read and compared with its hash.\n"
               "Each line is a finding: the rule, the object and the fault. Exits with 1 if there "
               "are findings. At the end the command prints the number of rows, and on SQLite a "
               "SHA-256 of all rows, which equals that of a backup of the same moment.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_OUTPUT,
    .run = run,
};

static const struct cli_column columns[] = {
    {"RULE", "/rule", COLUMN_TEXT},
    {"OBJECT", "/object", COLUMN_ID},
    {"FINDING", "/finding", COLUMN_TEXT},
};

static void write_finding(struct json_writer *w, const struct fsck_finding *finding)
{
    json_write_object(w);
    json_write_key(w, STR("rule"));
    json_write_string(w, finding->rule);
    json_write_key(w, STR("object"));
    json_write_string(w, finding->object);
    json_write_key(w, STR("finding"));
    json_write_string(w, finding->detail);
    json_write_end(w);
}

static void print_document(struct cli *cli, const struct fsck *fsck)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_key(&text.w, STR("ok"));
    json_write_bool(&text.w, fsck->n_findings == 0);
    json_write_key(&text.w, STR("quick"));
    json_write_bool(&text.w, fsck->quick);
    json_write_key(&text.w, STR("deep"));
    json_write_bool(&text.w, fsck->deep);
    json_write_key(&text.w, STR("findings"));
    json_write_array(&text.w);
    for (size_t i = 0; i < fsck->n_findings; i++)
        write_finding(&text.w, &fsck->findings[i]);
    json_write_end(&text.w);
    json_write_key(&text.w, STR("findings_untold"));
    json_write_u64(&text.w, fsck->n_untold);
    contents_write(&text.w, &fsck->contents, cli_arena(cli));
    json_write_end(&text.w);
    cli_print_object(cli, NULL, 0, cli_document(cli, &text));
}

static void print_lines(struct cli *cli, const struct fsck *fsck)
{
    for (size_t i = 0; i < fsck->n_findings; i++) {
        struct json_text text;
        json_text_init(&text, SIZE_MAX);
        write_finding(&text.w, &fsck->findings[i]);
        cli_print_row(cli, columns, COUNT_OF(columns), cli_document(cli, &text));
    }
    if (fsck->n_findings > 0)
        cli_print_end(cli, columns, COUNT_OF(columns));
}

static uint64_t rows_of(const struct contents *contents, struct str table)
{
    for (size_t i = 0; i < contents->n_tables; i++)
        if (str_eq(contents->tables[i].name, table))
            return contents->tables[i].rows;
    return 0;
}

static void conclude(struct cli *cli, const struct fsck *fsck)
{
    const struct contents *c = &fsck->contents;
    if (c->n_tables > 0)
        cli_note(cli, "%llu rows: threads %llu, runs %llu, events %llu",
            (unsigned long long)c->rows, (unsigned long long)rows_of(c, STR("threads")),
            (unsigned long long)rows_of(c, STR("runs")),
            (unsigned long long)rows_of(c, STR("events")));
    if (c->has_digest) {
        struct str digest = contents_hex(cli_arena(cli), &c->digest);
        cli_note(cli, "content SHA-256 %.*s", STR_ARG(digest));
    }
    size_t n = fsck->n_findings + fsck->n_untold;
    if (n == 0)
        cli_note(cli, "no faults were found");
    else
        cli_note(cli, "%zu finding%s, %zu of them shown", n, n == 1 ? "" : "s", fsck->n_findings);
}

static int run(struct cli *cli)
{
    struct settings settings;
    struct problem problem = PROBLEM_INIT(cli_arena(cli));
    TRY_EXIT(settings_load(cli, &settings));
    if (cli_flag(cli, "quick") && cli_flag(cli, "deep"))
        return cli_usage(cli, "--quick and --deep exclude each other");
    struct fsck *fsck = ARENA_NEW(cli_arena(cli), struct fsck);
    fsck->arena = cli_arena(cli);
    fsck->quick = cli_flag(cli, "quick");
    fsck->deep = cli_flag(cli, "deep");
    fsck->progress = cli_progress(cli);
    enum error e = server_fsck(&settings.config, fsck, &problem);
    if (e != OK)
        return cli_fail_problem(cli, &problem);
    if (cli_flag(cli, "json"))
        print_document(cli, fsck);
    else
        print_lines(cli, fsck);
    conclude(cli, fsck);
    return fsck->n_findings == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
