/* SPDX-License-Identifier: Apache-2.0 */
/* Links of agents: whom a team or a workflow is made of. */
#include "api/resources.h"
#include "base/semver.h"
#include "model/agents/agent_links.h"

#define LINK_FIELD(member) offsetof(struct agent_link, member)
enum { LINK_BODY_FIRST = 4, LINK_BODY_FIELDS = 4 };
static const struct field link_fields[] = {
    {.name = "parent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(parent_id)},
    {.name = "child_id",
        .kind = FIELD_UUID,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(child_id)},
    {.name = "child_name",
        .kind = FIELD_STRING,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(child_name)},
    {.name = "child_kind",
        .kind = FIELD_ENUM,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(child_kind),
        .choices = agent_kinds},
    {.name = "role",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = LINK_FIELD(role),
        .min = 1,
        .max = AGENT_ROLE_NAME_MAX_BYTES,
        .summary = "what the child is there; member unless told"},
    {.name = "position",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = LINK_FIELD(position),
        .has_offset = LINK_FIELD(has_position),
        .max = INT32_MAX,
        .summary = "its place among the children; behind the others unless told"},
    {.name = "child_version",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = LINK_FIELD(child_version),
        .max = SEMVER_MAX_BYTES,
        .summary = "a version of the child; null: its active one"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = LINK_FIELD(metadata),
        .max = AGENT_LINK_METADATA_MAX_BYTES},
    {.name = "created_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(created_at)},
    {.name = "updated_at",
        .kind = FIELD_TIME,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(updated_at)},
    {.name = "revision",
        .kind = FIELD_INT,
        .flags = FIELD_READ_ONLY,
        .offset = LINK_FIELD(revision),
        .summary = "the ETag's number"},
};
const struct schema schema_agent_link = {
    "AgentLink", link_fields, COUNT_OF(link_fields), sizeof(struct agent_link), 0};
const struct schema schema_agent_link_body = {
    "AgentLinkBody", &link_fields[LINK_BODY_FIRST], LINK_BODY_FIELDS, sizeof(struct agent_link), 0};

struct links_query {
    struct page_query page;
};
static const struct field links_query_fields[] = {PAGE_FIELDS(struct links_query)};
const struct schema query_agent_links = {"AgentLinksQuery", links_query_fields,
    COUNT_OF(links_query_fields), sizeof(struct links_query), 0};

/* --- Reading -------------------------------------------------------------------------------- */

/* "POSITION:CHILD" */
static struct str cursor_of(struct arena *arena, const void *item)
{
    const struct agent_link *link = item;
    char id[UUID_TEXT_LEN];
    uuid_format(link->child_id, id);
    return cursor_from_text(
        arena, arena_printf(arena, "%lld:%.*s", (long long)link->position, UUID_TEXT_LEN, id));
}

static enum error read_cursor(
    struct call *call, struct str cursor, struct agent_link_mark *out_mark)
{
    struct str text = STR_NONE, position;
    *out_mark = (struct agent_link_mark){0};
    enum error e = cursor_to_text(call, cursor, &text);
    if (e != OK || str_is_none(text))
        return e;
    out_mark->is_set = true;
    if (!str_next_part(&text, ':', &position) || !str_to_i64(position, &out_mark->position) ||
        str_is_none(text) || !uuid_parse(text, &out_mark->child_id))
        return cursor_refused(call);
    return OK;
}

enum error handle_agent_link_list(struct call *call, struct context *c)
{
    const struct links_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct agent_link *links = ARENA_ARRAY(call->arena, struct agent_link, limit);
    struct agent_link_mark after;
    bool more;
    enum error e = read_cursor(call, q->page.cursor, &after);
    if (e == OK)
        e = agent_link_list(c, call->request.params[0], &after, limit, links, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_agent_link, links, count, more, cursor_of);
    return e;
}

enum error handle_agent_link_get(struct call *call, struct context *c)
{
    struct agent_link link;
    enum error e = agent_link_get(c, call->request.params[0], call->request.params[1], &link);
    if (e == OK)
        call_answer(call, &schema_agent_link, &link, link.revision);
    return e;
}

enum error handle_agent_tree(struct call *call, struct context *c)
{
    struct agent_tree tree;
    enum error e = agent_tree(c, call->request.params[0], &tree);
    if (e == OK)
        call_answer(call, &schema_agent_tree, &tree, 0);
    return e;
}

/* --- Writing -------------------------------------------------------------------------------- */

enum error handle_agent_link_put(struct call *call, struct context *c)
{
    struct agent_link link = {0};
    bool is_new = false;
    if (call->request.input != NULL)
        link = *(const struct agent_link *)call->request.input;
    link.parent_id = call->request.params[0];
    link.child_id = call->request.params[1];
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_link_put(c, &link, &is_new);
    if (e != OK)
        return e;
    if (is_new)
        call->answer.status = 201;
    call_answer(call, &schema_agent_link, &link, link.revision);
    return OK;
}

enum error handle_agent_link_delete(struct call *call, struct context *c)
{
    enum error e = agent_allow_tenant(c);
    if (e == OK)
        e = agent_link_delete(c, call->request.params[0], call->request.params[1]);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}
