/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as they are appended. Every event is printed once, in order: a stream that breaks is asked
 * for again from the last cursor, as often as it takes. The cursor is told at the end, on stderr.
 */
#ifndef CLI_TAIL_H
#define CLI_TAIL_H

#include "cli/remote.h"

/* What the help of each command that tails says of it. */
#define TAIL_DETAILS                                                                              \
    "A lost connection, also a server that starts again, is made up for: every event is printed " \
    "once. The cursor is told on stderr at the end; --after CURSOR goes on from there."

struct tail {
    struct cli *cli;
    struct remote *remote;
    struct str path;   /* "/v1/threads/…/events" */
    struct str kind;   /* only this kind; STR_NONE: any */
    struct str run_id; /* only events of this run; STR_NONE: any */
    bool ends_with_run;
    struct buf cursor;   /* of the last event that was printed */
    bool one_thread;     /* the cursor is the event's seq, else its id */
    bool reached;        /* the server has answered once */
    bool told_lost;      /* and it was said that it does not any more */
    bool saw_end;        /* of the run */
    const char *stopped; /* why nothing more can be printed; NULL */
};

void tail_init(struct tail *t, struct cli *cli, struct remote *remote);
void tail_deinit(struct tail *t);

/* What is there already; or, followed, until Ctrl-C or the end of the run. The exit code. */
int tail_run(struct tail *t, bool follow);

/* Goes on behind this cursor, STR_NONE being none. One that no server of ours gives is left out. */
void tail_move_to(struct tail *t, struct str cursor);
/* Whether a run in this status has come to its end. */
bool tail_is_finished(struct str status);
/* An answer that says "later"; or none at all, or a proxy's that it has none, from a server that
 * has answered before. */
bool tail_may_wait(
    const struct tail *t, enum client_result result, const struct remote_answer *answer);

#endif
