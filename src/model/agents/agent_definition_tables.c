/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each part of a definition, and their limits. */
#include "model/agents/agent_definition.h"

const char *const agent_part_names[AGENT_PARTS] = {"system_prompt", "workflow_graph",
    "memory_config", "guardrail_config", "llm_config", "execution_config", "tools"};

#define MAYBE (FIELD_OPTIONAL | FIELD_NULLABLE)

static const char *const node_types[] = {"llm", "tool", "router", "human", NULL};
static const struct field node_fields[] = {
    {.name = "name",
        .kind = FIELD_STRING,
        .offset = offsetof(struct graph_node, name),
        .min = 1,
        .max = GRAPH_NAME_MAX_BYTES},
    {.name = "type",
        .kind = FIELD_ENUM,
        .offset = offsetof(struct graph_node, type),
        .choices = node_types},
    {.name = "config",
        .kind = FIELD_OBJECT,
        .flags = MAYBE,
        .offset = offsetof(struct graph_node, config)},
};
static const struct schema schema_node = {
    "GraphNode", node_fields, COUNT_OF(node_fields), sizeof(struct graph_node), 0};

static const struct field edge_fields[] = {
    {.name = "from",
        .kind = FIELD_STRING,
        .offset = offsetof(struct graph_edge, from),
        .min = 1,
        .max = GRAPH_NAME_MAX_BYTES},
    {.name = "to",
        .kind = FIELD_JSON,
        .offset = offsetof(struct graph_edge, to),
        .summary = "the name of a node, or a list of names"},
    {.name = "condition",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = offsetof(struct graph_edge, condition),
        .summary = "an expression; null: always"},
};
static const struct schema schema_edge = {
    "GraphEdge", edge_fields, COUNT_OF(edge_fields), sizeof(struct graph_edge), 0};

static const struct field graph_fields[] = {
    {.name = "entry_point",
        .kind = FIELD_STRING,
        .offset = offsetof(struct agent_graph, entry_point),
        .min = 1,
        .max = GRAPH_NAME_MAX_BYTES},
    {.name = "nodes",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct agent_graph, nodes),
        .min = 1,
        .max = GRAPH_NODES_MAX,
        .nested = &schema_node},
    {.name = "edges",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct agent_graph, edges),
        .max = GRAPH_EDGES_MAX,
        .nested = &schema_edge},
};
const struct schema schema_workflow_graph = {
    "WorkflowGraph", graph_fields, COUNT_OF(graph_fields), sizeof(struct agent_graph), 0};

static const char *const strategies[] = {"fifo", "summarize", "hybrid", NULL};
#define MEMORY(member) offsetof(struct agent_memory, member)
/* The parts of a memory configuration share its struct: their offsets are those of the whole. */
#define IN_MEMORY(part, member) (MEMORY(part.member) - MEMORY(part))
static const struct field short_term_fields[] = {
    {.name = "max_tokens",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = IN_MEMORY(short_term, max_tokens),
        .has_offset = IN_MEMORY(short_term, has_max_tokens),
        .min = 1,
        .max = AGENT_COUNT_MAX,
        .summary = "8000 unless told"},
    {.name = "strategy",
        .kind = FIELD_ENUM,
        .flags = MAYBE,
        .offset = IN_MEMORY(short_term, strategy),
        .choices = strategies},
};
static const struct schema schema_short_term = {"ShortTermMemory", short_term_fields,
    COUNT_OF(short_term_fields), sizeof(((struct agent_memory *)0)->short_term), 0};

static const struct field long_term_fields[] = {
    {.name = "enabled",
        .kind = FIELD_BOOL,
        .flags = MAYBE,
        .offset = IN_MEMORY(long_term, enabled),
        .has_offset = IN_MEMORY(long_term, has_enabled)},
    {.name = "embedding_model",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = IN_MEMORY(long_term, embedding_model),
        .min = 1,
        .max = AGENT_MODEL_MAX_BYTES},
    {.name = "top_k",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = IN_MEMORY(long_term, top_k),
        .has_offset = IN_MEMORY(long_term, has_top_k),
        .min = 1,
        .max = AGENT_COUNT_MAX,
        .summary = "5 unless told"},
};
static const struct schema schema_long_term = {"LongTermMemory", long_term_fields,
    COUNT_OF(long_term_fields), sizeof(((struct agent_memory *)0)->long_term), 0};

