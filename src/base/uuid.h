/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UUIDs as 16 bytes. New ids are version 7 (RFC 9562): they sort by creation, strictly within one
 * process, even when the clock steps back.
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include "base/str.h"

enum { UUID_TEXT_LEN = 36 };

struct uuid {
    uint8_t bytes[16];
};

#define UUID_NIL ((struct uuid){{0}})

/* Thread-safe. Each id is greater than every id created before it in this process. */
struct uuid uuid_v7(void);
/* Makes new ids greater than `after`, if that is of version 7: the order continues after a restart.
 * */
void uuid_v7_resume(struct uuid after);
/* The same with a given time, for tests of a clock that steps. */
struct uuid uuid_v7_at(uint64_t now_ms);
/* Builds a version 7 id from its parts; for tests and for fixed ids. */
struct uuid uuid_v7_from(uint64_t unix_ms, uint16_t rand_a, uint64_t rand_b);

/* The creation time of a version 7 id, in milliseconds since 1970. */
uint64_t uuid_v7_ms(struct uuid id);

/* Accepts exactly 8-4-4-4-12 hexadecimal digits, in either case. */
MUST_CHECK bool uuid_parse(struct str text, struct uuid *out_id);
/* Writes 36 lower-case characters, no NUL. */
void uuid_format(struct uuid id, char out_text[UUID_TEXT_LEN]);

bool uuid_eq(struct uuid a, struct uuid b);
int uuid_cmp(struct uuid a, struct uuid b);
bool uuid_is_nil(struct uuid id);

#endif
