/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a tree of the files layout. The whole tree is checked before anything is sent; faults are
 * reported with their file and line. Ids in names are labels here: any text is allowed.
 */
#ifndef CLI_LAYOUT_READ_H
#define CLI_LAYOUT_READ_H

#include "cli/layout.h"

enum { LABEL_MAX_BYTES = 200 };

/* A run, by its own label. */
struct read_run {
    struct str label;
    int64_t sequence; /* of its entry in the history; 0: it has none */
    uint64_t steps;
    bool has_usage; /* a step has tokens */
    /* The engine has logged the start, or the end, and Cairn has not. */
    bool logs_start, logs_end;
    bool cairn_logs_start, cairn_logs_end;
    struct str status;   /* according to Cairn's step about its end; STR_NONE */
    struct str error;    /* JSON; STR_NONE */
    struct str parent;   /* the run with an entry during which its first step was; STR_NONE */
    struct str first_at; /* of its steps */
    /* Of its entry; of a child, of its first and last step. STR_NONE: not known. */
    struct str started_at, completed_at;
};

struct read_thread {
    struct str label;
    bool has_config;
    struct str model; /* of its configuration; STR_NONE */
    int64_t entries;
    struct read_run *runs; /* those with an entry first, in its order */
    size_t n_runs;
};

struct read_tree {
    struct read_thread *threads;
    size_t n_threads;
};

int layout_read_tree(struct tree *t, struct arena *arena, struct read_tree *out_tree);

/* Reads a file as a JSON object, in the arena. */
int layout_read_object(struct tree *t, struct str name, struct arena *arena, struct json *out);
/* Reads the lines of a run; `take` gets each as an object. */
typedef int (*take_line)(void *to, struct arena *arena, struct json line, struct str where);
int layout_read_lines(struct tree *t, struct str thread, struct str run, take_line take, void *to);

/* Returns true for a step that Cairn wrote, about the start or the end of the run. */
bool layout_is_lifecycle(struct json line);

struct str layout_config_name(struct arena *arena, struct str thread);
struct str layout_entry_name(struct arena *arena, struct str thread, int64_t number);

#endif
