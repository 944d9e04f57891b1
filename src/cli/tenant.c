/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants, for operators. */
#include "cli/cli.h"

static const struct cli_column list_columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"NAME", "/name", COLUMN_TEXT},
    {"CREATED", "/created_at", COLUMN_TIME},
};
static const struct cli_column created_columns[] = {
    {"ID", "/tenant/id", COLUMN_ID},
    {"NAME", "/tenant/name", COLUMN_TEXT},
    {"CREATED", "/tenant/created_at", COLUMN_TIME},
    {"KEY", "/key/id", COLUMN_ID},
    {"SCOPES", "/key/scopes", COLUMN_TEXT},
    {"SECRET", "/key/secret", COLUMN_ID},
};

static const struct cli_option create_options[] = {
    {.name = "name",
        .argument = "NAME",
        .required = true,
        .goes = GOES_TEXT,
        .help = "for people to read"},
};
const struct command command_tenant_create = {.noun = "tenant",
    .verb = "create",
    .summary = "create a tenant and its first API key",
    .details = "The key's secret is printed once, and never again.",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/tenants",
        .columns = created_columns,
        .n_columns = COUNT_OF(created_columns),
        .secret = "/key/secret"}};

const struct command command_tenant_list = {.noun = "tenant",
    .verb = "list",
    .summary = "list the tenants",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/tenants",
        .columns = list_columns,
        .n_columns = COUNT_OF(list_columns)}};
