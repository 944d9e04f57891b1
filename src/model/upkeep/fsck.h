/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that hold for everything that Cairn stores, looked for in one snapshot, page by page,
 * in bounded memory. docs/backup.md lists them by the names that findings carry.
 */
#ifndef MODEL_UPKEEP_FSCK_H
#define MODEL_UPKEEP_FSCK_H

#include "store/fsck.h"

/* For store_fsck. */
enum error model_fsck(struct fsck *fsck, struct tx *tx, struct problem *problem);

#endif
