/* Agents: who works on threads. */
#include "api/resources.h"
#include "model/agents.h"

#define AGENT_FIELD(member) offsetof(struct agent, member)
enum { AGENT_BODY_FIELDS = 3 };
static const struct field agent_fields[] = {
    {.name = "id", .kind = FIELD_UUID, .flags = FIELD_READ_ONLY, .offset = AGENT_FIELD(id)},
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = AGENT_FIELD(name),
        .min = 1,
        .max = AGENT_NAME_MAX_BYTES,
        .summary = "no other agent of the tenant has it"},
    {.name = "description",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = AGENT_FIELD(description),
        .max = AGENT_DESCRIPTION_MAX_BYTES},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = AGENT_FIELD(metadata),
        .max = AGENT_METADATA_MAX_BYTES},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(updated_at)},
    {.name = "version",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = AGENT_FIELD(version),
        .summary = "the ETag's number"},
};
const struct schema schema_agent = {
    "Agent", agent_fields, COUNT_OF(agent_fields), sizeof(struct agent)};
const struct schema schema_agent_body = {
    "AgentBody", &agent_fields[1], AGENT_BODY_FIELDS, sizeof(struct agent)};
const struct schema schema_agent_patch = {
    "AgentPatch", &agent_fields[1], AGENT_BODY_FIELDS, sizeof(struct agent)};

struct agents_query {
    struct page_query page;
    struct str name;
};
static const struct field agents_query_fields[] = {
    PAGE_FIELDS(struct agents_query),
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = offsetof(struct agents_query, name),
        .min = 1,
        .max = AGENT_NAME_MAX_BYTES,
        .summary = "the agent of exactly this name"},
};
const struct schema query_agents = {
    "AgentsQuery", agents_query_fields, COUNT_OF(agents_query_fields), sizeof(struct agents_query)};

static void answer(struct call *call, const struct agent *agent)
{
    call_answer(call, &schema_agent, agent, agent->version);
}

enum error handle_agent_create(struct call *call, struct context *c)
{
    struct agent agent = *(const struct agent *)call->input;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_create(c, &agent);
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
    const struct agents_query *q = call->query;
    size_t limit = page_limit(&q->page), count;
    struct agent *agents = ARENA_ARRAY(call->arena, struct agent, limit);
    struct agent_filter filter = {.name = q->name};
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
    enum error e = agent_get(c, call->params[0], &agent);
    if (e == OK)
        answer(call, &agent);
    return e;
}

enum error handle_agent_patch(struct call *call, struct context *c)
{
    struct agent before, after;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_lock(c, call->params[0]);
    if (e == OK)
        e = agent_get(c, call->params[0], &before);
    if (e == OK)
        e = context_check_match(c, before.version);
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
        e = agent_delete(c, call->params[0]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
