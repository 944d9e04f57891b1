/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a database, while it is served or not, in one snapshot. Nothing is changed, migrated or
 * locked. Damage is reported as a finding. An error is returned only if the verification could not
 * be completed.
 *
 * This module verifies the engine's part: the structure of the SQLite file, its indexes and the
 * references between rows. The model verifies the rules of the domain (model/upkeep/fsck.h) in the
 * same snapshot, unless the file is damaged.
 */
#ifndef STORE_FSCK_H
#define STORE_FSCK_H

#include "base/progress.h"
#include "store/content_copy.h"
#include "store/contents.h"
#include "store/store.h"

enum { FSCK_MAX_FINDINGS = 200 };

struct fsck_finding {
    struct str rule;   /* "events-gapless" */
    struct str object; /* "thread 018f…" */
    struct str detail;
};

struct fsck {
    /* Set by the caller. The rest is initially 0. */
    struct arena *arena; /* of the findings */
    bool quick;
    bool deep; /* compare the content of files by hash, not only by size */
    struct progress *progress;
    struct fsck_finding findings[FSCK_MAX_FINDINGS];
    size_t n_findings;
    size_t n_untold; /* findings that did not fit */
    struct contents contents;
    const char *files; /* the directory of content; NULL: content is in the database */
};

void fsck_found(struct fsck *fsck, const char *rule, struct str object, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Sets the number of rows of a table, if the engine did not count them. */
void fsck_count(struct fsck *fsck, const char *table, uint64_t rows);

/* Compares content with its row: out_wrong is a sentence, or NULL if they match. */
MUST_CHECK enum error fsck_content(struct fsck *fsck, struct tx *tx,
    const struct content_name *name, struct problem *problem, const char **out_wrong);

/* May be called several times; starts over each time. */
typedef enum error fsck_rules(struct fsck *fsck, struct tx *tx, struct problem *problem);
MUST_CHECK enum error store_fsck(const struct store_config *config, fsck_rules *rules,
    struct fsck *fsck, struct problem *problem);

#endif
