/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agent_links.h"

#include "base/json/json.h"
#include "model/agents/agent_links.sql.h"
#include "model/agents/agent_versions.h"

/* --- Reading -------------------------------------------------------------------------------- */

static enum error find(struct context *c, struct uuid parent_id, struct uuid child_id,
    struct agent_link *out_link, bool *out_found)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_LINK_GET);
    query_uuid(&q, id, parent_id);
    query_uuid(&q, child_id, child_id);
    return agent_link_read_one(&q, out_found, out_link);
}

static enum error no_link(struct context *c, struct uuid child_id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(child_id, text);
    return problem_set(
        c->problem, ERR_NOT_FOUND, "the agent has no link to the agent %.*s", UUID_TEXT_LEN, text);
}

enum error agent_link_get(
    struct context *c, struct uuid parent_id, struct uuid child_id, struct agent_link *out_link)
{
    struct agent parent;
    bool found = false;
    TRY(agent_get(c, parent_id, &parent));
    TRY(find(c, parent_id, child_id, out_link, &found));
    return !found ? no_link(c, child_id) : OK;
}

enum error agent_link_list(struct context *c, struct uuid parent_id,
    const struct agent_link_mark *after, struct page *page, struct agent_link *out_links)
{
    struct agent parent;
    struct query q;
    TRY(agent_get(c, parent_id, &parent));
    page_begin(c, &q, &SQL_AGENT_LINK_LIST, page);
    query_uuid(&q, id, parent_id);
    query_i64(&q, position, after->is_set ? after->position : -1);
    query_uuid(&q, child_id, after->child_id);
    return agent_link_read_page(&q, page, out_links);
}

/* --- Checks of a new link ------------------------------------------------------------------- */

/* Searches the descendants of the child for the parent, and measures their depth. The result for
 * each agent is stored at its first link, so that every agent is visited once. */
struct search {
    struct context *c;
    const struct agent_branches *branches;
    struct uuid wanted;
    int *heights; /* indexed by the first link of an agent; 0: not visited */
    struct str path[AGENT_LINK_DEPTH_MAX + 2];
    int path_len; /* 0: the agent was not found */
};

/* Returns the length of the longest path below the agent; -1 if the wanted agent is below it: then
 * the path is set. */
static int height_of(struct search *s, struct uuid id, struct str name, int depth)
{
    size_t first, end;
    int height = 0;
    s->path[depth] = name;
    if (uuid_eq(id, s->wanted)) {
        s->path_len = depth + 1;
        return -1;
    }
    agent_branches_of(s->branches, id, &first, &end);
    if (first == end || depth > AGENT_LINK_DEPTH_MAX)
        return 0;
    if (s->heights[first] != 0)
        return s->heights[first];
    for (size_t i = first; i < end; i++) {
        const struct agent_tree *child = &s->branches->items[i].child;
        int below = height_of(s, child->id, child->name, depth + 1);
        if (below < 0)
            return -1;
        if (below + 1 > height)
            height = below + 1;
    }
    s->heights[first] = height;
    return height;
}

static enum error tell_cycle(struct search *s, struct str parent)
{
    struct str way = arena_printf(s->c->arena, "\"%.*s\"", STR_ARG(parent));
    for (int i = 0; i < s->path_len; i++)
        way = arena_printf(s->c->arena, "%.*s > \"%.*s\"", STR_ARG(way), STR_ARG(s->path[i]));
    return problem_fault(
        s->c->problem, STR("child_id"), "must not create a cycle: %.*s", STR_ARG(way));
}

static enum error depth_above(struct context *c, struct uuid id, int64_t *out_depth)
{
    struct query q;
    context_query(c, &q, &SQL_AGENT_LINKS_ABOVE);
    query_uuid(&q, id, id);
    query_i64(&q, depth, AGENT_LINK_DEPTH_MAX + 1);
    return context_number(&q, out_depth);
}

static enum error check_shape(
    struct context *c, const struct agent *parent, const struct agent *child)
{
    struct agent_branches branches;
    int64_t above = 0;
    TRY(agent_branches_below(c, child->id, &branches));
    TRY(depth_above(c, parent->id, &above));
    if (branches.more)
        return problem_fault(c->problem, STR("child_id"), "must have at most %d links below it",
            AGENT_LINKS_BELOW_MAX);
    struct search s = {.c = c,
        .branches = &branches,
        .wanted = parent->id,
        .heights = ARENA_ARRAY(c->arena, int, branches.count + 1)};
    int below = height_of(&s, child->id, child->name, 0);
    if (below < 0)
        return tell_cycle(&s, parent->name);
    if (above + 1 + below > AGENT_LINK_DEPTH_MAX)
        return problem_fault(c->problem, STR("child_id"),
            "would create a chain of %lld links; the limit is %d", (long long)above + 1 + below,
            AGENT_LINK_DEPTH_MAX);
    return OK;
}

