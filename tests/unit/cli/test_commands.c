/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for the rows of commands, on which the parser, the help and completion rely. */
#include "cli/commands.h"
#include "cli/derive.h"

#include "test.h"

static struct arena arena;

static void fault(const struct command *c, const char *rule, struct str about)
{
    test_fail(__FILE__, __LINE__, "%s %s: %s: %.*s", c->noun, c->verb == NULL ? "" : c->verb, rule,
        STR_ARG(about));
}

/* Calls `check` with each row and its completion. */
static void each_command(void (*check)(const struct command *row, const struct command *c))
{
    const struct command *row;
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; (row = command_at(i)) != NULL; i++) {
        if (row->route != NULL && command_route(row) == NULL)
            fault(row, "there is no such route", str_of(row->route));
        else
            check(row, command_complete(&arena, row));
    }
    arena_deinit(&arena);
}

static bool ends_in_stop(const char *text)
{
    size_t len = strlen(text);
    return len == 0 || text[len - 1] == '.';
}

static void check_texts(const struct command *row, const struct command *c)
{
    if (c->summary == NULL || c->summary[0] < 'a' || c->summary[0] > 'z' ||
        ends_in_stop(c->summary))
        fault(row, "a summary begins in lower case and has no full stop", str_of(c->summary));
    if (c->details != NULL && !str_is_utf8(str_of(c->details)))
        fault(row, "the details must be UTF-8", STR(""));
    if (c->run == NULL && c->to == NULL)
        fault(row, "a command has a function or a route", STR(""));
    if (command_find(str_of(c->noun), str_of(c->verb)) != row)
        fault(row, "there are two commands of that name", STR(""));
    bool destroys = c->run == NULL && (c->flags & COMMAND_DESTROYS) != 0;
    if (destroys && c->question == NULL)
        fault(row, "a command that destroys asks first", STR(""));
    if (destroys && command_look(c) == NULL)
        fault(row, "--dry-run has nothing to show", STR(""));
}

TEST(every_command_has_texts_of_the_same_form)
{
    each_command(check_texts);
}

TEST(the_verbs_of_a_noun_follow_each_other)
{
    const struct command *a, *b;
    for (size_t i = 2; (a = command_at(i)) != NULL; i++)
        for (size_t k = 0; k + 1 < i && (b = command_at(k)) != NULL; k++)
            if (strcmp(a->noun, b->noun) == 0 && strcmp(a->noun, command_at(i - 1)->noun) != 0)
                fault(a, "the command is apart from its noun", STR(""));
}

static void check_option(const struct command *row, const struct cli_option *o)
{
    if (o->help == NULL || ends_in_stop(o->help))
        fault(row, "an option has no help, or one with a full stop", str_of(o->name));
    if (o->argument == NULL && (o->choices != NULL || o->repeats || o->fallback != NULL))
        fault(row, "a flag has no values", str_of(o->name));
    if (strchr(o->name, '_') != NULL || strchr(o->name, '=') != NULL)
        fault(row, "an option's name has - between its words", str_of(o->name));
    if (o->place == PLACE_NONE && o->member != NULL)
        fault(row, "the route has no such member", str_of(o->member));
}

static void check_options(const struct command *row, const struct command *c)
{
    for (size_t k = 0; k < c->n_options; k++) {
        const struct cli_option *a = &c->options[k];
        check_option(row, a);
        for (size_t m = 0; m < k; m++)
            if (strcmp(a->name, c->options[m].name) == 0 ||
                (a->letter != 0 && a->letter == c->options[m].letter))
                fault(row, "there are two options of that name", str_of(a->name));
    }
}

TEST(no_command_has_two_options_of_one_name)
{
    each_command(check_options);
}

static bool has_parameter(const struct command *c, struct str name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].place == PLACE_PATH && str_eq(str_of(c->options[i].member), name))
            return true;
    for (size_t i = 0; i < COUNT_OF(c->bound); i++)
        if (str_eq(c->bound[i], name))
            return true;
    return false;
}

