/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of an agent: parts that are each stored as JSON. Clients may omit parts and use
 * short forms. This module checks a definition and completes it, so that a stored version has every
 * member. The API uses the same field tables.
 */
#ifndef MODEL_AGENTS_AGENT_DEFINITION_H
#define MODEL_AGENTS_AGENT_DEFINITION_H

#include "base/schema_fields.h"
#include "model/context.h"

enum {
    AGENT_PART_MAX_BYTES = 256 * 1024, /* of each part, as it is stored */
    AGENT_ROLE_MAX_BYTES = 16 * 1024,
    AGENT_INSTRUCTIONS_MAX_BYTES = 128 * 1024,
    AGENT_EXAMPLES_MAX = 256,
    AGENT_TOOLS_MAX = 256,
    AGENT_TOOL_NAME_MAX_BYTES = 200,
    AGENT_RAILS_MAX = 64,
    AGENT_MODEL_MAX_BYTES = 200,
    GRAPH_NODES_MAX = 500,
    GRAPH_EDGES_MAX = 2000,
    GRAPH_TARGETS_MAX = 64, /* of an edge */
    GRAPH_NAME_MAX_BYTES = 200,
    AGENT_COUNT_MAX = 1000 * 1000 * 1000, /* of numbers of tokens, turns and so on */
    AGENT_TIMEOUT_MAX_S = 7 * 24 * 3600,
    AGENT_HISTORY_RUNS_MAX = 100, /* in the context of a thread */
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

/* clang-format off */
#define GRAPH_NODE_TYPES(X)      \
    X(NODE_LLM,    "llm")        \
    X(NODE_TOOL,   "tool")       \
    X(NODE_ROUTER, "router")     \
    X(NODE_HUMAN,  "human")
#define MEMORY_STRATEGIES(X)          \
    X(STRATEGY_FIFO,      "fifo")      \
    X(STRATEGY_SUMMARIZE, "summarize") \
    X(STRATEGY_HYBRID,    "hybrid")
#define INPUT_RAILS(X)                 \
    X(INPUT_RAIL_PII,       "pii")       \
    X(INPUT_RAIL_INJECTION, "injection") \
    X(INPUT_RAIL_TOPIC,     "topic")
#define OUTPUT_RAILS(X)                        \
    X(OUTPUT_RAIL_HALLUCINATION, "hallucination") \
    X(OUTPUT_RAIL_TOXICITY,      "toxicity")      \
    X(OUTPUT_RAIL_FORMAT,        "format")
#define CHECKPOINT_FREQUENCIES(X)                  \
    X(CHECKPOINT_EVERY_TURN, "every_turn") \
    X(CHECKPOINT_ON_CHANGE,  "on_change")  \
    X(CHECKPOINT_MANUAL,     "manual")
/* clang-format on */
ENUM_DECLARE(graph_node_type, NODE_TYPE_NONE, graph_node_types, GRAPH_NODE_TYPES);
ENUM_DECLARE(memory_strategy, STRATEGY_NONE, memory_strategies, MEMORY_STRATEGIES);
ENUM_DECLARE(input_rail, INPUT_RAIL_NONE, input_rails, INPUT_RAILS);
ENUM_DECLARE(output_rail, OUTPUT_RAIL_NONE, output_rails, OUTPUT_RAILS);
ENUM_DECLARE(checkpoint_frequency, CHECKPOINT_FREQUENCY_NONE, checkpoint_frequencies,
    CHECKPOINT_FREQUENCIES);

struct graph_node {
    struct str name;
    enum graph_node_type type;
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

struct agent_short_term {
    bool has_max_tokens;
    int64_t max_tokens;
    enum memory_strategy strategy;
};
struct agent_long_term {
    bool has_enabled, enabled, has_top_k;
    struct str embedding_model;
    int64_t top_k;
};
struct agent_procedural {
    bool has_enabled, enabled, has_min_frequency;
    int64_t min_frequency;
};
struct agent_memory {
    bool has_short_term, has_long_term, has_procedural;
    struct agent_short_term short_term;
    struct agent_long_term long_term;
    struct agent_procedural procedural;
    /* Settings of the context of a thread. Those that were never set are not shown. */
    bool has_add_history_to_context, add_history_to_context;
    bool has_num_history_runs;
    int64_t num_history_runs;
};

struct agent_rail {
    unsigned type;     /* enum input_rail or enum output_rail */
    struct str config; /* compact JSON */
};
struct agent_tool_rails {
    bool has_max_calls_per_turn;
    int64_t max_calls_per_turn;
    struct str allowed_tools; /* compact JSON: "all", or a list of names */
};
struct agent_guardrails {
    struct nested_list input_rails;
    struct nested_list output_rails;
    bool has_tool_rails;
    struct agent_tool_rails tool_rails;
};

struct agent_llm {
    struct str default_model;
    struct str fallback_model;
    struct str temperature; /* a number, as the client wrote it */
    bool has_max_tokens;
    int64_t max_tokens;
};

struct agent_execution {
    bool has_max_turns, has_timeout_seconds;
    int64_t max_turns;
    int64_t timeout_seconds;
    enum checkpoint_frequency checkpoint_frequency;
};

struct agent_prompt {
    struct str role;
    struct str instructions;
    struct str examples; /* compact JSON: objects and texts */
};
struct agent_tool {
    struct str tool;
    struct str config_overrides; /* compact JSON */
    bool has_is_enabled, is_enabled;
};

/* A definition as a client sends it. */
struct agent_definition {
    struct str system_prompt; /* compact JSON: an object, or the instructions as text */
    bool has_graph, has_memory, has_guardrails, has_llm, has_execution;
    struct agent_graph graph;
    struct agent_memory memory;
    struct agent_guardrails guardrails;
    struct agent_llm llm;
    struct agent_execution execution;
    struct str tools; /* compact JSON: a list of names, or of bindings */
};

extern const struct schema schema_workflow_graph, schema_memory_config, schema_guardrail_config,
    schema_llm_config, schema_execution_config, schema_system_prompt, schema_tool_binding;

/* The rows of a struct agent_definition that is the member `d` of OF. */
#define DEFINITION_FIELDS(d, in)                                                               \
    FIELD_AS(JSON_OR_NONE, "system_prompt", d.system_prompt, in,                               \
        "{role, instructions, examples}, or the instructions as text"),                        \
        FIELD_HAS(NESTED_OR_NULL, "workflow_graph", d.graph, d.has_graph, in,                  \
            .nested = &schema_workflow_graph),                                                 \
        FIELD_HAS(NESTED_OR_NULL, "memory_config", d.memory, d.has_memory, in,                 \
            .nested = &schema_memory_config),                                                  \
        FIELD_HAS(NESTED_OR_NULL, "guardrail_config", d.guardrails, d.has_guardrails, in,      \
            .nested = &schema_guardrail_config),                                               \
        FIELD_HAS(                                                                             \
            NESTED_OR_NULL, "llm_config", d.llm, d.has_llm, in, .nested = &schema_llm_config), \
        FIELD_HAS(NESTED_OR_NULL, "execution_config", d.execution, d.has_execution, in,        \
            .nested = &schema_execution_config),                                               \
        FIELD_AS(ARRAY_OR_NULL, "tools", d.tools, in,                                          \
            "list of tool names or ids, or of {tool, config_overrides, is_enabled}")

/*
 * Checks and completes the parts with a bit in `parts` and stores each in `texts`; others are
 * unchanged. An absent workflow graph is STR_NONE. ERR_INVALID with the faults.
 */
MUST_CHECK enum error agent_definition_complete(struct context *c,
    const struct agent_definition *definition, unsigned parts, struct str texts[AGENT_PARTS]);
/* Decodes the stored parts. */
MUST_CHECK enum error agent_definition_read(struct context *c, const struct str texts[AGENT_PARTS],
    struct agent_definition *out_definition);

/* Checks that names are unique, edges connect existing nodes, conditions parse and every node can
 * be reached from the entry point. Faults begin with `pointer`. */
MUST_CHECK enum error agent_graph_check(
    struct context *c, struct str pointer, const struct agent_graph *graph);

#endif
