/* SPDX-License-Identifier: Apache-2.0 */
/* The phase of a run, its log, and the family of a run. */
#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/execution/run_phases.h"
#include "model/execution/run_tree.h"

struct phase_body {
    enum phase to;
    struct str trigger;
    struct str detail;
};
static const struct field phase_body_fields[] = {
    {.name = "to",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct phase_body, to),
        .choices = run_phases,
        .stores_enum = true},
    {.name = "trigger",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct phase_body, trigger),
        .min = 1,
        .max = RUN_TRIGGER_MAX_BYTES,
        .summary = "what leads there: plan_ready, tool_call …; what the table says when absent"},
    {.name = "detail",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = offsetof(struct phase_body, detail),
        .max = RUN_PHASE_DETAIL_MAX_BYTES,
        .summary = "for the log"},
};
const struct schema schema_run_phase_body = {
    "RunPhaseBody", phase_body_fields, COUNT_OF(phase_body_fields), sizeof(struct phase_body), 0};

#define PHASE_FIELD(member) offsetof(struct run_phase, member)
static const struct field phase_fields[] = {
    {.name = "number", .kind = FIELD_INT, .offset = PHASE_FIELD(number)},
    {.name = "from",
        .kind = FIELD_ENUM,
        .offset = PHASE_FIELD(from),
        .choices = run_phases,
        .stores_enum = true},
    {.name = "to",
        .kind = FIELD_ENUM,
        .offset = PHASE_FIELD(to),
        .choices = run_phases,
        .stores_enum = true},
    {.name = "trigger", .kind = FIELD_STRING, .offset = PHASE_FIELD(trigger)},
    {.name = "detail",
        .kind = FIELD_OBJECT,
        .flags = FIELD_NULLABLE,
        .offset = PHASE_FIELD(detail)},
    {.name = "created_at", .kind = FIELD_TIME, .offset = PHASE_FIELD(created_at)},
};
const struct schema schema_run_phase = {
    "RunPhase", phase_fields, COUNT_OF(phase_fields), sizeof(struct run_phase), 0};

struct phases_query {
    struct page_query page;
};
static const struct field phases_query_fields[] = {PAGE_FIELDS(struct phases_query)};
const struct schema query_run_phases = {
    "RunPhasesQuery", phases_query_fields, 2, sizeof(struct phases_query), 0};

enum error handle_run_phase_move(struct call *call, struct context *c)
{
    const struct phase_body *body = call->request.input;
    struct run run;
    enum error e = call_run_whole(call, c, &run);
    if (e == OK)
        e = run_move_phase(c, &run, body->to, body->trigger, body->detail);
    if (e == OK)
        call_answer(call, &schema_run, &run, run.version);
    return e;
}

static struct str phase_cursor(struct arena *arena, const void *item)
{
    return cursor_from_number(arena, ((const struct run_phase *)item)->number);
}

enum error handle_run_phase_list(struct call *call, struct context *c)
{
    const struct phases_query *q = call->request.query;
    size_t limit = page_limit(&q->page), count;
    struct run_phase *phases = ARENA_ARRAY(call->arena, struct run_phase, limit);
    struct run run;
    int64_t after;
    bool more;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = cursor_to_number(call, q->page.cursor, &after);
    if (e == OK)
        e = run_phase_list(c, run.id, after, limit, phases, &count, &more);
    if (e == OK)
        call_answer_page(call, &schema_run_phase, phases, count, more, phase_cursor);
    return e;
}

/* --- The tree ------------------------------------------------------------------------------- */

/* A run without its documents, and the nodes of its children. */
struct tree_node {
    struct run run;
    struct nested_list children;
};
#define NODE_FIELD(member) offsetof(struct tree_node, run.member)
static const struct schema schema_tree_node;
static const struct field node_fields[] = {
    {.name = "run_id", .kind = FIELD_UUID, .offset = NODE_FIELD(id)},
    {.name = "parent_run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = NODE_FIELD(parent_run_id),
        .has_offset = NODE_FIELD(has_parent_run_id)},
    {.name = "agent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = NODE_FIELD(agent_id),
        .has_offset = NODE_FIELD(has_agent_id)},
    {.name = "agent", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, .offset = NODE_FIELD(agent)},
    {.name = "agent_version",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = NODE_FIELD(agent_version)},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = NODE_FIELD(status),
        .choices = run_statuses,
        .stores_enum = true},
    {.name = "phase",
        .kind = FIELD_ENUM,
        .offset = NODE_FIELD(phase),
        .choices = run_phases,
        .stores_enum = true},
    {.name = "model", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, .offset = NODE_FIELD(model)},
    {.name = "usage",
        .kind = FIELD_NESTED,
        .offset = NODE_FIELD(usage),
        .nested = &schema_run_usage},
    {.name = "total_usage",
        .kind = FIELD_NESTED,
        .offset = NODE_FIELD(total_usage),
        .nested = &schema_run_usage},
    {.name = "created_at", .kind = FIELD_TIME, .offset = NODE_FIELD(created_at)},
    {.name = "started_at",
        .kind = FIELD_TIME,
        .flags = FIELD_NULLABLE,
        .offset = NODE_FIELD(started_at),
        .has_offset = NODE_FIELD(has_started_at)},
    {.name = "finished_at",
        .kind = FIELD_TIME,
        .flags = FIELD_NULLABLE,
        .offset = NODE_FIELD(finished_at),
        .has_offset = NODE_FIELD(has_finished_at)},
    {.name = "children",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct tree_node, children),
        .nested = &schema_tree_node,
        .summary = "oldest first"},
};
static const struct schema schema_tree_node = {
    "RunTreeNode", node_fields, COUNT_OF(node_fields), sizeof(struct tree_node), 0};

struct tree {
    int64_t run_count;
    bool is_cut;
    struct tree_node root;
};
static const struct field tree_fields[] = {
    {.name = "run_count", .kind = FIELD_INT, .offset = offsetof(struct tree, run_count)},
    {.name = "is_cut",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct tree, is_cut),
        .summary = "there are more descendants than a tree holds, 1000 runs"},
    {.name = "root",
        .kind = FIELD_NESTED,
        .offset = offsetof(struct tree, root),
        .nested = &schema_tree_node},
};
const struct schema schema_run_tree = {
    "RunTree", tree_fields, COUNT_OF(tree_fields), sizeof(struct tree), 0};

/* The runs come generation by generation: children stand behind their parents. */
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
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = run_list_family(c, run.id, &family, &tree.is_cut);
    if (e != OK)
        return e;
    tree.run_count = (int64_t)family.count;
    tree.root = make_node(call->arena, &family, 0);
    call_answer(call, &schema_run_tree, &tree, 0);
    return OK;
}
