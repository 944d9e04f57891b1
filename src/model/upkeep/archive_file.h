/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of an archive: the parts that export and import share, and the state of an archive that
 * is being imported. Private to archive*.c.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_FILE_H
#define MODEL_UPKEEP_ARCHIVE_FILE_H

#include "model/execution/runs.h"
#include "model/upkeep/archive_tables.h"

/* --- cairn.json and manifest.json: the same bytes for the same content ---------------------- */

enum { ARCHIVE_HEAD_MAX_BYTES = 4096, ARCHIVE_MANIFEST_MAX_BYTES = 64 * 1024 };

void archive_write_head(const struct archive_subject *subject, struct buf *out);

struct archive_manifest;
struct archive_manifest *manifest_create(void);
void manifest_destroy(struct archive_manifest *m); /* accepts NULL */
/* Adds a member. `rows` is NULL for a member without rows. */
void manifest_note(struct archive_manifest *m, const char *name, uint64_t size_bytes,
    const int64_t *rows, struct sha256 hash);
/* `digest` is the SHA-256 of the concatenated hashes of all contents. */
void manifest_end(
    struct archive_manifest *m, uint64_t n_blobs, uint64_t size_bytes, struct sha256 digest);
struct str manifest_text(const struct archive_manifest *m);

/* --- Ids ------------------------------------------------------------------------------------ */

/* One object of the archive. Its number is its position among the objects of its sort. An archive
 * may have millions of messages, each with an entry in memory. */
struct archive_entry {
    struct uuid from;
    struct uuid to;
    uint32_t owner; /* the number of its thread, or NO_OWNER */
    uint32_t fact;  /* the depth of a run or snapshot, else a version */
    enum run_status status : 8;
    bool is_open : 1;     /* a row that belongs to it must follow */
    bool was_there : 1;   /* an agent that the tenant already had */
    bool key_dropped : 1; /* a thread whose key another thread has */
};
static_assert(sizeof(struct archive_entry) == 44, "an entry has no padding");
#define NO_OWNER UINT32_MAX

struct archive_ids_of {
    struct archive_entry *entries;
    uint32_t *sorted; /* the numbers by `from`; NULL: the entries are in this order */
    size_t count;
    size_t cap;
    bool is_complete; /* the member was read, and entries can be found */
};
struct archive_entry *ids_add(struct archive_ids_of *ids, struct uuid id);
/* Returns false and a duplicate id if there is one. */
MUST_CHECK bool ids_sort(struct archive_ids_of *ids, struct uuid *out_twice);
/* Returns NULL if the archive has no such object. */
struct archive_entry *ids_find(const struct archive_ids_of *ids, struct uuid id);
/* The entry at this place in the order of `from`. */
struct archive_entry *ids_at(const struct archive_ids_of *ids, size_t place);
uint32_t ids_number(const struct archive_ids_of *ids, const struct archive_entry *entry);
void ids_deinit(struct archive_ids_of *ids);

/* --- The archive ---------------------------------------------------------------------------- */

struct archive_place {
    uint64_t at;
    uint64_t size_bytes;
    int64_t rows;
    struct sha256 hash;
};

struct archive_content {
    struct sha256 sha256;
    uint64_t at;
    uint64_t size_bytes;
    bool is_named; /* a version of a file refers to it */
    bool is_staged;
    bool is_adopted;     /* by the last job that added a version with it */
    bool may_be_adopted; /* by a job that was perhaps committed */
    struct uuid id;      /* of the staged content */
};

/* The name of a file in its thread, or a version of an agent: the beginning of the hash. */
struct archive_name {
    uint8_t bytes[16];
};

struct archive_item {
    struct sha256 sha256;
    bool is_named; /* a snapshot refers to it */
};

/* The state of a thread for the rules about its events, runs and participants. */
struct archive_thread {
    int64_t last_seq;
    int64_t pruned_seq;
    int64_t next_seq;
    uint32_t n_unfinished;
    uint32_t n_participants;
    bool is_in_notebook;
};

/* An agent by the hash of its name. */
struct archive_agent_name {
    struct archive_name hash; /* the first member: it is compared alone */
    uint32_t agent;
};

/* A link between agents, by their numbers. */
struct archive_link {
    uint32_t parent;
    uint32_t child;
};

/* A place between two rows. The end of the archive is behind the last member. */
struct archive_position {
    size_t member;
    uint64_t offset; /* of the next line in the member */
    int64_t line;    /* the number of lines before it */
};

