/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eval runs: the evaluation of an agent, a run or a model, as a score, a verdict or the evaluator's
 * own data. An eval remains when the evaluated run or agent is deleted.
 */
#ifndef MODEL_EXECUTION_EVALS_H
#define MODEL_EXECUTION_EVALS_H

#include "model/context.h"

enum {
    EVAL_TEXT_MAX_BYTES = 200,
    EVAL_DOCUMENT_MAX_BYTES = 1024 * 1024,
    EVAL_METADATA_MAX_BYTES = 16 * 1024,
    EVAL_SCORE_UNIT = 1000000, /* a score is stored in millionths */
    EVAL_SCORE_PLACES = 6,
};
/* On the wire a score has up to 12 decimal places, as money has; the greatest is 1. */
#define EVAL_SCORE_MAX INT64_C(1000000000000)

/* JSON is compact text; lists omit the documents. */
struct eval {
    struct uuid id;
    struct str name;
    struct str eval_type;
    bool has_agent_id;
    struct uuid agent_id;
    struct str agent_version;
    bool has_run_id;
    struct uuid run_id;
    struct str model;
    struct str provider;
    struct str evaluated_name;
    struct str eval_input;
    struct str eval_data;
    bool has_score;
    int64_t score;
    bool has_passed;
    bool passed;
    struct str metadata;
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* The agent and the run of the eval must exist. Sets the other members. */
MUST_CHECK enum error eval_create(struct context *c, struct eval *eval);
MUST_CHECK enum error eval_get(struct context *c, struct uuid id, struct eval *out_eval);

struct eval_filter {
    bool has_before;
    struct uuid before;
    struct str eval_type;
    bool has_agent_id;
    struct uuid agent_id;
    bool has_run_id;
    struct uuid run_id;
};
/* Newest first. */
MUST_CHECK enum error eval_list(
    struct context *c, const struct eval_filter *filter, struct page *page, struct eval *out_evals);

/* Locks the eval, before a job reads it in order to change it. */
MUST_CHECK enum error eval_lock(struct context *c, struct uuid id);
/* Replaces the members that clients may change. `before` was read after eval_lock. */
MUST_CHECK enum error eval_update(struct context *c, const struct eval *before, struct eval *after);
MUST_CHECK enum error eval_delete(struct context *c, struct uuid id);

#endif
