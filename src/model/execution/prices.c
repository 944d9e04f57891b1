/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/prices.h"

#include "base/json/json_write.h"
#include "model/execution/prices.sql.h"
#include "model/tenancy/audit.h"

/* Reads the newest version with exactly this name, even if it is a deletion; version 0 if there is
 * none. */
static enum error newest(struct context *c, struct str model, struct price *out_price)
{
    struct query q;
    context_query(c, &q, &SQL_PRICE_NEWEST);
    query_text(&q, model, model);
    *out_price = (struct price){.model = model};
    if (query_next(&q))
        price_read(&q, out_price);
    return query_end(&q);
}

static bool is_valid(const struct price *price)
{
    return price->version > 0 && !price->deleted;
}

static enum error no_price(struct context *c, struct str model)
{
    return problem_set(c->problem, ERR_NOT_FOUND, "the model has no price under this name");
}

enum error price_get(struct context *c, struct str model, struct price *out_price)
{
    TRY(newest(c, model, out_price));
    return !is_valid(out_price) ? no_price(c, model) : OK;
}

/* --- By a model's name ----------------------------------------------------------------------- */

/* Returns true if the text ends with the pattern, in which 0 matches any digit. */
static bool ends_in(struct str text, struct str form)
{
    if (text.len <= form.len)
        return false;
    struct str end = str_slice(text, text.len - form.len, text.len);
    for (size_t i = 0; i < form.len; i++) {
        bool digit = end.ptr[i] >= '0' && end.ptr[i] <= '9';
        if (form.ptr[i] == '0' ? !digit : end.ptr[i] != form.ptr[i])
            return false;
    }
    return true;
}

struct str price_undated(struct str model)
{
    static const struct str forms[] = {{"-00000000", 9}, {"@00000000", 9}, {"-0000-00-00", 11}};
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (ends_in(model, forms[i]))
            return str_slice(model, 0, model.len - forms[i].len);
    return STR_NONE;
}

enum error price_find(struct context *c, struct str model, struct price *out_price, bool *out_found)
{
    struct str undated = price_undated(model);
    TRY(newest(c, model, out_price));
    if (!is_valid(out_price) && !str_is_none(undated))
        TRY(newest(c, undated, out_price));
    *out_found = is_valid(out_price);
    return OK;
}

/* --- Lists ----------------------------------------------------------------------------------- */

enum error price_list(
    struct context *c, struct str after, struct page *page, struct price *out_prices)
{
    struct query q;
    page_begin(c, &q, &SQL_PRICE_LIST, page);
    query_text(&q, after, after);
    return price_read_page(&q, page, out_prices);
}

enum error price_version_list(struct context *c, struct str model, int64_t before,
    struct page *page, struct price *out_prices)
{
    struct price any;
    enum error e = newest(c, model, &any);
    if (e != OK || any.version == 0)
        return e != OK ? e : no_price(c, model);
    struct query q;
    page_begin(c, &q, &SQL_PRICE_VERSION_LIST, page);
    query_text(&q, model, model);
    query_i64(&q, before, before > 0 ? before : INT64_MAX);
    return price_read_page(&q, page, out_prices);
}

/* --- Changes --------------------------------------------------------------------------------- */

static enum error insert(struct context *c, const struct price *price)
{
    struct query q;
    bool has_long = price->has_long_context;
    context_query(c, &q, &SQL_PRICE_INSERT);
    query_text(&q, model, price->model);
    query_i64(&q, version, price->version);
    query_text(&q, provider, price->provider);
    query_text(&q, currency, price->currency);
    query_i64(&q, input, price->rates.input);
    query_i64(&q, output, price->rates.output);
    query_i64(&q, cache_write, price->rates.cache_write);
    query_i64(&q, cache_read, price->rates.cache_read);
    query_i64_if(&q, long_context_tokens, has_long, price->long_context_tokens);
    query_i64_if(&q, long_input, has_long, price->long_rates.input);
    query_i64_if(&q, long_output, has_long, price->long_rates.output);
    query_i64_if(&q, long_cache_write, has_long, price->long_rates.cache_write);
    query_i64_if(&q, long_cache_read, has_long, price->long_rates.cache_read);
    query_bool(&q, deleted, price->deleted);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static bool same_rates(const struct price_rates *a, const struct price_rates *b)
{
    return a->input == b->input && a->output == b->output && a->cache_write == b->cache_write &&
           a->cache_read == b->cache_read;
}

static bool same(const struct price *a, const struct price *b)
{
    if (a->has_long_context != b->has_long_context)
        return false;
    return str_eq(a->currency, b->currency) &&
           str_is_none(a->provider) == str_is_none(b->provider) &&
           str_eq(a->provider, b->provider) && same_rates(&a->rates, &b->rates) &&
           (!a->has_long_context || (a->long_context_tokens == b->long_context_tokens &&
                                        same_rates(&a->long_rates, &b->long_rates)));
}

static enum error check_currency(struct context *c, const struct price *price)
{
    struct query q;
    struct str model = STR_NONE, currency = STR_NONE;
    for (size_t i = 0; i < price->currency.len; i++)
        if (price->currency.ptr[i] < 'A' || price->currency.ptr[i] > 'Z')
            return problem_fault(
                c->problem, STR("/currency"), "must be three upper-case letters, such as USD");
    context_query(c, &q, &SQL_PRICE_OTHER_CURRENCY);
    query_text(&q, model, price->model);
    query_text(&q, currency, price->currency);
    if (query_next(&q)) {
        model = row_text(&q);
        currency = row_text(&q);
    }
    TRY(query_end(&q));
    if (str_is_none(model))
        return OK;
    return problem_fault(c->problem, STR("/currency"),
        "must be %.*s, the currency of the tenant's other prices (%.*s)", STR_ARG(currency),
        STR_ARG(model));
}

static enum error record(struct context *c, const char *action, const struct price *price)
{
    struct json_text text;
    json_text_init(&text, 8 * 1024);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "model", price->model);
    json_write_name(&text.w, "version");
    json_write_i64(&text.w, price->version);
    json_write_end(&text.w);
    return audit_record(c, action, "price", UUID_NIL, json_text_take(&text, c->arena));
}

enum error price_put(struct context *c, struct price *price, bool *out_is_new)
{
    struct price before;
    TRY(context_lock_tenant(c));
    TRY(newest(c, price->model, &before));
    TRY(context_check_match(c, is_valid(&before) ? before.version : 0));
    TRY(check_currency(c, price));
    *out_is_new = !is_valid(&before);
    if (is_valid(&before) && same(&before, price)) {
        *price = before;
        return OK;
    }
    price->version = before.version + 1;
    price->deleted = false;
    price->created_at = c->now_us;
    TRY(insert(c, price));
    return record(c, "price.set", price);
}

enum error price_delete(struct context *c, struct str model)
{
    struct price price;
    TRY(context_lock_tenant(c));
    TRY(price_get(c, model, &price));
    TRY(context_check_match(c, price.version));
    price.version++;
    price.deleted = true;
    TRY(insert(c, &price));
    return record(c, "price.deleted", &price);
}
