/* SPDX-License-Identifier: Apache-2.0 */
/* The store: items under namespaces, search in them, and which namespaces there are. */
#include "api/memory/memory_fields.h"
#include "api/resources.h"
#include "base/hash.h"

/* --- The wire --------------------------------------------------------------------------------- */

#define ITEM(member) offsetof(struct memory_item, member)
enum { ITEM_FIELDS = 7 };
static const struct field item_fields[] = {
    {.name = "namespace", .kind = FIELD_STRINGS, .offset = ITEM(labels)},
    {.name = "key", .kind = FIELD_STRING, .offset = ITEM(key)},
    {.name = "value", .kind = FIELD_OBJECT, .offset = ITEM(value)},
    {.name = "version",
        .kind = FIELD_INT,
        .offset = ITEM(version),
        .summary = "the ETag's number; 1, 2, 3 for as long as the item is there"},
    {.name = "created_at", .kind = FIELD_TIME, .offset = ITEM(created_at)},
    {.name = "updated_at", .kind = FIELD_TIME, .offset = ITEM(updated_at)},
    {.name = "expires_at",
        .kind = FIELD_TIME,
        .flags = FIELD_NULLABLE,
        .offset = ITEM(expires_at),
        .has_offset = ITEM(has_expires_at),
        .summary = "from then on it is gone"},
    {.name = "score",
        .kind = FIELD_MONEY,
        .flags = FIELD_NULLABLE,
        .offset = ITEM(score),
        .has_offset = ITEM(has_score),
        .min = -INT64_MAX,
        .summary = "how well it fits, 1 at most; null when nothing ranks"},
};
const struct schema schema_memory_item = {
    "StoreItem", item_fields, ITEM_FIELDS, sizeof(struct memory_item), 0};
static const struct schema schema_memory_found_item = {
    "StoreFoundItem", item_fields, COUNT_OF(item_fields), sizeof(struct memory_item), 0};

static const struct field vector_fields[] = {
    {.name = "path",
        .kind = FIELD_STRING,
        .offset = offsetof(struct memory_vector, path),
        .max = MEMORY_VECTOR_PATH_MAX_BYTES,
        .summary = "what of the value it was made from, a name of your own"},
    {.name = "values",
        .kind = FIELD_ARRAY,
        .offset = offsetof(struct memory_vector, values),
        .items = "number",
        .max = MEMORY_VECTOR_TEXT_MAX_BYTES,
        .summary = "1 to 4096 numbers, kept with 32 bits each"},
};
const struct schema schema_memory_vector = {
    "StoreVector", vector_fields, COUNT_OF(vector_fields), sizeof(struct memory_vector), 0};

static const struct field put_fields[] = {
    MEMORY_NAMESPACE_FIELD(0), MEMORY_KEY_FIELD(0), MEMORY_VALUE_FIELDS(0)};
const struct schema schema_memory_put = {
    "StorePut", put_fields, COUNT_OF(put_fields), sizeof(struct memory_ask), 0};

static const struct field search_fields[] = {
    MEMORY_SEARCH_FIELDS, MEMORY_PAGE_FIELDS(MEMORY_SEARCH_MAX, "10 unless told")};
const struct schema schema_memory_search = {
    "StoreSearch", search_fields, COUNT_OF(search_fields), sizeof(struct memory_ask), 0};

static const struct field names_fields[] = {
    MEMORY_NAMES_FIELDS, MEMORY_PAGE_FIELDS(MEMORY_NAMESPACES_MAX, "100 unless told")};
const struct schema schema_memory_namespaces = {
    "StoreNamespaces", names_fields, COUNT_OF(names_fields), sizeof(struct memory_ask), 0};

#define PAGE_ANSWER_FIELDS                                                    \
    {.name = "has_more",                                                      \
        .kind = FIELD_BOOL,                                                   \
        .offset = offsetof(struct memory_page, more),                         \
        .summary = "there is more to look at: go on with next_cursor"},       \
    {                                                                         \
        .name = "next_cursor", .kind = FIELD_STRING, .flags = FIELD_NULLABLE, \
        .offset = offsetof(struct memory_page, next_cursor)                   \
    }
