/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include "cli/commands.h"
#include "cli/derive.h"
#include "cli/state.h"

#define JSON_NOTE "JSON can be @FILE, which reads a file, or @-, which reads standard input."

enum { ARENA_BYTES = 16 * 1024 * 1024, TEXT_COLUMNS = 80, NAME_COLUMNS = 26 };

static int run(struct cli *cli);

static const struct cli_option options[] = {
    {.name = "man", .help = "print the man page as roff"},
};
const struct command command_help = {.noun = "help",
    .arguments = "[NOUN [VERB]]",
    .summary = "describe a command",
    .options = options,
    .n_options = COUNT_OF(options),
    .run = run};

static const struct {
    int code;
    const char *meaning;
} exit_codes[] = {
    {EXIT_SUCCESS, "success"},
    {EXIT_FAILURE, "failure: rejected, not found, unreachable"},
    {EXIT_USAGE, "the command line or the configuration is invalid"},
    {EXIT_AUTH, "the API key is missing, unknown or lacks the scope"},
    {EXIT_RUN_FAILED, "the awaited run failed or was cancelled"},
    {EXIT_INTERRUPTED, "interrupted"},
};

/* --- Parts ---------------------------------------------------------------------------------- */

/* Counts code points: the help has no wide characters. */
static size_t columns_of(struct str s)
{
    size_t columns = 0;
    for (size_t i = 0; i < s.len; i++)
        columns += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return columns;
}

/* Prints words; lines after the first are indented. `at` is the column of the first word. */
static void print_wrapped(FILE *out, struct str text, size_t indent, size_t at)
{
    struct str word;
    bool first = true;
    while (str_next_part(&text, ' ', &word)) {
        size_t columns = columns_of(word);
        if (!first && at + 1 + columns > TEXT_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            fputc(' ', out);
            at++;
        }
        fprintf(out, "%.*s", STR_ARG(word));
        at += columns;
        first = false;
    }
    fputc('\n', out);
}

static void print_entry(FILE *out, struct str name, struct str text)
{
    size_t used = 2 + columns_of(name);
    fprintf(out, "  %.*s", STR_ARG(name));
    if (used + 2 > NAME_COLUMNS)
        fprintf(out, "\n%*s", NAME_COLUMNS, "");
    else
        fprintf(out, "%*s", (int)(NAME_COLUMNS - used), "");
    print_wrapped(out, text, NAME_COLUMNS, NAME_COLUMNS);
}

struct str help_option_form(struct arena *arena, const struct cli_option *o)
{
    struct str letter = o->letter == 0 ? STR("") : arena_printf(arena, "-%c, ", o->letter);
    return arena_printf(arena, "%.*s--%s%s%s%s", STR_ARG(letter), o->name,
        o->argument == NULL      ? ""
        : o->kind == OPTION_BOOL ? "[="
                                 : " ",
        o->argument == NULL ? "" : o->argument,
        o->kind == OPTION_BOOL ? "]"
        : o->repeats           ? " …"
                               : "");
}

/* Returns true if the help of an option has all its values already. */
static bool names_choices(const struct cli_option *o)
{
    for (const char *const *choice = o->choices; *choice != NULL; choice++)
        if (strstr(o->help, *choice) == NULL)
            return false;
    return true;
}

/* Returns the help of an option, its values, its default and its environment variable. */
static struct str option_text(struct arena *arena, const struct cli_option *o)
{
    struct str text = str_of(o->help);
    if (o->choices != NULL && !names_choices(o))
        text = arena_printf(
            arena, "%.*s: %.*s", STR_ARG(text), STR_ARG(cli_choices(arena, o->choices)));
    if (o->fallback != NULL)
        text = arena_printf(arena, "%.*s (default: %s)", STR_ARG(text), o->fallback);
    if (o->required)
        text = arena_printf(arena, "%.*s; required", STR_ARG(text));
    if (o->variable != NULL)
        text = arena_printf(arena, "%.*s [%s]", STR_ARG(text), o->variable);
    return text;
}

/* A command without a verb, whose noun has verbs, is selected by an option. */
static struct str option_for_verb(struct arena *arena, const struct command *c)
{
    bool has_verbs = c->verb == NULL && command_noun_has_verbs(str_of(c->noun));
    for (size_t i = 0; has_verbs && i < c->n_options; i++)
        if (c->options[i].required)
            return arena_printf(arena, " --%s %s", c->options[i].name, c->options[i].argument);
    return STR("");
}