static const struct field procedural_fields[] = {
    {.name = "enabled",
        .kind = FIELD_BOOL,
        .flags = MAYBE,
        .offset = IN_MEMORY(procedural, enabled),
        .has_offset = IN_MEMORY(procedural, has_enabled)},
    {.name = "min_frequency",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = IN_MEMORY(procedural, min_frequency),
        .has_offset = IN_MEMORY(procedural, has_min_frequency),
        .min = 1,
        .max = AGENT_COUNT_MAX},
};
static const struct schema schema_procedural = {"ProceduralMemory", procedural_fields,
    COUNT_OF(procedural_fields), sizeof(((struct agent_memory *)0)->procedural), 0};

static const struct field memory_fields[] = {
    {.name = "short_term",
        .kind = FIELD_NESTED,
        .flags = MAYBE,
        .offset = MEMORY(short_term),
        .has_offset = MEMORY(has_short_term),
        .nested = &schema_short_term},
    {.name = "long_term",
        .kind = FIELD_NESTED,
        .flags = MAYBE,
        .offset = MEMORY(long_term),
        .has_offset = MEMORY(has_long_term),
        .nested = &schema_long_term},
    {.name = "procedural",
        .kind = FIELD_NESTED,
        .flags = MAYBE,
        .offset = MEMORY(procedural),
        .has_offset = MEMORY(has_procedural),
        .nested = &schema_procedural},
};
const struct schema schema_memory_config = {
    "MemoryConfig", memory_fields, COUNT_OF(memory_fields), sizeof(struct agent_memory), 0};

static const char *const input_rails[] = {"pii", "injection", "topic", NULL};
static const char *const output_rails[] = {"hallucination", "toxicity", "format", NULL};
#define RAIL_FIELDS(types)                                      \
    {.name = "type",                                            \
        .kind = FIELD_ENUM,                                     \
        .offset = offsetof(struct agent_rail, type),            \
        .choices = types},                                      \
    {                                                           \
        .name = "config", .kind = FIELD_OBJECT, .flags = MAYBE, \
        .offset = offsetof(struct agent_rail, config)           \
    }
static const struct field input_rail_fields[] = {RAIL_FIELDS(input_rails)};
static const struct field output_rail_fields[] = {RAIL_FIELDS(output_rails)};
static const struct schema schema_input_rail = {
    "InputRail", input_rail_fields, COUNT_OF(input_rail_fields), sizeof(struct agent_rail), 0};
static const struct schema schema_output_rail = {
    "OutputRail", output_rail_fields, COUNT_OF(output_rail_fields), sizeof(struct agent_rail), 0};

#define GUARD(member) offsetof(struct agent_guardrails, member)
#define IN_TOOL_RAILS(member) (GUARD(tool_rails.member) - GUARD(tool_rails))
static const struct field tool_rail_fields[] = {
    {.name = "max_calls_per_turn",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = IN_TOOL_RAILS(max_calls_per_turn),
        .has_offset = IN_TOOL_RAILS(has_max_calls),
        .min = 1,
        .max = AGENT_COUNT_MAX},
    {.name = "allowed_tools",
        .kind = FIELD_JSON,
        .flags = FIELD_OPTIONAL,
        .offset = IN_TOOL_RAILS(allowed_tools),
        .summary = "\"all\", or a list of names"},
};
static const struct schema schema_tool_rails = {"ToolRails", tool_rail_fields,
    COUNT_OF(tool_rail_fields), sizeof(((struct agent_guardrails *)0)->tool_rails), 0};

