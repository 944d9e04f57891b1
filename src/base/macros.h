/* SPDX-License-Identifier: Apache-2.0 */
/* Language helpers for every file, and the list of banned calls. */
#ifndef BASE_MACROS_H
#define BASE_MACROS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef NDEBUG
#error "Cairn's assertions stay on: do not build with NDEBUG"
#endif

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt_at, args_at) __attribute__((format(printf, fmt_at, args_at)))
#define NO_RETURN __attribute__((noreturn))

/* CLEANUP(fn) runs fn(&variable) when the variable leaves its scope. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define CONTAINER_OF(member_ptr, type, member) \
    ((type *)(void *)((char *)(member_ptr)-offsetof(type, member)))

#include "base/banned.h"

#endif
