/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: JSON documents of a thread at one moment each, stored by their differences.
 *
 * A document is cut into items: each member of an object, and each element of an array that is such
 * a member (a list of messages into its messages), is stored once per tenant, by SHA-256. A
 * snapshot is a manifest of its items: either all of them, or the difference from another snapshot
 * of the same thread, its base. At most SNAPSHOT_DEPTH_MAX snapshots form a chain. A snapshot never
 * changes. Its hash covers the structure of the document and the hashes of its items (manifest.h),
 * so equal documents have equal hashes. A document that no longer has its hash is not returned.
 *
 * The owner of a row with the id of a snapshot drops the snapshot with the row (snapshot_drop),
 * unless the whole thread is deleted. Snapshots that build on a dropped one keep the parts that
 * they need. The sweep deletes items without references.
 */
#ifndef MODEL_CHECKPOINTS_SNAPSHOTS_H
#define MODEL_CHECKPOINTS_SNAPSHOTS_H

#include "base/hash.h"
#include "base/json/json.h"
#include "model/context.h"

enum {
    SNAPSHOT_MAX_BYTES = 8 * 1024 * 1024, /* of one document */
    SNAPSHOT_MAX_ITEMS = 100000,
    SNAPSHOT_DEPTH_MAX = 64,
};

/* A snapshot without its items. */
struct snapshot {
    struct uuid id;
    struct uuid thread_id;
    struct sha256 sha256; /* equal for equal documents only */
    int64_t size_bytes;
    int64_t created_at;
};

/*
 * Stores `document` (text of any JSON value) as a snapshot of the thread. The base (the nil id:
 * none) must be a snapshot of the same thread; parts that both have are not stored again. The
 * thread is locked.
 */
MUST_CHECK enum error snapshot_put(struct context *c, struct uuid thread_id, struct uuid base_id,
    struct str document, struct snapshot *out_snapshot);

/*
 * Stores the base with a change, without the whole document. `set` (a compact JSON object, or
 * STR_NONE) has members that replace those of the base, `append` has members whose elements are
 * added to the arrays of the base (an absent array counts as empty), `remove` has the names of
 * members to delete if they exist; no member may be in two of them. With `keeps_some` only the
 * members of the base that `keep` names are inherited. The base is an object; the nil id is an
 * empty object. A fault names a position below `pointer`: POINTER/append/NAME. The cost is that of
 * the change: no item of the base is read.
 */
struct snapshot_change {
    struct str set;
    struct str append;
    const struct str *remove;
    size_t n_remove;
    bool keeps_some;
    const struct str *keep;
    size_t n_keep;
};
MUST_CHECK enum error snapshot_change(struct context *c, struct uuid thread_id, struct uuid base_id,
    const struct snapshot_change *change, struct str pointer, struct snapshot *out_snapshot);

/* Returns the compact document. ERR_DAMAGED if an item or the manifest is damaged. */
MUST_CHECK enum error snapshot_get(struct context *c, struct uuid id, struct str *out_document);
/* Returns one member of a document that is an object, or STR_NONE if it does not exist. */
MUST_CHECK enum error snapshot_get_member(
    struct context *c, struct uuid id, struct str name, struct str *out_value);
/* The same for several members; out_values has room for n values. */
MUST_CHECK enum error snapshot_get_members(
    struct context *c, struct uuid id, const struct str *names, size_t n, struct str *out_values);
MUST_CHECK enum error snapshot_get_head(
    struct context *c, struct uuid id, struct snapshot *out_snapshot);

/* Deletes a snapshot to which no row refers any more; one that does not exist is no error. The
 * thread is locked. */
MUST_CHECK enum error snapshot_drop(struct context *c, struct uuid id);
/* Before a thread is deleted, together with all rows that refer to its snapshots. */
MUST_CHECK enum error snapshot_discard_thread(struct context *c, struct uuid thread_id);

#endif
