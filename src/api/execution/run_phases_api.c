/* SPDX-License-Identifier: Apache-2.0 */
/* The phase of a run, the log of its phases, and the tree of its descendants. */
#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "model/execution/run_phases.h"
#include "model/execution/run_tree.h"

struct phase_body {
    enum phase to;
    struct str trigger;
    struct str detail;
};
#define OF struct phase_body
static const struct field phase_body_fields[] = {
    FIELD(ENUM, to, IN_BODY, .choices = run_phases),
    FIELD(STRING_OR_NULL, trigger, IN_BODY,
        "cause of the transition: plan_ready, tool_call …; default: from the table of transitions",
        .min = 1, .max = RUN_TRIGGER_MAX_BYTES),
    FIELD(OBJECT_OR_NULL, detail, IN_BODY,
        "details for the log; with the phase failed, also the error of the run",
        .max = RUN_PHASE_DETAIL_MAX_BYTES),
};
#undef OF
const struct schema schema_run_phase_body =
    SCHEMA("RunPhaseBody", struct phase_body, phase_body_fields, IN_BODY);

#define OF struct run_phase
static const struct field phase_fields[] = {
    FIELD(INT, number, IN_READ),
    FIELD(ENUM, from, IN_READ, .choices = run_phases),
    FIELD(ENUM, to, IN_READ, .choices = run_phases),
    FIELD(STRING, trigger, IN_READ),
    FIELD(OBJECT_OR_NULL, detail, IN_READ),
    FIELD(TIME, created_at, IN_READ),
};
#undef OF
const struct schema schema_run_phase = SCHEMA("RunPhase", struct run_phase, phase_fields, IN_READ);

enum error handle_run_phase_move(struct call *call, struct context *c)
{
    const struct phase_body *body = call->request.input;
    struct run run;
    TRY(run_path_get_whole(call, c, &run));
    TRY(run_move_phase(c, &run, body->to, body->trigger, body->detail));
    return call_answer(call, &schema_run, &run, run.version);
}

enum error handle_run_phase_list(struct call *call, struct context *c)
{
    const struct page_only_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct run_phase *phases = ARENA_ARRAY(call->arena, struct run_phase, page.limit);
    struct run run;
    int64_t after;
    TRY(run_path_get(call, c, &run));
    TRY(cursor_to_number(call, q->page.cursor, &after));
    TRY(run_phase_list(c, run.id, after, &page, phases));
    return call_answer_page(
        call, &schema_run_phase, phases, &page, CURSOR_BY(struct run_phase, number));
}

/* --- The tree ------------------------------------------------------------------------------ */

/* A run without its documents, and the nodes of its children. */
struct tree_node {
    struct run run;
    struct nested_list children;
};
static const struct schema schema_tree_node;
#define OF struct tree_node
static const struct field node_fields[] = {
    FIELD_AS(UUID, "run_id", run.id, IN_READ),
    FIELD_OF(run, UUID_OR_NULL, parent_run_id, IN_READ),
    FIELD_OF(run, UUID_OR_NULL, agent_id, IN_READ),
    FIELD_OF(run, STRING_OR_NULL, agent, IN_READ),
    FIELD_OF(run, STRING_OR_NULL, agent_version, IN_READ),
    FIELD_OF(run, ENUM, status, IN_READ, .choices = run_statuses),
    FIELD_OF(run, ENUM, phase, IN_READ, .choices = run_phases),
    FIELD_OF(run, STRING_OR_NULL, model, IN_READ),
    FIELD_OF(run, NESTED, usage, IN_READ, .nested = &schema_run_usage),
    FIELD_OF(run, NESTED, total_usage, IN_READ, .nested = &schema_run_usage),
    FIELD_OF(run, TIME, created_at, IN_READ),
    FIELD_OF(run, TIME_OR_NULL, started_at, IN_READ),
    FIELD_OF(run, TIME_OR_NULL, finished_at, IN_READ),
    FIELD(LIST, children, IN_READ, "oldest first", .nested = &schema_tree_node),
};
#undef OF
static const struct schema schema_tree_node =
    SCHEMA("RunTreeNode", struct tree_node, node_fields, IN_READ);

struct tree {
    int64_t run_count;
    bool is_cut;
    struct tree_node root;
};
#define OF struct tree
static const struct field tree_fields[] = {
    FIELD(INT, run_count, IN_READ),
    FIELD(
        BOOL, is_cut, IN_READ, "true if the run has more descendants than the limit of 1000 runs"),
    FIELD(NESTED, root, IN_READ, .nested = &schema_tree_node),
};
#undef OF
const struct schema schema_run_tree = SCHEMA("RunTree", struct tree, tree_fields, IN_READ);

/* The runs are in the order of generations: children follow their parents. */
static struct tree_node make_node(struct arena *arena, const struct run_array *family, size_t index)
{
    struct tree_node node = {.run = family->runs[index]};
    size_t n = 0;
    for (size_t i = index + 1; i < family->count; i++)
        n += uuid_eq(family->runs[i].parent_run_id, node.run.id);
    struct tree_node *children = ARENA_ARRAY(arena, struct tree_node, n);
    node.children = (struct nested_list){children, 0};
    for (size_t i = index + 1; i < family->count; i++)
        if (uuid_eq(family->runs[i].parent_run_id, node.run.id))
            children[node.children.count++] = make_node(arena, family, i);
    return node;
}

enum error handle_run_tree(struct call *call, struct context *c)
{
    struct run run;
    struct run_array family;
    struct tree tree = {0};
    TRY(run_path_get(call, c, &run));
    TRY(run_list_family(c, run.id, &family, &tree.is_cut));
    tree.run_count = (int64_t)family.count;
    tree.root = make_node(call->arena, &family, 0);
    return call_answer(call, &schema_run_tree, &tree, 0);
}
