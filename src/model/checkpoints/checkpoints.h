/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: the state of a graph of agents after each step, one line of them in each namespace
 * of a thread ("" is the outermost graph). A checkpoint has the values of its channels, kept as a
 * snapshot; their versions; what is to be sent next; and towards its successor the writes of tasks
 * that are done. Its id is the client's or a UUIDv7, and is unique in its namespace. Numbers
 * (sequence_num) count what was put into the thread; the latest is the one with the greatest.
 *
 * A parent is a checkpoint of the same thread and namespace that was put before. Two may have the
 * same one: the line forks. What is pruned are always the oldest of a namespace, so that whatever
 * stays has its ancestors up to a point, where parent_id becomes null.
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
    CHECKPOINT_SCAN_MAX = 5000, /* looked at for one page when there is a filter */
    CHECKPOINT_INDEX_MIN = -1000,
    CHECKPOINT_INDEX_MAX = 1000 * 1000,
    CHECKPOINT_TASK_ID_MAX_BYTES = 500,
    CHECKPOINT_TASK_PATH_MAX_BYTES = 4000,
    CHECKPOINT_WRITES_MAX = 1000, /* of one checkpoint */
    CHECKPOINT_WRITES_MAX_BYTES = 8 * 1024 * 1024,
    CHECKPOINT_DELETE_MAX = 500, /* by one request */
    CHECKPOINT_COPY_MAX = 200,
    CHECKPOINT_COPY_MAX_BYTES = 32 * 1024 * 1024,
    CHECKPOINT_SKIP_MAX = 1000, /* damaged ones that a recovery goes past */
    CHECKPOINT_DELTA_CHANNELS = 100,
    CHECKPOINT_DELTA_MAX = 1000, /* ancestors that one request looks at */
    CHECKPOINT_DELTA_MAX_BYTES = 16 * 1024 * 1024,
};

/* JSON is compact text; STR_NONE where the list left it out. */
struct checkpoint {
    struct uuid id;
    struct uuid thread_id;
    struct str thread_key; /* STR_NONE: the thread has none */
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

/* What to show besides what every list shows. */
enum checkpoint_show {
    CHECKPOINT_HEAD = 0,
    CHECKPOINT_VALUES = 1 << 0, /* channel_values, channel_versions, versions_seen, pending_sends */
    CHECKPOINT_WRITES = 1 << 1, /* pending_writes */
    CHECKPOINT_WHOLE = CHECKPOINT_VALUES | CHECKPOINT_WRITES,
};

/* --- Queries -------------------------------------------------------------------------------- */

/* ns STR_NONE: of any namespace; the outermost one that has it. */
MUST_CHECK enum error checkpoint_get(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, unsigned show, struct checkpoint *out_checkpoint);
/* ERR_NOT_FOUND when there is none. */
MUST_CHECK enum error checkpoint_latest(struct context *c, struct uuid thread_id, struct str ns,
    unsigned show, struct checkpoint *out_checkpoint);

/* A place in a list: behind this one. */
struct checkpoint_mark {
    int64_t sequence_num; /* 0: from the newest */
    /* Of the list of all threads. */
    int64_t created_at;
    struct uuid thread_id;
};

struct checkpoint_filter {
    bool of_all; /* threads of the tenant */
    struct uuid thread_id;
    struct str ns; /* STR_NONE: all */
    bool has_run_id;
    struct uuid run_id;
    bool has_before_id;
    struct uuid before_id;
    bool has_id_before; /* those with smaller ids; nobody need have this one */
    struct uuid id_before;
    struct checkpoint_mark before;
    struct str metadata_keys[THREAD_METADATA_FILTERS];
    struct str metadata_values[THREAD_METADATA_FILTERS];
    unsigned show;
};
struct checkpoint_page {
    struct page page;
    struct checkpoint *checkpoints; /* room for page.limit */
    struct checkpoint_mark next;    /* where the next page begins, when there is more */
};
/* Newest first: of a thread by number, of all by time. A page ends at `limit`, PAGE_MAX_BYTES, or,
 * with a filter that no index answers (metadata, smaller ids, the namespace among all threads),
 * once CHECKPOINT_SCAN_MAX were looked at. */
MUST_CHECK enum error checkpoint_list(
    struct context *c, const struct checkpoint_filter *filter, struct checkpoint_page *page);

/* --- Put ------------------------------------------------------------------------------------ */

struct checkpoint_put {
    bool has_id;
    bool knows_parent; /* else it is the expected latest, that of the run, or of the namespace */
    /* The latest must be this one (has_expected false: there must be none). */
    bool expects_latest;
    bool has_expected;
    struct uuid expected;
    /* STR_NONE: `change` of the parent's values. */
    struct str values;
    struct snapshot_change change;
    /* The change takes over from the parent only channels that have kept their version. */
    bool by_versions;
    bool may_replace; /* another one of this id */
    bool is_unfenced; /* Cairn's own */
};
/*
 * Puts what `checkpoint` describes: thread_id, ns, id, parent_id, run_id, channel_versions,
 * versions_seen, pending_sends, metadata and node; fills in the rest of it. The same once more is
 * harmless, out_is_new false; another content under an id that is there is ERR_CONFLICT, unless it
 * may be replaced. ERR_CONFLICT when the latest is not the expected one; it is named.
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
    bool is_ahead; /* the checkpoint may be yet to come */
};
/* Of one task. The first to write an index wins; negative ones are written over. */
MUST_CHECK enum error checkpoint_put_writes(struct context *c, const struct checkpoint *checkpoint,
    const struct checkpoint_task *task, const struct checkpoint_write *writes, size_t n,
    int64_t *out_written);
