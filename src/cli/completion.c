/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion. The script of a shell calls `cairn completion words …` for the candidates, so that it
 * always knows the commands of the installed binary. Each line has a candidate, a tab and its
 * meaning. Without candidates the shell completes file names.
 */
#include "cli/commands.h"
#include "cli/derive.h"
#include "cli/help.h"

static int run(struct cli *cli);

const struct command command_completion = {.noun = "completion",
    .arguments = "SHELL [WORD…]",
    .summary = "print the completion script of bash, zsh or fish",
    .details = "bash: cairn completion bash > ~/.local/share/bash-completion/completions/cairn\n"
               "zsh: cairn completion zsh > a file _cairn in a directory of $fpath\n"
               "fish: cairn completion fish > ~/.config/fish/completions/cairn.fish",
    .run = run};

static const struct {
    const char *shell;
    const char *script;
} scripts[] = {
    {"bash", "# bash completion of cairn\n"
             "_cairn() {\n"
             "    local IFS=$'\\n' tab=$'\\t' line\n"
             "    COMPREPLY=()\n"
             "    for line in $(\"${COMP_WORDS[0]}\" completion words --"
             " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null); do\n"
             "        COMPREPLY+=(\"${line%%\"$tab\"*}\")\n"
             "    done\n"
             "}\n"
             "complete -o default -F _cairn cairn\n"},
    {"zsh",
        "#compdef cairn\n"
        "_cairn() {\n"
        "    local -a candidates\n"
        "    local line tab=$'\\t' word\n"
        "    for line in \"${(@f)$(\"${words[1]}\" completion words --"
        " \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
        "        word=${line%%$tab*}\n"
        "        [[ -n $word ]] && candidates+=(\"${word//:/\\\\:}:${line#*$tab}\")\n"
        "    done\n"
        "    if (( ${#candidates} )); then _describe cairn candidates; else _files; fi\n"
        "}\n"
        "if [[ ${funcstack[1]} == _cairn ]]; then _cairn \"$@\"; else compdef _cairn cairn; fi\n"},
    {"fish", "# fish completion of cairn\n"
             "function __cairn_words\n"
             "    set -l words (commandline -opc) (commandline -ct)\n"
             "    $words[1] completion words -- $words[2..-1] 2>/dev/null\n"
             "end\n"
             "complete -c cairn -f -a '(__cairn_words)'\n"
             "complete -c cairn -n 'test -z \"$(__cairn_words)\"' -F\n"},
};

/* --- Candidates ------------------------------------------------------------------------ */

/* Prints a candidate if it continues the word; the prefix is a part of both. */
static void offer(struct str begun, struct str prefix, const char *word, const char *meaning)
{
    bool prefix_fits =
        begun.len <= prefix.len ? str_starts_with(prefix, begun) : str_starts_with(begun, prefix);
    if (prefix_fits && str_starts_with(str_of(word), str_slice(begun, prefix.len, begun.len)))
        printf("%.*s%s\t%s\n", STR_ARG(prefix), word, meaning);
}

static bool is_dashed(struct str begun)
{
    return begun.len > 0 && begun.ptr[0] == '-';
}

static void offer_nouns(struct str begun)
{
    const struct command *c, *before = NULL;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++, before = c)
        if (before == NULL || strcmp(c->noun, before->noun) != 0)
            offer(begun, STR(""), c->noun, c->verb == NULL ? c->summary : "");
}

static void offer_verbs(struct cli *cli, struct str noun, struct str begun)
{
    const struct command *c;
    for (size_t i = 0; (c = command_at(i)) != NULL; i++)
        if (c->verb != NULL && str_eq(str_of(c->noun), noun))
            offer(begun, STR(""), c->verb, command_complete(cli_arena(cli), c)->summary);
}

/* Returns the option that the word names if its value follows, or NULL. */
static const struct cli_option *awaiting_value(const struct command *command, struct str word)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const struct cli_option *o = &command->options[i];
        bool named = str_starts_with(word, STR("--")) &&
                     str_eq(str_slice(word, 2, word.len), str_of(o->name));
        bool lettered = word.len == 2 && word.ptr[0] == '-' && word.ptr[1] == o->letter;
        if ((named || lettered) && o->argument != NULL)
            return o;
    }
    return NULL;
}

