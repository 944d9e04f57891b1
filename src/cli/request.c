/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/request.h"

#include "base/json/json_write.h"
#include "cli/derive.h"
#include "cli/file.h"
#include "cli/state.h"

enum { BODY_MAX_BYTES = 16 * 1024 * 1024 };

/* --- The target ----------------------------------------------------------------------------- */

/* The arguments of the path come first. Before the words of a search, only an id is one. */
static size_t path_argument_count(const struct cli *cli)
{
    struct uuid unused;
    if (cli->command->words == NULL)
        return cli->n_arguments < COUNT_OF(cli->command->bound) ? cli->n_arguments
                                                                : COUNT_OF(cli->command->bound);
    return cli->n_arguments > 0 && uuid_parse(cli->arguments[0], &unused) ? 1 : 0;
}

struct given_values {
    struct path_values values;
    struct cli *cli;
};

/* Returns the argument or the option that has a parameter of the path, encoded. */
static struct str get_value(const struct path_values *values, struct str name)
{
    struct cli *cli = CONTAINER_OF(values, const struct given_values, values)->cli;
    for (size_t i = 0; i < cli->n_given; i++)
        if (cli->given[i].option->place == PLACE_PATH &&
            str_eq(str_of(cli->given[i].option->member), name))
            return remote_encode(&cli->arena, cli->given[i].value);
    for (size_t i = 0; i < path_argument_count(cli); i++)
        if (str_eq(cli->command->bound[i], name))
            return remote_encode(&cli->arena, cli->arguments[i]);
    return STR_NONE;
}

struct str request_path(struct cli *cli, const char *pattern)
{
    const struct given_values given = {{get_value}, cli};
    return derive_path(&cli->arena, str_of(pattern), &given.values);
}

struct str request_with(struct cli *cli, struct str target, struct str name, struct str value)
{
    char joint = str_has_byte(target, '?') ? '&' : '?';
    name = remote_encode(&cli->arena, name);
    value = remote_encode(&cli->arena, value);
    return arena_printf(
        &cli->arena, "%.*s%c%.*s=%.*s", STR_ARG(target), joint, STR_ARG(name), STR_ARG(value));
}

static int add_to_query(struct cli *cli, const struct given_option *g, struct str *target)
{
    struct str name = str_of(g->option->member), value = g->value;
    if (g->option->kind == OPTION_METADATA) {
        size_t equals = str_find(value, '=');
        if (equals == 0 || equals == value.len)
            return cli_usage(cli, "--%s must be %s", g->option->name, g->option->argument);
        name = arena_printf(
            &cli->arena, "%.*s%.*s", STR_ARG(name), STR_ARG(str_slice(value, 0, equals)));
        value = str_slice(value, equals + 1, value.len);
    }
    *target = request_with(cli, *target, name, value);
    return EXIT_SUCCESS;
}

/* --- The body ------------------------------------------------------------------------------- */

int request_read_json(struct cli *cli, const char *option, struct str given, struct str *out_json)
{
    struct json_doc doc;
    struct json_error error;
    struct str text = given, why;
    if (given.len > 0 && given.ptr[0] == '@' &&
        !file_read(&cli->arena, str_slice(given, 1, given.len), BODY_MAX_BYTES, &text, &why))
        return cli_fail(cli, "--%s: %.*s", option, STR_ARG(why));
    if (!json_parse(&cli->arena, text, &doc, &error))
        return cli_usage(
            cli, "--%s must be JSON: at byte %zu, %s", option, error.offset, error.rule);
    *out_json = json_compact(&cli->arena, json_root(&doc));
    return EXIT_SUCCESS;
}

/* Writes a text that the option's value contains or names a file of. */
static int write_text_or_file(struct cli *cli, const struct given_option *g, struct json_writer *w)
{
    bool is_secret = g->option->kind == OPTION_SECRET_FILE;
    struct str text = g->value, path = g->value, why;
    bool at = !is_secret && text.len > 0 && text.ptr[0] == '@';
    if (at)
        text = path = str_slice(g->value, 1, g->value.len);
    bool is_file = is_secret || (at && !str_starts_with(path, STR("@")));
    if (is_file && !file_read(&cli->arena, path, BODY_MAX_BYTES, &text, &why))
        return cli_fail(cli, "--%s: %.*s%s", g->option->name, STR_ARG(why),
            is_secret ? "" : "; write @@ for a text that begins with @");
    if (!str_is_utf8(text))
        return cli_usage(cli, "--%s must be UTF-8", g->option->name);
    while (is_secret && text.len > 0 && (unsigned char)text.ptr[text.len - 1] <= ' ')
        text.len--;
    json_write_string(w, text);
    return EXIT_SUCCESS;
}

