/* SPDX-License-Identifier: Apache-2.0 */
/* Runs started through an agent, as other platforms start them. */
#include "api/execution/run_fields.h"
#include "api/handlers.h"
#include "model/agents/agents.h"
#include "model/execution/runs.h"
#include "model/threads/participants.h"

struct agent_run_input {
    struct str message;
    struct str attachments;
};
#define OF struct agent_run_input
static const struct field input_fields[] = {
    FIELD(STRING, message, IN_BODY, .max = RUN_INPUT_MAX_BYTES),
    FIELD(ARRAY_OR_NULL, attachments, IN_BODY, .max = RUN_EXTRA_MAX_BYTES, .hide_none = true),
};
#undef OF
static const struct schema schema_agent_run_input =
    SCHEMA("AgentRunInput", struct agent_run_input, input_fields, IN_BODY);

struct agent_run_config {
    struct str model_override;
    bool has_stream;
    bool stream;
};
#define OF struct agent_run_config
static const struct field config_fields[] = {
    FIELD(STRING_OR_NULL, model_override, IN_BODY, "overrides the default_model of the agent",
        .min = 1, .max = RUN_MODEL_MAX_BYTES),
    FIELD(BOOL_OR_NULL, stream, IN_BODY,
        "accepted but ignored: the events of the thread can always be streamed"),
};
#undef OF
static const struct schema schema_agent_run_config =
    SCHEMA("AgentRunConfig", struct agent_run_config, config_fields, IN_BODY);

struct agent_run_create {
    bool has_thread_id;
    struct uuid thread_id;
    struct str thread_key;
    struct agent_run_input input;
    bool has_config;
    struct agent_run_config config;
    struct str agent_version;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    enum run_policy policy;
    enum run_dispatch dispatch;
    struct str metadata;
    bool has_message;
    bool message;
    struct run end;
    struct run_schedule schedule;
};
#define OF struct agent_run_create
static const struct field create_fields[] = {
    FIELD(UUID_OR_NULL, thread_id, IN_BODY, "default: a new thread is created"),
    FIELD(STRING_OR_NULL, thread_key, IN_BODY,
        "key of the thread, instead of thread_id; a thread with this key is created if none exists",
        .min = 1, .max = THREAD_KEY_MAX_BYTES),
    FIELD(NESTED, input, IN_BODY, .nested = &schema_agent_run_input),
    FIELD(NESTED_OR_NULL, config, IN_BODY, .nested = &schema_agent_run_config),
    FIELD(STRING_OR_NULL, agent_version, IN_BODY, "default: the active version", .min = 1,
        .max = RUN_AGENT_VERSION_MAX_BYTES),
    FIELD(UUID_OR_NULL, parent_run_id, IN_BODY),
    FIELD(ENUM_OR_NULL, policy, IN_BODY, "overrides the run_policy of the thread",
        .choices = thread_run_policies),
    FIELD(ENUM_OR_NONE, dispatch, IN_BODY,
        "queue (default: a worker claims the run) or direct (the caller executes the run)",
        .choices = run_dispatches),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY, .max = THREAD_METADATA_MAX_BYTES),
    RUN_MESSAGE_FIELD(IN_BODY),
    RUN_END_FIELDS(end, IN_BODY),
    RUN_SCHEDULE_FIELDS(IN_BODY),
};
#undef OF
const struct schema schema_agent_run_create =
    SCHEMA("AgentRunCreate", struct agent_run_create, create_fields, IN_BODY);

/* Finds or creates the thread of the body's key. A thread that is not new must allow writes. */
static enum error ensure_thread(
    struct context *c, const struct agent_run_create *body, struct thread *thread)
{
    bool is_new;
    thread->key = body->thread_key;
    TRY(thread_ensure(c, thread, &is_new));
    return is_new ? OK : participant_check_access(c, thread->id, true);
}

/* An agent that the request may not run is reported as missing, before anything is written. With a
 * key, the thread decides whether the agent takes part in it. */
static enum error find_agent(
    struct context *c, const struct agent_run_create *body, struct uuid id, struct agent *out_agent)
{
    struct thread thread;
    struct uuid thread_id = body->thread_id;
    bool has_thread = body->has_thread_id, may;
    if (has_thread)
        TRY(participant_check_access(c, body->thread_id, true));
    else if (!str_is_none(body->thread_key))
        TRY(thread_find_by_key(c, body->thread_key, &has_thread, &thread));
    if (!body->has_thread_id && has_thread)
        thread_id = thread.id;
    TRY(run_may_start(c, has_thread, thread_id, id, &may));
    return may ? agent_get(c, id, out_agent) : context_not_found(c, "agent", id);
}

static enum error find_thread(struct context *c, const struct agent_run_create *body,
    const struct agent *agent, struct thread *out_thread)
{
    if (body->has_thread_id)
        return thread_get_head(c, body->thread_id, out_thread);
    *out_thread = (struct thread){.agent = agent->name};
    return str_is_none(body->thread_key) ? thread_create(c, out_thread)
                                         : ensure_thread(c, body, out_thread);
}

enum error handle_agent_run_start(struct call *call, struct context *c)
{
    const struct agent_run_create *body = call->request.input;
    struct agent agent;
    struct thread thread;
    struct json_text request;
    json_text_init(&request, CALL_ANSWER_MAX_BYTES);
    schema_encode(&request.w, &schema_agent_run_input, &body->input);
    struct run run = {.has_agent_id = true,
        .agent_id = call->request.params[0],
        .agent_version = body->agent_version,
        .has_parent_run_id = body->has_parent_run_id,
        .parent_run_id = body->parent_run_id,
        .dispatch = body->dispatch,
        .model = body->config.model_override,
        .user_input = body->input.message,
        .request = json_text_take(&request, call->arena),
        .metadata = body->metadata,
        .schedule = body->schedule,
        .adds_message = body->has_message ? body->message : !body->has_parent_run_id};
    if (body->has_thread_id && !str_is_none(body->thread_key))
        return problem_fault(
            c->problem, STR("/thread_key"), "must not be given together with thread_id");
    TRY(find_agent(c, body, call->request.params[0], &agent));
    TRY(find_thread(c, body, &agent, &thread));
    TRY(run_start_or_record(c, thread.id, body->policy, &run, &body->end));
    return call_answer(call, &schema_agent_run, &run, run.version);
}