static void offer_choices(const struct cli_option *o, struct str prefix, struct str begun)
{
    static const char *const bools[] = {"true", "false", NULL};
    const char *const *choices = o->kind == OPTION_BOOL ? bools : o->choices;
    for (size_t i = 0; choices != NULL && choices[i] != NULL; i++)
        offer(begun, prefix, choices[i], o->help);
}

/* Returns true if the word is the value of an option. */
static bool offer_value(const struct command *command, struct str before, struct str begun)
{
    size_t equals = str_find(begun, '=');
    const struct cli_option *awaited = awaiting_value(command, before);
    const struct cli_option *joined =
        equals < begun.len ? awaiting_value(command, str_slice(begun, 0, equals)) : NULL;
    if (awaited != NULL && awaited->kind == OPTION_BOOL && is_dashed(begun))
        return false;
    if (awaited != NULL)
        offer_choices(awaited, STR(""), begun);
    else if (joined != NULL)
        offer_choices(joined, str_slice(begun, 0, equals + 1), begun);
    return awaited != NULL || joined != NULL;
}

static void offer_options(const struct command *command, struct str begun)
{
    for (size_t i = 0; is_dashed(begun) && i < command->n_options; i++)
        offer(begun, STR("--"), command->options[i].name, command->options[i].help);
}

/* Offers nouns, or the verbs of a noun. */
static void offer_names(struct cli *cli, struct str noun, bool noun_is_begun, struct str begun)
{
    if (noun_is_begun)
        offer_nouns(begun);
    else
        offer_verbs(cli, noun, begun);
    if (is_dashed(begun) && (noun_is_begun || command_noun_has_verbs(noun)))
        offer(begun, STR("--"), "help", "show the help");
    if (is_dashed(begun) && noun_is_begun)
        offer(begun, STR("--"), "version", "print the version");
}

static void offer_arguments(const struct command *command, struct cli *cli, struct str begun)
{
    size_t n = cli_argument_count(cli) - 1;
    if (command == &command_help && n == 2)
        offer_nouns(begun);
    else if (command == &command_help && n == 3)
        offer_verbs(cli, cli_argument(cli, 2), begun);
    else if (command == &command_completion && n == 2)
        for (size_t i = 0; i < COUNT_OF(scripts); i++)
            offer(begun, STR(""), scripts[i].shell, "its script");
}

/* Reads the words of the line after "cairn"; the last one is incomplete. */
static void offer_words(struct cli *cli)
{
    size_t n = cli_argument_count(cli) - 1;
    struct str noun = cli_argument(cli, 1), begun = n == 0 ? STR("") : cli_argument(cli, n);
    const struct command *command = n < 2 ? NULL : command_find(noun, STR_NONE);
    const struct command *verb = n <= 2 ? NULL : command_find(noun, cli_argument(cli, 2));
    bool is_named = command != NULL && (!command_noun_has_verbs(noun) || is_dashed(begun));
    if (!is_named && n <= 2) {
        offer_names(cli, noun, n < 2, begun);
        return;
    }
    if (verb != NULL)
        command = verb;
    struct str before = cli_argument(cli, n - 1);
    if (str_eq(before, STR("="))) /* bash splits --color=always into three words */
        before = cli_argument(cli, n - 2);
    else if (str_eq(begun, STR("=")))
        begun = STR("");
    if (command == NULL)
        return;
    const struct command *complete = command_complete(cli_arena(cli), command);
    if (offer_value(complete, before, begun))
        return;
    offer_arguments(command, cli, begun);
    offer_options(complete, begun);
}

static int run(struct cli *cli)
{
    struct str shell = cli_argument(cli, 0);
    if (str_eq(shell, STR("words"))) {
        offer_words(cli);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COUNT_OF(scripts); i++)
        if (str_eq(str_of(scripts[i].shell), shell)) {
            fputs(scripts[i].script, stdout);
            return EXIT_SUCCESS;
        }
    return cli_usage(cli, "SHELL must be bash, zsh or fish");
}
