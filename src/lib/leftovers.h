/* SPDX-License-Identifier: Apache-2.0 */
/* Content that a crash has left behind: removed at the start, and where other nodes may leave some,
 * every hour. */
#ifndef LIB_LEFTOVERS_H
#define LIB_LEFTOVERS_H

#include "store/store.h"

enum { LEFTOVERS_EVERY_MS = 3600 * 1000 };

/* Begins to look on a content thread, and returns; the store waits for it when it closes. */
void leftovers_sweep(struct store *store);

#endif