static void check_arguments(const struct command *row, const struct command *c)
{
    struct str words = str_of(c->arguments), word;
    if (c->to == NULL || c->run != NULL)
        return; /* a function reads its own arguments */
    for (size_t i = 0; !str_is_none(route_param_name(c->to, i)); i++)
        if (!has_parameter(c, route_param_name(c->to, i)))
            fault(row, "a parameter of the path is not given", route_param_name(c->to, i));
    for (size_t i = 0; c->arguments != NULL && str_next_part(&words, ' ', &word); i++) {
        bool is_member = schema_find(c->to->body, c->bound[i]) != NULL ||
                         schema_find(c->to->query, c->bound[i]) != NULL;
        bool is_words = c->words != NULL && words.len == 0;
        if (!is_member && !is_words && strstr(c->to->path, arena_cstr(&arena, c->bound[i])) == NULL)
            fault(row, "an argument is neither in the path nor a member", word);
    }
}

TEST(every_argument_is_a_parameter_of_the_path_or_a_member)
{
    each_command(check_arguments);
}

/* The schema of an answer, of an item of a list, or of a member of either. */
static bool has_column(const struct command *c, struct str path)
{
    const struct schema *schema = c->to->answer;
    bool is_list = (c->flags & COMMAND_PAGED) != 0 && (c->to->flags & ROUTE_LIST) == 0;
    if (is_list)
        schema = schema_find(schema, STR("data"))->nested;
    struct str name;
    bool found = true;
    while (found && str_next_part(&path, '/', &name)) {
        const struct field *f = schema_find(schema, name);
        found = f != NULL;
        schema = found ? f->nested : NULL;
    }
    return found;
}

static void check_columns(const struct command *row, const struct command *c)
{
    if (c->to == NULL || row->columns == NULL)
        return;
    for (size_t i = 0; i < c->n_shown; i++)
        if (c->shown[i].pointer[0] == '/' && !has_column(c, str_of(c->shown[i].pointer + 1)))
            fault(row, "the answer has no such member", str_of(c->shown[i].pointer));
}

TEST(every_column_is_a_member_of_the_answer)
{
    each_command(check_columns);
}

static void check_omitted(const struct command *row, const struct command *c)
{
    struct str rest = str_of(row->omits), name;
    while (row->omits != NULL && str_next_part(&rest, ' ', &name))
        if (schema_find(c->to->body, name) == NULL && schema_find(c->to->query, name) == NULL &&
            !str_eq(name, STR("if-match")))
            fault(row, "the route has no such member", name);
}

TEST(a_command_omits_only_what_its_route_has)
{
    each_command(check_omitted);
}

/* --- Every route has a command -------------------------------------------------------------- */

/* Routes without a command, and the reason. A * matches any text. */
static const struct {
    const char *method;
    const char *path;
    const char *reason;
} exceptions[] = {
    {"GET", "/healthz", "for probes; cairn doctor sends it"},
    {"GET", "/readyz", "for probes; cairn doctor sends it"},
    {"GET", "/metrics", "for Prometheus"},
    {"GET", "/openapi.json", "a document for programs; cairn api GET /openapi.json prints it"},
    {"*", "/v1/agents/{agent_id}/runs/{run_id}*", "a longer path of /v1/runs/{run_id}"},
    {"*", "/v1/threads/{thread_id}/participants/me*", "PARTICIPANT can be me"},
    {"GET", "/v1/threads/{thread_id}/runs", "cairn run list --thread"},
    {"GET", "/v1/threads/{thread_id}/files/{name}/versions/{version}", "cairn file get --version"},
    {"PATCH", "/v1/threads/{thread_id}/uploads/{upload_id}", "for clients that resume uploads"},
    {"GET", "/v1/threads/{thread_id}/events/ws", "cairn event tail uses Server-Sent Events"},
    {"GET", "/v1/events/ws", "cairn event tail uses Server-Sent Events"},
    {"*", "/workflow/*", "for clients of another platform"},
};

static bool fits(const char *pattern, const char *text)
{
    size_t len = strlen(pattern);
    bool is_open = len > 0 && pattern[len - 1] == '*';
    return is_open ? strncmp(pattern, text, len - 1) == 0 : strcmp(pattern, text) == 0;
}

