/* SPDX-License-Identifier: Apache-2.0 */
/* Links of agents: whom a team or a workflow is made of. */
#include "cli/agent.h"

static const struct cli_column columns[] = {
    {"CHILD", "/child_id", COLUMN_ID},
    {"NAME", "/child_name", COLUMN_TEXT},
    {"KIND", "/child_kind", COLUMN_TEXT},
    {"ROLE", "/role", COLUMN_TEXT},
    {"POSITION", "/position", COLUMN_NUMBER},
    {"VERSION", "/child_version", COLUMN_TEXT},
};
static const struct cli_column tree_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"KIND", "/kind", COLUMN_TEXT},
    {"VERSION", "/version", COLUMN_TEXT},
    {"CHILDREN", "/children", COLUMN_JSON},
};

const struct command command_agent_links = {.noun = "agent",
    .verb = "links",
    .arguments = "AGENT",
    .summary = "list whom a team or a workflow is made of",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/links",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option link_options[] = {
    {.name = "role",
        .argument = "ROLE",
        .goes = GOES_TEXT,
        .help = "what the child is there",
        .fallback = "member"},
    {.name = "position",
        .argument = "N",
        .goes = GOES_NUMBER,
        .help = "its place among the children",
        .fallback = "behind the others"},
    {.name = "child-version",
        .argument = "VERSION",
        .goes = GOES_TEXT,
        .field = "child_version",
        .help = "a version of the child",
        .fallback = "its active one"},
    {.name = "metadata",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "an object of your own; @FILE reads it from a file"},
};
const struct command command_agent_link = {.noun = "agent",
    .verb = "link",
    .arguments = "AGENT CHILD",
    .summary = "make an agent a child of a team or a workflow, or change its link",
    .options = link_options,
    .n_options = COUNT_OF(link_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PUT",
        .path = "/v1/agents/{AGENT}/links/{CHILD}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_agent_unlink = {.noun = "agent",
    .verb = "unlink",
    .arguments = "AGENT CHILD",
    .summary = "take a child out of a team or a workflow",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/agents/{AGENT}/links/{CHILD}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Take the child out?",
        .done = "The link is gone."}};

const struct command command_agent_tree = {.noun = "agent",
    .verb = "tree",
    .arguments = "AGENT",
    .summary = "show an agent with its children, and theirs",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/tree",
        .columns = tree_columns,
        .n_columns = COUNT_OF(tree_columns)}};
