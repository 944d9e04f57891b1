/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time, in microseconds. Wall time is for people and records. Steady time never steps and is for
 * deadlines. Lease time is the wall time at process start, continued by the steady clock, so that a
 * change of the system clock neither ends a lease early nor extends it.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/str.h"

enum { CLOCK_TEXT_LEN = 27 }; /* 2026-01-31T23:59:59.123456Z */

int64_t clock_wall_us(void);
int64_t clock_steady_us(void);
int64_t clock_lease_us(void);

/* RFC 3339, UTC, always six decimals; years 0000 to 9999. Writes CLOCK_TEXT_LEN bytes, no NUL. */
void clock_format(int64_t unix_us, char out_text[CLOCK_TEXT_LEN]);
/* RFC 3339 with any offset and up to nine decimals (cut to six). Returns false if the text is not a
 * real time. */
MUST_CHECK bool clock_parse(struct str text, int64_t *out_unix_us);

#endif
