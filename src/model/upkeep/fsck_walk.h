/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the tables: each in the order of its key, a page at a time. The memory of a page is
 * freed before the next page. Private to fsck*.c. */
#ifndef MODEL_UPKEEP_FSCK_WALK_H
#define MODEL_UPKEEP_FSCK_WALK_H

#include "base/hash.h"
#include "base/json/json.h"
#include "model/context.h"
#include "model/upkeep/fsck.h"

struct fsck_walk {
    struct fsck *fsck;
    struct context *c;
    struct arena *page; /* NULL between two pages */
    /* The last row of the page before. */
    struct uuid after_tenant;
    struct uuid after_id;
    struct str after_route;
    struct str after_key;
    uint64_t n_events; /* that were checked */
};

/* Reads the rows after the last one. out_more: there may be further rows. */
typedef enum error fsck_page(struct fsck_walk *w, size_t *out_rows, bool *out_more);
MUST_CHECK enum error fsck_pages(struct fsck_walk *w, const char *stage, uint64_t total,
    fsck_page *read_page, uint64_t *out_rows);
/* Reports the progress. Returns an error if the check must stop. */
MUST_CHECK enum error fsck_step(
    struct fsck_walk *w, const char *stage, uint64_t done, uint64_t total);

fsck_page fsck_read_threads, fsck_read_runs, fsck_read_blobs;
fsck_page fsck_read_items, fsck_read_snapshots;
MUST_CHECK enum error fsck_relations(struct fsck_walk *w);

/* Begins a query whose rows live as long as the page. */
void fsck_begin(struct fsck_walk *w, struct query *q, const struct sql_statement *statement);
/* The name of an object in findings: "thread 018f…". */
struct str fsck_object(struct fsck_walk *w, const char *what, struct uuid id);
bool fsck_is_known(struct str word, const char *const *known);
/* Parses a column. Returns false if it is NULL or not JSON; the latter is a finding. */
bool fsck_json(
    struct fsck_walk *w, struct str object, const char *column, struct str text, struct json *out);

#endif
