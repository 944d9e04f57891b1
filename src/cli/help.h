/* SPDX-License-Identifier: Apache-2.0 */
/* Help and the man page. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/cli.h"

extern const struct command command_help;

void help_print_program(FILE *out);
/* The verbs of a noun. */
void help_print_noun(FILE *out, struct str noun);
void help_print_command(FILE *out, const struct command *complete);
/* cairn(1) as roff. */
void help_print_man(FILE *out);

/* "-f, --follow" or "    --status STATUS" */
struct str help_option_form(struct arena *arena, const struct cli_option *option);

#endif
