/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/follow.h"
#include "cli/request.h"
#include "cli/resources.h"

int command_event_tail(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    TRY_EXIT(remote_open(cli, &remote));
    struct follower follower CLEANUP(follower_deinit);
    follower_init(&follower, cli, remote);
    follower.one_thread = cli_argument_count(cli) > 0;
    follower.path = request_path(cli, "/v1/threads/{thread_id}/events");
    follower.kind = cli_value(cli, "kind");
    follower.run_id = cli_value(cli, "run");
    return follower_run(&follower, cli_flag(cli, "follow"));
}
