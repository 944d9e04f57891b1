/* SPDX-License-Identifier: Apache-2.0 */
/* What is done with checkpoints once they are there: by thread, and by the run that put them. */
#include "api/checkpoints/checkpoint_fields.h"
#include "api/execution/run_path.h"
#include "api/resources.h"
#include "model/checkpoints/checkpoints.h"

/* --- What goes ------------------------------------------------------------------------------ */

struct namespace_query {
    struct str ns;
};
static const struct field namespace_fields[] = {
    {.name = "namespace",
        .kind = FIELD_STRING,
        .offset = offsetof(struct namespace_query, ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "only this one; empty: the outermost graph"},
};
const struct schema query_checkpoint_delete = {"CheckpointDeleteQuery", namespace_fields,
    COUNT_OF(namespace_fields), sizeof(struct namespace_query), 0};

static const struct field removed_fields[] = {
    {.name = "pruned", .kind = FIELD_INT, .offset = offsetof(struct checkpoint_removed, count)},
    {.name = "more",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct checkpoint_removed, more),
        .summary = "there are others to go: ask again"},
};
const struct schema schema_checkpoint_pruned = {"CheckpointsPruned", removed_fields,
    COUNT_OF(removed_fields), sizeof(struct checkpoint_removed), 0};

enum error handle_checkpoint_delete(struct call *call, struct context *c)
{
    const struct namespace_query *q = call->request.query;
    struct checkpoint_removed removed;
    enum error e = checkpoint_delete_all(c, call->request.params[0], q->ns, &removed);
    if (e == OK)
        call_answer(call, &schema_checkpoint_pruned, &removed, 0);
    return e;
}

