/* SPDX-License-Identifier: Apache-2.0 */
/* Usage by day, and on average. */
#include "api/handlers.h"
#include "base/clock.h"
#include "model/execution/usage.h"

enum { DATE_LEN = 10, DEFAULT_DAYS = 30, AVERAGE_DAYS = 7, GROUP_BY_MAX_BYTES = 64 };
#define USAGE_GROUPS "any of day, model, provider and agent, separated by commas"
static const int64_t DAY_US = INT64_C(86400000000);

struct usage_row {
    struct str day;
    bool has_agent_id;
    struct uuid agent_id;
    struct str model;
    struct str provider;
    struct usage_sums sums;
};

#define SUM_FIELDS                                                                               \
    FIELD_OF(sums, INT, runs_started, IN_READ), FIELD_OF(sums, INT, runs_completed, IN_READ),    \
        FIELD_OF(sums, INT, runs_failed, IN_READ), FIELD_OF(sums, INT, runs_cancelled, IN_READ), \
        FIELD_OF(sums, INT, llm_calls, IN_READ), FIELD_OF(sums, INT, input_tokens, IN_READ),     \
        FIELD_OF(sums, INT, output_tokens, IN_READ),                                             \
        FIELD_OF(sums, INT, cache_creation_input_tokens, IN_READ),                               \
        FIELD_OF(sums, INT, cache_read_input_tokens, IN_READ),                                   \
        FIELD_AS(MONEY, "cost_usd", sums.cost, IN_READ,                                          \
            "cost of the calls that had a price, in the currency of the tenant"),                \
        FIELD_OF(sums, INT, unpriced_calls, IN_READ)

#define OF struct usage_row
static const struct field usage_row_fields[] = {
    FIELD(STRING_OR_NONE, day, IN_READ, "day in UTC; present only if group_by contains day",
        .hide_none = true),
    FIELD(STRING_OR_NONE, model, IN_READ,
        "empty: runs, which are counted without a model, and calls of an unknown model",
        .hide_none = true),
    FIELD(STRING_OR_NONE, provider, IN_READ, .hide_none = true),
    FIELD(
        UUID_OR_NONE, agent_id, IN_READ, "the nil UUID: runs without an agent", .hide_none = true),
    SUM_FIELDS,
};
#undef OF
static const struct schema schema_usage_row =
    SCHEMA("UsageRow", struct usage_row, usage_row_fields, IN_READ);

struct usage_total {
    struct usage_sums sums;
};
#define OF struct usage_total
static const struct field usage_total_fields[] = {
    SUM_FIELDS,
};
#undef OF
static const struct schema schema_usage_total =
    SCHEMA("UsageTotal", struct usage_total, usage_total_fields, IN_READ);

struct usage_answer {
    struct nested_list data;
    bool has_more;
    struct str next_cursor;
    struct str from;
    struct str to;
    struct str currency;
    struct usage_total totals;
};
#define OF struct usage_answer
static const struct field usage_answer_fields[] = {
    FIELD(LIST, data, IN_READ, .nested = &schema_usage_row),
    FIELD(BOOL, has_more, IN_READ),
    FIELD(STRING_OR_NULL, next_cursor, IN_READ),
    FIELD(STRING, from, IN_READ),
    FIELD(STRING, to, IN_READ),
    FIELD(STRING, currency, IN_READ),
    FIELD(NESTED, totals, IN_READ, "totals of all pages", .nested = &schema_usage_total),
};
#undef OF
const struct schema schema_usage =
    SCHEMA("Usage", struct usage_answer, usage_answer_fields, IN_READ);

struct usage_query {
    struct page_query page;
    struct str from;
    struct str to;
    struct str group_by;
    struct str model;
    struct str provider;
    bool has_agent_id;
    struct uuid agent_id;
};
#define OF struct usage_query
static const struct field usage_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, from, IN_QUERY,
        "first day, such as 2026-01-31; default: 29 days before the last day", .min = DATE_LEN,
        .max = DATE_LEN),
    FIELD(
        STRING_OR_NONE, to, IN_QUERY, "last day; default: today", .min = DATE_LEN, .max = DATE_LEN),
    FIELD(STRING_OR_NONE, group_by, IN_QUERY, USAGE_GROUPS "; default: day",
        .max = GROUP_BY_MAX_BYTES),
    FIELD(STRING_OR_NONE, model, IN_QUERY, .max = MODEL_NAME_MAX_BYTES),
    FIELD(STRING_OR_NONE, provider, IN_QUERY, .max = PROVIDER_NAME_MAX_BYTES),
    FIELD(UUID_OR_NONE, agent_id, IN_QUERY),
};
#undef OF
const struct schema query_usage =
    SCHEMA("UsageQuery", struct usage_query, usage_query_fields, IN_QUERY);

