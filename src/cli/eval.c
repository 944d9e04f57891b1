/* SPDX-License-Identifier: Apache-2.0 */
/* Eval runs: what was found out about agents, runs and models. */
#include "cli/cli.h"

static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"TYPE", "/eval_type", COLUMN_TEXT},
    {"SCORE", "/score", COLUMN_NUMBER},
    {"PASSED", "/passed", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"AGENT", "/agent_id", COLUMN_ID},
    {"AGENT VERSION", "/agent_version", COLUMN_TEXT},
    {"RUN", "/run_id", COLUMN_ID},
    {"MODEL", "/model", COLUMN_TEXT},
    {"PROVIDER", "/provider", COLUMN_TEXT},
    {"EVALUATED", "/evaluated_name", COLUMN_TEXT},
    {"INPUT", "/eval_input", COLUMN_JSON},
    {"DATA", "/eval_data", COLUMN_JSON},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"VERSION", "/version", COLUMN_NUMBER},
};
enum { LIST_COLUMNS = 6 };

static const struct cli_option list_options[] = {
    {.name = "type",
        .argument = "TYPE",
        .goes = GOES_QUERY,
        .field = "eval_type",
        .help = "only of this type"},
    {.name = "agent",
        .argument = "AGENT",
        .goes = GOES_QUERY,
        .field = "agent_id",
        .help = "only of this agent"},
    {.name = "run",
        .argument = "RUN",
        .goes = GOES_QUERY,
        .field = "run_id",
        .help = "only of this run"},
};
const struct command command_eval_list = {.noun = "eval",
    .verb = "list",
    .summary = "list eval runs, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){
        .method = "GET", .path = "/v1/evals", .columns = columns, .n_columns = LIST_COLUMNS}};

const struct command command_eval_get = {.noun = "eval",
    .verb = "get",
    .arguments = "EVAL",
    .summary = "show an eval run",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/evals/{EVAL}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

#define EVAL_OPTIONS(needed)                                                                       \
    {.name = "name",                                                                               \
        .argument = "NAME",                                                                        \
        .goes = GOES_TEXT,                                                                         \
        .required = (needed),                                                                      \
        .help = "for people"},                                                                     \
        {.name = "type",                                                                           \
            .argument = "TYPE",                                                                    \
            .goes = GOES_TEXT,                                                                     \
            .field = "eval_type",                                                                  \
            .required = (needed),                                                                  \
            .help = "accuracy, performance, reliability, agent_as_judge or your own"},             \
        {.name = "agent",                                                                          \
            .argument = "AGENT",                                                                   \
            .goes = GOES_TEXT,                                                                     \
            .field = "agent_id",                                                                   \
            .help = "the agent that was evaluated"},                                               \
        {.name = "run",                                                                            \
            .argument = "RUN",                                                                     \
            .goes = GOES_TEXT,                                                                     \
            .field = "run_id",                                                                     \
            .help = "the run that was judged"},                                                    \
        {.name = "model",                                                                          \
            .argument = "MODEL",                                                                   \
            .goes = GOES_TEXT,                                                                     \
            .help = "the model that was evaluated"},                                               \
        {.name = "score", .argument = "NUMBER", .goes = GOES_JSON, .help = "from 0 to 1"},         \
        {.name = "passed", .argument = "BOOL", .goes = GOES_JSON, .help = "true or false"},        \
        {.name = "input",                                                                          \
            .argument = "JSON",                                                                    \
            .goes = GOES_JSON,                                                                     \
            .field = "eval_input",                                                                 \
            .help = "an object; @FILE reads it from a file"},                                      \
        {.name = "data",                                                                           \
            .argument = "JSON",                                                                    \
            .goes = GOES_JSON,                                                                     \
            .field = "eval_data",                                                                  \
            .help = "an object; @FILE reads it from a file"},                                      \
    {                                                                                              \
        .name = "metadata", .argument = "JSON", .goes = GOES_JSON, .help = "an object of your own" \
    }

static const struct cli_option create_options[] = {EVAL_OPTIONS(true)};
const struct command command_eval_create = {.noun = "eval",
    .verb = "create",
    .summary = "record an eval run",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "POST", .path = "/v1/evals", .columns = columns, .n_columns = COUNT_OF(columns)}};

static const struct cli_option update_options[] = {
    EVAL_OPTIONS(false),
    {.name = "if-match",
        .argument = "VERSION",
        .goes = GOES_MATCH,
        .help = "only while this is its version"},
};
const struct command command_eval_update = {.noun = "eval",
    .verb = "update",
    .arguments = "EVAL",
    .summary = "change what is given, and leave the rest",
    .options = update_options,
    .n_options = COUNT_OF(update_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PATCH",
        .path = "/v1/evals/{EVAL}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_eval_delete = {.noun = "eval",
    .verb = "delete",
    .arguments = "EVAL",
    .summary = "delete an eval run",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/evals/{EVAL}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the eval run?",
        .done = "The eval run is deleted."}};
