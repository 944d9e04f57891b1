/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of runs: the messages, files, extras and usage that an engine reports in the call that
 * ends a run, and the messages that this call creates in the thread and appends to its context.
 * They are stored in the transaction that ends the run: for a run without parent in its history
 * entry, which may be changed later (history.h), for a child in the documents of the run.
 */
#ifndef MODEL_EXECUTION_RUN_RESULTS_H
#define MODEL_EXECUTION_RUN_RESULTS_H

#include "model/execution/runs.h"

/* Records a run that has already ended: starts `run` as a direct run and ends it with the members
 * of `end` that run_update replaces, in one transaction. */
MUST_CHECK enum error run_record(struct context *c, struct uuid thread_id, enum run_policy policy,
    struct run *run, const struct run *end);

/* Returns true unless the log of the engine itself has the start or end that this call causes. */
bool run_logs_lifecycle(const struct run *run);
/* Returns true if the call reports a result. */
bool run_result_is_given(const struct run_result *result);
/* Checks the result that is reported for a run with this status after the call. `before` is the run
 * before the call, or NULL if the call records it. */
MUST_CHECK enum error run_result_check(struct context *c, const struct run *before,
    const struct run_result *result, enum run_status status);
/* Removes members that the run has already, so that a run can be written back as it was read. */
MUST_CHECK enum error run_result_drop_known(
    struct context *c, const struct run *before, struct run_result *result);
/* Stores the messages, before any other write (model/rehearsal.h). The thread is locked. */
MUST_CHECK enum error run_result_store_messages(
    struct context *c, struct uuid thread_id, struct run_result *result);
/* Counts the usage of an ending run, creates the message of the assistant, and appends to the
 * context of the thread. */
MUST_CHECK enum error run_result_apply(struct context *c, const struct run *run);
/* Writes the messages, files and extras of a child that ends to its row. */
MUST_CHECK enum error run_result_keep(struct context *c, const struct run *run);
/* Reads the result of a run into run->result; its messages only if `with_messages`: without a
 * result, those of its newest step that has some. */
MUST_CHECK enum error run_result_read(struct context *c, struct run *run, bool with_messages);

/* The same for the runs of a page, which ends where the messages exceed its bytes. */
MUST_CHECK enum error run_result_read_page(struct context *c, struct page *page, struct run *runs);

#endif
