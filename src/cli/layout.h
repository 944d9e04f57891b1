/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of files that resumable agents keep: agent_config/THREAD.json,
 * conversation_history/THREAD/001.json with index.json, agent_runs/THREAD/RUN.jsonl.
 *
 * Each function below updates one part of a tree from the server, and removes a part that the
 * server does not have; a second call changes nothing. They return EXIT_SUCCESS, report an error,
 * or return LAYOUT_LATER (`waits`): the server is unreachable at present.
 */
#ifndef CLI_LAYOUT_H
#define CLI_LAYOUT_H

#include "base/uuid.h"
#include "cli/remote.h"
#include "cli/tree.h"

enum { LAYOUT_LATER = -1 };

#define LAYOUT_CONFIGS "agent_config"
#define LAYOUT_HISTORY "conversation_history"
#define LAYOUT_RUNS "agent_runs"
#define LAYOUT_INDEX "index.json"
#define LAYOUT_MIRROR ".cairn-mirror.json"

/* The choices of the option --layout. */
extern const char *const layouts[];
/* The names that such a directory can contain; ends in NULL. */
extern const char *const layout_names[];

struct layout {
    struct cli *cli;
    struct remote *remote;
    struct tree tree;
    bool waits;
    /* Counts for the report. */
    uint64_t threads;
    uint64_t entries;
    uint64_t steps;
};

struct id_text {
    char text[UUID_TEXT_LEN];
};
#define ID_ARG(id) UUID_TEXT_LEN, (id)->text
/* Reads the id at a pointer, in its canonical form, which is safe as the name of a file. */
bool layout_read_id(struct json value, struct str pointer, struct id_text *out_id);
bool layout_to_id(struct str text, struct id_text *out_id);

/* Opens the directory, which must contain such a tree or nothing, and the connection. */
int layout_open(struct layout *l, struct cli *cli, struct str directory);
void layout_close(struct layout *l);

/* GET; `out_found` is false for 404. */
int layout_ask(
    struct layout *l, struct str path, struct remote_answer *out_answer, bool *out_found);

/* Returns the code for an answer, of the layout's own connection or of another. */
int layout_judge(struct layout *l, enum client_result result, const struct remote_answer *answer,
    bool *out_found);
int layout_judge_by(struct layout *l, struct remote *r, enum client_result result,
    const struct remote_answer *answer, bool *out_found);

int layout_sync_config(struct layout *l, const struct id_text *thread);
int layout_sync_entry(struct layout *l, const struct id_text *thread, int64_t number);
int layout_sync_history(struct layout *l, const struct id_text *thread);
int layout_sync_run(struct layout *l, const struct id_text *thread, const struct id_text *run);
int layout_sync_runs(struct layout *l, const struct id_text *thread);
int layout_sync_thread(struct layout *l, const struct id_text *thread);
/* Updates all threads. */
int layout_sync_all(struct layout *l);
/* Removes threads that the server does not have. */
int layout_forget_lost(struct layout *l);

/* --- The documents -------------------------------------------------------------------------- */

/* From the server's answers: a resumption, an entry of the history, a step. */
struct str layout_config(struct arena *arena, struct json resumption);
struct str layout_entry(struct arena *arena, struct json entry);
struct str layout_step(struct arena *arena, struct json step); /* one line, with its end */
struct str layout_index(struct arena *arena, int64_t last);

#endif
