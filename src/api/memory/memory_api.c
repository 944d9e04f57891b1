/* SPDX-License-Identifier: Apache-2.0 */
/* The store: items in namespaces, search, and the list of namespaces. */
#include "api/handlers.h"
#include "api/memory/memory_fields.h"
#include "base/hash.h"

/* --- Schemas ------------------------------------------------------------------------------- */

enum { IN_FOUND = IN_SHOWN(0) };
#define OF struct memory_item
static const struct field item_fields[] = {
    FIELD_AS(STRINGS, "namespace", labels, IN_READ),
    FIELD(STRING, key, IN_READ),
    FIELD(OBJECT, value, IN_READ),
    FIELD(INT, version, IN_READ, "number in the ETag, from 1; restarts if the item is deleted"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(TIME, updated_at, IN_READ),
    FIELD(TIME_OR_NULL, expires_at, IN_READ, "time at which the item expires"),
    FIELD(MONEY_OR_NULL, score, IN_FOUND, "relevance, at most 1; null if the search does not rank",
        .min = -INT64_MAX),
};
#undef OF
const struct schema schema_memory_item =
    SCHEMA("StoreItem", struct memory_item, item_fields, IN_READ);
static const struct schema schema_memory_found_item =
    SCHEMA("StoreFoundItem", struct memory_item, item_fields, IN_READ | IN_FOUND);

#define OF struct memory_vector
static const struct field vector_fields[] = {
    FIELD(STRING, path, IN_BODY,
        "name of the part of the value that the vector represents; chosen by the client",
        .max = MEMORY_VECTOR_PATH_MAX_BYTES),
    FIELD(ARRAY, values, IN_BODY, "1 to 4096 numbers, stored as 32-bit floats", .items = "number",
        .max = MEMORY_VECTOR_TEXT_MAX_BYTES),
};
#undef OF
const struct schema schema_memory_vector =
    SCHEMA("StoreVector", struct memory_vector, vector_fields, IN_BODY);

ENUM_DEFINE(memory_operations, MEMORY_OPERATIONS);

#define OF struct memory_ask
const struct field memory_ask_fields[MEMORY_ASK_FIELDS] = {
    FIELD(ENUM, op, IN_OPERATION, .choices = memory_operations),
    FIELD_AS(STRINGS, "namespace", labels, IN_GET | IN_PUT | IN_ANY_OPERATION,
        "labels of 1 to 128 bytes without \".\": [\"users\",\"42\"]", .min = 1,
        .max = MEMORY_LABELS_MAX, .optional_in = IN_ANY_OPERATION),
    FIELD(STRING, key, IN_GET | IN_PUT | IN_ANY_OPERATION, .min = 1, .max = MEMORY_KEY_MAX_BYTES,
        .optional_in = IN_ANY_OPERATION),
    FIELD(OBJECT, value, IN_PUT | IN_ANY_OPERATION, "JSON object of at most 1 MiB",
        .max = MEMORY_VALUE_MAX_BYTES, .optional_in = IN_ANY_OPERATION),
    FIELD(LIST_OR_NULL, vectors, IN_PUT | IN_ANY_OPERATION,
        "at most 16 vectors for searches; default: none", .max = MEMORY_ITEM_VECTORS_MAX,
        .nested = &schema_memory_vector),
    FIELD(INT_OR_NULL, ttl_s, IN_PUT | IN_ANY_OPERATION,
        "lifetime of the item in seconds; default: unlimited", .min = 1, .max = MEMORY_TTL_MAX_S),
    FIELD_AS(STRINGS_OR_NULL, "namespace_prefix", prefix, IN_SEARCH | IN_ANY_OPERATION,
        "first labels of the namespaces to search; default: all namespaces",
        .max = MEMORY_LABELS_MAX),
    FIELD(OBJECT_OR_NULL, filter, IN_SEARCH | IN_ANY_OPERATION,
        "for each member of the value: the required value, or $eq $ne $gt $gte $lt $lte $in $nin "
        "with an operand",
        .max = MEMORY_FILTER_MAX_BYTES),
    FIELD(ARRAY_OR_NULL, vector, IN_SEARCH | IN_ANY_OPERATION,
        "numbers: rank items by the cosine similarity of their vectors", .items = "number",
        .max = MEMORY_VECTOR_TEXT_MAX_BYTES),
    FIELD(STRING_OR_NULL, query, IN_SEARCH | IN_ANY_OPERATION,
        "words: return items that contain any of them, best match first",
        .max = MEMORY_QUERY_MAX_BYTES),
    FIELD(STRINGS_OR_NULL, prefix, IN_NAMES | IN_ANY_OPERATION,
        "first labels of the namespaces; \"*\" matches any label", .max = MEMORY_LABELS_MAX),
    FIELD(STRINGS_OR_NULL, suffix, IN_NAMES | IN_ANY_OPERATION,
        "last labels of the namespaces; \"*\" matches any label", .max = MEMORY_LABELS_MAX),
    FIELD(INT_OR_NULL, max_depth, IN_NAMES | IN_ANY_OPERATION,
        "truncate namespaces to this number of labels, without duplicates", .min = 1,
        .max = MEMORY_LABELS_MAX),
    FIELD(INT_OR_NULL, limit, IN_SEARCH, "default: 10", .min = 1, .max = MEMORY_SEARCH_MAX),
    FIELD(INT_OR_NULL, limit, IN_NAMES, "default: 100", .min = 1, .max = MEMORY_NAMESPACES_MAX),
    FIELD(INT_OR_NULL, limit, IN_ANY_OPERATION, "default of a search: 10, at most 200", .min = 1,
        .max = MEMORY_NAMESPACES_MAX),
    FIELD(INT_OR_NULL, offset, IN_SEARCH | IN_NAMES | IN_ANY_OPERATION,
        "number of results to skip; use cursor for later pages", .max = MEMORY_OFFSET_MAX),
    FIELD(STRING_OR_NULL, cursor, IN_SEARCH | IN_NAMES | IN_ANY_OPERATION,
        "next_cursor of the previous page", .min = 1, .max = MEMORY_CURSOR_MAX_BYTES),
};
#undef OF
const struct schema schema_memory_put =
    SCHEMA("StorePut", struct memory_ask, memory_ask_fields, IN_PUT);
const struct schema schema_memory_search =
    SCHEMA("StoreSearch", struct memory_ask, memory_ask_fields, IN_SEARCH);
const struct schema schema_memory_namespaces =
    SCHEMA("StoreNamespaces", struct memory_ask, memory_ask_fields, IN_NAMES);

enum { IN_FOUND_ITEMS = IN_SHOWN(0), IN_FOUND_NAMES = IN_SHOWN(1) };
#define OF struct memory_page
static const struct field page_fields[] = {
    FIELD_AS(LIST, "data", items, IN_FOUND_ITEMS, .nested = &schema_memory_found_item),
    FIELD_AS(ARRAY, "data", names, IN_FOUND_NAMES, "namespaces, each a list of labels"),
    FIELD_AS(
        BOOL, "has_more", more, IN_READ, "true if more results exist: continue with next_cursor"),
    FIELD(STRING_OR_NULL, next_cursor, IN_READ),
};
#undef OF
const struct schema schema_memory_found =
    SCHEMA("StoreFound", struct memory_page, page_fields, IN_READ | IN_FOUND_ITEMS);
const struct schema schema_memory_found_namespaces =
    SCHEMA("StoreFoundNamespaces", struct memory_page, page_fields, IN_READ | IN_FOUND_NAMES);

struct item_query {
    struct str ns;
    struct str key;
};
#define OF struct item_query
static const struct field item_query_fields[] = {
    FIELD_AS(STRING, "namespace", ns, IN_QUERY, "labels separated by \".\": users.42", .min = 1,
        .max = MEMORY_NAMESPACE_MAX_BYTES),
    FIELD(STRING, key, IN_QUERY, .min = 1, .max = MEMORY_KEY_MAX_BYTES),
};
#undef OF
const struct schema query_memory_item =
    SCHEMA("StoreItemQuery", struct item_query, item_query_fields, IN_QUERY);

/* --- Items --------------------------------------------------------------------------------- */

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
    for (size_t i = 0; i < n; i++) {
        struct str values = arena_printf(c->arena, "%.*s/vectors/%zu/values", STR_ARG(at), i);
        vectors[i].path = given[i].path;
        TRY(memory_vector_encode(c, given[i].values, values, &vectors[i]));
    }
    item->vectors = vectors;
    item->n_vectors = n;
    return OK;
}