/* --- Days ---------------------------------------------------------------------------------- */

static struct str date_of(struct arena *arena, int64_t day)
{
    char text[CLOCK_TEXT_LEN];
    clock_format(day * DAY_US, text);
    return arena_str(arena, (struct str){text, DATE_LEN});
}

static enum error take_date(
    struct call *call, const char *name, struct str date, int64_t fallback, int64_t *out_day)
{
    int64_t us;
    *out_day = fallback;
    if (str_is_none(date))
        return OK;
    if (!clock_parse(arena_printf(call->arena, "%.*sT00:00:00Z", STR_ARG(date)), &us) || us < 0)
        return problem_fault(
            &call->problem, str_of(name), "must be a date from 1970 onwards, such as 2026-01-31");
    *out_day = us / DAY_US;
    return OK;
}

static enum error take_days(struct call *call, struct context *c, struct usage_filter *filter)
{
    const struct usage_query *q = call->request.query;
    TRY(take_date(call, "to", q->to, c->now_us / DAY_US, &filter->to_day));
    int64_t first = filter->to_day >= DEFAULT_DAYS ? filter->to_day - DEFAULT_DAYS + 1 : 0;
    TRY(take_date(call, "from", q->from, first, &filter->from_day));
    if (filter->from_day > filter->to_day)
        return problem_fault(&call->problem, STR("from"), "must not be after `to`");
    if (filter->to_day - filter->from_day >= USAGE_DAYS_MAX)
        return problem_fault(
            &call->problem, STR("from"), "must be at most %d days before `to`", USAGE_DAYS_MAX);
    return OK;
}

static enum error take_groups(struct call *call, struct usage_filter *filter)
{
    const struct usage_query *q = call->request.query;
    const struct {
        const char *name;
        bool *flag;
    } groups[] = {{"day", &filter->by_day}, {"model", &filter->by_model},
        {"provider", &filter->by_provider}, {"agent", &filter->by_agent}};
    struct str rest = str_is_none(q->group_by) ? STR("day") : q->group_by, word;
    while (!str_is_none(rest)) {
        size_t i = 0;
        str_next_part(&rest, ',', &word);
        while (i < COUNT_OF(groups) && !str_eq(str_of(groups[i].name), word))
            i++;
        if (i == COUNT_OF(groups))
            return problem_fault(&call->problem, STR("group_by"), "must list " USAGE_GROUPS);
        *groups[i].flag = true;
    }
    return OK;
}

/* --- A page -------------------------------------------------------------------------------- */

/* "DAY:AGENT:LENGTH:MODEL", and the rest is the provider. */
static struct str cursor_of(struct arena *arena, const struct usage_key *key)
{
    char agent[UUID_TEXT_LEN];
    uuid_format(key->agent_id, agent);
    return cursor_from_text(
        arena, arena_printf(arena, "%lld:%.*s:%zu:%.*s%.*s", (long long)key->day, UUID_TEXT_LEN,
                   agent, key->model.len, STR_ARG(key->model), STR_ARG(key->provider)));
}

static bool read_cursor(struct str text, struct usage_key *out)
{
    struct str day, agent, length;
    int64_t len;
    str_next_part(&text, ':', &day);
    str_next_part(&text, ':', &agent);
    str_next_part(&text, ':', &length);
    if (str_is_none(text) || !str_to_i64(day, &out->day) || !uuid_parse(agent, &out->agent_id) ||
        !str_to_i64(length, &len) || len < 0 || (size_t)len > text.len)
        return false;
    out->model = str_slice(text, 0, (size_t)len);
    out->provider = str_slice(text, (size_t)len, text.len);
    return str_is_utf8(out->model) && str_is_utf8(out->provider);
}

static struct usage_row *tell_rows(struct arena *arena, const struct usage_filter *filter,
    const struct usage_group *groups, size_t count)
{
    struct usage_row *rows = ARENA_ARRAY(arena, struct usage_row, count);
    for (size_t i = 0; i < count; i++) {
        const struct usage_key *key = &groups[i].key;
        rows[i].sums = groups[i].sums;
        rows[i].day = filter->by_day ? date_of(arena, key->day) : STR_NONE;
        rows[i].model = filter->by_model ? key->model : STR_NONE;
        rows[i].provider = filter->by_provider ? key->provider : STR_NONE;
        rows[i].has_agent_id = filter->by_agent;
        rows[i].agent_id = key->agent_id;
    }
    return rows;
}

