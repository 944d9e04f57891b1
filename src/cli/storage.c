/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes values in the storage of agents, unchanged. */
#include "cli/file.h"
#include "cli/request.h"
#include "cli/resources.h"

enum { VALUE_MAX_BYTES = 4 * 1024 * 1024 };

int command_storage_get(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    const struct remote_request request = {
        .method = "GET", .path = request_path(cli, cli_command(cli)->to->path)};
    struct remote_answer answer;
    TRY_EXIT(remote_open(cli, &r));
    TRY_EXIT(remote_ask(r, &request, &answer));
    fwrite(answer.body.ptr, 1, answer.body.len, stdout);
    return fflush(stdout) != 0 ? cli_fail(cli, "the output could not be written") : EXIT_SUCCESS;
}

/* Reads the body, and its type unless it is JSON. */
static int read_value(struct cli *cli, struct remote_request *request, struct str *out_type)
{
    struct str value = cli_value(cli, "value"), file = cli_value(cli, "file"), why;
    if (str_is_none(value) == str_is_none(file))
        return cli_usage(cli, "either --value or --file is required");
    if (!str_is_none(value) && !str_is_none(cli_value(cli, "type")))
        return cli_usage(cli, "--type is only for --file: a --value is JSON");
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

int command_storage_set(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct http_header headers[2];
    struct remote_request request = {
        .method = "PUT", .path = request_path(cli, cli_command(cli)->to->path), .headers = headers};
    struct remote_answer answer;
    struct str type;
    TRY_EXIT(read_value(cli, &request, &type));
    TRY_EXIT(request_read_match(cli, "if-match", headers, &request.n_headers));
    if (!str_is_none(type))
        headers[request.n_headers++] = (struct http_header){STR("Content-Type"), type};
    TRY_EXIT(remote_open(cli, &r));
    TRY_EXIT(remote_ask(r, &request, &answer));
    if (!answer.has_json)
        return cli_fail(cli, "the server's answer is not JSON");
    cli_print_object(cli, cli_command(cli)->shown, cli_command(cli)->n_shown, answer.json);
    return EXIT_SUCCESS;
}
