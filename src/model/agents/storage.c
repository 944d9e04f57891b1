/* SPDX-License-Identifier: Apache-2.0 */
#include "model/agents/storage.h"

#include "base/utf8.h"
#include "model/agents/agents.h"
#include "model/agents/storage.sql.h"

/* Locks the agent before its storage changes. */
static enum error enter(struct context *c, struct uuid agent_id)
{
    TRY(agent_lock(c, agent_id));
    return agent_require(c, agent_id);
}

static enum error check_key(struct context *c, struct str key)
{
    if (key.len >= 1 && key.len <= STORAGE_KEY_MAX_BYTES)
        return OK;
    return problem_fault(c->problem, STR("key"), "must have 1 to %d bytes", STORAGE_KEY_MAX_BYTES);
}

/* The content type is returned in a header, so it must be printable and have a subtype. */
enum error storage_check_type(struct context *c, struct str type, struct str pointer)
{
    size_t slash = str_find(type, '/');
    bool good = slash > 0 && slash + 1 < type.len && type.len <= STORAGE_TYPE_MAX_BYTES;
    for (size_t i = 0; good && i < type.len; i++)
        good = type.ptr[i] >= ' ' && type.ptr[i] <= '~';
    return good
               ? OK
               : problem_fault(c->problem, pointer,
                     "must be a media type (type/subtype) of at most %d printable ASCII characters",
                     STORAGE_TYPE_MAX_BYTES);
}

/* An item that does not exist has version 0. */
static enum error find(struct context *c, const struct sql_statement *statement,
    struct uuid agent_id, struct str key, struct storage_item *out_item)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, agent_id, agent_id);
    query_text(&q, key, key);
    *out_item = (struct storage_item){0};
    if (query_next(&q))
        storage_read(&q, out_item);
    return query_end(&q);
}

static enum error absent(struct context *c)
{
    return problem_set(c->problem, ERR_NOT_FOUND, "the agent has no stored value under this key");
}

enum error storage_get(
    struct context *c, struct uuid agent_id, struct str key, struct storage_item *out_item)
{
    struct storage_item item;
    TRY(enter(c, agent_id));
    TRY(find(c, &SQL_STORAGE_GET, agent_id, key, &item));
    if (item.version == 0)
        return absent(c);
    *out_item = item;
    return OK;
}

/* --- Change --------------------------------------------------------------------------------- */

static enum error check_match(struct context *c, int64_t version)
{
    if (c->match_none && version > 0)
        return problem_set(c->problem, ERR_STALE,
            "If-None-Match: * requires that the key does not exist, but it has version %lld",
            (long long)version);
    if (c->has_match && version == 0)
        return problem_set(
            c->problem, ERR_STALE, "the key does not exist: create it with If-None-Match: *");
    return context_check_match(c, version);
}

static enum error write_row(struct context *c, const struct sql_statement *statement,
    struct uuid agent_id, const struct storage_item *item)
{
    struct query q;
    context_query(c, &q, statement);
    query_uuid(&q, agent_id, agent_id);
    query_text(&q, key, item->key);
    query_text(&q, content_type, item->content_type);
    query_text(&q, value, item->value);
    if (str_is_none(item->value))
        query_bytes(&q, bytes, item->bytes);
    query_i64(&q, size_bytes, item->size_bytes);
    query_i64(&q, now, c->now_us);
    return query_run(&q);
}

enum error storage_put(
    struct context *c, struct uuid agent_id, struct storage_item *item, bool *out_is_new)
{
    struct storage_item before;
    TRY(enter(c, agent_id));
    TRY(check_key(c, item->key));
    TRY(find(c, &SQL_STORAGE_GET_HEAD, agent_id, item->key, &before));
    TRY(check_match(c, before.version));
    bool is_new = before.version == 0;
    item->size_bytes = (int64_t)(str_is_none(item->value) ? item->bytes.len : item->value.len);
    TRY(write_row(c, is_new ? &SQL_STORAGE_INSERT : &SQL_STORAGE_UPDATE, agent_id, item));
    TRY(find(c, &SQL_STORAGE_GET_HEAD, agent_id, item->key, item));
    *out_is_new = is_new;
    return OK;
}

enum error storage_delete(struct context *c, struct uuid agent_id, struct str key)
{
    struct storage_item before;
    TRY(enter(c, agent_id));
    TRY(find(c, &SQL_STORAGE_GET_HEAD, agent_id, key, &before));
    if (before.version == 0)
        return absent(c);
    TRY(context_check_match(c, before.version));
    struct query q;
    context_query(c, &q, &SQL_STORAGE_DELETE);
    query_uuid(&q, agent_id, agent_id);
    query_text(&q, key, key);
    return query_run(&q);
}

/* --- List ----------------------------------------------------------------------------------- */

enum { LAST_CODE_POINT = 0x10ffff };

static uint32_t decode(const unsigned char *p, size_t len)
{
    static const unsigned char lead_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code_point = p[0] & lead_mask[len];
    for (size_t i = 1; i < len; i++)
        code_point = code_point << 6 | (p[i] & 0x3f);
    return code_point;
}

/* Returns the smallest text that is greater than all with this prefix: its last character is
 * incremented. A character that cannot be incremented is removed, and the one before it is
 * incremented. If none remains, the result is greater than every key. */
static struct str behind(struct arena *arena, struct str prefix)
{
    size_t end = prefix.len;
    char *text = arena_alloc(arena, STORAGE_KEY_MAX_BYTES + 2 * UTF8_MAX_LEN);
    while (end > 0) {
        size_t start = end - 1;
        while (((unsigned char)prefix.ptr[start] & 0xc0) == 0x80)
            start--;
        uint32_t last = decode((const unsigned char *)prefix.ptr + start, end - start);
        if (last < LAST_CODE_POINT) {
            memcpy(text, prefix.ptr, start);
            return (struct str){
                text, start + utf8_encode(last == 0xd7ff ? 0xe000 : last + 1, text + start)};
        }
        end = start;
    }
    size_t len = 0;
    while (len <= STORAGE_KEY_MAX_BYTES)
        len += utf8_encode(LAST_CODE_POINT, text + len);
    return (struct str){text, len};
}

static void bind_filter(struct context *c, struct query *q, const struct storage_filter *filter)
{
    struct str prefix = str_is_none(filter->prefix) ? STR("") : filter->prefix;
    bool goes_on = !str_is_none(filter->after) && str_cmp(filter->after, prefix) > 0;
    query_text(q, from, goes_on ? filter->after : prefix);
    query_text(q, above, behind(c->arena, prefix));
    query_text(q, after, filter->after);
}

enum error storage_list(struct context *c, struct uuid agent_id,
    const struct storage_filter *filter, struct page *page, struct storage_item *out_items)
{
    TRY(enter(c, agent_id));
    struct query q;
    page_begin(c, &q, filter->with_values ? &SQL_STORAGE_LIST_WHOLE : &SQL_STORAGE_LIST, page);
    query_uuid(&q, agent_id, agent_id);
    bind_filter(c, &q, filter);
    while (page_next(&q, page)) {
        struct storage_item *item = &out_items[page->count++];
        storage_read(&q, item);
    }
    return query_end(&q);
}
