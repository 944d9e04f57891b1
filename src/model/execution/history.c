/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/history.h"

#include "base/json/json_write.h"
#include "model/execution/history.sql.h"
#include "model/execution/history_text.h"
#include "model/execution/resumptions.h"
#include "model/execution/transcripts.h"
#include "model/execution/usage.h"
#include "model/threads/events.h"

static enum error tell(
    struct context *c, enum event_kind kind, const struct history_entry *entry, struct uuid run_id)
{
    struct event event = {.has_run_id = true,
        .run_id = run_id,
        .kind = event_kind_word(kind),
        .payload = arena_printf(
            c->arena, "{\"sequence_number\":%lld}", (long long)entry->sequence_number)};
    return event_emit(c, entry->thread_id, &event);
}

/* --- The end of a run ----------------------------------------------------------------------- */

/* Reads the members of the entry from the rows of the run. out_output: its final output, as JSON.
 */
static enum error read_run(
    struct context *c, const struct run *run, struct history_entry *out, struct str *out_output)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_OF_RUN);
    query_uuid(&q, run_id, run->id);
    if (query_next(&q)) {
        history_read_run(&q, out);
        *out_output = row_text(&q);
    }
    out->thread_id = run->thread_id;
    out->run_id = run->id;
    return query_end(&q);
}

static enum error insert(struct context *c, const struct history_entry *entry)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_INSERT);
    history_bind_insert(&q, entry);
    query_uuid_if(&q, messages_snapshot_id, !uuid_is_nil(entry->messages_id), entry->messages_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

/* Finds the final response of a run: its content, the text of its output, or the last message of
 * its model. */
static enum error find_response(
    struct context *c, const struct run *run, struct str output, struct history_entry *entry)
{
    struct str list;
    if (str_is_none(entry->final_response))
        entry->final_response = history_text_of_output(c->arena, output);
    bool may_tell = str_is_none(entry->final_response) && !uuid_is_nil(entry->messages_id) &&
                    run->status == RUN_COMPLETED;
    enum error e = may_tell ? transcript_get(c, entry->messages_id, &list) : OK;
    /* Damage is reported when the entry is read. The run ends all the same. */
    if (e == ERR_DAMAGED) {
        problem_init(c->problem, c->arena);
        return OK;
    }
    if (e == OK && may_tell)
        entry->final_response = history_text_of_messages(c->arena, list);
    return e;
}

static enum error take_number(struct context *c, struct history_entry *entry)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_LAST_NUMBER);
    query_uuid(&q, thread_id, entry->thread_id);
    enum error e = context_number(&q, &entry->sequence_number);
    entry->sequence_number++;
    return e;
}

static struct str known(struct str told, struct str usual)
{
    return str_is_none(told) ? usual : told;
}

enum error history_append(struct context *c, const struct run *run)
{
    struct history_entry entry = {0};
    struct str output = STR_NONE;
    if (run->has_parent_run_id)
        return OK;
    TRY(read_run(c, run, &entry, &output));
    entry.id = uuid_v7();
    entry.generated_files = known(run->result.generated_files, STR("[]"));
    entry.extras = known(run->result.extras, STR("{}"));
    /* A run that never started has no history: the resumption has that of another run. */
    if (run->has_started_at)
        TRY(resumption_take_history(c, run->thread_id, &entry.messages_id));
    if (!str_is_none(run->result.messages)) {
        if (!uuid_is_nil(entry.messages_id))
            TRY(snapshot_drop(c, entry.messages_id));
        entry.messages_id = run->result.messages_id;
    }
    TRY(find_response(c, run, output, &entry));
    TRY(usage_cost_document(c, run, &entry.cost));
    TRY(take_number(c, &entry));
    if (str_is_none(entry.user_message))
        entry.user_message = STR("");
    if (str_is_none(entry.stop_reason) && run->status != RUN_COMPLETED)
        entry.stop_reason = run_status_word(run->status);
    TRY(insert(c, &entry));
    return tell(c, EVENT_HISTORY_CREATED, &entry, run->id);
}

/* Finds the topmost ancestor of the run, at most RUN_DEPTH_MAX levels above. */
static enum error find_root(struct context *c, const struct run *run, struct run *out_root)
{
    *out_root = *run;
    while (out_root->has_parent_run_id)
        TRY(run_get_head(c, out_root->parent_run_id, out_root));
    return OK;
}

static enum error set_usage(struct context *c, const struct history_entry *entry, bool *out_found)
{
    struct query q;
    int64_t changed;
    context_query(c, &q, &SQL_HISTORY_SET_USAGE);
    history_bind_usage(&q, entry);
    query_i64(&q, now, c->now_us);
    enum error e = query_run_counted(&q, &changed);
    *out_found = e == OK && changed > 0;
    return e;
}

static enum error find_number(struct context *c, struct history_entry *entry)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_NUMBER_OF_RUN);
    query_uuid(&q, run_id, entry->run_id);
    return context_number(&q, &entry->sequence_number);
}

