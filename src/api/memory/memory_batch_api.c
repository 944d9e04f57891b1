/* SPDX-License-Identifier: Apache-2.0 */
/* Several operations of the store in one transaction, in their order. */
#include "api/memory/memory_fields.h"
#include "api/resources.h"

enum { OPERATIONS_MAX = 100 };

static const char *const operations[] = {"get", "put", "delete", "search", "namespaces", NULL};
enum operation { OP_GET, OP_PUT, OP_DELETE, OP_SEARCH, OP_NAMESPACES, OP_COUNT };

#define OP_FIELD                                                                            \
    {                                                                                       \
        .name = "op", .kind = FIELD_ENUM, .offset = MEMORY_ASKED(op), .choices = operations \
    }

/* What each operation takes. */
static const struct field get_fields[] = {OP_FIELD, MEMORY_NAMESPACE_FIELD(0), MEMORY_KEY_FIELD(0)};
static const struct field put_fields[] = {
    OP_FIELD, MEMORY_NAMESPACE_FIELD(0), MEMORY_KEY_FIELD(0), MEMORY_VALUE_FIELDS(0)};
static const struct field search_fields[] = {
    OP_FIELD, MEMORY_SEARCH_FIELDS, MEMORY_PAGE_FIELDS(MEMORY_SEARCH_MAX, NULL)};
static const struct field names_fields[] = {
    OP_FIELD, MEMORY_NAMES_FIELDS, MEMORY_PAGE_FIELDS(MEMORY_NAMESPACES_MAX, NULL)};
#define ASK(name, array)                                        \
    {                                                           \
        name, array, COUNT_OF(array), sizeof(struct memory_ask) \
    }
static const struct schema ASKS[OP_COUNT] = {
    [OP_GET] = ASK("a get", get_fields),
    [OP_PUT] = ASK("a put", put_fields),
    [OP_DELETE] = ASK("a delete", get_fields),
    [OP_SEARCH] = ASK("a search", search_fields),
    [OP_NAMESPACES] = ASK("a namespaces", names_fields),
};

/* All of it in one, for the first look and for the OpenAPI document. */
static const struct field any_fields[] = {
    OP_FIELD,
    MEMORY_NAMESPACE_FIELD(FIELD_OPTIONAL),
    MEMORY_KEY_FIELD(FIELD_OPTIONAL),
    MEMORY_VALUE_FIELDS(FIELD_OPTIONAL),
    MEMORY_SEARCH_FIELDS,
    MEMORY_NAMES_FIELDS,
    MEMORY_PAGE_FIELDS(MEMORY_NAMESPACES_MAX, "of a search 10 unless told and 200 at most"),
};
static const struct schema schema_memory_operation = {
    "StoreOperation", any_fields, COUNT_OF(any_fields), sizeof(struct memory_ask), 0};

struct batch_body {
    struct nested_list operations;
};
static const struct field batch_fields[] = {
    {.name = "operations",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct batch_body, operations),
        .min = 1,
        .max = OPERATIONS_MAX,
        .nested = &schema_memory_operation,
        .summary = "carried out in this order; each takes the members of its own route"},
};
const struct schema schema_memory_batch = {
    "StoreBatch", batch_fields, COUNT_OF(batch_fields), sizeof(struct batch_body), 0};

struct batch_answer {
    struct str results;
};
static const struct field answer_fields[] = {
    {.name = "results",
        .kind = FIELD_ARRAY,
        .offset = offsetof(struct batch_answer, results),
        .summary =
            "of a get the item or null, of a put the item, of a delete null, of a search and "
            "of namespaces a page"},
};
const struct schema schema_memory_batch_answer = {
    "StoreBatchAnswer", answer_fields, COUNT_OF(answer_fields), sizeof(struct batch_answer), 0};

/* --- Doing it --------------------------------------------------------------------------------- */

struct operation_ask {
    enum operation op;
    struct str at;
    struct memory_ask ask;
};

