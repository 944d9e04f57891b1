/* SPDX-License-Identifier: Apache-2.0 */
/* Agents: who works on threads. */
#include "api/resources.h"
#include "model/agents/agent_versions.h"

#define NAME_FIELD(type, member)                                                          \
    {                                                                                     \
        .name = "name", .kind = FIELD_STRING, .offset = offsetof(type, member), .min = 1, \
        .max = AGENT_NAME_MAX_BYTES, .summary = "no other agent of the tenant has it"     \
    }
#define DESCRIPTION_FIELD(type, member)                                                        \
    {                                                                                          \
        .name = "description", .kind = FIELD_STRING, .flags = FIELD_OPTIONAL | FIELD_NULLABLE, \
        .offset = offsetof(type, member), .max = AGENT_DESCRIPTION_MAX_BYTES                   \
    }
#define METADATA_FIELD(type, member)                                       \
    {                                                                      \
        .name = "metadata", .kind = FIELD_OBJECT, .flags = FIELD_OPTIONAL, \
        .offset = offsetof(type, member), .max = AGENT_METADATA_MAX_BYTES  \
    }

static const char *const statuses[] = {"created", "active", "inactive", NULL};
#define AGENT_FIELD(member) offsetof(struct agent, member)
static const struct field agent_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = AGENT_FIELD(id)},
    NAME_FIELD(struct agent, name),
    {.name = "kind", .kind = FIELD_ENUM, .offset = AGENT_FIELD(kind), .choices = agent_kinds},
    {.name = "version",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = AGENT_FIELD(version),
        .summary = "the active version of its definition, which new runs get"},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = AGENT_FIELD(status),
        .choices = statuses,
        .summary = "created until its first run; inactive: no run begins of it"},
    {.name = "is_active", .kind = FIELD_BOOL, .offset = AGENT_FIELD(is_active)},
    DESCRIPTION_FIELD(struct agent, description),
    METADATA_FIELD(struct agent, metadata),
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(updated_at)},
    {.name = "revision",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(revision),
        .summary = "the ETag's number"},
};
const struct schema schema_agent = {
    "Agent", agent_fields, COUNT_OF(agent_fields), sizeof(struct agent), 0};

struct agent_body {
    struct agent agent;
    bool has_is_active;
    struct agent_definition definition;
};
static const struct field body_fields[] = {
    NAME_FIELD(struct agent_body, agent.name),
    {.name = "kind",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct agent_body, agent.kind),
        .choices = agent_kinds,
        .summary = "agent unless told"},
    DESCRIPTION_FIELD(struct agent_body, agent.description),
    METADATA_FIELD(struct agent_body, agent.metadata),
    {.name = "is_active",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct agent_body, agent.is_active),
        .has_offset = offsetof(struct agent_body, has_is_active),
        .summary = "true unless told"},
    DEFINITION_FIELDS(struct agent_body, definition),
};
const struct schema schema_agent_body = {
    "AgentBody", body_fields, COUNT_OF(body_fields), sizeof(struct agent_body), 0};

static const struct field patch_fields[] = {
    NAME_FIELD(struct agent, name),
    DESCRIPTION_FIELD(struct agent, description),
    METADATA_FIELD(struct agent, metadata),
    {.name = "is_active", .kind = FIELD_BOOL, .offset = AGENT_FIELD(is_active)},
};
const struct schema schema_agent_patch = {
    "AgentPatch", patch_fields, COUNT_OF(patch_fields), sizeof(struct agent), 0};

struct agents_query {
    struct page_query page;
    struct str name;
    struct str kind;
};
static const struct field agents_query_fields[] = {
    PAGE_FIELDS(struct agents_query),
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = offsetof(struct agents_query, name),
        .min = 1,
        .max = AGENT_NAME_MAX_BYTES,
        .summary = "the agent of exactly this name"},
    {.name = "kind",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct agents_query, kind),
        .choices = agent_kinds},
};
const struct schema query_agents = {"AgentsQuery", agents_query_fields,
    COUNT_OF(agents_query_fields), sizeof(struct agents_query), 0};

static void answer(struct call *call, const struct agent *agent)
{
    call_answer(call, &schema_agent, agent, agent->revision);
}

enum error handle_agent_create(struct call *call, struct context *c)
{
    const struct agent_body *body = call->request.input;
    struct agent agent = body->agent;
    agent.is_active = !body->has_is_active || agent.is_active;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_create_defined(c, &agent, &body->definition);
    if (e == OK)
        answer(call, &agent);
    return e;
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_uuid(arena, ((const struct agent *)item)->id);
}

enum error handle_agent_list(struct call *call, struct context *c)
{
    const struct agents_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct agent *agents = ARENA_ARRAY(call->arena, struct agent, limit);
    struct agent_filter filter = {.name = q->name, .kind = q->kind};
    bool more;
    enum error e = cursor_to_uuid(call, q->page.cursor, &filter.has_before, &filter.before);
    if (e == OK)
        e = agent_list(c, &filter, limit, agents, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_agent, agents, count, more, cursor_of);
    return e;
}

enum error handle_agent_get(struct call *call, struct context *c)
{
    struct agent agent;
    enum error e = agent_get(c, call->request.params[0], &agent);
    if (e == OK)
        answer(call, &agent);
    return e;
}

enum error handle_agent_patch(struct call *call, struct context *c)
{
    struct agent before, after;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_lock(c, call->request.params[0]);
    if (e == OK)
        e = agent_get(c, call->request.params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.revision);
    if (e == OK)
        e = call_apply_patch(call, &before, &after);
    if (e == OK)
        e = agent_update(c, &before, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

enum error handle_agent_delete(struct call *call, struct context *c)
{
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_delete(c, call->request.params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
