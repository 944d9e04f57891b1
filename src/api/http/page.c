/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/page.h"

const char *const include_debug[] = {"debug", NULL};
const char *const include_definition[] = {"definition", NULL};
const char *const include_documents[] = {"documents", NULL};
const char *const include_messages[] = {"messages", NULL};
const char *const include_values[] = {"values", NULL};

#define OF struct page_only_query
static const struct field page_only_fields[] = {
    PAGE_FIELDS(IN_QUERY),
};
#undef OF
const struct schema query_page_only =
    SCHEMA("PageQuery", struct page_only_query, page_only_fields, IN_QUERY);

void call_begin_data(struct call *call, struct json_writer *w)
{
    json_writer_init(w, &call->answer.body);
    json_write_object(w);
    json_write_key(w, STR("data"));
    json_write_array(w);
}

void call_end_data(struct json_writer *w, bool more, struct str next_cursor)
{
    json_write_end(w);
    json_write_key(w, STR("has_more"));
    json_write_bool(w, more);
    json_write_key(w, STR("next_cursor"));
    json_write_string(w, next_cursor);
}

enum error call_answer_list(struct call *call, const struct schema *schema, const void *items,
    const struct page *page, struct str next_cursor)
{
    const char *item = items;
    struct json_writer w;
    call_begin_data(call, &w);
    for (size_t i = 0; i < page->count; i++)
        schema_encode(&w, schema, item + i * schema->struct_bytes);
    call_end_data(&w, page->more, page->more ? next_cursor : STR_NONE);
    json_write_end(&w);
    return OK;
}

enum error call_answer_page(struct call *call, const struct schema *schema, const void *items,
    const struct page *page, const struct cursor_key *key)
{
    struct str next = STR_NONE;
    if (page->more) {
        const void *last = (const char *)items + (page->count - 1) * schema->struct_bytes;
        next = cursor_after(call->arena, key, last);
    }
    return call_answer_list(call, schema, items, page, next);
}
