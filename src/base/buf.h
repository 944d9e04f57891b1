/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing run of bytes with a maximum. An append that would exceed the maximum appends nothing
 * and sets `failed`; later appends do nothing, so a writer checks once at the end. The bytes move
 * when the buffer grows: keep offsets, not pointers. The function that initialised a buffer owns
 * it.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>

#include "base/str.h"

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
    size_t max;
    bool failed;
};

/* The initial value of a variable with a maximum. */
#define BUF_INIT(max_bytes) ((struct buf){.max = (max_bytes)})
/* The same for a member. */
void buf_init(struct buf *b, size_t max_bytes);
void buf_deinit(struct buf *b);
/* Removes the content and clears `failed`; keeps the memory. */
void buf_reset(struct buf *b);
/* Transfers the memory to the caller, which frees it with mem_free. The buffer is empty afterwards.
 * */
char *buf_take(struct buf *b, size_t *out_len);

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){b->len > 0 ? b->ptr : "", b->len};
}

/* Returns a place with room for `size` more bytes, or NULL. buf_advance commits them. */
char *buf_reserve(struct buf *b, size_t size);
void buf_advance(struct buf *b, size_t size);

/* When the buffer has room, which is the common case, these two cost little more than the copy. */
static inline void buf_append(struct buf *b, struct str s)
{
    if (s.len == 0)
        return;
    bool fits = !b->failed && s.len <= b->cap - b->len;
    char *place = fits ? b->ptr + b->len : buf_reserve(b, s.len);
    if (place == NULL)
        return;
    memcpy(place, s.ptr, s.len);
    b->len += s.len;
}

static inline void buf_append_byte(struct buf *b, char byte)
{
    buf_append(b, (struct str){&byte, 1});
}

void buf_append_u64(struct buf *b, uint64_t value);
void buf_append_i64(struct buf *b, int64_t value);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Removes the first `size` bytes. */
void buf_consume(struct buf *b, size_t size);

#endif
