/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/history_context.h"

#include "base/json/json_write.h"
#include "model/agents/agents.h"
#include "model/execution/history.sql.h"
#include "model/execution/resumptions.h"
#include "model/execution/transcripts.h"

/* A candidate for the context. */
struct piece {
    struct json message;
    int64_t tokens;
};

/* The messages of one run, without system messages. */
struct pieces {
    struct piece *items;
    size_t count;
    int64_t tokens;
};

int64_t history_tokens(size_t message_bytes)
{
    enum { BYTES_PER_TOKEN = 4 };
    return (int64_t)((message_bytes + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN) +
           CONTEXT_TOKENS_PER_MESSAGE;
}

/* --- The messages of a run ------------------------------------------------------------------ */

static struct str said(struct context *c, const char *role, struct str content)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "role", str_of(role));
    json_write_text_member(&text.w, "content", content);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

/* Makes messages from the question and the answer of a run whose engine reported none. */
static struct str as_pair(struct context *c, const struct history_entry *entry)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    if (entry->user_message.len > 0)
        json_write_raw(&text.w, said(c, "user", entry->user_message));
    if (entry->final_response.len > 0)
        json_write_raw(&text.w, said(c, "assistant", entry->final_response));
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

static bool is_of_system(struct json message)
{
    struct json role;
    return json_get(message, STR("role"), &role) && json_string_eq(role, STR("system"));
}

static enum error read_pieces(
    struct context *c, const struct history_entry *entry, struct pieces *out)
{
    struct json_doc *doc = ARENA_NEW(c->arena, struct json_doc);
    struct json_error bad;
    struct json message;
    struct str list = as_pair(c, entry);
    if (!uuid_is_nil(entry->messages_id))
        TRY(transcript_get(c, entry->messages_id, &list));
    if (!json_parse(c->arena, list, doc, &bad))
        return problem_set(c->problem, ERR_TOO_LARGE,
            "the messages of history entry %lld exceed the memory limit of a request",
            (long long)entry->sequence_number);
    *out = (struct pieces){
        .items = ARENA_ARRAY(c->arena, struct piece, json_count(json_root(doc)) + 1)};
    struct json_iter it = json_iter(json_root(doc));
    while (json_next(&it, NULL, &message)) {
        if (is_of_system(message))
            continue;
        int64_t tokens = history_tokens(json_compact_len(message));
        out->items[out->count++] = (struct piece){message, tokens};
        out->tokens += tokens;
    }
    return OK;
}

/* --- Where a run may be cut ----------------------------------------------------------------- */

/* A tool that a message uses, or has the result of. */
struct mention {
    struct str id;
    size_t place; /* of the message */
};

struct mentions {
    struct mention *items;
    size_t count;
    size_t room;
};

static void note(struct context *c, struct mentions *all, struct json id, size_t place)
{
    if (json_type(id) != JSON_STRING)
        return;
    if (all->count == all->room) {
        size_t room = all->room == 0 ? 16 : all->room * 2;
        struct mention *items = ARENA_ARRAY(c->arena, struct mention, room);
        if (all->count > 0)
            memcpy(items, all->items, all->count * sizeof *items);
        *all = (struct mentions){items, all->count, room};
    }
    all->items[all->count++] = (struct mention){json_string(c->arena, id), place};
}

