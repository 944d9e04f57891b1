/* SPDX-License-Identifier: Apache-2.0 */
/* Agents. */
#include "api/agents/agent_versions_api.h"
#include "api/handlers.h"
#include "model/agents/agent_versions.h"
#include "model/threads/participants.h"

struct agent_body {
    struct agent agent; /* the first member: rows of an agent and of the body share a table */
    bool has_is_active;
    struct agent_definition definition;
};
/* An agent with its definition, if the request asks for it. */
struct agent_whole {
    struct agent agent; /* the first member, as in agent_body */
    bool has_definition;
    struct agent_version definition;
};
enum { IN_DEFINITION = IN_SHOWN(0) };

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
#undef OF
#define OF struct agent_whole
    FIELD(NESTED_OR_NULL, definition, IN_DEFINITION,
        "definition of the active version; only with include=definition",
        .nested = &schema_agent_definition, .hide_none = true),
};
#undef OF
const struct schema schema_agent = SCHEMA("Agent", struct agent, agent_fields, IN_READ);
const struct schema schema_agent_whole =
    SCHEMA("AgentWhole", struct agent_whole, agent_fields, IN_READ | IN_DEFINITION);
const struct schema schema_agent_body =
    SCHEMA("AgentBody", struct agent_body, agent_fields, IN_BODY);
const struct schema schema_agent_patch = SCHEMA("AgentPatch", struct agent, agent_fields, IN_PATCH);

struct agents_query {
    struct page_query page;
    struct str name;
    enum agent_kind kind;
    bool has_is_active;
    bool is_active;
};
#define OF struct agents_query
static const struct field agents_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, name, IN_QUERY, "exact name of the agent", .min = 1,
        .max = AGENT_NAME_MAX_BYTES),
    FIELD(ENUM_OR_NONE, kind, IN_QUERY, .choices = agent_kinds),
    FIELD(BOOL_OR_NONE, is_active, IN_QUERY, "only agents that may start runs, or only the others"),
};
#undef OF
const struct schema query_agents =
    SCHEMA("AgentsQuery", struct agents_query, agents_query_fields, IN_QUERY);

struct agent_query {
    enum include include;
};
#define OF struct agent_query
static const struct field agent_query_fields[] = {
    FIELD(ENUM_OR_NONE, include, IN_QUERY,
        "definition: include the definition of the active version", .choices = include_definition),
};
#undef OF
const struct schema query_agent =
    SCHEMA("AgentQuery", struct agent_query, agent_query_fields, IN_QUERY);

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
    struct agent_filter filter = {.name = q->name,
        .kind = q->kind,
        .has_is_active = q->has_is_active,
        .is_active = q->is_active};
    TRY(cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before));
    TRY(agent_list(c, &filter, &page, agents));
    return call_answer_page(call, &schema_agent, agents, &page, CURSOR_BY(struct agent, id));
}

/* The number of the agent does not cover its definition, which may change until a run uses it. */
static enum error answer_whole(struct call *call, struct context *c, struct uuid id)
{
    const struct agent_query *q = call->request.query;
    struct agent_whole whole = {0};
    TRY(agent_get(c, id, &whole.agent));
    if (q->include == INCLUDE_NONE || str_is_none(whole.agent.version))
        return call_answer(call, &schema_agent_whole, &whole, whole.agent.revision);
    TRY(agent_version_get(c, id, whole.agent.version, &whole.definition));
    whole.has_definition = true;
    return call_answer(call, &schema_agent_whole, &whole, 0);
}

enum error handle_agent_get(struct call *call, struct context *c)
{
    return answer_whole(call, c, call->request.params[0]);
}

/* A principal finds only its own agent, as by the id. */
enum error handle_agent_get_by_name(struct call *call, struct context *c)
{
    struct str name = call->request.texts[0];
    struct uuid id;
    bool found;
    TRY(agent_find_by_name(c, name, &found, &id));
    if (!found || (!str_is_none(c->principal) && !principal_is_agent(c->principal, id)))
        return problem_set(c->problem, ERR_NOT_FOUND, "no agent has this name");
    return answer_whole(call, c, id);
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
    bool more = false;
    enum error e = agent_delete_some(c, call->request.params[0], &more);
    return call_answer_deletion(call, e, more);
}
