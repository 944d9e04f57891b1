/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that hold for everything that Cairn stores, looked for in one snapshot, page by page,
 * in bounded memory. docs/backup.md lists them by the names that findings carry.
 */
#ifndef MODEL_UPKEEP_CHECK_H
#define MODEL_UPKEEP_CHECK_H

#include "store/check.h"

/* For store_check. */
enum error model_check(struct check *check, struct tx *tx, struct problem *problem);

#endif
