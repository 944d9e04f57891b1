/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of agents: what each is told to be, which one is active, and what differs. */
#include "api/resources.h"
#include "base/semver.h"
#include "model/agents/agent_versions.h"

enum { VERSION_NOTE_MAX_BYTES = AGENT_DESCRIPTION_MAX_BYTES };

#define VERSION_FIELD(member) offsetof(struct agent_version, member)
#define PART_FIELD(part, field_name, field_kind)                                           \
    {                                                                                      \
        .name = field_name, .kind = field_kind, .flags = FIELD_NULLABLE | FIELD_HIDE_NONE, \
        .offset = VERSION_FIELD(parts[part])                                               \
    }
#define VERSION_HEAD                                                                     \
    {.name = "agent_id", .kind = FIELD_UUID, .offset = VERSION_FIELD(agent_id)},         \
        {.name = "version", .kind = FIELD_STRING, .offset = VERSION_FIELD(version)},     \
        {.name = "number",                                                               \
            .kind = FIELD_INT,                                                           \
            .offset = VERSION_FIELD(number),                                             \
            .summary = "the order in which they were made, from 1"},                     \
        {.name = "is_active",                                                            \
            .kind = FIELD_BOOL,                                                          \
            .offset = VERSION_FIELD(is_active),                                          \
            .summary = "whether new runs get it"},                                       \
        {.name = "description",                                                          \
            .kind = FIELD_STRING,                                                        \
            .flags = FIELD_NULLABLE,                                                     \
            .offset = VERSION_FIELD(description)},                                       \
        {.name = "created_by",                                                           \
            .kind = FIELD_STRING,                                                        \
            .flags = FIELD_NULLABLE,                                                     \
            .offset = VERSION_FIELD(created_by),                                         \
            .summary = "the principal; null for a key of the whole tenant"},             \
        {.name = "created_at", .kind = FIELD_TIME, .offset = VERSION_FIELD(created_at)}, \
        {.name = "updated_at", .kind = FIELD_TIME, .offset = VERSION_FIELD(updated_at)}, \
        {.name = "used_at",                                                              \
            .kind = FIELD_TIME,                                                          \
            .flags = FIELD_NULLABLE,                                                     \
            .offset = VERSION_FIELD(used_at),                                            \
            .has_offset = VERSION_FIELD(has_used_at),                                    \
            .summary = "when its first run began: from then on it never changes"},       \
    {                                                                                    \
        .name = "revision", .kind = FIELD_INT, .offset = VERSION_FIELD(revision),        \
        .summary = "the ETag's number"                                                   \
    }
static const struct field head_fields[] = {VERSION_HEAD};
const struct schema schema_agent_version_head = {
    "AgentVersionHead", head_fields, COUNT_OF(head_fields), sizeof(struct agent_version), 0};
static const struct field version_fields[] = {
    VERSION_HEAD,
    PART_FIELD(PART_SYSTEM_PROMPT, "system_prompt", FIELD_OBJECT),
    {.name = "workflow_graph",
        .kind = FIELD_OBJECT,
        .flags = FIELD_NULLABLE,
        .offset = VERSION_FIELD(parts[PART_WORKFLOW_GRAPH])},
    PART_FIELD(PART_MEMORY_CONFIG, "memory_config", FIELD_OBJECT),
    PART_FIELD(PART_GUARDRAIL_CONFIG, "guardrail_config", FIELD_OBJECT),
    PART_FIELD(PART_LLM_CONFIG, "llm_config", FIELD_OBJECT),
    PART_FIELD(PART_EXECUTION_CONFIG, "execution_config", FIELD_OBJECT),
    PART_FIELD(PART_TOOLS, "tools", FIELD_ARRAY),
};
const struct schema schema_agent_version = {
    "AgentVersion", version_fields, COUNT_OF(version_fields), sizeof(struct agent_version), 0};

#define DRAFT_FIELD(member) offsetof(struct agent_version_draft, member)
#define NOTE_FIELD                                                                             \
    {                                                                                          \
        .name = "description", .kind = FIELD_STRING, .flags = FIELD_OPTIONAL | FIELD_NULLABLE, \
        .offset = DRAFT_FIELD(description), .max = VERSION_NOTE_MAX_BYTES,                     \
        .summary = "what is new in it"                                                         \
    }
static const struct field draft_fields[] = {
    {.name = "version",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = DRAFT_FIELD(version),
        .min = 1,
        .max = SEMVER_MAX_BYTES,
        .summary = "a semantic version greater than all of the agent's; or else bump"},
    {.name = "bump",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = DRAFT_FIELD(bump),
        .choices = agent_version_bumps,
        .summary = "which number of the newest version to raise"},
    NOTE_FIELD,
    {.name = "activate",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = DRAFT_FIELD(activate),
        .has_offset = DRAFT_FIELD(has_activate),
        .summary = "make it the active one at once; false unless told"},
    DEFINITION_FIELDS(struct agent_version_draft, definition),
};
const struct schema schema_agent_version_create = {"AgentVersionCreate", draft_fields,
    COUNT_OF(draft_fields), sizeof(struct agent_version_draft), 0};
