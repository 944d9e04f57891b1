/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each part of a definition, and their limits. */
#include "base/schema_fields.h"
#include "model/agents/agent_definition.h"

ENUM_DEFINE(graph_node_types, GRAPH_NODE_TYPES);
ENUM_DEFINE(memory_strategies, MEMORY_STRATEGIES);
ENUM_DEFINE(input_rails, INPUT_RAILS);
ENUM_DEFINE(output_rails, OUTPUT_RAILS);
ENUM_DEFINE(checkpoint_frequencies, CHECKPOINT_FREQUENCIES);

const char *const agent_part_names[AGENT_PARTS] = {"system_prompt", "workflow_graph",
    "memory_config", "guardrail_config", "llm_config", "execution_config", "tools"};

#define OF struct graph_node
static const struct field node_fields[] = {
    FIELD(STRING, name, IN_BODY, .min = 1, .max = GRAPH_NAME_MAX_BYTES),
    FIELD(ENUM, type, IN_BODY, .choices = graph_node_types),
    FIELD(OBJECT_OR_NULL, config, IN_BODY),
};
#undef OF
static const struct schema schema_node =
    SCHEMA("GraphNode", struct graph_node, node_fields, IN_BODY);

#define OF struct graph_edge
static const struct field edge_fields[] = {
    FIELD(STRING, from, IN_BODY, .min = 1, .max = GRAPH_NAME_MAX_BYTES),
    FIELD(JSON, to, IN_BODY, "name of a node, or a list of names"),
    FIELD(STRING_OR_NULL, condition, IN_BODY, "expression; null: always true"),
};
#undef OF
static const struct schema schema_edge =
    SCHEMA("GraphEdge", struct graph_edge, edge_fields, IN_BODY);

#define OF struct agent_graph
static const struct field graph_fields[] = {
    FIELD(STRING, entry_point, IN_BODY, .min = 1, .max = GRAPH_NAME_MAX_BYTES),
    FIELD(LIST, nodes, IN_BODY, .min = 1, .max = GRAPH_NODES_MAX, .nested = &schema_node),
    FIELD(LIST_OR_NONE, edges, IN_BODY, .max = GRAPH_EDGES_MAX, .nested = &schema_edge),
};
#undef OF
const struct schema schema_workflow_graph =
    SCHEMA("WorkflowGraph", struct agent_graph, graph_fields, IN_BODY);

#define OF struct agent_short_term
static const struct field short_term_fields[] = {
    FIELD(INT_OR_NULL, max_tokens, IN_BODY, "default: 8000", .min = 1, .max = AGENT_COUNT_MAX),
    FIELD(ENUM_OR_NULL, strategy, IN_BODY, .choices = memory_strategies),
};
#undef OF
static const struct schema schema_short_term =
    SCHEMA("ShortTermMemory", struct agent_short_term, short_term_fields, IN_BODY);

#define OF struct agent_long_term
static const struct field long_term_fields[] = {
    FIELD(BOOL_OR_NULL, enabled, IN_BODY),
    FIELD(STRING_OR_NULL, embedding_model, IN_BODY, .min = 1, .max = AGENT_MODEL_MAX_BYTES),
    FIELD(INT_OR_NULL, top_k, IN_BODY, "default: 5", .min = 1, .max = AGENT_COUNT_MAX),
};
#undef OF
static const struct schema schema_long_term =
    SCHEMA("LongTermMemory", struct agent_long_term, long_term_fields, IN_BODY);

#define OF struct agent_procedural
static const struct field procedural_fields[] = {
    FIELD(BOOL_OR_NULL, enabled, IN_BODY),
    FIELD(INT_OR_NULL, min_frequency, IN_BODY, .min = 1, .max = AGENT_COUNT_MAX),
};
#undef OF
static const struct schema schema_procedural =
    SCHEMA("ProceduralMemory", struct agent_procedural, procedural_fields, IN_BODY);

#define OF struct agent_memory
static const struct field memory_fields[] = {
    FIELD(NESTED_OR_NULL, short_term, IN_BODY, .nested = &schema_short_term),
    FIELD(NESTED_OR_NULL, long_term, IN_BODY, .nested = &schema_long_term),
    FIELD(NESTED_OR_NULL, procedural, IN_BODY, .nested = &schema_procedural),
    FIELD(BOOL_OR_NULL, add_history_to_context, IN_BODY,
        "false: the context of a thread has no earlier runs unless a request asks for them",
        .hide_none = true),
    FIELD(INT_OR_NULL, num_history_runs, IN_BODY,
        "number of runs in the context of a thread; default: 5", .min = 1,
        .max = AGENT_HISTORY_RUNS_MAX, .hide_none = true),
};
#undef OF
const struct schema schema_memory_config =
    SCHEMA("MemoryConfig", struct agent_memory, memory_fields, IN_BODY);

