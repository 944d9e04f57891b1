/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: tokens and cost of calls to models. Only usage_add records them: it finds the price,
 * computes the cost once, and adds both to the turn, the run, the totals of the run's ancestors and
 * the day, in one transaction. Calls to a model without a price are counted as unpriced, and no sum
 * includes their cost.
 *
 * The sums of days remain when runs, threads and agents are deleted. Adding usage to a run does not
 * change the run's version.
 */
#ifndef MODEL_EXECUTION_USAGE_H
#define MODEL_EXECUTION_USAGE_H

#include "base/schema.h"
#include "model/execution/prices.h"
#include "model/execution/runs.h"

enum { USAGE_TOKENS_MAX = 1000000000 }; /* of each kind, in one call */

/* In picodollars. */
struct cost {
    bool is_priced; /* false: the other members are zero */
    int64_t price_version;
    bool long_context_applied;
    int64_t input;
    int64_t output;
    int64_t cache_write;
    int64_t cache_read;
    int64_t total;
    struct str currency; /* STR_NONE if there is no price */
};

/* Records one call to a model by the run, in this turn (the nil id: none). The thread is locked. */
MUST_CHECK enum error usage_add(struct context *c, const struct run *run, struct uuid turn_id,
    const struct usage *usage, struct cost *out_cost);
/* Returns the cost of such a call now and writes nothing. ERR_INVALID: the sum is too large. */
MUST_CHECK enum error usage_cost(
    struct context *c, const struct usage *usage, struct cost *out_cost);

/* Count the start of a run, and its end by status, in the sums of the day. */
MUST_CHECK enum error usage_count_started(struct context *c, const struct run *run);
MUST_CHECK enum error usage_count_finished(struct context *c, const struct run *run);

/* --- As it is shown (usage_document.c) ------------------------------------------------------ */

/*
 * The cost of a call, or of a run with its descendants. If a call has no price, the costs are null,
 * unpriced_calls is the number of such calls, and priced_cost the cost of the others.
 */
struct cost_document {
    bool has_costs;
    int64_t input_cost;
    int64_t output_cost;
    int64_t cache_write_cost;
    int64_t cache_read_cost;
    int64_t total_cost;
    int64_t total_input_tokens; /* including cached input */
    int64_t total_output_tokens;
    int64_t total_cache_creation_tokens;
    int64_t total_cache_read_tokens;
    struct str model_id;    /* STR_NONE: unknown, or several */
    struct str_list models; /* if there are several */
    bool long_context_applied;
    struct str currency;
    bool has_price_version; /* only for one call */
    int64_t price_version;
    int64_t llm_calls;
    int64_t unpriced_calls;
    bool has_priced_cost;
    int64_t priced_cost;
};
extern const struct schema cost_document_schema;

void cost_document_of_call(
    const struct usage *usage, const struct cost *cost, struct cost_document *out);

/* The usage of one model by one run, with one version of the price. */
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
/* Returns the usage of the run and its descendants. out_models: a struct model_usage for each model
 * and version of its price. */
MUST_CHECK enum error usage_of_run(struct context *c, struct uuid run_id,
    struct cost_document *out_total, struct nested_list *out_models);
/* Returns the same total as compact JSON, for the history of a finished run. */
MUST_CHECK enum error usage_cost_document(
    struct context *c, const struct run *run, struct str *out_json);

/* --- By day (usage_report.c) ---------------------------------------------------------------- */

enum { USAGE_DAYS_MAX = 3660, USAGE_AVERAGE_DAYS_MAX = 366 };

struct usage_filter {
    int64_t from_day; /* days since 1970; both are inclusive */
    int64_t to_day;
    bool by_day, by_model, by_provider, by_agent;
    struct str model; /* STR_NONE: all models */
    struct str provider;
    bool has_agent_id;
    struct uuid agent_id;
};

/* The nil id and the empty text mean "none", or that the report is not grouped by the member. */
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

/* Lists groups in the order of their keys, after `after` (NULL: from the first). */
MUST_CHECK enum error usage_report(struct context *c, const struct usage_filter *filter,
    const struct usage_key *after, struct page *page, struct usage_group *out_groups);
MUST_CHECK enum error usage_total(
    struct context *c, const struct usage_filter *filter, struct usage_sums *out_sums);
/* Returns the currency of the tenant's prices. */
MUST_CHECK enum error usage_currency(struct context *c, struct str *out_currency);

/* The average usage of finished runs of a thread, or of an agent (the nil id: without an agent). */
struct usage_average {
    struct uuid id;
    int64_t runs;
    int64_t input_tokens;
    int64_t output_tokens;
    int64_t avg_tokens; /* rounded */
};
/* Lists averages of runs that started after `since_us`, by id, after `after` (NULL: from the
 * first).
 */
MUST_CHECK enum error usage_averages(struct context *c, bool by_agent, int64_t since_us,
    const struct uuid *after, struct page *page, struct usage_average *out_averages);

#endif
