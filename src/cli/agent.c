/* Agents: who works on threads; and what they are told to do. */
#include "cli/cli.h"

static const struct cli_column list_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
static const struct cli_column config_columns[] = {
    {"DATA", "/data", COLUMN_JSON},
    {"SCHEMA", "/json_schema", COLUMN_JSON},
    {"UI SCHEMA", "/ui_schema", COLUMN_JSON},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};

static const struct cli_option list_options[] = {
    {.name = "name",
        .argument = "NAME",
        .goes = GOES_QUERY,
        .help = "the agent of exactly this name"},
};
const struct command command_agent_list = {.noun = "agent",
    .verb = "list",
    .summary = "list agents, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_agent_get = {.noun = "agent",
    .verb = "get",
    .arguments = "AGENT",
    .summary = "show an agent",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option create_options[] = {
    {.name = "name",
        .argument = "NAME",
        .goes = GOES_TEXT,
        .required = true,
        .help = "one that no other agent has"},
    {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people"},
    {.name = "metadata",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "an object of your own; @FILE reads it from a file"},
};
const struct command command_agent_create = {.noun = "agent",
    .verb = "create",
    .summary = "create an agent",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/agents",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option update_options[] = {
    {.name = "name", .argument = "NAME", .goes = GOES_TEXT, .help = "another name"},
    {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people"},
    {.name = "metadata",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "members to set; null removes one"},
    {.name = "if-match",
        .argument = "VERSION",
        .goes = GOES_MATCH,
        .help = "only while this is its version"},
};
const struct command command_agent_update = {.noun = "agent",
    .verb = "update",
    .arguments = "AGENT",
    .summary = "change what is given, and leave the rest",
    .options = update_options,
    .n_options = COUNT_OF(update_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PATCH",
        .path = "/v1/agents/{AGENT}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_agent_delete = {.noun = "agent",
    .verb = "delete",
    .arguments = "AGENT",
    .summary = "delete an agent, its states, configuration and storage",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/agents/{AGENT}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the agent, its states, its configuration and its storage?",
        .done = "The agent is deleted."}};

const struct command command_agent_config = {.noun = "agent",
    .verb = "config",
    .arguments = "AGENT",
    .summary = "show the configuration of an agent",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/config",
        .columns = config_columns,
        .n_columns = COUNT_OF(config_columns)}};

static const struct cli_option configure_options[] = {
    {.name = "data",
        .argument = "JSON",
        .goes = GOES_JSON,
        .required = true,
        .help = "an object; @FILE reads it from a file"},
    {.name = "schema",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "json_schema",
        .help = "a JSON Schema that the data satisfies"},
    {.name = "ui-schema",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "ui_schema",
        .help = "how to show it"},
    {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people"},
    {.name = "if-match",
        .argument = "VERSION, new or *",
        .goes = GOES_MATCH,
        .required = true,
        .help = "the version you have seen; new when there is none; * writes over any"},
};
const struct command command_agent_configure = {.noun = "agent",
    .verb = "configure",
    .arguments = "AGENT",
    .summary = "write the configuration of an agent, whole",
    .options = configure_options,
    .n_options = COUNT_OF(configure_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PUT",
        .path = "/v1/agents/{AGENT}/config",
        .columns = config_columns,
        .n_columns = COUNT_OF(config_columns)}};
