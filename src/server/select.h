/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a SELECT on the database of a server with this configuration, which may be running or not.
 */
#ifndef SERVER_SELECT_H
#define SERVER_SELECT_H

#include "server/server.h"
#include "store/select.h"

/* Sets select->document. */
MUST_CHECK enum error server_select(
    const struct server_config *config, struct select *select, struct problem *problem);

#endif
