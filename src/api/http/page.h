/* SPDX-License-Identifier: Apache-2.0 */
/* The query parameters and the answer of lists. */
#ifndef API_HTTP_PAGE_H
#define API_HTTP_PAGE_H

#include "api/http/call.h"
#include "api/http/cursor.h"
#include "base/schema_fields.h"

enum { PAGE_DEFAULT = 50, PAGE_MAX = 200, PAGE_CURSOR_MAX_BYTES = 700 };

/* A list has this struct as the member `page` of its query, and PAGE_FIELDS among its rows. */
struct page_query {
    struct str cursor;
    bool has_limit;
    int64_t limit;
};
#define PAGE_FIELDS(in)                                                                 \
    FIELD_OF(page, STRING_OR_NONE, cursor, in, "next_cursor of the previous page",      \
        .max = PAGE_CURSOR_MAX_BYTES),                                                  \
        FIELD_OF(page, INT_OR_NONE, limit, in, "items per page; default: 50", .min = 1, \
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
extern const char *const include_debug[];
extern const char *const include_definition[];
extern const char *const include_documents[];
extern const char *const include_messages[];
extern const char *const include_values[];

/* Answers {"data":[…],"has_more":…,"next_cursor":…}; the cursor holds a member of the last item. */
enum error call_answer_page(struct call *call, const struct schema *schema, const void *items,
    const struct page *page, const struct cursor_key *key);
/* The same for a list that computes the cursor itself. */
enum error call_answer_list(struct call *call, const struct schema *schema, const void *items,
    const struct page *page, struct str next_cursor);
/* The same for items and further members that the caller writes: first the items, then, after
 * call_end_data, the members; json_write_end closes the answer. */
void call_begin_data(struct call *call, struct json_writer *w);
void call_end_data(struct json_writer *w, bool more, struct str next_cursor);

#endif