enum error history_update_usage(struct context *c, const struct run *run)
{
    struct run root = {0};
    struct history_entry entry = {0};
    struct str unused;
    bool found = false;
    if (!run_is_finished(run))
        return OK;
    TRY(find_root(c, run, &root));
    if (!run_is_finished(&root))
        return OK;
    TRY(read_run(c, &root, &entry, &unused));
    TRY(usage_cost_document(c, &root, &entry.cost));
    TRY(set_usage(c, &entry, &found));
    if (found)
        TRY(find_number(c, &entry));
    return found ? tell(c, EVENT_HISTORY_UPDATED, &entry, root.id) : OK;
}

/* --- Read ----------------------------------------------------------------------------------- */

enum error history_get(struct context *c, struct uuid thread_id, int64_t sequence_number,
    bool with_messages, struct history_entry *out_entry)
{
    struct thread unused;
    struct history_entry entry;
    struct query q;
    TRY(thread_get_head(c, thread_id, &unused));
    context_query(c, &q, &SQL_HISTORY_GET);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, sequence_number, sequence_number);
    bool found;
    TRY(history_read_one(&q, &found, &entry));
    if (!found)
        return problem_set(c->problem, ERR_NOT_FOUND, "the thread has no history entry %lld",
            (long long)sequence_number);
    if (with_messages)
        TRY(transcript_get(c, entry.messages_id, &entry.messages));
    *out_entry = entry;
    return OK;
}

static size_t size_of(const struct history_entry *h)
{
    return h->user_message.len + h->final_response.len + h->generated_files.len + h->extras.len +
           h->messages.len;
}

/* Reads the messages of each entry, and ends the page where they exceed its bytes. */
static enum error add_messages(struct context *c, struct page *page, struct history_entry *entries)
{
    size_t bytes = 0;
    for (size_t i = 0; i < page->count; i++) {
        if (bytes > page->max_bytes) {
            page->count = i;
            page->more = true;
            break;
        }
        TRY(transcript_get(c, entries[i].messages_id, &entries[i].messages));
        bytes += size_of(&entries[i]);
    }
    return OK;
}

enum error history_list(struct context *c, struct uuid thread_id,
    const struct history_filter *filter, struct page *page, struct history_entry *out_entries)
{
    struct thread unused;
    struct query q;
    TRY(thread_get_head(c, thread_id, &unused));
    page_begin(
        c, &q, filter->completed_only ? &SQL_HISTORY_LIST_COMPLETED : &SQL_HISTORY_LIST, page);
    query_uuid(&q, thread_id, thread_id);
    query_i64(&q, before, filter->before > 0 ? filter->before : INT64_MAX);
    TRY(history_read_page(&q, page, out_entries));
    return filter->with_messages ? add_messages(c, page, out_entries) : OK;
}

enum error history_count_completed(struct context *c, struct uuid thread_id, int64_t *out_count)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_COUNT_COMPLETED);
    query_uuid(&q, thread_id, thread_id);
    return context_number(&q, out_count);
}

/* --- Write ---------------------------------------------------------------------------------- */

static bool is_text_member(struct json object, const char *name)
{
    struct json v;
    return json_get(object, str_of(name), &v) && json_type(v) == JSON_STRING &&
           json_raw(v).len > 2; /* the quotes */
}

enum error history_check_files(struct context *c, struct str files)
{
    struct json_doc doc;
    struct json_error bad;
    struct json file;
    enum error e = OK;
    if (!json_parse(c->arena, files, &doc, &bad))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the list of files exceeds the memory limit of a request");
    if (json_count(json_root(&doc)) > HISTORY_FILES_MAX)
        return problem_fault(
            c->problem, STR("/generated_files"), "must have at most %d items", HISTORY_FILES_MAX);
    struct json_iter it = json_iter(json_root(&doc));
    for (size_t i = 0; json_next(&it, NULL, &file); i++)
        if (json_type(file) != JSON_OBJECT || !is_text_member(file, "file_id") ||
            !is_text_member(file, "filename"))
            e = problem_fault(c->problem, arena_printf(c->arena, "/generated_files/%zu", i),
                "must be an object with \"file_id\" and \"filename\"");
    return e;
}

static enum error write_row(struct context *c, const struct history_entry *entry)
{
    struct query q;
    context_query(c, &q, &SQL_HISTORY_UPDATE);
    history_bind(&q, entry);
    query_uuid_if(&q, messages_snapshot_id, !uuid_is_nil(entry->messages_id), entry->messages_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error history_update(
    struct context *c, const struct history_entry *before, struct history_entry *after)
{
    struct history_entry entry = *before;
    bool has_messages = !str_is_none(after->messages);
    entry.final_response = after->final_response;
    entry.stop_reason = after->stop_reason;
    entry.generated_files =
        str_is_none(after->generated_files) ? STR("[]") : after->generated_files;
    entry.extras = str_is_none(after->extras) ? STR("{}") : after->extras;
    TRY(context_check_match(c, before->version));
    TRY(history_check_files(c, entry.generated_files));
    if (has_messages)
        TRY(transcript_check(c, after->messages, STR("/messages")));
    if (has_messages)
        TRY(transcript_replace(c, entry.thread_id, after->messages, &entry.messages_id));
    TRY(write_row(c, &entry));
    TRY(tell(c, EVENT_HISTORY_UPDATED, &entry, entry.run_id));
    return history_get(c, entry.thread_id, entry.sequence_number, true, after);
}
