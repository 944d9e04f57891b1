/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots: JSON documents of a thread, each as it was at one moment, kept for what changed.
 *
 * A document is cut into items: each member of an object, and each element of an array that is such
 * a member (a list of messages into its messages), is stored once in its tenant, by SHA-256. A
 * snapshot is a manifest that names its items, either all of them or what differs from another
 * snapshot of the same thread, its base; every SNAPSHOT_DEPTH_MAX one is whole. A snapshot never
 * changes. Its hash is over the document's structure and the hashes of its items (manifest.h), so
 * equal documents have equal ones; what does not have its hash any more is not shown.
 *
 * Whoever has a row with a snapshot's id drops the snapshot when the row goes (snapshot_drop),
 * except with the whole thread. Others that build on one keep what they need of it. Items that
 * nothing refers to any more are collected by the sweep.
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

/* What is known of one without reading its items. */
struct snapshot {
    struct uuid id;
    struct uuid thread_id;
    struct sha256 sha256; /* equal for equal documents, and only for them */
    int64_t size_bytes;
    int64_t created_at;
};

/*
 * Stores `document` (text of any JSON value) as a snapshot of the thread. With a base (the nil id:
 * none), which must be a snapshot of the same thread, what both have costs nothing. The thread is
 * locked.
 */
MUST_CHECK enum error snapshot_put(struct context *c, struct uuid thread_id, struct uuid base_id,
    struct str document, struct snapshot *out_snapshot);

/*
 * The same for a change of the base, without the whole: `set` (compact JSON object; STR_NONE: none)
 * has members that replace those of the base, `append` members whose elements go to the end of the
 * base's arrays (an absent one counts as empty), `remove` the names of members that go, if they are
 * there; no member is in two of them. With `keeps_some` of the base's members only those named in
 * `keep` are there at first. The base is an object; the nil id is one without members. A fault
 * names `pointer` and what is below it: POINTER/append/NAME. Costs what changes: no item of the
 * base is read.
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

/* The document, compact. ERR_DAMAGED when an item or the manifest is not what it was. */
MUST_CHECK enum error snapshot_get(struct context *c, struct uuid id, struct str *out_document);
/* One member of a document that is an object; STR_NONE when it has none of this name. */
MUST_CHECK enum error snapshot_get_member(
    struct context *c, struct uuid id, struct str name, struct str *out_value);
/* The same for several; out_values has room for each of the names. */
MUST_CHECK enum error snapshot_get_members(
    struct context *c, struct uuid id, const struct str *names, size_t n, struct str *out_values);
MUST_CHECK enum error snapshot_get_head(
    struct context *c, struct uuid id, struct snapshot *out_snapshot);

/* Nothing refers to it any more: it is gone. One that is not there is none either. The thread is
 * locked. */
MUST_CHECK enum error snapshot_drop(struct context *c, struct uuid id);
/* The thread is about to be deleted, and what refers to its snapshots with it. */
MUST_CHECK enum error snapshot_discard_thread(struct context *c, struct uuid thread_id);
/* A tenant is about to be deleted: what refers to its items goes before them. */
MUST_CHECK enum error snapshot_delete_tenant(struct context *c, struct uuid tenant_id);

#endif
