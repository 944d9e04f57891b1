/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What exactly went wrong: the detail that goes with an enum error, and for bad input the place (a
 * JSON Pointer into the body, or the name of a query parameter or header) and the rule of each
 * fault. It lives in the request's arena and travels in the request's context.
 */
#ifndef BASE_PROBLEM_H
#define BASE_PROBLEM_H

#include "base/arena.h"
#include "base/error.h"

enum { PROBLEM_MAX_FAULTS = 32 };

struct problem_fault {
    struct str pointer;
    struct str detail;
};

struct problem {
    struct arena *arena;
    enum error code;
    struct str detail;
    struct problem_fault faults[PROBLEM_MAX_FAULTS];
    size_t n_faults;
    size_t n_faults_untold;
    /* A ready-made JSON object whose members join the problem document; absent when ptr is NULL. */
    struct str extension;
    uint32_t retry_after_s;
    bool is_final; /* to send the same again would do harm, whatever the table says */
};

void problem_init(struct problem *p, struct arena *arena);

/* Sets the code and the detail, and returns the code: `return problem_set(p, ERR_X, "…");` */
enum error problem_set(struct problem *p, enum error code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Adds one fault of bad input and sets the code to ERR_INVALID; faults past the maximum are
 * counted. */
enum error problem_fault(struct problem *p, struct str pointer, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
