/* SPDX-License-Identifier: Apache-2.0 */
/* The links below an agent, as a list and as a tree. */
#include "base/schema_fields.h"
#include "model/agents/agent_links.h"
#include "model/agents/agent_links.sql.h"

enum { IN_ROOT = IN_SHOWN(0) };
#define OF struct agent_tree
static const struct field tree_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(STRING, name, IN_READ),
    FIELD(ENUM, kind, IN_READ, .choices = agent_kinds),
    FIELD(STRING_OR_NULL, version, IN_READ, "version that the link names, or the active version"),
    FIELD(STRING_OR_NULL, role, IN_READ),
    FIELD(INT_OR_NULL, position, IN_READ),
    FIELD(ARRAY, children, IN_READ, "trees of the children, with the same members except truncated",
        .items = "object"),
    FIELD(BOOL, truncated, IN_ROOT, "true if the tree is larger than the answer"),
};
#undef OF
const struct schema schema_agent_tree =
    SCHEMA("AgentTree", struct agent_tree, tree_fields, IN_READ | IN_ROOT);
static const struct schema schema_node =
    SCHEMA("AgentTreeNode", struct agent_tree, tree_fields, IN_READ);

enum { TREE_MAX_BYTES = 16 * 1024 * 1024 };

/* --- The links ------------------------------------------------------------------------------ */

enum error agent_branches_below(
    struct context *c, struct uuid agent_id, struct agent_branches *out_branches)
{
    struct query q;
    struct agent_branches branches = {0};
    size_t room = 0;
    context_query(c, &q, &SQL_AGENT_BRANCHES);
    query_uuid(&q, id, agent_id);
    query_i64(&q, limit, AGENT_LINKS_BELOW_MAX + 1);
    while (query_next(&q)) {
        if (branches.count == room) {
            room = room == 0 ? 64 : 2 * room;
            struct agent_branch *more = ARENA_ARRAY(c->arena, struct agent_branch, room);
            if (branches.count > 0)
                memcpy(more, branches.items, branches.count * sizeof *more);
            branches.items = more;
        }
        agent_branch_read(&q, &branches.items[branches.count++]);
    }
    if (branches.count > AGENT_LINKS_BELOW_MAX) {
        branches.count = AGENT_LINKS_BELOW_MAX;
        branches.more = true;
    }
    *out_branches = branches;
    return query_end(&q);
}

void agent_branches_of(const struct agent_branches *branches, struct uuid parent_id,
    size_t *out_first, size_t *out_end)
{
    size_t low = 0, high = branches->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (uuid_cmp(branches->items[middle].parent_id, parent_id) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *out_first = low;
    while (low < branches->count && uuid_eq(branches->items[low].parent_id, parent_id))
        low++;
    *out_end = low;
}

/* --- The tree ------------------------------------------------------------------------------- */

struct growth {
    struct context *c;
    const struct agent_branches *branches;
    size_t n_nodes;
    bool truncated;
};

/* Sets the children. */
static void grow(struct growth *g, struct agent_tree *node, int depth)
{
    struct json_text text;
    size_t first, end;
    json_text_init(&text, TREE_MAX_BYTES);
    json_write_array(&text.w);
    agent_branches_of(g->branches, node->id, &first, &end);
    for (size_t i = first; i < end; i++) {
        if (g->n_nodes == AGENT_TREE_MAX_NODES || depth == AGENT_LINK_DEPTH_MAX) {
            g->truncated = true;
            break;
        }
        g->n_nodes++;
        struct agent_tree child = g->branches->items[i].child;
        grow(g, &child, depth + 1);
        schema_encode(&text.w, &schema_node, &child);
    }
    json_write_end(&text.w);
    node->children = json_text_take(&text, g->c->arena);
}

enum error agent_tree(struct context *c, struct uuid agent_id, struct agent_tree *out_tree)
{
    struct agent agent;
    struct agent_branches branches;
    TRY(agent_get(c, agent_id, &agent));
    TRY(agent_branches_below(c, agent_id, &branches));
    struct agent_tree root = {
        .id = agent_id, .name = agent.name, .kind = agent.kind, .version = agent.version};
    struct growth growth = {.c = c, .branches = &branches, .n_nodes = 1};
    grow(&growth, &root, 0);
    root.truncated = growth.truncated || branches.more;
    *out_tree = root;
    return OK;
}
