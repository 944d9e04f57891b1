/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of files that is updated while other processes read it. Names are relative
 * ("agent_runs/ID/ID.jsonl"); each part is opened from its parent without following links, so that
 * no file outside of the directory is changed. A file gets its name when it is complete and on the
 * disk; only lines are appended in place, and an incomplete line after a crash is removed when the
 * file is opened again.
 *
 * Functions that return int return EXIT_SUCCESS, or report the error.
 */
#ifndef CLI_TREE_H
#define CLI_TREE_H

#include "base/buf.h"
#include "cli/cli.h"

struct tree {
    struct cli *cli;
    const char *path; /* as it was given */
    int fd;
};

/* Opens the directory; with `create` it is created if it does not exist. */
int tree_open(struct tree *t, struct cli *cli, struct str path, bool create);
void tree_close(struct tree *t);
/* Rejects a directory that contains anything but these names (ends in NULL). */
int tree_check(struct tree *t, const char *const *names);

/* Replaces the file unless it has these bytes already. */
int tree_write(struct tree *t, struct str name, struct str bytes);
/* Reads the whole file; `out_found` is false if there is none. */
int tree_read(struct tree *t, struct str name, struct buf *out, bool *out_found);
/* Removes a file or an empty directory; other directories and missing names are ignored. */
int tree_remove(struct tree *t, struct str name);

/* Reads the names in a directory, sorted, without those that begin with a dot; none if it does not
 * exist. */
struct tree_names {
    struct str *items;
    size_t n;
};
int tree_list(
    struct tree *t, struct str directory, struct arena *arena, struct tree_names *out_names);

/* --- Lines ---------------------------------------------------------------------------------- */

/* A file of lines while it is written: the existing one, or a new one that will replace it. */
struct tree_lines {
    struct tree *tree;
    struct str name;
    int fd;
    int directory;
    bool is_new;
    uint64_t count;
    struct buf last; /* the last line, without its end */
};

/* Opens the file and removes an incomplete line. Without a file `count` is 0 and is_new is set. */
int tree_lines_open(struct tree *t, struct str name, struct tree_lines *out_lines);
/* Begins a new file. */
int tree_lines_begin_anew(struct tree_lines *l);
/* Appends complete lines. */
int tree_lines_append(struct tree_lines *l, struct str lines);
/* Syncs the file, and gives a new file its name; with another code than EXIT_SUCCESS a new file is
 * dropped. Returns the first code that is not EXIT_SUCCESS. */
int tree_lines_end(struct tree_lines *l, int code);

#endif
