/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/steps.h"

#include "base/json/json_write.h"
#include "model/checkpoints/snapshots.h"
#include "model/execution/step_parts.h"
#include "model/execution/steps.sql.h"

/* --- Read ----------------------------------------------------------------------------------- */

static void read_row(struct query *q, struct step *out)
{
    step_read(q, out);
    const struct step_usage *u = &out->usage;
    out->has_usage = u->has_input_tokens || u->has_output_tokens ||
                     u->has_cache_creation_input_tokens || u->has_cache_read_input_tokens;
}

/* The snapshot is an object with the messages as a member. */
enum error step_read_messages(struct context *c, struct step *step)
{
    if (!step->has_snapshot_id)
        return OK;
    return snapshot_get_member(c, step->snapshot_id, STR("messages"), &step->messages_snapshot);
}

enum error step_get(struct context *c, struct uuid run_id, int64_t number, struct step *out_step)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_GET);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, number, number);
    bool found = query_next(&q);
    if (found)
        read_row(&q, out_step);
    TRY(query_end(&q));
    if (!found)
        return problem_set(
            c->problem, ERR_NOT_FOUND, "the run has no step %lld", (long long)number);
    return step_read_messages(c, out_step);
}

/* The beginning of a call is the nearest earlier step that belongs to a call. */
enum error step_find_call(
    struct context *c, struct uuid run_id, int64_t number, struct step *out_start, bool *out_found)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_CALL_BEFORE);
    query_uuid(&q, run_id, run_id);
    query_i64(&q, number, number);
    query_i64(&q, after, number - STEP_CALL_SPAN);
    *out_found = query_next(&q);
    if (*out_found)
        read_row(&q, out_start);
    *out_found = *out_found && step_begins_llm_call(out_start);
    return query_end(&q);
}