static struct str usage_of(struct arena *arena, const struct command *c)
{
    struct str name = cli_name(arena, c), option = option_for_verb(arena, c);
    return arena_printf(arena, "cairn %.*s%.*s%s%s [OPTION]…", STR_ARG(name), STR_ARG(option),
        c->arguments == NULL ? "" : " ", c->arguments == NULL ? "" : c->arguments);
}

/* "list, get, create, delete" */
static struct str verbs_of(struct arena *arena, struct str noun)
{
    const struct command *c;
    struct str list = STR("");
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (str_eq(str_of(c->noun), noun) && c->verb != NULL)
            list =
                arena_printf(arena, "%.*s%s%s", STR_ARG(list), list.len > 0 ? ", " : "", c->verb);
    return list;
}

/* "list threads" is "List threads." */
static struct str sentence(struct arena *arena, const char *summary)
{
    bool lower = summary[0] >= 'a' && summary[0] <= 'z';
    return arena_printf(arena, "%c%s.", lower ? summary[0] - 'a' + 'A' : summary[0], summary + 1);
}

/* --- On the terminal ------------------------------------------------------------------------ */

void help_print_program(FILE *out)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    const struct command *c;
    struct str noun = STR_NONE;
    fputs("cairn: durable runtime state for AI agents\n\n"
          "usage: cairn COMMAND [OPTION]…\n\ncommands:\n",
        out);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++) {
        if (str_eq(str_of(c->noun), noun))
            continue;
        noun = str_of(c->noun);
        struct str verbs = verbs_of(&arena, noun);
        print_entry(out, noun, verbs.len > 0 ? verbs : str_of(c->summary));
    }
    fputs("\nexit codes:\n", out);
    for (size_t i = 0; i < COUNT_OF(exit_codes); i++)
        print_entry(
            out, arena_printf(&arena, "%d", exit_codes[i].code), str_of(exit_codes[i].meaning));
    fputs("\ncairn NOUN --help lists the verbs of a noun, cairn NOUN VERB --help describes a\n"
          "command, cairn --version prints the version.\n",
        out);
}

void help_print_noun(FILE *out, struct str noun)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    const struct command *c, *alone = command_find(noun, STR_NONE);
    fprintf(out, "usage: cairn %.*s VERB [OPTION]…\n", STR_ARG(noun));
    if (alone != NULL)
        fprintf(out, "       %.*s\n", STR_ARG(usage_of(&arena, alone)));
    fputs("\nverbs:\n", out);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (str_eq(str_of(c->noun), noun) && c != alone)
            print_entry(out, str_of(c->verb), str_of(command_complete(&arena, c)->summary));
    fprintf(out, "\ncairn %.*s VERB --help describes a command.\n", STR_ARG(noun));
}

static bool takes_json(const struct command *c)
{
    for (size_t i = 0; i < c->n_options; i++)
        if (c->options[i].kind == OPTION_JSON)
            return true;
    return false;
}

void help_print_command(FILE *out, const struct command *c)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    struct str usage = usage_of(&arena, c);
    fprintf(out, "usage: %.*s\n\n", STR_ARG(usage));
    print_wrapped(out, sentence(&arena, c->summary), 0, 0);
    struct str details = str_of(c->details), paragraph;
    while (str_next_part(&details, '\n', &paragraph)) {
        fputc('\n', out);
        print_wrapped(out, paragraph, 0, 0);
    }
    if (takes_json(c))
        fputs("\n" JSON_NOTE "\n", out);
    fputs("\noptions:\n", out);
    for (size_t i = 0; i < c->n_options; i++) {
        const struct cli_option *o = &c->options[i];
        print_entry(out, help_option_form(&arena, o), option_text(&arena, o));
    }
}

/* --- roff ----------------------------------------------------------------------------------- */

/* Prints a line of text, with the characters of roff escaped. */
static void roff_text(FILE *out, struct str text)
{
    if (text.len > 0 && (text.ptr[0] == '.' || text.ptr[0] == '\''))
        fputs("\\&", out);
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\\')
            fputs("\\e", out);
        else if (text.ptr[i] == '-')
            fputs("\\-", out);
        else
            fputc(text.ptr[i], out);
    }
    fputc('\n', out);
}

