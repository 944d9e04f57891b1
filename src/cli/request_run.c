/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/derive.h"
#include "cli/request.h"
#include "cli/state.h"
#include "cli/text.h"

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

/* Redirects are not followed: the key is for this server only. */
static int ask(struct cli *cli, struct remote *r, const struct remote_request *request,
    struct remote_answer *out)
{
    int code = remote_ask(r, request, out);
    if (code != EXIT_SUCCESS || out->head.status < 300)
        return code;
    struct str place = http_answer_header(&out->head, STR("Location"));
    bool named = !str_is_none(place);
    place = named ? text_clean(&cli->arena, place) : STR("");
    return cli_fail(cli,
        "the server answered %d%s%.*s; --url, CAIRN_URL or a profile sets the URL of the server",
        out->head.status, named ? " and redirects to " : "", STR_ARG(place));
}

/* A list while its pages are read. */
struct pages {
    uint64_t left;     /* rows that remain to be printed */
    struct str cursor; /* where the next page begins; STR_NONE: at the start, or unknown */
    bool more;
};

/* Returns NULL, or the fault of the page. */
static const char *read_page(
    struct cli *cli, const struct remote_answer *a, struct pages *p, struct json *out_data)
{
    if (!a->has_json || json_type(a->json) != JSON_OBJECT ||
        !json_get(a->json, STR("data"), out_data) || json_type(*out_data) != JSON_ARRAY)
        return "the server's answer is not a list";
    struct str next = remote_string(&cli->arena, a->json, STR("/next_cursor"));
    p->more = is_true(a->json, STR("/has_more"));
    if (p->more && (str_is_none(next) || str_eq(next, p->cursor)))
        return "the server states that there is more, but returned no cursor";
    p->cursor = arena_str(&cli->arena, next);
    return NULL;
}

/* Prints at most the remaining rows. There is no cursor for the rest of a longer page. */
static void print_page(struct cli *cli, struct json data, struct pages *p)
{
    const struct command *c = cli->command;
    struct json item;
    struct json_iter it = json_iter(data);
    for (; p->left > 0 && json_next(&it, NULL, &item); p->left--)
        cli_print_row(cli, c->shown, c->n_shown, item);
    if (p->left == 0 && json_next(&it, NULL, &item)) {
        p->more = true;
        p->cursor = STR_NONE;
    }
}

/* Adds has_more and next_cursor of the last page to the document of --json. */
static void note_more(struct cli *cli, bool more, struct str cursor)
{
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_string(&text.w, cursor);
    struct str next = json_text_take(&text, &cli->arena);
    cli_print_page_members(cli, arena_printf(&cli->arena, ",\"has_more\":%s,\"next_cursor\":%.*s",
                                    more ? "true" : "false", STR_ARG(next)));
    if (more && cli->terminal && cli->format == FORMAT_TABLE)
        cli_note(cli, "There are more: use --limit N or --all.");
}

/* Returns the body for the next page of a search by POST. */
static struct str body_of_page(
    struct cli *cli, struct str body, struct str cursor_name, struct str cursor, uint64_t limit)
{
    struct json_text text;
    struct json_doc doc;
    struct json_error unused;
    struct json key, value;
    if (!json_parse(&cli->arena, body, &doc, &unused))
        return body;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    for (struct json_iter it = json_iter(json_root(&doc)); json_next(&it, &key, &value);) {
        json_write_key_value(&text.w, key);
        json_write_value(&text.w, value);
    }
    json_write_name(&text.w, "limit");
    json_write_u64(&text.w, limit);
    if (!str_is_none(cursor)) {
        json_write_key(&text.w, cursor_name);
        json_write_string(&text.w, cursor);
    }
    json_write_end(&text.w);
    return json_text_take(&text, &cli->arena);
}

/* Sets the cursor and the limit of a page. */
static void turn_to_page(struct cli *cli, const struct remote_request *first,
    struct str cursor_name, const struct pages *p, struct remote_request *out)
{
    uint64_t wanted = p->left < PAGE_MAX ? p->left : PAGE_MAX;
    struct str limit = arena_printf(&cli->arena, "%llu", (unsigned long long)wanted);
    if (!str_is_none(first->body)) {
        out->body = body_of_page(cli, first->body, cursor_name, p->cursor, wanted);
        return;
    }
    out->path = request_with(cli, first->path, STR("limit"), limit);
    if (!str_is_none(p->cursor))
        out->path = request_with(cli, out->path, cursor_name, p->cursor);
}

