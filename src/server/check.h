/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the database of a server with this configuration, which may be running or not. */
#ifndef SERVER_CHECK_H
#define SERVER_CHECK_H

#include "server/server.h"
#include "store/check.h"

/* Reports damage in check->findings. An error means that the check could not be completed. */
MUST_CHECK enum error server_check(
    const struct server_config *config, struct check *check, struct problem *problem);

#endif
