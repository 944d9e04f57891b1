/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: the state of a graph of agents after each step, in one line for each namespace of a
 * thread ("" is the outermost graph). A checkpoint has the values of its channels, stored as a
 * snapshot, their versions, the pending sends, and the writes of finished tasks for its successor.
 * The client chooses the id, or it is a UUIDv7; it is unique in its namespace. sequence_num counts
 * the checkpoints that were put into the thread; the latest has the greatest number.
 *
 * A parent is an earlier checkpoint of the same thread and namespace. Two checkpoints with the same
 * parent fork the line. Pruning always deletes the oldest checkpoints of a namespace, so remaining
 * ones keep their ancestors up to a point, where parent_id becomes null.
 */
#ifndef MODEL_CHECKPOINTS_CHECKPOINTS_H
#define MODEL_CHECKPOINTS_CHECKPOINTS_H

#include "base/hash.h"
#include "model/checkpoints/snapshots.h"
#include "model/context.h"
#include "model/execution/runs.h"
#include "model/threads/threads.h"

enum {
    CHECKPOINT_NAMESPACE_MAX_BYTES = 1000,
    CHECKPOINT_NODE_MAX_BYTES = 200,
    CHECKPOINT_CHANNEL_MAX_BYTES = 1000,
    CHECKPOINT_METADATA_MAX_BYTES = 256 * 1024,
    CHECKPOINT_VERSIONS_MAX_BYTES = 1024 * 1024,
    CHECKPOINT_SENDS_MAX_BYTES = 4 * 1024 * 1024,
    CHECKPOINT_SCAN_MAX = 5000, /* examined for one page with a filter */
    CHECKPOINT_INDEX_MIN = -1000,
    CHECKPOINT_INDEX_MAX = 1000 * 1000,
    CHECKPOINT_TASK_ID_MAX_BYTES = 500,
    CHECKPOINT_TASK_PATH_MAX_BYTES = 4000,
    CHECKPOINT_WRITES_MAX = 1000, /* for one checkpoint */
    CHECKPOINT_WRITES_MAX_BYTES = 8 * 1024 * 1024,
    CHECKPOINT_DELETE_MAX = 200, /* by one request */
    CHECKPOINT_COPY_MAX = 100,
    CHECKPOINT_COPY_MAX_BYTES = 1024 * 1024,
    CHECKPOINT_SKIP_MAX = 1000, /* damaged checkpoints that a recovery skips */
    CHECKPOINT_DELTA_CHANNELS = 100,
    CHECKPOINT_DELTA_MAX = 1000, /* ancestors that one request examines */
    CHECKPOINT_DELTA_MAX_BYTES = 16 * 1024 * 1024,
};

/* JSON is compact text, or STR_NONE if a list left it out. */
struct checkpoint {
    struct uuid id;
    struct uuid thread_id;
    struct str thread_key; /* STR_NONE: the thread has no key */
    struct str ns;
    bool has_parent_id;
    struct uuid parent_id;
    bool has_run_id;
    struct uuid run_id;
    int64_t sequence_num;
    struct uuid snapshot_id;
    struct str channel_values;
    struct str channel_versions;
    struct str versions_seen;
    struct str pending_sends;
    struct str metadata;
    struct str node;
    struct str pending_writes; /* [{task_id, task_path, index, channel, value}] */
    int64_t size_bytes;        /* of channel_values */
    int64_t created_at;
};

/* The documents to read besides the members that every list has. */
enum checkpoint_show {
    CHECKPOINT_HEAD = 0,
    CHECKPOINT_VALUES = 1 << 0, /* channel_values, channel_versions, versions_seen, pending_sends */
    CHECKPOINT_WRITES = 1 << 1, /* pending_writes */
    CHECKPOINT_WHOLE = CHECKPOINT_VALUES | CHECKPOINT_WRITES,
};

/* --- Queries -------------------------------------------------------------------------------- */

/* ns STR_NONE: the outermost namespace that has the checkpoint. */
MUST_CHECK enum error checkpoint_get(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, unsigned show, struct checkpoint *out_checkpoint);
/* ERR_NOT_FOUND if there is no checkpoint. */
MUST_CHECK enum error checkpoint_latest(struct context *c, struct uuid thread_id, struct str ns,
    unsigned show, struct checkpoint *out_checkpoint);

/* A position in a list: behind this checkpoint. */
struct checkpoint_mark {
    int64_t sequence_num; /* 0: begins with the newest */
    /* For the list of all threads. */
    int64_t created_at;
    struct uuid thread_id;
};

struct checkpoint_filter {
    bool of_all; /* all threads of the tenant */
    struct uuid thread_id;
    struct str ns; /* STR_NONE: all */
    bool has_run_id;
    struct uuid run_id;
    bool has_before_id;
    struct uuid before_id;
    bool has_id_before; /* checkpoints with smaller ids; this id need not exist */
    struct uuid id_before;
    struct checkpoint_mark before;
    bool has_from;
    int64_t from; /* only checkpoints put at or after this time */
    bool has_to;
    int64_t to; /* only checkpoints put before this time */
    struct str metadata_keys[THREAD_METADATA_FILTERS];
    struct str metadata_values[THREAD_METADATA_FILTERS];
    unsigned show;
};
struct checkpoint_page {
    struct page page;
    struct checkpoint *checkpoints; /* room for page.limit */
    struct checkpoint_mark next;    /* where the next page begins, if there is more */
};
/* Newest first: by number for one thread, by time for all threads. A page ends at its limit, at
 * PAGE_MAX_BYTES or, with a filter that has no index (metadata, smaller ids, a namespace in all
 * threads), after CHECKPOINT_SCAN_MAX checkpoints were examined. */
