/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a running command, for the core of the CLI; commands include cli.h only. */
#ifndef CLI_STATE_H
#define CLI_STATE_H

#include "cli/cli.h"

enum cli_format {
    FORMAT_TABLE, /* aligned on a terminal, separated by tabs elsewhere */
    FORMAT_JSON,
    FORMAT_JSONL,
};

struct given_option {
    const struct cli_option *option;
    struct str value; /* STR_NONE for a flag */
};

/* A list while it is printed. */
struct table {
    struct str **rows; /* cells of the rows that are held until the widths are known */
    size_t n_rows;
    size_t *widths;          /* NULL until they are known */
    bool begun;              /* something was printed */
    struct str page_members; /* members after "data" in --json: ,"has_more":… */
};

struct progress_bar {
    struct progress progress;
    struct cli *cli;
    int64_t drawn_us;
    const char *stage; /* that was drawn last */
    bool shown;
};

struct cli {
    struct arena arena;
    const struct command *command; /* complete */
    struct str *arguments;
    size_t n_arguments;
    struct given_option *given;
    size_t n_given;
    enum cli_format format;
    bool terminal; /* stdout is one */
    bool colour;   /* on stdout */
    size_t width;  /* of the terminal */
    struct table table;
    struct progress_bar bar;
    struct str *caught_words; /* see cli_catch_words */
};

/* Reads the words after the command's name. Returns EXIT_SUCCESS, or reports the error. */
int cli_parse(struct cli *cli, const struct command *row, int argc, char **argv);
void cli_deinit(struct cli *cli);

/* "thread list" */
struct str cli_name(struct arena *arena, const struct command *command);
/* "auto, always or never" */
struct str cli_choices(struct arena *arena, const char *const *choices);
/* Clears the line of a progress bar. */
void cli_clear_bar(struct cli *cli);
/* Prints a document: indented on a terminal, otherwise on one line. */
void cli_print_json(struct cli *cli, struct json value);
/* Appends the indented text of a document. */
struct buf;
void cli_append_pretty(struct buf *out, struct json value);
/* Return the colour of a status or of a kind of event, "" for none, and the code that ends it. */
const char *cli_status_colour(const struct cli *cli, struct str status);
const char *cli_plain(const struct cli *cli);
/* Adds compact members, which begin with a comma, to the document of --json after the data. */
void cli_print_page_members(struct cli *cli, struct str members);

#endif
