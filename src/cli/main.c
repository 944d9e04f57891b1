#include "cli/commands.h"
#include "cli/help.h"
#include "cli/resource.h"
#include "cli/state.h"

/* A write to stdout that failed must not look like a success. */
static int finish(struct cli *cli, int code)
{
    cli_clear_bar(cli);
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_SUCCESS)
        return cli_fail(cli, "the output could not be written");
    return code;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct cli cli CLEANUP(cli_deinit);
    int code = cli_parse(&cli, command, argc, argv);
    if (code != EXIT_SUCCESS)
        return code;
    if (cli_flag(&cli, "help")) {
        help_print_command(stdout, command);
        return finish(&cli, EXIT_SUCCESS);
    }
    code = command->run != NULL ? command->run(&cli) : resource_run(&cli);
    return finish(&cli, code);
}

static int refuse_noun(struct str noun)
{
    struct str near = command_suggest_noun(noun);
    fprintf(stderr, "cairn: there is no command \"%.*s\"; ", STR_ARG(noun));
    if (!str_is_none(near))
        fprintf(stderr, "did you mean %.*s? ", STR_ARG(near));
    fputs("cairn --help lists them\n", stderr);
    return EXIT_USAGE;
}

static int refuse_verb(struct str noun, struct str verb)
{
    struct str near = command_suggest_verb(noun, verb);
    fprintf(stderr, "cairn %.*s: there is no verb \"%.*s\"; ", STR_ARG(noun), STR_ARG(verb));
    if (!str_is_none(near))
        fprintf(stderr, "did you mean %.*s? ", STR_ARG(near));
    fprintf(stderr, "cairn %.*s --help lists them\n", STR_ARG(noun));
    return EXIT_USAGE;
}

static bool is_help(struct str word)
{
    return str_eq(word, STR("--help")) || str_eq(word, STR("-h"));
}

int main(int argc, char **argv)
{
    struct str noun = str_of(argc > 1 ? argv[1] : NULL);
    struct str verb = str_of(argc > 2 ? argv[2] : NULL);
    if (str_is_none(noun) || is_help(noun)) {
        help_print_program(str_is_none(noun) ? stderr : stdout);
        return str_is_none(noun) ? EXIT_USAGE : EXIT_SUCCESS;
    }
    if (str_eq(noun, STR("--version"))) {
        puts("cairn " CAIRN_VERSION);
        return EXIT_SUCCESS;
    }
    const struct command *command = command_find(noun, STR_NONE);
    if (command != NULL)
        return run_command(command, argc - 2, argv + 2);
    if (!command_noun_has_verbs(noun))
        return refuse_noun(noun);
    if (str_is_none(verb) || is_help(verb)) {
        help_print_noun(str_is_none(verb) ? stderr : stdout, noun);
        return str_is_none(verb) ? EXIT_USAGE : EXIT_SUCCESS;
    }
    command = command_find(noun, verb);
    return command == NULL ? refuse_verb(noun, verb) : run_command(command, argc - 3, argv + 3);
}
