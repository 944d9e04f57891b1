/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine needs to go on with a thread where it stopped. */
#include "model/execution/resumptions.h"

#include "api/resources.h"
#include "model/agents/states.h"
#include "model/execution/transcripts.h"

#define FIELD(member) offsetof(struct resumption, member)
#define NUMBER(text, member, least, most, help)                                            \
    {                                                                                      \
        .name = text, .kind = FIELD_INT, .flags = FIELD_OPTIONAL, .offset = FIELD(member), \
        .has_offset = FIELD(has_##member), .min = (least), .max = (most), .summary = help  \
    }
#define TEXT(text, member, help)                                                             \
    {                                                                                        \
        .name = text, .kind = FIELD_STRING, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,        \
        .offset = FIELD(member), .min = 1, .max = RESUMPTION_NAME_MAX_BYTES, .summary = help \
    }
#define LIST(text, of, most, help)                                                  \
    {                                                                               \
        .name = #text, .kind = FIELD_ARRAY, .items = (of), .flags = FIELD_OPTIONAL, \
        .offset = FIELD(text), .max = (most), .summary = help                       \
    }
#define OBJECT(text, most, help)                                                             \
    {                                                                                        \
        .name = #text, .kind = FIELD_OBJECT, .flags = FIELD_OPTIONAL, .offset = FIELD(text), \
        .max = (most), .summary = help                                                       \
    }
#define MESSAGES(text, help)                                              \
    {                                                                     \
        .name = #text, .kind = FIELD_ARRAY, .items = "object",            \
        .flags = FIELD_OPTIONAL | FIELD_HIDE_NONE, .offset = FIELD(text), \
        .max = TRANSCRIPT_MAX_BYTES, .summary = help                      \
    }

#define SECOND_PICO 1000000000000

/* What an engine writes stands between the ids and what Cairn adds: ResumptionBody is that part. */
enum { BODY_FIRST = 3 };
static const struct field fields[] = {
    {.name = "thread_id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = FIELD(thread_id)},
    {.name = "agent_uuid",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(thread_id),
        .summary = "the thread's id, under the name that engines know it by"},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = FIELD(agent_id),
        .has_offset = FIELD(has_agent_id),
        .summary = "of the newest run when this was last written"},
    {.name = "system_prompt",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(system_prompt),
        .max = RESUMPTION_PROMPT_MAX_BYTES,
        .summary = "left out: role and instructions of the newest run's agent version"},
    TEXT("model", model, "left out: the default_model of the newest run's agent version"),
    NUMBER("max_steps", max_steps, 1, RESUMPTION_STEPS_MAX, "50 unless told"),
    NUMBER("thinking_tokens", thinking_tokens, 0, RESUMPTION_TOKENS_MAX, "0 unless told"),
    NUMBER("max_tokens", max_tokens, 1, RESUMPTION_TOKENS_MAX, "2048 unless told"),
    TEXT("container_id", container_id, "where code is executed"),
    MESSAGES(messages, "the compacted messages; what a write leaves out stays"),
    LIST(tool_schemas, "object", RESUMPTION_TOOLS_MAX_BYTES,
        "tools of the client: [{name, description, input_schema}]"),
    LIST(server_tools, "object", RESUMPTION_SMALL_MAX_BYTES,
        "tools of the model's provider, objects"),
    LIST(beta_headers, "string", RESUMPTION_SMALL_MAX_BYTES, "texts"),
    OBJECT(api_kwargs, RESUMPTION_SMALL_MAX_BYTES, "passed on to the provider: temperature …"),
    TEXT("formatter", formatter, "how the stream is written: xml, json …"),
    {.name = "stream_meta_history_and_tool_results",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(stream_meta),
        .has_offset = FIELD(has_stream_meta)},
    TEXT("compactor_type", compactor_type, "the name of the type alone"),
    TEXT("memory_store_type", memory_store_type, "the name of the type alone"),
    OBJECT(file_registry, RESUMPTION_FILES_MAX_BYTES, "file id → {filename, storage_path …}"),
    OBJECT(extras, RESUMPTION_SMALL_MAX_BYTES, "anything else of the application"),
    NUMBER("max_retries", max_retries, 0, RESUMPTION_RETRIES_MAX, "5 unless told"),
    {.name = "base_delay",
        .kind = FIELD_MONEY,
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(base_delay_pico),
        .has_offset = FIELD(has_base_delay),
        .max = RESUMPTION_DELAY_MAX_MS / 1000 * SECOND_PICO,
        .summary = "seconds before the first retry, to the millisecond; 1 unless told"},
    NUMBER("last_known_input_tokens", last_known_input_tokens, 0, INT64_MAX, "of the last run"),
    NUMBER("last_known_output_tokens", last_known_output_tokens, 0, INT64_MAX, "of the last run"),
    NUMBER("current_step", current_step, 0, RESUMPTION_STEPS_MAX, "to go on from"),
    MESSAGES(conversation_history,
        "all messages of the run under way; its history entry takes them over when it ends"),
    {.name = "title",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(title),
        .max = THREAD_TITLE_MAX_BYTES,
        .summary = "the thread's"},
    {.name = "tool_names",
        .kind = FIELD_ARRAY,
        .items = "string",
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(tool_names),
        .summary = "of tool_schemas"},
    {.name = "pending_frontend_tools",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(pending_frontend_tools),
        .summary = "that unfinished runs wait for: [{tool_use_id, name, input}]"},
    {.name = "pending_backend_results",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(pending_backend_results),
        .summary = "that are in while others are missing"},
    {.name = "awaiting_frontend_tools",
        .kind = FIELD_BOOL,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(awaiting_frontend_tools)},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(updated_at)},
    {.name = "last_run_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY | FIELD_NULLABLE,
        .offset = FIELD(last_run_at),
        .has_offset = FIELD(has_last_run_at)},
    {.name = "total_runs",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(total_runs),
        .summary = "of the thread that are nobody's children"},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = FIELD(version),
        .summary = "the ETag's number"},
};
enum { BODY_FIELDS = COUNT_OF(fields) - BODY_FIRST - 9 /* that Cairn adds */ };
const struct schema schema_resumption = {
    "Resumption", fields, COUNT_OF(fields), sizeof(struct resumption), 0};
