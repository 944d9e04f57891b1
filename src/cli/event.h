/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what a client sees of a thread, in order. */
#ifndef CLI_EVENT_H
#define CLI_EVENT_H

#include "cli/cli.h"

/* Of a list of them, and of a tail. */
enum { EVENT_COLUMNS = 7 };
extern const struct cli_column event_columns[];

#endif
