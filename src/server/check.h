/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the database that a server of this configuration serves, or would. */
#ifndef SERVER_CHECK_H
#define SERVER_CHECK_H

#include "server/server.h"
#include "store/check.h"

/* Says what is wrong in check->findings; an error: it could not be found out. */
MUST_CHECK enum error server_check(
    const struct server_config *config, struct check *check, struct problem *problem);

#endif
