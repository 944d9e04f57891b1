/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_pointer.h"

bool json_pointer_is_valid(struct str pointer)
{
    if (pointer.len > 0 && pointer.ptr[0] != '/')
        return false;
    for (size_t i = 0; i < pointer.len; i++) {
        if (pointer.ptr[i] != '~')
            continue;
        if (i + 1 == pointer.len || (pointer.ptr[i + 1] != '0' && pointer.ptr[i + 1] != '1'))
            return false;
    }
    return true;
}

size_t json_pointer_depth(struct str pointer)
{
    size_t depth = 0;
    for (size_t i = 0; i < pointer.len; i++)
        depth += pointer.ptr[i] == '/';
    return depth;
}

static struct str decode_token(struct arena *arena, struct str token)
{
    if (!str_has_byte(token, '~'))
        return token;
    char *decoded = arena_alloc(arena, token.len);
    size_t len = 0;
    for (size_t i = 0; i < token.len; i++) {
        bool escape = token.ptr[i] == '~';
        if (escape)
            i++;
        decoded[len++] = !escape ? token.ptr[i] : token.ptr[i] == '0' ? '~' : '/';
    }
    return (struct str){decoded, len};
}

bool json_pointer_next(struct arena *arena, struct str *rest, struct str *out_token)
{
    if (rest->len == 0)
        return false;
    struct str after_slash = str_slice(*rest, 1, rest->len);
    size_t len = str_find(after_slash, '/');
    *out_token = decode_token(arena, str_slice(after_slash, 0, len));
    *rest = str_slice(after_slash, len, after_slash.len);
    return true;
}

void json_pointer_split(
    struct arena *arena, struct str pointer, struct str *out_parent, struct str *out_token)
{
    assert(pointer.len > 0);
    size_t slash = pointer.len - 1;
    while (pointer.ptr[slash] != '/')
        slash--;
    *out_parent = str_slice(pointer, 0, slash);
    *out_token = decode_token(arena, str_slice(pointer, slash + 1, pointer.len));
}

bool json_pointer_index(struct str token, size_t *out_index)
{
    uint64_t index;
    if (!str_to_u64(token, &index) || index > SIZE_MAX)
        return false;
    *out_index = (size_t)index;
    return true;
}

static bool step(struct json from, struct str token, struct json *out_value)
{
    size_t index;
    if (json_type(from) == JSON_ARRAY)
        return json_pointer_index(token, &index) && json_at(from, index, out_value);
    return json_get(from, token, out_value);
}

bool json_pointer(struct json root, struct str pointer, struct json *out_value)
{
    if (!json_pointer_is_valid(pointer))
        return false;
    struct arena scratch CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json value = root;
    struct str token;
    while (json_pointer_next(&scratch, &pointer, &token))
        if (!step(value, token, &value))
            return false;
    *out_value = value;
    return true;
}

struct str json_pointer_join(struct arena *arena, struct str parent, struct str token)
{
    char *joined = arena_alloc(arena, parent.len + 1 + 2 * token.len);
    size_t len = parent.len;
    if (len > 0)
        memcpy(joined, parent.ptr, len);
    joined[len++] = '/';
    for (size_t i = 0; i < token.len; i++) {
        bool escape = token.ptr[i] == '~' || token.ptr[i] == '/';
        if (escape)
            joined[len++] = '~';
        joined[len++] = !escape ? token.ptr[i] : token.ptr[i] == '~' ? '0' : '1';
    }
    return (struct str){joined, len};
}
