/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/contents.h"
#include "cli/settings.h"

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "data",
        .argument = "DIR",
        .help = "the data directory to fill",
        .fallback = "./data",
        .variable = "CAIRN_DATA"},
    {.name = "sha256", .argument = "HEX", .help = "the hash of FILE, instead of FILE.sha256"},
    {.name = "config",
        .argument = "FILE",
        .help = "the configuration file of the server",
        .fallback = "/etc/cairn/cairn.toml if it exists",
        .variable = "CAIRN_CONFIG"},
};

const struct command command_restore = {
    .noun = "restore",
    .arguments = "FILE",
    .summary = "replace the database by a backup",
    .details = "Checks the hash of FILE, copies it into the data directory, checks the copy, and "
               "replaces the database atomically: a crash leaves the old database or the new one. "
               "No server may run there.\n"
               "An existing database is replaced only with --yes, or after a confirmation. It is "
               "kept as cairn.db.before-restore-TIME. --dry-run checks everything and changes "
               "nothing. A backup of an older version is migrated at the next start of the server.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_OUTPUT | COMMAND_DESTROYS,
    .run = run,
};

static int run(struct cli *cli)
{
    struct settings settings;
    struct problem problem = PROBLEM_INIT(cli_arena(cli));
    struct backup_report report;
    TRY_EXIT(settings_load(cli, &settings));
    if (!str_is_none(settings.config.db_url))
        return cli_fail(cli, "the configured database is PostgreSQL: restore it with pg_restore or "
                             "psql (see docs/postgresql.md), or name a data directory with --data");
    struct restore restore = {.file = cli_argument(cli, 0),
        .sha256 = cli_value(cli, "sha256"),
        .data_dir = settings.config.data_dir,
        .replaces = cli_flag(cli, "yes")};
    bool is_dry = cli_is_dry_run(cli);
    if (!is_dry && !restore.replaces && restore_finds_database(restore.data_dir))
        restore.replaces = cli_confirm(
            cli, "Replace the database in %.*s? A copy is kept.", STR_ARG(restore.data_dir));
    enum error e = is_dry ? restore_try(&restore, cli_progress(cli), &problem, &report)
                          : restore_run(&restore, cli_progress(cli), &problem, &report);
    if (e != OK)
        return cli_fail_problem(cli, &problem);
    contents_print_report(cli, restore.file, restore.data_dir, &report);
    if (is_dry)
        cli_note(cli, "%.*s can be restored; nothing was changed", STR_ARG(restore.file));
    return EXIT_SUCCESS;
}
