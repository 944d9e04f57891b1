/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command sees: its own part of the command line, the terminal, and where to ask.
 *
 * A command is a row of the table in cli/commands.c and a file. The row is all that the parser,
 * help, the man page and shell completion know of it. Data goes to stdout, everything else to
 * stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/json/json.h"
#include "base/problem.h"
#include "base/progress.h"

/* The exit codes, documented in docs/cli.md; 0 and 1 are EXIT_SUCCESS and EXIT_FAILURE. */
enum { EXIT_USAGE = 2, EXIT_AUTH = 4, EXIT_RUN_FAILED = 5, EXIT_INTERRUPTED = 130 };

struct cli;

/* Where an option's value goes in the request of a command that is data alone. */
enum option_goes {
    GOES_NOWHERE, /* the command reads it itself */
    GOES_QUERY,
    GOES_TEXT,    /* a string of the body; the same option repeated makes an array of them */
    GOES_CONTENT, /* as GOES_TEXT; @FILE reads it from a file, @- from stdin, @@ is one @ */
    GOES_SECRET,  /* a string of the body, read from the file that is named; - is stdin */
    GOES_NUMBER,  /* an integer of the body */
    GOES_TRUE,    /* a flag: true when given */
    GOES_LABELS,  /* an array of the strings between its dots */
    GOES_JSON,    /* any JSON value; @FILE reads it from a file, @- from stdin */
    GOES_HEADER,  /* `field` is the header's name */
    GOES_MATCH,   /* a version, * or new: the condition under which something is written */
    GOES_PATH,    /* /FIELD/VALUE in the place of the path's *; one of them must be given */
};

struct cli_option {
    const char *name;     /* "status" for --status */
    const char *argument; /* "STATUS"; NULL for a flag */
    const char *help;     /* lower case, no full stop */
    char letter;          /* 'f' for -f; 0: none */
    bool repeats;
    const char *const *choices; /* what the argument may be, ended by NULL; NULL: anything */
    const char *fallback;       /* what holds when it is not given, for the help; NULL: nothing */
    const char *variable;       /* the environment variable that stands for it; NULL: none */
    enum option_goes goes;
    const char *field; /* of the query or the body; NULL: the option's own name */
    bool required;
};

enum command_flags {
    COMMAND_REMOTE = 1 << 0,   /* asks a server: takes --url, --api-key-file, --profile … */
    COMMAND_OUTPUT = 1 << 1,   /* prints data: takes --json, --jsonl, --color */
    COMMAND_DESTROYS = 1 << 2, /* takes --yes and --dry-run */
    COMMAND_PAGED = 1 << 3,    /* a list that the server gives in pages: takes --limit, --all */
    COMMAND_SERVER = 1 << 4,   /* has the server's settings: takes --config, --print-config */
};

struct cli_column {
    const char *title;   /* "STATUS" */
    const char *pointer; /* "/status" */
    enum {
        COLUMN_TEXT,
        COLUMN_TIME,
        COLUMN_NUMBER,
        COLUMN_JSON,
        COLUMN_BYTES,
        COLUMN_ID,     /* text that is not cut when there is room for it at all */
        COLUMN_STATUS, /* text that has a colour */
    } kind;
};

/* What a command that is data alone asks of the server, and shows of the answer. */
struct cli_request {
    const char *method;
    const char *path; /* "/v1/threads/{THREAD}/runs": the names are the command's arguments */
    /* What the arguments are called in the body, each with a blank behind it: "namespace. key". One
     * that ends in a dot becomes an array of the strings between its dots. NULL: they are not. */
    const char *members;
    const char *path_without; /* when the last argument, which is optional, is not given; NULL */
    const struct cli_column *columns;
    size_t n_columns;
    const char *words;        /* the query's name for what follows the argument of the path, which
                               * is an id and may be left out; NULL: nothing follows */
    const char *cursor;       /* the query's name for where a page begins; NULL: "cursor" */
    const char *other_cursor; /* the name instead, when the option of this name is given; NULL */
    const char *looks_at;     /* what --dry-run reads and shows; NULL: the path */
    const char *question;     /* before it is done: "Delete the thread?"; NULL: not asked */
    const char *done;         /* said on stderr when there is no answer to show; NULL */
    const char *nothing;      /* what a 204 means where it is a failure; NULL: it is none */
    const char *secret;       /* the pointer of a secret that is shown once; NULL */
    const char *verdict;      /* the pointer of a boolean; false is a failure; NULL */
};

struct command {
    const char *noun;      /* "thread", or the whole name: "backup" */
    const char *verb;      /* "list"; NULL */
    const char *arguments; /* "THREAD", "METHOD PATH", "[FILE]", "[WORD…]"; NULL: none */
    const char *summary;   /* one line, lower case, no full stop */
    const char *details;   /* paragraphs for --help and the man page; NULL */
    const struct cli_option *options;
    size_t n_options;
    unsigned flags;
    int (*run)(struct cli *cli); /* returns the exit code; NULL: `request` says it all */
    const struct cli_request *request;
};

/* --- The command line ----------------------------------------------------------------------- */

struct str cli_argument(const struct cli *cli, size_t index); /* STR_NONE past the last */
size_t cli_argument_count(const struct cli *cli);
struct str cli_value(const struct cli *cli, const char *option); /* STR_NONE unless given */
bool cli_flag(const struct cli *cli, const char *option);
size_t cli_count(const struct cli *cli, const char *option); /* how often it was given */
struct str cli_value_at(const struct cli *cli, const char *option, size_t index);
struct arena *cli_arena(struct cli *cli); /* lives as long as the command */
const struct command *cli_command(const struct cli *cli);

/* --- What is told, on stderr ---------------------------------------------------------------- */

/* Each says why and returns the exit code: `return cli_fail(cli, "…");` */
int cli_fail(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* Of the way the command was called; ends by naming its --help. */
int cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
int cli_fail_problem(struct cli *cli, const struct problem *problem);
/* What cli_fail, cli_usage and cli_note would say goes there instead, for a command that reports it
 * itself. NULL: it is said again. */
void cli_catch_words(struct cli *cli, struct str *out_words);
void cli_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Before something is destroyed. --yes: true. On a terminal it asks; elsewhere it says that --yes
 * is needed. When false, return cli_refused(cli). */
bool cli_confirm(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
int cli_refused(const struct cli *cli);
bool cli_is_dry_run(const struct cli *cli);

/* A bar on stderr when that is a terminal, nothing elsewhere; also learns of Ctrl-C. */
struct progress *cli_progress(struct cli *cli);
/* True after Ctrl-C, from cli_progress or cli_catch_interrupts on; a second one ends the process.
 */
bool cli_is_interrupted(const struct cli *cli);
/* Becomes readable at Ctrl-C. */
int cli_catch_interrupts(struct cli *cli);

/* --- What is printed, on stdout ------------------------------------------------------------- */

/* What a command has written itself, as the functions below want it; takes the text. */
struct json_text;
struct json cli_document(struct cli *cli, struct json_text *text);
/* One object: a table of two columns on a terminal, else (and with --json) the document. */
void cli_print_object(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json object);
/* Rows of a list come one after another; cli_print_end ends the table or the document. */
void cli_print_row(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json row);
void cli_print_end(struct cli *cli, const struct cli_column *columns, size_t n_columns);
/* A status in its colour, for text that is no table. */
void cli_print_status(struct cli *cli, struct str status);

#endif
