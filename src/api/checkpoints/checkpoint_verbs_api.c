/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on existing checkpoints, of a thread and of the run that put them. */
#include "api/checkpoints/checkpoint_fields.h"
#include "api/execution/run_path.h"
#include "api/handlers.h"
#include "api/http/access.h"
#include "model/checkpoints/checkpoints.h"

/* --- Delete and prune ---------------------------------------------------------------------- */

struct namespace_query {
    struct str ns;
};
#define OF struct namespace_query
static const struct field namespace_fields[] = {
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_QUERY,
        "only this namespace; empty: the outermost graph", .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
};
#undef OF
const struct schema query_checkpoint_delete =
    SCHEMA("CheckpointDeleteQuery", struct namespace_query, namespace_fields, IN_QUERY);

enum { IN_PRUNED = IN_SHOWN(0), IN_COPIED = IN_SHOWN(1) };
#define OF struct checkpoint_removed
static const struct field removed_fields[] = {
    FIELD_AS(INT, "pruned", count, IN_PRUNED),
    FIELD(BOOL, more, IN_PRUNED, "more checkpoints remain to delete: repeat the request"),
    FIELD_AS(INT, "copied", count, IN_COPIED),
    FIELD(BOOL, more, IN_COPIED, "more checkpoints remain to copy: repeat the request"),
};
#undef OF
const struct schema schema_checkpoint_pruned =
    SCHEMA("CheckpointsPruned", struct checkpoint_removed, removed_fields, IN_PRUNED);

