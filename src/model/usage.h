/*
 * Usage: what calls of models took, and what they cost. usage_add is the one way by which tokens
 * and money enter the record: it finds the price, computes the cost once, and adds both to the
 * turn, to the run, to the totals of the run's ancestors and to the day, in one transaction. A call
 * of a model that has no price is counted as such, and its cost is in no sum.
 */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include "model/runs.h"

struct usage {
    struct str model;     /* STR_NONE: the run's; what has no model has no price */
    struct str provider;  /* STR_NONE: the run's */
    int64_t input_tokens; /* neither written to a cache nor read from one */
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
};

/* In picodollars. */
struct cost {
    bool is_priced; /* otherwise the rest is zero */
    int64_t price_version;
    bool long_context_applied;
    int64_t input;
    int64_t output;
    int64_t cache_write;
    int64_t cache_read;
    int64_t total;
};

/* One call of a model by the run, in a turn of it (the nil id: in none). The thread is locked. */
MUST_CHECK enum error usage_add(struct context *c, const struct run *run, struct uuid turn_id,
    const struct usage *usage, struct cost *out_cost);

/* A run began, or finished with the status that it has: the day counts it. */
MUST_CHECK enum error usage_count_started(struct context *c, const struct run *run);
MUST_CHECK enum error usage_count_finished(struct context *c, const struct run *run);

#endif
