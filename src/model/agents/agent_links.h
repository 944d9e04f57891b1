/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links: the members of teams and workflows. A link connects a parent with a child, and has the
 * role and the position of the child. Links have no cycles, and no path is longer than
 * AGENT_LINK_DEPTH_MAX. Because a cycle may involve any link of the tenant, every change holds the
 * tenant's lock.
 */
#ifndef MODEL_AGENTS_AGENT_LINKS_H
#define MODEL_AGENTS_AGENT_LINKS_H

#include "base/schema.h"
#include "model/agents/agents.h"

enum {
    AGENT_LINK_DEPTH_MAX = 16,
    AGENT_CHILDREN_MAX = 256,
    AGENT_LINKS_BELOW_MAX = 10 * 1000, /* below an agent that becomes a child */
    AGENT_ROLE_NAME_MAX_BYTES = 200,
    AGENT_LINK_METADATA_MAX_BYTES = 16 * 1024, /* limits the size of a page */
    AGENT_TREE_MAX_NODES = 2000,
};

struct agent_link {
    struct uuid parent_id;
    struct uuid child_id;
    struct str child_name;
    enum agent_kind child_kind;
    struct str role; /* "member" by default */
    bool has_position;
    int64_t position;         /* after the others by default */
    struct str child_version; /* STR_NONE: the active version */
    struct str metadata;      /* compact JSON */
    int64_t created_at;
    int64_t updated_at;
    int64_t revision;
};

/*
 * Creates or replaces the link from link->parent_id to link->child_id. ERR_NOT_FOUND: one of the
 * agents does not exist; ERR_CONFLICT: the parent's kind has no children, or it has
 * AGENT_CHILDREN_MAX; ERR_INVALID: the child's version does not exist, or the link would break a
 * rule above.
 */
MUST_CHECK enum error agent_link_put(struct context *c, struct agent_link *link, bool *out_is_new);
MUST_CHECK enum error agent_link_get(
    struct context *c, struct uuid parent_id, struct uuid child_id, struct agent_link *out_link);
MUST_CHECK enum error agent_link_delete(
    struct context *c, struct uuid parent_id, struct uuid child_id);

/* The position in the list after which a page begins. */
struct agent_link_mark {
    bool is_set;
    int64_t position;
    struct uuid child_id;
};
MUST_CHECK enum error agent_link_list(struct context *c, struct uuid parent_id,
    const struct agent_link_mark *after, struct page *page, struct agent_link *out_links);

/* An agent and its descendants; `children` are the trees of its children, as compact JSON. */
struct agent_tree {
    struct uuid id;
    struct str name;
    enum agent_kind kind;
    struct str version;
    struct str role; /* STR_NONE at the root */
    bool has_position;
    int64_t position;
    struct str children;
    bool truncated; /* at the root: there are more than AGENT_TREE_MAX_NODES */
};
extern const struct schema schema_agent_tree;
MUST_CHECK enum error agent_tree(
    struct context *c, struct uuid agent_id, struct agent_tree *out_tree);

/* --- For the two files of this module ------------------------------------------------------- */

/* A link below an agent, with the members of the child that a tree shows. */
struct agent_branch {
    struct uuid parent_id;
    struct agent_tree child;
};
struct agent_branches {
    struct agent_branch *items; /* grouped by parent, in their order */
    size_t count;
    bool more; /* there are more than AGENT_LINKS_BELOW_MAX */
};
MUST_CHECK enum error agent_branches_below(
    struct context *c, struct uuid agent_id, struct agent_branches *out_branches);
/* Returns the first link of this parent, and the end of its links. */
void agent_branches_of(const struct agent_branches *branches, struct uuid parent_id,
    size_t *out_first, size_t *out_end);

#endif
