/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts of a run: one for each claim, numbered from 1 without gaps, from the claim to the
 * end of its lease. An attempt fails if its worker reports an error as it releases the run, if its
 * lease expires, or with the run. Failed attempts count towards max_attempts of the run; the
 * others, such as one that ended with a question, do not. A run that its caller works on (dispatch
 * direct) has none.
 */
#ifndef MODEL_EXECUTION_ATTEMPTS_H
#define MODEL_EXECUTION_ATTEMPTS_H

#include "model/execution/runs.h"

/* A worker's error fits into the error of a run, beside the members that Cairn adds. */
enum { ATTEMPT_ERROR_MAX_BYTES = 32 * 1024 };

#define ATTEMPT_OUTCOMES(X)                 \
    X(ATTEMPT_COMPLETED, "completed")       \
    X(ATTEMPT_FAILED, "failed")             \
    X(ATTEMPT_CANCELLED, "cancelled")       \
    X(ATTEMPT_WAITING, "waiting_for_input") \
    X(ATTEMPT_PAUSED, "paused")             \
    X(ATTEMPT_RELEASED, "released")         \
    X(ATTEMPT_LEASE_EXPIRED, "lease_expired")
ENUM_DECLARE(attempt_outcome, ATTEMPT_OUTCOME_NONE, attempt_outcomes, ATTEMPT_OUTCOMES);

struct run_attempt {
    int64_t number;
    struct str worker;
    int64_t fence;
    int64_t started_at;
    bool has_ended_at;
    int64_t ended_at;
    enum attempt_outcome outcome; /* ATTEMPT_OUTCOME_NONE: the worker has the lease */
    struct str error;
};
/* Lists the attempts after this number, oldest first. */
MUST_CHECK enum error attempt_list(struct context *c, struct uuid run_id, int64_t after,
    struct page *page, struct run_attempt *out_attempts);

/* Begins the attempt of the run's worker. The caller calls run_write. */
MUST_CHECK enum error attempt_begin(struct context *c, struct run *run);
/* Ends the current attempt of the run, with its lease, and counts it if it has failed. The caller
 * calls run_write. */
MUST_CHECK enum error attempt_end(
    struct context *c, struct run *run, enum attempt_outcome outcome, struct str error);
/* Returns the outcome of an attempt that ended with this status of the run. */
enum attempt_outcome attempt_outcome_of(enum run_status status);

#endif