MUST_CHECK enum error checkpoint_list(
    struct context *c, const struct checkpoint_filter *filter, struct checkpoint_page *page);

/* --- Put ------------------------------------------------------------------------------------ */

struct checkpoint_put {
    bool has_id;
    bool knows_parent; /* else the parent is the expected latest, or the latest of the run or
                          namespace */
    /* The latest must be this checkpoint (has_expected false: there must be none). */
    bool expects_latest;
    bool has_expected;
    struct uuid expected;
    /* STR_NONE: the values are those of the parent with `change` applied. */
    struct str values;
    struct snapshot_change change;
    /* Only channels with an unchanged version are inherited from the parent. */
    bool by_versions;
    bool may_replace; /* an existing checkpoint with this id */
    bool is_unfenced; /* Cairn itself puts the checkpoint */
};
/*
 * Puts the checkpoint that `checkpoint` describes: thread_id, ns, id, parent_id, run_id,
 * channel_versions, versions_seen, pending_sends, metadata and node; sets its other members.
 * Putting the same checkpoint again succeeds with out_is_new false. Another content for an existing
 * id is ERR_CONFLICT unless may_replace. If the latest is not the expected one, ERR_CONFLICT names
 * it.
 */
MUST_CHECK enum error checkpoint_put(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *checkpoint, bool *out_is_new);

struct checkpoint_write {
    struct str channel;
    struct str value; /* compact JSON */
    int64_t index;
};
struct checkpoint_task {
    struct str task_id;
    struct str task_path;
    bool is_ahead; /* the checkpoint need not exist yet */
};
/* Adds the writes of one task. The first write of an index wins; negative ones are overwritten. */
MUST_CHECK enum error checkpoint_put_writes(struct context *c, const struct checkpoint *checkpoint,
    const struct checkpoint_task *task, const struct checkpoint_write *writes, size_t n,
    int64_t *out_written);
/* The writes for a checkpoint, which need not exist yet. */
MUST_CHECK enum error checkpoint_list_writes(struct context *c, struct uuid thread_id,
    struct str ns, struct uuid id, struct str *out_writes);

/* --- The history of channels ---------------------------------------------------------------- */

struct checkpoint_deltas {
    struct checkpoint checkpoint; /* without documents: the one whose ancestors were examined */
    /* {channel: {writes: [{checkpoint_id, task_id, index, channel, value}], seed}}: for each
     * channel the writes along the line of parents, oldest first, since the nearest ancestor with a
     * value of the channel, the seed. There is no seed if no ancestor has a value. */
    struct str channels;
    int64_t looked_at;
    /* A limit was reached at this ancestor; channels without a seed continue behind it. */
    bool has_next;
    struct uuid next;
};
MUST_CHECK enum error checkpoint_deltas(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, const struct str *channels, size_t n, struct checkpoint_deltas *out_deltas);

/* --- Delete and prune ----------------------------------------------------------------------- */

struct checkpoint_removed {
    int64_t count;
    bool more; /* than one request removes */
};
/* Deletes all checkpoints of the thread, or of one namespace (STR_NONE: all), with their writes. */
MUST_CHECK enum error checkpoint_delete_all(struct context *c, struct uuid thread_id, struct str ns,
    struct checkpoint_removed *out_removed);

struct checkpoint_prune {
    struct str ns;       /* STR_NONE: all */
    int64_t keep_latest; /* in each namespace, at least 1 */
    bool has_older_than;
    int64_t older_than; /* only checkpoints that were put before this time */
};
/* Deletes the oldest checkpoints first. */
MUST_CHECK enum error checkpoint_prune(struct context *c, struct uuid thread_id,
    const struct checkpoint_prune *prune, struct checkpoint_removed *out_removed);

/* --- Copy, compare, recover, replay ---------------------------------------------------------- */

/* Copies the checkpoints that the other thread does not have, oldest first, with their writes. The
 * copies have no run. */
MUST_CHECK enum error checkpoint_copy(struct context *c, struct uuid from_thread_id,
    struct uuid to_thread_id, struct checkpoint_removed *out_copied);

struct checkpoint_diff {
    struct checkpoint from; /* without documents */
    struct checkpoint to;
    struct str channels; /* [{channel, change, from_version, to_version}]: the differences */
    struct str patch;    /* RFC 6902: changes the values of `from` to those of `to` */
};
MUST_CHECK enum error checkpoint_diff(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid from_id, struct uuid to_id, struct checkpoint_diff *out_diff);

struct checkpoint_place {
    struct uuid thread_id;
    struct str ns;
    bool has_run_id; /* the latest checkpoint of this run */
    struct uuid run_id;
    bool has_id; /* this checkpoint; ns STR_NONE: any namespace */
    struct uuid id;
};
struct checkpoint_recovery {
    struct checkpoint checkpoint; /* whole */
    struct str skipped;           /* [{checkpoint_id, reason}], newest first */
    struct str warnings;          /* [{channel, detail}] */
};
/* Returns the latest checkpoint of the place, or its nearest ancestor whose values are undamaged.
 * ERR_DAMAGED if there is none. */
MUST_CHECK enum error checkpoint_recover(struct context *c, const struct checkpoint_place *place,
    struct checkpoint_recovery *out_recovery);

struct checkpoint_replay {
    struct uuid id;
    struct str ns;       /* STR_NONE: any namespace */
    struct str modified; /* an object whose members replace values, or STR_NONE */
    enum run_policy policy;
    enum run_dispatch dispatch;
};
/* Creates a run like `run` that begins with a checkpoint of its own, whose parent is this one. */
MUST_CHECK enum error checkpoint_replay(struct context *c, const struct run *run,
    const struct checkpoint_replay *replay, struct run *out_run, struct checkpoint *out_checkpoint);

#endif
