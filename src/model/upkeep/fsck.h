/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the rules that hold for all stored data, in one snapshot of the database, page by page and
 * in bounded memory. docs/backup.md lists the rules by the names that findings have.
 */
#ifndef MODEL_UPKEEP_FSCK_H
#define MODEL_UPKEEP_FSCK_H

#include "store/fsck.h"

/* For store_fsck. */
enum error model_fsck(struct fsck *fsck, struct tx *tx, struct problem *problem);

#endif