/* Of a checkpoint that is there, or is yet to come. */
MUST_CHECK enum error checkpoint_list_writes(struct context *c, struct uuid thread_id,
    struct str ns, struct uuid id, struct str *out_writes);

/* --- The history of channels ---------------------------------------------------------------- */

struct checkpoint_deltas {
    struct checkpoint checkpoint; /* a head: the one whose ancestors were looked at */
    /* {channel: {writes: [{checkpoint_id, task_id, index, channel, value}], seed}}: of each channel
     * what tasks wrote on the line of parents, oldest first, from the nearest ancestor that has a
     * value of it, the seed; there is none where no ancestor has. */
    struct str channels;
    int64_t looked_at;
    /* The bounds were met at this ancestor, and channels without a seed go on behind it. */
    bool has_next;
    struct uuid next;
};
MUST_CHECK enum error checkpoint_deltas(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid id, const struct str *channels, size_t n, struct checkpoint_deltas *out_deltas);

/* --- What goes ------------------------------------------------------------------------------ */

struct checkpoint_removed {
    int64_t count;
    bool more; /* that one request does not remove */
};
/* All of the thread, or of one namespace (STR_NONE: all), with their writes. */
MUST_CHECK enum error checkpoint_delete_all(struct context *c, struct uuid thread_id, struct str ns,
    struct checkpoint_removed *out_removed);

struct checkpoint_prune {
    struct str ns;       /* STR_NONE: all */
    int64_t keep_latest; /* of each namespace, at least 1 */
    bool has_older_than;
    int64_t older_than; /* only what was put before this time */
};
/* The oldest first. */
MUST_CHECK enum error checkpoint_prune(struct context *c, struct uuid thread_id,
    const struct checkpoint_prune *prune, struct checkpoint_removed *out_removed);

/* --- Copy, compare, recover, replay ---------------------------------------------------------- */

/* Those that the other thread does not have, oldest first, with their writes; of no run there. */
MUST_CHECK enum error checkpoint_copy(struct context *c, struct uuid from_thread_id,
    struct uuid to_thread_id, struct checkpoint_removed *out_copied);

struct checkpoint_diff {
    struct checkpoint from; /* heads */
    struct checkpoint to;
    struct str channels; /* [{channel, change, from_version, to_version}] that differ */
    struct str patch;    /* RFC 6902: what makes the values of one those of the other */
};
MUST_CHECK enum error checkpoint_diff(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid from_id, struct uuid to_id, struct checkpoint_diff *out_diff);

struct checkpoint_place {
    struct uuid thread_id;
    struct str ns;
    bool has_run_id; /* the latest of this run */
    struct uuid run_id;
    bool has_id; /* this one; ns STR_NONE: of any namespace */
    struct uuid id;
};
struct checkpoint_recovery {
    struct checkpoint checkpoint; /* whole */
    struct str skipped;           /* [{checkpoint_id, reason}], newest first */
    struct str warnings;          /* [{channel, detail}] */
};
/* The latest of the place, or else its nearest ancestor whose values are what was put. ERR_DAMAGED
 * when there is none. */
MUST_CHECK enum error checkpoint_recover(struct context *c, const struct checkpoint_place *place,
    struct checkpoint_recovery *out_recovery);

struct checkpoint_replay {
    struct uuid id;
    struct str ns;       /* STR_NONE: of any namespace */
    struct str modified; /* an object whose members replace values; STR_NONE: none */
    enum run_policy policy;
    enum run_dispatch dispatch;
};
/* A new run of the thread, as `run` was, that begins with a checkpoint of its own upon this one. */
MUST_CHECK enum error checkpoint_replay(struct context *c, const struct run *run,
    const struct checkpoint_replay *replay, struct run *out_run, struct checkpoint *out_checkpoint);

#endif
