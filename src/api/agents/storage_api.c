/* SPDX-License-Identifier: Apache-2.0 */
/* Private storage of agents. Its values are the only ones that are not wrapped in JSON. */
#include "model/agents/storage.h"

#include "api/handlers.h"
#include "base/hash.h"

/* An item on the wire. A value of bytes is a text. */
struct storage_row {
    struct storage_item item;
    struct str base64;
};

#define OF struct storage_row
static const struct field item_fields[] = {
    FIELD_OF(item, STRING, key, IN_READ),
    FIELD_OF(item, STRING, content_type, IN_READ),
    FIELD_OF(item, INT, size_bytes, IN_READ),
    FIELD_OF(item, JSON, value, IN_READ, "JSON value, with include=values", .hide_none = true),
    FIELD(
        STRING, base64, IN_READ, "bytes that are not JSON, with include=values", .hide_none = true),
    FIELD_OF(item, TIME, created_at, IN_READ),
    FIELD_OF(item, TIME, updated_at, IN_READ),
    FIELD_OF(item, INT, version, IN_READ, "number in the ETag"),
};
#undef OF
const struct schema schema_storage_item =
    SCHEMA("StorageItem", struct storage_row, item_fields, IN_READ);

struct storage_query {
    struct page_query page;
    struct str prefix;
    enum include include;
};
#define OF struct storage_query
static const struct field storage_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD(STRING_OR_NONE, prefix, IN_QUERY, "only keys with this prefix",
        .max = STORAGE_KEY_MAX_BYTES),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "values: include the stored values",
        .choices = include_values),
};
#undef OF
const struct schema query_storage =
    SCHEMA("StorageQuery", struct storage_query, storage_query_fields, IN_QUERY);

/* --- The value ----------------------------------------------------------------------------- */

static enum error read_value(struct call *call, struct context *c, struct storage_item *out)
{
    struct str type = http_header(call->request.http, STR("Content-Type"));
    out->content_type = str_is_none(type) ? STR("application/octet-stream") : type;
    if (!call->request.is_json) {
        out->bytes = call->request.body;
        return storage_check_type(c, out->content_type, STR("Content-Type"));
    }
    out->content_type = STR("application/json");
    out->value = json_compact(call->arena, json_root(&call->request.doc));
    return OK;
}

enum error handle_storage_put(struct call *call, struct context *c)
{
    struct storage_row row = {.item = {.key = call->request.texts[1]}};
    bool is_new;
    TRY(read_value(call, c, &row.item));
    TRY(storage_put(c, call->request.params[0], &row.item, &is_new));
    if (is_new)
        call->answer.status = 201;
    return call_answer(call, &schema_storage_item, &row, row.item.version);
}

enum error handle_storage_get(struct call *call, struct context *c)
{
    struct storage_item item;
    TRY(storage_get(c, call->request.params[0], call->request.texts[1], &item));
    call_mark_foreign(call, STR_NONE);
    return call_answer_raw(
        call, item.content_type, str_is_none(item.value) ? item.bytes : item.value, item.version);
}

enum error handle_storage_delete(struct call *call, struct context *c)
{
    TRY(storage_delete(c, call->request.params[0], call->request.texts[1]));
    return call_answer_nothing(call);
}

enum error handle_storage_list(struct call *call, struct context *c)
{
    const struct storage_query *q = call->request.query;
    struct page page = page_of(&q->page);
    struct storage_item *items = ARENA_ARRAY(call->arena, struct storage_item, page.limit);
    struct storage_filter filter = {.prefix = q->prefix, .with_values = q->include != INCLUDE_NONE};
    TRY(cursor_to_text(call, q->page.cursor, &filter.after));
    TRY(storage_list(c, call->request.params[0], &filter, &page, items));
    struct storage_row *rows = ARENA_ARRAY(call->arena, struct storage_row, page.limit);
    for (size_t i = 0; i < page.count; i++) {
        rows[i] = (struct storage_row){.item = items[i]};
        if (!str_is_none(items[i].bytes))
            rows[i].base64 = base64_encode(call->arena, items[i].bytes);
    }
    return call_answer_page(
        call, &schema_storage_item, rows, &page, CURSOR_BY(struct storage_row, item.key));
}
