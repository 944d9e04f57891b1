/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notebooks: groups of threads with a title and instructions. A thread is in at most one notebook,
 * as one of its sessions. Deleting a notebook does not delete its threads.
 */
#ifndef MODEL_THREADS_NOTEBOOKS_H
#define MODEL_THREADS_NOTEBOOKS_H

#include "model/context.h"

enum {
    NOTEBOOK_TITLE_MAX_BYTES = 255,
    NOTEBOOK_DESCRIPTION_MAX_BYTES = 4 * 1024,
    NOTEBOOK_INSTRUCTIONS_MAX_BYTES = 256 * 1024,
    NOTEBOOK_METADATA_MAX_BYTES = 16 * 1024,
};

struct notebook {
    struct uuid id;
    int64_t number; /* 1, 2, 3 … within the tenant, for people */
    struct str title;
    struct str description;
    struct str instructions; /* lists omit them */
    struct str metadata;
    int64_t sessions; /* the number of sessions */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* Creates the notebook that `notebook` describes, and sets its other members. */
MUST_CHECK enum error notebook_create(struct context *c, struct notebook *notebook);
MUST_CHECK enum error notebook_get(
    struct context *c, struct uuid id, struct notebook *out_notebook);
/* Returns the id of the notebook with this number. */
MUST_CHECK enum error notebook_find(struct context *c, int64_t number, struct uuid *out_id);
/* Newest first; `before` NULL: from the newest. */
MUST_CHECK enum error notebook_list(struct context *c, const struct uuid *before, struct page *page,
    struct notebook *out_notebooks);
/* Replaces the members that clients may change. `before` was read with the tenant's lock held. */
MUST_CHECK enum error notebook_update(
    struct context *c, const struct notebook *before, struct notebook *after);
MUST_CHECK enum error notebook_delete(struct context *c, struct uuid id);
/* Returns the notebook of the thread; ERR_NOT_FOUND if it is in none. */
MUST_CHECK enum error notebook_of_thread(
    struct context *c, struct uuid thread_id, struct notebook *out_notebook);

struct notebook_session {
    struct uuid notebook_id;
    struct uuid thread_id;
    int64_t number; /* rises within the tenant */
    struct str title;
    struct str status;
    int64_t created_at;
};
/* Adds a thread to the notebook; the nil id: a new thread. ERR_CONFLICT: it is in another one. */
MUST_CHECK enum error notebook_add_session(struct context *c, struct uuid notebook_id,
    struct uuid thread_id, struct notebook_session *out_session);
/* Lists sessions before this number (0: all), newest first. */
MUST_CHECK enum error notebook_list_sessions(struct context *c, struct uuid notebook_id,
    int64_t before, struct page *page, struct notebook_session *out_sessions);
/* Does not delete the thread. */
MUST_CHECK enum error notebook_remove_session(
    struct context *c, struct uuid notebook_id, struct uuid thread_id);

#endif
