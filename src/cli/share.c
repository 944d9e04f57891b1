/* SPDX-License-Identifier: Apache-2.0 */
/* Shares: links by which others take part in a thread, or get a copy of it. */
#include "cli/cli.h"

static const char *const kinds[] = {"participate", "copy", NULL};
static const char *const permissions[] = {"read", "read_write", NULL};

static const struct cli_column columns[] = {
    {"ID", "/id", COLUMN_ID},
    {"KIND", "/kind", COLUMN_TEXT},
    {"PERMISSION", "/permission", COLUMN_TEXT},
    {"LABEL", "/label", COLUMN_TEXT},
    {"REDEEMED", "/redemptions", COLUMN_NUMBER},
    {"AT MOST", "/max_redemptions", COLUMN_NUMBER},
    {"EXPIRES", "/expires_at", COLUMN_TIME},
    {"REVOKED", "/revoked_at", COLUMN_TIME},
    {"CREATED", "/created_at", COLUMN_TIME},
    {"TOKEN", "/token", COLUMN_ID},
};
enum { WITHOUT_TOKEN = COUNT_OF(columns) - 1 };

static const struct cli_column redeemed_columns[] = {
    {"THREAD", "/thread_id", COLUMN_ID},
    {"KIND", "/kind", COLUMN_TEXT},
    {"PARTICIPANT", "/participant_id", COLUMN_ID},
    {"PERMISSION", "/permission", COLUMN_TEXT},
    {"CHANGED", "/changed", COLUMN_TEXT},
};

static const struct cli_option create_options[] = {
    {.name = "kind",
        .argument = "KIND",
        .required = true,
        .choices = kinds,
        .goes = GOES_TEXT,
        .help = "participate, or copy: a thread of one's own"},
    {.name = "permission",
        .argument = "WHAT",
        .choices = permissions,
        .goes = GOES_TEXT,
        .help = "what it gives",
        .fallback = "read; of a copy read_write"},
    {.name = "label", .argument = "TEXT", .goes = GOES_TEXT, .help = "for people to read"},
    {.name = "max-redemptions",
        .argument = "N",
        .goes = GOES_NUMBER,
        .field = "max_redemptions",
        .help = "how often it can be redeemed"},
    {.name = "expires-at",
        .argument = "TIME",
        .goes = GOES_TEXT,
        .field = "expires_at",
        .help = "RFC 3339, such as 2027-01-31T12:00:00Z"},
};
const struct command command_share_create = {.noun = "share",
    .verb = "create",
    .arguments = "THREAD",
    .summary = "create a share of a thread",
    .details = "The token is printed once, and never again.",
    .options = create_options,
    .n_options = COUNT_OF(create_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/threads/{THREAD}/shares",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .secret = "/token"}};

const struct command command_share_list = {.noun = "share",
    .verb = "list",
    .arguments = "THREAD",
    .summary = "list the shares of a thread, newest first",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/threads/{THREAD}/shares",
        .columns = columns,
        .n_columns = WITHOUT_TOKEN}};

const struct command command_share_revoke = {.noun = "share",
    .verb = "revoke",
    .arguments = "THREAD SHARE",
    .summary = "revoke a share; the access that it gave ends",
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/threads/{THREAD}/shares/{SHARE}",
        .columns = columns,
        .n_columns = WITHOUT_TOKEN,
        .question = "Revoke the share? Whoever came by it loses that access at once."}};

static const struct cli_option redeem_options[] = {
    {.name = "token-file",
        .argument = "FILE",
        .required = true,
        .goes = GOES_SECRET,
        .field = "token",
        .help = "a file with what share create printed; - is stdin"},
    {.name = "token",
        .argument = "TOKEN",
        .goes = GOES_TEXT,
        .help = "the token itself, which others on the machine can see while this runs"},
    {.name = "name", .argument = "NAME", .goes = GOES_TEXT, .help = "of a new participant"},
};
const struct command command_share_redeem = {.noun = "share",
    .verb = "redeem",
    .summary = "redeem a share for the principal of the key, or of --as",
    .options = redeem_options,
    .n_options = COUNT_OF(redeem_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .request = &(const struct cli_request){.method = "POST",
        .path = "/v1/shares/redeem",
        .columns = redeemed_columns,
        .n_columns = COUNT_OF(redeemed_columns)}};
