/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of commands: their row, the command line, the terminal, and output.
 *
 * A command is a row of a table. A row that names a route of the API needs little else: options,
 * arguments, columns and help are derived from the route's schemas (cli/derive.h). Other rows have
 * a function. Data is printed to stdout, everything else to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "api/http/route.h"
#include "base/arena.h"
#include "base/json/json.h"
#include "base/problem.h"
#include "base/progress.h"

/* The exit codes, documented in docs/cli.md; 0 and 1 are EXIT_SUCCESS and EXIT_FAILURE. */
enum { EXIT_USAGE = 2, EXIT_AUTH = 4, EXIT_RUN_FAILED = 5, EXIT_INTERRUPTED = 130 };

/* Returns the exit code of a call to the caller of this function; continues after EXIT_SUCCESS. */
#define TRY_EXIT(call)                \
    do {                              \
        const int try_exit = (call);  \
        if (try_exit != EXIT_SUCCESS) \
            return try_exit;          \
    } while (0)

struct cli;

/* How the argument of an option is read. */
enum option_kind {
    OPTION_BY_SCHEMA, /* as the member of the route requires; OPTION_TEXT without one */
    OPTION_TEXT,
    OPTION_TEXT_OR_FILE, /* @FILE reads a file, @- stdin; @@ is one @ */
    OPTION_SECRET_FILE,  /* the name of a file that contains the text; - is stdin */
    OPTION_LABELS,       /* an array of the strings between the dots */
    OPTION_NUMBER,       /* a whole number */
    OPTION_BOOL,         /* true or false; true without an argument */
    OPTION_JSON,         /* any JSON value; @FILE reads a file, @- stdin */
    OPTION_METADATA,     /* KEY=VALUE */
    OPTION_MATCH,        /* a version, * or new: the condition of a write */
};

/* The part of the request that has the option's value. Rows state only PLACE_PATH. */
enum option_place {
    PLACE_NONE, /* the command's function reads it */
    PLACE_PATH,
    PLACE_QUERY,
    PLACE_CURSOR, /* where the first page of a list begins */
    PLACE_BODY,
    PLACE_HEADER,
};

/* Parts that are not set are derived from the member of the route that the option fills. */
struct cli_option {
    const char *name;     /* "status" for --status */
    const char *member;   /* of the route's path, query or body; NULL: the name with _ for - */
    const char *argument; /* "STATUS"; NULL for a flag */
    const char *help;     /* lower case, no full stop */
    char letter;          /* 'f' for -f; 0: none */
    bool repeats;
    bool required;
    const char *const *choices; /* the values that are allowed, ends in NULL; NULL: any */
    const char *fallback;       /* the default, for the help; NULL: none */
    const char *variable;       /* the environment variable that sets it; NULL: none */
    enum option_kind kind;
    enum option_place place;
};

enum command_flags {
    COMMAND_REMOTE = 1 << 0,   /* sends requests: takes --url, --api-key-file, --profile … */
    COMMAND_OUTPUT = 1 << 1,   /* prints data: takes --json, --jsonl, --color */
    COMMAND_DESTROYS = 1 << 2, /* takes --yes and --dry-run */
    COMMAND_PAGED = 1 << 3,    /* a list that the server returns in pages: takes --limit, --all */
    COMMAND_SERVER = 1 << 4,   /* has the server's settings: takes --config, --print-config */
};

enum cli_column_kind {
    COLUMN_TEXT,
    COLUMN_TIME,
    COLUMN_NUMBER,
    COLUMN_JSON,
    COLUMN_BYTES,
    COLUMN_ID,     /* text that is cut only after all other text */
    COLUMN_STATUS, /* text that has a colour */
};

struct cli_column {
    const char *title;   /* "STATUS" */
    const char *pointer; /* "/status" */
    enum cli_column_kind kind;
};

