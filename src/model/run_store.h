/* What the files of the run resource share. Private to them. */
#ifndef MODEL_RUN_STORE_H
#define MODEL_RUN_STORE_H

#include "model/runs.h"

void run_read_row(struct query *q, struct run *out);
/* Every row that is left of the query; ends it. */
MUST_CHECK enum error run_read_all(struct query *q, struct run_array *out);
/* Writes status, phase, lease and times: all that runs without documents may be asked to. */
MUST_CHECK enum error run_write(struct context *c, const struct run *run);
/* Writes what an engine tells of the run: all documents but those that it began with, and
 * metadata, error, model, provider and stop_reason. */
MUST_CHECK enum error run_write_documents(struct context *c, const struct run *run);

/*
 * Moves the run to another status: checks the table, writes the row, appends the event with
 * `reason` (STR_NONE for none), then carries out what follows from it. `run` holds the new fields
 * already, except the status.
 */
MUST_CHECK enum error run_change(
    struct context *c, struct run *run, const char *to, struct str reason);
/* Appends the event that tells of the status it has; `from` STR_NONE when it is new. */
MUST_CHECK enum error run_announce(
    struct context *c, const struct run *run, struct str from, struct str reason);
/* The run and its children, without what the verbs check first. */
MUST_CHECK enum error run_pause_tree(struct context *c, struct run *run);
MUST_CHECK enum error run_resume_tree(struct context *c, struct run *run);
/* Where the run goes when it may work again. */
const char *run_ready_status(const struct run *run);

#endif
