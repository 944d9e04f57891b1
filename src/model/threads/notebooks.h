/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notebooks: threads that belong together, with a title and instructions of their own. A thread is
 * in one notebook at most; as such it is called a session of it. Links go with either end; threads
 * stay when their notebook goes.
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
    int64_t number; /* 1, 2, 3 within the tenant, for people */
    struct str title;
    struct str description;
    struct str instructions; /* lists leave them out */
    struct str metadata;
    int64_t sessions; /* how many */
    int64_t created_at;
    int64_t updated_at;
    int64_t version;
};

/* Creates what `notebook` describes, and fills in the rest of it. */
MUST_CHECK enum error notebook_create(struct context *c, struct notebook *notebook);
MUST_CHECK enum error notebook_get(
    struct context *c, struct uuid id, struct notebook *out_notebook);
/* Newest first; `before` NULL: from the newest. */
MUST_CHECK enum error notebook_list(struct context *c, const struct uuid *before, struct page *page,
    struct notebook *out_notebooks);
/* Replaces what a client may change of `before` (as read behind the tenant's lock) by
 * `after`. */
MUST_CHECK enum error notebook_update(
    struct context *c, const struct notebook *before, struct notebook *after);
MUST_CHECK enum error notebook_delete(struct context *c, struct uuid id);
/* The one that the thread is in; ERR_NOT_FOUND when it is in none. */
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
/* Puts a thread into it, or a new one (the nil id). ERR_CONFLICT while it is in another. */
MUST_CHECK enum error notebook_add_session(struct context *c, struct uuid notebook_id,
    struct uuid thread_id, struct notebook_session *out_session);
/* Newest first, those before the number `before` (0: from the newest). */
MUST_CHECK enum error notebook_list_sessions(struct context *c, struct uuid notebook_id,
    int64_t before, struct page *page, struct notebook_session *out_sessions);
/* The thread stays. */
MUST_CHECK enum error notebook_remove_session(
    struct context *c, struct uuid notebook_id, struct uuid thread_id);

#endif
