/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: whom a team or a workflow is made of. A link leads from a parent to a child, with the role
 * of the child and its place among the others. No way along the links leads back to where it began,
 * and none is longer than AGENT_LINK_DEPTH_MAX. All links of a tenant change one at a time, under
 * the tenant's lock: whether there is a cycle is a question about all of them.
 */
#ifndef MODEL_AGENTS_AGENT_LINKS_H
#define MODEL_AGENTS_AGENT_LINKS_H

#include "base/schema.h"
#include "model/agents/agents.h"

enum {
    AGENT_LINK_DEPTH_MAX = 16,
    AGENT_CHILDREN_MAX = 256,
    AGENT_LINKS_BELOW_MAX = 10 * 1000, /* below an agent that becomes somebody's child */
    AGENT_ROLE_NAME_MAX_BYTES = 200,
    AGENT_LINK_METADATA_MAX_BYTES = 16 * 1024, /* so that a page is no larger than others */
    AGENT_TREE_MAX_NODES = 2000,
};

struct agent_link {
    struct uuid parent_id;
    struct uuid child_id;
    struct str child_name;
    enum agent_kind child_kind;
    struct str role; /* "member" unless told */
    bool has_position;
    int64_t position;         /* behind the others unless told */
    struct str child_version; /* none: the active one */
    struct str metadata;      /* compact JSON */
    int64_t created_at;
    int64_t updated_at;
    int64_t revision;
};

/*
 * Makes the link from link->parent_id to link->child_id, or replaces it. ERR_NOT_FOUND: one of the
 * two is not there; ERR_CONFLICT: the parent is of a kind without children, or has the most of
 * them; ERR_INVALID: the child's version is not there, or a rule of this module would be broken.
 */
MUST_CHECK enum error agent_link_put(struct context *c, struct agent_link *link, bool *out_is_new);
MUST_CHECK enum error agent_link_get(
    struct context *c, struct uuid parent_id, struct uuid child_id, struct agent_link *out_link);
MUST_CHECK enum error agent_link_delete(
    struct context *c, struct uuid parent_id, struct uuid child_id);

/* Where a page goes on: behind this position and child. */
struct agent_link_mark {
    bool is_set;
    int64_t position;
    struct uuid child_id;
};
MUST_CHECK enum error agent_link_list(struct context *c, struct uuid parent_id,
    const struct agent_link_mark *after, struct page *page, struct agent_link *out_links);

/* An agent and whom it is made of; `children` are the trees of its children, as compact JSON. */
struct agent_tree {
    struct uuid id;
    struct str name;
    enum agent_kind kind;
    struct str version;
    struct str role; /* none at the root */
    bool has_position;
    int64_t position;
    struct str children;
    bool truncated; /* at the root: there are more than AGENT_TREE_MAX_NODES */
};
extern const struct schema schema_agent_tree;
MUST_CHECK enum error agent_tree(
    struct context *c, struct uuid agent_id, struct agent_tree *out_tree);

/* --- For the two files of this module ------------------------------------------------------- */

/* A link below some agent, with what a tree shows of the child. */
struct agent_branch {
    struct uuid parent_id;
    struct agent_tree child;
};
struct agent_branches {
    struct agent_branch *items; /* those of one parent together, in their order */
    size_t count;
    bool more; /* than AGENT_LINKS_BELOW_MAX */
};
MUST_CHECK enum error agent_branches_below(
    struct context *c, struct uuid agent_id, struct agent_branches *out_branches);
/* The first link of this parent, and the one behind its last. */
void agent_branches_of(const struct agent_branches *branches, struct uuid parent_id,
    size_t *out_first, size_t *out_end);

#endif