struct command {
    const char *noun;  /* "thread", or the whole name: "backup" */
    const char *verb;  /* "list"; NULL */
    const char *route; /* "GET /v1/threads/{thread_id}"; NULL: none, or several */
    /* Members of the answer, "TITLE=member" for another title, a "_" for each blank of it, a "/"
     * before a member of a nested object, ":json" after one that is shown as JSON; NULL: all. */
    const char *columns;
    /* "THREAD [FILE]", "METHOD PATH", "[WORD…]". Those of a route are the parameters of its path in
     * their order, then members of its query or body: "KEY=key". One that is bound to nothing is
     * "FILE=". NULL: the parameters of the path, or none. */
    const char *arguments;
    const char *summary; /* one line, lower case, no full stop; NULL: that of the route */
    const char *details; /* paragraphs for --help and the man page; NULL */
    const struct cli_option *options;
    size_t n_options;
    const char *omits; /* options of the route that the command does not have: "format include" */
    unsigned flags;    /* besides those that follow from the route */
    int (*run)(struct cli *cli); /* returns the exit code; NULL: sends the route's request */

    /* For commands without a function. */
    const char *words;    /* the member of the query that has all arguments after the path's; the
                           * path's argument is an id and may be missing; NULL: none */
    const char *looks_at; /* the path that --dry-run reads and shows; NULL: the object's own */
    const char *question; /* asked before a change: "Delete the thread?"; NULL: the summary */
    const char *done;     /* printed to stderr when the answer is empty; NULL: a default */
    const char *nothing;  /* the meaning of 204 where that is a failure; NULL: it is a success */
    const char *verdict;  /* the pointer of a boolean; false is a failure; NULL */

    /* Set by command_complete. */
    const struct route *to;
    const char *secret;  /* the pointer of a secret that the answer shows once; NULL */
    struct str bound[8]; /* for each argument, the member that it fills; STR_NONE: none */
    size_t n_own;        /* options that do not follow from flags; these are the first */
    const struct cli_column *shown;
    size_t n_shown;
};

/* The options of a row. */
#define OPTIONS(...)                                     \
    .options = (const struct cli_option[]){__VA_ARGS__}, \
    .n_options = COUNT_OF(((const struct cli_option[]){__VA_ARGS__}))

/* --- The command line ----------------------------------------------------------------------- */

struct str cli_argument(const struct cli *cli, size_t index); /* STR_NONE past the last */
size_t cli_argument_count(const struct cli *cli);
struct str cli_value(const struct cli *cli, const char *option); /* STR_NONE unless given */
bool cli_flag(const struct cli *cli, const char *option);
size_t cli_count(const struct cli *cli, const char *option); /* how often it was given */
struct str cli_value_at(const struct cli *cli, const char *option, size_t index);
struct arena *cli_arena(struct cli *cli); /* lives as long as the command */
const struct command *cli_command(const struct cli *cli);

/* --- Messages on stderr --------------------------------------------------------------------- */

/* Each prints a message and returns the exit code: `return cli_fail(cli, "…");` */
int cli_fail(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* For a wrong command line; the message ends with a reference to --help. */
int cli_usage(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
int cli_fail_problem(struct cli *cli, const struct problem *problem);
/* Redirects the messages of cli_fail, cli_usage and cli_note to `out_words`, for a command that
 * reports them itself. NULL: messages are printed again. */
void cli_catch_words(struct cli *cli, struct str *out_words);
void cli_note(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);

/* Asks for confirmation on a terminal; returns true with --yes, and false without a terminal. If
 * false, return cli_refused(cli), which prints the reason. */
bool cli_confirm(struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
int cli_refused(const struct cli *cli);
bool cli_is_dry_run(const struct cli *cli);

/* A bar on stderr if that is a terminal; it also catches Ctrl-C. */
struct progress *cli_progress(struct cli *cli);
/* Returns true after Ctrl-C, once cli_progress or cli_catch_interrupts was called; a second Ctrl-C
 * ends the process. */
bool cli_is_interrupted(const struct cli *cli);
/* Returns a descriptor that becomes readable at Ctrl-C. */
int cli_catch_interrupts(struct cli *cli);

/* --- Data on stdout ------------------------------------------------------------------------- */

/* Parses a document that the command has written, for the functions below; takes the text. */
struct json_text;
struct json cli_document(struct cli *cli, struct json_text *text);
/* Prints an object: a table of two columns on a terminal, otherwise (and with --json) the document.
 */
void cli_print_object(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json object);
/* Print the rows of a list; cli_print_end ends the table or the document. */
void cli_print_row(
    struct cli *cli, const struct cli_column *columns, size_t n_columns, struct json row);
void cli_print_end(struct cli *cli, const struct cli_column *columns, size_t n_columns);
/* Prints a status in its colour, outside of tables. */
void cli_print_status(struct cli *cli, struct str status);

#endif
