/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prices: what a model's tokens cost, in picodollars a token. A price never changes: each write
 * makes the next version, what was computed before stays as it is, and to delete is a version too,
 * which says that the model has no price from there on. All prices of a tenant are in one currency.
 *
 * A model is looked for by its whole name; when that has no price, by the name without the date at
 * its end ("claude-sonnet-4-5-20250929", "gpt-4o-2024-08-06", "claude-opus-4@20250514").
 */
#ifndef MODEL_EXECUTION_PRICES_H
#define MODEL_EXECUTION_PRICES_H

#include "model/context.h"

enum {
    MODEL_NAME_MAX_BYTES = 200,
    PROVIDER_NAME_MAX_BYTES = 200,
    CURRENCY_BYTES = 3,
};
/* 1000000 for a million tokens. */
#define PRICE_RATE_MAX_PICO INT64_C(1000000000000)

/* Picodollars for a token. */
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
    /* Once the input has more tokens than this, what was cached included, `long_rates` count. */
    bool has_long_context;
    int64_t long_context_tokens;
    struct price_rates long_rates;
    bool deleted;
    int64_t created_at;
};

/* --- Queries -------------------------------------------------------------------------------- */

/* The newest version under exactly this name; ERR_NOT_FOUND also when that says that there is no
 * price. */
MUST_CHECK enum error price_get(struct context *c, struct str model, struct price *out_price);
/* The price that counts for a call of this model now. */
MUST_CHECK enum error price_find(
    struct context *c, struct str model, struct price *out_price, bool *out_found);
/* The name without the date at its end; STR_NONE when it has none. */
struct str price_undated(struct str model);

/* The newest version of each model that has a price, by name; `after` STR_NONE: from the first. */
MUST_CHECK enum error price_list(
    struct context *c, struct str after, struct page *page, struct price *out_prices);
/* Newest first, those before `before` (0: from the newest); also those that were deleted. */
MUST_CHECK enum error price_version_list(struct context *c, struct str model, int64_t before,
    struct page *page, struct price *out_prices);

/* --- Changes -------------------------------------------------------------------------------- */

/* Makes the next version of what `price` describes, and fills in the rest of it; the same as the
 * newest makes none. ERR_INVALID for a currency that is not that of the tenant's other prices. */
MUST_CHECK enum error price_put(struct context *c, struct price *price, bool *out_is_new);
MUST_CHECK enum error price_delete(struct context *c, struct str model);

#endif
