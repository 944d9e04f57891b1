/* SPDX-License-Identifier: Apache-2.0 */
/* The database afterwards: it opens, holds what was acknowledged, and breaks no rule. */
#ifndef TESTS_FAULT_VERIFY_H
#define TESTS_FAULT_VERIFY_H

#include "base/error.h"
#include "cairn/cairn.h"
#include "ledger.h"
#include "verdict.h"

/* Verifies the database under `root` against all known facts. */
void verify(const char *root, const struct known *known, struct verdict *verdict);

/* The parts of it that the script uses too. A finding is wrong; an error says that it could not be
 * found out. */
MUST_CHECK enum error verify_rules(struct arena *arena, const char *root, struct verdict *verdict);
cairn *verify_open(struct arena *arena, const char *root, char **out_why);
const char *verify_path(struct arena *arena, const char *root, const char *name);

#endif
