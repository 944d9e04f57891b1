/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the server: one table says of each its flag, its environment variable, its key in
 * the [serve] table of the configuration, its default and its help. A flag beats the environment,
 * the environment beats the file. A setting that can be given several times is taken whole from the
 * highest place that has it; the environment separates its values by commas.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/cli.h"
#include "server/server.h"

enum { SETTINGS_COUNT = 17 };
#define SETTINGS_USUAL_FILE "/etc/cairn/cairn.toml"

/* The table's rows as options of a command. */
extern const struct cli_option settings_options[];

enum setting_level { LEVEL_DEFAULT, LEVEL_FILE, LEVEL_ENVIRONMENT, LEVEL_FLAG };

struct setting_value {
    enum setting_level level;
    struct str *values; /* none at LEVEL_DEFAULT */
    size_t n_values;
    struct str source; /* "--listen", "CAIRN_LISTEN", "/etc/cairn/cairn.toml:3" */
};

struct settings {
    struct server_config config; /* what is in force */
    struct setting_value values[SETTINGS_COUNT];
    struct str file; /* STR_NONE: none was read */
};

/* Works for any command: flags count where the command has them. EXIT_SUCCESS, or it has said what
 * is wrong. */
int settings_load(struct cli *cli, struct settings *out_settings);
/* A row for each setting: its name, its value with passwords masked, where it comes from. */
void settings_print(struct cli *cli, const struct settings *settings);

/* Whether the [serve] table knows the key; when not, the nearest one or STR_NONE. */
bool settings_know(struct arena *arena, struct str key, struct str *out_near);
/* A database's URL without its password. */
struct str settings_mask_url(struct arena *arena, struct str url);

#endif
