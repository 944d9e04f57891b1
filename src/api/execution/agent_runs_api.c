/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that are started of an agent, as other platforms start them. */
#include "api/resources.h"
#include "model/agents/agents.h"
#include "model/execution/runs.h"
#include "model/threads/participants.h"

struct agent_run_input {
    struct str message;
    struct str attachments;
};
static const struct field input_fields[] = {
    {.name = "message",
        .kind = FIELD_STRING,
        .offset = offsetof(struct agent_run_input, message),
        .max = RUN_INPUT_MAX_BYTES},
    {.name = "attachments",
        .kind = FIELD_ARRAY,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE | FIELD_HIDE_NONE,
        .offset = offsetof(struct agent_run_input, attachments),
        .max = RUN_EXTRA_MAX_BYTES},
};
static const struct schema schema_agent_run_input = {
    "AgentRunInput", input_fields, COUNT_OF(input_fields), sizeof(struct agent_run_input), 0};

struct agent_run_config {
    struct str model_override;
    bool has_stream;
    bool stream;
};
static const struct field config_fields[] = {
    {.name = "model_override",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct agent_run_config, model_override),
        .min = 1,
        .max = RUN_MODEL_MAX_BYTES,
        .summary = "instead of the agent's default_model"},
    {.name = "stream",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct agent_run_config, stream),
        .has_offset = offsetof(struct agent_run_config, has_stream),
        .summary = "taken and not needed: the thread's events can always be streamed"},
};
static const struct schema schema_agent_run_config = {
    "AgentRunConfig", config_fields, COUNT_OF(config_fields), sizeof(struct agent_run_config), 0};

struct agent_run_create {
    bool has_thread_id;
    struct uuid thread_id;
    struct agent_run_input input;
    bool has_config;
    struct agent_run_config config;
    struct str agent_version;
    bool has_parent_run_id;
    struct uuid parent_run_id;
    enum run_policy policy;
    enum run_dispatch dispatch;
    struct str metadata;
};
#define FIELD(member) offsetof(struct agent_run_create, member)
static const struct field create_fields[] = {
    {.name = "thread_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(thread_id),
        .has_offset = FIELD(has_thread_id),
        .summary = "a new thread is made when it is absent"},
    {.name = "input",
        .kind = FIELD_NESTED,
        .offset = FIELD(input),
        .nested = &schema_agent_run_input},
    {.name = "config",
        .kind = FIELD_NESTED,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(config),
        .has_offset = FIELD(has_config),
        .nested = &schema_agent_run_config},
    {.name = "agent_version",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(agent_version),
        .min = 1,
        .max = RUN_AGENT_VERSION_MAX_BYTES,
        .summary = "the active one when absent"},
    {.name = "parent_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(parent_run_id),
        .has_offset = FIELD(has_parent_run_id)},
    {.name = "policy",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = FIELD(policy),
        .choices = thread_run_policies,
        .stores_enum = true,
        .summary = "instead of the thread's run_policy"},
    {.name = "dispatch",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(dispatch),
        .choices = run_dispatches,
        .stores_enum = true,
        .summary = "queue (a worker claims it; the default) or direct (the caller works on it)"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = FIELD(metadata),
        .max = THREAD_METADATA_MAX_BYTES},
};
const struct schema schema_agent_run_create = {
    "AgentRunCreate", create_fields, COUNT_OF(create_fields), sizeof(struct agent_run_create), 0};

/* The thread that is named, where the request may write to it; else a new one. */
static enum error open_thread(struct context *c, const struct agent_run_create *body,
    const struct agent *agent, struct thread *out_thread)
{
    if (!body->has_thread_id) {
        *out_thread = (struct thread){.agent = agent->name};
        return thread_create(c, out_thread);
    }
    enum error e = participant_check_access(c, body->thread_id, true);
    return e == OK ? thread_get_head(c, body->thread_id, out_thread) : e;
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
        .metadata = body->metadata};
    enum error e = agent_get(c, call->request.params[0], &agent);
    if (e == OK)
        e = open_thread(c, body, &agent, &thread);
    if (e == OK)
        e = run_start(c, thread.id, body->policy, &run);
    if (e == OK)
        call_answer(call, &schema_agent_run, &run, run.version);
    return e;
}
