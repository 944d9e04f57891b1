/* SPDX-License-Identifier: Apache-2.0 */
/* Several operations of the store in one transaction, in their order. */
#include "api/handlers.h"
#include "api/http/access.h"
#include "api/memory/memory_fields.h"

enum { OPERATIONS_MAX = 100 };

static const struct schema operation_schemas[] = {
    SCHEMA("a get", struct memory_ask, memory_ask_fields, IN_OPERATION | IN_GET),
    SCHEMA("a put", struct memory_ask, memory_ask_fields, IN_OPERATION | IN_PUT),
    SCHEMA("a delete", struct memory_ask, memory_ask_fields, IN_OPERATION | IN_GET),
    SCHEMA("a search", struct memory_ask, memory_ask_fields, IN_OPERATION | IN_SEARCH),
    SCHEMA("a namespaces", struct memory_ask, memory_ask_fields, IN_OPERATION | IN_NAMES),
};
static const struct schema schema_memory_operation = {.name = "StoreOperation",
    .fields = memory_ask_fields,
    .n_fields = MEMORY_ASK_FIELDS,
    .struct_bytes = sizeof(struct memory_ask),
    .in = IN_OPERATION | IN_ANY_OPERATION,
    .variants = operation_schemas};

struct batch_body {
    struct nested_list operations;
};
#define OF struct batch_body
static const struct field batch_fields[] = {
    FIELD(LIST, operations, IN_BODY,
        "executed in this order; each has the members of the corresponding route", .min = 1,
        .max = OPERATIONS_MAX, .nested = &schema_memory_operation),
};
#undef OF
const struct schema schema_memory_batch =
    SCHEMA("StoreBatch", struct batch_body, batch_fields, IN_BODY);

struct batch_answer {
    struct str results;
};
#define OF struct batch_answer
static const struct field answer_fields[] = {
    FIELD(ARRAY, results, IN_READ,
        "get: the item or null; put: the item; delete: null; search and namespaces: a page"),
};
#undef OF
const struct schema schema_memory_batch_answer =
    SCHEMA("StoreBatchAnswer", struct batch_answer, answer_fields, IN_READ);

/* --- Carrying out -------------------------------------------------------------------------- */

/* A missing item is no error inside a batch. */
static enum error if_there(struct context *c, enum error e)
{
    if (e != ERR_NOT_FOUND)
        return e;
    problem_init(c->problem, c->arena);
    return OK;
}

static enum error do_item(
    struct context *c, const struct memory_ask *ask, struct str at, struct json_writer *w)
{
    struct memory_item item = {0};
    bool is_new;
    enum error e = ask->op == MEMORY_PUT      ? memory_do_put(c, ask, at, &item, &is_new)
                   : ask->op == MEMORY_DELETE ? if_there(c, memory_do_delete(c, ask, at))
                                              : if_there(c, memory_do_get(c, ask, at, &item));
    if (e == OK && item.version > 0)
        schema_encode(w, &schema_memory_item, &item);
    else
        json_write_null(w);
    return e;
}

/* `looks` is the number of items that the filters of the request may still read. */
static enum error do_operation(
    struct context *c, struct memory_ask ask, struct str at, struct json_writer *w, size_t *looks)
{
    struct memory_page page;
    if (ask.op != MEMORY_SEARCH && ask.op != MEMORY_NAMES)
        return do_item(c, &ask, at, w);
    bool is_search = ask.op == MEMORY_SEARCH;
    ask.looks = *looks > MEMORY_LOOKS_LEAST ? *looks : MEMORY_LOOKS_LEAST;
    TRY(is_search ? memory_do_search(c, &ask, at, &page) : memory_do_names(c, &ask, at, &page));
    if (is_search)
        *looks -= page.looked < *looks ? page.looked : *looks;
    schema_encode(w, is_search ? &schema_memory_found : &schema_memory_found_namespaces, &page);
    return OK;
}

static bool is_change(const struct memory_ask *ask)
{
    return ask->op == MEMORY_PUT || ask->op == MEMORY_DELETE;
}

static size_t count_changes(const struct memory_ask *asks, size_t n)
{
    size_t changes = 0;
    for (size_t i = 0; i < n; i++)
        changes += is_change(&asks[i]);
    return changes;
}

bool memory_batch_only_reads(const struct call *call)
{
    const struct nested_list *list = &((const struct batch_body *)call->request.input)->operations;
    return count_changes(list->items, list->count) == 0;
}

/* Searches take long, and the writer is shared by all tenants. */
static enum error check_searches(struct call *call, const struct memory_ask *asks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (asks[i].op == MEMORY_SEARCH || asks[i].op == MEMORY_NAMES)
            return problem_fault(&call->problem, arena_printf(call->arena, "/operations/%zu/op", i),
                "must not search in a batch that changes items: send searches in a batch of their "
                "own");
    return OK;
}

enum error handle_memory_batch(struct call *call, struct context *c)
{
    const struct nested_list *list = &((const struct batch_body *)call->request.input)->operations;
    const struct memory_ask *asks = list->items;
    size_t looks = MEMORY_LOOKS_MAX, changes = count_changes(asks, list->count);
    struct json_writer w;
    if (changes < list->count)
        TRY(access_require_scope(call, SCOPE_STORE_READ));
    if (changes > 0)
        TRY(check_searches(call, asks, list->count));
    /* Two batches that change the same items in a different order would wait for each other. */
    if (changes > 1)
        TRY(context_lock_tenant(c));
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_key(&w, STR("results"));
    json_write_array(&w);
    /* Each operation has a later time than the one before, so that "newest first" is their order.
     */
    for (size_t i = 0; i < list->count; i++, c->now_us++)
        TRY(do_operation(c, asks[i], arena_printf(call->arena, "/operations/%zu", i), &w, &looks));
    json_write_end(&w);
    json_write_end(&w);
    return OK;
}
