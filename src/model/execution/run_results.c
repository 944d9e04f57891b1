/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/run_results.h"

#include "base/json/json_write.h"
#include "model/agents/agents.h"
#include "model/execution/history.h"
#include "model/execution/history_text.h"
#include "model/execution/run_results.sql.h"
#include "model/execution/transcripts.h"
#include "model/execution/usage.h"
#include "model/threads/messages.h"
#include "model/threads/participants.h"

/* --- Checks --------------------------------------------------------------------------------- */

bool run_logs_lifecycle(const struct run *run)
{
    return !run->result.has_lifecycle_steps || run->result.lifecycle_steps;
}

bool run_result_is_given(const struct run_result *result)
{
    return result->has_usage || result->has_started_at || result->has_finished_at ||
           !str_is_none(result->messages) || !str_is_none(result->generated_files) ||
           !str_is_none(result->extras) || !str_is_none(result->append) || result->reply;
}

static enum error refuse_member(struct context *c, bool is_given, const char *pointer)
{
    return is_given ? problem_fault(c->problem, str_of(pointer),
                          "is allowed only in the call that ends the run, with the status "
                          "completed, failed or cancelled")
                    : OK;
}

static enum error refuse_all(struct context *c, const struct run_result *result)
{
    TRY(refuse_member(c, !str_is_none(result->messages), "/messages"));
    TRY(refuse_member(c, result->has_usage, "/usage"));
    TRY(refuse_member(c, !str_is_none(result->generated_files), "/generated_files"));
    TRY(refuse_member(c, !str_is_none(result->extras), "/extras"));
    TRY(refuse_member(c, result->has_started_at, "/started_at"));
    TRY(refuse_member(c, result->has_finished_at, "/finished_at"));
    TRY(refuse_member(c, result->reply, "/reply"));
    TRY(refuse_member(
        c, result->has_lifecycle_steps && !result->lifecycle_steps, "/lifecycle_steps"));
    return refuse_member(c, !str_is_none(result->append), "/append");
}

static void drop_same(struct context *c, struct str stored, struct str *text)
{
    if (!str_is_none(stored) && json_texts_equal(c->arena, stored, *text))
        *text = STR_NONE;
}

enum error run_result_drop_known(
    struct context *c, const struct run *before, struct run_result *result)
{
    struct run stored = *before;
    bool has_messages = !str_is_none(result->messages);
    if (before->has_started_at && result->started_at == before->started_at)
        result->has_started_at = false;
    if (before->has_finished_at && result->finished_at == before->finished_at)
        result->has_finished_at = false;
    if (!run_is_finished(before) ||
        (!has_messages && str_is_none(result->generated_files) && str_is_none(result->extras)))
        return OK;
    TRY(run_result_read(c, &stored, has_messages));
    if (has_messages)
        drop_same(c, stored.result.messages, &result->messages);
    if (!str_is_none(result->generated_files))
        drop_same(c, stored.result.generated_files, &result->generated_files);
    if (!str_is_none(result->extras))
        drop_same(c, stored.result.extras, &result->extras);
    return OK;
}

static enum error check_past(struct context *c, int64_t time_us, const char *pointer)
{
    return time_us <= c->now_us + (int64_t)RUN_TIMES_AHEAD_MAX_S * 1000000
               ? OK
               : problem_fault(c->problem, str_of(pointer), "must not be in the future");
}

/* A run that never started has no start. */
static enum error check_times(
    struct context *c, const struct run *before, const struct run_result *result)
{
    bool has_start = result->has_started_at || before == NULL || before->has_started_at;
    int64_t start = result->has_started_at ? result->started_at
                    : before != NULL       ? before->started_at
                                           : c->now_us;
    if (result->has_started_at)
        TRY(check_past(c, result->started_at, "/started_at"));
    if (result->has_finished_at)
        TRY(check_past(c, result->finished_at, "/finished_at"));
    return !result->has_finished_at || !has_start || start <= result->finished_at
               ? OK
               : problem_fault(c->problem, STR("/finished_at"),
                     "must not be before the start of the run: started_at");
}

enum error run_result_check(struct context *c, const struct run *before,
    const struct run_result *result, enum run_status status)
{
    if (!run_status_is_final(status))
        return refuse_all(c, result);
    TRY(check_times(c, before, result));
    if (!str_is_none(result->generated_files))
        TRY(history_check_files(c, result->generated_files));
    return str_is_none(result->messages) ? OK
                                         : transcript_check(c, result->messages, STR("/messages"));
}

/* --- The message for the context ------------------------------------------------------------ */

static enum error refuse_append(struct context *c, const char *member, const char *rule)
{
    return problem_fault(c->problem, arena_printf(c->arena, "/append%s", member), "%s", rule);
}

