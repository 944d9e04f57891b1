/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent is told to be: the parts of its definition, each of which is kept as JSON. A client
 * gives them in part and in short forms; here they are checked, and what was left out is filled in,
 * so that whoever reads a version finds every member. The tables are the API's too.
 */
#ifndef MODEL_AGENTS_AGENT_DEFINITION_H
#define MODEL_AGENTS_AGENT_DEFINITION_H

#include "base/schema.h"
#include "model/context.h"

enum {
    AGENT_PART_MAX_BYTES = 256 * 1024, /* of each part, as it is kept */
    AGENT_ROLE_MAX_BYTES = 16 * 1024,
    AGENT_INSTRUCTIONS_MAX_BYTES = 128 * 1024,
    AGENT_EXAMPLES_MAX = 256,
    AGENT_TOOLS_MAX = 256,
    AGENT_TOOL_NAME_MAX_BYTES = 200,
    AGENT_RAILS_MAX = 64,
    AGENT_MODEL_MAX_BYTES = 200,
    GRAPH_NODES_MAX = 500,
    GRAPH_EDGES_MAX = 2000,
    GRAPH_TARGETS_MAX = 64, /* of one edge */
    GRAPH_NAME_MAX_BYTES = 200,
    AGENT_COUNT_MAX = 1000 * 1000 * 1000, /* of what is counted in tokens, turns and so on */
    AGENT_TIMEOUT_MAX_S = 7 * 24 * 3600,
};

/* In the order of the columns. */
enum agent_part {
    PART_SYSTEM_PROMPT,
    PART_WORKFLOW_GRAPH,
    PART_MEMORY_CONFIG,
    PART_GUARDRAIL_CONFIG,
    PART_LLM_CONFIG,
    PART_EXECUTION_CONFIG,
    PART_TOOLS,
    AGENT_PARTS,
};
enum { ALL_AGENT_PARTS = (1 << AGENT_PARTS) - 1 };
extern const char *const agent_part_names[AGENT_PARTS];

struct graph_node {
    struct str name;
    struct str type;
    struct str config; /* compact JSON */
};
struct graph_edge {
    struct str from;
    struct str to; /* compact JSON: a name, or a list of them */
    struct str condition;
};
struct agent_graph {
    struct str entry_point;
    struct nested_list nodes;
    struct nested_list edges;
};

struct agent_memory {
    bool has_short_term, has_long_term, has_procedural;
    struct {
        bool has_max_tokens;
        int64_t max_tokens;
        struct str strategy;
    } short_term;
    struct {
        bool has_enabled, enabled, has_top_k;
        struct str embedding_model;
        int64_t top_k;
    } long_term;
    struct {
        bool has_enabled, enabled, has_min_frequency;
        int64_t min_frequency;
    } procedural;
};

struct agent_rail {
    struct str type;
    struct str config; /* compact JSON */
};
struct agent_guardrails {
    struct nested_list input_rails;
    struct nested_list output_rails;
    bool has_tool_rails;
    struct {
        bool has_max_calls;
        int64_t max_calls_per_turn;
        struct str allowed_tools; /* compact JSON: "all", or a list of names */
    } tool_rails;
};

struct agent_llm {
    struct str default_model;
    struct str fallback_model;
    struct str temperature; /* a number, as it was written */
    bool has_max_tokens;
    int64_t max_tokens;
};

struct agent_execution {
    bool has_max_turns, has_timeout;
    int64_t max_turns;
    int64_t timeout_seconds;
    struct str checkpoint_frequency;
};

struct agent_prompt {
    struct str role;
    struct str instructions;
    struct str examples; /* compact JSON: objects and texts */
};
struct agent_tool {
    struct str tool;
    struct str config_overrides; /* compact JSON */
    bool has_enabled, is_enabled;
};

/* As a client gives it. */
struct agent_definition {
    struct str system_prompt; /* compact JSON: an object, or text that is the instructions */
    bool has_graph, has_memory, has_guardrails, has_llm, has_execution;
    struct agent_graph graph;
    struct agent_memory memory;
    struct agent_guardrails guardrails;
    struct agent_llm llm;
    struct agent_execution execution;
    struct str tools; /* compact JSON: names, or bindings */
};

extern const struct schema schema_workflow_graph, schema_memory_config, schema_guardrail_config,
    schema_llm_config, schema_execution_config, schema_system_prompt, schema_tool_binding;

#define DEFINITION_PART(type, member, part, has, table)                                       \
    {                                                                                         \
        .name = #part, .kind = FIELD_NESTED, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,        \
        .offset = offsetof(type, member), .has_offset = offsetof(type, has), .nested = &table \
    }
/* The rows of a struct agent_definition that is the member `d` of `type`. */
#define DEFINITION_FIELDS(type, d)                                                            \
    {.name = "system_prompt",                                                                 \
        .kind = FIELD_JSON,                                                                   \
        .flags = FIELD_OPTIONAL,                                                              \
        .offset = offsetof(type, d.system_prompt),                                            \
        .summary = "{role, instructions, examples}, or the instructions as text"},            \
        DEFINITION_PART(type, d.graph, workflow_graph, d.has_graph, schema_workflow_graph),   \
        DEFINITION_PART(type, d.memory, memory_config, d.has_memory, schema_memory_config),   \
        DEFINITION_PART(                                                                      \
            type, d.guardrails, guardrail_config, d.has_guardrails, schema_guardrail_config), \
        DEFINITION_PART(type, d.llm, llm_config, d.has_llm, schema_llm_config),               \
        DEFINITION_PART(                                                                      \
            type, d.execution, execution_config, d.has_execution, schema_execution_config),   \
    {                                                                                         \
        .name = "tools", .kind = FIELD_ARRAY, .flags = FIELD_OPTIONAL | FIELD_NULLABLE,       \
        .offset = offsetof(type, d.tools),                                                    \
        .summary = "names or ids of tools, or {tool, config_overrides, is_enabled} for each"  \
    }

/*
 * Checks the parts that `parts` has the bits of and leaves each in `texts` as it is kept; the
 * others stay. A workflow graph that is not given is STR_NONE. ERR_INVALID with the faults.
 */
MUST_CHECK enum error agent_definition_complete(struct context *c,
    const struct agent_definition *definition, unsigned parts, struct str texts[AGENT_PARTS]);
/* The other way: from what is kept to what a client could have given. */
MUST_CHECK enum error agent_definition_read(struct context *c, const struct str texts[AGENT_PARTS],
    struct agent_definition *out_definition);

/* Unique names, known ends of edges, conditions that parse, every node within reach of the entry
 * point. Faults begin with `pointer`. */
MUST_CHECK enum error agent_graph_check(
    struct context *c, struct str pointer, const struct agent_graph *graph);

#endif
