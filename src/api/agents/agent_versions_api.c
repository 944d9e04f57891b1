/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of agents: their definitions, the active one, and the differences between two. */
#include "api/agents/agent_versions_api.h"

#include "api/handlers.h"
#include "api/http/echo.h"
#include "base/semver.h"
#include "model/agents/agent_versions.h"

enum { VERSION_NOTE_MAX_BYTES = AGENT_DESCRIPTION_MAX_BYTES };

enum { IN_PARTS = IN_SHOWN(0) };
#define OF struct agent_version
static const struct field version_fields[] = {
    FIELD(UUID, agent_id, IN_READ),
    FIELD(STRING, version, IN_READ),
    FIELD(INT, number, IN_READ, "order of creation, from 1"),
    FIELD(BOOL, is_active, IN_READ, "true if new runs use this version"),
    FIELD(STRING_OR_NULL, description, IN_READ),
    FIELD(STRING_OR_NULL, created_by, IN_READ,
        "principal of the request; null for a key of the whole tenant"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(TIME_OR_NULL, used_at, IN_READ,
        "start of the first run; from then on the version cannot change"),
    FIELD(INT, revision, IN_READ, "number in the ETag"),
    FIELD_AS(
        OBJECT_OR_NULL, "system_prompt", parts[PART_SYSTEM_PROMPT], IN_PARTS, .hide_none = true),
    FIELD_AS(OBJECT_OR_NULL, "workflow_graph", parts[PART_WORKFLOW_GRAPH], IN_PARTS),
    FIELD_AS(
        OBJECT_OR_NULL, "memory_config", parts[PART_MEMORY_CONFIG], IN_PARTS, .hide_none = true),
    FIELD_AS(OBJECT_OR_NULL, "guardrail_config", parts[PART_GUARDRAIL_CONFIG], IN_PARTS,
        .hide_none = true),
    FIELD_AS(OBJECT_OR_NULL, "llm_config", parts[PART_LLM_CONFIG], IN_PARTS, .hide_none = true),
    FIELD_AS(OBJECT_OR_NULL, "execution_config", parts[PART_EXECUTION_CONFIG], IN_PARTS,
        .hide_none = true),
    FIELD_AS(ARRAY_OR_NULL, "tools", parts[PART_TOOLS], IN_PARTS, .hide_none = true),
};
#undef OF
const struct schema schema_agent_version_head =
    SCHEMA("AgentVersionHead", struct agent_version, version_fields, IN_READ);
const struct schema schema_agent_definition =
    SCHEMA("AgentDefinition", struct agent_version, version_fields, IN_PARTS);
const struct schema schema_agent_version =
    SCHEMA("AgentVersion", struct agent_version, version_fields, IN_READ | IN_PARTS);

#define OF struct agent_version_draft
static const struct field draft_fields[] = {
    FIELD(STRING_OR_NONE, version, IN_BODY,
        "semantic version, greater than all versions of the agent; alternative to bump", .min = 1,
        .max = SEMVER_MAX_BYTES, .hide_none = true),
    FIELD(ENUM_OR_NONE, bump, IN_BODY, "number of the newest version to increase",
        .choices = semver_bumps, .hide_none = true),
    FIELD(STRING_OR_NULL, description, IN_BODY | IN_PATCH, "description of the changes",
        .max = VERSION_NOTE_MAX_BYTES),
    FIELD(BOOL_OR_NONE, activate, IN_BODY, "activate the version at once; default: false",
        .hide_none = true),
    DEFINITION_FIELDS(definition, IN_BODY | IN_PATCH),
};
#undef OF
const struct schema schema_agent_version_create =
    SCHEMA("AgentVersionCreate", struct agent_version_draft, draft_fields, IN_BODY);
const struct schema schema_agent_version_patch =
    SCHEMA("AgentVersionPatch", struct agent_version_draft, draft_fields, IN_PATCH);

#define OF struct agent_diff_field
static const struct field diff_field_fields[] = {
    FIELD(STRING, field, IN_READ),
    FIELD(STRING, change, IN_READ, "added, removed or changed"),
    FIELD(INT, operations, IN_READ),
};
#undef OF
static const struct schema schema_diff_field =
    SCHEMA("AgentDiffField", struct agent_diff_field, diff_field_fields, IN_READ);
#define OF struct agent_diff
static const struct field diff_fields[] = {
    FIELD(STRING, from, IN_READ),
    FIELD(STRING, to, IN_READ),
    FIELD(
        LIST, fields, IN_READ, "parts of the definition that differ", .nested = &schema_diff_field),
    FIELD(ARRAY, patch, IN_READ, "JSON Patch that turns one definition into the other",
        .items = "object"),
};
#undef OF
const struct schema schema_agent_diff =
    SCHEMA("AgentDiff", struct agent_diff, diff_fields, IN_READ);

/* --- Reading ------------------------------------------------------------------------------- */

static enum error answer(struct call *call, const struct agent_version *version)
{
    return call_answer(call, &schema_agent_version, version, version->revision);
}

enum error handle_agent_version_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct agent_version *versions = ARENA_ARRAY(call->arena, struct agent_version, page.limit);
    int64_t before;
    TRY(cursor_to_number(call, q->page.cursor, &before));
    TRY(agent_version_list(c, call->request.params[0], before, &page, versions));
    return call_answer_page(
        call, &schema_agent_version_head, versions, &page, CURSOR_BY(struct agent_version, number));
}

