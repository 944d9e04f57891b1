/* SPDX-License-Identifier: Apache-2.0 */
/* Agents. */
#include "api/handlers.h"
#include "model/agents/agent_versions.h"

struct agent_body {
    struct agent agent; /* the first member: rows of an agent and of the body share a table */
    bool has_is_active;
    struct agent_definition definition;
};
#define OF struct agent_body
static const struct field agent_fields[] = {
    FIELD_OF(agent, UUID, id, IN_READ),
    FIELD_OF(agent, STRING, name, IN_BODY | IN_PATCH | IN_READ,
        "unique among the agents of the tenant", .min = 1, .max = AGENT_NAME_MAX_BYTES),
    FIELD_OF(agent, ENUM, kind, IN_BODY | IN_READ, "default: agent", .choices = agent_kinds,
        .optional_in = IN_BODY),
    FIELD_OF(agent, STRING_OR_NULL, version, IN_READ,
        "active version of the definition, used by new runs"),
    FIELD_OF(agent, ENUM, status, IN_READ,
        "created until the first run starts; inactive: new runs are rejected",
        .choices = agent_statuses),
    FIELD_OF(agent, BOOL, is_active, IN_READ),
    FIELD_OF(agent, STRING_OR_NULL, description, IN_BODY | IN_PATCH | IN_READ,
        .max = AGENT_DESCRIPTION_MAX_BYTES),
    FIELD_OF(agent, OBJECT_OR_NONE, metadata, IN_BODY | IN_PATCH | IN_READ,
        .max = AGENT_METADATA_MAX_BYTES),
    FIELD_OF(agent, ARRAY_OR_NULL, granted_to, IN_BODY | IN_PATCH | IN_READ,
        "principals that may start runs of the agent and add it to their threads; user:* is every "
        "user",
        .max = AGENT_GRANTS_MAX_BYTES, .items = "string"),
    FIELD_OF(agent, BOOL, is_active, IN_PATCH),
    FIELD_HAS(BOOL_OR_NONE, "is_active", agent.is_active, has_is_active, IN_BODY, "default: true"),
    DEFINITION_FIELDS(definition, IN_BODY),
    FIELD_OF(agent, TIME, created_at, IN_READ),
    FIELD_OF(agent, TIME, updated_at, IN_READ),
    FIELD_OF(agent, INT, revision, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_agent = SCHEMA("Agent", struct agent, agent_fields, IN_READ);
const struct schema schema_agent_body =
    SCHEMA("AgentBody", struct agent_body, agent_fields, IN_BODY);
const struct schema schema_agent_patch = SCHEMA("AgentPatch", struct agent, agent_fields, IN_PATCH);

struct agents_query {
    struct page_query page;
    struct str name;
    enum agent_kind kind;
};
#define OF struct agents_query
static const struct field agents_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, name, IN_QUERY, "exact name of the agent", .min = 1,
        .max = AGENT_NAME_MAX_BYTES),
    FIELD(ENUM_OR_NONE, kind, IN_QUERY, .choices = agent_kinds),
};
#undef OF
const struct schema query_agents =
    SCHEMA("AgentsQuery", struct agents_query, agents_query_fields, IN_QUERY);

static enum error answer(struct call *call, const struct agent *agent)
{
    return call_answer(call, &schema_agent, agent, agent->revision);
}

enum error handle_agent_create(struct call *call, struct context *c)
{
    const struct agent_body *body = call->request.input;
    struct agent agent = body->agent;
    agent.is_active = !body->has_is_active || agent.is_active;
    TRY(agent_allow_tenant(c));
    TRY(agent_create_defined(c, &agent, &body->definition));
    return answer(call, &agent);
}

enum error handle_agent_list(struct call *call, struct context *c)
{
    const struct agents_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct agent *agents = ARENA_ARRAY(call->arena, struct agent, page.limit);
    struct agent_filter filter = {.name = q->name, .kind = q->kind};
    TRY(cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before));
    TRY(agent_list(c, &filter, &page, agents));
    return call_answer_page(call, &schema_agent, agents, &page, CURSOR_BY(struct agent, id));
}

enum error handle_agent_get(struct call *call, struct context *c)
{
    struct agent agent;
    TRY(agent_get(c, call->request.params[0], &agent));
    return answer(call, &agent);
}

enum error handle_agent_patch(struct call *call, struct context *c)
{
    struct agent before, after;
    TRY(agent_allow_tenant(c));
    TRY(agent_lock(c, call->request.params[0]));
    TRY(agent_get(c, call->request.params[0], &before));
    TRY(context_check_match(c, before.revision));
    TRY(call_apply_patch(call, &before, &after));
    TRY(agent_update(c, &before, &after));
    return answer(call, &after);
}

enum error handle_agent_delete(struct call *call, struct context *c)
{
    TRY(agent_allow_tenant(c));
    TRY(agent_delete(c, call->request.params[0]));
    return call_answer_nothing(call);
}
