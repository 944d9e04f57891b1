/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script: steps that touch every resource and every way of writing. A later resource joins by
 * rows in the table of steps.c; a test fails while a writing route has none.
 */
#ifndef TESTS_FAULT_SCRIPT_H
#define TESTS_FAULT_SCRIPT_H

#include "ledger.h"
#include "verdict.h"
#include "vfs.h"

enum step_kind {
    STEP_CALL,
    STEP_OPEN,
    STEP_CLOSE,
    STEP_SWEEP,      /* what the sweeper does once a second */
    STEP_CHECKPOINT, /* the writer finds it due after its next commit */
    STEP_CHECK,
    STEP_BACKUP,
    STEP_RESTORE, /* over the database that is there */
};

/*
 * In every text $name is a value that an earlier step has saved; while there is none the step is
 * left out. `shows` says what the GET of `read` has to answer after this step, by blanks:
 *   /title            what the answer to this step has there
 *   /run_status>/status   the same, at another place
 *   /status="paused"  just this
 */
struct step {
    enum step_kind kind;
    const char *method, *target, *body, *header;
    const char *body_from;              /* what a GET of this answers is the body; NULL */
    const char *save;                   /* "thread=/id fence=/fence" */
    const char *read, *shows;           /* NULL: nothing can be read of it */
    const char *also_read, *also_shows; /* a second one */
    const char *touches;                /* what else may change: targets, "/v1/runs/$run*" */
    const char *as;                     /* the key: a saved secret; NULL: $secret */
    const char *is_again;               /* an Idempotency-Key: a retry must not do it twice */
    int read_status;                    /* 0: 200 */
};

extern const struct step steps[];
extern const size_t step_count;

/* Runs it in this process, under `root`. */
void script_run(
    const char *root, struct ledger *ledger, struct vfs_outcome *disk, struct verdict *verdict);

#endif