static const struct field patch_fields[] = {
    NOTE_FIELD, DEFINITION_FIELDS(struct agent_version_draft, definition)};
const struct schema schema_agent_version_patch = {"AgentVersionPatch", patch_fields,
    COUNT_OF(patch_fields), sizeof(struct agent_version_draft), 0};

static const struct field diff_field_fields[] = {
    {.name = "field", .kind = FIELD_STRING, .offset = offsetof(struct agent_diff_field, field)},
    {.name = "change",
        .kind = FIELD_STRING,
        .offset = offsetof(struct agent_diff_field, change),
        .summary = "added, removed or changed"},
    {.name = "operations",
        .kind = FIELD_INT,
        .offset = offsetof(struct agent_diff_field, operations)},
};
static const struct schema schema_diff_field = {"AgentDiffField", diff_field_fields,
    COUNT_OF(diff_field_fields), sizeof(struct agent_diff_field), 0};
static const struct field diff_fields[] = {
    {.name = "from", .kind = FIELD_STRING, .offset = offsetof(struct agent_diff, from)},
    {.name = "to", .kind = FIELD_STRING, .offset = offsetof(struct agent_diff, to)},
    {.name = "fields",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct agent_diff, fields),
        .nested = &schema_diff_field,
        .summary = "the parts that differ"},
    {.name = "patch",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = offsetof(struct agent_diff, patch),
        .summary = "a JSON Patch from the one definition to the other"},
};
const struct schema schema_agent_diff = {
    "AgentDiff", diff_fields, COUNT_OF(diff_fields), sizeof(struct agent_diff), 0};

struct versions_query {
    struct page_query page;
};
static const struct field versions_query_fields[] = {PAGE_FIELDS(struct versions_query)};
const struct schema query_agent_versions = {"AgentVersionsQuery", versions_query_fields,
    COUNT_OF(versions_query_fields), sizeof(struct versions_query), 0};

/* --- Reading -------------------------------------------------------------------------------- */

static void answer(struct call *call, const struct agent_version *version)
{
    call_answer(call, &schema_agent_version, version, version->revision);
}

static struct str cursor_of(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct agent_version *)item)->number);
}

enum error handle_agent_version_list(struct call *call, struct context *c)
{
    const struct versions_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct agent_version *versions = ARENA_ARRAY(call->arena, struct agent_version, limit);
    int64_t before;
    bool more;
    enum error e = cursor_to_number(call, q->page.cursor, &before);
    if (e == OK)
        e = agent_version_list(c, call->request.params[0], before, limit, versions, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_agent_version_head, versions, count, more, cursor_of);
    return e;
}

enum error handle_agent_version_get(struct call *call, struct context *c)
{
    struct agent_version version;
    enum error e = agent_version_get(c, call->request.params[0], call->request.texts[1], &version);
    if (e == OK)
        answer(call, &version);
    return e;
}

enum error handle_agent_version_diff(struct call *call, struct context *c)
{
    struct agent_diff diff;
    enum error e = agent_version_diff(
        c, call->request.params[0], call->request.texts[1], call->request.texts[2], &diff);
    if (e == OK)
        call_answer(call, &schema_agent_diff, &diff, 0);
    return e;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* Null counts as given: it brings back the default. */
static unsigned given_parts(const struct call *call)
{
    struct json unused;
    unsigned parts = 0;
    for (int i = 0; i < AGENT_PARTS; i++)
        if (json_get(json_root(&call->request.doc), str_of(agent_part_names[i]), &unused))
            parts |= 1U << i;
    return parts;
}

enum error handle_agent_version_create(struct call *call, struct context *c)
{
    struct agent_version_draft draft = *(const struct agent_version_draft *)call->request.input;
    struct agent_version version;
    draft.parts = given_parts(call);
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_version_create(c, call->request.params[0], &draft, &version);
    if (e == OK)
        answer(call, &version);
    return e;
}

enum error handle_agent_version_patch(struct call *call, struct context *c)
{
    struct agent_version before, after;
    struct agent_version_draft old = {0}, new;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_lock(c, call->request.params[0]);
    if (e == OK)
        e = agent_version_get(c, call->request.params[0], call->request.texts[1], &before);
    if (e == OK)
        e = context_check_match(c, before.revision);
    if (e == OK)
        e = agent_definition_read(c, before.parts, &old.definition);
    if (e != OK)
        return e;
    old.description = before.description;
    e = call_apply_patch(call, &old, &new);
    if (e == OK)
        e = agent_version_update(c, &before, &new.definition, new.description, &after);
    if (e == OK)
        answer(call, &after);
    return e;
}

static enum error answer_agent(struct call *call, enum error e, const struct agent *agent)
{
    if (e == OK)
        call_answer(call, &schema_agent, agent, agent->revision);
    return e;
}

enum error handle_agent_version_activate(struct call *call, struct context *c)
{
    struct agent agent;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_version_activate(c, call->request.params[0], call->request.texts[1], &agent);
    return answer_agent(call, e, &agent);
}

enum error handle_agent_rollback(struct call *call, struct context *c)
{
    struct agent agent;
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_version_rollback(c, call->request.params[0], &agent);
    return answer_agent(call, e, &agent);
}
