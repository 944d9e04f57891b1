/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: what calls of models took, and what they cost. usage_add is the one way by which tokens
 * and money enter the record: it finds the price, computes the cost once, and adds both to the
 * turn, to the run, to the totals of the run's ancestors and to the day, in one transaction. A call
 * of a model that has no price is counted as such, and its cost is in no sum.
 *
 * Days count what happened: they stay when runs, threads and agents are deleted. The sums of a run
 * are no change of it: its version stays.
 */
#ifndef MODEL_EXECUTION_USAGE_H
#define MODEL_EXECUTION_USAGE_H

#include "base/schema.h"
#include "model/execution/prices.h"
#include "model/execution/runs.h"

enum { USAGE_TOKENS_MAX = 1000000000 }; /* of one kind, in one call */

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
    struct str currency; /* STR_NONE when it has no price */
};

/* One call of a model by the run, in a turn of it (the nil id: in none). The thread is locked. */
MUST_CHECK enum error usage_add(struct context *c, const struct run *run, struct uuid turn_id,
    const struct usage *usage, struct cost *out_cost);
/* What such a call costs now; nothing is written. ERR_INVALID for a sum that is beyond reason. */
MUST_CHECK enum error usage_cost(
    struct context *c, const struct usage *usage, struct cost *out_cost);

/* A run began, or finished with the status that it has: the day counts it. */
MUST_CHECK enum error usage_count_started(struct context *c, const struct run *run);
MUST_CHECK enum error usage_count_finished(struct context *c, const struct run *run);

/* --- As it is shown (usage_document.c) ------------------------------------------------------ */

/*
 * The cost of a call, or of a run with its descendants. When a call in it had no price the costs
 * are null, unpriced_calls tells how many, and priced_cost what the others cost.
 */
struct cost_document {
    bool has_costs;
    int64_t input_cost;
    int64_t output_cost;
    int64_t cache_write_cost;
    int64_t cache_read_cost;
    int64_t total_cost;
    int64_t total_input_tokens; /* what was cached included */
    int64_t total_output_tokens;
    int64_t total_cache_creation_tokens;
    int64_t total_cache_read_tokens;
    struct str model_id;    /* STR_NONE: not known, or several */
    struct str_list models; /* when there are several */
    bool long_context_applied;
    struct str currency;
    bool has_price_version; /* of one call */
    int64_t price_version;
    int64_t llm_calls;
    int64_t unpriced_calls;
    bool has_priced_cost;
    int64_t priced_cost;
};
extern const struct schema cost_document_schema;

void cost_document_of_call(
    const struct usage *usage, const struct cost *cost, struct cost_document *out);

/* What one run used of one model under one version of its price. */
struct model_usage {
    struct str model;
    struct str provider;
    bool has_price_version;
    int64_t price_version;
    int64_t llm_calls;
    int64_t long_context_calls;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
    int64_t input_cost;
    int64_t output_cost;
    int64_t cache_write_cost;
    int64_t cache_read_cost;
};
/* Of the run and its descendants; the list is of struct model_usage, each model under each price.
 */
MUST_CHECK enum error usage_of_run(struct context *c, struct uuid run_id,
    struct cost_document *out_total, struct nested_list *out_models);
/* The same total as compact JSON, for the history of a finished run. */
MUST_CHECK enum error usage_cost_document(
    struct context *c, const struct run *run, struct str *out_json);

/* --- By day (usage_report.c) ---------------------------------------------------------------- */

enum { USAGE_DAYS_MAX = 3660, USAGE_AVERAGE_DAYS_MAX = 366 };

struct usage_filter {
    int64_t from_day; /* both are counted from 1970, and belong to it */
    int64_t to_day;
    bool by_day, by_model, by_provider, by_agent;
    struct str model; /* only this one; STR_NONE: all */
    struct str provider;
    bool has_agent_id;
    struct uuid agent_id;
};

/* The nil id and the empty text stand for "none", and for what was not asked for. */
struct usage_key {
    int64_t day;
    struct str model;
    struct str provider;
    struct uuid agent_id;
};

struct usage_sums {
    int64_t runs_started;
    int64_t runs_completed;
    int64_t runs_failed;
    int64_t runs_cancelled;
    int64_t llm_calls;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t cache_creation_input_tokens;
    int64_t cache_read_input_tokens;
    int64_t cost;
    int64_t unpriced_calls;
};

struct usage_group {
    struct usage_key key;
    struct usage_sums sums;
};

/* In the order of the key, those past `after` (NULL: from the first). */
MUST_CHECK enum error usage_report(struct context *c, const struct usage_filter *filter,
    const struct usage_key *after, struct page *page, struct usage_group *out_groups);
MUST_CHECK enum error usage_total(
    struct context *c, const struct usage_filter *filter, struct usage_sums *out_sums);
/* The one that all prices of the tenant are in. */
MUST_CHECK enum error usage_currency(struct context *c, struct str *out_currency);

/* What finished runs took on average: of a thread, or of an agent (the nil id: of none). */
struct usage_average {
    struct uuid id;
    int64_t runs;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t avg_tokens; /* rounded */
};
/* Of runs that started after `since_us`, by id; those past `after` (NULL: from the first). */
MUST_CHECK enum error usage_averages(struct context *c, bool by_agent, int64_t since_us,
    const struct uuid *after, struct page *page, struct usage_average *out_averages);

#endif