static const struct field guardrail_fields[] = {
    {.name = "input_rails",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = GUARD(input_rails),
        .max = AGENT_RAILS_MAX,
        .nested = &schema_input_rail},
    {.name = "output_rails",
        .kind = FIELD_NESTED_LIST,
        .flags = FIELD_OPTIONAL,
        .offset = GUARD(output_rails),
        .max = AGENT_RAILS_MAX,
        .nested = &schema_output_rail},
    {.name = "tool_rails",
        .kind = FIELD_NESTED,
        .flags = MAYBE,
        .offset = GUARD(tool_rails),
        .has_offset = GUARD(has_tool_rails),
        .nested = &schema_tool_rails},
};
const struct schema schema_guardrail_config = {"GuardrailConfig", guardrail_fields,
    COUNT_OF(guardrail_fields), sizeof(struct agent_guardrails), 0};

#define LLM(member) offsetof(struct agent_llm, member)
static const struct field llm_fields[] = {
    {.name = "default_model",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = LLM(default_model),
        .min = 1,
        .max = AGENT_MODEL_MAX_BYTES},
    {.name = "fallback_model",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = LLM(fallback_model),
        .min = 1,
        .max = AGENT_MODEL_MAX_BYTES},
    {.name = "temperature",
        .kind = FIELD_JSON,
        .flags = FIELD_OPTIONAL,
        .offset = LLM(temperature),
        .summary = "a number from 0 to 2"},
    {.name = "max_tokens",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = LLM(max_tokens),
        .has_offset = LLM(has_max_tokens),
        .min = 1,
        .max = AGENT_COUNT_MAX,
        .summary = "of one answer"},
};
const struct schema schema_llm_config = {
    "LlmConfig", llm_fields, COUNT_OF(llm_fields), sizeof(struct agent_llm), 0};

static const char *const frequencies[] = {"every_turn", "on_change", "manual", NULL};
#define EXECUTION(member) offsetof(struct agent_execution, member)
static const struct field execution_fields[] = {
    {.name = "max_turns",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = EXECUTION(max_turns),
        .has_offset = EXECUTION(has_max_turns),
        .min = 1,
        .max = AGENT_COUNT_MAX,
        .summary = "25 unless told"},
    {.name = "timeout_seconds",
        .kind = FIELD_INT,
        .flags = MAYBE,
        .offset = EXECUTION(timeout_seconds),
        .has_offset = EXECUTION(has_timeout),
        .min = 1,
        .max = AGENT_TIMEOUT_MAX_S,
        .summary = "of a turn; 60 unless told"},
    {.name = "checkpoint_frequency",
        .kind = FIELD_ENUM,
        .flags = MAYBE,
        .offset = EXECUTION(checkpoint_frequency),
        .choices = frequencies},
};
const struct schema schema_execution_config = {"ExecutionConfig", execution_fields,
    COUNT_OF(execution_fields), sizeof(struct agent_execution), 0};

#define PROMPT(member) offsetof(struct agent_prompt, member)
static const struct field prompt_fields[] = {
    {.name = "role",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = PROMPT(role),
        .max = AGENT_ROLE_MAX_BYTES},
    {.name = "instructions",
        .kind = FIELD_STRING,
        .flags = MAYBE,
        .offset = PROMPT(instructions),
        .max = AGENT_INSTRUCTIONS_MAX_BYTES},
    {.name = "examples", .kind = FIELD_ARRAY, .flags = MAYBE, .offset = PROMPT(examples)},
};
const struct schema schema_system_prompt = {
    "SystemPrompt", prompt_fields, COUNT_OF(prompt_fields), sizeof(struct agent_prompt), 0};

#define TOOL(member) offsetof(struct agent_tool, member)
static const struct field tool_fields[] = {
    {.name = "tool",
        .kind = FIELD_STRING,
        .offset = TOOL(tool),
        .min = 1,
        .max = AGENT_TOOL_NAME_MAX_BYTES},
    {.name = "config_overrides",
        .kind = FIELD_OBJECT,
        .flags = MAYBE,
        .offset = TOOL(config_overrides)},
    {.name = "is_enabled",
        .kind = FIELD_BOOL,
        .flags = MAYBE,
        .offset = TOOL(is_enabled),
        .has_offset = TOOL(has_enabled)},
};
const struct schema schema_tool_binding = {
    "ToolBinding", tool_fields, COUNT_OF(tool_fields), sizeof(struct agent_tool), 0};
