/* SPDX-License-Identifier: Apache-2.0 */
/* The commands, in the order of the help; the verbs of a noun follow each other. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"

/* Returns the row of a command, as its table has it; NULL past the last. */
const struct command *command_at(size_t index);

/* Options that follow from a flag of the command. */
struct option_group {
    unsigned flag;     /* 0: every command has them */
    const char *title; /* for the man page, which describes them once */
    const struct cli_option *options;
    size_t count;
};
extern const struct option_group option_groups[];
extern const size_t option_group_count;

/* Returns NULL if there is no such command. */
const struct command *command_find(struct str noun, struct str verb);
/* Returns true if the noun has commands with a verb. */
bool command_noun_has_verbs(struct str noun);

/* Return the known word that is most like the mistyped one, or STR_NONE. */
struct str command_suggest_noun(struct str mistyped);
struct str command_suggest_verb(struct str noun, struct str mistyped);
struct str command_suggest_option(const struct command *complete, struct str mistyped);

#endif
