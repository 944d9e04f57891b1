/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a request: allocations that are all freed together. An arena has a budget. An
 * allocation past the budget does not fail, but arena_is_over() is true from then on, which the
 * boundaries (JSON parse, patch, page of rows, end of a job) turn into an ordinary error. So small
 * helpers need no error path, and the memory of one request stays bounded. Not thread-safe: at any
 * time one thread owns the request and its arena.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>

#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks;
    char *next;
    char *end;
    size_t used_bytes;
    size_t budget_bytes;
};

/* The initial value of a variable with a budget. Allocates nothing until the first use. */
#define ARENA_INIT(budget) ((struct arena){.budget_bytes = (budget)})
/* The same for a member. */
void arena_init(struct arena *a, size_t budget_bytes);
/* Frees every block; the arena is empty and usable afterwards. */
void arena_clear(struct arena *a);
void arena_deinit(struct arena *a);

/* A point in the sequence of allocations. Rewinding to it frees all later allocations. A mark can
 * be used any number of times, until the arena is cleared or rewound to an earlier mark. */
struct arena_mark {
    struct arena_block *blocks;
    char *next;
    char *end;
    size_t used_bytes;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);

static inline bool arena_is_over(const struct arena *a)
{
    return a->used_bytes > a->budget_bytes;
}

/* Aligned for any type; zeroed by arena_zalloc only. */
void *arena_alloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
void *arena_zalloc(struct arena *a, size_t size) __attribute__((returns_nonnull));
#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (n)))

struct str arena_str(struct arena *a, struct str s);
const char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);
struct str arena_vprintf(struct arena *a, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

#endif
