/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/cursor.h"

#include "api/http/call.h"
#include "base/hash.h"

struct str cursor_from_uuid(struct arena *arena, struct uuid id)
{
    return base64url_encode(arena, (struct str){(const char *)id.bytes, sizeof id.bytes});
}

enum error cursor_refused(struct call *call)
{
    problem_fault(&call->problem, STR("cursor"), "must be the next_cursor of a page of this list");
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

enum error cursor_to_uuid(struct call *call, struct str cursor, bool *out_has, struct uuid *out_id)
{
    struct str bytes = STR_NONE;
    struct uuid id = UUID_NIL;
    bool has = !str_is_none(cursor);
    if (has && (!base64url_decode(call->arena, cursor, &bytes) || bytes.len != sizeof id.bytes))
        return cursor_refused(call);
    if (has)
        memcpy(id.bytes, bytes.ptr, bytes.len);
    *out_has = has;
    *out_id = id;
    return OK;
}

struct str cursor_from_text(struct arena *arena, struct str text)
{
    return base64url_encode(arena, text);
}

struct str cursor_from_number(struct arena *arena, int64_t number)
{
    return cursor_from_text(arena, arena_printf(arena, "%lld", (long long)number));
}

enum error cursor_to_number(struct call *call, struct str cursor, int64_t *out_number)
{
    struct str text;
    int64_t number = 0;
    TRY(cursor_to_text(call, cursor, &text));
    if (!str_is_none(text) && (!str_to_i64(text, &number) || number < 1))
        return cursor_refused(call);
    *out_number = number;
    return OK;
}

/* A client may send any text: one that a database cannot store is rejected here. */
enum error cursor_to_text(struct call *call, struct str cursor, struct str *out_text)
{
    struct str text = STR_NONE;
    if (!str_is_none(cursor) &&
        (!base64url_decode(call->arena, cursor, &text) || text.len == 0 ||
            text.len > ROUTE_TEXT_MAX_BYTES || str_has_byte(text, '\0') || !str_is_utf8(text)))
        return cursor_refused(call);
    *out_text = text;
    return OK;
}

struct str cursor_after(struct arena *arena, const struct cursor_key *key, const void *item)
{
    const void *member = (const char *)item + key->offset;
    switch (key->kind) {
    case CURSOR_UUID:
        return cursor_from_uuid(arena, *(const struct uuid *)member);
    case CURSOR_NUMBER:
        return cursor_from_number(arena, *(const int64_t *)member);
    default:
        return cursor_from_text(arena, *(const struct str *)member);
    }
}
