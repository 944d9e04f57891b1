/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LAYOUT_IMPORT_H
#define CLI_LAYOUT_IMPORT_H

#include "cli/cli.h"

/* `cairn import --layout files DIR`. With `only_looks` the files are checked and nothing is sent.
 */
int layout_import(struct cli *cli, struct str directory, bool only_looks);

#endif
