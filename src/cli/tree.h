/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory of files that is written bit by bit while others read it. Names are relative
 * ("agent_runs/ID/ID.jsonl"); each part is opened from the one before without following links, so
 * nothing outside of the directory is ever touched. A file gets its name when it is whole and on
 * the disk; only lines are appended in place, and a line that was cut off by a crash is cut away
 * when the file is opened again.
 *
 * Functions that return int return EXIT_SUCCESS, or have said what is wrong.
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

/* Opens the directory; with `create` it is made when it is not there. */
int tree_open(struct tree *t, struct cli *cli, struct str path, bool create);
void tree_close(struct tree *t);
/* Refuses a directory that holds anything but these names (ended by NULL). */
int tree_check(struct tree *t, const char *const *names);

/* Replaces the file, unless it has these bytes already. */
int tree_write(struct tree *t, struct str name, struct str bytes);
/* The whole file; `out_found` is false when there is none. */
int tree_read(struct tree *t, struct str name, struct buf *out, bool *out_found);
/* Removes a file, or a directory that is empty; absent ones and others are left alone. */
int tree_remove(struct tree *t, struct str name);

/* Names in a directory, sorted, without those that begin with a dot; none when it is absent. */
struct tree_names {
    struct str *items;
    size_t n;
};
int tree_list(
    struct tree *t, struct str directory, struct arena *arena, struct tree_names *out_names);

/* --- Lines ---------------------------------------------------------------------------------- */

/* A file of lines while it is written: the one that is there, or a new one that will replace it. */
struct tree_lines {
    struct tree *tree;
    struct str name;
    int fd;
    int directory;
    bool is_new;
    uint64_t count;
    struct buf last; /* the last line, without its end */
};

/* Opens what is there and cuts an unfinished line off. Without a file: `count` is 0 and is_new. */
int tree_lines_open(struct tree *t, struct str name, struct tree_lines *out_lines);
/* From here on it is a new file. */
int tree_lines_begin_anew(struct tree_lines *l);
/* Whole lines. */
int tree_lines_append(struct tree_lines *l, struct str lines);
/* Puts what was appended on the disk, and gives a new file its name; with another code than
 * EXIT_SUCCESS a new file is dropped. Returns the first code that is not EXIT_SUCCESS. */
int tree_lines_end(struct tree_lines *l, int code);

#endif
