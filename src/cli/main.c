/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/request.h"
#include "cli/state.h"

/* If a standard descriptor is closed, the next file or pipe would get its number, and output would
 * be written there. Opened in the wrong direction, /dev/null makes such output fail. */
static bool hold_standard_fds(void)
{
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false;
    return true;
}

/* A write to stdout that failed must not look like a success. */
static bool is_written(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

static int finish(struct cli *cli, int code)
{
    cli_clear_bar(cli);
    if (!is_written() && code == EXIT_SUCCESS)
        return cli_fail(cli, "the output could not be written");
    return code;
}

static int finish_help(void)
{
    if (is_written())
        return EXIT_SUCCESS;
    fputs("cairn: the output could not be written\n", stderr);
    return EXIT_FAILURE;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct cli cli CLEANUP(cli_deinit);
    int code = cli_parse(&cli, command, argc, argv);
    if (code != EXIT_SUCCESS)
        return code;
    if (cli_flag(&cli, "help")) {
        help_print_command(stdout, cli.command);
        return finish(&cli, EXIT_SUCCESS);
    }
    code = command->run != NULL ? command->run(&cli) : request_run(&cli);
    return finish(&cli, code);
}

static int refuse_noun(struct str noun)
{
    struct str near = command_suggest_noun(noun);
    if (str_starts_with(noun, STR("-"))) {
        fprintf(stderr, "cairn: options follow the command: cairn COMMAND %.*s …; ", STR_ARG(noun));
        fputs("cairn --help lists the commands\n", stderr);
        return EXIT_USAGE;
    }
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
    if (!hold_standard_fds())
        return EXIT_FAILURE;
    struct str noun = str_of(argc > 1 ? argv[1] : NULL);
    struct str verb = str_of(argc > 2 ? argv[2] : NULL);
    if (str_is_none(noun) || is_help(noun)) {
        help_print_program(str_is_none(noun) ? stderr : stdout);
        return str_is_none(noun) ? EXIT_USAGE : finish_help();
    }
    if (str_eq(noun, STR("--version"))) {
        puts("cairn " CAIRN_VERSION);
        return finish_help();
    }
    const struct command *command = command_find(noun, STR_NONE);
    bool has_verbs = command_noun_has_verbs(noun);
    /* A noun that is also a command is followed by options. */
    bool is_option = str_starts_with(verb, STR("-")) && !is_help(verb);
    if (command != NULL && (!has_verbs || is_option))
        return run_command(command, argc - 2, argv + 2);
    if (!has_verbs)
        return refuse_noun(noun);
    if (str_is_none(verb) || is_help(verb)) {
        help_print_noun(str_is_none(verb) ? stderr : stdout, noun);
        return str_is_none(verb) ? EXIT_USAGE : finish_help();
    }
    command = command_find(noun, verb);
    return command == NULL ? refuse_verb(noun, verb) : run_command(command, argc - 3, argv + 3);
}
