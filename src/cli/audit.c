/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log. */
#include "cli/cli.h"

static const struct cli_column list_columns[] = {
    {"SEQ", "/seq", COLUMN_NUMBER},
    {"AT", "/at", COLUMN_TIME},
    {"ACTION", "/action", COLUMN_ID},
    {"TYPE", "/object_type", COLUMN_TEXT},
    {"OBJECT", "/object_id", COLUMN_ID},
    {"ACTOR", "/actor", COLUMN_TEXT},
    {"DETAIL", "/detail", COLUMN_JSON},
};
static const struct cli_column verdict_columns[] = {
    {"INTACT", "/intact", COLUMN_TEXT},
    {"RECORDS", "/records", COLUMN_NUMBER},
    {"FIRST BROKEN", "/first_broken", COLUMN_NUMBER},
    {"HEAD", "/head", COLUMN_ID},
};

static const struct cli_option list_options[] = {
    {.name = "action",
        .argument = "ACTION",
        .goes = GOES_QUERY,
        .help = "only such records, for example key.create"},
    {.name = "object",
        .argument = "ID",
        .goes = GOES_QUERY,
        .field = "object_id",
        .help = "only records of this object"},
};
const struct command command_audit_list = {.noun = "audit",
    .verb = "list",
    .summary = "list the audit log, newest first",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/audit",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_audit_verify = {.noun = "audit",
    .verb = "verify",
    .summary = "check the audit log's hash chain",
    .details = "Ends with 1 when a record was changed or is missing. Keep the head elsewhere: a "
               "log that was cut short is intact, but has another head.",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/audit/verify",
        .columns = verdict_columns,
        .n_columns = COUNT_OF(verdict_columns),
        .verdict = "/intact"}};