enum error handle_checkpoint_delete(struct call *call, struct context *c)
{
    const struct namespace_query *q = call->request.query;
    struct checkpoint_removed removed;
    TRY(checkpoint_delete_all(c, call->request.params[0], q->ns, &removed));
    return call_answer(call, &schema_checkpoint_pruned, &removed, 0);
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
#define OF struct prune_body
static const struct field prune_fields[] = {
    FIELD(INT_OR_NONE, keep_latest, IN_BODY,
        "number of checkpoints to keep in each namespace; default: 1", .min = 1, .max = KEEP_MAX),
    FIELD(TIME_OR_NONE, older_than, IN_BODY, "only checkpoints that were put before this time"),
    FIELD(INT_OR_NONE, older_than_s, IN_BODY, "alternative to older_than: an age in seconds",
        .max = AGE_MAX_S),
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_BODY, "only this namespace",
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
};
#undef OF
const struct schema schema_checkpoint_prune =
    SCHEMA("CheckpointPrune", struct prune_body, prune_fields, IN_BODY);

enum error handle_checkpoint_prune(struct call *call, struct context *c)
{
    const struct prune_body *body = call->request.input;
    struct checkpoint_removed removed;
    if (!body->has_keep_latest && !body->has_older_than && !body->has_older_than_s)
        return problem_fault(&call->problem, STR("/keep_latest"),
            "must be given unless older_than or older_than_s is given");
    if (body->has_older_than && body->has_older_than_s)
        return problem_fault(
            &call->problem, STR("/older_than_s"), "cannot be given together with older_than");
    struct checkpoint_prune prune = {.ns = body->ns,
        .keep_latest = body->has_keep_latest ? body->keep_latest : 1,
        .has_older_than = body->has_older_than || body->has_older_than_s,
        .older_than =
            body->has_older_than ? body->older_than : c->now_us - body->older_than_s * 1000000};
    TRY(checkpoint_prune(c, call->request.params[0], &prune, &removed));
    return call_answer(call, &schema_checkpoint_pruned, &removed, 0);
}

/* --- Copy ---------------------------------------------------------------------------------- */

struct copy_body {
    struct uuid to_thread_id;
};
#define OF struct copy_body
static const struct field copy_fields[] = {
    FIELD(UUID, to_thread_id, IN_BODY),
};
#undef OF
const struct schema schema_checkpoint_copy =
    SCHEMA("CheckpointCopy", struct copy_body, copy_fields, IN_BODY);
const struct schema schema_checkpoint_copied =
    SCHEMA("CheckpointsCopied", struct checkpoint_removed, removed_fields, IN_COPIED);

enum error handle_checkpoint_copy(struct call *call, struct context *c)
{
    const struct copy_body *body = call->request.input;
    struct checkpoint_removed copied;
    TRY(checkpoint_copy(c, call->request.params[0], body->to_thread_id, &copied));
    return call_answer(call, &schema_checkpoint_copied, &copied, 0);
}

/* --- Compare ------------------------------------------------------------------------------- */

#define OF struct checkpoint_diff
static const struct field diff_fields[] = {
    FIELD_AS(UUID, "from_id", from.id, IN_READ),
    FIELD_AS(UUID, "to_id", to.id, IN_READ),
    FIELD(ARRAY, channels, IN_READ,
        "[{channel, change, from_version, to_version}]; change is added, removed or changed",
        .items = "object"),
    FIELD(ARRAY, patch, IN_READ,
        "JSON Patch (RFC 6902) that turns the values of one checkpoint into those of the other",
        .items = "object"),
};
#undef OF
const struct schema schema_checkpoint_diff =
    SCHEMA("CheckpointDiff", struct checkpoint_diff, diff_fields, IN_READ);

enum error handle_checkpoint_diff(struct call *call, struct context *c)
{
    const struct namespace_query *q = call->request.query;
    struct checkpoint_diff diff;
    TRY(checkpoint_diff(c, call->request.params[0], q->ns, call->request.params[1],
        call->request.params[2], &diff));
    return call_answer(call, &schema_checkpoint_diff, &diff, 0);
}

/* --- Recover ------------------------------------------------------------------------------- */

struct recovery_query {
    bool has_id;
    struct uuid id;
    struct str ns;
};
#define OF struct recovery_query
static const struct field recovery_query_fields[] = {
    FIELD_AS(UUID_OR_NONE, "checkpoint_id", id, IN_QUERY,
        "recover from this checkpoint or an ancestor; default: the latest"),
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_QUERY, "default: the outermost graph",
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
};
#undef OF
const struct schema query_recovery =
    SCHEMA("RecoveryQuery", struct recovery_query, recovery_query_fields, IN_QUERY);

#define OF struct checkpoint_recovery
static const struct field recovery_fields[] = {
    FIELD_AS(UUID, "checkpoint_id", checkpoint.id, IN_READ),
    FIELD_AS(STRING, "namespace", checkpoint.ns, IN_READ),
    FIELD_OF(checkpoint, UUID_OR_NULL, run_id, IN_READ),
    FIELD_OF(checkpoint, INT, sequence_num, IN_READ),
    FIELD_OF(checkpoint, STRING_OR_NULL, node, IN_READ),
    FIELD_AS(OBJECT, "recovered_state", checkpoint.channel_values, IN_READ,
        "values of the channels, as they were put"),
    FIELD_OF(checkpoint, OBJECT, channel_versions, IN_READ),
    FIELD_OF(checkpoint, OBJECT, versions_seen, IN_READ),
    FIELD_OF(checkpoint, ARRAY, pending_sends, IN_READ,
        "queued sends, which may have to be repeated", .items = "object"),
    FIELD_OF(checkpoint, ARRAY, pending_writes, IN_READ,
        "completed writes of tasks, which need not be repeated", .nested = &schema_pending_write),
    FIELD_OF(checkpoint, OBJECT, metadata, IN_READ),
    FIELD(ARRAY, skipped, IN_READ,
        "[{checkpoint_id, reason}]: newer checkpoints whose content is damaged", .items = "object"),
    FIELD(ARRAY, warnings, IN_READ,
        "[{channel, detail}]: values without a version, and versions without a value",
        .items = "object"),
};
#undef OF
const struct schema schema_recovery =
    SCHEMA("Recovery", struct checkpoint_recovery, recovery_fields, IN_READ);

static enum error answer_recovery(
    struct call *call, struct context *c, struct checkpoint_place *place)
{
    const struct recovery_query *q = call->request.query;
    struct checkpoint_recovery recovery;
    place->has_id = q->has_id;
    place->id = q->id;
    place->ns = str_is_none(q->ns) && !q->has_id ? STR("") : q->ns;
    TRY(checkpoint_recover(c, place, &recovery));
    return call_answer(call, &schema_recovery, &recovery, 0);
}

enum error handle_thread_recovery(struct call *call, struct context *c)
{
    struct checkpoint_place place = {.thread_id = call->request.params[0]};
    return answer_recovery(call, c, &place);
}

enum error handle_run_recovery(struct call *call, struct context *c)
{
    struct run run;
    TRY(run_path_get(call, c, &run));
    struct checkpoint_place place = {
        .thread_id = run.thread_id, .has_run_id = true, .run_id = run.id};
    return answer_recovery(call, c, &place);
}

/* --- The history of channels --------------------------------------------------------------- */

struct deltas_body {
    struct str ns;
    struct str_list channels;
};
#define OF struct deltas_body
static const struct field deltas_fields[] = {
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_BODY,
        "default: the outermost namespace that has the checkpoint",
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
    FIELD(STRINGS, channels, IN_BODY, "names of the channels", .max = CHECKPOINT_DELTA_CHANNELS),
};
#undef OF
const struct schema schema_deltas_body =
    SCHEMA("CheckpointDeltasBody", struct deltas_body, deltas_fields, IN_BODY);

#define OF struct checkpoint_deltas
static const struct field deltas_shown_fields[] = {
    FIELD_AS(UUID, "checkpoint_id", checkpoint.id, IN_READ),
    FIELD_AS(STRING, "namespace", checkpoint.ns, IN_READ),
    FIELD(OBJECT, channels, IN_READ,
        "for each channel {writes: [{checkpoint_id, task_id, index, channel, value}], seed}, "
        "oldest first; seed is absent if no ancestor has a value"),
    FIELD(INT, looked_at, IN_READ, "ancestors"),
    FIELD_AS(UUID_OR_NULL, "next_checkpoint_id", next, IN_READ,
        "for channels without a seed, request this checkpoint too: its writes are older"),
};
#undef OF
const struct schema schema_checkpoint_deltas =
    SCHEMA("CheckpointDeltas", struct checkpoint_deltas, deltas_shown_fields, IN_READ);

enum error handle_checkpoint_deltas(struct call *call, struct context *c)
{
    const struct deltas_body *body = call->request.input;
    struct checkpoint_deltas deltas;
    TRY(checkpoint_deltas(c, call->request.params[0], body->ns, call->request.params[1],
        body->channels.items, body->channels.count, &deltas));
    return call_answer(call, &schema_checkpoint_deltas, &deltas, 0);
}

/* --- Checkpoints of a run ------------------------------------------------------------------ */

enum error handle_run_checkpoints(struct call *call, struct context *c)
{
    struct run run;
    TRY(run_path_get(call, c, &run));
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
    TRY(run_path_get(call, c, &run));
    TRY(checkpoint_get(c, run.thread_id, q->ns, id, CHECKPOINT_WHOLE, &k));
    if (!(k.has_run_id && uuid_eq(k.run_id, run.id)))
        return context_not_found(c, "checkpoint", id);
    return call_answer(call, &schema_run_checkpoint, &k, 0);
}

struct replay_body {
    struct uuid checkpoint_id;
    struct str ns;
    struct str modified_state;
    enum run_policy policy;
    enum run_dispatch dispatch;
};
#define OF struct replay_body
static const struct field replay_fields[] = {
    FIELD(UUID, checkpoint_id, IN_BODY),
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_BODY,
        "default: the outermost namespace that has the checkpoint",
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
    FIELD(OBJECT_OR_NULL, modified_state, IN_BODY,
        "channels with the initial values that replace those of the checkpoint",
        .max = SNAPSHOT_MAX_BYTES),
    FIELD(ENUM_OR_NULL, policy, IN_BODY, "overrides the run_policy of the thread",
        .choices = thread_run_policies),
    FIELD(ENUM_OR_NONE, dispatch, IN_BODY,
        "queue (default: a worker claims the run) or direct (the caller executes the run)",
        .choices = run_dispatches),
};
#undef OF
const struct schema schema_replay = SCHEMA("Replay", struct replay_body, replay_fields, IN_BODY);

struct replayed {
    struct run run;
    struct checkpoint checkpoint;
};
#define OF struct replayed
static const struct field replayed_fields[] = {
    FIELD_AS(UUID, "new_run_id", run.id, IN_READ),
    FIELD_OF(run, UUID, thread_id, IN_READ),
    FIELD_OF(run, ENUM, status, IN_READ, .choices = run_statuses),
    FIELD_AS(UUID, "checkpoint_id", checkpoint.id, IN_READ,
        "first checkpoint of the new run; its parent is the replayed checkpoint"),
};
#undef OF
const struct schema schema_replayed = SCHEMA("Replayed", struct replayed, replayed_fields, IN_READ);

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
    TRY(access_require_scope(call, SCOPE_RUNS_WRITE));
    TRY(run_path_get_whole(call, c, &run));
    TRY(checkpoint_replay(c, &run, &replay, &replayed.run, &replayed.checkpoint));
    return call_answer(call, &schema_replayed, &replayed, 0);
}
