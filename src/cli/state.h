/* SPDX-License-Identifier: Apache-2.0 */
/* What a running command is made of. For the files of the cli's core; commands know cli.h alone. */
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
    struct str **rows; /* cells of the rows that wait for the widths */
    size_t n_rows;
    size_t *widths;          /* NULL until they are settled */
    bool begun;              /* something was printed */
    struct str page_members; /* what follows "data" in --json: ,"has_more":… */
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
/* Frees a line that a progress bar has taken. */
void cli_clear_bar(struct cli *cli);
/* A document: indented on a terminal, on one line elsewhere. */
void cli_print_json(struct cli *cli, struct json value);
/* The same text of it, for people, as it goes to a terminal. */
struct buf;
void cli_append_pretty(struct buf *out, struct json value);
/* The colour of a status or of a kind of event, "" for none, and what ends it. */
const char *cli_status_colour(const struct cli *cli, struct str status);
const char *cli_plain(const struct cli *cli);
/* Joins the document of --json after the data: compact members that begin with a comma. */
void cli_print_page_members(struct cli *cli, struct str members);

#endif
