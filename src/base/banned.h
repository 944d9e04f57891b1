/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that have no safe use in Cairn. Using one is a compile error; the comment beside it names
 * the replacement. Include this after the system headers of a file; base/macros.h does so for every
 * file.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H

/* The headers that declare these functions come first, so that only our own uses are poisoned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#undef alloca
#pragma GCC poison strcpy strncpy stpcpy strcat strncat  /* use str, buf */
#pragma GCC poison sprintf vsprintf                      /* use buf_printf, arena_printf */
#pragma GCC poison gets strtok scanf sscanf fscanf       /* use the parsers in base */
#pragma GCC poison atoi atol atoll atof                  /* use str_to_i64 */
#pragma GCC poison alloca                                /* use the arena */
#pragma GCC poison popen                                 /* Cairn never starts a shell */
#pragma GCC poison gmtime localtime ctime asctime mktime /* use base/clock.h */

/* Other libraries use these names for parameters, so only calls are rejected. */
#define system(command) BANNED_cairn_never_starts_a_shell
#define rand() BANNED_use_random_bytes
#define srand(seed) BANNED_use_random_bytes
#define random() BANNED_use_random_bytes
#define srandom(seed) BANNED_use_random_bytes

#endif
