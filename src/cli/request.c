/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/request.h"

#include "base/json/json_write.h"
#include "cli/commands.h"
#include "cli/file.h"
#include "cli/state.h"

enum { BODY_MAX_BYTES = 16 * 1024 * 1024 };

/* --- The target ----------------------------------------------------------------------------- */

static struct str field_of(const struct cli_option *option)
{
    return str_of(option->field != NULL ? option->field : option->name);
}

/* Of the options that name whose it is, in the order of the command's table. */
static struct str owner_path(struct cli *cli)
{
    struct str path = STR("");
    for (size_t i = 0; i < cli->command->n_options; i++) {
        const struct cli_option *o = &cli->command->options[i];
        struct str value = o->goes == GOES_PATH ? cli_value(cli, o->name) : STR_NONE;
        if (str_is_none(value))
            continue;
        path = arena_printf(&cli->arena, "%.*s/%.*s/%.*s", STR_ARG(path), STR_ARG(field_of(o)),
            STR_ARG(remote_encode(&cli->arena, value)));
    }
    return path;
}

static struct str put_owner(struct cli *cli, struct str pattern)
{
    size_t star = str_find(pattern, '*');
    if (star == pattern.len)
        return pattern;
    return arena_printf(&cli->arena, "%.*s%.*s%.*s", STR_ARG(str_slice(pattern, 0, star)),
        STR_ARG(owner_path(cli)), STR_ARG(str_slice(pattern, star + 1, pattern.len)));
}

struct str request_path(struct cli *cli, const char *pattern)
{
    struct str rest = put_owner(cli, str_of(pattern)), path = STR("");
    for (size_t index = 0; rest.len > 0; index++) {
        size_t open = str_find(rest, '{'), close = str_find(rest, '}');
        struct str value = open < rest.len ? cli_argument(cli, index) : STR("");
        value = remote_encode(&cli->arena, value);
        path = arena_printf(&cli->arena, "%.*s%.*s%.*s", STR_ARG(path),
            STR_ARG(str_slice(rest, 0, open)), STR_ARG(value));
        rest = str_slice(rest, close + 1, rest.len);
    }
    return path;
}

struct str request_with(struct cli *cli, struct str target, struct str name, struct str value)
{
    char joint = str_has_byte(target, '?') ? '&' : '?';
    name = remote_encode(&cli->arena, name);
    value = remote_encode(&cli->arena, value);
    return arena_printf(
        &cli->arena, "%.*s%c%.*s=%.*s", STR_ARG(target), joint, STR_ARG(name), STR_ARG(value));
}

