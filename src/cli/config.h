/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file: profiles of servers for clients, and the settings of `cairn serve`. One
 * format for both, so CAIRN_CONFIG may name one file for all. A key that nobody knows is an error.
 */
#ifndef CLI_CONFIG_H
#define CLI_CONFIG_H

#include "cli/cli.h"
#include "cli/toml.h"

struct config {
    struct str path; /* STR_NONE: there is no file */
    struct toml toml;
};

/* Reads --config, or CAIRN_CONFIG, or the given file if it is there. EXIT_SUCCESS, or it has said
 * what is wrong. */
int config_load(struct cli *cli, struct str usual_path, struct config *out_config);

/* What a path of keys leads to, or NULL. */
const struct toml_entry *config_find(
    const struct config *config, const struct str *path, size_t depth);
bool config_has_profile(const struct config *config, struct str name);
/* The profile whose name is the nearest, or STR_NONE. */
struct str config_suggest_profile(const struct config *config, struct str mistyped);

#endif
