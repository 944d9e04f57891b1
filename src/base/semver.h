/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semantic versions (semver.org, 2.0.0): "1.2.0", "2.0.0-rc.1", "1.0.0+build.5". The parts borrow
 * the text. The three numbers fit into 64 bits; numbers in a pre-release have any length. Build
 * metadata is kept but ignored in comparisons.
 */
#ifndef BASE_SEMVER_H
#define BASE_SEMVER_H

#include "base/enum.h"

enum { SEMVER_MAX_BYTES = 128 };
#define SEMVER_RULE "must be a semantic version such as 1.2.0 or 2.0.0-rc.1"

struct semver {
    uint64_t major, minor, patch;
    struct str pre;   /* "rc.1"; STR_NONE: a release */
    struct str build; /* STR_NONE: none */
};

#define SEMVER_BUMPS(X) X(SEMVER_MAJOR, "major") X(SEMVER_MINOR, "minor") X(SEMVER_PATCH, "patch")
ENUM_DECLARE(semver_bump, SEMVER_BUMP_NONE, semver_bumps, SEMVER_BUMPS);

MUST_CHECK bool semver_parse(struct str text, struct semver *out_version);
/* Below 0, 0 or above 0, by precedence (section 11). */
int semver_compare(const struct semver *a, const struct semver *b);
/* Returns the following release. A pre-release becomes its own release if that is a step of the
 * same size. Returns false if a number would overflow. */
MUST_CHECK bool semver_bump(
    const struct semver *from, enum semver_bump bump, struct semver *out_next);
struct str semver_format(struct arena *arena, const struct semver *version);

#endif
