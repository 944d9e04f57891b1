/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "cli/settings.h"

static int run(struct cli *cli);

/* The settings, and what says where they come from. */
const struct command command_serve = {.noun = "serve",
    .summary = "start the server",
    .details =
        "Serves until SIGTERM or SIGINT, then lets running requests end.\n"
        "A flag beats the environment variable in brackets, which beats the key of the same name "
        "in the [serve] table of the configuration (--config, CAIRN_CONFIG, or "
        "/etc/cairn/cairn.toml when it is there); in the file a name has _ for -, and what can be "
        "given several times is an array. --data and --db both name the store: the higher place "
        "wins.\n"
        "A database's URL may hold a password; the command line is shown to everybody on the "
        "machine, so give it as CAIRN_DB or in the configuration.",
    .options = settings_options,
    .n_options = SETTINGS_COUNT,
    .flags = COMMAND_OUTPUT | COMMAND_SERVER,
    .run = run};

static int run(struct cli *cli)
{
    struct settings settings;
    int refused = settings_load(cli, &settings);
    if (refused != EXIT_SUCCESS)
        return refused;
    if (cli_flag(cli, "print-config")) {
        settings_print(cli, &settings);
        return EXIT_SUCCESS;
    }
    return server_run(&settings.config);
}
