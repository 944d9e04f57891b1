/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies the database of a server with this configuration, which may be running or not. */
#ifndef SERVER_FSCK_H
#define SERVER_FSCK_H

#include "server/server.h"
#include "store/fsck.h"

/* Reports damage in fsck->findings. An error means that the verification is not complete. */
MUST_CHECK enum error server_fsck(
    const struct server_config *config, struct fsck *fsck, struct problem *problem);

#endif