static void roff_entry(FILE *out, struct str name, struct str text)
{
    fputs(".TP\n.B ", out);
    roff_text(out, name);
    roff_text(out, text);
}

static void roff_command(FILE *out, struct arena *arena, const struct command *c)
{
    struct str details = str_of(c->details), paragraph;
    fputs(".SS ", out);
    roff_text(out, usage_of(arena, c));
    roff_text(out, sentence(arena, c->summary));
    while (str_next_part(&details, '\n', &paragraph)) {
        fputs(".PP\n", out);
        roff_text(out, paragraph);
    }
    for (size_t i = 0; i < c->n_own; i++)
        roff_entry(
            out, help_option_form(arena, &c->options[i]), option_text(arena, &c->options[i]));
}

/* The options that follow from a flag are described once for all commands. */
static void roff_shared(FILE *out, struct arena *arena)
{
    for (size_t i = 0; i < option_group_count; i++) {
        const struct option_group *group = &option_groups[i];
        fprintf(out, ".SS %s\n", group->title);
        for (size_t k = 0; k < group->count; k++)
            roff_entry(out, help_option_form(arena, &group->options[k]),
                option_text(arena, &group->options[k]));
    }
}

void help_print_man(FILE *out)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(ARENA_BYTES);
    const struct command *c;
    fputs(".TH CAIRN 1 \"\" \"cairn " CAIRN_VERSION "\" \"User Commands\"\n"
          ".SH NAME\ncairn \\- durable runtime state for AI agents\n"
          ".SH SYNOPSIS\n.B cairn\n\\fICOMMAND\\fR [\\fIOPTION\\fR]…\n.SH COMMANDS\n",
        out);
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        roff_command(out, &arena, command_complete(&arena, c));
    fputs(".SH SHARED OPTIONS\n" JSON_NOTE "\n", out);
    roff_shared(out, &arena);
    fputs(".SH EXIT STATUS\n", out);
    for (size_t i = 0; i < COUNT_OF(exit_codes); i++)
        roff_entry(
            out, arena_printf(&arena, "%d", exit_codes[i].code), str_of(exit_codes[i].meaning));
    fputs(".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/cairn/config.toml\nprofiles of servers: "
          "\\fBdefault_profile\\fR, and for each \\fB[profiles.NAME]\\fR its \\fBurl\\fR, "
          "\\fBapi_key\\fR, \\fBapi_key_file\\fR and \\fBca_file\\fR\n"
          ".TP\n.I /etc/cairn/cairn.toml\nsettings of the server, in \\fB[serve]\\fR\n",
        out);
}

/* --- The command ---------------------------------------------------------------------------- */

/* The suggestion includes the noun, as it must be typed. */
static int refuse(struct cli *cli, struct str noun, struct str verb)
{
    bool of_noun = command_noun_has_verbs(noun);
    struct str near = of_noun ? command_suggest_verb(noun, verb) : command_suggest_noun(noun);
    struct str asked = str_is_none(verb)
                           ? noun
                           : arena_printf(&cli->arena, "%.*s %.*s", STR_ARG(noun), STR_ARG(verb));
    if (str_is_none(near))
        return cli_usage(cli, "there is no command \"%.*s\"", STR_ARG(asked));
    return cli_usage(cli, "there is no command \"%.*s\"; did you mean %.*s%s%.*s?", STR_ARG(asked),
        of_noun ? (int)noun.len : 0, noun.ptr, of_noun ? " " : "", STR_ARG(near));
}

static int run(struct cli *cli)
{
    struct str noun = cli_argument(cli, 0), verb = cli_argument(cli, 1);
    if (cli_flag(cli, "man")) {
        help_print_man(stdout);
        return EXIT_SUCCESS;
    }
    if (str_is_none(noun)) {
        help_print_program(stdout);
        return EXIT_SUCCESS;
    }
    const struct command *command = command_find(noun, verb);
    if (str_is_none(verb) && command_noun_has_verbs(noun))
        help_print_noun(stdout, noun);
    else if (command != NULL)
        help_print_command(stdout, command_complete(&cli->arena, command));
    else
        return refuse(cli, noun, verb);
    return EXIT_SUCCESS;
}