static const struct field found_fields[] = {
    {.name = "data",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct memory_page, items),
        .nested = &schema_memory_found_item},
    PAGE_ANSWER_FIELDS,
};
const struct schema schema_memory_found = {
    "StoreFound", found_fields, COUNT_OF(found_fields), sizeof(struct memory_page), 0};
static const struct field found_names_fields[] = {
    {.name = "data",
        .kind = FIELD_ARRAY,
        .offset = offsetof(struct memory_page, names),
        .summary = "namespaces, each a list of labels"},
    PAGE_ANSWER_FIELDS,
};
const struct schema schema_memory_found_namespaces = {"StoreFoundNamespaces", found_names_fields,
    COUNT_OF(found_names_fields), sizeof(struct memory_page), 0};

struct item_query {
    struct str ns;
    struct str key;
};
static const struct field item_query_fields[] = {
    {.name = "namespace",
        .kind = FIELD_STRING,
        .offset = offsetof(struct item_query, ns),
        .max = MEMORY_NAMESPACE_MAX_BYTES,
        .summary = "its labels with a \".\" between them: users.42"},
    {.name = "key",
        .kind = FIELD_STRING,
        .offset = offsetof(struct item_query, key),
        .max = MEMORY_KEY_MAX_BYTES},
};
const struct schema query_memory_item = {
    "StoreItemQuery", item_query_fields, COUNT_OF(item_query_fields), sizeof(struct item_query), 0};

/* --- Items ------------------------------------------------------------------------------------ */

static struct str pointer_to(struct context *c, struct str at, const char *member)
{
    return arena_printf(c->arena, "%.*s/%s", STR_ARG(at), member);
}

static enum error join(
    struct context *c, const struct memory_ask *ask, struct str at, struct str *out_ns)
{
    return memory_join_namespace(c, ask->labels, pointer_to(c, at, "namespace"), out_ns);
}

static enum error encode_vectors(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_item *item)
{
    const struct memory_vector *given = ask->vectors.items;
    size_t n = ask->vectors.count;
    struct memory_vector_bytes *vectors = ARENA_ARRAY(c->arena, struct memory_vector_bytes, n + 1);
    enum error e = OK;
    for (size_t i = 0; e == OK && i < n; i++) {
        struct str values = arena_printf(c->arena, "%.*s/vectors/%zu/values", STR_ARG(at), i);
        vectors[i].path = given[i].path;
        e = memory_vector_encode(c, given[i].values, values, &vectors[i]);
    }
    item->vectors = vectors;
    item->n_vectors = n;
    return e;
}

enum error memory_do_put(struct context *c, const struct memory_ask *ask, struct str at,
    struct memory_item *out_item, bool *out_is_new)
{
    struct memory_item item = {.key = ask->key, .value = ask->value};
    item.has_expires_at = ask->has_ttl_s;
    item.expires_at = c->now_us + ask->ttl_s * 1000000;
    enum error e = join(c, ask, at, &item.ns);
    if (e == OK)
        e = encode_vectors(c, ask, at, &item);
    if (e == OK)
        e = memory_item_put(c, &item, out_is_new);
    if (e == OK)
        *out_item = item;
    return e;
}

enum error memory_do_get(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_item *out_item)
{
    struct str ns;
    enum error e = join(c, ask, at, &ns);
    return e == OK ? memory_item_get(c, ns, ask->key, out_item) : e;
}

enum error memory_do_delete(struct context *c, const struct memory_ask *ask, struct str at)
{
    struct str ns;
    enum error e = join(c, ask, at, &ns);
    return e == OK ? memory_item_delete(c, ns, ask->key) : e;
}

