/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/agent_definition.h"

#include "base/json/json_number.h"

enum { ENCODED_MAX_BYTES = 64 * 1024 * 1024 }; /* larger than any body */

/* Defaults. */
enum {
    DEFAULT_SHORT_TERM_TOKENS = 8000,
    DEFAULT_TOP_K = 5,
    DEFAULT_MAX_TURNS = 25,
    DEFAULT_TIMEOUT_S = 60,
};

static struct str encode(struct context *c, const struct schema *schema, const void *in)
{
    struct json_text text;
    json_text_init(&text, ENCODED_MAX_BYTES);
    schema_encode(&text.w, schema, in);
    return json_text_take(&text, c->arena);
}

/* Returns false, and reports a fault, if the JSON is too large to parse. */
static bool parse(struct context *c, struct str pointer, struct str text, struct json *out_value)
{
    struct json_doc *doc = ARENA_NEW(c->arena, struct json_doc);
    struct json_error unused;
    if (!json_parse(c->arena, text, doc, &unused)) {
        problem_fault(c->problem, pointer, "exceeds the memory limit of a request");
        return false;
    }
    *out_value = json_root(doc);
    return true;
}

static void or_default(struct str *text, struct str fallback)
{
    if (str_is_none(*text))
        *text = fallback;
}

static void or_number(bool *has, int64_t *number, int64_t fallback)
{
    if (!*has)
        *number = fallback;
    *has = true;
}

/* --- System prompt -------------------------------------------------------------------------- */

static void check_examples(struct context *c, struct str examples)
{
    struct json list, item;
    if (!parse(c, STR("/system_prompt/examples"), examples, &list))
        return;
    if (json_count(list) > AGENT_EXAMPLES_MAX)
        problem_fault(c->problem, STR("/system_prompt/examples"), "must have at most %d items",
            AGENT_EXAMPLES_MAX);
    struct json_iter it = json_iter(list);
    for (size_t i = 0; json_next(&it, NULL, &item); i++)
        if (json_type(item) != JSON_OBJECT && json_type(item) != JSON_STRING)
            problem_fault(c->problem, arena_printf(c->arena, "/system_prompt/examples/%zu", i),
                "must be an object or a string");
}

static void read_instructions(struct context *c, struct json value, struct agent_prompt *prompt)
{
    prompt->instructions = json_string(c->arena, value);
    if (prompt->instructions.len > AGENT_INSTRUCTIONS_MAX_BYTES)
        problem_fault(c->problem, STR("/system_prompt"), "must have at most %d bytes",
            AGENT_INSTRUCTIONS_MAX_BYTES);
}

static struct str complete_prompt(struct context *c, const struct agent_definition *d)
{
    struct agent_prompt prompt = {0};
    struct json value;
    if (!str_is_none(d->system_prompt) &&
        parse(c, STR("/system_prompt"), d->system_prompt, &value)) {
        if (json_type(value) == JSON_STRING)
            read_instructions(c, value, &prompt);
        else if (json_type(value) != JSON_OBJECT)
            problem_fault(c->problem, STR("/system_prompt"), "must be an object or a string");
        else if (schema_decode_at(c->arena, &schema_system_prompt, STR("/system_prompt"), value,
                     &prompt, c->problem) == OK &&
                 !str_is_none(prompt.examples))
            check_examples(c, prompt.examples);
    }
    or_default(&prompt.examples, STR("[]"));
    return encode(c, &schema_system_prompt, &prompt);
}

/* --- Graph, memory, rails ------------------------------------------------------------------- */

static struct str complete_graph(struct context *c, const struct agent_definition *d)
{
    if (!d->has_graph)
        return STR_NONE;
    struct agent_graph graph = d->graph;
    struct graph_node *nodes = graph.nodes.items;
    for (size_t i = 0; i < graph.nodes.count; i++)
        or_default(&nodes[i].config, STR("{}"));
    enum error e = agent_graph_check(c, STR("/workflow_graph"), &graph);
    return e == OK ? encode(c, &schema_workflow_graph, &graph) : STR_NONE;
}

