/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: profiles of servers for clients, and the settings of `cairn serve`. Both
 * have one format, so that CAIRN_CONFIG can name one file for all. An unknown key is an error.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/cli.h"
#include "cli/toml.h"

struct config {
    struct str path; /* STR_NONE: there is no file */
    struct toml toml;
};

/* Reads --config, CAIRN_CONFIG, or the given file if it exists. Returns EXIT_SUCCESS, or reports
 * the error. */
int config_load(struct cli *cli, struct str usual_path, struct config *out_config);

/* Returns the value at a path of keys, or NULL. */
const struct toml_entry *config_find(
    const struct config *config, const struct str *path, size_t depth);
bool config_has_profile(const struct config *config, struct str name);
/* Returns the profile with the most similar name, or STR_NONE. */
struct str config_suggest_profile(const struct config *config, struct str mistyped);

#endif