/* A field that ends in a dot is a family, and the value says which: KEY=VALUE. */
static int add_to_query(struct cli *cli, const struct given_option *g, struct str *target)
{
    struct str name = field_of(g->option), value = g->value;
    if (name.ptr[name.len - 1] == '.') {
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

/* A text that stands in a file, or may. */
static int write_read(struct cli *cli, const struct given_option *g, struct json_writer *w)
{
    bool is_secret = g->option->goes == GOES_SECRET;
    struct str text = g->value, path = g->value, why;
    bool at = !is_secret && text.len > 0 && text.ptr[0] == '@';
    if (at)
        text = path = str_slice(g->value, 1, g->value.len);
    bool is_file = is_secret || (at && !str_starts_with(path, STR("@")));
    if (is_file && !file_read(&cli->arena, path, BODY_MAX_BYTES, &text, &why))
        return cli_fail(cli, "--%s: %.*s%s", g->option->name, STR_ARG(why),
            is_secret ? "" : "; a text that begins with @ is written with two of them");
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
    int64_t number;
    if (g->option->goes == GOES_NUMBER) {
        if (!str_to_i64(g->value, &number))
            return cli_usage(cli, "--%s must be a whole number", g->option->name);
        json_write_i64(w, number);
        return EXIT_SUCCESS;
    }
    if (g->option->goes == GOES_JSON) {
        int refused = request_read_json(cli, g->option->name, g->value, &json);
        json_write_raw(w, refused == EXIT_SUCCESS ? json : STR_NONE);
        return refused;
    }
    if (g->option->goes == GOES_CONTENT || g->option->goes == GOES_SECRET)
        return write_read(cli, g, w);
    if (g->option->goes == GOES_TRUE)
        json_write_bool(w, true);
    else if (g->option->goes == GOES_LABELS)
        write_labels(w, g->value);
    else
        json_write_string(w, g->value);
    return EXIT_SUCCESS;
}

static bool goes_to_body(const struct cli_option *option)
{
    return option->goes >= GOES_TEXT && option->goes <= GOES_JSON;
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

/* Text that is not UTF-8 would be changed on its way. */
static int check_text(struct cli *cli, const struct given_option *g)
{
    return str_is_utf8(g->value) ? EXIT_SUCCESS
                                 : cli_usage(cli, "--%s must be UTF-8", g->option->name);
}

static int write_member(struct cli *cli, size_t index, struct json_writer *w)
{
    const struct given_option *g = &cli->given[index];
    for (size_t i = 0; i < index; i++) {
        const struct cli_option *before = cli->given[i].option;
        if (before == g->option)
            return EXIT_SUCCESS; /* a list, which is written already */
        if (goes_to_body(before) && str_eq(field_of(before), field_of(g->option)))
            return cli_usage(
                cli, "--%s and --%s exclude each other", before->name, g->option->name);
    }
    json_write_key(w, field_of(g->option));
    return g->option->repeats ? write_list(cli, g->option, w) : write_value(cli, g, w);
}

/* The arguments that are members of the body. */
static int write_arguments(struct cli *cli, struct json_writer *w)
{
    const char *members = cli->command->request->members;
    struct str rest = members == NULL ? STR_NONE : str_of(members), name;
    for (size_t i = 0; i < cli->n_arguments && str_next_part(&rest, ' ', &name); i++) {
        if (!str_is_utf8(cli->arguments[i]))
            return cli_usage(cli, "an argument must be UTF-8");
        bool is_list = str_ends_with(name, STR("."));
        json_write_key(w, is_list ? str_slice(name, 0, name.len - 1) : name);
        if (is_list)
            write_labels(w, cli->arguments[i]);
        else
            json_write_string(w, cli->arguments[i]);
    }
    return EXIT_SUCCESS;
}

/* A command that has options or arguments for the body sends one, be it empty. */
static int build_body(struct cli *cli, struct str *out_body)
{
    bool any = cli->command->request->members != NULL;
    for (size_t i = 0; i < cli->command->n_options; i++)
        any = any || goes_to_body(&cli->command->options[i]);
    if (!any)
        return EXIT_SUCCESS;
    struct json_text text;
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    int refused = write_arguments(cli, &text.w);
    for (size_t i = 0; i < cli->n_given && refused == EXIT_SUCCESS; i++) {
        if (!goes_to_body(cli->given[i].option))
            continue;
        refused = check_text(cli, &cli->given[i]);
        if (refused == EXIT_SUCCESS)
            refused = write_member(cli, i, &text.w);
    }
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

static int add_header(struct cli *cli, const struct given_option *g, struct http_header *out)
{
    for (size_t i = 0; i < g->value.len; i++)
        if (g->value.ptr[i] < ' ' || g->value.ptr[i] > '~')
            return cli_usage(cli, "--%s must be plain characters", g->option->name);
    *out = (struct http_header){field_of(g->option), g->value};
    return EXIT_SUCCESS;
}

int request_read_match(
    struct cli *cli, const char *option, struct http_header *headers, size_t *n_headers)
{
    struct str value = cli_value(cli, option), tag = STR("*");
    int64_t version;
    bool is_new = str_eq(value, STR("new"));
    if (str_is_none(value))
        return EXIT_SUCCESS;
    if (str_to_i64(value, &version) && version > 0)
        tag = arena_printf(&cli->arena, "\"%lld\"", (long long)version);
    else if (!is_new && !str_eq(value, STR("*")))
        return cli_usage(cli, "--%s must be a version, new or *", option);
    struct str name = is_new ? STR("If-None-Match") : STR("If-Match");
    headers[(*n_headers)++] = (struct http_header){name, tag};
    return EXIT_SUCCESS;
}

/* What belongs to somebody is asked for with its owner. */
static int check_owner(struct cli *cli)
{
    const struct cli_option *first = NULL;
    for (size_t i = 0; i < cli->command->n_options; i++) {
        const struct cli_option *o = &cli->command->options[i];
        if (o->goes != GOES_PATH)
            continue;
        if (!str_is_none(cli_value(cli, o->name)))
            return EXIT_SUCCESS;
        first = first == NULL ? o : first;
    }
    return first == NULL ? EXIT_SUCCESS
                         : cli_usage(cli, "say whose it is: --%s, or another", first->name);
}

static bool has_path_argument(const struct cli *cli)
{
    struct uuid unused;
    if (cli->n_arguments == 0)
        return false;
    return cli->command->request->words == NULL || uuid_parse(cli->arguments[0], &unused);
}

/* The arguments from `first` on, as one member of the query; or the option of that member. */
static int add_words(struct cli *cli, size_t first, struct str *target)
{
    const char *name = cli->command->request->words;
    struct str words = STR("");
    bool given = false;
    for (size_t i = 0; i < cli->n_given; i++)
        given = given || str_eq(field_of(cli->given[i].option), str_of(name));
    for (size_t i = first; i < cli->n_arguments; i++)
        words = arena_printf(&cli->arena, "%.*s%s%.*s", STR_ARG(words), i == first ? "" : " ",
            STR_ARG(cli->arguments[i]));
    if (given == (words.len > 0))
        return cli_usage(cli, given ? "the words must be given once" : "WORD is missing");
    if (words.len > 0)
        *target = request_with(cli, *target, str_of(name), words);
    return EXIT_SUCCESS;
}

int request_build(struct cli *cli, struct remote_request *out_request)
{
    const struct cli_request *row = cli->command->request;
    struct http_header *headers = ARENA_ARRAY(&cli->arena, struct http_header, cli->n_given + 1);
    *out_request =
        (struct remote_request){.method = row->method, .body = STR_NONE, .headers = headers};
    int refused = check_arguments(cli);
    if (refused == EXIT_SUCCESS)
        refused = check_owner(cli);
    bool without = row->path_without != NULL && !has_path_argument(cli);
    out_request->path = request_path(cli, without ? row->path_without : row->path);
    if (row->words != NULL && refused == EXIT_SUCCESS)
        refused = add_words(cli, without ? 0 : 1, &out_request->path);
    for (size_t i = 0; i < cli->n_given && refused == EXIT_SUCCESS; i++) {
        const struct given_option *g = &cli->given[i];
        if (g->option->goes == GOES_QUERY)
            refused = add_to_query(cli, g, &out_request->path);
        if (g->option->goes == GOES_HEADER)
            refused = add_header(cli, g, &headers[out_request->n_headers++]);
        if (g->option->goes == GOES_MATCH)
            refused = request_read_match(cli, g->option->name, headers, &out_request->n_headers);
    }
    return refused == EXIT_SUCCESS ? build_body(cli, &out_request->body) : refused;
}
