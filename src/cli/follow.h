/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the events of a thread, of a run or of all threads. Prints every event once, in order:
 * after a lost connection the stream is requested again from the last cursor. At the end the cursor
 * is printed to stderr.
 */
#ifndef CLI_FOLLOW_H
#define CLI_FOLLOW_H

#include "cli/remote.h"

struct follower {
    struct cli *cli;
    struct remote *remote;
    struct str path;   /* "/v1/threads/…/events" */
    struct str kind;   /* only this kind; STR_NONE: any */
    struct str run_id; /* only events of this run; STR_NONE: any */
    bool ends_with_run;
    struct buf cursor;   /* of the last event that was printed */
    bool one_thread;     /* the cursor is the event's seq, otherwise its id */
    bool reached;        /* the server has answered once */
    bool noted_loss;     /* the user knows that the connection was lost */
    bool saw_end;        /* of the run */
    const char *stopped; /* why nothing more can be printed; NULL */
};

void follower_init(struct follower *f, struct cli *cli, struct remote *remote);
void follower_deinit(struct follower *f);

/* Prints the existing events; with `follows`, continues until Ctrl-C or the end of the run. Returns
 * the exit code. */
int follower_run(struct follower *f, bool follows);

/* Continues after this cursor; STR_NONE and invalid cursors are ignored. */
void follower_move_to(struct follower *f, struct str cursor);
/* Returns true if a run with this status has ended. */
bool follower_is_finished(struct str status);
/* Returns true if the request can be sent again later: the server, or a proxy before a server that
 * has answered once, is temporarily unavailable. */
bool follower_may_wait(
    const struct follower *f, enum client_result result, const struct remote_answer *answer);

#endif