static struct str complete_memory(struct context *c, const struct agent_definition *d)
{
    struct agent_memory m = d->memory;
    m.has_short_term = m.has_long_term = m.has_procedural = true;
    or_number(&m.short_term.has_max_tokens, &m.short_term.max_tokens, DEFAULT_SHORT_TERM_TOKENS);
    if (m.short_term.strategy == STRATEGY_NONE)
        m.short_term.strategy = STRATEGY_FIFO;
    or_number(&m.long_term.has_top_k, &m.long_term.top_k, DEFAULT_TOP_K);
    m.long_term.has_enabled = m.procedural.has_enabled = true;
    return encode(c, &schema_memory_config, &m);
}

static bool is_tool_name(struct context *c, struct json item)
{
    size_t len = json_type(item) == JSON_STRING ? json_string(c->arena, item).len : 0;
    return len > 0 && len <= AGENT_TOOL_NAME_MAX_BYTES;
}

static void check_allowed_tools(struct context *c, struct str allowed)
{
    struct str where = STR("/guardrail_config/tool_rails/allowed_tools");
    struct json value, item;
    if (!parse(c, where, allowed, &value) ||
        (json_type(value) == JSON_STRING && json_string_eq(value, STR("all"))))
        return;
    if (json_type(value) != JSON_ARRAY || json_count(value) > AGENT_TOOLS_MAX) {
        problem_fault(c->problem, where, "must be \"all\" or a list of at most %d tool names",
            AGENT_TOOLS_MAX);
        return;
    }
    struct json_iter it = json_iter(value);
    for (size_t i = 0; json_next(&it, NULL, &item); i++)
        if (!is_tool_name(c, item))
            problem_fault(c->problem, arena_printf(c->arena, "%.*s/%zu", STR_ARG(where), i),
                "must be a string of 1 to %d bytes", AGENT_TOOL_NAME_MAX_BYTES);
}

static void complete_rails(struct nested_list *rails)
{
    struct agent_rail *items = rails->items;
    for (size_t i = 0; i < rails->count; i++)
        or_default(&items[i].config, STR("{}"));
}

static struct str complete_guardrails(struct context *c, const struct agent_definition *d)
{
    struct agent_guardrails g = d->guardrails;
    complete_rails(&g.input_rails);
    complete_rails(&g.output_rails);
    g.has_tool_rails = true;
    or_default(&g.tool_rails.allowed_tools, STR("\"all\""));
    check_allowed_tools(c, g.tool_rails.allowed_tools);
    return encode(c, &schema_guardrail_config, &g);
}

/* --- Model, execution, tools ---------------------------------------------------------------- */

static struct str complete_llm(struct context *c, const struct agent_definition *d)
{
    struct str where = STR("/llm_config/temperature"), temperature = d->llm.temperature;
    struct json value;
    if (!str_is_none(temperature) && parse(c, where, temperature, &value) &&
        (json_type(value) != JSON_NUMBER || json_number_cmp(temperature, STR("0")) < 0 ||
            json_number_cmp(temperature, STR("2")) > 0))
        problem_fault(c->problem, where, "must be a number from 0 to 2");
    return encode(c, &schema_llm_config, &d->llm);
}

static struct str complete_execution(struct context *c, const struct agent_definition *d)
{
    struct agent_execution x = d->execution;
    or_number(&x.has_max_turns, &x.max_turns, DEFAULT_MAX_TURNS);
    or_number(&x.has_timeout_seconds, &x.timeout_seconds, DEFAULT_TIMEOUT_S);
    if (x.checkpoint_frequency == CHECKPOINT_FREQUENCY_NONE)
        x.checkpoint_frequency = CHECKPOINT_EVERY_TURN;
    return encode(c, &schema_execution_config, &x);
}

static void read_tool(
    struct context *c, struct str where, struct json item, struct agent_tool *out_tool)
{
    *out_tool = (struct agent_tool){0};
    if (json_type(item) == JSON_OBJECT) {
        if (schema_decode_at(c->arena, &schema_tool_binding, where, item, out_tool, c->problem) !=
            OK)
            return; /* reported */
    } else if (is_tool_name(c, item)) {
        out_tool->tool = json_string(c->arena, item);
    } else {
        problem_fault(c->problem, where, "must be an object or a string of 1 to %d bytes",
            AGENT_TOOL_NAME_MAX_BYTES);
    }
    or_default(&out_tool->config_overrides, STR("{}"));
    if (!out_tool->has_is_enabled)
        out_tool->is_enabled = true;
    out_tool->has_is_enabled = true;
}

