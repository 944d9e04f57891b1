/* SPDX-License-Identifier: Apache-2.0 */
/* Private storage of agents: values as they are, in and out. */
#include "cli/file.h"
#include "cli/request.h"

enum { VALUE_MAX_BYTES = 4 * 1024 * 1024 };

static int run_get(struct cli *cli);
static int run_set(struct cli *cli);

static const struct cli_column columns[] = {
    {"KEY", "/key", COLUMN_ID},
    {"TYPE", "/content_type", COLUMN_TEXT},
    {"SIZE", "/size_bytes", COLUMN_BYTES},
    {"VERSION", "/version", COLUMN_NUMBER},
    {"UPDATED", "/updated_at", COLUMN_TIME},
};

static const char *const includes[] = {"values", NULL};
static const struct cli_option list_options[] = {
    {.name = "prefix",
        .argument = "TEXT",
        .goes = GOES_QUERY,
        .help = "only keys that begin with this"},
    {.name = "include",
        .argument = "WHAT",
        .choices = includes,
        .goes = GOES_QUERY,
        .help = "values: what is stored too, with --json"},
};
const struct command command_storage_list = {.noun = "storage",
    .verb = "list",
    .arguments = "AGENT",
    .summary = "list what an agent has stored, by key",
    .options = list_options,
    .n_options = COUNT_OF(list_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_PAGED,
    .request = &(const struct cli_request){.method = "GET",
        .path = "/v1/agents/{AGENT}/storage",
        .columns = columns,
        .n_columns = COUNT_OF(columns)}};

const struct command command_storage_get = {.noun = "storage",
    .verb = "get",
    .arguments = "AGENT KEY",
    .summary = "print what an agent has stored under a key, as it is",
    .flags = COMMAND_REMOTE,
    .run = run_get};

static const struct cli_option set_options[] = {
    {.name = "value", .argument = "JSON", .help = "a JSON value; @FILE reads it from a file"},
    {.name = "file", .argument = "FILE", .help = "the bytes of a file instead, - is stdin"},
    {.name = "type",
        .argument = "TYPE",
        .help = "the content type of the bytes",
        .fallback = "application/octet-stream"},
    {.name = "if-match",
        .argument = "VERSION, new or *",
        .goes = GOES_MATCH,
        .help = "only while this is its version; new: only when there is none"},
};
const struct command command_storage_set = {.noun = "storage",
    .verb = "set",
    .arguments = "AGENT KEY",
    .summary = "store JSON or the bytes of a file under a key",
    .options = set_options,
    .n_options = COUNT_OF(set_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT,
    .run = run_set};

static const struct cli_option delete_options[] = {
    {.name = "if-match",
        .argument = "VERSION",
        .goes = GOES_MATCH,
        .help = "only while this is its version"},
};
const struct command command_storage_delete = {.noun = "storage",
    .verb = "delete",
    .arguments = "AGENT KEY",
    .summary = "delete what an agent has stored under a key",
    .options = delete_options,
    .n_options = COUNT_OF(delete_options),
    .flags = COMMAND_REMOTE | COMMAND_OUTPUT | COMMAND_DESTROYS,
    .request = &(const struct cli_request){.method = "DELETE",
        .path = "/v1/agents/{AGENT}/storage/{KEY}",
        .columns = columns,
        .n_columns = COUNT_OF(columns),
        .question = "Delete what is stored under this key?",
        .done = "It is deleted."}};

static struct str value_path(struct cli *cli)
{
    return request_path(cli, "/v1/agents/{AGENT}/storage/{KEY}");
}

static int run_get(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    const struct remote_request request = {.method = "GET", .path = value_path(cli)};
    struct remote_answer answer;
    int code = remote_open(cli, &r);
    if (code == EXIT_SUCCESS)
        code = remote_ask(r, &request, &answer);
    if (code != EXIT_SUCCESS)
        return code;
    fwrite(answer.body.ptr, 1, answer.body.len, stdout);
    return fflush(stdout) != 0 ? cli_fail(cli, "the output could not be written") : EXIT_SUCCESS;
}

/* The body, and its type unless it is JSON. */
static int read_value(struct cli *cli, struct remote_request *request, struct str *out_type)
{
    struct str value = cli_value(cli, "value"), file = cli_value(cli, "file"), why;
    if (str_is_none(value) == str_is_none(file))
        return cli_usage(cli, "give one of --value and --file");
    if (!str_is_none(value) && !str_is_none(cli_value(cli, "type")))
        return cli_usage(cli, "--type is for --file: what --value gives is JSON");
    *out_type = STR_NONE;
    if (!str_is_none(value))
        return request_read_json(cli, "value", value, &request->body);
    *out_type = cli_value(cli, "type");
    if (str_is_none(*out_type))
        *out_type = STR("application/octet-stream");
    if (!file_read(cli_arena(cli), file, VALUE_MAX_BYTES, &request->body, &why))
        return cli_fail(cli, "%.*s", STR_ARG(why));
    return EXIT_SUCCESS;
}

static int run_set(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct http_header headers[2];
    struct remote_request request = {.method = "PUT", .path = value_path(cli), .headers = headers};
    struct remote_answer answer;
    struct str type;
    int code = read_value(cli, &request, &type);
    if (code == EXIT_SUCCESS)
        code = request_read_match(cli, "if-match", headers, &request.n_headers);
    if (code != EXIT_SUCCESS)
        return code;
    if (!str_is_none(type))
        headers[request.n_headers++] = (struct http_header){STR("Content-Type"), type};
    code = remote_open(cli, &r);
    if (code == EXIT_SUCCESS)
        code = remote_ask(r, &request, &answer);
    if (code != EXIT_SUCCESS)
        return code;
    if (!answer.has_json)
        return cli_fail(cli, "the server's answer is not JSON");
    cli_print_object(cli, columns, COUNT_OF(columns), answer.json);
    return EXIT_SUCCESS;
}
