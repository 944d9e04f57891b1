/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of commands. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

extern const struct command *const commands[];
extern const size_t command_count;

/* Options that come with a flag of the command. */
struct option_group {
    unsigned flag;     /* 0: every command has them */
    const char *title; /* for the man page, which tells of them once */
    const struct cli_option *options;
    size_t count;
};
extern const struct option_group option_groups[];
extern const size_t option_group_count;

/* The options that a command has itself, and those of its flags: all of them, in this order. */
size_t command_option_count(const struct command *command);
const struct cli_option *command_option(const struct command *command, size_t index);

const struct command *command_find(struct str noun, struct str verb);
/* Whether there are commands of this noun that have a verb. */
bool command_noun_has_verbs(struct str noun);

/* The known word that the mistyped one was meant to be, or STR_NONE. */
struct str command_suggest_noun(struct str mistyped);
struct str command_suggest_verb(struct str noun, struct str mistyped);
struct str command_suggest_option(const struct command *command, struct str mistyped);

#endif
