/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include "base/alloc.h"

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = BUF_INIT(max_bytes);
}

void buf_deinit(struct buf *b)
{
    mem_free(b->ptr);
    buf_init(b, b->max);
}

void buf_reset(struct buf *b)
{
    b->len = 0;
    b->failed = false;
}

char *buf_take(struct buf *b, size_t *out_len)
{
    char *ptr = b->ptr;
    *out_len = b->len;
    buf_init(b, b->max);
    return ptr;
}

char *buf_reserve(struct buf *b, size_t size)
{
    if (b->failed || size > b->max - b->len) {
        b->failed = true;
        return NULL;
    }
    size_t need = b->len + size;
    if (need > b->cap) {
        size_t cap = b->cap < 256 ? 256 : b->cap;
        while (cap < need)
            cap *= 2;
        if (cap > b->max)
            cap = b->max;
        /* One byte more than is ever used, for the NUL that vsnprintf writes. */
        b->ptr = mem_realloc(b->ptr, cap + 1);
        b->cap = cap;
    }
    return b->ptr + b->len;
}

void buf_advance(struct buf *b, size_t size)
{
    assert(size <= b->cap - b->len);
    b->len += size;
}

void buf_append_u64(struct buf *b, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    buf_append(b, (struct str){digits + at, sizeof digits - at});
}

void buf_append_i64(struct buf *b, int64_t value)
{
    if (value < 0)
        buf_append_byte(b, '-');
    buf_append_u64(b, value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(len >= 0);
    char *place = len == 0 ? NULL : buf_reserve(b, (size_t)len);
    if (place == NULL)
        return;
    va_start(args, fmt);
    vsnprintf(place, (size_t)len + 1, fmt, args);
    va_end(args);
    b->len += (size_t)len;
}

void buf_consume(struct buf *b, size_t size)
{
    assert(size <= b->len);
    b->len -= size;
    if (b->len > 0)
        memmove(b->ptr, b->ptr + size, b->len);
}