static enum error messages_in_data(struct context *c, struct str data, struct str *out_messages)
{
    struct json_doc doc;
    struct json_error unused;
    struct json messages;
    if (!json_parse(c->arena, data, &doc, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    if ((json_get(json_root(&doc), STR("messages_sent"), &messages) ||
            json_get(json_root(&doc), STR("messages"), &messages)) &&
        json_type(messages) == JSON_ARRAY)
        *out_messages = json_compact(c->arena, messages);
    return OK;
}

enum error step_messages_of_call(
    struct context *c, const struct step *end, struct str *out_messages)
{
    struct step start, own = *end;
    bool found;
    *out_messages = STR_NONE;
    TRY(step_read_messages(c, &own));
    *out_messages = own.messages_snapshot;
    if (!str_is_none(*out_messages))
        return OK;
    TRY(step_find_call(c, end->run_id, end->number, &start, &found));
    if (!found)
        return OK;
    TRY(step_read_messages(c, &start));
    *out_messages = start.messages_snapshot;
    if (!str_is_none(*out_messages))
        return OK;
    return messages_in_data(c, start.action_data, out_messages);
}

/* --- Lists ---------------------------------------------------------------------------------- */

/* Reads a page and ends the query, and then reads the messages. */
static enum error read_page(
    struct context *c, struct query *q, bool with_messages, struct step_page *page)
{
    size_t bytes = 0, kept = 0;
    while (page_next(q, &page->page))
        read_row(q, &page->steps[page->page.count++]);
    enum error e = query_end(q);
    for (; e == OK && kept < page->page.count && bytes <= PAGE_MAX_BYTES; kept++) {
        if (with_messages)
            e = step_read_messages(c, &page->steps[kept]);
        bytes += page->steps[kept].action_data.len + page->steps[kept].messages_snapshot.len;
    }
    page->page.more |= kept < page->page.count;
    page->page.count = kept;
    if (kept > 0) {
        page->next_number = page->steps[kept - 1].number;
        page->next_at = page->steps[kept - 1].at;
        page->next_id = page->steps[kept - 1].log_id;
    }
    return e;
}

static const struct sql_statement *run_statement(const struct step_run_filter *f)
{
    switch (f->calls) {
    case STEP_CALLS_LLM:
        return &SQL_STEP_LIST_LLM_CALLS;
    case STEP_CALLS_TOOL:
        return &SQL_STEP_LIST_TOOL_CALLS;
    default:
        return &SQL_STEP_LIST_RUN;
    }
}

static enum error count_of_run(struct context *c, struct uuid run_id, int64_t *out_count)
{
    struct query q;
    context_query(c, &q, &SQL_STEP_COUNT);
    query_uuid(&q, run_id, run_id);
    return context_number(&q, out_count);
}

enum error step_list_run(struct context *c, const struct step_run_filter *f, struct step_page *page)
{
    struct query q;
    int64_t last = 0;
    bool filtered = !str_is_none(f->action_type) || f->has_step_number ||
                    f->calls != STEP_CALLS_NONE || f->from != INT64_MIN || f->before != INT64_MAX;
    TRY(count_of_run(c, f->run_id, &last));
    int64_t through = filtered && last - f->after > STEP_SCAN_MAX ? f->after + STEP_SCAN_MAX : last;
    page_begin(c, &q, run_statement(f), &page->page);
    query_uuid(&q, run_id, f->run_id);
    query_i64(&q, after, f->after);
    query_i64(&q, through, through);
    if (f->calls != STEP_CALLS_NONE)
        query_uuid_if(&q, turn_id, f->has_turn_id, f->turn_id);
    if (f->calls == STEP_CALLS_NONE) {
        query_text(&q, action_type, f->action_type);
        query_i64_if(&q, step_number, f->has_step_number, f->step_number);
        query_i64(&q, from_at, f->from);
        query_i64(&q, before_at, f->before);
    }
    TRY(read_page(c, &q, f->with_messages, page));
    if (!page->page.more && through < last) {
        page->page.more = true;
        page->next_number = through;
    }
    return OK;
}

/* The statements for the narrowest filter, and the number of filters. */
struct way {
    const struct sql_statement *list;
    const struct sql_statement *scan;
    size_t n_filters;
};

static void take_way(struct way *way, bool given, bool has_index, const struct sql_statement *list,
    const struct sql_statement *scan)
{
    if (!given)
        return;
    if (way->list == &SQL_STEP_LIST && has_index) {
        way->list = list;
        way->scan = scan;
    }
    way->n_filters++;
}

static struct way way_of(const struct step_filter *f)
{
    struct way way = {&SQL_STEP_LIST, &SQL_STEP_SCAN, 0};
    take_way(&way, f->has_thread_id, true, &SQL_STEP_LIST_OF_THREAD, &SQL_STEP_SCAN_OF_THREAD);
    take_way(&way, f->outcome != STEP_OUTCOME_NONE, f->outcome == STEP_ERROR,
        &SQL_STEP_LIST_OF_ERRORS, &SQL_STEP_SCAN_OF_ERRORS);
    take_way(
        &way, !str_is_none(f->tool_name), true, &SQL_STEP_LIST_OF_TOOL, &SQL_STEP_SCAN_OF_TOOL);
    take_way(&way, !str_is_none(f->model), true, &SQL_STEP_LIST_OF_MODEL, &SQL_STEP_SCAN_OF_MODEL);
    take_way(&way, f->has_agent_id, true, &SQL_STEP_LIST_OF_AGENT, &SQL_STEP_SCAN_OF_AGENT);
    take_way(
        &way, !str_is_none(f->action_type), true, &SQL_STEP_LIST_OF_TYPE, &SQL_STEP_SCAN_OF_TYPE);
    return way;
}

/* A range in the order of time and id; the first position is inclusive. */
struct span {
    int64_t from_at;
    int64_t from_id;
    int64_t before_at;
    int64_t before_id;
};

static void bind_span(struct query *q, const struct span *span)
{
    query_i64(q, from_at, span->from_at);
    query_i64(q, from_id, span->from_id);
    query_i64(q, before_at, span->before_at);
    query_i64(q, before_id, span->before_id);
}

static void bind_text_if(struct query *q, const char *param, struct str value)
{
    if (statement_has_param(q->statement, param))
        query_bind_text(q, param, value);
}

static void bind_filter(struct query *q, const struct step_filter *f)
{
    if (statement_takes(q->statement, thread_id))
        query_uuid_if(q, thread_id, f->has_thread_id, f->thread_id);
    if (statement_takes(q->statement, agent_id))
        query_uuid_if(q, agent_id, f->has_agent_id, f->agent_id);
    bind_text_if(q, PARAM_TEXT_action_type, f->action_type);
    bind_text_if(q, PARAM_TEXT_outcome, step_outcome_word(f->outcome));
    bind_text_if(q, PARAM_TEXT_tool_name, f->tool_name);
    bind_text_if(q, PARAM_TEXT_model, f->model);
}

/* Limits the number of examined steps: raises the beginning of the range. */
static enum error bound_scan(struct context *c, const struct way *way, const struct step_filter *f,
    int64_t entries, struct span *span, bool *out_bounded)
{
    struct query q;
    context_query(c, &q, way->scan);
    bind_filter(&q, f);
    bind_span(&q, span);
    query_i64(&q, skip, entries - 1);
    *out_bounded = query_next(&q);
    if (*out_bounded) {
        span->from_at = row_i64(&q);
        span->from_id = row_i64(&q);
    }
    return query_end(&q);
}

static struct span span_of(const struct step_filter *f)
{
    struct span span = {f->from, 0, f->before, 0};
    if (f->has_cursor && f->cursor_at < f->before) {
        span.before_at = f->cursor_at;
        span.before_id = f->cursor_id;
    }
    return span;
}

static enum error list_span(struct context *c, const struct way *way, const struct step_filter *f,
    const struct span *span, struct step_page *page)
{
    struct query q;
    page_begin(c, &q, way->list, &page->page);
    bind_filter(&q, f);
    bind_span(&q, span);
    return read_page(c, &q, f->with_messages, page);
}

/* Several filters usually find enough steps soon, so a small range of the index is tried first. */
enum error step_list(struct context *c, const struct step_filter *f, struct step_page *page)
{
    static const int64_t entries[] = {STEP_SCAN_MAX / 20, STEP_SCAN_MAX};
    struct way way = way_of(f);
    struct span span = span_of(f);
    if (way.n_filters <= (way.list != &SQL_STEP_LIST ? 1 : 0))
        return list_span(c, &way, f, &span, page);
    bool bounded = true;
    page->page.more = false;
    for (size_t i = 0; bounded && !page->page.more && i < COUNT_OF(entries); i++) {
        span = span_of(f);
        TRY(bound_scan(c, &way, f, entries[i], &span, &bounded));
        TRY(list_span(c, &way, f, &span, page));
    }
    if (!page->page.more && bounded) {
        page->page.more = true;
        page->next_at = span.from_at;
        page->next_id = span.from_id;
    }
    return OK;
}

enum error step_summarize(struct context *c, bool of_thread, struct uuid id,
    struct step_summary *out_types, size_t *out_count, struct step_summary *out_total,
    bool *out_more)
{
    struct query q;
    struct step_summary total = {0};
    size_t count = 0;
    context_query(c, &q, of_thread ? &SQL_STEP_SUMMARY_THREAD : &SQL_STEP_SUMMARY_RUN);
    if (of_thread)
        query_uuid(&q, thread_id, id);
    else
        query_uuid(&q, run_id, id);
    for (; query_next(&q); count++) {
        struct step_summary s = {.action_type = row_text(&q)};
        s.count = row_i64(&q);
        s.errors = row_i64(&q);
        s.duration_ms = row_i64(&q);
        s.first_at = row_i64(&q);
        s.last_at = row_i64(&q);
        total.count += s.count;
        total.errors += s.errors;
        total.duration_ms += s.duration_ms;
        if (count < STEP_SUMMARY_MAX)
            out_types[count] = s;
    }
    *out_more = count > STEP_SUMMARY_MAX;
    *out_count = *out_more ? STEP_SUMMARY_MAX : count;
    *out_total = total;
    return query_end(&q);
}
