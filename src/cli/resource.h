/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are data: a row says what to ask of the server and what to show of the answer. */
#ifndef CLI_RESOURCE_H
#define CLI_RESOURCE_H

#include "cli/cli.h"

/* Runs a command that has a request and no function of its own. */
int resource_run(struct cli *cli);

#endif