/* Which item the parameters name. */
static enum error read_query(
    struct call *call, struct context *c, struct str *out_ns, struct str *out_key)
{
    const struct item_query *q = call->request.query;
    if (str_is_none(q->ns) || q->ns.len == 0)
        return problem_fault(c->problem, STR("namespace"), "must be given");
    if (str_is_none(q->key) || q->key.len == 0)
        return problem_fault(c->problem, STR("key"), "must be given");
    struct str_list labels = memory_split_namespace(c->arena, q->ns);
    if (str_ends_with(q->ns, STR("."))) /* as it is stored; not as it is told */
        return problem_fault(c->problem, STR("namespace"), "must not end in a \".\"");
    *out_key = q->key;
    return memory_join_namespace(c, labels, STR("namespace"), out_ns);
}

enum error handle_memory_put(struct call *call, struct context *c)
{
    struct memory_item item;
    bool is_new;
    enum error e = memory_do_put(c, call->request.input, STR(""), &item, &is_new);
    if (e != OK)
        return e;
    if (is_new)
        call->answer.status = 201;
    call_answer(call, &schema_memory_item, &item, item.version);
    return OK;
}

enum error handle_memory_get(struct call *call, struct context *c)
{
    struct str ns, key;
    struct memory_item item;
    enum error e = read_query(call, c, &ns, &key);
    if (e == OK)
        e = memory_item_get(c, ns, key, &item);
    if (e == OK)
        call_answer(call, &schema_memory_item, &item, item.version);
    return e;
}

enum error handle_memory_delete(struct call *call, struct context *c)
{
    struct str ns, key;
    enum error e = read_query(call, c, &ns, &key);
    if (e == OK)
        e = memory_item_delete(c, ns, key);
    if (e == OK)
        call_answer_nothing(call);
    return e;
}

/* --- Cursors ---------------------------------------------------------------------------------- */