static enum error take_filter(struct call *call, struct context *c, struct usage_filter *out)
{
    const struct usage_query *q = call->request.query;
    *out = (struct usage_filter){.model = q->model,
        .provider = q->provider,
        .has_agent_id = q->has_agent_id,
        .agent_id = q->agent_id};
    TRY(take_days(call, c, out));
    return take_groups(call, out);
}

enum error handle_usage(struct call *call, struct context *c)
{
    const struct usage_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct usage_group *groups = ARENA_ARRAY(call->arena, struct usage_group, page.limit);
    struct usage_filter filter;
    struct usage_key after;
    struct str text;
    struct usage_answer answer = {0};
    TRY(take_filter(call, c, &filter));
    TRY(cursor_to_text(call, q->page.cursor, &text));
    if (!str_is_none(text) && !read_cursor(text, &after))
        return cursor_refused(call);
    TRY(usage_report(c, &filter, str_is_none(text) ? NULL : &after, &page, groups));
    TRY(usage_total(c, &filter, &answer.totals.sums));
    TRY(usage_currency(c, &answer.currency));
    answer.data =
        (struct nested_list){tell_rows(call->arena, &filter, groups, page.count), page.count};
    answer.has_more = page.more;
    if (page.more)
        answer.next_cursor = cursor_of(call->arena, &groups[page.count - 1].key);
    answer.from = date_of(call->arena, filter.from_day);
    answer.to = date_of(call->arena, filter.to_day);
    return call_answer(call, &schema_usage, &answer, 0);
}

/* --- Averages ------------------------------------------------------------------------------ */

struct average_row {
    bool has_thread_id;
    bool has_agent_id;
    struct usage_average average;
};
#define OF struct average_row
static const struct field average_fields[] = {
    FIELD_HAS(UUID_OR_NONE, "thread_id", average.id, has_thread_id, IN_READ, .hide_none = true),
    FIELD_HAS(UUID_OR_NONE, "agent_id", average.id, has_agent_id, IN_READ,
        "the nil UUID: runs without an agent", .hide_none = true),
    FIELD_OF(average, INT, runs, IN_READ),
    FIELD_OF(average, INT, input_tokens, IN_READ),
    FIELD_OF(average, INT, output_tokens, IN_READ),
    FIELD_OF(average, INT, avg_tokens, IN_READ,
        "average number of input and output tokens per run, rounded"),
};
#undef OF
const struct schema schema_usage_average =
    SCHEMA("UsageAverage", struct average_row, average_fields, IN_READ);

#define AVERAGE_GROUPS(X) X(BY_THREAD, "thread") X(BY_AGENT, "agent")
ENUM_DECLARE(average_group, BY_NONE, average_groups, AVERAGE_GROUPS);
ENUM_DEFINE(average_groups, AVERAGE_GROUPS);

struct averages_query {
    struct page_query page;
    bool has_days;
    int64_t days;
    enum average_group group_by;
};
#define OF struct averages_query
static const struct field averages_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(INT_OR_NONE, days, IN_QUERY,
        "include runs started within this number of days; default: 7", .min = 1,
        .max = USAGE_AVERAGE_DAYS_MAX),
    FIELD(ENUM_OR_NONE, group_by, IN_QUERY, "default: thread", .choices = average_groups),
};
#undef OF
const struct schema query_usage_averages =
    SCHEMA("UsageAveragesQuery", struct averages_query, averages_query_fields, IN_QUERY);

enum error handle_usage_averages(struct call *call, struct context *c)
{
    const struct averages_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct usage_average *averages = ARENA_ARRAY(call->arena, struct usage_average, page.limit);
    bool by_agent = q->group_by == BY_AGENT, has_after;
    int64_t since = c->now_us - (q->has_days ? q->days : AVERAGE_DAYS) * DAY_US;
    struct uuid after;
    TRY(cursor_to_uuid(call, q->page.cursor, &has_after, &after));
    TRY(usage_averages(c, by_agent, since, has_after ? &after : NULL, &page, averages));
    struct average_row *rows = ARENA_ARRAY(call->arena, struct average_row, page.count);
    for (size_t i = 0; i < page.count; i++)
        rows[i] = (struct average_row){!by_agent, by_agent, averages[i]};
    return call_answer_page(
        call, &schema_usage_average, rows, &page, CURSOR_BY(struct average_row, average.id));
}