enum error memory_do_put(struct context *c, const struct memory_ask *ask, struct str at,
    struct memory_item *out_item, bool *out_is_new)
{
    struct memory_item item = {.key = ask->key, .value = ask->value};
    item.has_expires_at = ask->has_ttl_s;
    item.expires_at = c->now_us + ask->ttl_s * 1000000;
    TRY(join(c, ask, at, &item.ns));
    TRY(encode_vectors(c, ask, at, &item));
    TRY(memory_item_put(c, &item, out_is_new));
    *out_item = item;
    return OK;
}

enum error memory_do_get(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_item *out_item)
{
    struct str ns;
    TRY(join(c, ask, at, &ns));
    return memory_item_get(c, ns, ask->key, out_item);
}

enum error memory_do_delete(struct context *c, const struct memory_ask *ask, struct str at)
{
    struct str ns;
    TRY(join(c, ask, at, &ns));
    return memory_item_delete(c, ns, ask->key);
}

/* Finds the item that the parameters name. */
static enum error read_query(
    struct call *call, struct context *c, struct str *out_ns, struct str *out_key)
{
    const struct item_query *q = call->request.query;
    struct str_list labels = memory_split_namespace(c->arena, q->ns);
    if (str_ends_with(q->ns, STR("."))) /* in the form that is stored */
        return problem_fault(c->problem, STR("namespace"), "must not end in a \".\"");
    *out_key = q->key;
    return memory_join_namespace(c, labels, STR("namespace"), out_ns);
}

