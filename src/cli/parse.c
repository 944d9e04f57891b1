/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the words after the name of a command: its options and arguments. */
#include <sys/ioctl.h>

#include "cli/commands.h"
#include "cli/derive.h"
#include "cli/state.h"

enum { ARENA_BYTES = 64 * 1024 * 1024, WIDTH_MIN = 20, WIDTH_USUAL = 80 };

struct words {
    char **argv;
    int argc;
    int at;
};

/* --- Options -------------------------------------------------------------------------------- */

static const struct cli_option *find_long(const struct command *command, struct str name)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (str_eq(str_of(command->options[i].name), name))
            return &command->options[i];
    return NULL;
}

static const struct cli_option *find_letter(const struct command *command, char letter)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].letter == letter)
            return &command->options[i];
    return NULL;
}

static int refuse_choice(struct cli *cli, const struct cli_option *option)
{
    struct str list = cli_choices(&cli->arena, option->choices);
    return cli_usage(cli, "--%s must be %.*s", option->name, STR_ARG(list));
}

static bool is_bool(struct str value)
{
    return str_eq(value, STR("true")) || str_eq(value, STR("false"));
}

/* Returns false after it has reported the fault. */
static bool check_value(struct cli *cli, const struct cli_option *option, struct str value)
{
    int64_t number;
    if (option->choices != NULL && enum_parse(option->choices, value) == 0)
        refuse_choice(cli, option);
    else if (option->kind == OPTION_NUMBER && !str_to_i64(value, &number))
        cli_usage(cli, "--%s must be a whole number", option->name);
    else if (option->kind == OPTION_BOOL && !is_bool(value))
        cli_usage(cli, "--%s must be true or false", option->name);
    else
        return true;
    return false;
}

static int take_option(struct cli *cli, const struct cli_option *option, struct str value)
{
    if (!check_value(cli, option, value))
        return EXIT_USAGE;
    /* The last one counts, so that a caller can override what an alias or a script has set. */
    size_t at = 0;
    while (at < cli->n_given && (cli->given[at].option != option || option->repeats))
        at++;
    cli->given[at] = (struct given_option){option, value};
    cli->n_given += at == cli->n_given;
    return EXIT_SUCCESS;
}

/* Takes the value of an option: the rest of its own word, or the next word. */
static int take_value(
    struct cli *cli, const struct cli_option *option, struct str rest, struct words *w)
{
    struct str next = w->at < w->argc ? str_of(w->argv[w->at]) : STR_NONE;
    if (option->kind == OPTION_BOOL && str_is_none(rest) && !is_bool(next))
        rest = STR("true");
    if (str_is_none(rest)) {
        if (w->at == w->argc)
            return cli_usage(cli, "--%s needs a value", option->name);
        rest = str_of(w->argv[w->at++]);
    }
    return take_option(cli, option, rest);
}

static int take_long(struct cli *cli, struct str word, struct words *w)
{
    size_t equals = str_find(word, '=');
    struct str name = str_slice(word, 2, equals);
    struct str rest = equals < word.len ? str_slice(word, equals + 1, word.len) : STR_NONE;
    const struct cli_option *option = find_long(cli->command, name);
    if (option == NULL) {
        struct str near = command_suggest_option(cli->command, name);
        if (str_is_none(near))
            return cli_usage(cli, "--%.*s is not an option", STR_ARG(name));
        return cli_usage(
            cli, "--%.*s is not an option; did you mean --%.*s?", STR_ARG(name), STR_ARG(near));
    }
    if (option->argument != NULL)
        return take_value(cli, option, rest, w);
    if (!str_is_none(rest))
        return cli_usage(cli, "--%s takes no value", option->name);
    return take_option(cli, option, STR_NONE);
}

/* -f, -nVALUE, -yn */
static int take_letters(struct cli *cli, struct str word, struct words *w)
{
    for (size_t i = 1; i < word.len; i++) {
        const struct cli_option *option = find_letter(cli->command, word.ptr[i]);
        if (option == NULL)
            return cli_usage(cli, "-%c is not an option", word.ptr[i]);
        if (option->argument != NULL) {
            struct str rest = i + 1 < word.len ? str_slice(word, i + 1, word.len) : STR_NONE;
            return take_value(cli, option, rest, w);
        }
        TRY_EXIT(take_option(cli, option, STR_NONE));
    }
    return EXIT_SUCCESS;
}

static int take_words(struct cli *cli, struct words *w)
{
    bool options_ended = false;
    while (w->at < w->argc) {
        struct str word = str_of(w->argv[w->at++]);
        int refused = EXIT_SUCCESS;
        if (!options_ended && str_eq(word, STR("--")))
            options_ended = true;
        else if (!options_ended && str_starts_with(word, STR("--")))
            refused = take_long(cli, word, w);
        else if (!options_ended && word.len > 1 && word.ptr[0] == '-')
            refused = take_letters(cli, word, w);
        else
            cli->arguments[cli->n_arguments++] = word;
        if (refused != EXIT_SUCCESS)
            return refused;
    }
    return EXIT_SUCCESS;
}

/* --- Required parts ------------------------------------------------------------------------- */

static int check_arguments(struct cli *cli)
{
    struct str rest = str_of(cli->command->arguments), part;
    size_t most = 0;
    while (str_next_part(&rest, ' ', &part)) {
        bool optional = part.ptr[0] == '[';
        bool many = part.len > 4 && (str_eq(str_slice(part, part.len - 3, part.len), STR("…")) ||
                                        str_eq(str_slice(part, part.len - 4, part.len), STR("…]")));
        if (cli->n_arguments <= most && !optional)
            return cli_usage(cli, "%.*s is missing", STR_ARG(part));
        if (many)
            return EXIT_SUCCESS;
        most++;
    }
    if (cli->n_arguments > most)
        return cli_usage(cli, "\"%.*s\" is one word too many", STR_ARG(cli->arguments[most]));
    return EXIT_SUCCESS;
}

