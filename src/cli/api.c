/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a request to any route, and writes the body of the answer to stdout. */
#include "cli/file.h"
#include "cli/remote.h"
#include "cli/state.h"
#include "cli/text.h"

static int run(struct cli *cli);

enum { BODY_MAX_BYTES = 64 * 1024 * 1024, SILENCE_MS = 75000, HEADERS_MAX = 16 };

static const struct cli_option options[] = {
    {.name = "body", .argument = "JSON", .help = "the body"},
    {.name = "body-file", .argument = "FILE", .help = "a file that contains the body; - is stdin"},
    {.name = "header",
        .argument = "HEADER",
        .letter = 'H',
        .repeats = true,
        .help = "a header, such as 'If-Match: \"3\"'"},
    {.name = "include", .letter = 'i', .help = "print the status and the headers of the response"},
};
const struct command command_api = {.noun = "api",
    .arguments = "METHOD PATH",
    .summary = "send a request to any route",
    .details = "Prints the body of the response unchanged, also that of an error, and of a stream "
               "until it ends. The request's body has the type application/json unless a header "
               "states another.\n"
               "cairn api GET /openapi.json lists every route.",
    .options = options,
    .n_options = COUNT_OF(options),
    .flags = COMMAND_REMOTE,
    .run = run};

/* --- The request ---------------------------------------------------------------------------- */

static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f ||
            str_has_byte(STR("()<>@,;:\\\"/[]?={}"), s.ptr[i]))
            return false;
    return s.len > 0;
}

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f)
            return false;
    return true;
}

static int read_headers(struct cli *cli, struct http_header *headers, size_t *out_count)
{
    *out_count = cli_count(cli, "header");
    if (*out_count > HEADERS_MAX)
        return cli_usage(cli, "--header can be given %d times", HEADERS_MAX);
    for (size_t i = 0; i < *out_count; i++) {
        struct str given = cli_value_at(cli, "header", i);
        size_t colon = str_find(given, ':');
        struct str name = str_slice(given, 0, colon);
        if (colon == given.len || !is_token(name) || !is_plain(given))
            return cli_usage(cli, "--header must be NAME: VALUE");
        if (str_eq_nocase(name, STR("Host")) || str_eq_nocase(name, STR("Content-Length")) ||
            str_eq_nocase(name, STR("Transfer-Encoding")) || str_eq_nocase(name, STR("Connection")))
            return cli_usage(cli, "--header: %.*s cannot be set", STR_ARG(name));
        headers[i] =
            (struct http_header){name, str_trim_blanks(str_slice(given, colon + 1, given.len))};
    }
    return EXIT_SUCCESS;
}

static int read_body(struct cli *cli, struct str *out_body)
{
    struct str inline_body = cli_value(cli, "body"), file = cli_value(cli, "body-file"), why;
    *out_body = inline_body;
    if (str_is_none(file))
        return EXIT_SUCCESS;
    if (!str_is_none(inline_body))
        return cli_usage(cli, "--body and --body-file exclude each other");
    if (!file_read(cli_arena(cli), file, BODY_MAX_BYTES, out_body, &why))
        return cli_fail(cli, "%.*s", STR_ARG(why));
    return EXIT_SUCCESS;
}

/* The method may be in lower case. */
static const char *read_method(struct cli *cli)
{
    struct str given = cli_argument(cli, 0);
    char *method = arena_zalloc(cli_arena(cli), given.len + 1);
    for (size_t i = 0; i < given.len; i++) {
        bool lower = given.ptr[i] >= 'a' && given.ptr[i] <= 'z';
        method[i] = lower ? (char)(given.ptr[i] - 'a' + 'A') : given.ptr[i];
    }
    return method;
}

static int check_target(struct cli *cli, const char *method, struct str path)
{
    if (!is_token(str_of(method)))
        return cli_usage(cli, "METHOD must be GET, POST or another method");
    if (path.len == 0 || path.ptr[0] != '/')
        return cli_usage(cli, "PATH must begin with /");
    for (size_t i = 0; i < path.len; i++)
        if (path.ptr[i] <= ' ' || path.ptr[i] >= 0x7f)
            return cli_usage(cli, "PATH must be percent-encoded");
    return EXIT_SUCCESS;
}

/* --- The answer ----------------------------------------------------------------------------- */

static struct str for_output(struct cli *cli, struct str text)
{
    return cli->terminal ? text_clean(cli_arena(cli), text) : text;
}

static void print_head(struct cli *cli, const struct http_answer *head)
{
    struct str reason = for_output(cli, head->reason);
    printf("HTTP/1.%u %d %.*s\n", head->minor, head->status, STR_ARG(reason));
    for (size_t i = 0; i < head->n_headers; i++) {
        struct str value = for_output(cli, head->headers[i].value);
        printf("%.*s: %.*s\n", STR_ARG(head->headers[i].name), STR_ARG(value));
    }
    putchar('\n');
}

static bool is_stream(const struct http_answer *head)
{
    return str_starts_with(http_answer_header(head, STR("content-type")), STR("text/event-stream"));
}

static void print_body(struct cli *cli, const struct remote_answer *answer)
{
    if (cli->terminal && answer->has_json) {
        cli_print_json(cli, answer->json);
        return;
    }
    fwrite(answer->body.ptr, 1, answer->body.len, stdout);
    if (cli->terminal && answer->body.len > 0)
        putchar('\n');
}

static int print_stream(struct cli *cli, struct remote *r)
{
    struct str run;
    struct remote_answer none = {.has_json = false};
    for (;;) {
        enum client_result result = http_client_read(remote_client(r), SILENCE_MS, &run);
        if (result == CLIENT_TIMED_OUT)
            return cli_fail(cli, "the stream is silent");
        if (result != CLIENT_OK || run.len == 0)
            return remote_judge(r, result, &none);
        fwrite(run.ptr, 1, run.len, stdout);
        if (fflush(stdout) != 0 || ferror(stdout))
            return cli_fail(cli, "the output could not be written");
    }
}

/* The body of a stream is printed as it arrives; its path identifies it before there is a head. */
static bool asks_for_stream(const char *method, struct str path)
{
    path = str_slice(path, 0, str_find(path, '?'));
    return strcmp(method, "GET") == 0 && path.len > strlen("/stream") &&
           str_eq(str_slice(path, path.len - strlen("/stream"), path.len), STR("/stream"));
}

static int run(struct cli *cli)
{
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct http_header headers[HEADERS_MAX];
    struct remote_request request = {.method = read_method(cli), .path = cli_argument(cli, 1)};
    struct remote_answer answer;
    TRY_EXIT(check_target(cli, request.method, request.path));
    TRY_EXIT(read_headers(cli, headers, &request.n_headers));
    TRY_EXIT(read_body(cli, &request.body));
    TRY_EXIT(remote_open(cli, &r));
    request.headers = headers;
    bool streams = asks_for_stream(request.method, request.path);
    enum client_result result =
        streams ? remote_begin(r, &request, &answer) : remote_send(r, &request, &answer);
    if (result == CLIENT_OK && cli_flag(cli, "include"))
        print_head(cli, &answer.head);
    if (streams && result == CLIENT_OK && is_stream(&answer.head))
        return print_stream(cli, r);
    if (result == CLIENT_OK)
        print_body(cli, &answer);
    return remote_judge(r, result, &answer);
}
