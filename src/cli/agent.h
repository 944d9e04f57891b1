/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the commands about agents share. */
#ifndef CLI_AGENT_H
#define CLI_AGENT_H

#include "cli/cli.h"

enum { CLI_AGENT_COLUMNS = 10 };
extern const struct cli_column cli_agent_columns[CLI_AGENT_COLUMNS];
extern const char *const cli_agent_kinds[];

#define CLI_DEFINITION_PART(option, member, what)                                            \
    {                                                                                        \
        .name = option, .argument = "JSON", .goes = GOES_JSON, .field = member, .help = what \
    }
/* The parts of a definition. */
#define CLI_DEFINITION_OPTIONS                                                                 \
    {.name = "instructions",                                                                   \
        .argument = "TEXT",                                                                    \
        .goes = GOES_CONTENT,                                                                  \
        .field = "system_prompt",                                                              \
        .help = "the system prompt as text; @FILE reads it from a file"},                      \
        CLI_DEFINITION_PART("system-prompt", "system_prompt",                                  \
            "role, instructions and examples; @FILE reads it from a file"),                    \
        CLI_DEFINITION_PART("graph", "workflow_graph", "entry point, nodes and edges"),        \
        CLI_DEFINITION_PART("memory", "memory_config", "short_term, long_term, procedural"),   \
        CLI_DEFINITION_PART("guardrails", "guardrail_config", "input, output and tool rails"), \
        CLI_DEFINITION_PART("llm", "llm_config", "models, temperature, max_tokens"),           \
        CLI_DEFINITION_PART(                                                                   \
            "execution", "execution_config", "max_turns, timeout_seconds, checkpoints"),       \
        CLI_DEFINITION_PART("tools", "tools", "a list of names, or of bindings")

#endif