#define OF struct agent_rail
static const struct field input_rail_fields[] = {
    FIELD(ENUM, type, IN_BODY, .choices = input_rails),
    FIELD(OBJECT_OR_NULL, config, IN_BODY),
};
#undef OF
#define OF struct agent_rail
static const struct field output_rail_fields[] = {
    FIELD(ENUM, type, IN_BODY, .choices = output_rails),
    FIELD(OBJECT_OR_NULL, config, IN_BODY),
};
#undef OF
static const struct schema schema_input_rail =
    SCHEMA("InputRail", struct agent_rail, input_rail_fields, IN_BODY);
static const struct schema schema_output_rail =
    SCHEMA("OutputRail", struct agent_rail, output_rail_fields, IN_BODY);

#define OF struct agent_tool_rails
static const struct field tool_rail_fields[] = {
    FIELD(INT_OR_NULL, max_calls_per_turn, IN_BODY, .min = 1, .max = AGENT_COUNT_MAX),
    FIELD(JSON_OR_NONE, allowed_tools, IN_BODY, "\"all\", or a list of names"),
};
#undef OF
static const struct schema schema_tool_rails =
    SCHEMA("ToolRails", struct agent_tool_rails, tool_rail_fields, IN_BODY);

#define OF struct agent_guardrails
static const struct field guardrail_fields[] = {
    FIELD(LIST_OR_NONE, input_rails, IN_BODY, .max = AGENT_RAILS_MAX, .nested = &schema_input_rail),
    FIELD(
        LIST_OR_NONE, output_rails, IN_BODY, .max = AGENT_RAILS_MAX, .nested = &schema_output_rail),
    FIELD(NESTED_OR_NULL, tool_rails, IN_BODY, .nested = &schema_tool_rails),
};
#undef OF
const struct schema schema_guardrail_config =
    SCHEMA("GuardrailConfig", struct agent_guardrails, guardrail_fields, IN_BODY);

#define OF struct agent_llm
static const struct field llm_fields[] = {
    FIELD(STRING_OR_NULL, default_model, IN_BODY, .min = 1, .max = AGENT_MODEL_MAX_BYTES),
    FIELD(STRING_OR_NULL, fallback_model, IN_BODY, .min = 1, .max = AGENT_MODEL_MAX_BYTES),
    FIELD(JSON_OR_NONE, temperature, IN_BODY, "number from 0 to 2"),
    FIELD(INT_OR_NULL, max_tokens, IN_BODY, "maximum tokens of one answer", .min = 1,
        .max = AGENT_COUNT_MAX),
};
#undef OF
const struct schema schema_llm_config = SCHEMA("LlmConfig", struct agent_llm, llm_fields, IN_BODY);

#define OF struct agent_execution
static const struct field execution_fields[] = {
    FIELD(INT_OR_NULL, max_turns, IN_BODY, "default: 25", .min = 1, .max = AGENT_COUNT_MAX),
    FIELD(INT_OR_NULL, timeout_seconds, IN_BODY, "time limit of a turn; default: 60", .min = 1,
        .max = AGENT_TIMEOUT_MAX_S),
    FIELD(ENUM_OR_NULL, checkpoint_frequency, IN_BODY, .choices = checkpoint_frequencies),
};
#undef OF
const struct schema schema_execution_config =
    SCHEMA("ExecutionConfig", struct agent_execution, execution_fields, IN_BODY);

#define OF struct agent_prompt
static const struct field prompt_fields[] = {
    FIELD(STRING_OR_NULL, role, IN_READ, .max = AGENT_ROLE_MAX_BYTES),
    FIELD(STRING_OR_NULL, instructions, IN_READ, .max = AGENT_INSTRUCTIONS_MAX_BYTES),
    FIELD(ARRAY_OR_NULL, examples, IN_READ),
};
#undef OF
const struct schema schema_system_prompt =
    SCHEMA("SystemPrompt", struct agent_prompt, prompt_fields, IN_READ);

#define OF struct agent_tool
static const struct field tool_fields[] = {
    FIELD(STRING, tool, IN_READ, .min = 1, .max = AGENT_TOOL_NAME_MAX_BYTES),
    FIELD(OBJECT_OR_NULL, config_overrides, IN_READ),
    FIELD(BOOL_OR_NULL, is_enabled, IN_READ),
};
#undef OF
const struct schema schema_tool_binding =
    SCHEMA("ToolBinding", struct agent_tool, tool_fields, IN_READ);
