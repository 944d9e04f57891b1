/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a thread, and the context that is taken from it. */
#include "cli/cli.h"

static const char *const includes[] = {"messages", NULL};

static const struct cli_column list_columns[] = {
    {"NUMBER", "/sequence_number", COLUMN_NUMBER},
    {"RUN", "/run_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"COMPLETED", "/completed_at", COLUMN_TIME},
    {"STEPS", "/total_steps", COLUMN_NUMBER},
    {"ASKED", "/user_message", COLUMN_TEXT},
    {"ANSWERED", "/final_response", COLUMN_TEXT},
};
static const struct cli_column columns[] = {
    {"NUMBER", "/sequence_number", COLUMN_NUMBER},
    {"ID", "/conversation_id", COLUMN_ID},
    {"RUN", "/run_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"STOP REASON", "/stop_reason", COLUMN_TEXT},
    {"ASKED", "/user_message", COLUMN_TEXT},
    {"ANSWERED", "/final_response", COLUMN_TEXT},
    {"MESSAGES", "/messages", COLUMN_JSON},
    {"STEPS", "/total_steps", COLUMN_NUMBER},
    {"USAGE", "/usage", COLUMN_JSON},
    {"COST", "/cost", COLUMN_JSON},
    {"FILES", "/generated_files", COLUMN_JSON},
    {"EXTRAS", "/extras", COLUMN_JSON},
    {"STARTED", "/started_at", COLUMN_TIME},
    {"COMPLETED", "/completed_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};

static const struct cli_option list_options[] = {
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "messages: the whole conversations too, with --json"},
};
const struct command command_history_list = {.noun = "history",
    .verb = "list",
    .arguments = "THREAD",
    .summary = "list the finished runs of a thread as a conversation, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/history",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_history_get = {.noun = "history",
    .verb = "get",
    .arguments = "THREAD NUMBER",
    .summary = "show one entry of a history with its messages",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/history/{NUMBER}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const char *const truths[] = {"true", "false", NULL};
static const struct cli_column context_columns[] = {
    {"RUNS", "/runs_used", COLUMN_NUMBER},
    {"OF", "/runs_available", COLUMN_NUMBER},
    {"TOKENS", "/estimated_tokens", COLUMN_NUMBER},
    {"TRUNCATED", "/truncated", COLUMN_TEXT},
    {"MESSAGES", "/messages", COLUMN_JSON},
};
static const struct cli_option context_options[] = {
    {.name = "runs",
        .argument = "COUNT",
        .goes = GOES_QUERY,
        .field = "history_runs",
        .fallback = "5",
        .help = "how many of the last completed runs"},
    {.name = "max-tokens",
        .argument = "COUNT",
        .goes = GOES_QUERY,
        .field = "max_tokens",
        .help = "the budget, in estimated tokens"},
    {.name = "system",
        .argument = "TRUTH",
        .choices = truths,
        .goes = GOES_QUERY,
        .field = "include_system",
        .help = "true: begin with the system prompt of the resumption"},
};
const struct command command_thread_context = {.noun = "thread",
    .verb = "context",
    .arguments = "THREAD",
    .summary = "show the messages that an engine puts before the next run",
    .options = context_options,
    .n_options = COUNT_OF(context_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/context",
        .columns = context_columns,
        .n_columns = COUNT_OF(context_columns)}};
