#include "cli/resource.h"

#include "base/json_patch.h"
#include "base/json_write.h"
#include "cli/request.h"
#include "cli/state.h"

enum { LIMIT_USUAL = 100, LIMIT_MAX = 1000000, PAGE_MAX = 200 };

/* --- Lists ---------------------------------------------------------------------------------- */

static int read_limit(struct cli *cli, uint64_t *out_limit)
{
    struct str given = cli_value(cli, "limit");
    *out_limit = cli_flag(cli, "all") ? UINT64_MAX : LIMIT_USUAL;
    if (str_is_none(given))
        return EXIT_SUCCESS;
    if (!str_to_u64(given, out_limit) || *out_limit < 1 || *out_limit > LIMIT_MAX)
        return cli_usage(cli, "--limit must be 1 to %d", LIMIT_MAX);
    return EXIT_SUCCESS;
}

static bool is_true(struct json value, struct str pointer)
{
    struct json found;
    return json_pointer(value, pointer, &found) && json_type(found) == JSON_TRUE;
}

/* Prints a page; the number of its rows. */
static uint64_t print_page(struct cli *cli, struct json page)
{
    const struct cli_request *row = cli->command->request;
    struct json data, item;
    if (!json_get(page, STR("data"), &data))
        return 0;
    struct json_iter it = json_iter(data);
    while (json_next(&it, NULL, &item))
        cli_print_row(cli, row->columns, row->n_columns, item);
    return json_count(data);
}

/* What the last page said of what follows goes into the document of --json. */
static void note_more(struct cli *cli, bool more, struct str cursor)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_string(&text.w, cursor);
    struct str next = json_text_take(&text, &cli->arena);
    cli_print_page_members(cli, arena_printf(&cli->arena, ",\"has_more\":%s,\"next_cursor\":%.*s",
                                    more ? "true" : "false", STR_ARG(next)));
    if (more && cli->terminal && cli->format == FORMAT_TABLE)
        cli_note(cli, "There are more: --limit N or --all shows them.");
}

static int print_list(struct cli *cli, struct remote *r, struct remote_request *request)
{
    const struct cli_request *row = cli->command->request;
    struct str first = request->path, cursor = cli_value(cli, "after");
    struct str cursor_name = str_of(row->cursor != NULL ? row->cursor : "cursor");
    uint64_t left;
    bool more = true;
    int code = read_limit(cli, &left);
    while (code == EXIT_SUCCESS && more && left > 0) {
        struct remote_answer answer;
        uint64_t ask = left < PAGE_MAX ? left : PAGE_MAX;
        struct str limit = arena_printf(&cli->arena, "%llu", (unsigned long long)ask);
        request->path = request_with(cli, first, STR("limit"), limit);
        if (!str_is_none(cursor))
            request->path = request_with(cli, request->path, cursor_name, cursor);
        code = remote_ask(r, request, &answer);
        if (code != EXIT_SUCCESS)
            break;
        if (!answer.has_json || json_type(answer.json) != JSON_OBJECT)
            return cli_fail(cli, "the server's answer is not a list");
        left -= print_page(cli, answer.json);
        cursor =
            arena_str(&cli->arena, remote_string(&cli->arena, answer.json, STR("/next_cursor")));
        more = is_true(answer.json, STR("/has_more"));
    }
    if (code != EXIT_SUCCESS)
        return code;
    note_more(cli, more, cursor);
    cli_print_end(cli, row->columns, row->n_columns);
    return EXIT_SUCCESS;
}

/* --- One object ----------------------------------------------------------------------------- */

/* The answer to a POST that was sent again is the stored one, and secrets are not stored. */
static int judge_secret(struct cli *cli, struct json object)
{
    const struct cli_request *row = cli->command->request;
    struct json secret;
    bool lost =
        !json_pointer(object, str_of(row->secret), &secret) || json_type(secret) == JSON_NULL;
    if (lost)
        return cli_fail(cli, "it was made, but the answer with its secret was lost; revoke the "
                             "key and create another");
    cli_note(cli, "The secret is shown this once; keep it where only you can read it.");
    return EXIT_SUCCESS;
}

static int print_answer(struct cli *cli, const struct remote_answer *answer)
{
    const struct cli_request *row = cli->command->request;
    if (answer->head.status == 204 && row->nothing != NULL)
        return cli_fail(cli, "%s", row->nothing);
    if (answer->head.status == 204) {
        cli_note(cli, "%s", row->done);
        return EXIT_SUCCESS;
    }
    if (!answer->has_json)
        return cli_fail(cli, "the server's answer is not JSON");
    cli_print_object(cli, row->columns, row->n_columns, answer->json);
    if (row->secret != NULL)
        return judge_secret(cli, answer->json);
    if (row->verdict != NULL && !is_true(answer->json, str_of(row->verdict)))
        return cli_fail(cli, "%s is not true", row->verdict + 1);
    return EXIT_SUCCESS;
}

/* --- What destroys -------------------------------------------------------------------------- */

static int look_only(struct cli *cli, struct remote *r, const struct remote_request *request)
{
    const struct cli_request *row = cli->command->request;
    struct remote_request look = {.method = "GET", .body = STR_NONE};
    struct remote_answer answer;
    look.path = row->looks_at != NULL ? request_path(cli, row->looks_at) : request->path;
    int code = remote_ask(r, &look, &answer);
    if (code != EXIT_SUCCESS)
        return code;
    cli_note(cli, "Would send %s %.*s to %.*s; nothing was changed.", request->method,
        STR_ARG(request->path), STR_ARG(remote_endpoint(r)->url));
    if (answer.has_json)
        cli_print_object(cli, row->columns, row->n_columns, answer.json);
    return EXIT_SUCCESS;
}

int resource_run(struct cli *cli)
{
    const struct cli_request *row = cli->command->request;
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct remote_request request;
    struct remote_answer answer;
    int code = request_build(cli, &request);
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &r);
    if (code != EXIT_SUCCESS)
        return code;
    if ((cli->command->flags & COMMAND_PAGED) != 0)
        return print_list(cli, r, &request);
    if (cli_is_dry_run(cli))
        return look_only(cli, r, &request);
    if (row->question != NULL && !cli_confirm(cli, "%s", row->question))
        return cli_refused(cli);
    code = remote_ask(r, &request, &answer);
    return code == EXIT_SUCCESS ? print_answer(cli, &answer) : code;
}
