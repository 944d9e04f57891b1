/* SPDX-License-Identifier: Apache-2.0 */
/* A transfer in progress, shared by the transfer_*.c files. Private to src/store. */
#ifndef STORE_TRANSFER_STATE_H
#define STORE_TRANSFER_STATE_H

#include "store/transfer_side.h"

enum { TRANSFER_BATCH_ROWS = 1000, TRANSFER_MAX_NUMBERS = TRANSFER_COUNTS };

struct transfer {
    const struct transfer_config *config;
    struct progress *progress;
    struct arena *arena;
    struct problem *problem;
    struct side *from;
    struct side *to;
    struct transfer_plan plan;
    struct transfer_result result;
    struct str source; /* the name of the source in the mark */
    int64_t n_writes;  /* writes seen by the source when it was identified */
    bool is_marked;
    uint64_t n_done; /* of result.rows, for the progress */
    struct str faults;
};

/* --- transfer.c ----------------------------------------------------------------------------- */

/* Reads the numbers of the one result row; leaves them unchanged if there is no row. */
MUST_CHECK enum error transfer_ask_numbers(struct side *side, const char *sql,
    const struct transfer_value *param, uint32_t type, int64_t *out_numbers, size_t n);
/* Reads the next row of the current query. */
MUST_CHECK enum error transfer_next_row(struct side *side, const struct transfer_table *table,
    struct transfer_value *out_values, bool *out_found);
void transfer_report(struct transfer *t, const char *doing, const struct transfer_table *table);
enum error transfer_cancelled(struct transfer *t);

/* --- transfer_files.c ----------------------------------------------------------------------- */

MUST_CHECK enum error transfer_count_files(struct transfer *t);
/* Called after the rows. */
MUST_CHECK enum error transfer_move_files(struct transfer *t);
/* Reads all content of the target; content that does not match is an error. */
MUST_CHECK enum error transfer_verify_files(struct transfer *t);

/* --- transfer_verify.c ---------------------------------------------------------------------- */

void transfer_hash_u64(struct sha256_state *hash, uint64_t number);
void transfer_hash_str(struct sha256_state *hash, struct str bytes);
MUST_CHECK enum error transfer_hash_table(
    struct side *side, const struct transfer_table *table, struct sha256 *out_hash);
/* Compares both sides and sets the hashes of the result. */
MUST_CHECK enum error transfer_verify(struct transfer *t);

#endif
