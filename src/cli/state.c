/* SPDX-License-Identifier: Apache-2.0 */
/* State documents of agents, of threads, and of agents within threads. */
#include "cli/cli.h"

static const char *const includes[] = {"documents", NULL};

static const struct cli_column list_columns[] = {
    {"NAME", "/name", COLUMN_ID},
    {"VERSION", "/version", COLUMN_NUMBER},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"UPDATED BY", "/updated_by", COLUMN_TEXT},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"NAME", "/name", COLUMN_ID},
    {"AGENT", "/agent_id", COLUMN_ID},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"DATA", "/data", COLUMN_JSON},
    {"SCHEMA", "/json_schema", COLUMN_JSON},
    {"UI SCHEMA", "/ui_schema", COLUMN_JSON},
    {"UPDATED BY", "/updated_by", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
static const struct cli_column history_columns[] = {
    {"VERSION", "/version", COLUMN_NUMBER},
    {"BY", "/created_by", COLUMN_TEXT},
    {"AT", "/created_at", COLUMN_TIME},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"DATA", "/data", COLUMN_JSON},
};

/* The path begins with the thread, where there are both. */
#define OWNER_OPTIONS                                                               \
    {.name = "thread",                                                              \
        .argument = "THREAD",                                                       \
        .goes = GOES_PATH,                                                          \
        .field = "threads",                                                         \
        .help = "of this thread"},                                                  \
    {                                                                               \
        .name = "agent", .argument = "AGENT", .goes = GOES_PATH, .field = "agents", \
        .help = "of this agent, or of it in the thread"                             \
    }

static const struct cli_option list_options[] = {
    OWNER_OPTIONS,
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "documents: data and schemas too, with --json"},
};
const struct command command_state_list = {.noun = "state",
    .verb = "list",
    .summary = "list the state documents of a thread or an agent",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1*/states",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

static const struct cli_option owner_options[] = {OWNER_OPTIONS};
const struct command command_state_get = {.noun = "state",
    .verb = "get",
    .arguments = "NAME",
    .summary = "show a state document",
    .options = owner_options,
    .n_options = COUNT_OF(owner_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1*/states/{NAME}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option set_options[] = {
    OWNER_OPTIONS,
    {.name = "data",
        .argument = "JSON",
        .goes = GOES_JSON,
        .required = true,
        .help = "an object or an array; @FILE reads it from a file"},
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
const struct command command_state_set = {.noun = "state",
    .verb = "set",
    .arguments = "NAME",
    .summary = "write a state document, whole",
    .details = "A document that has changed since the version you have seen is not written over: "
               "the refusal says which version there is now.",
    .options = set_options,
    .n_options = COUNT_OF(set_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PUT",
        .path = "/v1*/states/{NAME}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option history_options[] = {
    OWNER_OPTIONS,
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "documents: data and schemas too"},
};
const struct command command_state_history = {.noun = "state",
    .verb = "history",
    .arguments = "NAME",
    .summary = "list the versions of a state document, newest first",
    .options = history_options,
    .n_options = COUNT_OF(history_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1*/states/{NAME}/versions",
        .columns = history_columns,
        .n_columns = COUNT_OF(history_columns)}};

const struct command command_state_focus = {.noun = "state",
    .verb = "focus",
    .arguments = "NAME",
    .summary = "ask who watches to show a state document",
    .options = owner_options,
    .n_options = COUNT_OF(owner_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1*/states/{NAME}/focus",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .done = "Whoever watches was asked."}};

static const struct cli_option delete_options[] = {
    OWNER_OPTIONS,
    {.name = "if-match",
        .argument = "VERSION or *",
        .goes = GOES_MATCH,
        .required = true,
        .help = "the version you have seen; * deletes any"},
};
const struct command command_state_delete = {.noun = "state",
    .verb = "delete",
    .arguments = "NAME",
    .summary = "delete a state document and its versions",
    .options = delete_options,
    .n_options = COUNT_OF(delete_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1*/states/{NAME}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the document and all its versions?",
        .done = "The document is deleted."}};
