/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends the process if it has not ended by itself after a time. A disk or a database that does not
 * answer, and a large transaction, can take any time; no drain waits for them. Nothing acknowledged
 * is lost: the next start recovers as after a crash.
 */
#ifndef SERVER_LAST_RESORT_H
#define SERVER_LAST_RESORT_H

#include <stdint.h>

struct last_resort;
/* The time begins. Returns NULL if no thread can be started. */
struct last_resort *last_resort_create(int64_t limit_ms);
void last_resort_destroy(struct last_resort *l); /* accepts NULL */

#endif
