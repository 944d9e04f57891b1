/* SPDX-License-Identifier: Apache-2.0 */
/* Versions of agents: what each was told to be, and which one new runs get. */
#include "cli/agent.h"

static const char *const bumps[] = {"major", "minor", "patch", NULL};

static const struct cli_column list_columns[] = {
    {"VERSION", "/version", COLUMN_TEXT},
    {"ACTIVE", "/is_active", COLUMN_TEXT},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"USED", "/used_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"VERSION", "/version", COLUMN_TEXT},
    {"ACTIVE", "/is_active", COLUMN_TEXT},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"SYSTEM PROMPT", "/system_prompt", COLUMN_JSON},
    {"GRAPH", "/workflow_graph", COLUMN_JSON},
    {"MEMORY", "/memory_config", COLUMN_JSON},
    {"GUARDRAILS", "/guardrail_config", COLUMN_JSON},
    {"LLM", "/llm_config", COLUMN_JSON},
    {"EXECUTION", "/execution_config", COLUMN_JSON},
    {"TOOLS", "/tools", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"USED", "/used_at", COLUMN_TIME},
    {"REVISION", "/revision", COLUMN_NUMBER},
};
static const struct cli_column diff_columns[] = {
    {"FROM", "/from", COLUMN_TEXT},
    {"TO", "/to", COLUMN_TEXT},
    {"FIELDS", "/fields", COLUMN_JSON},
    {"PATCH", "/patch", COLUMN_JSON},
};

const struct command command_agent_versions = {.noun = "agent",
    .verb = "versions",
    .arguments = "AGENT",
    .summary = "list the versions of an agent, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/versions",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_agent_version = {.noun = "agent",
    .verb = "version",
    .arguments = "AGENT VERSION",
    .summary = "show a version of an agent; also \"active\" and \"latest\"",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/versions/{VERSION}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option create_options[] = {
    {.name = "version",
        .argument = "VERSION",
        .goes = GOES_TEXT,
        .help = "a semantic version greater than all before; or else --bump"},
    {.name = "bump",
        .argument = "NUMBER",
        .choices = bumps,
        .goes = GOES_TEXT,
        .help = "which number of the newest version to raise"},
    {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "what is new in it"},
    {.name = "activate", .goes = GOES_TRUE, .help = "new runs get it at once"},
    CLI_DEFINITION_OPTIONS,
};
const struct command command_agent_make_version = {.noun = "agent",
    .verb = "create-version",
    .arguments = "AGENT",
    .summary = "make a version of an agent; what is left out is as in the newest",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/agents/{AGENT}/versions",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option update_options[] = {
    {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "what is new in it"},
    CLI_DEFINITION_OPTIONS,
    {.name = "if-match",
        .argument = "REVISION",
        .goes = GOES_MATCH,
        .help = "only while this is its revision"},
};
const struct command command_agent_edit_version = {.noun = "agent",
    .verb = "update-version",
    .arguments = "AGENT VERSION",
    .summary = "change a version of an agent that no run has used",
    .options = update_options,
    .n_options = COUNT_OF(update_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PATCH",
        .path = "/v1/agents/{AGENT}/versions/{VERSION}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_agent_activate = {.noun = "agent",
    .verb = "activate",
    .arguments = "AGENT VERSION",
    .summary = "make a version the one that new runs get",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/agents/{AGENT}/versions/{VERSION}/activate",
        .columns = cli_agent_columns,
        .n_columns = CLI_AGENT_COLUMNS}};

const struct command command_agent_rollback = {.noun = "agent",
    .verb = "rollback",
    .arguments = "AGENT",
    .summary = "go back to the version that was active before",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/agents/{AGENT}/rollback",
        .columns = cli_agent_columns,
        .n_columns = CLI_AGENT_COLUMNS}};

const struct command command_agent_diff = {.noun = "agent",
    .verb = "diff",
    .arguments = "AGENT VERSION OTHER",
    .summary = "tell what differs between two versions of an agent",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/versions/{VERSION}/diff/{OTHER}",
        .columns = diff_columns,
        .n_columns = COUNT_OF(diff_columns)}};