struct prune_body {
    struct str ns;
    bool has_keep_latest;
    int64_t keep_latest;
    bool has_older_than;
    int64_t older_than;
    bool has_older_than_s;
    int64_t older_than_s;
};
enum { KEEP_MAX = 1000 * 1000, AGE_MAX_S = 1000 * 366 * 86400LL };
#define PRUNE_FIELD(member) offsetof(struct prune_body, member)
static const struct field prune_fields[] = {
    {.name = "keep_latest",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = PRUNE_FIELD(keep_latest),
        .has_offset = PRUNE_FIELD(has_keep_latest),
        .min = 1,
        .max = KEEP_MAX,
        .summary = "how many stay in each namespace; 1 unless given"},
    {.name = "older_than",
        .kind = FIELD_TIME,
        .flags = FIELD_OPTIONAL,
        .offset = PRUNE_FIELD(older_than),
        .has_offset = PRUNE_FIELD(has_older_than),
        .summary = "only what was put before this time"},
    {.name = "older_than_s",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = PRUNE_FIELD(older_than_s),
        .has_offset = PRUNE_FIELD(has_older_than_s),
        .min = 0,
        .max = AGE_MAX_S,
        .summary = "the same as an age in seconds"},
    {.name = "namespace",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = PRUNE_FIELD(ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "only this one"},
};
const struct schema schema_checkpoint_prune = {
    "CheckpointPrune", prune_fields, COUNT_OF(prune_fields), sizeof(struct prune_body), 0};

enum error handle_checkpoint_prune(struct call *call, struct context *c)
{
    const struct prune_body *body = call->request.input;
    struct checkpoint_removed removed;
    if (!body->has_keep_latest && !body->has_older_than && !body->has_older_than_s)
        return problem_fault(
            &call->problem, STR("/keep_latest"), "must be given, or older_than or older_than_s");
    if (body->has_older_than && body->has_older_than_s)
        return problem_fault(
            &call->problem, STR("/older_than_s"), "cannot be given together with older_than");
    struct checkpoint_prune prune = {.ns = body->ns,
        .keep_latest = body->has_keep_latest ? body->keep_latest : 1,
        .has_older_than = body->has_older_than || body->has_older_than_s,
        .older_than =
            body->has_older_than ? body->older_than : c->now_us - body->older_than_s * 1000000};
    enum error e = checkpoint_prune(c, call->request.params[0], &prune, &removed);
    if (e == OK)
        call_answer(call, &schema_checkpoint_pruned, &removed, 0);
    return e;
}

/* --- Copy ----------------------------------------------------------------------------------- */

struct copy_body {
    struct uuid to_thread_id;
};
static const struct field copy_fields[] = {
    {.name = "to_thread_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct copy_body, to_thread_id)},
};
const struct schema schema_checkpoint_copy = {
    "CheckpointCopy", copy_fields, COUNT_OF(copy_fields), sizeof(struct copy_body), 0};
static const struct field copied_fields[] = {
    {.name = "copied", .kind = FIELD_INT, .offset = offsetof(struct checkpoint_removed, count)},
    {.name = "more",
        .kind = FIELD_BOOL,
        .offset = offsetof(struct checkpoint_removed, more),
        .summary = "there are others to copy: ask again"},
};
const struct schema schema_checkpoint_copied = {"CheckpointsCopied", copied_fields,
    COUNT_OF(copied_fields), sizeof(struct checkpoint_removed), 0};

enum error handle_checkpoint_copy(struct call *call, struct context *c)
{
    const struct copy_body *body = call->request.input;
    struct checkpoint_removed copied;
    enum error e = checkpoint_copy(c, call->request.params[0], body->to_thread_id, &copied);
    if (e == OK)
        call_answer(call, &schema_checkpoint_copied, &copied, 0);
    return e;
}

/* --- Compare -------------------------------------------------------------------------------- */

#define DIFF_FIELD(member) offsetof(struct checkpoint_diff, member)
static const struct field diff_fields[] = {
    {.name = "from_id", .kind = FIELD_UUID, .offset = DIFF_FIELD(from.id)},
    {.name = "to_id", .kind = FIELD_UUID, .offset = DIFF_FIELD(to.id)},
    {.name = "channels",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = DIFF_FIELD(channels),
        .summary = "[{channel, change, from_version, to_version}]; added, removed or changed"},
    {.name = "patch",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = DIFF_FIELD(patch),
        .summary = "a JSON Patch (RFC 6902) that makes the values of one those of the other"},
};
const struct schema schema_checkpoint_diff = {
    "CheckpointDiff", diff_fields, COUNT_OF(diff_fields), sizeof(struct checkpoint_diff), 0};

enum error handle_checkpoint_diff(struct call *call, struct context *c)
{
    const struct namespace_query *q = call->request.query;
    struct checkpoint_diff diff;
    enum error e = checkpoint_diff(
        c, call->request.params[0], q->ns, call->request.params[1], call->request.params[2], &diff);
    if (e == OK)
        call_answer(call, &schema_checkpoint_diff, &diff, 0);
    return e;
}

/* --- Recover -------------------------------------------------------------------------------- */

struct recovery_query {
    bool has_id;
    struct uuid id;
    struct str ns;
};
static const struct field recovery_query_fields[] = {
    {.name = "checkpoint_id",
        .kind = FIELD_UUID,
        .offset = offsetof(struct recovery_query, id),
        .has_offset = offsetof(struct recovery_query, has_id),
        .summary = "this one, or an ancestor of it; the latest unless given"},
    {.name = "namespace",
        .kind = FIELD_STRING,
        .offset = offsetof(struct recovery_query, ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "the outermost graph unless given"},
};
const struct schema query_recovery = {"RecoveryQuery", recovery_query_fields,
    COUNT_OF(recovery_query_fields), sizeof(struct recovery_query), 0};

#define RECOVERY_FIELD(member) offsetof(struct checkpoint_recovery, member)
static const struct field recovery_fields[] = {
    {.name = "checkpoint_id", .kind = FIELD_UUID, .offset = RECOVERY_FIELD(checkpoint.id)},
    {.name = "namespace", .kind = FIELD_STRING, .offset = RECOVERY_FIELD(checkpoint.ns)},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = RECOVERY_FIELD(checkpoint.run_id),
        .has_offset = RECOVERY_FIELD(checkpoint.has_run_id)},
    {.name = "sequence_num", .kind = FIELD_INT, .offset = RECOVERY_FIELD(checkpoint.sequence_num)},
    {.name = "node",
        .kind = FIELD_STRING,
        .flags = FIELD_NULLABLE,
        .offset = RECOVERY_FIELD(checkpoint.node)},
    {.name = "recovered_state",
        .kind = FIELD_OBJECT,
        .offset = RECOVERY_FIELD(checkpoint.channel_values),
        .summary = "the values of the channels, as they were put"},
    {.name = "channel_versions",
        .kind = FIELD_OBJECT,
        .offset = RECOVERY_FIELD(checkpoint.channel_versions)},
    {.name = "versions_seen",
        .kind = FIELD_OBJECT,
        .offset = RECOVERY_FIELD(checkpoint.versions_seen)},
    {.name = "pending_sends",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = RECOVERY_FIELD(checkpoint.pending_sends),
        .summary = "what was queued, and may have to be carried out again"},
    {.name = "pending_writes",
        .kind = FIELD_ARRAY,
        .nested = &schema_pending_write,
        .offset = RECOVERY_FIELD(checkpoint.pending_writes),
        .summary = "what tasks had done, and need not do again"},
    {.name = "metadata", .kind = FIELD_OBJECT, .offset = RECOVERY_FIELD(checkpoint.metadata)},
    {.name = "skipped",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = RECOVERY_FIELD(skipped),
        .summary = "[{checkpoint_id, reason}]: newer ones whose content is damaged"},
    {.name = "warnings",
        .kind = FIELD_ARRAY,
        .items = "object",
        .offset = RECOVERY_FIELD(warnings),
        .summary = "[{channel, detail}]: values without a version, and versions without a value"},
};
const struct schema schema_recovery = {
    "Recovery", recovery_fields, COUNT_OF(recovery_fields), sizeof(struct checkpoint_recovery), 0};

static enum error answer_recovery(
    struct call *call, struct context *c, struct checkpoint_place *place)
{
    const struct recovery_query *q = call->request.query;
    struct checkpoint_recovery recovery;
    place->has_id = q->has_id;
    place->id = q->id;
    place->ns = str_is_none(q->ns) && !q->has_id ? STR("") : q->ns;
    enum error e = checkpoint_recover(c, place, &recovery);
    if (e == OK)
        call_answer(call, &schema_recovery, &recovery, 0);
    return e;
}

enum error handle_thread_recovery(struct call *call, struct context *c)
{
    struct checkpoint_place place = {.thread_id = call->request.params[0]};
    return answer_recovery(call, c, &place);
}

enum error handle_run_recovery(struct call *call, struct context *c)
{
    struct run run;
    enum error e = call_run(call, c, &run);
    if (e != OK)
        return e;
    struct checkpoint_place place = {
        .thread_id = run.thread_id, .has_run_id = true, .run_id = run.id};
    return answer_recovery(call, c, &place);
}

/* --- The history of channels ---------------------------------------------------------------- */

struct deltas_body {
    struct str ns;
    struct str_list channels;
};
static const struct field deltas_fields[] = {
    {.name = "namespace",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct deltas_body, ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "unless given, the outermost one that has the checkpoint"},
    {.name = "channels",
        .kind = FIELD_STRINGS,
        .offset = offsetof(struct deltas_body, channels),
        .max = CHECKPOINT_DELTA_CHANNELS,
        .summary = "their names"},
};
const struct schema schema_deltas_body = {
    "CheckpointDeltasBody", deltas_fields, COUNT_OF(deltas_fields), sizeof(struct deltas_body), 0};

#define DELTAS_FIELD(member) offsetof(struct checkpoint_deltas, member)
static const struct field deltas_shown_fields[] = {
    {.name = "checkpoint_id", .kind = FIELD_UUID, .offset = DELTAS_FIELD(checkpoint.id)},
    {.name = "namespace", .kind = FIELD_STRING, .offset = DELTAS_FIELD(checkpoint.ns)},
    {.name = "channels",
        .kind = FIELD_OBJECT,
        .offset = DELTAS_FIELD(channels),
        .summary = "of each {writes: [{checkpoint_id, task_id, index, channel, value}], seed}, "
                   "oldest first; without a seed where no ancestor has a value"},
    {.name = "looked_at",
        .kind = FIELD_INT,
        .offset = DELTAS_FIELD(looked_at),
        .summary = "ancestors"},
    {.name = "next_checkpoint_id",
        .kind = FIELD_UUID,
        .flags = FIELD_NULLABLE,
        .offset = DELTAS_FIELD(next),
        .has_offset = DELTAS_FIELD(has_next),
        .summary = "for channels without a seed ask this one too: its writes are older"},
};
const struct schema schema_checkpoint_deltas = {"CheckpointDeltas", deltas_shown_fields,
    COUNT_OF(deltas_shown_fields), sizeof(struct checkpoint_deltas), 0};

enum error handle_checkpoint_deltas(struct call *call, struct context *c)
{
    const struct deltas_body *body = call->request.input;
    struct checkpoint_deltas deltas;
    enum error e = checkpoint_deltas(c, call->request.params[0], body->ns, call->request.params[1],
        body->channels.items, body->channels.count, &deltas);
    if (e == OK)
        call_answer(call, &schema_checkpoint_deltas, &deltas, 0);
    return e;
}

/* --- Of a run ------------------------------------------------------------------------------- */

enum error handle_run_checkpoints(struct call *call, struct context *c)
{
    struct run run;
    enum error e = call_run(call, c, &run);
    if (e != OK)
        return e;
    struct checkpoint_filter filter = {
        .thread_id = run.thread_id, .has_run_id = true, .run_id = run.id};
    return checkpoints_answer_list(call, c, &schema_run_checkpoint, &filter);
}

enum error handle_run_checkpoint(struct call *call, struct context *c)
{
    const struct namespace_query *q = call->request.query;
    struct uuid id = call->request.params[call_param(call, "checkpoint_id")];
    struct checkpoint k;
    struct run run;
    enum error e = call_run(call, c, &run);
    if (e == OK)
        e = checkpoint_get(c, run.thread_id, q->ns, id, CHECKPOINT_WHOLE, &k);
    if (e == OK && !(k.has_run_id && uuid_eq(k.run_id, run.id)))
        return context_not_found(c, "checkpoint", id);
    if (e == OK)
        call_answer(call, &schema_run_checkpoint, &k, 0);
    return e;
}

struct replay_body {
    struct uuid checkpoint_id;
    struct str ns;
    struct str modified_state;
    enum run_policy policy;
    enum run_dispatch dispatch;
};
#define REPLAY_FIELD(member) offsetof(struct replay_body, member)
static const struct field replay_fields[] = {
    {.name = "checkpoint_id", .kind = FIELD_UUID, .offset = REPLAY_FIELD(checkpoint_id)},
    {.name = "namespace",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = REPLAY_FIELD(ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "unless given, the outermost one that has it"},
    {.name = "modified_state",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = REPLAY_FIELD(modified_state),
        .max = SNAPSHOT_MAX_BYTES,
        .summary = "channels and the values that they begin with instead"},
    {.name = "policy",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = REPLAY_FIELD(policy),
        .choices = thread_run_policies,
        .stores_enum = true,
        .summary = "instead of the thread's run_policy"},
    {.name = "dispatch",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = REPLAY_FIELD(dispatch),
        .choices = run_dispatches,
        .stores_enum = true,
        .summary = "queue (a worker claims it; the default) or direct (the caller works on it)"},
};
const struct schema schema_replay = {
    "Replay", replay_fields, COUNT_OF(replay_fields), sizeof(struct replay_body), 0};

struct replayed {
    struct run run;
    struct checkpoint checkpoint;
};
#define REPLAYED_FIELD(member) offsetof(struct replayed, member)
static const struct field replayed_fields[] = {
    {.name = "new_run_id", .kind = FIELD_UUID, .offset = REPLAYED_FIELD(run.id)},
    {.name = "thread_id", .kind = FIELD_UUID, .offset = REPLAYED_FIELD(run.thread_id)},
    {.name = "status",
        .kind = FIELD_ENUM,
        .offset = REPLAYED_FIELD(run.status),
        .choices = run_statuses,
        .stores_enum = true},
    {.name = "checkpoint_id",
        .kind = FIELD_UUID,
        .offset = REPLAYED_FIELD(checkpoint.id),
        .summary = "the first of the new run, upon the one that it goes on from"},
};
const struct schema schema_replayed = {
    "Replayed", replayed_fields, COUNT_OF(replayed_fields), sizeof(struct replayed), 0};

enum error handle_run_replay(struct call *call, struct context *c)
{
    const struct replay_body *body = call->request.input;
    const struct checkpoint_replay replay = {.id = body->checkpoint_id,
        .ns = body->ns,
        .modified = body->modified_state,
        .policy = body->policy,
        .dispatch = body->dispatch};
    struct replayed replayed;
    struct run run;
    enum error e = call_run_whole(call, c, &run);
    if (e == OK)
        e = checkpoint_replay(c, &run, &replay, &replayed.run, &replayed.checkpoint);
    if (e == OK)
        call_answer(call, &schema_replayed, &replayed, 0);
    return e;
}