static void check_unique(
    struct context *c, struct str where, const struct agent_tool *tools, size_t index)
{
    for (size_t i = 0; i < index && tools[index].tool.len > 0; i++)
        if (str_eq(tools[i].tool, tools[index].tool)) {
            problem_fault(c->problem, where, "must not be bound more than once: \"%.*s\"",
                STR_ARG(tools[i].tool));
            return;
        }
}

static struct str complete_tools(struct context *c, const struct agent_definition *d)
{
    struct json list, item;
    if (str_is_none(d->tools))
        return STR("[]");
    if (!parse(c, STR("/tools"), d->tools, &list))
        return STR_NONE;
    if (json_count(list) > AGENT_TOOLS_MAX) {
        problem_fault(c->problem, STR("/tools"), "must have at most %d items", AGENT_TOOLS_MAX);
        return STR_NONE;
    }
    struct agent_tool *tools = ARENA_ARRAY(c->arena, struct agent_tool, json_count(list));
    struct json_text text;
    json_text_init(&text, ENCODED_MAX_BYTES);
    json_write_array(&text.w);
    struct json_iter it = json_iter(list);
    for (size_t i = 0; json_next(&it, NULL, &item); i++) {
        struct str where = arena_printf(c->arena, "/tools/%zu", i);
        read_tool(c, where, item, &tools[i]);
        check_unique(c, where, tools, i);
        schema_encode(&text.w, &schema_tool_binding, &tools[i]);
    }
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

/* --- All of it ------------------------------------------------------------------------------ */

typedef struct str complete_fn(struct context *c, const struct agent_definition *d);
static complete_fn *const complete[AGENT_PARTS] = {
    [PART_SYSTEM_PROMPT] = complete_prompt,
    [PART_WORKFLOW_GRAPH] = complete_graph,
    [PART_MEMORY_CONFIG] = complete_memory,
    [PART_GUARDRAIL_CONFIG] = complete_guardrails,
    [PART_LLM_CONFIG] = complete_llm,
    [PART_EXECUTION_CONFIG] = complete_execution,
    [PART_TOOLS] = complete_tools,
};

enum error agent_definition_complete(struct context *c, const struct agent_definition *definition,
    unsigned parts, struct str texts[AGENT_PARTS])
{
    size_t faults_before = c->problem->n_faults;
    for (int i = 0; i < AGENT_PARTS; i++) {
        if ((parts & 1U << i) == 0)
            continue;
        texts[i] = complete[i](c, definition);
        if (texts[i].len > AGENT_PART_MAX_BYTES)
            problem_fault(c->problem, arena_printf(c->arena, "/%s", agent_part_names[i]),
                "must have at most %d bytes including the defaults", AGENT_PART_MAX_BYTES);
    }
    return c->problem->n_faults == faults_before ? OK : ERR_INVALID;
}

enum error agent_definition_read(
    struct context *c, const struct str texts[AGENT_PARTS], struct agent_definition *out_definition)
{
    struct holder {
        struct agent_definition definition;
    };
#define OF struct holder
    static const struct field fields[] = {DEFINITION_FIELDS(definition, IN_BODY)};
#undef OF
    static const struct schema schema = SCHEMA("AgentDefinition", struct holder, fields, IN_BODY);
    struct json_text text;
    struct json whole;
    struct holder holder;
    json_text_init(&text, ENCODED_MAX_BYTES);
    json_write_object(&text.w);
    for (int i = 0; i < AGENT_PARTS; i++) {
        json_write_name(&text.w, agent_part_names[i]);
        json_write_raw(&text.w, texts[i]);
    }
    json_write_end(&text.w);
    if (!parse(c, STR(""), json_text_take(&text, c->arena), &whole))
        return ERR_INVALID;
    enum error e = schema_decode(c->arena, &schema, whole, &holder, c->problem);
    if (e == OK)
        *out_definition = holder.definition;
    return e;
}
