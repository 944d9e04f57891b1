/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of a list. The caller sets `limit`; page_begin starts the list's statement and page_next
 * ends the page after `limit` rows, or after the row with which the page exceeds `max_bytes`. The
 * statement returns one row more than the page holds, which sets `more`.
 *
 *   page_begin(c, &q, &SQL_THREAD_LIST, page);
 *   …bind the filters…
 *   while (page_next(&q, page))
 *       thread_read(&q, &out_threads[page->count++]);
 *   return query_end(&q);
 *
 * Statements declared with `-- page: ORDER` return the stored size of the row in their first
 * column, which page_next reads. The rows of other statements count as empty.
 */
#ifndef MODEL_PAGE_H
#define MODEL_PAGE_H

#include "store/query.h"

struct context;

enum { PAGE_MAX_BYTES = 4 * 1024 * 1024 };

struct page {
    size_t limit;
    size_t max_bytes; /* 0: PAGE_MAX_BYTES */
    size_t count;     /* rows read */
    size_t bytes;     /* their stored sizes, added up */
    bool more;        /* the list continues after this page */
};

/* Begins the statement, with its :tenant_id, and binds the limits of the page. */
void page_begin(
    struct context *c, struct query *q, const struct sql_statement *statement, struct page *page);
/* The same for a query that has begun. */
void page_bind(struct query *q, struct page *page);
/* True while there is a row that belongs to the page. The caller reads it and increments count. */
bool page_next(struct query *q, struct page *page);

#endif