static enum operation operation_of(const struct memory_ask *ask)
{
    enum operation op = OP_GET;
    while (op < OP_NAMESPACES && !str_eq(ask->op, str_of(operations[op])))
        op++;
    return op;
}

/* Nothing is done before all of them are well formed. */
static enum error read_operations(struct call *call, struct operation_ask *out)
{
    const struct batch_body *body = call->request.input;
    const struct memory_ask *first_look = body->operations.items;
    struct json list, item;
    enum error e = OK;
    if (!json_get(json_root(&call->request.doc), STR("operations"), &list))
        return ERR_INVALID;
    struct json_iter it = json_iter(list);
    for (size_t i = 0; json_next(&it, NULL, &item); i++) {
        out[i].op = operation_of(&first_look[i]);
        out[i].at = arena_printf(call->arena, "/operations/%zu", i);
        if (schema_decode_at(
                call->arena, &ASKS[out[i].op], out[i].at, item, &out[i].ask, &call->problem) != OK)
            e = ERR_INVALID;
    }
    return e;
}

/* What is not there is no error inside of a batch. */
static enum error if_there(struct context *c, enum error e)
{
    if (e != ERR_NOT_FOUND)
        return e;
    problem_init(c->problem, c->arena);
    return OK;
}

static enum error do_item(struct context *c, const struct operation_ask *o, struct json_writer *w)
{
    struct memory_item item = {0};
    bool is_new;
    enum error e = o->op == OP_PUT      ? memory_do_put(c, &o->ask, o->at, &item, &is_new)
                   : o->op == OP_DELETE ? if_there(c, memory_do_delete(c, &o->ask, o->at))
                                        : if_there(c, memory_do_get(c, &o->ask, o->at, &item));
    if (e == OK && item.version > 0)
        schema_encode(w, &schema_memory_item, &item);
    else
        json_write_null(w);
    return e;
}

/* *looks: what the filters of a request may still look at. */
static enum error do_operation(
    struct context *c, struct operation_ask *o, struct json_writer *w, size_t *looks)
{
    struct memory_page page;
    if (o->op != OP_SEARCH && o->op != OP_NAMESPACES)
        return do_item(c, o, w);
    bool is_search = o->op == OP_SEARCH;
    o->ask.looks = *looks > MEMORY_LOOKS_LEAST ? *looks : MEMORY_LOOKS_LEAST;
    enum error e = is_search ? memory_do_search(c, &o->ask, o->at, &page)
                             : memory_do_names(c, &o->ask, o->at, &page);
    if (e == OK && is_search)
        *looks -= page.looked < *looks ? page.looked : *looks;
    if (e == OK)
        schema_encode(w, is_search ? &schema_memory_found : &schema_memory_found_namespaces, &page);
    return e;
}

/* Two that change the same items in another order would wait for each other. */
static enum error lock_if_many(struct context *c, const struct operation_ask *asks, size_t n)
{
    size_t changes = 0;
    for (size_t i = 0; i < n; i++)
        changes += asks[i].op == OP_PUT || asks[i].op == OP_DELETE;
    return changes > 1 ? context_lock_tenant(c) : OK;
}

enum error handle_memory_batch(struct call *call, struct context *c)
{
    size_t n = ((const struct batch_body *)call->request.input)->operations.count,
           looks = MEMORY_LOOKS_MAX;
    struct operation_ask *asks = ARENA_ARRAY(call->arena, struct operation_ask, n);
    struct json_writer w;
    enum error e = read_operations(call, asks);
    if (e != OK)
        return e;
    e = lock_if_many(c, asks, n);
    if (e != OK)
        return e;
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_key(&w, STR("results"));
    json_write_array(&w);
    /* Each is a moment after the one before it, so that "newest first" is their order too. */
    for (size_t i = 0; e == OK && i < n; i++, c->now_us++)
        e = do_operation(c, &asks[i], &w, &looks);
    if (e != OK)
        return e;
    json_write_end(&w);
    json_write_end(&w);
    return OK;
}
