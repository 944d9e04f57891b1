/* SPDX-License-Identifier: Apache-2.0 */
/* The query parameters of lists: `cursor` and `limit`. */
#ifndef API_HTTP_PAGE_H
#define API_HTTP_PAGE_H

#include "api/http/call.h"
#include "base/schema_fields.h"

enum { PAGE_DEFAULT = 50, PAGE_MAX = 200, PAGE_CURSOR_MAX_BYTES = 700 };

/* A list has this struct as the member `page` of its query, and PAGE_FIELDS among its rows. */
struct page_query {
    struct str cursor;
    bool has_limit;
    int64_t limit;
};
#define PAGE_FIELDS(in)                                                                  \
    FIELD_OF(page, STRING_OR_NONE, cursor, in, "next_cursor of the page before",         \
        .max = PAGE_CURSOR_MAX_BYTES),                                                   \
        FIELD_OF(page, INT_OR_NONE, limit, in, "items a page, 50 unless told", .min = 1, \
            .max = PAGE_MAX)
static inline struct page page_of(const struct page_query *p)
{
    return (struct page){.limit = p->has_limit ? (size_t)p->limit : PAGE_DEFAULT};
}

/* The query of a list that has no other parameters. */
struct page_only_query {
    struct page_query page;
};
extern const struct schema query_page_only;

/* The query parameter `include`: answers have the part only if the query names it. */
enum include { INCLUDE_NONE, INCLUDE_PART };
extern const char *const include_debug[],
    *const include_documents[], *const include_member_responses[], *const include_messages[],
                                                                       *const include_values[];

#endif
