/* SPDX-License-Identifier: Apache-2.0 */
/* Cursors of lists: opaque on the wire. Every success sets all outputs: without a cursor (STR_NONE)
 * `out_has` is false, the id is nil, the text STR_NONE and the number 0. */
#ifndef API_HTTP_CURSOR_H
#define API_HTTP_CURSOR_H

#include "base/arena.h"
#include "base/error.h"
#include "base/uuid.h"

struct call;

/* Of lists by id. */
struct str cursor_from_uuid(struct arena *arena, struct uuid id);
MUST_CHECK enum error cursor_to_uuid(
    struct call *call, struct str cursor, bool *out_has, struct uuid *out_id);

/* Of lists by name: any text that a path or a column can hold. */
struct str cursor_from_text(struct arena *arena, struct str text);
MUST_CHECK enum error cursor_to_text(struct call *call, struct str cursor, struct str *out_text);

/* Of lists by number, from 1. */
struct str cursor_from_number(struct arena *arena, int64_t number);
MUST_CHECK enum error cursor_to_number(struct call *call, struct str cursor, int64_t *out_number);

/* The member of a list's items that its cursors hold. */
struct cursor_key {
    enum { CURSOR_UUID, CURSOR_NUMBER, CURSOR_TEXT } kind;
    size_t offset;
};
#define CURSOR_BY(type, member)                                           \
    (&(const struct cursor_key){_Generic(((type *)0)->member, struct uuid \
                                         : CURSOR_UUID, int64_t           \
                                         : CURSOR_NUMBER, struct str      \
                                         : CURSOR_TEXT),                  \
        offsetof(type, member)})
/* The cursor that continues after this item. */
struct str cursor_after(struct arena *arena, const struct cursor_key *key, const void *item);

/* Reports a cursor that does not belong to this list. */
enum error cursor_refused(struct call *call);

#endif
