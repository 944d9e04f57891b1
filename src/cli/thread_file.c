/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a thread: listed, changed, copied. Their bytes: thread_file_bytes.c. */
#include "cli/cli.h"

static const struct cli_column list_columns[] = {
    {"NAME", "/name", COLUMN_ID},
    {"VERSION", "/version", COLUMN_NUMBER},
    {"SIZE", "/size_bytes", COLUMN_BYTES},
    {"TYPE", "/content_type", COLUMN_TEXT},
    {"BY", "/created_by", COLUMN_TEXT},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"NAME", "/name", COLUMN_ID},
    {"THREAD", "/thread_id", COLUMN_ID},
    {"VERSION", "/version", COLUMN_NUMBER},
    {"SIZE", "/size_bytes", COLUMN_BYTES},
    {"TYPE", "/content_type", COLUMN_TEXT},
    {"SHA-256", "/sha256", COLUMN_ID},
    {"BY", "/created_by", COLUMN_TEXT},
    {"METADATA", "/metadata", COLUMN_JSON},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};
static const struct cli_column version_columns[] = {
    {"VERSION", "/version", COLUMN_NUMBER},
    {"SIZE", "/size_bytes", COLUMN_BYTES},
    {"TYPE", "/content_type", COLUMN_TEXT},
    {"BY", "/created_by", COLUMN_TEXT},
    {"RESTORED FROM", "/restored_from", COLUMN_NUMBER},
    {"COPIED FROM", "/source_name", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"SHA-256", "/sha256", COLUMN_ID},
};

static const struct cli_option list_options[] = {
    {.name = "prefix",
        .argument = "TEXT",
        .goes = GOES_QUERY,
        .help = "only names that begin with this"},
};
const struct command command_file_list = {.noun = "file",
    .verb = "list",
    .arguments = "THREAD",
    .summary = "list the files of a thread",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/files",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_file_info = {.noun = "file",
    .verb = "info",
    .arguments = "THREAD NAME",
    .summary = "show what is known of a file",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/files/{NAME}/info",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_file_versions = {.noun = "file",
    .verb = "versions",
    .arguments = "THREAD NAME",
    .summary = "list the versions of a file, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/files/{NAME}/versions",
        .columns = version_columns,
        .n_columns = COUNT_OF(version_columns)}};

const struct command command_file_delete = {.noun = "file",
    .verb = "delete",
    .arguments = "THREAD NAME",
    .summary = "delete a file with all of its versions",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/threads/{THREAD}/files/{NAME}",
        .looks_at = "/v1/threads/{THREAD}/files/{NAME}/info",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete the file with all of its versions?",
        .done = "The file is deleted."}};

const struct command command_file_delete_version = {.noun = "file",
    .verb = "delete-version",
    .arguments = "THREAD NAME VERSION",
    .summary = "delete a version of a file",
    .details = "The newest that is left becomes the current one. With the last version the file "
               "goes.",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/threads/{THREAD}/files/{NAME}/versions/{VERSION}",
        .looks_at = "/v1/threads/{THREAD}/files/{NAME}/info",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete this version of the file?",
        .done = "The version is deleted."}};

static const struct cli_option restore_options[] = {
    {.name = "version",
        .argument = "N",
        .goes = GOES_NUMBER,
        .required = true,
        .help = "the one to bring back"},
};
const struct command command_file_restore = {.noun = "file",
    .verb = "restore",
    .arguments = "THREAD NAME",
    .summary = "bring an old version back as a new one",
    .options = restore_options,
    .n_options = COUNT_OF(restore_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/files/{NAME}/restore",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

static const char *const if_exists[] = {"refuse", "add_version", NULL};
static const struct cli_option copy_options[] = {
    {.name = "to",
        .argument = "THREAD",
        .goes = GOES_TEXT,
        .field = "thread_id",
        .required = true,
        .help = "the thread that it goes to"},
    {.name = "name",
        .argument = "NAME",
        .goes = GOES_TEXT,
        .help = "what it is called there",
        .fallback = "the same"},
    {.name = "version",
        .argument = "N",
        .goes = GOES_NUMBER,
        .help = "which one",
        .fallback = "the current one"},
    {.name = "history", .goes = GOES_TRUE, .help = "the versions before it too"},
    {.name = "if-exists",
        .argument = "WHAT",
        .choices = if_exists,
        .goes = GOES_TEXT,
        .field = "if_exists",
        .help = "when there is a file of that name",
        .fallback = "refuse"},
};
const struct command command_file_copy = {.noun = "file",
    .verb = "copy",
    .arguments = "THREAD NAME",
    .summary = "copy a file to another thread or name",
    .options = copy_options,
    .n_options = COUNT_OF(copy_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/files/{NAME}/copy",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};
