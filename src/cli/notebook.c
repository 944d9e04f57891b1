/* SPDX-License-Identifier: Apache-2.0 */
/* Notebooks, and the threads that are their sessions. */
#include "cli/cli.h"

static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"TITLE", "/title", COLUMN_TEXT},
    {"SESSIONS", "/sessions", COLUMN_NUMBER},
    {"UPDATED", "/updated_at", COLUMN_TIME},
    {"DESCRIPTION", "/description", COLUMN_TEXT},
    {"INSTRUCTIONS", "/instructions", COLUMN_TEXT},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"VERSION", "/version", COLUMN_NUMBER},
};
enum { LIST_COLUMNS = 5 };
static const struct cli_column session_columns[] = {
    {"THREAD", "/thread_id", COLUMN_ID},
    {"NUMBER", "/number", COLUMN_NUMBER},
    {"TITLE", "/title", COLUMN_TEXT},
    {"STATUS", "/status", COLUMN_STATUS},
    {"ADDED", "/created_at", COLUMN_TIME},
};

const struct command command_notebook_list = {.noun = "notebook",
    .verb = "list",
    .summary = "list notebooks, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){
        .method = "GET", .path = "/v1/notebooks", .columns = columns, .n_columns = LIST_COLUMNS}};

const struct command command_notebook_get = {.noun = "notebook",
    .verb = "get",
    .arguments = "NOTEBOOK",
    .summary = "show a notebook",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/notebooks/{NOTEBOOK}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

#define NOTEBOOK_OPTIONS(needed)                                                                   \
    {.name = "title",                                                                              \
        .argument = "TEXT",                                                                        \
        .goes = GOES_TEXT,                                                                         \
        .required = (needed),                                                                      \
        .help = "up to 255 bytes"},                                                                \
        {.name = "description", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people"},      \
        {.name = "instructions",                                                                   \
            .argument = "TEXT",                                                                    \
            .goes = GOES_CONTENT,                                                                  \
            .help = "for the agents that work in it; @FILE reads them from a file"},               \
    {                                                                                              \
        .name = "metadata", .argument = "JSON", .goes = GOES_JSON, .help = "an object of your own" \
    }

static const struct cli_option create_options[] = {NOTEBOOK_OPTIONS(true)};
const struct command command_notebook_create = {.noun = "notebook",
    .verb = "create",
    .summary = "create a notebook",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/notebooks",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const struct cli_option update_options[] = {
    NOTEBOOK_OPTIONS(false),
    {.name = "if-match",
        .argument = "VERSION",
        .goes = GOES_MATCH,
        .help = "only while this is its version"},
};
const struct command command_notebook_update = {.noun = "notebook",
    .verb = "update",
    .arguments = "NOTEBOOK",
    .summary = "change what is given, and leave the rest",
    .options = update_options,
    .n_options = COUNT_OF(update_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "PATCH",
        .path = "/v1/notebooks/{NOTEBOOK}",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_notebook_delete = {.noun = "notebook",
    .verb = "delete",
    .arguments = "NOTEBOOK",
    .summary = "delete a notebook; the threads in it stay",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/notebooks/{NOTEBOOK}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the notebook? The threads in it stay.",
        .done = "The notebook is deleted."}};

const struct command command_notebook_sessions = {.noun = "notebook",
    .verb = "sessions",
    .arguments = "NOTEBOOK",
    .summary = "list the threads of a notebook, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/notebooks/{NOTEBOOK}/sessions",
        .columns = session_columns,
        .n_columns = COUNT_OF(session_columns)}};

static const struct cli_option add_options[] = {
    {.name = "thread",
        .argument = "THREAD",
        .goes = GOES_TEXT,
        .field = "thread_id",
        .help = "the thread; a new one when it is not given"},
};
const struct command command_notebook_add = {.noun = "notebook",
    .verb = "add",
    .arguments = "NOTEBOOK",
    .summary = "put a thread into a notebook, or a new one",
    .options = add_options,
    .n_options = COUNT_OF(add_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/notebooks/{NOTEBOOK}/sessions",
        .columns = session_columns,
        .n_columns = COUNT_OF(session_columns)}};

const struct command command_notebook_remove = {.noun = "notebook",
    .verb = "remove",
    .arguments = "NOTEBOOK THREAD",
    .summary = "take a thread out of a notebook; the thread stays",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/notebooks/{NOTEBOOK}/sessions/{THREAD}",
        .looks_at = "/v1/threads/{THREAD}",
        .columns = session_columns,
        .n_columns = COUNT_OF(session_columns),
        .question = "Take the thread out of the notebook?",
        .done = "The thread is no longer in the notebook."}};
