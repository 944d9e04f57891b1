/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of the server. One table has the flag of each setting, its environment variable, its
 * key in the [serve] table of the configuration, its default and its help. A flag overrides the
 * environment, which overrides the file. All values of a setting that repeats come from the source
 * with the highest precedence; in the environment they are separated by commas.
 */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/cli.h"
#include "server/server.h"

enum { SETTINGS_COUNT = 19 };
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
    struct server_config config; /* the effective settings */
    struct setting_value values[SETTINGS_COUNT];
    struct str file; /* STR_NONE: none was read */
};

/* Works for any command: flags count if the command has them. Returns EXIT_SUCCESS, or reports the
 * error. */
int settings_load(struct cli *cli, struct settings *out_settings);
/* Prints a row for each setting: its name, its value with passwords masked, its source. */
void settings_print(struct cli *cli, const struct settings *settings);

/* Returns true if the [serve] table has the key; otherwise the most similar one, or STR_NONE. */
bool settings_know(struct arena *arena, struct str key, struct str *out_near);
/* Returns a database's URL without its password. */
struct str settings_mask_url(struct arena *arena, struct str url);

#endif
