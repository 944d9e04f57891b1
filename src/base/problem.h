/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The details of an enum error: a text, and for bad input each fault with its place (a JSON Pointer
 * into the body, or the name of a query parameter or header) and the rule that it breaks. A problem
 * lives in the request's arena and is part of the request's context.
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
    /* A JSON object whose members are added to the problem document; STR_NONE if there is none. */
    struct str extension;
    uint32_t retry_after_s;
    bool is_final; /* sending the same request again would do harm, whatever the table states */
};

/* The initial value of a variable. */
#define PROBLEM_INIT(memory) ((struct problem){.arena = (memory)})
/* The same for a member. */
void problem_init(struct problem *p, struct arena *arena);

/* Sets the code and the detail, and returns the code: `return problem_set(p, ERR_X, "…");` */
enum error problem_set(struct problem *p, enum error code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Adds one fault of bad input and sets the code to ERR_INVALID. Faults past the maximum are only
 * counted. */
enum error problem_fault(struct problem *p, struct str pointer, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
