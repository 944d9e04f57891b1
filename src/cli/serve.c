/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/settings.h"

static int run(struct cli *cli);

/* The options are the settings of the server. */
const struct command command_serve = {.noun = "serve",
    .summary = "start the server",
    .details = "Serves until SIGTERM or SIGINT, then completes running requests.\n"
               "A flag overrides the environment variable in brackets, which overrides the key of "
               "the same name in the [serve] table of the configuration (--config, CAIRN_CONFIG, "
               "or /etc/cairn/cairn.toml if it exists). In the file a name has _ for -, and a "
               "setting that repeats is an array. --data and --db both select the database: the "
               "source with the higher precedence counts.\n"
               "The URL of a database can contain a password, and all users of the machine can see "
               "the command line: set the URL as CAIRN_DB or in the configuration.",
    .options = settings_options,
    .n_options = SETTINGS_COUNT,
    .flags = COMMAND_OUTPUT | COMMAND_SERVER,
    .run = run};

static int run(struct cli *cli)
{
    struct settings settings;
    TRY_EXIT(settings_load(cli, &settings));
    if (cli_flag(cli, "print-config")) {
        settings_print(cli, &settings);
        return EXIT_SUCCESS;
    }
    return server_run(&settings.config);
}
