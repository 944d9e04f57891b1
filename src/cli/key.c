/* SPDX-License-Identifier: Apache-2.0 */
/* API keys. */
#include "cli/cli.h"

static const char *const scopes[] = {"threads:read", "threads:write", "runs:read", "runs:write",
    "events:read", "events:write", "messages:read", "messages:write", "files:read", "files:write",
    "participants:read", "participants:write", "agents:read", "agents:write", "states:read",
    "states:write", "storage:read", "storage:write", "checkpoints:read", "checkpoints:write",
    "store:read", "store:write", "notebooks:read", "notebooks:write", "usage:read", "usage:write",
    "evals:read", "evals:write", "admin", "operator", NULL};

static const struct cli_column list_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"SCOPES", "/scopes", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"EXPIRES", "/expires_at", COLUMN_TIME},
    {"REVOKED", "/revoked_at", COLUMN_TIME},
};
static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"SCOPES", "/scopes", COLUMN_TEXT},
    {"PRINCIPAL", "/principal", COLUMN_TEXT},
    {"PER MINUTE", "/rate_limit_per_minute", COLUMN_NUMBER},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"EXPIRES", "/expires_at", COLUMN_TIME},
    {"REVOKED", "/revoked_at", COLUMN_TIME},
    {"SECRET", "/secret", COLUMN_ID},
};

static const struct cli_option create_options[] = {
    {.name = "name",
        .argument = "NAME",
        .required = true,
        .goes = GOES_TEXT,
        .help = "for people to read"},
    {.name = "scope",
        .argument = "SCOPE",
        .required = true,
        .repeats = true,
        .choices = scopes,
        .goes = GOES_TEXT,
        .field = "scopes",
        .help = "what it may do, such as runs:read or admin"},
    {.name = "principal",
        .argument = "PRINCIPAL",
        .goes = GOES_TEXT,
        .help = "user:NAME or agent:ID, for whom it acts"},
    {.name = "rate-limit",
        .argument = "N",
        .goes = GOES_NUMBER,
        .field = "rate_limit_per_minute",
        .help = "requests a minute"},
    {.name = "expires-at",
        .argument = "TIME",
        .goes = GOES_TEXT,
        .field = "expires_at",
        .help = "RFC 3339, such as 2027-01-31T12:00:00Z"},
};
const struct command command_key_create = {.noun = "key",
    .verb = "create",
    .summary = "create an API key",
    .details = "The secret is printed once, and never again. The first key ends the server's open "
               "state; it must have the scope operator or admin.",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/keys",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .secret = "/secret"}};

const struct command command_key_list = {.noun = "key",
    .verb = "list",
    .summary = "list the API keys, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/keys",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};

const struct command command_key_revoke = {.noun = "key",
    .verb = "revoke",
    .arguments = "KEY",
    .summary = "revoke an API key; its streams end",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/keys/{KEY}",
        .columns = columns,
        .n_columns = COUNT_OF(columns) - 1, /* there is no secret to show */
        .question = "Revoke the key? Whoever uses it is locked out at once."}};