/* Returns true if the option was given, or another one that fills the same member. */
static bool is_given(const struct cli *cli, const struct cli_option *option)
{
    for (size_t i = 0; i < cli->n_given; i++) {
        const struct cli_option *other = cli->given[i].option;
        if (other == option || (option->member != NULL && other->member != NULL &&
                                   strcmp(option->member, other->member) == 0))
            return true;
    }
    return false;
}

static int check_options(struct cli *cli)
{
    for (size_t i = 0; i < cli->command->n_options; i++) {
        const struct cli_option *option = &cli->command->options[i];
        if (option->required && !is_given(cli, option))
            return cli_usage(cli, "--%s is required", option->name);
    }
    if (cli_flag(cli, "json") && cli_flag(cli, "jsonl"))
        return cli_usage(cli, "--json and --jsonl exclude each other");
    if (cli_flag(cli, "all") && cli_count(cli, "limit") > 0)
        return cli_usage(cli, "--all and --limit exclude each other");
    return EXIT_SUCCESS;
}

/* --- The terminal --------------------------------------------------------------------------- */

static size_t terminal_width(void)
{
    struct winsize size;
    uint64_t columns;
    if (str_to_u64(str_of(getenv("COLUMNS")), &columns) && columns >= WIDTH_MIN && columns < 10000)
        return columns;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_MIN)
        return size.ws_col;
    return WIDTH_USUAL;
}

static void read_terminal(struct cli *cli)
{
    const char *no_color = getenv("NO_COLOR"), *kind = getenv("TERM");
    struct str when = cli_value(cli, "color");
    cli->terminal = isatty(STDOUT_FILENO) == 1;
    cli->width = cli->terminal ? terminal_width() : SIZE_MAX;
    cli->colour = cli->terminal && (no_color == NULL || no_color[0] == '\0') &&
                  (kind == NULL || strcmp(kind, "dumb") != 0);
    if (str_eq(when, STR("always")))
        cli->colour = true;
    if (str_eq(when, STR("never")))
        cli->colour = false;
    cli->format = cli_flag(cli, "json")    ? FORMAT_JSON
                  : cli_flag(cli, "jsonl") ? FORMAT_JSONL
                                           : FORMAT_TABLE;
}

int cli_parse(struct cli *cli, const struct command *row, int argc, char **argv)
{
    *cli = (struct cli){.n_given = 0};
    arena_init(&cli->arena, ARENA_BYTES);
    cli->command = command_complete(&cli->arena, row);
    cli->arguments = ARENA_ARRAY(&cli->arena, struct str, (size_t)argc + 1);
    size_t most = (size_t)argc + 1;
    for (int i = 0; i < argc; i++) /* -abc is three options */
        most += argv[i][0] == '-' ? strlen(argv[i]) : 0;
    cli->given = ARENA_ARRAY(&cli->arena, struct given_option, most);
    struct words words = {argv, argc, 0};
    int refused = take_words(cli, &words);
    if (refused != EXIT_SUCCESS || cli_flag(cli, "help"))
        return refused;
    refused = check_arguments(cli);
    if (refused == EXIT_SUCCESS)
        refused = check_options(cli);
    read_terminal(cli);
    return refused;
}

void cli_deinit(struct cli *cli)
{
    arena_deinit(&cli->arena);
}

/* --- Queries -------------------------------------------------------------------------------- */

struct str cli_argument(const struct cli *cli, size_t index)
{
    return index < cli->n_arguments ? cli->arguments[index] : STR_NONE;
}

size_t cli_argument_count(const struct cli *cli)
{
    return cli->n_arguments;
}

size_t cli_count(const struct cli *cli, const char *option)
{
    size_t count = 0;
    for (size_t i = 0; i < cli->n_given; i++)
        count += strcmp(cli->given[i].option->name, option) == 0;
    return count;
}

struct str cli_value_at(const struct cli *cli, const char *option, size_t index)
{
    for (size_t i = 0; i < cli->n_given; i++)
        if (strcmp(cli->given[i].option->name, option) == 0 && index-- == 0)
            return cli->given[i].value;
    return STR_NONE;
}

struct str cli_value(const struct cli *cli, const char *option)
{
    return cli_value_at(cli, option, 0);
}

bool cli_flag(const struct cli *cli, const char *option)
{
    return cli_count(cli, option) > 0 && !str_eq(cli_value(cli, option), STR("false"));
}

struct arena *cli_arena(struct cli *cli)
{
    return &cli->arena;
}

const struct command *cli_command(const struct cli *cli)
{
    return cli->command;
}

struct str cli_choices(struct arena *arena, const char *const *choices)
{
    struct str list = STR("");
    for (size_t i = 0; choices[i] != NULL; i++) {
        const char *joint = i == 0 ? "" : choices[i + 1] == NULL ? " or " : ", ";
        list = arena_printf(arena, "%.*s%s%s", STR_ARG(list), joint, choices[i]);
    }
    return list;
}

struct str cli_name(struct arena *arena, const struct command *command)
{
    if (command->verb == NULL)
        return str_of(command->noun);
    return arena_printf(arena, "%s %s", command->noun, command->verb);
}
