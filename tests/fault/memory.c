/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <sqlite3.h>

static struct memory_plan plan;
static struct memory_outcome *outcome;
static sqlite3_mem_methods real;

static bool fails(enum memory_of of)
{
    if (plan.of != of)
        return false;
    unsigned n = atomic_fetch_add(&outcome->n_allocations, 1) + 1;
    bool hit = plan.is_sticky ? n >= plan.at : n == plan.at;
    if (hit)
        atomic_store(&outcome->has_fired, true);
    return hit;
}

static void *sqlite_alloc(int size)
{
    return fails(MEMORY_OF_SQLITE) ? NULL : real.xMalloc(size);
}

static void *sqlite_realloc(void *ptr, int size)
{
    return fails(MEMORY_OF_SQLITE) ? NULL : real.xRealloc(ptr, size);
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails(MEMORY_OF_CAIRN) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails(MEMORY_OF_CAIRN) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    return fails(MEMORY_OF_CAIRN) ? NULL : __real_realloc(ptr, size);
}

void memory_install(void)
{
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
    sqlite3_mem_methods failing = real;
    failing.xMalloc = sqlite_alloc;
    failing.xRealloc = sqlite_realloc;
    int rc = sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
    assert(rc == SQLITE_OK);
}

void memory_begin(const struct memory_plan *p, struct memory_outcome *o)
{
    outcome = o;
    plan = *p;
}
