#include "base/macros.h"
#include "cli/command.h"

static const struct command *const commands[] = {&command_serve};

static void print_help(FILE *out)
{
    fputs("cairn: durable runtime state for AI agents\n\nusage: cairn COMMAND [OPTION]…\n\n", out);
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n  --version  print the version\n  COMMAND --help  what it takes\n", out);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("cairn " CAIRN_VERSION);
        return EXIT_SUCCESS;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; i < COUNT_OF(commands); i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1);
    fprintf(stderr, "cairn: there is no command \"%s\"; cairn --help lists them\n", argv[1]);
    return EXIT_USAGE;
}
