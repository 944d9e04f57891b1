/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

void mem_exhausted(size_t size)
{
    fprintf(stderr, "cairn: out of memory (%zu bytes asked for)\n", size);
    abort();
}

void *mem_alloc(size_t size)
{
    void *ptr = malloc(size > 0 ? size : 1);
    if (ptr == NULL)
        mem_exhausted(size);
    return ptr;
}

void *mem_zalloc(size_t size)
{
    void *ptr = calloc(1, size > 0 ? size : 1);
    if (ptr == NULL)
        mem_exhausted(size);
    return ptr;
}

void *mem_realloc(void *ptr, size_t size)
{
    void *grown = realloc(ptr, size > 0 ? size : 1);
    if (grown == NULL)
        mem_exhausted(size);
    return grown;
}

void mem_free(void *ptr)
{
    free(ptr);
}

void mem_freep(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}
