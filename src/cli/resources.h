/* SPDX-License-Identifier: Apache-2.0 */
/* The commands on resources of the API, and the functions of those that have one. */
#ifndef CLI_RESOURCES_H
#define CLI_RESOURCES_H

#include "cli/cli.h"

extern const struct command resource_commands[];
extern const size_t resource_command_count;

/* Each returns the exit code. */
int command_event_tail(struct cli *cli);
int command_file_put(struct cli *cli);
int command_file_get(struct cli *cli);
int command_file_diff(struct cli *cli);
int command_run_tail(struct cli *cli);
int command_run_wait(struct cli *cli);
int command_step_append(struct cli *cli);
int command_storage_get(struct cli *cli);
int command_storage_set(struct cli *cli);

#endif
