/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: a stretch of a run between two inputs. */
#include "cli/cli.h"

static const char *const statuses[] = {
    "running", "complete", "awaiting_tool", "awaiting_human", "failed", "cancelled", NULL};
static const char *const includes[] = {"documents", NULL};

static const struct cli_column list_columns[] = {
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"ID", "/turn_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"TOKENS IN", "/usage/tokens_in", COLUMN_NUMBER},
    {"TOKENS OUT", "/usage/tokens_out", COLUMN_NUMBER},
    {"COST (USD)", "/usage/cost_usd", COLUMN_NUMBER},
    {"MS", "/latency_ms", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"ID", "/turn_id", COLUMN_ID},
    {"RUN", "/run_id", COLUMN_ID},
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"STATUS", "/status", COLUMN_STATUS},
    {"INPUT", "/input", COLUMN_JSON},
    {"OUTPUT", "/output", COLUMN_JSON},
    {"TOKENS IN", "/usage/tokens_in", COLUMN_NUMBER},
    {"TOKENS OUT", "/usage/tokens_out", COLUMN_NUMBER},
    {"COST (USD)", "/usage/cost_usd", COLUMN_NUMBER},
    {"MS", "/latency_ms", COLUMN_NUMBER},
    {"CHECKPOINT", "/checkpoint_id", COLUMN_ID},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"FINISHED", "/finished_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
#define SHOWS_TURN .columns = columns, .n_columns = COUNT_OF(columns)

static const struct cli_option list_options[] = {
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "documents: input and output too, with --json"},
};
const struct command command_turn_list = {.noun = "turn",
    .verb = "list",
    .arguments = "RUN",
    .summary = "list the turns of a run, oldest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/turns",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_turn_get = {.noun = "turn",
    .verb = "get",
    .arguments = "RUN TURN",
    .summary = "show a turn",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "GET", .path = "/v1/runs/{RUN}/turns/{TURN}", SHOWS_TURN}};

/* What may be told when a turn begins and later. */
#define TOLD_OPTIONS                                                                      \
    {.name = "status",                                                                    \
        .argument = "STATUS",                                                             \
        .choices = statuses,                                                              \
        .goes = GOES_TEXT,                                                                \
        .help = "running, complete, awaiting_tool, awaiting_human, failed or cancelled"}, \
        {.name = "output",                                                                \
            .argument = "JSON",                                                           \
            .goes = GOES_JSON,                                                            \
            .help = "what it gave back, an object; @FILE reads it from a file"},          \
        {.name = "usage",                                                                 \
            .argument = "JSON",                                                           \
            .goes = GOES_JSON,                                                            \
            .help = "of one call of a model: {\"tokens_in\": …, \"tokens_out\": …}"},     \
        {.name = "latency",                                                               \
            .argument = "MS",                                                             \
            .goes = GOES_NUMBER,                                                          \
            .field = "latency_ms",                                                        \
            .help = "how long it took"},                                                  \
    {                                                                                     \
        .name = "checkpoint", .argument = "CHECKPOINT", .goes = GOES_TEXT,                \
        .field = "checkpoint_id", .help = "a checkpoint of the run's thread"              \
    }

static const struct cli_option create_options[] = {
    {.name = "input",
        .argument = "JSON",
        .required = true,
        .goes = GOES_JSON,
        .help = "{\"message\": …}, {\"tool_results\": […]} or both; @FILE reads it from a file"},
    TOLD_OPTIONS,
};
const struct command command_turn_create = {.noun = "turn",
    .verb = "create",
    .arguments = "RUN",
    .summary = "begin a turn, or record a whole one",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request =
        &(const struct cli_request){.method = "POST", .path = "/v1/runs/{RUN}/turns", SHOWS_TURN}};

static const struct cli_option update_options[] = {TOLD_OPTIONS};
const struct command command_turn_update = {.noun = "turn",
    .verb = "update",
    .arguments = "RUN TURN",
    .summary = "complete or change a turn",
    .options = update_options,
    .n_options = COUNT_OF(update_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "PATCH", .path = "/v1/runs/{RUN}/turns/{TURN}", SHOWS_TURN}};
