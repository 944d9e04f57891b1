/* SPDX-License-Identifier: Apache-2.0 */
#include "model/page.h"

#include "model/context.h"

void page_bind(struct query *q, struct page *page)
{
    if (page->max_bytes == 0)
        page->max_bytes = PAGE_MAX_BYTES;
    page->count = page->bytes = 0;
    page->more = false;
    query_bind_i64(q, "limit", (int64_t)page->limit + 1);
    if (q->statement->is_page && tx_engine(q->tx) == ENGINE_POSTGRES)
        query_bind_i64(q, "max_bytes", (int64_t)page->max_bytes);
}

void page_begin(
    struct context *c, struct query *q, const struct sql_statement *statement, struct page *page)
{
    context_query(c, q, statement);
    page_bind(q, page);
}

bool page_next(struct query *q, struct page *page)
{
    if (!query_next(q))
        return false;
    page->more = page->count == page->limit || page->bytes > page->max_bytes;
    if (page->more)
        return false;
    if (q->statement->is_page)
        page->bytes += (size_t)row_i64(q);
    return true;
}
