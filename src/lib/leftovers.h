/* SPDX-License-Identifier: Apache-2.0 */
/* Content left over from a crash: removed at the start and, where other nodes may crash, every
 * hour. */
#ifndef LIB_LEFTOVERS_H
#define LIB_LEFTOVERS_H

#include "store/store.h"

enum { LEFTOVERS_EVERY_MS = 3600 * 1000 };

/* Starts the sweep on a content thread and returns; closing the store waits for the sweep. */
void leftovers_sweep(struct store *store);

#endif
