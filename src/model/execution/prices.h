/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prices: the cost of a model's tokens, in picodollars per token. A price never changes: each write
 * adds a version, and costs that were computed before remain. Deleting adds a version, too: from
 * then on the model has no price. All prices of a tenant have the same currency.
 *
 * A price is found by the whole name of the model, or else by the name without the date at its end
 * ("claude-sonnet-4-5-20250929", "gpt-4o-2024-08-06", "claude-opus-4@20250514").
 */
#ifndef MODEL_EXECUTION_PRICES_H
#define MODEL_EXECUTION_PRICES_H

#include "model/context.h"

enum {
    MODEL_NAME_MAX_BYTES = 200,
    PROVIDER_NAME_MAX_BYTES = 200,
    CURRENCY_BYTES = 3,
};
/* One million dollars for a million tokens. */
#define PRICE_RATE_MAX_PICO INT64_C(1000000000000)

/* Picodollars per token. */
struct price_rates {
    int64_t input;
    int64_t output;
    int64_t cache_write;
    int64_t cache_read;
};

struct price {
    struct str model;
    int64_t version;
    struct str provider;
    struct str currency;
    struct price_rates rates;
    /* `long_rates` apply if the input, including cached input, has more tokens than this. */
    bool has_long_context;
    int64_t long_context_tokens;
    struct price_rates long_rates;
    bool deleted;
    int64_t created_at;
};

/* --- Queries -------------------------------------------------------------------------------- */

/* Returns the newest version with exactly this name; ERR_NOT_FOUND also if it is a deletion. */
MUST_CHECK enum error price_get(struct context *c, struct str model, struct price *out_price);
/* Finds the price that applies to a call of this model now. */
MUST_CHECK enum error price_find(
    struct context *c, struct str model, struct price *out_price, bool *out_found);
/* Returns the name without the date at its end; STR_NONE if it has no date. */
struct str price_undated(struct str model);

/* Lists the newest version of each model that has a price, by name; `after` STR_NONE: from the
 * first. */
MUST_CHECK enum error price_list(
    struct context *c, struct str after, struct page *page, struct price *out_prices);
/* Lists versions before `before` (0: all), newest first, deletions included. */
MUST_CHECK enum error price_version_list(struct context *c, struct str model, int64_t before,
    struct page *page, struct price *out_prices);

/* --- Changes -------------------------------------------------------------------------------- */

/* Adds a version with the rates of `price` and sets its other members; adds none if the newest
 * version is the same. ERR_INVALID: another currency than that of the tenant's other prices. */
MUST_CHECK enum error price_put(struct context *c, struct price *price, bool *out_is_new);
MUST_CHECK enum error price_delete(struct context *c, struct str model);

#endif