struct archive {
    struct archive_source source; /* of the rows */
    struct archive_source whole;  /* of rows and contents */
    int fd;                       /* of the spooled rows, from which the source reads */
    uint64_t size_bytes;
    struct archive_subject subject;
    struct archive_place head;
    struct archive_place members[MEMBER_COUNT];
    struct archive_ids_of ids[SORT_COUNT];
    struct archive_thread *threads; /* by number */
    size_t cap_threads;
    struct archive_content *contents; /* by hash */
    size_t n_contents;
    size_t cap_contents;
    uint64_t content_bytes;
    struct store *staged_in; /* its sweep waits for the import; NULL: nothing is staged */
    /* The import: each job begins where the last committed one has ended. */
    struct uuid import_id;
    bool has_new_ids;                    /* the ids are chosen */
    struct archive_position checked;     /* behind the rows that were compared with the tenant */
    bool has_begun;                      /* a job has added the first slice */
    int64_t n_committed;                 /* slices */
    struct archive_position added;       /* behind the rows of the committed slices */
    struct archive_position uncommitted; /* behind those of the last slice */
    struct archive_item *items;          /* by hash */
    size_t n_items;
    size_t cap_items;
    struct archive_name *names; /* of files, including deleted ones */
    size_t n_names;
    size_t cap_names;
    struct archive_name *versions; /* of agents */
    size_t n_versions;
    size_t cap_versions;
    bool has_sorted_versions;
    struct archive_link *links; /* of agents, by the parent */
    size_t n_links;
    size_t cap_links;
    struct archive_agent_name *agent_names; /* by hash, once all rows were verified */
    size_t n_agent_names;
    size_t cap_agent_names;
    bool renames_agents;
    char **new_names; /* of agents, by number; NULL: not renamed */
};

/* Returns ERR_INVALID with this position. */
enum error archive_broken(struct problem *problem, struct str place, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
MUST_CHECK enum error archive_pread(
    const struct archive *a, uint64_t at, char *place, size_t size, struct problem *problem);
/* ERR_STORAGE_FULL if the disk is full. */
MUST_CHECK enum error archive_write_file(
    int fd, uint64_t at, struct str bytes, struct problem *problem);
/* Finds the members and contents and compares their hashes with manifest.json. */
MUST_CHECK enum error archive_index(struct archive *a, struct problem *problem);

/* Calls `take` with every row of a member, in order. The row lives until `take` returns. */
struct archive_walk {
    struct archive *archive;
    const struct archive_member *member;
    struct problem *problem;
    struct arena *arena; /* of the row */
    int64_t line;
    enum error (*take)(struct archive_walk *w, struct archive_value *row);
    void *data;
    /* Set by `take`: the walk ends before this row, or behind it. */
    bool stops_before;
    bool stops_behind;
};
MUST_CHECK enum error archive_walk(struct archive_walk *w, enum archive_member_id member);
/* Walks over all rows from the position on, until `take` stops the walk, and moves the position. */
MUST_CHECK enum error archive_walk_from(struct archive_walk *w, struct archive_position *position);
static inline bool archive_is_at_end(const struct archive_position *position)
{
    return position->member == MEMBER_COUNT;
}

/* --- Rules that the API also applies --------------------------------------------------------- */

/* Checks a row by itself. */
MUST_CHECK enum error archive_judge_alone(struct archive_walk *w, struct archive_value *row);
/* Checks the row of a file or of a deleted file, and records its name. */
MUST_CHECK enum error archive_judge_name(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread);
/* The hash of a name within a thread, or of a version within an agent. */
struct archive_name archive_name_of(uint32_t owner, struct str name);
int archive_compare_names(const void *a, const void *b);

/* archive_agents.c: `agent` is the number of the agent to which the row belongs. */
MUST_CHECK enum error archive_judge_agent_version(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent);
MUST_CHECK enum error archive_judge_used_version(
    struct archive_walk *w, const struct archive_value *row);
MUST_CHECK enum error archive_judge_activation(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent);
MUST_CHECK enum error archive_judge_link(
    struct archive_walk *w, const struct archive_value *row, uint32_t parent, uint32_t child);
/* After all rows were read: rejects duplicate versions, and cycles and long chains of links. */
MUST_CHECK enum error archive_judge_agents(struct archive *a, struct problem *problem);

/* --- Names of agents (archive_names.c) ------------------------------------------------------- */

void archive_note_agent_name(struct archive *a, uint32_t agent, struct str name);
/* After all agents were recorded: rejects the same name twice. */
MUST_CHECK enum error archive_judge_agent_names(struct archive *a, struct problem *problem);
void archive_free_names(struct archive *a);
/* Replaces `name` by a free one if another agent of the tenant than `id` has it and the import may
 * rename agents. ERR_CONFLICT: there is none. */
MUST_CHECK enum error archive_free_agent_name(
    struct context *c, struct archive *a, uint32_t agent, struct uuid id, struct str *name);
/* The new name of an agent, by its number; STR_NONE: it has its own. */
struct str archive_new_name(const struct archive *a, size_t agent);
/* The name in this tenant of the archive's agent with this name, or the same name. */
struct str archive_map_agent_name(const struct archive *a, struct str name);

/* After all names were recorded, and before archive_judge_filenames. */
MUST_CHECK enum error archive_sort_names_of_files(struct archive *a, struct problem *problem);
/* Checks a message, or a version of a message. */
MUST_CHECK enum error archive_judge_filenames(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread);

/* In the job that adds a version of a file: makes the staged content with this hash that of the
 * tenant, or uses the same content that the tenant has. */
MUST_CHECK enum error archive_adopt(struct context *c, struct archive *a, struct str sha256);
/* Returns NULL if the archive does not have the content. */
struct archive_content *archive_find_content(const struct archive *a, struct str sha256);

#endif
