/*
 * Completion. The script of a shell asks cairn itself what may follow (`cairn completion words …`),
 * so it always knows the commands of the binary that is there. One candidate a line, and what it
 * means after a tab; where nothing is known, the shell completes files.
 */
#include "cli/commands.h"

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

/* --- What may follow ------------------------------------------------------------------------ */

static void offer(struct str begun, const char *dashes, const char *word, const char *meaning)
{
    size_t n_dashes = strlen(dashes);
    bool dashes_fit = begun.len <= n_dashes ? str_starts_with(str_of(dashes), begun)
                                            : str_starts_with(begun, str_of(dashes));
    if (dashes_fit && str_starts_with(str_of(word), str_slice(begun, n_dashes, begun.len)))
        printf("%s%s\t%s\n", dashes, word, meaning);
}

static void offer_nouns(struct str begun)
{
    for (size_t i = 0; i < command_count; i++)
        if (i == 0 || strcmp(commands[i]->noun, commands[i - 1]->noun) != 0)
            offer(begun, "", commands[i]->noun,
                commands[i]->verb == NULL ? commands[i]->summary : "");
}

static void offer_verbs(struct str noun, struct str begun)
{
    for (size_t i = 0; i < command_count; i++)
        if (commands[i]->verb != NULL && str_eq(str_of(commands[i]->noun), noun))
            offer(begun, "", commands[i]->verb, commands[i]->summary);
}

/* The option that a word names and whose value is still to come, or NULL. */
static const struct cli_option *awaiting_value(const struct command *command, struct str word)
{
    for (size_t i = 0; i < command_option_count(command); i++) {
        const struct cli_option *o = command_option(command, i);
        bool named = str_starts_with(word, STR("--")) &&
                     str_eq(str_slice(word, 2, word.len), str_of(o->name));
        bool lettered = word.len == 2 && word.ptr[0] == '-' && word.ptr[1] == o->letter;
        if ((named || lettered) && o->argument != NULL)
            return o;
    }
    return NULL;
}

static void offer_for_command(const struct command *command, struct str before, struct str begun)
{
    const struct cli_option *awaited = awaiting_value(command, before);
    if (awaited != NULL) {
        for (size_t i = 0; awaited->choices != NULL && awaited->choices[i] != NULL; i++)
            offer(begun, "", awaited->choices[i], awaited->help);
        return;
    }
    if (command == &command_completion)
        for (size_t i = 0; i < COUNT_OF(scripts); i++)
            offer(begun, "", scripts[i].shell, "its script");
    if (begun.len > 0 && begun.ptr[0] == '-')
        for (size_t i = 0; i < command_option_count(command); i++)
            offer(begun, "--", command_option(command, i)->name, command_option(command, i)->help);
}

/* The words of the line after "cairn"; the last one is being typed. */
static int offer_words(struct cli *cli)
{
    size_t n = cli_argument_count(cli) - 1;
    struct str noun = cli_argument(cli, 1), verb = cli_argument(cli, 2);
    if (n <= 1) {
        offer_nouns(n == 0 ? STR("") : noun);
        return EXIT_SUCCESS;
    }
    struct str begun = cli_argument(cli, n), before = cli_argument(cli, n - 1);
    const struct command *command = command_find(noun, STR_NONE);
    if (command == NULL && n == 2)
        offer_verbs(noun, begun);
    else if (command == NULL)
        command = command_find(noun, verb);
    if (command != NULL)
        offer_for_command(command, before, begun);
    return EXIT_SUCCESS;
}

static int run(struct cli *cli)
{
    struct str shell = cli_argument(cli, 0);
    if (str_eq(shell, STR("words")))
        return offer_words(cli);
    for (size_t i = 0; i < COUNT_OF(scripts); i++)
        if (str_eq(str_of(scripts[i].shell), shell)) {
            fputs(scripts[i].script, stdout);
            return EXIT_SUCCESS;
        }
    return cli_usage(cli, "SHELL must be bash, zsh or fish");
}
