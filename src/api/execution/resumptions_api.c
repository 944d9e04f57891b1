/* SPDX-License-Identifier: Apache-2.0 */
/* The state that an engine needs to continue a thread where it stopped. */
#include "model/execution/resumptions.h"

#include "api/handlers.h"
#include "model/agents/agents.h"
#include "model/agents/states.h"
#include "model/execution/transcripts.h"

#define SECOND_PICO 1000000000000

#define OF struct resumption
static const struct field fields[] = {
    FIELD(UUID, thread_id, IN_READ),
    FIELD_AS(UUID, "agent_uuid", thread_id, IN_READ,
        "id of the thread, under the name that engines use"),
    FIELD(UUID_OR_NULL, agent_id, IN_READ, "agent of the newest run at the time of the last write"),
    FIELD(STRING_OR_NULL, system_prompt, IN_BODY | IN_READ,
        "default: role and instructions of the agent version of the newest run",
        .max = RESUMPTION_PROMPT_MAX_BYTES),
    FIELD(STRING_OR_NULL, model, IN_BODY | IN_READ,
        "default: the default_model of the agent version of the newest run", .min = 1,
        .max = RESUMPTION_NAME_MAX_BYTES),
    FIELD(INT_OR_NONE, max_steps, IN_BODY | IN_READ, "default: 50", .min = 1,
        .max = RESUMPTION_STEPS_MAX),
    FIELD(INT_OR_NONE, thinking_tokens, IN_BODY | IN_READ, "default: 0",
        .max = RESUMPTION_TOKENS_MAX),
    FIELD(INT_OR_NONE, max_tokens, IN_BODY | IN_READ, "default: 2048", .min = 1,
        .max = RESUMPTION_TOKENS_MAX),
    FIELD(STRING_OR_NULL, container_id, IN_BODY | IN_READ, "container in which code is executed",
        .min = 1, .max = RESUMPTION_NAME_MAX_BYTES),
    FIELD(ARRAY_OR_NONE, messages, IN_BODY | IN_READ,
        "compacted messages; unchanged if a write omits them", .max = TRANSCRIPT_MAX_BYTES,
        .items = "object", .hide_none = true),
    FIELD(ARRAY_OR_NONE, tool_schemas, IN_BODY | IN_READ,
        "client tools: [{name, description, input_schema}]", .max = RESUMPTION_TOOLS_MAX_BYTES,
        .items = "object"),
    FIELD(ARRAY_OR_NONE, server_tools, IN_BODY | IN_READ,
        "objects that describe tools of the model's provider", .max = RESUMPTION_SMALL_MAX_BYTES,
        .items = "object"),
    FIELD(ARRAY_OR_NONE, beta_headers, IN_BODY | IN_READ, "texts",
        .max = RESUMPTION_SMALL_MAX_BYTES, .items = "string"),
    FIELD(OBJECT_OR_NONE, api_kwargs, IN_BODY | IN_READ,
        "arguments for the provider: temperature …", .max = RESUMPTION_SMALL_MAX_BYTES),
    FIELD(STRING_OR_NULL, formatter, IN_BODY | IN_READ, "format of the stream: xml, json …",
        .min = 1, .max = RESUMPTION_NAME_MAX_BYTES),
    FIELD_AS(BOOL_OR_NONE, "stream_meta_history_and_tool_results", stream_meta, IN_BODY | IN_READ),
    FIELD(STRING_OR_NULL, compactor_type, IN_BODY | IN_READ, "name of the type", .min = 1,
        .max = RESUMPTION_NAME_MAX_BYTES),
    FIELD(STRING_OR_NULL, memory_store_type, IN_BODY | IN_READ, "name of the type", .min = 1,
        .max = RESUMPTION_NAME_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, file_registry, IN_BODY | IN_READ,
        "map of file ids to {filename, storage_path …}", .max = RESUMPTION_FILES_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, extras, IN_BODY | IN_READ, "other data of the application",
        .max = RESUMPTION_SMALL_MAX_BYTES),
    FIELD(INT_OR_NONE, max_retries, IN_BODY | IN_READ, "default: 5", .max = RESUMPTION_RETRIES_MAX),
    FIELD_HAS(MONEY_OR_NONE, "base_delay", base_delay_pico, has_base_delay, IN_BODY | IN_READ,
        "seconds before the first retry; default: 1",
        .max = RESUMPTION_DELAY_MAX_MS / 1000 * SECOND_PICO, .places = RESUMPTION_DELAY_PLACES),
    FIELD(INT_OR_NONE, last_known_input_tokens, IN_BODY | IN_READ, "tokens of the last run",
        .max = INT64_MAX),
    FIELD(INT_OR_NONE, last_known_output_tokens, IN_BODY | IN_READ, "tokens of the last run",
        .max = INT64_MAX),
    FIELD(INT_OR_NONE, current_step, IN_BODY | IN_READ, "step from which the run continues",
        .max = RESUMPTION_STEPS_MAX),
    FIELD(ARRAY_OR_NONE, conversation_history, IN_BODY | IN_READ,
        "all messages of the unfinished run; copied to the history entry when the run ends",
        .max = TRANSCRIPT_MAX_BYTES, .items = "object", .hide_none = true),
    FIELD(STRING_OR_NULL, title, IN_BODY | IN_READ, "title of the thread",
        .max = THREAD_TITLE_MAX_BYTES),
    FIELD(ARRAY, tool_names, IN_READ, "names of the tools in tool_schemas", .items = "string"),
    FIELD(ARRAY, pending_frontend_tools, IN_READ,
        "frontend tools that unfinished runs wait for: [{tool_use_id, name, input}]",
        .items = "object"),
    FIELD(ARRAY, pending_backend_results, IN_READ,
        "results that have arrived while others are pending", .items = "object"),
    FIELD(BOOL, awaiting_frontend_tools, IN_READ),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(TIME_OR_NULL, last_run_at, IN_READ),
    FIELD(INT, total_runs, IN_READ, "number of runs of the thread without a parent"),
    FIELD(INT_OR_NONE, total_runs, IN_BODY,
        "a greater number than that of the thread's runs adds runs from before Cairn; a smaller "
        "one changes nothing",
        .max = RESUMPTION_RUNS_MAX, .hide_none = true),
    FIELD(INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_resumption = SCHEMA("Resumption", struct resumption, fields, IN_READ);
const struct schema schema_resumption_body =
    SCHEMA("ResumptionBody", struct resumption, fields, IN_BODY);
const struct schema schema_resumption_patch =
    SCHEMA("ResumptionPatch", struct resumption, fields, IN_BODY);

#define OF struct resumption_append
static const struct field append_fields[] = {
    FIELD_AS(ARRAY_OR_NONE, "append", messages, IN_BODY, "messages to append to messages",
        .max = TRANSCRIPT_MAX_BYTES, .items = "object"),
    FIELD_AS(ARRAY_OR_NONE, "append_history", conversation_history, IN_BODY,
        "messages to append to conversation_history", .max = TRANSCRIPT_MAX_BYTES,
        .items = "object"),
};
#undef OF
const struct schema schema_resumption_append =
    SCHEMA("ResumptionAppend", struct resumption_append, append_fields, IN_BODY);

/* Only the tenant and the agent itself see the prompt. */
static bool is_hidden(const struct context *c, const struct resumption *r)
{
    return !agent_may_see_prompts(c, r->has_agent_id, r->agent_id);
}

static enum error answer(struct call *call, const struct context *c, const struct resumption *r)
{
    struct resumption shown = *r;
    if (is_hidden(c, r))
        shown.system_prompt = STR_NONE;
    return call_answer(call, &schema_resumption, &shown, r->version);
}

enum error handle_resumption_get(struct call *call, struct context *c)
{
    struct resumption r;
    TRY(resumption_get(c, call->request.params[0], true, &r));
    return answer(call, c, &r);
}

/* A write must name the version that it replaces, as for a state document. */
static enum error check_match(struct context *c, const struct resumption *before)
{
    const struct state seen = {.version = before->version};
    return state_check_match(c, &seen);
}

enum error handle_resumption_put(struct call *call, struct context *c)
{
    struct resumption before, after = *(const struct resumption *)call->request.input;
    TRY(resumption_find(c, call->request.params[0], false, &before));
    TRY(check_match(c, &before));
    if (call_member(call, "title") == MEMBER_ABSENT)
        after.title = before.title;
    /* The document was read without the prompt. */
    if (before.version > 0 && is_hidden(c, &before) && str_is_none(after.system_prompt))
        after.system_prompt = before.system_prompt;
    if (before.version == 0)
        call->answer.status = 201;
    TRY(resumption_write(c, &before, &after));
    return answer(call, c, &after);
}

/* A patch cannot test or copy a prompt that the request may not see, and keeps it. */
static enum error apply_patch(struct call *call, const struct context *c,
    const struct resumption *before, struct resumption *out_after)
{
    struct resumption visible = *before;
    if (is_hidden(c, before))
        visible.system_prompt = STR_NONE;
    TRY(call_apply_patch(call, &visible, out_after));
    if (is_hidden(c, before) && str_is_none(out_after->system_prompt))
        out_after->system_prompt = before->system_prompt;
    return OK;
}

enum error handle_resumption_patch(struct call *call, struct context *c)
{
    struct resumption before, after;
    TRY(resumption_get(c, call->request.params[0], call->request.is_json_patch, &before));
    TRY(check_match(c, &before));
    TRY(apply_patch(call, c, &before, &after));
    /* A merge patch is applied without the lists, which it can only replace: null empties one. */
    if (call_member(call, "messages") == MEMBER_NULL)
        after.messages = STR("[]");
    if (call_member(call, "conversation_history") == MEMBER_NULL)
        after.conversation_history = STR("[]");
    TRY(resumption_write(c, &before, &after));
    return answer(call, c, &after);
}

enum error handle_resumption_append(struct call *call, struct context *c)
{
    struct resumption r;
    TRY(resumption_get(c, call->request.params[0], false, &r));
    TRY(context_check_match(c, r.version));
    TRY(resumption_append(c, &r, call->request.input));
    return answer(call, c, &r);
}