static void note_list(struct context *c, struct mentions *all, struct json message,
    const char *list_name, const char *id_name, size_t place)
{
    struct json list, item, id;
    if (!json_get(message, str_of(list_name), &list) || json_type(list) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(list);
    while (json_next(&it, NULL, &item))
        if (json_type(item) == JSON_OBJECT && json_get(item, str_of(id_name), &id))
            note(c, all, id, place);
}

static int by_id_and_place(const void *a, const void *b)
{
    const struct mention *x = a, *y = b;
    int order = str_cmp(x->id, y->id);
    return order != 0 ? order : x->place < y->place ? -1 : x->place > y->place;
}

/* Returns the last message, up to the one with the result, that uses the tool; or the one with the
 * result. */
static size_t place_of_use(const struct mentions *uses, const struct mention *result)
{
    size_t low = 0, high = uses->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_id_and_place(&uses->items[middle], result) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low > 0 && str_eq(uses->items[low - 1].id, result->id);
    return found ? uses->items[low - 1].place : result->place;
}

/* Sets for each message the first message that it depends on. Content blocks have tool_use with an
 * id, and results tool_use_id; other engines use tool_calls with ids, and tool_call_id. */
static size_t *find_needs(struct context *c, const struct pieces *run)
{
    struct mentions uses = {0}, results = {0};
    struct json id;
    size_t *needs = ARENA_ARRAY(c->arena, size_t, run->count + 1);
    for (size_t i = 0; i < run->count; i++) {
        struct json message = run->items[i].message;
        needs[i] = i;
        note_list(c, &uses, message, "content", "id", i);
        note_list(c, &uses, message, "tool_calls", "id", i);
        note_list(c, &results, message, "content", "tool_use_id", i);
        if (json_get(message, STR("tool_call_id"), &id))
            note(c, &results, id, i);
    }
    if (uses.count > 1)
        qsort(uses.items, uses.count, sizeof *uses.items, by_id_and_place);
    for (size_t i = 0; i < results.count; i++) {
        size_t *need = &needs[results.items[i].place];
        size_t use = place_of_use(&uses, &results.items[i]);
        *need = use < *need ? use : *need;
    }
    return needs;
}

/* Returns the first message from which all messages fit into the budget and every result has its
 * use. */
static size_t find_cut(struct context *c, const struct pieces *run, int64_t budget)
{
    const size_t *needs = find_needs(c, run);
    size_t cut = run->count, first = run->count;
    int64_t tokens = 0;
    for (size_t i = run->count; i > 0; i--) {
        tokens += run->items[i - 1].tokens;
        if (tokens > budget)
            break;
        first = needs[i - 1] < first ? needs[i - 1] : first;
        if (first >= i - 1)
            cut = i - 1;
    }
    return cut;
}

/* --- Settings of the agent ------------------------------------------------------------------ */

static enum error read_settings(struct context *c, struct str config, struct agent_memory *out)
{
    struct json_doc doc;
    struct json_error unused;
    if (!json_parse(c->arena, config, &doc, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the definition of the agent exceeds the memory limit");
    return schema_decode(c->arena, &schema_memory_config, json_root(&doc), out, c->problem);
}

enum error history_runs_in_context(struct context *c, struct uuid thread_id, int64_t *out_runs)
{
    struct agent_memory settings = {0};
    struct query q;
    enum error e = OK;
    context_query(c, &q, &SQL_HISTORY_SETTINGS);
    query_uuid(&q, thread_id, thread_id);
    if (query_next(&q))
        e = read_settings(c, row_text(&q), &settings);
    TRY(query_end(&q));
    TRY(e);
    bool has_none = settings.has_add_history_to_context && !settings.add_history_to_context;
    *out_runs = has_none                        ? 0
                : settings.has_num_history_runs ? settings.num_history_runs
                                                : CONTEXT_RUNS_DEFAULT;
    return OK;
}

/* --- All together --------------------------------------------------------------------------- */

static struct pieces drop_first(struct pieces run, size_t n)
{
    struct pieces rest = {.items = run.items + n, .count = run.count - n};
    for (size_t i = 0; i < rest.count; i++)
        rest.tokens += rest.items[i].tokens;
    return rest;
}

/* Selects the newest runs that fit. `runs` is filled from its end; out_first is the oldest one. */
static enum error choose(struct context *c, const struct history_entry *entries, size_t count,
    int64_t budget, struct pieces *runs, size_t *out_first, bool *out_truncated)
{
    size_t first = count;
    *out_truncated = false;
    for (size_t i = 0; i < count && !*out_truncated; i++) {
        struct pieces run = {0};
        TRY(read_pieces(c, &entries[i], &run));
        *out_truncated = run.tokens > budget;
        if (*out_truncated && i == 0)
            run = drop_first(run, find_cut(c, &run, budget));
        else if (*out_truncated)
            break;
        if (*out_truncated && run.count == 0)
            break;
        budget -= run.tokens;
        runs[--first] = run;
    }
    *out_first = first;
    return OK;
}

static enum error read_system(struct context *c, struct uuid thread_id, struct str *out_message)
{
    struct resumption resumption;
    *out_message = STR_NONE;
    TRY(resumption_find(c, thread_id, false, &resumption));
    if (resumption.version > 0 && resumption.system_prompt.len > 0 &&
        agent_may_see_prompts(c, resumption.has_agent_id, resumption.agent_id))
        *out_message = said(c, "system", resumption.system_prompt);
    return OK;
}

static struct str write_messages(
    struct context *c, struct str system, const struct pieces *runs, size_t count)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    if (!str_is_none(system))
        json_write_raw(&text.w, system);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < runs[i].count; k++)
            json_write_value(&text.w, runs[i].items[k].message);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

enum error history_context(struct context *c, struct uuid thread_id,
    const struct history_context_query *query, struct history_context *out_context)
{
    const struct history_filter filter = {.completed_only = true};
    struct page page = {.limit = (size_t)query->runs};
    struct history_entry *entries = ARENA_ARRAY(c->arena, struct history_entry, page.limit);
    struct pieces *runs = ARENA_ARRAY(c->arena, struct pieces, page.limit);
    size_t first = 0;
    struct history_context context = {0};
    struct str system = STR_NONE;
    bool is_over = false;
    if (query->runs > 0)
        TRY(history_list(c, thread_id, &filter, &page, entries));
    TRY(history_count_completed(c, thread_id, &context.runs_available));
    if (query->with_system)
        TRY(read_system(c, thread_id, &system));
    context.estimated_tokens = str_is_none(system) ? 0 : history_tokens(system.len);
    if (context.estimated_tokens > query->max_tokens) {
        is_over = true;
        system = STR_NONE;
        context.estimated_tokens = 0;
    }
    TRY(choose(c, entries, page.count, query->max_tokens - context.estimated_tokens, runs, &first,
        &context.truncated));
    for (size_t i = first; i < page.count; i++)
        context.estimated_tokens += runs[i].tokens;
    context.runs_used = (int64_t)(page.count - first);
    /* A page with large texts may have fewer runs than the query allows. */
    bool is_cut_short = page.more && page.count < page.limit;
    context.truncated = context.truncated || is_over || is_cut_short;
    context.messages = write_messages(c, system, &runs[first], page.count - first);
    *out_context = context;
    return OK;
}
