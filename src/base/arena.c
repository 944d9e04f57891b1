/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/alloc.h"

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_BLOCK_BYTES = 256 * 1024, ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    _Alignas(ALIGNMENT) char data[];
};

void arena_init(struct arena *a, size_t budget_bytes)
{
    *a = ARENA_INIT(budget_bytes);
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->blocks, a->next, a->end, a->used_bytes};
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    while (a->blocks != mark.blocks) {
        struct arena_block *block = a->blocks;
        a->blocks = block->next;
        mem_free(block);
    }
    a->next = mark.next;
    a->end = mark.end;
    a->used_bytes = mark.used_bytes;
}

void arena_clear(struct arena *a)
{
    arena_rewind(a, (struct arena_mark){0});
}

void arena_deinit(struct arena *a)
{
    arena_clear(a);
}

/* Block sizes double, so that a small request takes one page and a large one few blocks. */
static void add_block(struct arena *a, size_t at_least)
{
    size_t size = a->blocks == NULL ? FIRST_BLOCK_BYTES : a->blocks->size * 2;
    if (size > LARGEST_BLOCK_BYTES)
        size = LARGEST_BLOCK_BYTES;
    if (size < at_least)
        size = at_least;
    struct arena_block *block = mem_alloc(sizeof *block + size);
    block->next = a->blocks;
    block->size = size;
    a->blocks = block;
    a->next = block->data;
    a->end = block->data + size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        mem_exhausted(size);
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->next == NULL || size > (size_t)(a->end - a->next))
        add_block(a, size);
    void *ptr = a->next;
    a->next += size;
    a->used_bytes += size;
    return ptr;
}

void *arena_zalloc(struct arena *a, size_t size)
{
    void *ptr = arena_alloc(a, size);
    memset(ptr, 0, size);
    return ptr;
}

struct str arena_str(struct arena *a, struct str s)
{
    if (str_is_none(s))
        return s;
    char *copy = arena_alloc(a, s.len);
    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    return (struct str){copy, s.len};
}

const char *arena_cstr(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, s.len + 1);
    if (s.len > 0)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    assert(len >= 0);
    char *text = arena_alloc(a, (size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    return (struct str){text, (size_t)len};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    struct str text = arena_vprintf(a, fmt, args);
    va_end(args);
    return text;
}