static void add_location(struct call *call, const struct memory_item *item)
{
    struct str ns = str_slice(item->ns, 0, item->ns.len - 1); /* without the last "." */
    call_add_header(call, STR("Location"),
        arena_printf(call->arena, "/v1/store/items?namespace=%.*s&key=%.*s",
            STR_ARG(http_encode_percent(call->arena, ns)),
            STR_ARG(http_encode_percent(call->arena, item->key))));
}

enum error handle_memory_put(struct call *call, struct context *c)
{
    struct memory_item item;
    bool is_new;
    TRY(memory_do_put(c, call->request.input, STR(""), &item, &is_new));
    if (is_new) {
        call->answer.status = 201;
        add_location(call, &item);
    }
    return call_answer(call, &schema_memory_item, &item, item.version);
}

enum error handle_memory_get(struct call *call, struct context *c)
{
    struct str ns, key;
    struct memory_item item;
    TRY(read_query(call, c, &ns, &key));
    TRY(memory_item_get(c, ns, key, &item));
    return call_answer(call, &schema_memory_item, &item, item.version);
}

enum error handle_memory_delete(struct call *call, struct context *c)
{
    struct str ns, key;
    TRY(read_query(call, c, &ns, &key));
    TRY(memory_item_delete(c, ns, key));
    return call_answer_nothing(call);
}

/* --- Cursors ------------------------------------------------------------------------------- */

static enum error refuse_cursor(struct context *c, struct str at)
{
    problem_fault(c->problem, pointer_to(c, at, "cursor"),
        "must be the next_cursor of a page of the same search");
    c->problem->code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

/* The first letter of a cursor is its kind. A client may send any text. */
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
    TRY(read_cursor(c, ask, at, is_ranked ? 'r' : 't', &text));
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

/* --- Search -------------------------------------------------------------------------------- */

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
    TRY(memory_join_namespace(
        c, ask->prefix, pointer_to(c, at, "namespace_prefix"), &search.prefix));
    TRY(read_position(c, ask, at, &search.from));
    TRY(memory_search(c, &search, &found));
    *out_page = (struct memory_page){.items = {found.items, found.count},
        .more = found.more,
        .looked = found.looked,
        .next_cursor = found.more ? write_position(c->arena, &found.next) : STR_NONE};
    return OK;
}

enum error handle_memory_search(struct call *call, struct context *c)
{
    struct memory_page page;
    TRY(memory_do_search(c, call->request.input, STR(""), &page));
    return call_answer(call, &schema_memory_found, &page, 0);
}

/* --- Namespaces ---------------------------------------------------------------------------- */

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

/* The rest of the offset, and the position to continue from. */
static enum error read_names_cursor(
    struct context *c, const struct memory_ask *ask, struct str at, struct memory_namespaces *names)
{
    struct str text, skip;
    int64_t number;
    if (str_is_none(ask->cursor))
        return OK;
    TRY(read_cursor(c, ask, at, 'n', &text));
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
    TRY(read_names_cursor(c, ask, at, &names));
    TRY(memory_list_namespaces(c, &names, &found));
    *out_page = (struct memory_page){.names = write_names(c->arena, &found), .more = found.more};
    if (found.more)
        out_page->next_cursor = cursor_from_text(
            c->arena, arena_printf(c->arena, "n%zu %.*s", found.skip, STR_ARG(found.last)));
    return OK;
}

enum error handle_memory_namespaces(struct call *call, struct context *c)
{
    struct memory_page page;
    TRY(memory_do_names(c, call->request.input, STR(""), &page));
    return call_answer(call, &schema_memory_found_namespaces, &page, 0);
}