/* Returns the member for the cursor, and the cursor that was given; STR_NONE if two were given. */
static struct str first_cursor(const struct cli *cli, struct str *out_cursor)
{
    struct str given = STR_NONE, other = STR_NONE;
    for (size_t i = 0; i < cli->n_given; i++) {
        if (cli->given[i].option->place != PLACE_CURSOR)
            continue;
        if (!str_is_none(given))
            return STR_NONE;
        given = str_of(cli->given[i].option->member);
        *out_cursor = cli->given[i].value;
    }
    for (size_t i = 0; i < cli->command->n_options; i++)
        if (cli->command->options[i].place == PLACE_CURSOR && str_is_none(other))
            other = str_of(cli->command->options[i].member);
    return str_is_none(given) ? other : given;
}

static int print_list(struct cli *cli, struct remote *r, struct remote_request *request)
{
    const struct command *c = cli->command;
    const struct remote_request first = *request;
    struct pages p = {.cursor = STR_NONE, .more = true};
    struct str cursor_name = first_cursor(cli, &p.cursor);
    if (str_is_none(cursor_name))
        return cli_usage(cli, "--after and --before exclude each other");
    int code = read_limit(cli, &p.left);
    while (code == EXIT_SUCCESS && p.more && p.left > 0) {
        struct remote_answer answer;
        struct json data;
        turn_to_page(cli, &first, cursor_name, &p, request);
        code = ask(cli, r, request, &answer);
        if (code != EXIT_SUCCESS)
            break;
        const char *wrong = read_page(cli, &answer, &p, &data);
        if (wrong != NULL)
            return cli_fail(cli, "%s", wrong);
        print_page(cli, data, &p);
    }
    if (code != EXIT_SUCCESS)
        return code;
    note_more(cli, p.more, p.cursor);
    cli_print_end(cli, c->shown, c->n_shown);
    return EXIT_SUCCESS;
}

/* --- One object ----------------------------------------------------------------------------- */

/* A repeated POST returns the stored answer, which does not contain secrets. */
static int judge_secret(struct cli *cli, struct json object)
{
    const struct command *c = cli->command;
    struct json secret;
    bool lost = !json_pointer(object, str_of(c->secret), &secret) || json_type(secret) == JSON_NULL;
    if (lost)
        return cli_fail(cli,
            "the %s was created, but the answer with its secret was lost; revoke the %s and create "
            "another",
            c->noun, c->noun);
    cli_note(cli, "The secret is shown only once; keep it where only you can read it.");
    return EXIT_SUCCESS;
}

static int print_answer(struct cli *cli, const struct remote_answer *answer)
{
    const struct command *c = cli->command;
    if (answer->head.status == 204 && c->nothing != NULL)
        return cli_fail(cli, "%s", c->nothing);
    if (answer->head.status == 204) {
        cli_note(cli, "%s", c->done);
        return EXIT_SUCCESS;
    }
    if (!answer->has_json)
        return cli_fail(cli, "the server's answer is not JSON");
    cli_print_object(cli, c->shown, c->n_shown, answer->json);
    if (c->secret != NULL)
        return judge_secret(cli, answer->json);
    if (c->verdict != NULL && !is_true(answer->json, str_of(c->verdict)))
        return cli_fail(cli, "%s is not true", c->verdict + 1);
    return EXIT_SUCCESS;
}

/* --- Commands that destroy ------------------------------------------------------------------ */

static int look_only(struct cli *cli, struct remote *r, const struct remote_request *request)
{
    const struct command *c = cli->command;
    struct remote_request look = {.method = "GET", .body = STR_NONE};
    struct remote_answer answer;
    const struct route *route = command_look(c);
    bool same = strcmp(route->path, c->to->path) == 0; /* the query names the object, too */
    look.path = same ? request->path : request_path(cli, route->path);
    TRY_EXIT(ask(cli, r, &look, &answer));
    cli_note(cli, "Would send %s %.*s to %.*s; nothing was changed.", request->method,
        STR_ARG(request->path), STR_ARG(remote_endpoint(r)->url));
    if (answer.has_json && (route->flags & ROUTE_LIST) != 0) {
        cli_print_json(cli, answer.json);
    } else if (answer.has_json) {
        size_t n;
        const struct cli_column *columns = derive_columns(&cli->arena, route, false, NULL, &n);
        cli_print_object(cli, columns, n, answer.json);
    }
    return EXIT_SUCCESS;
}

int request_run(struct cli *cli)
{
    const struct command *c = cli->command;
    struct remote *r CLEANUP(remote_closep) = NULL;
    struct remote_request request;
    struct remote_answer answer;
    TRY_EXIT(request_build(cli, &request));
    TRY_EXIT(remote_open(cli, &r));
    if ((c->flags & COMMAND_PAGED) != 0)
        return print_list(cli, r, &request);
    if (cli_is_dry_run(cli))
        return look_only(cli, r, &request);
    if (c->question != NULL && !cli_confirm(cli, "%s", c->question))
        return cli_refused(cli);
    TRY_EXIT(ask(cli, r, &request, &answer));
    return print_answer(cli, &answer);
}