/* "users.42" is ["users","42"]. */
static void write_labels(struct json_writer *w, struct str text)
{
    struct str part;
    json_write_array(w);
    while (str_next_part(&text, '.', &part))
        json_write_string(w, part);
    json_write_end(w);
}

static int write_value(struct cli *cli, const struct given_option *g, struct json_writer *w)
{
    struct str json;
    switch (g->option->kind) {
    case OPTION_JSON: {
        int refused = request_read_json(cli, g->option->name, g->value, &json);
        json_write_raw(w, refused == EXIT_SUCCESS ? json : STR_NONE);
        return refused;
    }
    case OPTION_TEXT_OR_FILE:
    case OPTION_SECRET_FILE:
        return write_text_or_file(cli, g, w);
    case OPTION_NUMBER:
    case OPTION_BOOL:
        json_write_raw(w, g->value); /* the parser has checked it */
        return EXIT_SUCCESS;
    case OPTION_LABELS:
        write_labels(w, g->value);
        return EXIT_SUCCESS;
    default:
        json_write_string(w, g->value);
        return EXIT_SUCCESS;
    }
}

static int write_list(struct cli *cli, const struct cli_option *option, struct json_writer *w)
{
    int refused = EXIT_SUCCESS;
    json_write_array(w);
    for (size_t i = 0; i < cli->n_given && refused == EXIT_SUCCESS; i++)
        if (cli->given[i].option == option)
            refused = write_value(cli, &cli->given[i], w);
    json_write_end(w);
    return refused;
}

static int write_member(struct cli *cli, size_t index, struct json_writer *w)
{
    const struct given_option *g = &cli->given[index];
    if (!str_is_utf8(g->value)) /* it would be changed in JSON */
        return cli_usage(cli, "--%s must be UTF-8", g->option->name);
    for (size_t i = 0; i < index; i++) {
        const struct cli_option *before = cli->given[i].option;
        if (before == g->option)
            return EXIT_SUCCESS; /* a list, which is written already */
        if (before->place == PLACE_BODY && strcmp(before->member, g->option->member) == 0)
            return cli_usage(
                cli, "--%s and --%s exclude each other", before->name, g->option->name);
    }
    json_write_key(w, str_of(g->option->member));
    return g->option->repeats ? write_list(cli, g->option, w) : write_value(cli, g, w);
}

/* The arguments that are members of the body. */
static int write_arguments(struct cli *cli, struct json_writer *w)
{
    const struct command *c = cli->command;
    for (size_t i = 0; i < cli->n_arguments && i < COUNT_OF(c->bound); i++) {
        const struct field *f = schema_find(c->to->body, c->bound[i]);
        if (f == NULL || !command_binds(c, i, c->bound[i]))
            continue;
        if (!str_is_utf8(cli->arguments[i]))
            return cli_usage(cli, "an argument must be UTF-8");
        json_write_key(w, str_of(f->name));
        if (f->kind == FIELD_STRINGS)
            write_labels(w, cli->arguments[i]);
        else
            json_write_string(w, cli->arguments[i]);
    }
    return EXIT_SUCCESS;
}

/* A route that takes a body gets one, even if it is empty. */
static int build_body(struct cli *cli, struct str *out_body)
{
    if (cli->command->to->body == NULL)
        return EXIT_SUCCESS;
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    int refused = write_arguments(cli, &text.w);
    for (size_t i = 0; i < cli->n_given && refused == EXIT_SUCCESS; i++)
        if (cli->given[i].option->place == PLACE_BODY)
            refused = write_member(cli, i, &text.w);
    if (refused != EXIT_SUCCESS) {
        buf_deinit(&text.buf);
        return refused;
    }
    json_write_end(&text.w);
    *out_body = json_text_take(&text, &cli->arena);
    return EXIT_SUCCESS;
}

/* --- The whole ------------------------------------------------------------------------------ */

static int check_arguments(struct cli *cli)
{
    for (size_t i = 0; i < cli->n_arguments; i++)
        if (cli->arguments[i].len == 0)
            return cli_usage(cli, "an argument is empty");
    return EXIT_SUCCESS;
}

