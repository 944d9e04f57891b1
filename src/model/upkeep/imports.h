/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports in progress. An import commits in slices (archive_import.c), and is complete with its
 * last one. Until then its row holds a lease, which each slice renews, and a record of every object
 * that it has created, added in the transaction of the object. If a slice fails, if the lease ends,
 * or if a server finds the row at its start, the import is undone: the recorded objects are deleted
 * with everything below them, in slices, and then the row. A tenant has at most one import that is
 * in progress or being undone.
 *
 * Content and items of snapshots are not recorded: those that nothing refers to are collected as
 * always. The sweep collects no items of a tenant while it imports, because an item is added before
 * the snapshots that refer to it.
 */
#ifndef MODEL_UPKEEP_IMPORTS_H
#define MODEL_UPKEEP_IMPORTS_H

#include "base/enum.h"
#include "model/context.h"

/* In the order in which they are undone: the references to an object before the object. */
#define IMPORT_KINDS(X)                \
    X(IMPORT_STORE_ITEM, "store_item") \
    X(IMPORT_NOTEBOOK, "notebook")     \
    X(IMPORT_EVAL, "eval")             \
    X(IMPORT_PRICE, "price")           \
    X(IMPORT_THREAD, "thread")         \
    X(IMPORT_AGENT, "agent")
ENUM_DECLARE(import_kind, IMPORT_KIND_NONE, import_kinds, IMPORT_KINDS);

/* An object that an import has created. The columns that do not identify it are "", nil and 0. */
struct import_object {
    enum import_kind kind;
    struct uuid id;
    struct str name;
    struct str key;
    int64_t number;
};

/* Begins the first slice. ERR_UNAVAILABLE if the tenant has an import that is not finished. */
MUST_CHECK enum error import_begin(struct context *c, struct uuid id);
/* Begins a further slice and returns how many were committed; -1: the import is not in progress. */
MUST_CHECK enum error import_continue(struct context *c, struct uuid id, int64_t *out_committed);
MUST_CHECK enum error import_record(
    struct context *c, struct uuid id, const struct import_object *object);
/* In the last slice. */
MUST_CHECK enum error import_complete(struct context *c, struct uuid id);

/* Ends an import if it is in progress: it can only be undone. */
MUST_CHECK enum error import_fail(struct context *c, struct uuid id);
/* Undoes a part of an import that has failed or whose lease has ended, or deletes a part of the
 * records of a complete one. out_more: call again. */
MUST_CHECK enum error import_sweep(struct context *c, struct uuid id, bool *out_more);
MUST_CHECK enum error import_list_due(
    struct context *c, size_t limit, struct owned_id *out_due, size_t *out_count);
/* Returns true while an import adds rows to this tenant. */
MUST_CHECK enum error import_is_adding(struct context *c, struct uuid tenant_id, bool *out_is);
/* At the start of a store with one writer: no process continues the imports that it finds. */
MUST_CHECK enum error import_fail_all(struct context *c);

#endif