static enum error refuse_cursor(struct context *c, struct str at)
{
    problem_fault(
        c->problem, pointer_to(c, at, "cursor"), "must be a next_cursor of the same search");
    c->problem->code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

/* Its kind is its first letter; made up by somebody, it could be anything. */
static enum error read_cursor(
    struct context *c, const struct memory_ask *ask, struct str at, char kind, struct str *out_rest)
{
    struct str text;
    if (ask->has_offset)
        return problem_fault(
            c->problem, pointer_to(c, at, "offset"), "cannot be given together with cursor");
    if (!base64url_decode(c->arena, ask->cursor, &text) || text.len < 2 || text.ptr[0] != kind ||
        str_has_byte(text, '\0') || !str_is_utf8(text))
        return refuse_cursor(c, at);
    *out_rest = str_slice(text, 1, text.len);
    return OK;
}

/* Whole numbers from 0 with blanks between them. */
static bool read_numbers(struct str text, int64_t *out, size_t n)
{
    struct str part;
    size_t i = 0;
    while (str_next_part(&text, ' ', &part)) {
        if (i == n || !str_to_i64(part, &out[i]) || out[i] < 0)
            return false;
        i++;
    }
    return i == n;
}

static enum error read_position(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_position *out)
{
    bool is_ranked = ask->query.len > 0 || !str_is_none(ask->vector);
    int64_t numbers[3];
    struct str text;
    if (str_is_none(ask->cursor))
        return OK;
    enum error e = read_cursor(c, ask, at, is_ranked ? 'r' : 't', &text);
    if (e != OK)
        return e;
    if (!read_numbers(text, numbers, 3) || numbers[2] > MEMORY_OFFSET_MAX)
        return refuse_cursor(c, at);
    *out = (struct memory_position){.is_given = true,
        .is_ranked = is_ranked,
        .updated_at = numbers[0],
        .number = numbers[1],
        .skip = numbers[2]};
    return OK;
}

static struct str write_position(struct arena *arena, const struct memory_position *p)
{
    return cursor_from_text(
        arena, arena_printf(arena, "%c%lld %lld %lld", p->is_ranked ? 'r' : 't',
                   (long long)p->updated_at, (long long)p->number, (long long)p->skip));
}

/* --- Search ----------------------------------------------------------------------------------- */

enum error memory_do_search(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_page *out_page)
{
    struct memory_search search = {.at = at,
        .filter = ask->filter,
        .query = ask->query,
        .vector = ask->vector,
        .limit = ask->has_limit ? (size_t)ask->limit : MEMORY_SEARCH_DEFAULT,
        .offset = (size_t)ask->offset,
        .looks = ask->looks};
    struct memory_found found;
    if (ask->query.len > 0 && !str_is_none(ask->vector))
        return problem_fault(
            c->problem, pointer_to(c, at, "vector"), "cannot be given together with query");
    enum error e = memory_join_namespace(
        c, ask->prefix, pointer_to(c, at, "namespace_prefix"), &search.prefix);
    if (e == OK)
        e = read_position(c, ask, at, &search.from);
    if (e == OK)
        e = memory_search(c, &search, &found);
    if (e == OK)
        *out_page = (struct memory_page){.items = {found.items, found.count},
            .more = found.more,
            .looked = found.looked,
            .next_cursor = found.more ? write_position(c->arena, &found.next) : STR_NONE};
    return e;
}

enum error handle_memory_search(struct call *call, struct context *c)
{
    struct memory_page page;
    enum error e = memory_do_search(c, call->request.input, STR(""), &page);
    if (e == OK)
        call_answer(call, &schema_memory_found, &page, 0);
    return e;
}

/* --- Namespaces ------------------------------------------------------------------------------- */

static struct str write_names(struct arena *arena, const struct memory_namespaces_found *found)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_array(&text.w);
    for (size_t i = 0; i < found->count; i++) {
        struct str_list labels = memory_split_namespace(arena, found->items[i]);
        json_write_array(&text.w);
        for (size_t k = 0; k < labels.count; k++)
            json_write_string(&text.w, labels.items[k]);
        json_write_end(&text.w);
    }
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

/* What is left of the offset, and where to go on. */
static enum error read_names_cursor(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_namespaces *names)
{
    struct str text, skip;
    int64_t number;
    if (str_is_none(ask->cursor))
        return OK;
    enum error e = read_cursor(c, ask, at, 'n', &text);
    if (e != OK)
        return e;
    if (!str_next_part(&text, ' ', &skip) || !read_numbers(skip, &number, 1) ||
        number > MEMORY_OFFSET_MAX || text.len == 0 || text.len > MEMORY_NAMESPACE_MAX_BYTES + 1)
        return refuse_cursor(c, at);
    names->skip = (size_t)number;
    names->after = text;
    return OK;
}

enum error memory_do_names(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_page *out_page)
{
    struct memory_namespaces names = {.at = at,
        .prefix = ask->prefix,
        .suffix = ask->suffix,
        .max_depth = (size_t)ask->max_depth,
        .limit = ask->has_limit ? (size_t)ask->limit : MEMORY_NAMESPACES_DEFAULT,
        .offset = (size_t)ask->offset};
    struct memory_namespaces_found found;
    enum error e = read_names_cursor(c, ask, at, &names);
    if (e == OK)
        e = memory_list_namespaces(c, &names, &found);
    if (e != OK)
        return e;
    *out_page = (struct memory_page){.names = write_names(c->arena, &found), .more = found.more};
    if (found.more)
        out_page->next_cursor = cursor_from_text(
            c->arena, arena_printf(c->arena, "n%zu %.*s", found.skip, STR_ARG(found.last)));
    return OK;
}

enum error handle_memory_namespaces(struct call *call, struct context *c)
{
    struct memory_page page;
    enum error e = memory_do_names(c, call->request.input, STR(""), &page);
    if (e == OK)
        call_answer(call, &schema_memory_found_namespaces, &page, 0);
    return e;
}