/* `true` stands for the answer of the run. */
static enum error content_of_run(struct context *c, const struct run *run, struct str *out_content)
{
    struct str text = run->content;
    if (str_is_none(text))
        text = history_text_of_output(c->arena, run->final_output);
    if (str_is_none(text))
        return refuse_append(c, "", "can be true only for a run with content");
    *out_content = json_quote(c->arena, text);
    return OK;
}

static enum error content_of_message(struct context *c, struct json message, struct str *out)
{
    struct json_iter it = json_iter(message);
    struct json name, value;
    while (json_next(&it, &name, &value)) {
        struct str member = json_string(c->arena, name);
        bool is_text = json_type(value) == JSON_STRING;
        if (str_eq(member, STR("content")) && (is_text || json_type(value) == JSON_ARRAY))
            *out = json_compact(c->arena, value);
        else if (str_eq(member, STR("content")))
            return refuse_append(c, "/content", "must be a string or a list");
        else if (!str_eq(member, STR("role")))
            return refuse_append(c, "", "may have the members role and content");
        else if (!is_text || !str_eq(json_string(c->arena, value), STR("assistant")))
            return refuse_append(c, "/role", "must be \"assistant\"");
    }
    return str_is_none(*out) ? refuse_append(c, "/content", "must be given") : OK;
}

static enum error find_content(struct context *c, const struct run *run, struct str *out_content)
{
    struct json_doc doc;
    struct json_error bad;
    *out_content = STR_NONE;
    if (!json_parse(c->arena, run->result.append, &doc, &bad))
        return problem_set(c->problem, ERR_TOO_LARGE,
            "the appended message exceeds the memory limit of a request");
    switch (json_type(json_root(&doc))) {
    case JSON_TRUE:
        return content_of_run(c, run, out_content);
    case JSON_STRING:
        *out_content = run->result.append;
        return OK;
    case JSON_OBJECT:
        return content_of_message(c, json_root(&doc), out_content);
    default:
        return refuse_append(c, "", "must be true, a text, or a message with role and content");
    }
}

/* If-Match refers to the run, not to the thread. */
static enum error append_to_context(struct context *c, const struct run *run)
{
    struct thread before, after;
    struct str content;
    TRY(find_content(c, run, &content));
    TRY(thread_get(c, run->thread_id, &before));
    after = before;
    TRY(thread_context_append(
        c, before.context, "assistant", content, STR("/append"), &after.context));
    c->has_match = false;
    TRY(thread_update(c, &before, &after));
    return thread_tell_update(c, &before, &after);
}

/* --- The message of the assistant ------------------------------------------------------------ */

/* The answer of the run: its content, the text of its output, or the last message of its model. */
static struct str find_answer(struct context *c, const struct run *run)
{
    struct str text = run->content;
    if (text.len == 0)
        text = history_text_of_output(c->arena, run->final_output);
    if (text.len == 0 && !str_is_none(run->result.messages))
        text = history_text_of_messages(c->arena, run->result.messages);
    return text;
}

/* The sender is the agent of the run, if it takes part in the thread. A principal sends messages
 * only as itself. */
static enum error find_sender(struct context *c, const struct run *run, struct message *message)
{
    struct participant sender;
    bool found = false;
    struct str agent = run->has_agent_id ? agent_principal(c->arena, run->agent_id) : STR_NONE;
    if (!str_is_none(c->principal) && !str_eq(c->principal, agent))
        return problem_set(c->problem, ERR_FORBIDDEN,
            "only the agent of the run, or a key of the whole tenant, can create the reply");
    message->is_reply = true;
    message->sender_role = sender_role_word(SENDER_ASSISTANT);
    if (run->has_agent_id)
        TRY(participant_find(c, run->thread_id, agent, &found, &sender));
    if (!found || !sender.active)
        return OK;
    message->has_sender_id = true;
    message->sender_id = sender.id;
    message->sender_role = participant_role_word(sender.role);
    return OK;
}

static enum error add_reply(struct context *c, const struct run *run)
{
    const struct str pointer = STR("/reply");
    struct str text = find_answer(c, run);
    struct message message = {.has_run_id = true,
        .run_id = run->id,
        .content = text,
        .content_type = run->content.len > 0 ? run->content_type : STR_NONE};
    if (text.len == 0)
        return problem_fault(c->problem, pointer,
            "can be true only for a run with an answer: content, a text in final_output, or a "
            "text of the assistant in messages");
    if (text.len > MESSAGE_CONTENT_MAX_BYTES)
        return problem_fault(c->problem, pointer,
            "must be false for an answer of more than %d bytes", MESSAGE_CONTENT_MAX_BYTES);
    TRY(find_sender(c, run, &message));
    return message_create(c, run->thread_id, &message);
}

