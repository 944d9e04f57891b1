/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deletions of threads, agents and tenants that are too large for one job. Each job deletes a slice
 * and commits it, children before their parents, and the last one deletes the row of the object. A
 * deletion that has begun always ends: if its request does not continue it (a crash, a revoked
 * key), the sweep does. Until the end, requests see what is left.
 */
#ifndef MODEL_TENANCY_DELETIONS_H
#define MODEL_TENANCY_DELETIONS_H

#include "model/context.h"

/* `id` is that of a thread or agent, or of the tenant itself. */
MUST_CHECK enum error deletion_find(struct context *c, struct uuid id, bool *out_begun);
/* At the end of a slice that leaves something. The sweep waits while requests continue it. */
MUST_CHECK enum error deletion_note(struct context *c, struct uuid id);
MUST_CHECK enum error deletion_end(struct context *c, struct uuid id);
/* A request that creates an object in slices notes its deletion from the first one on, so that the
 * sweep deletes what the request does not complete. Returns false if the sweep has begun. */
MUST_CHECK enum error deletion_can_be_ended(struct context *c, struct uuid id, bool *out_can);
/* Lists deletions that no request has continued lately, of all tenants. */
MUST_CHECK enum error deletion_list(
    struct context *c, size_t limit, struct owned_id *out_found, size_t *out_count);

/* --- Slices --------------------------------------------------------------------------------- */

/* A slice ends when it has used its time, its rows or its bytes up, but a deletion not before
 * SLICE_MIN_ROWS, as long as these rows are small: small objects are deleted in one job, however
 * slow the machine is. The clock is read after each chunk of rows. */
enum {
    SLICE_US = 8 * 1000,
    SLICE_MIN_ROWS = 256,
    SLICE_MAX_ROWS = 4000,
    SLICE_MAX_BYTES = 2 * 1024 * 1024,
    SLICE_CHUNK_ROWS = 64,
    SLICE_CHUNK_BYTES = 512 * 1024, /* a larger row is a chunk of its own */
};
struct slice {
    int64_t ends_us;
    int64_t rows_left;
    int64_t bytes_left;
    int64_t min_rows;
};
struct slice slice_begin(int64_t min_rows);
bool slice_is_over(const struct slice *s);

/* Statements about the same rows of the owner (:owner_id, or the tenant), at most :limit of them.
 * Each may lack a text for an engine, which then does without it. */
struct slice_part {
    const struct sql_statement *delete;
    /* Runs before, to drop words or to note content. NULL: nothing. */
    const struct sql_statement *before;
    /* Selects the bytes of each row, in the order in which rows are deleted. NULL: rows are small.
     */
    const struct sql_statement *weigh;
    /* Rows to which the deletion would cascade: those of the first rows of this part (the parameter
     * `window`) are deleted first. Ends with an empty part; NULL: such rows are few and small. */
    const struct slice_part *children;
    /* Binds other parameters of the statements. NULL: they have none. */
    void (*bind)(const struct context *c, struct query *q);
};
/* Deletes rows until none is left or the slice is over: out_more. */
MUST_CHECK enum error slice_delete(struct context *c, struct slice *s,
    const struct slice_part *part, struct uuid owner_id, bool *out_more);

#endif
