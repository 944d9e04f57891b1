/* SPDX-License-Identifier: Apache-2.0 */
/* Links of agents: the members of teams and workflows. */
#include "api/handlers.h"
#include "base/semver.h"
#include "model/agents/agent_links.h"

#define OF struct agent_link
static const struct field link_fields[] = {
    FIELD(UUID, parent_id, IN_READ),
    FIELD(UUID, child_id, IN_READ),
    FIELD(STRING, child_name, IN_READ),
    FIELD(ENUM, child_kind, IN_READ, .choices = agent_kinds),
    FIELD(STRING_OR_NONE, role, IN_BODY | IN_READ, "role of the child; default: member", .min = 1,
        .max = AGENT_ROLE_NAME_MAX_BYTES),
    FIELD(INT_OR_NONE, position, IN_BODY | IN_READ,
        "position among the children; default: after the last one", .max = INT32_MAX),
    FIELD(STRING_OR_NULL, child_version, IN_BODY | IN_READ,
        "version of the child; null: the active version", .max = SEMVER_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, metadata, IN_BODY | IN_READ, .max = AGENT_LINK_METADATA_MAX_BYTES),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(INT, revision, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_agent_link =
    SCHEMA("AgentLink", struct agent_link, link_fields, IN_READ);
const struct schema schema_agent_link_body =
    SCHEMA("AgentLinkBody", struct agent_link, link_fields, IN_BODY);

/* --- Reading ------------------------------------------------------------------------------- */

/* "POSITION:CHILD" */
static struct str cursor_of(struct arena *arena, const struct agent_link *link)
{
    char id[UUID_TEXT_LEN];
    uuid_format(link->child_id, id);
    return cursor_from_text(
        arena, arena_printf(arena, "%lld:%.*s", (long long)link->position, UUID_TEXT_LEN, id));
}

static enum error read_cursor(
    struct call *call, struct str cursor, struct agent_link_mark *out_mark)
{
    struct str text, position;
    *out_mark = (struct agent_link_mark){0};
    TRY(cursor_to_text(call, cursor, &text));
    if (str_is_none(text))
        return OK;
    out_mark->is_set = true;
    if (!str_next_part(&text, ':', &position) || !str_to_i64(position, &out_mark->position) ||
        str_is_none(text) || !uuid_parse(text, &out_mark->child_id))
        return cursor_refused(call);
    return OK;
}

enum error handle_agent_link_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct agent_link *links = ARENA_ARRAY(call->arena, struct agent_link, page.limit);
    struct agent_link_mark after;
    TRY(read_cursor(call, q->page.cursor, &after));
    TRY(agent_link_list(c, call->request.params[0], &after, &page, links));
    return call_answer_list(call, &schema_agent_link, links, &page,
        page.more ? cursor_of(call->arena, &links[page.count - 1]) : STR_NONE);
}

enum error handle_agent_link_get(struct call *call, struct context *c)
{
    struct agent_link link;
    TRY(agent_link_get(c, call->request.params[0], call->request.params[1], &link));
    return call_answer(call, &schema_agent_link, &link, link.revision);
}

enum error handle_agent_tree(struct call *call, struct context *c)
{
    struct agent_tree tree;
    TRY(agent_tree(c, call->request.params[0], &tree));
    return call_answer(call, &schema_agent_tree, &tree, 0);
}

/* --- Writing ------------------------------------------------------------------------------- */

enum error handle_agent_link_put(struct call *call, struct context *c)
{
    struct agent_link link = {0};
    bool is_new = false;
    if (call->request.input != NULL)
        link = *(const struct agent_link *)call->request.input;
    link.parent_id = call->request.params[0];
    link.child_id = call->request.params[1];
    TRY(agent_allow_tenant(c));
    TRY(agent_link_put(c, &link, &is_new));
    if (is_new)
        call->answer.status = 201;
    return call_answer(call, &schema_agent_link, &link, link.revision);
}

enum error handle_agent_link_delete(struct call *call, struct context *c)
{
    TRY(agent_allow_tenant(c));
    TRY(agent_link_delete(c, call->request.params[0], call->request.params[1]));
    return call_answer_nothing(call);
}
