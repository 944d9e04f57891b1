/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of every answer, for any request. */
#ifndef TESTS_FUZZ_JUDGE_H
#define TESTS_FUZZ_JUDGE_H

#include "api/http/route.h"
#include "cairn/cairn.h"

/* The route is NULL when there is none. */
void judge_answer(
    struct arena *arena, const struct route *route, struct str method, const cairn_answer *a);

#endif
