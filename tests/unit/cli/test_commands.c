/* SPDX-License-Identifier: Apache-2.0 */
/* What every row of the table must keep to, so that parser, help and completion can rely on it. */
#include "cli/commands.h"

#include "test.h"

static void fault(const struct command *c, const char *what)
{
    test_fail(__FILE__, __LINE__, "%s %s: %s", c->noun, c->verb == NULL ? "" : c->verb, what);
}

static bool ends_in_stop(const char *text)
{
    size_t len = strlen(text);
    return len == 0 || text[len - 1] == '.';
}

TEST(every_command_says_what_it_does_in_the_same_form)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        if (c->summary[0] < 'a' || c->summary[0] > 'z' || ends_in_stop(c->summary))
            fault(c, "a summary begins in lower case and has no full stop");
        if (c->details != NULL && !str_is_utf8(str_of(c->details)))
            fault(c, "the details are not UTF-8");
        if (c->run == NULL && c->request == NULL)
            fault(c, "a command has a function or a request");
        if (command_find(str_of(c->noun), str_of(c->verb)) != c)
            fault(c, "there are two of that name");
    }
}

TEST(the_verbs_of_a_noun_stand_together)
{
    for (size_t i = 2; i < command_count; i++)
        for (size_t k = 0; k + 1 < i; k++)
            if (strcmp(commands[i]->noun, commands[k]->noun) == 0 &&
                strcmp(commands[i]->noun, commands[i - 1]->noun) != 0)
                fault(commands[i], "it stands apart from its noun");
}

static void check_option(const struct command *c, const struct cli_option *o)
{
    if (o->help == NULL || ends_in_stop(o->help))
        fault(c, "an option has no help, or one with a full stop");
    if (o->argument == NULL && (o->choices != NULL || o->repeats || o->fallback != NULL))
        fault(c, "a flag has no values");
    if (o->goes == GOES_TRUE && o->argument != NULL)
        fault(c, "a flag of the body takes no value");
    if (strchr(o->name, '_') != NULL || strchr(o->name, '=') != NULL)
        fault(c, "an option's name has - between its words");
}

TEST(no_command_has_two_options_of_one_name)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        for (size_t k = 0; k < command_option_count(c); k++) {
            const struct cli_option *a = command_option(c, k);
            check_option(c, a);
            for (size_t m = 0; m < k; m++) {
                const struct cli_option *b = command_option(c, m);
                if (strcmp(a->name, b->name) == 0 || (a->letter != 0 && a->letter == b->letter))
                    test_fail(__FILE__, __LINE__, "%s: --%s is there twice", c->noun, a->name);
            }
        }
    }
}

/* Of a request whose arguments are members of its body: as many names as arguments. */
static bool has_members(const struct command *c)
{
    struct str arguments = str_of(c->arguments), members = str_of(c->request->members), unused;
    while (str_next_part(&arguments, ' ', &unused))
        if (!str_next_part(&members, ' ', &unused))
            return false;
    return !str_next_part(&members, ' ', &unused) && strchr(c->request->path, '{') == NULL;
}

TEST(a_request_has_as_many_names_in_its_path_as_the_command_has_arguments)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *c = commands[i];
        struct str rest = str_of(c->arguments), part;
        if (c->request == NULL || c->run != NULL)
            continue; /* a function may use a request for some of its arguments */
        if (c->request->members != NULL) {
            if (!has_members(c))
                fault(c, "an argument is not in the body");
            continue;
        }
        const char *at = c->request->path;
        while (str_next_part(&rest, ' ', &part)) {
            if (c->request->words != NULL && rest.len == 0)
                break; /* what is left goes into the query */
            part = part.ptr[0] == '[' ? str_slice(part, 1, part.len - 1) : part;
            at = strchr(at, '{');
            if (at == NULL || !str_starts_with(str_of(at + 1), part))
                fault(c, "an argument is not in the path");
            at = at == NULL ? c->request->path : at + 1;
        }
        if (strchr(at, '{') != NULL)
            fault(c, "the path has a name that is no argument");
        if (c->request->n_columns == 0)
            fault(c, "nothing of the answer is shown");
        if ((c->flags & COMMAND_DESTROYS) != 0 && c->request->question == NULL)
            fault(c, "what destroys asks first");
    }
}
