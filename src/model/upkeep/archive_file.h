/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of an archive: what of it is written and read in the same way, and what is known of one
 * that is being imported. Private to the files archive*.c.
 */
#ifndef MODEL_UPKEEP_ARCHIVE_FILE_H
#define MODEL_UPKEEP_ARCHIVE_FILE_H

#include "model/upkeep/archive_tables.h"

/* --- cairn.json and manifest.json: one form, byte by byte ----------------------------------- */

enum { ARCHIVE_HEAD_MAX_BYTES = 4096, ARCHIVE_MANIFEST_MAX_BYTES = 64 * 1024 };

void archive_write_head(const struct archive_subject *subject, struct buf *out);

struct archive_manifest;
struct archive_manifest *manifest_create(void);
void manifest_destroy(struct archive_manifest *m); /* accepts NULL */
/* `rows` is NULL for what has none. */
void manifest_note(struct archive_manifest *m, const char *name, uint64_t size_bytes,
    const int64_t *rows, struct sha256 hash);
/* `digest` is the SHA-256 of the hashes, one after the other. */
void manifest_end(
    struct archive_manifest *m, uint64_t n_blobs, uint64_t size_bytes, struct sha256 digest);
struct str manifest_text(const struct archive_manifest *m);

/* --- Ids ------------------------------------------------------------------------------------ */

/* One object of the archive; its place among those of its sort is its number. */
struct archive_entry {
    struct uuid from;
    struct uuid to;
    uint32_t owner;   /* number of its thread; NO_OWNER */
    uint32_t fact;    /* of a run its depth, of others a version */
    bool is_open;     /* something of it is still to come */
    bool was_there;   /* an agent that the tenant had */
    bool key_dropped; /* a thread whose key another one has */
};
#define NO_OWNER UINT32_MAX

struct archive_ids_of {
    struct archive_entry *entries;
    uint32_t *sorted; /* their numbers by `from`, once the member is read */
    size_t count;
    size_t cap;
};
struct archive_entry *ids_add(struct archive_ids_of *ids, struct uuid id);
/* False: two are the same, and out_twice is it. */
MUST_CHECK bool ids_sort(struct archive_ids_of *ids, struct uuid *out_twice);
/* NULL: there is none. */
struct archive_entry *ids_find(const struct archive_ids_of *ids, struct uuid id);
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
    bool is_named; /* by a version of a file */
    bool is_staged;
    bool is_adopted;
    struct uuid id; /* under which it was staged */
};

/* A file's, with its thread: the beginning of their hash. */
struct archive_name {
    uint8_t bytes[16];
};

struct archive_item {
    struct sha256 sha256;
    bool is_named; /* by a snapshot */
};

/* What the rules about events and runs need to know of a thread. */
struct archive_thread {
    int64_t last_seq;
    int64_t pruned_seq;
    int64_t next_seq;
    uint32_t n_unfinished;
    uint32_t n_participants;
    bool is_in_notebook;
};

/* From one agent to another, by their numbers. */
struct archive_link {
    uint32_t parent;
    uint32_t child;
};

struct archive {
    struct archive_source source;
    int fd; /* of the spooled rows, for the source that reads them */
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
    struct store *staged_in;    /* where the sweep waits for it; NULL */
    struct archive_item *items; /* by hash, as they come */
    size_t n_items;
    size_t cap_items;
    struct archive_name *names; /* of files, also of those that are gone */
    size_t n_names;
    size_t cap_names;
    struct archive_name *versions; /* of agents */
    size_t n_versions;
    size_t cap_versions;
    bool has_sorted_versions;
    struct archive_link *links; /* of agents, by the parent */
    size_t n_links;
    size_t cap_links;
};

/* ERR_INVALID at this place. */
enum error archive_broken(struct problem *problem, struct str place, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
MUST_CHECK enum error archive_pread(
    const struct archive *a, uint64_t at, char *place, size_t size, struct problem *problem);
/* ERR_STORAGE_FULL. */
MUST_CHECK enum error archive_write_file(
    int fd, uint64_t at, struct str bytes, struct problem *problem);
/* Finds the members and contents, and checks their hashes against manifest.json. */
MUST_CHECK enum error archive_index(struct archive *a, struct problem *problem);

/* Calls `take` with every row of a member, in order. The row lives until it returns. */
struct archive_walk {
    struct archive *archive;
    const struct archive_member *member;
    struct problem *problem;
    struct arena *arena; /* of the row */
    int64_t line;
    enum error (*take)(struct archive_walk *w, struct archive_value *row);
    void *data;
};
MUST_CHECK enum error archive_walk(struct archive_walk *w, enum archive_member_id member);

/* --- Rules that the API has too -------------------------------------------------------------- */

/* Of a row by itself. */
MUST_CHECK enum error archive_judge_alone(struct archive_walk *w, struct archive_value *row);
/* Of the row of a file, or of its end; remembers the name. */
MUST_CHECK enum error archive_judge_name(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread);
/* What stands for a name within a thread, or a version within an agent. */
struct archive_name archive_name_of(uint32_t owner, struct str name);
int archive_compare_names(const void *a, const void *b);

/* archive_agents.c: `agent` is the number of the agent that the row belongs to. */
MUST_CHECK enum error archive_judge_agent_version(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent);
MUST_CHECK enum error archive_judge_activation(
    struct archive_walk *w, const struct archive_value *row, uint32_t agent);
MUST_CHECK enum error archive_judge_link(
    struct archive_walk *w, const struct archive_value *row, uint32_t parent, uint32_t child);
/* Once all are known: no version twice, no way along the links that is a circle, or too long. */
MUST_CHECK enum error archive_judge_agents(struct archive *a, struct problem *problem);

/* Once all names are known, and before archive_judge_filenames. */
MUST_CHECK enum error archive_sort_names_of_files(struct archive *a, struct problem *problem);
/* Of a message, or a version of one. */
MUST_CHECK enum error archive_judge_filenames(
    struct archive_walk *w, const struct archive_value *row, uint32_t thread);

struct archive_content *archive_find_content(const struct archive *a, struct str sha256);

#endif