int request_read_match(
    struct cli *cli, const char *option, struct http_header *headers, size_t *n_headers)
{
    struct str value = cli_value(cli, option), tag = STR("*");
    bool is_quoted = value.len > 2 && value.ptr[0] == '"' && value.ptr[value.len - 1] == '"';
    bool is_revision = (cli->command->to->flags & ROUTE_REVISION) != 0;
    bool is_new = str_eq(value, STR("new"));
    int64_t version;
    if (str_is_none(value))
        return EXIT_SUCCESS;
    if (is_quoted)
        value = str_slice(value, 1, value.len - 1);
    if (str_to_i64(value, &version) && version > 0)
        tag = arena_printf(&cli->arena, "\"%s%lld\"", is_revision ? "r" : "", (long long)version);
    else if (!is_new && !str_eq(value, STR("*")))
        return cli_usage(cli, "--%s must be a version, new or *", option);
    struct str name = is_new ? STR("If-None-Match") : STR("If-Match");
    headers[(*n_headers)++] = (struct http_header){name, tag};
    return EXIT_SUCCESS;
}

static int add_header(
    struct cli *cli, const struct given_option *g, struct http_header *headers, size_t *n_headers)
{
    if (g->option->kind == OPTION_MATCH)
        return request_read_match(cli, g->option->name, headers, n_headers);
    for (size_t i = 0; i < g->value.len; i++)
        if (g->value.ptr[i] < ' ' || g->value.ptr[i] > '~')
            return cli_usage(cli, "--%s must be plain characters", g->option->name);
    headers[(*n_headers)++] = (struct http_header){str_of(g->option->member), g->value};
    return EXIT_SUCCESS;
}

/* The path is that of the route, or of the route without parameters that were not given. */
static int build_path(struct cli *cli, struct str *out_path)
{
    const struct command *c = cli->command;
    struct str unused_params[ROUTE_MAX_PARAMS], unused_allow, owners = STR("");
    const struct route *unused;
    *out_path = request_path(cli, c->to->path);
    enum route_found found = route_find(
        &cli->arena, str_of(c->to->method), *out_path, &unused, unused_params, &unused_allow);
    if (found == ROUTE_FOUND)
        return EXIT_SUCCESS;
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].place == PLACE_PATH)
            owners = arena_printf(&cli->arena, "%.*s%s--%s", STR_ARG(owners),
                owners.len > 0 ? " or " : "", c->options[i].name);
    return cli_usage(cli, "%.*s is required", STR_ARG(owners));
}

/* The arguments that are members of the query; the words of a search are one of them. */
static int add_arguments(struct cli *cli, struct str *target)
{
    const struct command *c = cli->command;
    struct str words = STR("");
    bool given = false;
    for (size_t i = 0; i < cli->n_arguments && i < COUNT_OF(c->bound); i++)
        if (schema_find(c->to->query, c->bound[i]) != NULL && command_binds(c, i, c->bound[i]))
            *target = request_with(cli, *target, c->bound[i], cli->arguments[i]);
    if (c->words == NULL)
        return EXIT_SUCCESS;
    for (size_t i = 0; i < cli->n_given; i++)
        given = given || str_eq(str_of(cli->given[i].option->member), str_of(c->words));
    for (size_t i = path_argument_count(cli); i < cli->n_arguments; i++)
        words = arena_printf(&cli->arena, "%.*s%s%.*s", STR_ARG(words), words.len > 0 ? " " : "",
            STR_ARG(cli->arguments[i]));
    if (given == (words.len > 0))
        return cli_usage(cli, given ? "the words must be given only once" : "WORD is missing");
    if (words.len > 0)
        *target = request_with(cli, *target, str_of(c->words), words);
    return EXIT_SUCCESS;
}

int request_build(struct cli *cli, struct remote_request *out_request)
{
    struct http_header *headers = ARENA_ARRAY(&cli->arena, struct http_header, cli->n_given + 1);
    *out_request = (struct remote_request){
        .method = cli->command->to->method, .body = STR_NONE, .headers = headers};
    int refused = check_arguments(cli);
    if (refused == EXIT_SUCCESS)
        refused = build_path(cli, &out_request->path);
    if (refused == EXIT_SUCCESS)
        refused = add_arguments(cli, &out_request->path);
    for (size_t i = 0; i < cli->n_given && refused == EXIT_SUCCESS; i++) {
        const struct given_option *g = &cli->given[i];
        if (g->option->place == PLACE_QUERY)
            refused = add_to_query(cli, g, &out_request->path);
        if (g->option->place == PLACE_HEADER)
            refused = add_header(cli, g, headers, &out_request->n_headers);
    }
    return refused == EXIT_SUCCESS ? build_body(cli, &out_request->body) : refused;
}
