/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread is resumed from, and the tools that its runs wait for. */
#include "cli/cli.h"

static const struct cli_column columns[] = {
    {"THREAD", "/thread_id", COLUMN_ID},
    {"TITLE", "/title", COLUMN_TEXT},
    {"MODEL", "/model", COLUMN_TEXT},
    {"SYSTEM PROMPT", "/system_prompt", COLUMN_TEXT},
    {"CURRENT STEP", "/current_step", COLUMN_NUMBER},
    {"MAX STEPS", "/max_steps", COLUMN_NUMBER},
    {"CONTAINER", "/container_id", COLUMN_TEXT},
    {"MESSAGES", "/messages", COLUMN_JSON},
    {"HISTORY", "/conversation_history", COLUMN_JSON},
    {"TOOLS", "/tool_names", COLUMN_JSON},
    {"PENDING TOOLS", "/pending_frontend_tools", COLUMN_JSON},
    {"PENDING RESULTS", "/pending_backend_results", COLUMN_JSON},
    {"FILES", "/file_registry", COLUMN_JSON},
    {"EXTRAS", "/extras", COLUMN_JSON},
    {"RUNS", "/total_runs", COLUMN_NUMBER},
    {"LAST RUN", "/last_run_at", COLUMN_TIME},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
#define SHOWS_RESUMPTION .columns = columns, .n_columns = COUNT_OF(columns)

const struct command command_resumption_get = {.noun = "resumption",
    .verb = "get",
    .arguments = "THREAD",
    .summary = "show everything that is needed to resume a thread",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "GET", .path = "/v1/threads/{THREAD}/resumption", SHOWS_RESUMPTION}};

static const struct cli_option options[] = {
    {.name = "system-prompt",
        .argument = "TEXT",
        .goes = GOES_CONTENT,
        .field = "system_prompt",
        .help = "what the model is told first; @FILE reads it from a file"},
    {.name = "model", .argument = "MODEL", .goes = GOES_TEXT, .help = "the model to ask"},
    {.name = "messages",
        .argument = "JSON",
        .goes = GOES_JSON,
        .help = "the compacted messages; @FILE reads them from a file"},
    {.name = "tools",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "tool_schemas",
        .help = "the tools of the client, with their schemas"},
    {.name = "files",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "file_registry",
        .help = "the registry of files"},
    {.name = "extras", .argument = "JSON", .goes = GOES_JSON, .help = "an object of your own"},
    {.name = "api-kwargs",
        .argument = "JSON",
        .goes = GOES_JSON,
        .field = "api_kwargs",
        .help = "passed on to the provider"},
    {.name = "container",
        .argument = "ID",
        .goes = GOES_TEXT,
        .field = "container_id",
        .help = "where code is executed"},
    {.name = "current-step",
        .argument = "NUMBER",
        .goes = GOES_NUMBER,
        .field = "current_step",
        .help = "the step to go on from"},
    {.name = "max-steps",
        .argument = "NUMBER",
        .goes = GOES_NUMBER,
        .field = "max_steps",
        .help = "how many steps a run may take"},
    {.name = "max-tokens",
        .argument = "NUMBER",
        .goes = GOES_NUMBER,
        .field = "max_tokens",
        .help = "of one answer of the model"},
    {.name = "title", .argument = "TEXT", .goes = GOES_TEXT, .help = "of the thread"},
    {.name = "if-match",
        .argument = "VERSION, new or *",
        .goes = GOES_MATCH,
        .required = true,
        .help = "the version you have seen; new when there is none; * writes over any"},
};

const struct command command_resumption_put = {.noun = "resumption",
    .verb = "put",
    .arguments = "THREAD",
    .summary = "write what a thread is resumed from, whole",
    .details = "What is left out gets its default; messages that are left out stay.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "PUT", .path = "/v1/threads/{THREAD}/resumption", SHOWS_RESUMPTION}};

const struct command command_resumption_patch = {.noun = "resumption",
    .verb = "patch",
    .arguments = "THREAD",
    .summary = "change what a thread is resumed from",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){
        .method = "PATCH", .path = "/v1/threads/{THREAD}/resumption", SHOWS_RESUMPTION}};

/* --- Tools ---------------------------------------------------------------------------------- */

static const char *const truths[] = {"true", "false", NULL};

static const struct cli_column tool_columns[] = {
    {"TOOL USE", "/tool_use_id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"SIDE", "/side", COLUMN_TEXT},
    {"ASKED", "/created_at", COLUMN_TIME},
    {"RESULT", "/result_at", COLUMN_TIME},
    {"INPUT", "/input", COLUMN_JSON},
    {"CONTENT", "/content", COLUMN_JSON},
};
static const struct cli_option tool_list_options[] = {
    {.name = "open",
        .argument = "TRUTH",
        .choices = truths,
        .goes = GOES_QUERY,
        .help = "true: only those whose results are missing"},
};
const struct command command_tool_list = {.noun = "tool",
    .verb = "list",
    .arguments = "RUN",
    .summary = "list the tools that a run has waited for",
    .options = tool_list_options,
    .n_options = COUNT_OF(tool_list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/runs/{RUN}/tools",
        .columns = tool_columns,
        .n_columns = COUNT_OF(tool_columns)}};

static const struct cli_column settled_columns[] = {
    {"RUN", "/run_id", COLUMN_ID},
    {"STATUS", "/status", COLUMN_STATUS},
    {"REMAINING", "/remaining", COLUMN_NUMBER},
    {"RESUMED", "/resumed", COLUMN_TEXT},
    {"ACCEPTED", "/accepted", COLUMN_JSON},
    {"DUPLICATES", "/duplicates", COLUMN_JSON},
};
static const struct cli_option results_options[] = {
    {.name = "results",
        .argument = "JSON",
        .goes = GOES_JSON,
        .required = true,
        .help = "a list of {tool_use_id, content, is_error}; @FILE reads it from a file"},
};
const struct command command_tool_results = {.noun = "tool",
    .verb = "results",
    .arguments = "RUN",
    .summary = "give a run the results of tools that it waits for",
    .options = results_options,
    .n_options = COUNT_OF(results_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/runs/{RUN}/tool-results",
        .columns = settled_columns,
        .n_columns = COUNT_OF(settled_columns)}};