/* --- Store and read ------------------------------------------------------------------------- */

enum error run_result_store_messages(
    struct context *c, struct uuid thread_id, struct run_result *result)
{
    bool has = !str_is_none(result->messages) && uuid_is_nil(result->messages_id);
    return has ? transcript_replace(c, thread_id, result->messages, &result->messages_id) : OK;
}

enum error run_result_apply(struct context *c, const struct run *run)
{
    struct cost unused;
    if (run->result.has_usage)
        TRY(usage_add(c, run, UUID_NIL, &run->result.usage, &unused));
    if (run->result.reply)
        TRY(add_reply(c, run));
    return str_is_none(run->result.append) ? OK : append_to_context(c, run);
}

enum error run_result_keep(struct context *c, const struct run *run)
{
    const struct run_result *r = &run->result;
    bool has_messages = !uuid_is_nil(r->messages_id);
    struct query q;
    if (!has_messages && str_is_none(r->generated_files) && str_is_none(r->extras))
        return OK;
    context_query(c, &q, &SQL_RUN_RESULT_KEEP);
    query_uuid(&q, run_id, run->id);
    query_uuid_if(&q, messages_snapshot_id, has_messages, r->messages_id);
    query_text(&q, generated_files, r->generated_files);
    query_text(&q, extras, r->extras);
    return query_run(&q);
}

/* Leaves the nil id if no step has messages. */
static enum error find_in_steps(
    struct context *c, const struct run *run, struct uuid *out_messages_id)
{
    struct query q;
    context_query(c, &q, &SQL_RUN_RESULT_OF_STEPS);
    query_uuid(&q, run_id, run->id);
    if (query_next(&q))
        *out_messages_id = row_uuid(&q);
    return query_end(&q);
}

enum error run_result_read(struct context *c, struct run *run, bool with_messages)
{
    struct query q;
    struct uuid messages_id = UUID_NIL;
    bool is_root = !run->has_parent_run_id;
    run->result = (struct run_result){0};
    context_query(c, &q, is_root ? &SQL_RUN_RESULT_OF_ROOT : &SQL_RUN_RESULT_OF_CHILD);
    query_uuid(&q, run_id, run->id);
    if (query_next(&q)) {
        (void)row_uuid_if(&q, &messages_id);
        run->result.generated_files = row_text(&q);
        run->result.extras = row_text(&q);
        run->result.has_history_sequence = is_root;
        run->result.history_sequence = is_root ? row_i64(&q) : 0;
    }
    TRY(query_end(&q));
    if (!with_messages)
        return OK;
    if (uuid_is_nil(messages_id))
        TRY(find_in_steps(c, run, &messages_id));
    return transcript_get(c, messages_id, &run->result.messages);
}

enum error run_result_read_page(struct context *c, struct page *page, struct run *runs)
{
    size_t bytes = 0, i = 0;
    for (; i < page->count && bytes <= page->max_bytes; i++) {
        TRY(run_result_read(c, &runs[i], true));
        const struct run_result *r = &runs[i].result;
        bytes += r->messages.len + r->generated_files.len + r->extras.len;
    }
    page->more |= i < page->count;
    page->count = i;
    return OK;
}

/* --- A run that has ended before it is recorded --------------------------------------------- */

static void take_end(struct run *run, const struct run *end)
{
    run->status = end->status;
    run->final_output = end->final_output;
    run->error = end->error;
    run->stop_reason = end->stop_reason;
    run->content = end->content;
    run->content_type = end->content_type;
    run->citations = end->citations;
    run->metrics = end->metrics;
}

enum error run_record(struct context *c, struct uuid thread_id, enum run_policy policy,
    struct run *run, const struct run *end)
{
    struct thread unused;
    struct run before;
    struct run_result result = end->result;
    if (!run_status_is_final(end->status))
        return problem_fault(c->problem, STR("/status"),
            "must be completed, failed or cancelled to record a finished run; a run that is "
            "started has no status");
    if (run->dispatch == RUN_QUEUE)
        return problem_fault(c->problem, STR("/dispatch"),
            "must be direct for a finished run, because no worker can claim the run");
    TRY(thread_get_head(c, thread_id, &unused));
    TRY(run_result_check(c, NULL, &result, end->status));
    TRY(run_result_store_messages(c, thread_id, &result));
    run->dispatch = RUN_DIRECT;
    TRY(run_start(c, thread_id, policy, run));
    if (run->status != RUN_RUNNING)
        return problem_set(c->problem, ERR_RUN_ACTIVE,
            "another run of the thread is active, and a finished run cannot wait for its end");
    before = *run;
    take_end(run, end);
    run->result = result;
    return run_update(c, &before, run);
}
