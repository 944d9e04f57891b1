/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation that cannot fail: when the machine has no memory left, mem_exhausted reports it and
 * the process stops. Callers check every size that a client can choose against a limit before they
 * allocate.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "base/macros.h"

void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_zalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *mem_realloc(void *ptr, size_t size) __attribute__((returns_nonnull));
/* Accepts NULL. */
void mem_free(void *ptr);
/* For CLEANUP(): frees the memory that the pointer variable points to. */
void mem_freep(void *pointer_to_pointer);

#define MEM_NEW(type) ((type *)mem_zalloc(sizeof(type)))

NO_RETURN void mem_exhausted(size_t size);

#endif