const struct schema schema_resumption_body = {
    "ResumptionBody", &fields[BODY_FIRST], BODY_FIELDS, sizeof(struct resumption), 0};
const struct schema schema_resumption_patch = {
    "ResumptionPatch", &fields[BODY_FIRST], BODY_FIELDS, sizeof(struct resumption), 0};

static const struct field append_fields[] = {
    {.name = "append",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct resumption_append, messages),
        .max = TRANSCRIPT_MAX_BYTES,
        .summary = "to the end of messages"},
    {.name = "append_history",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct resumption_append, conversation_history),
        .max = TRANSCRIPT_MAX_BYTES,
        .summary = "to the end of conversation_history"},
};
const struct schema schema_resumption_append = {"ResumptionAppend", append_fields,
    COUNT_OF(append_fields), sizeof(struct resumption_append), 0};

static void answer(struct call *call, const struct resumption *r)
{
    call_answer(call, &schema_resumption, r, r->version);
}

enum error handle_resumption_get(struct call *call, struct context *c)
{
    struct resumption r;
    enum error e = resumption_get(c, call->request.params[0], true, &r);
    if (e == OK)
        answer(call, &r);
    return e;
}

/* It must be said which version was seen, as of a state document. */
static enum error check_match(struct context *c, const struct resumption *before)
{
    const struct state seen = {.version = before->version};
    return state_check_match(c, &seen);
}

enum error handle_resumption_put(struct call *call, struct context *c)
{
    struct resumption before, after = *(const struct resumption *)call->request.input;
    struct json unused;
    enum error e = resumption_find(c, call->request.params[0], false, &before);
    if (e == OK)
        e = check_match(c, &before);
    if (e != OK)
        return e;
    if (!json_get(json_root(&call->request.doc), STR("title"), &unused))
        after.title = before.title;
    if (before.version == 0)
        call->answer.status = 201;
    e = resumption_write(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

/* A merge patch is applied without the lists, which it can only replace: null empties one. */
static void empty_what_is_null(const struct call *call, const char *name, struct str *list)
{
    struct json v;
    if (!call->request.is_json_patch && json_type(json_root(&call->request.doc)) == JSON_OBJECT &&
        json_get(json_root(&call->request.doc), str_of(name), &v) && json_type(v) == JSON_NULL)
        *list = STR("[]");
}

enum error handle_resumption_patch(struct call *call, struct context *c)
{
    struct resumption before, after;
    enum error e = resumption_get(c, call->request.params[0], call->request.is_json_patch, &before);
    if (e == OK)
        e = check_match(c, &before);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e != OK)
        return e;
    empty_what_is_null(call, "messages", &after.messages);
    empty_what_is_null(call, "conversation_history", &after.conversation_history);
    e = resumption_write(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_resumption_append(struct call *call, struct context *c)
{
    struct resumption r;
    enum error e = resumption_get(c, call->request.params[0], false, &r);
    if (e == OK)
        e = context_check_match(c, r.version);
    if (e == OK)
        e = resumption_append(c, &r, call->request.input);
    if (e == OK)
        answer(call, &r);
    return e;
}