enum error handle_agent_version_get(struct call *call, struct context *c)
{
    struct agent_version version;
    TRY(agent_version_show(c, call->request.params[0], call->request.texts[1], &version));
    return answer(call, &version);
}

enum error handle_agent_version_diff(struct call *call, struct context *c)
{
    struct agent_diff diff;
    TRY(agent_version_diff(
        c, call->request.params[0], call->request.texts[1], call->request.texts[2], &diff));
    return call_answer(call, &schema_agent_diff, &diff, 0);
}

/* --- Writing ------------------------------------------------------------------------------- */

/* A part that is null counts as given: it returns to the default. */
static unsigned given_parts(const struct call *call)
{
    unsigned parts = 0;
    for (int i = 0; i < AGENT_PARTS; i++)
        if (call_member(call, agent_part_names[i]) != MEMBER_ABSENT)
            parts |= 1U << i;
    return parts;
}

/* The members that only Cairn sets are those of a version that was read: its number tells which,
 * and the newest one without it. Its semantic version is not that of the new one beside a bump. */
static enum error compare_read(
    struct call *call, struct context *c, struct uuid agent_id, struct agent_version_draft *draft)
{
    struct agent_version read;
    struct page page = {.limit = 1};
    struct json number;
    int64_t at = 0;
    if (!call->request.has_echo)
        return OK;
    if (!json_get(json_root(&call->request.echo), STR("number"), &number) ||
        !json_to_i64(number, &at) || at < 0 || at > AGENT_VERSIONS_MAX)
        at = 0;
    TRY(agent_version_list(c, agent_id, at > 0 ? at + 1 : 0, &page, &read));
    TRY(echo_compare_with(call, &schema_agent_version_head, page.count > 0 ? &read : NULL));
    if (draft->bump != SEMVER_BUMP_NONE && str_eq(draft->version, read.version))
        draft->version = STR_NONE;
    return OK;
}

enum error handle_agent_version_create(struct call *call, struct context *c)
{
    struct uuid agent_id = call->request.params[0];
    struct agent_version_draft merged, newest = {0};
    struct agent_version version;
    bool has_newest = false;
    TRY(agent_allow_tenant(c));
    TRY(agent_lock(c, agent_id));
    TRY(agent_version_find_newest(c, agent_id, &has_newest, &version));
    if (has_newest)
        TRY(agent_definition_read(c, version.parts, &newest.definition));
    TRY(call_apply_patch(call, &newest, &merged));
    TRY(compare_read(call, c, agent_id, &merged));
    merged.parts = given_parts(call);
    TRY(agent_version_create(c, agent_id, &merged, &version));
    return answer(call, &version);
}

enum error handle_agent_version_patch(struct call *call, struct context *c)
{
    struct agent_version before, after;
    struct agent_version_draft old = {0}, new;
    TRY(agent_allow_tenant(c));
    TRY(agent_lock(c, call->request.params[0]));
    TRY(agent_version_get(c, call->request.params[0], call->request.texts[1], &before));
    TRY(context_check_match(c, before.revision));
    TRY(agent_definition_read(c, before.parts, &old.definition));
    old.description = before.description;
    TRY(call_apply_patch(call, &old, &new));
    TRY(agent_version_update(c, &before, &new.definition, new.description, &after));
    return answer(call, &after);
}

static enum error answer_agent(struct call *call, enum error e, const struct agent *agent)
{
    return e == OK ? call_answer(call, &schema_agent, agent, agent->revision) : e;
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