static bool is_exception(const struct route *r)
{
    for (size_t i = 0; i < COUNT_OF(exceptions); i++)
        if (fits(exceptions[i].method, r->method) && fits(exceptions[i].path, r->path))
            return true;
    return false;
}

/* The parameters of a path that are given, by their bits. */
struct chosen {
    struct path_values values;
    const struct command *c;
    unsigned given;
};

static bool may_be_missing(const struct command *c, struct str name)
{
    struct str words = str_of(c->arguments), word;
    for (size_t i = 0; c->arguments != NULL && str_next_part(&words, ' ', &word); i++)
        if (word.ptr[0] != '[' && str_eq(c->bound[i], name))
            return false;
    return true;
}

static struct str get_chosen(const struct path_values *values, struct str name)
{
    const struct chosen *chosen = CONTAINER_OF(values, const struct chosen, values);
    size_t i = 0;
    while (!str_eq(route_param_name(chosen->c->to, i), name))
        i++;
    bool given = (chosen->given & (1u << i)) != 0 || !may_be_missing(chosen->c, name);
    return given ? arena_printf(&arena, "{%.*s}", STR_ARG(name)) : STR_NONE;
}

/* The route, or one of those without parameters that may be missing. */
static bool reaches(const struct command *c, const struct route *r)
{
    for (unsigned given = 0; given < 1u << ROUTE_MAX_PARAMS; given++) {
        const struct chosen chosen = {{get_chosen}, c, given};
        struct str path = derive_path(&arena, str_of(c->to->path), &chosen.values);
        if (strcmp(c->to->method, r->method) == 0 && str_eq(path, str_of(r->path)))
            return true;
    }
    return false;
}

TEST(every_route_has_a_command_or_a_reason)
{
    arena_init(&arena, SIZE_MAX);
    for (size_t i = 0; i < route_count; i++) {
        const struct command *row;
        bool reached = false;
        for (size_t k = 0; !reached && (row = command_at(k)) != NULL; k++)
            reached = row->route != NULL && reaches(command_complete(&arena, row), &routes[i]);
        if (reached == is_exception(&routes[i]))
            test_fail(__FILE__, __LINE__, "%s %s %s", routes[i].method, routes[i].path,
                reached ? "has a command and is an exception" : "has no command and no reason");
    }
    arena_deinit(&arena);
}

/* --- Derivation ----------------------------------------------------------------------------- */

static const struct cli_option *option_of(const struct command *c, const char *name)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (strcmp(c->options[i].name, name) == 0)
            return &c->options[i];
    test_fail(__FILE__, __LINE__, "there is no --%s", name);
    return &c->options[0];
}

TEST(a_row_of_three_names_is_a_whole_command)
{
    static const struct command row = {
        .noun = "run", .verb = "begin", .route = "POST /v1/runs/{run_id}/phase"};
    arena_init(&arena, SIZE_MAX);
    const struct command *c = command_complete(&arena, &row);
    EXPECT_STR(str_of(c->arguments), STR("RUN"));
    EXPECT_STR(str_of(c->summary), STR("move a run to another phase and update its status"));
    EXPECT(option_of(c, "to")->required);
    EXPECT(enum_parse(option_of(c, "to")->choices, STR("planning")) != 0);
    EXPECT_EQ(option_of(c, "detail")->kind, OPTION_JSON);
    EXPECT_EQ(option_of(c, "if-match")->place, PLACE_HEADER);
    EXPECT_EQ(option_of(c, "fence")->place, PLACE_HEADER);
    EXPECT_EQ(option_of(c, "json")->place, PLACE_NONE);
    EXPECT(c->n_shown > 10);
    arena_deinit(&arena);
}

TEST(a_question_is_made_of_the_summary)
{
    static const struct command row = {
        .noun = "thread", .verb = "drop", .route = "DELETE /v1/threads/{thread_id}"};
    arena_init(&arena, SIZE_MAX);
    const struct command *c = command_complete(&arena, &row);
    EXPECT_STR(str_of(c->question), STR("Delete the thread, its runs and its events?"));
    EXPECT_STR(str_of(c->done), STR("The thread is deleted."));
    arena_deinit(&arena);
}
