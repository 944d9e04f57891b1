/* SPDX-License-Identifier: Apache-2.0 */
#include "store/backup.h"

#include "cli/contents.h"
#include "cli/settings.h"

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "data",
        .argument = "DIR",
        .help = "the data directory",
        .fallback = "./data",
        .variable = "CAIRN_DATA"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file of the server",
        .fallback = "/etc/cairn/cairn.toml if it exists",
        .variable = "CAIRN_CONFIG"},
    {.name = "yes", .letter = 'y', .help = "replace FILE if it exists"},
};

const struct command command_backup = {
    .noun = "backup",
    .arguments = "FILE",
    .summary = "copy the database to a file, also while a server uses it",
    .details =
        "Copies the SQLite database of a data directory as of one point in time: the copy contains "
        "every write that was acknowledged before. The server keeps running. The copy is verified "
        "and synced before it gets its name; FILE.sha256 contains its hash for sha256sum -c.\n"
        "Use pg_dump for PostgreSQL.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_OUTPUT,
    .run = run,
};

static int run(struct cli *cli)
{
    struct settings settings;
    struct problem problem = PROBLEM_INIT(cli_arena(cli));
    struct backup_report report;
    struct str file = cli_argument(cli, 0);
    TRY_EXIT(settings_load(cli, &settings));
    if (!str_is_none(settings.config.db_url))
        return cli_fail(cli, "the configured database is PostgreSQL: back it up with pg_dump (see "
                             "docs/postgresql.md), or name a data directory with --data");
    struct str data_dir = settings.config.data_dir;
    bool replaces = cli_flag(cli, "yes");
    enum error e = backup_create(data_dir, file, replaces, cli_progress(cli), &problem, &report);
    if (e == ERR_CONFLICT && !replaces && access(arena_cstr(cli_arena(cli), file), F_OK) == 0 &&
        cli_confirm(cli, "Replace %.*s?", STR_ARG(file)))
        e = backup_create(data_dir, file, true, cli_progress(cli), &problem, &report);
    if (e != OK)
        return cli_fail_problem(cli, &problem);
    contents_print_report(cli, file, data_dir, &report);
    return EXIT_SUCCESS;
}
