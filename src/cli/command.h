/* The commands of the program: one file each, opening with its row of the table in main.c. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

enum { EXIT_USAGE = 2 };

struct command {
    const char *name;
    const char *summary;
    /* argv[0] is the command's name. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

extern const struct command command_serve;

#endif
