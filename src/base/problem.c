/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"

void problem_init(struct problem *p, struct arena *arena)
{
    *p = PROBLEM_INIT(arena);
}

enum error problem_set(struct problem *p, enum error code, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    p->code = code;
    p->detail = arena_vprintf(p->arena, fmt, args);
    va_end(args);
    return code;
}

enum error problem_fault(struct problem *p, struct str pointer, const char *fmt, ...)
{
    p->code = ERR_INVALID;
    if (p->n_faults == PROBLEM_MAX_FAULTS) {
        p->n_faults_untold++;
        return p->code;
    }
    va_list args;
    va_start(args, fmt);
    struct problem_fault *fault = &p->faults[p->n_faults++];
    fault->pointer = arena_str(p->arena, pointer);
    fault->detail = arena_vprintf(p->arena, fmt, args);
    va_end(args);
    return p->code;
}
