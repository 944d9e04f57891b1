/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rehearsal does the expensive part of a large write before its WRITE job, because all tenants
 * wait for the one writer of a SQLite store.
 *
 *   WRITE  the handler comes to expensive work (rehearsal_first), and the job ends at once; left
 *          out for a large body of a ROUTE_REHEARSED
 *   READ   the handler runs again, without writing (tx_rehearse), and keeps what it computes
 *   WRITE  further jobs store a large snapshot in slices (snapshot_plan.h), if there is one
 *   WRITE  the handler runs as always, and finds what was kept
 *
 * A result is kept with its inputs and found by equal inputs only, so a rehearsal changes no
 * result: if the data has changed meanwhile, the work is rehearsed again, at most REHEARSAL_ROUNDS
 * times, and then done in the WRITE job.
 *
 * A rehearsal belongs to one call; its jobs follow one another. All zero is the initial state. The
 * memory of all rehearsals of the process is limited: above the limit nothing is kept.
 */
#ifndef MODEL_REHEARSAL_H
#define MODEL_REHEARSAL_H

#include "model/context.h"

enum {
    REHEARSAL_FROM_BYTES = 64 * 1024, /* of input: less is done in the WRITE job */
    REHEARSAL_ROUNDS = 8,
    REHEARSAL_MAX_BYTES = 48 * 1024 * 1024, /* kept by one call */
    REHEARSAL_ALL_MAX_BYTES = 256 * 1024 * 1024,
    REHEARSAL_KEPT_MAX = 8,
};

/* Pure functions. */
enum rehearsed {
    REHEARSED_PATCH,    /* (document, "") → the patched document; the patch is that of the call */
    REHEARSED_STATE,    /* (schema, data) → "": the data matches the schema */
    REHEARSED_MESSAGES, /* (list, "") → "": the list is one of messages */
};

enum rehearsal_stage {
    REHEARSAL_NONE,
    REHEARSAL_WANTED,  /* the WRITE job has ended for it */
    REHEARSAL_RUNNING, /* in the READ job */
    REHEARSAL_STORING, /* the jobs that store a snapshot */
};

struct snapshot_plan;

struct rehearsal {
    enum rehearsal_stage stage;
    unsigned rounds;
    struct arena arena;
    struct str body;      /* of the request: lives as long as the call, so it is not copied */
    size_t counted_bytes; /* in the limit of all rehearsals */
    struct rehearsed_result {
        enum rehearsed what;
        struct str inputs[2];
        struct str result;
    } kept[REHEARSAL_KEPT_MAX];
    size_t n_kept;
    struct snapshot_plan *plan; /* in the arena; NULL: none */
    bool plan_is_used;          /* by the current run of the job, which has written since */
};

void rehearsal_deinit(struct rehearsal *r);

/* --- For the owner of the call --------------------------------------------------------------- */

/* Before and after the READ job. */
void rehearsal_begin(struct rehearsal *r);
void rehearsal_end(struct rehearsal *r);

/* --- For the model, with a context of any job ------------------------------------------------- */

/* Call it before expensive work on so many bytes. ERR_CANCELLED if a rehearsal should do it first.
 */
MUST_CHECK enum error rehearsal_first(struct context *c, size_t size_bytes);
bool rehearsal_is_running(const struct context *c);
/* Returns true if a rehearsal has kept the result for these inputs. */
bool rehearsal_find(const struct context *c, enum rehearsed what, struct str first,
    struct str second, struct str *out_result);
/* Does nothing outside of a rehearsal. */
void rehearsal_keep(
    struct context *c, enum rehearsed what, struct str first, struct str second, struct str result);
/* Returns true if so many more bytes may be kept, and counts them. */
MUST_CHECK bool rehearsal_reserve(struct rehearsal *r, size_t size_bytes);
/* Returns true if the text is a part of the body of the request. */
bool rehearsal_has_text(const struct rehearsal *r, struct str text);

#endif
