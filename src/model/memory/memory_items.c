/* SPDX-License-Identifier: Apache-2.0 */
#include "model/memory/memory_items.h"

#include "base/utf8.h"
#include "model/memory/memory_items.sql.h"
#include "model/memory/memory_vectors.h"
#include "model/tenancy/deletions.h"

enum { EXPIRED_A_PASS = 200 };

/* --- Namespaces ------------------------------------------------------------------------------- */

static enum error check_label(struct context *c, struct str label, struct str pointer, size_t i)
{
    struct str at = pointer.len > 0 && pointer.ptr[0] == '/'
                        ? arena_printf(c->arena, "%.*s/%zu", STR_ARG(pointer), i)
                        : pointer;
    if (label.len < 1 || label.len > MEMORY_LABEL_MAX_BYTES)
        return problem_fault(
            c->problem, at, "must be a label of 1 to %d bytes", MEMORY_LABEL_MAX_BYTES);
    if (str_has_byte(label, '.'))
        return problem_fault(c->problem, at, "must not contain \".\"");
    return OK;
}

enum error memory_join_namespace(
    struct context *c, struct str_list labels, struct str pointer, struct str *out_ns)
{
    struct buf joined;
    enum error e = OK;
    if (labels.count > MEMORY_LABELS_MAX)
        return problem_fault(c->problem, pointer, "must have at most %d labels", MEMORY_LABELS_MAX);
    for (size_t i = 0; i < labels.count; i++)
        if (check_label(c, labels.items[i], pointer, i) != OK)
            e = ERR_INVALID;
    if (e != OK)
        return e;
    buf_init(&joined, MEMORY_NAMESPACE_MAX_BYTES);
    for (size_t i = 0; i < labels.count; i++) {
        buf_append(&joined, labels.items[i]);
        buf_append_byte(&joined, '.');
    }
    *out_ns = labels.count == 0 ? STR("") : arena_str(c->arena, buf_str(&joined));
    buf_deinit(&joined);
    return OK;
}

struct str_list memory_split_namespace(struct arena *arena, struct str ns)
{
    struct str_list labels = {0};
    struct str rest = str_ends_with(ns, STR(".")) ? str_slice(ns, 0, ns.len - 1) : ns, part;
    size_t most = 1;
    for (size_t i = 0; i < rest.len; i++)
        most += rest.ptr[i] == '.';
    labels.items = ARENA_ARRAY(arena, struct str, most);
    while (labels.count < most && str_next_part(&rest, '.', &part))
        labels.items[labels.count++] = part;
    return labels;
}

struct str memory_above_namespace(struct arena *arena, struct str prefix)
{
    enum { LAST_CODE_POINT = 0x10ffff };
    if (prefix.len > 0) /* '/' is the byte after '.' */
        return arena_printf(arena, "%.*s/", (int)prefix.len - 1, prefix.ptr);
    size_t len = 0;
    char *text = arena_alloc(arena, MEMORY_LABEL_MAX_BYTES + 2 * UTF8_MAX_LEN);
    while (len <= MEMORY_LABEL_MAX_BYTES)
        len += utf8_encode(LAST_CODE_POINT, text + len);
    return (struct str){text, len};
}

/* --- Read ------------------------------------------------------------------------------------- */

void memory_item_read_row(struct query *q, struct memory_item *out_item)
{
    memory_item_of_row(q, out_item);
    out_item->labels = memory_split_namespace(q->arena, out_item->ns);
}

static enum error absent(struct context *c)
{
    return problem_set(
        c->problem, ERR_NOT_FOUND, "the key does not exist in this namespace of the store");
}

enum error memory_item_get(
    struct context *c, struct str ns, struct str key, struct memory_item *out_item)
{
    struct memory_item item;
    struct query q;
    context_query(c, &q, &SQL_MEMORY_ITEM_GET);
    query_text(&q, namespace, ns);
    query_text(&q, key, key);
    query_i64(&q, now, c->now_us);
    bool found = query_next(&q);
    if (found)
        memory_item_read_row(&q, &item);
    TRY(query_end(&q));
    if (!found)
        return absent(c);
    *out_item = item;
    return OK;
}

/* --- Change ----------------------------------------------------------------------------------- */

/* Reads the item with this key, if there is one. */
struct found {
    bool is_there; /* also if the item has expired */
    bool is_live;
    int64_t number;
    int64_t created_at;
    int64_t version;
};

static enum error find(struct context *c, struct str ns, struct str key, struct found *out)
{
    struct query q;
    int64_t expires_at;
    *out = (struct found){0};
    context_query(c, &q, &SQL_MEMORY_ITEM_FIND);
    query_text(&q, namespace, ns);
    query_text(&q, key, key);
    out->is_there = query_next(&q);
    if (out->is_there) {
        out->number = row_i64(&q);
        out->created_at = row_i64(&q);
        out->is_live = !row_i64_if(&q, &expires_at) || expires_at > c->now_us;
        out->version = row_i64(&q);
    }
    return query_end(&q);
}

