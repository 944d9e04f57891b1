/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a database is in order: beside the server or while none runs, over one snapshot. Nothing
 * is changed, migrated or locked. What is wrong is a finding, not an error: an error is returned
 * only when it could not be found out.
 *
 * The engine's part is here: of SQLite's file the structure, the indexes and the references between
 * rows. The rules of the domain are a function of the model's (model/upkeep/fsck.h), which reads
 * the same snapshot; a file that is damaged is not read that far.
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
    /* What the caller says. The rest starts out as 0. */
    struct arena *arena; /* holds what is found */
    bool quick;
    bool deep; /* the content of files by its hash, not by its size alone */
    struct progress *progress;
    struct fsck_finding findings[FSCK_MAX_FINDINGS];
    size_t n_findings;
    size_t n_untold; /* more than there is room for */
    struct contents contents;
    const char *files; /* the directory of content; NULL: it is in the database */
};

void fsck_found(struct fsck *fsck, const char *rule, struct str object, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Notes how many rows a table has, where the engine did not count them. */
void fsck_count(struct fsck *fsck, const char *table, uint64_t rows);

/* Whether content is there and what its row says: out_wrong is a sentence, or NULL. */
MUST_CHECK enum error fsck_content(struct fsck *fsck, struct tx *tx,
    const struct content_name *name, struct problem *problem, const char **out_wrong);

/* May be called several times; it starts over each time. */
typedef enum error fsck_rules(struct fsck *fsck, struct tx *tx, struct problem *problem);
MUST_CHECK enum error store_fsck(const struct store_config *config, fsck_rules *rules,
    struct fsck *fsck, struct problem *problem);

#endif
