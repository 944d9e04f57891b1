/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of models. */
#include "api/handlers.h"
#include "model/execution/usage.h"

/* Rates on the wire are for a million tokens; stored rates are picodollars for one token. */
enum { MILLION = 1000000, RATE_PLACES = 6 };
#define RATE_MAX (PRICE_RATE_MAX_PICO * MILLION)

/* Picodollars for a million tokens. */
struct rates_body {
    int64_t input;
    int64_t output;
    bool has_cache_write;
    int64_t cache_write;
    bool has_cache_read;
    int64_t cache_read;
};

struct long_context_body {
    int64_t above_tokens;
    struct rates_body rates;
};

struct price_body {
    struct str model;
    int64_t version;
    struct rates_body rates;
    bool has_long_context;
    struct long_context_body long_context;
    struct str provider;
    struct str currency;
    bool deleted;
    int64_t created_at;
};

#define RATE_FIELDS(in)                                                                         \
    FIELD_OF(rates, MONEY, input, in, "price of a million input tokens outside of a cache",     \
        .max = RATE_MAX, .places = RATE_PLACES),                                                \
        FIELD_OF(rates, MONEY, output, in, "price of a million output tokens", .max = RATE_MAX, \
            .places = RATE_PLACES),                                                             \
        FIELD_OF(rates, MONEY_OR_NONE, cache_write, in,                                         \
            "price of a million tokens written to a cache; default: 1.25 times input",          \
            .max = RATE_MAX, .places = RATE_PLACES, .hide_none = true),                         \
        FIELD_OF(rates, MONEY_OR_NONE, cache_read, in,                                          \
            "price of a million tokens read from a cache; default: 0.1 times input",            \
            .max = RATE_MAX, .places = RATE_PLACES, .hide_none = true)

#define OF struct long_context_body
static const struct field long_context_fields[] = {
    FIELD(INT, above_tokens, IN_BODY, "number of input tokens, including cached tokens", .min = 1,
        .max = USAGE_TOKENS_MAX),
    RATE_FIELDS(IN_BODY),
};
#undef OF
static const struct schema schema_long_context =
    SCHEMA("LongContextPrice", struct long_context_body, long_context_fields, IN_BODY);

#define OF struct price_body
static const struct field price_fields[] = {
    FIELD(STRING, model, IN_READ),
    RATE_FIELDS(IN_BODY | IN_READ),
    FIELD(NESTED_OR_NULL, long_context, IN_BODY | IN_READ,
        "rates for calls with more input tokens than above_tokens", .nested = &schema_long_context),
    FIELD(STRING_OR_NULL, provider, IN_BODY | IN_READ, .min = 1, .max = PROVIDER_NAME_MAX_BYTES),
    FIELD(STRING_OR_NONE, currency, IN_BODY | IN_READ,
        "default: USD; all prices of a tenant have the same currency", .min = CURRENCY_BYTES,
        .max = CURRENCY_BYTES),
    FIELD(BOOL, deleted, IN_READ, "true if this version removed the price of the model"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(INT, version, IN_READ),
};
#undef OF
const struct schema schema_price = SCHEMA("Price", struct price_body, price_fields, IN_READ);
const struct schema schema_price_body =
    SCHEMA("PriceBody", struct price_body, price_fields, IN_BODY);

/* --- Conversion ---------------------------------------------------------------------------- */

/* Rates that are left out are computed from the rate of input, rounded up to a whole picodollar. */
static struct price_rates take_rates(const struct rates_body *told)
{
    int64_t input = told->input / MILLION;
    return (struct price_rates){.input = input,
        .output = told->output / MILLION,
        .cache_write = told->has_cache_write ? told->cache_write / MILLION : (input * 5 + 3) / 4,
        .cache_read = told->has_cache_read ? told->cache_read / MILLION : (input + 9) / 10};
}

static struct rates_body tell_rates(const struct price_rates *rates)
{
    return (struct rates_body){.input = rates->input * MILLION,
        .output = rates->output * MILLION,
        .has_cache_write = true,
        .cache_write = rates->cache_write * MILLION,
        .has_cache_read = true,
        .cache_read = rates->cache_read * MILLION};
}

static struct price_body tell(const struct price *price)
{
    return (struct price_body){.model = price->model,
        .version = price->version,
        .rates = tell_rates(&price->rates),
        .has_long_context = price->has_long_context,
        .long_context = {price->long_context_tokens, tell_rates(&price->long_rates)},
        .provider = price->provider,
        .currency = price->currency,
        .deleted = price->deleted,
        .created_at = price->created_at};
}

static enum error answer(struct call *call, const struct price *price)
{
    const struct price_body body = tell(price);
    return call_answer(call, &schema_price, &body, price->version);
}

static enum error check_model(struct call *call, struct str model)
{
    if (model.len <= MODEL_NAME_MAX_BYTES)
        return OK;
    return problem_fault(
        &call->problem, STR("model"), "must have at most %d bytes", MODEL_NAME_MAX_BYTES);
}

/* --- Handlers ------------------------------------------------------------------------------ */

enum error handle_price_put(struct call *call, struct context *c)
{
    const struct price_body *body = call->request.input;
    struct price price = {.model = call->request.texts[0],
        .provider = body->provider,
        .currency = str_is_none(body->currency) ? STR("USD") : body->currency,
        .has_long_context = body->has_long_context,
        .long_context_tokens = body->long_context.above_tokens};
    bool is_new = false;
    TRY(check_model(call, price.model));
    price.rates = take_rates(&body->rates);
    if (body->has_long_context)
        price.long_rates = take_rates(&body->long_context.rates);
    TRY(price_put(c, &price, &is_new));
    if (is_new)
        call->answer.status = 201;
    return answer(call, &price);
}

enum error handle_price_get(struct call *call, struct context *c)
{
    struct price price;
    TRY(price_get(c, call->request.texts[0], &price));
    return answer(call, &price);
}

enum error handle_price_delete(struct call *call, struct context *c)
{
    TRY(price_delete(c, call->request.texts[0]));
    return call_answer_nothing(call);
}

static enum error answer_prices(struct call *call, const struct price *prices,
    const struct page *page, const struct cursor_key *key)
{
    struct price_body *bodies = ARENA_ARRAY(call->arena, struct price_body, page->count);
    for (size_t i = 0; i < page->count; i++)
        bodies[i] = tell(&prices[i]);
    return call_answer_page(call, &schema_price, bodies, page, key);
}

enum error handle_price_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct price *prices = ARENA_ARRAY(call->arena, struct price, page.limit);
    struct str after;
    TRY(cursor_to_text(call, q->page.cursor, &after));
    TRY(price_list(c, after, &page, prices));
    return answer_prices(call, prices, &page, CURSOR_BY(struct price_body, model));
}

enum error handle_price_version_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct price *prices = ARENA_ARRAY(call->arena, struct price, page.limit);
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(price_version_list(c, call->request.texts[0], before, &page, prices));
    return answer_prices(call, prices, &page, CURSOR_BY(struct price_body, version));
}