static enum error check_match(struct context *c, const struct found *found)
{
    if (c->match_none && found->is_live)
        return problem_set(c->problem, ERR_STALE,
            "If-None-Match: * requires that the key does not exist, but it has version %lld",
            (long long)found->version);
    if ((c->has_match || c->match_any) && !found->is_live)
        return problem_set(c->problem, ERR_STALE,
            "the key does not exist in this namespace of the store: create it with If-None-Match: "
            "*");
    return context_check_match(c, found->version);
}

static enum error remove_row(struct context *c, int64_t number)
{
    struct query q;
    TRY(memory_unindex(c, number));
    context_query(c, &q, &SQL_MEMORY_ITEM_DELETE);
    query_i64(&q, number, number);
    return query_run(&q);
}

static void bind_value(struct context *c, struct query *q, const struct memory_item *item)
{
    query_bool(q, is_searchable, item->is_searchable);
    query_text(q, value, item->value);
    query_i64(q, size_bytes, item->size_bytes);
    query_i64_if(q, expires_at, item->has_expires_at, item->expires_at);
    query_i64(q, now, c->now_us);
}

static enum error insert(struct context *c, struct memory_item *item)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_ITEM_INSERT);
    query_text(&q, namespace, item->ns);
    query_text(&q, key, item->key);
    bind_value(c, &q, item);
    bool inserted = query_next(&q);
    if (inserted)
        item->number = row_i64(&q);
    TRY(query_end(&q));
    return !inserted ? tx_run_again(c->tx) : OK;
}

static enum error update(struct context *c, const struct memory_item *item)
{
    struct query q;
    context_query(c, &q, &SQL_MEMORY_ITEM_UPDATE);
    query_i64(&q, number, item->number);
    bind_value(c, &q, item);
    return query_run(&q);
}

enum error memory_item_put(struct context *c, struct memory_item *item, bool *out_is_new)
{
    struct found before;
    TRY(find(c, item->ns, item->key, &before));
    TRY(check_match(c, &before));
    if (before.is_there && !before.is_live)
        TRY(remove_row(c, before.number));
    item->labels = memory_split_namespace(c->arena, item->ns);
    item->size_bytes = (int64_t)item->value.len;
    item->created_at = before.is_live ? before.created_at : c->now_us;
    item->updated_at = c->now_us;
    item->version = before.is_live ? before.version + 1 : 1;
    item->number = before.number;
    item->is_searchable = context_may_index(c);
    TRY(before.is_live ? update(c, item) : insert(c, item));
    if (item->is_searchable)
        TRY(memory_index(c, item));
    if (before.is_live || item->n_vectors > 0)
        TRY(memory_put_vectors(c, item->number, item->vectors, item->n_vectors));
    *out_is_new = !before.is_live;
    return OK;
}

enum error memory_item_delete(struct context *c, struct str ns, struct str key)
{
    struct found before;
    TRY(find(c, ns, key, &before));
    if (!before.is_live)
        return absent(c);
    TRY(context_check_match(c, before.version));
    return remove_row(c, before.number);
}

/* --- The sweep -------------------------------------------------------------------------------- */

enum error memory_find_expired(
    struct context *c, int64_t now_us, bool *out_found, struct uuid *out_tenant)
{
    struct query q;
    query_begin(&q, c->tx, &SQL_MEMORY_FIRST_EXPIRED, c->arena);
    query_i64(&q, now, now_us);
    *out_found = query_next(&q);
    if (*out_found)
        *out_tenant = row_uuid(&q);
    return query_end(&q);
}

/* Lists expired items that can be deleted in one slice. */
static enum error list_expired(
    struct context *c, int64_t now_us, int64_t *out_numbers, size_t *out_count)
{
    int64_t bytes = 0;
    struct query q;
    context_query(c, &q, &SQL_MEMORY_LIST_EXPIRED);
    query_i64(&q, now, now_us);
    query_i64(&q, limit, EXPIRED_A_PASS);
    for (*out_count = 0; bytes < SLICE_MAX_BYTES && query_next(&q); ++*out_count) {
        out_numbers[*out_count] = row_i64(&q);
        bytes += row_i64(&q);
    }
    return query_end(&q);
}

enum error memory_expire_some(struct context *c, int64_t now_us)
{
    int64_t numbers[EXPIRED_A_PASS];
    size_t n = 0;
    struct slice slice = slice_begin(0);
    TRY(list_expired(c, now_us, numbers, &n));
    for (size_t i = 0; i < n && (i == 0 || !slice_is_over(&slice)); i++)
        TRY(remove_row(c, numbers[i]));
    return OK;
}