static enum error number_of(
    struct context *c, const struct sql_statement *statement, struct uuid id, int64_t *out_number)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, id, id);
    return context_number(&q, out_number);
}

static enum error check_child_version(struct context *c, const struct agent_link *link)
{
    struct query q;
    int64_t count = 0;
    if (str_is_none(link->child_version))
        return OK;
    context_query(c, &q, &SQL_AGENT_VERSION_EXISTS);
    query_uuid(&q, child_id, link->child_id);
    query_text(&q, child_version, link->child_version);
    TRY(context_number(&q, &count));
    if (count == 0)
        return problem_fault(c->problem, STR("/child_version"),
            "must be a version of the child, not \"%.*s\"", STR_ARG(link->child_version));
    return OK;
}

static enum error check_room(struct context *c, struct uuid parent_id)
{
    int64_t count = 0;
    TRY(number_of(c, &SQL_AGENT_LINK_COUNT, parent_id, &count));
    if (count >= AGENT_CHILDREN_MAX)
        return problem_set(
            c->problem, ERR_CONFLICT, "an agent can have at most %d children", AGENT_CHILDREN_MAX);
    return OK;
}

/* --- Changes -------------------------------------------------------------------------------- */

static enum error write_row(
    struct context *c, const struct sql_statement *statement, const struct agent_link *link)
{
    struct query q;
    context_query(c, &q, statement);
    agent_link_bind(&q, link);
    query_uuid(&q, id, link->parent_id);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

static enum error check_ends(struct context *c, const struct agent_link *link,
    struct agent *out_parent, struct agent *out_child)
{
    TRY(agent_get(c, link->parent_id, out_parent));
    TRY(agent_get(c, link->child_id, out_child));
    if (out_parent->kind == AGENT_KIND_AGENT)
        return problem_set(c->problem, ERR_CONFLICT,
            "\"%.*s\" has the kind agent: only a team or a workflow can have children",
            STR_ARG(out_parent->name));
    return OK;
}

/* Sets absent members to the previous ones, or to the defaults. */
static enum error fill_in(
    struct context *c, bool is_new, const struct agent_link *before, struct agent_link *link)
{
    if (str_is_none(link->role))
        link->role = is_new ? STR("member") : before->role;
    if (str_is_none(link->metadata))
        link->metadata = is_new ? STR("{}") : before->metadata;
    if (link->has_position)
        return OK;
    link->has_position = true;
    link->position = before->position;
    return is_new ? number_of(c, &SQL_AGENT_LINK_NEXT_POSITION, link->parent_id, &link->position)
                  : OK;
}

enum error agent_link_put(struct context *c, struct agent_link *link, bool *out_is_new)
{
    struct agent parent, child;
    struct agent_link before = {0};
    bool found = false;
    TRY(context_lock_tenant(c));
    TRY(check_ends(c, link, &parent, &child));
    TRY(find(c, link->parent_id, link->child_id, &before, &found));
    TRY(context_check_match(c, before.revision));
    TRY(check_child_version(c, link));
    if (!found)
        TRY(check_shape(c, &parent, &child));
    if (!found)
        TRY(check_room(c, link->parent_id));
    TRY(fill_in(c, !found, &before, link));
    TRY(write_row(c, found ? &SQL_AGENT_LINK_UPDATE : &SQL_AGENT_LINK_INSERT, link));
    *out_is_new = !found;
    return agent_link_get(c, link->parent_id, link->child_id, link);
}

enum error agent_link_delete(struct context *c, struct uuid parent_id, struct uuid child_id)
{
    struct agent_link link;
    struct query q;
    TRY(context_lock_tenant(c));
    TRY(agent_link_get(c, parent_id, child_id, &link));
    TRY(context_check_match(c, link.revision));
    context_query(c, &q, &SQL_AGENT_LINK_DELETE);
    query_uuid(&q, id, parent_id);
    query_uuid(&q, child_id, child_id);
    return query_run(&q);
}
