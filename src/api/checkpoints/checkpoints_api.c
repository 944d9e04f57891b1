/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a thread: put, read, list; the writes of tasks towards the next. */
#include "model/checkpoints/checkpoints.h"

#include "api/checkpoints/checkpoint_fields.h"
#include "api/handlers.h"

/* --- Answers ------------------------------------------------------------------------------- */

struct pending_write {
    struct checkpoint_task task;
    struct checkpoint_write write;
};
#define OF struct pending_write
static const struct field pending_write_fields[] = {
    FIELD_OF(task, STRING, task_id, IN_READ),
    FIELD_OF(write, INT, index, IN_READ),
    FIELD_OF(task, STRING, task_path, IN_READ),
    FIELD_OF(write, STRING, channel, IN_READ),
    FIELD_OF(write, JSON, value, IN_READ),
};
#undef OF
const struct schema schema_pending_write =
    SCHEMA("PendingWrite", struct pending_write, pending_write_fields, IN_READ);

/* A checkpoint of a run shows the values of its channels as its state, as other platforms do. */
enum { IN_VALUES = IN_SHOWN(0), IN_STATE = IN_SHOWN(1) };
#define OF struct checkpoint
static const struct field checkpoint_fields[] = {
    FIELD(UUID, id, IN_READ),
    FIELD(UUID, thread_id, IN_READ),
    FIELD(STRING_OR_NULL, thread_key, IN_READ),
    FIELD_AS(STRING, "namespace", ns, IN_READ, "\"\" is the outermost graph"),
    FIELD(UUID_OR_NULL, parent_id, IN_READ),
    FIELD(UUID_OR_NULL, run_id, IN_READ),
    FIELD(INT, sequence_num, IN_READ, "increases with every checkpoint of the thread"),
    FIELD(STRING_OR_NULL, node, IN_READ),
    FIELD(OBJECT, metadata, IN_READ),
    FIELD(INT, size_bytes, IN_READ, "size of the values as JSON"),
    FIELD(TIME, created_at, IN_READ),
    FIELD(OBJECT, channel_versions, IN_READ, .hide_none = true),
    FIELD(OBJECT, versions_seen, IN_READ, .hide_none = true),
    FIELD(ARRAY, pending_sends, IN_READ, .items = "object", .hide_none = true),
    FIELD(ARRAY, pending_writes, IN_READ,
        "with include=writes: writes of tasks for the next checkpoint",
        .nested = &schema_pending_write, .hide_none = true),
    FIELD(OBJECT, channel_values, IN_VALUES,
        "values of the channels; in lists only with include=values", .hide_none = true),
    FIELD_AS(OBJECT, "state", channel_values, IN_STATE,
        "values of the channels; in lists only with include=values", .hide_none = true),
};
#undef OF
const struct schema schema_checkpoint =
    SCHEMA("Checkpoint", struct checkpoint, checkpoint_fields, IN_READ | IN_VALUES);
const struct schema schema_run_checkpoint =
    SCHEMA("RunCheckpoint", struct checkpoint, checkpoint_fields, IN_READ | IN_STATE);

/* --- Put ----------------------------------------------------------------------------------- */

#define INHERITS(X) X(INHERIT_ALL, "all") X(INHERIT_VERSIONS, "versions")
ENUM_DECLARE(inherit, INHERIT_NONE, inherits, INHERITS);
ENUM_DEFINE(inherits, INHERITS);

struct changes_body {
    struct str set;
    struct str append;
    struct str_list remove;
    enum inherit inherit;
};
#define OF struct changes_body
static const struct field changes_fields[] = {
    FIELD(OBJECT_OR_NONE, set, IN_BODY, "new values by channel", .max = SNAPSHOT_MAX_BYTES),
    FIELD(OBJECT_OR_NONE, append, IN_BODY,
        "elements to append, by channel; the channels must be lists", .max = SNAPSHOT_MAX_BYTES),
    FIELD(STRINGS_OR_NONE, remove, IN_BODY, "channels to remove"),
    FIELD(ENUM_OR_NONE, inherit, IN_BODY,
        "channels to take from the parent: all (default), or those whose version is unchanged in "
        "channel_versions",
        .choices = inherits),
};
#undef OF
static const struct schema schema_changes =
    SCHEMA("CheckpointChanges", struct changes_body, changes_fields, IN_BODY);

struct put_body {
    struct checkpoint checkpoint;
    bool has_id;
    bool has_expected_latest;
    struct uuid expected_latest;
    bool has_changes;
    struct changes_body changes;
    bool has_replace;
    bool replace;
};
#define OF struct put_body
static const struct field put_fields[] = {
    FIELD_HAS(UUID_OR_NONE, "id", checkpoint.id, has_id, IN_BODY,
        "any UUID; default: a new UUID of version 7"),
    FIELD_AS(STRING_OR_NONE, "namespace", checkpoint.ns, IN_BODY,
        "default: \"\", the outermost graph", .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
    FIELD_OF(checkpoint, UUID_OR_NULL, parent_id, IN_BODY,
        "default: the latest checkpoint of the namespace; null: no parent"),
    FIELD(UUID_OR_NULL, expected_latest, IN_BODY,
        "reject with 409 if the latest checkpoint has another id; null: if any checkpoint exists"),
    FIELD_OF(checkpoint, UUID_OR_NULL, run_id, IN_BODY),
    FIELD_OF(checkpoint, OBJECT_OR_NONE, channel_values, IN_BODY,
        "all values; alternative to changes", .max = SNAPSHOT_MAX_BYTES),
    FIELD(NESTED_OR_NONE, changes, IN_BODY, "differences from the values of the parent",
        .nested = &schema_changes),
    FIELD_OF(checkpoint, OBJECT_OR_NONE, channel_versions, IN_BODY,
        "a number or a string for each channel", .max = CHECKPOINT_VERSIONS_MAX_BYTES),
    FIELD_OF(checkpoint, OBJECT_OR_NONE, versions_seen, IN_BODY, "versions that each node has seen",
        .max = CHECKPOINT_VERSIONS_MAX_BYTES),
    FIELD_OF(checkpoint, ARRAY_OR_NONE, pending_sends, IN_BODY,
        "[{channel, value}]: queued tool calls and messages", .max = CHECKPOINT_SENDS_MAX_BYTES,
        .items = "object"),
    FIELD_OF(checkpoint, OBJECT_OR_NONE, metadata, IN_BODY, "scalar members can be used as filters",
        .max = CHECKPOINT_METADATA_MAX_BYTES),
    FIELD_OF(checkpoint, STRING_OR_NULL, node, IN_BODY, "node of the graph, shown in lists",
        .max = CHECKPOINT_NODE_MAX_BYTES),
    FIELD(BOOL_OR_NONE, replace, IN_BODY,
        "overwrite an existing checkpoint with this id instead of returning 409"),
};
#undef OF
const struct schema schema_checkpoint_put =
    SCHEMA("CheckpointPut", struct put_body, put_fields, IN_BODY);

static enum error check_form(struct call *call, const struct put_body *body)
{
    bool whole = !str_is_none(body->checkpoint.channel_values);
    if (whole && body->has_changes)
        return problem_fault(
            &call->problem, STR("/changes"), "cannot be given together with channel_values");
    if (!whole && !body->has_changes)
        return problem_fault(
            &call->problem, STR("/channel_values"), "must be given unless changes is given");
    return OK;
}

enum error handle_checkpoint_put(struct call *call, struct context *c)
{
    const struct put_body *body = call->request.input;
    struct checkpoint checkpoint = body->checkpoint;
    struct checkpoint_put put = {.has_id = body->has_id,
        .knows_parent = call_member(call, "parent_id") != MEMBER_ABSENT,
        .expects_latest = call_member(call, "expected_latest") != MEMBER_ABSENT,
        .has_expected = body->has_expected_latest,
        .expected = body->expected_latest,
        .values = body->checkpoint.channel_values,
        .change = {.set = body->changes.set,
            .append = body->changes.append,
            .remove = body->changes.remove.items,
            .n_remove = body->changes.remove.count},
        .by_versions = body->has_changes && body->changes.inherit == INHERIT_VERSIONS,
        .may_replace = body->has_replace && body->replace};
    bool is_new = false;
    checkpoint.thread_id = call->request.params[0];
    if (str_is_none(checkpoint.ns))
        checkpoint.ns = STR("");
    TRY(check_form(call, body));
    TRY(checkpoint_put(c, &put, &checkpoint, &is_new));
    checkpoint.channel_values = STR_NONE;
    checkpoint.pending_writes = STR_NONE;
    if (is_new)
        call->answer.status = 201;
    return call_answer(call, &schema_checkpoint, &checkpoint, 0);
}

/* --- One object ---------------------------------------------------------------------------- */

struct place_query {
    struct str ns;
};
#define OF struct place_query
static const struct field place_fields[] = {
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_QUERY,
        "default: the outermost namespace that has the checkpoint",
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
};
#undef OF
const struct schema query_checkpoint =
    SCHEMA("CheckpointQuery", struct place_query, place_fields, IN_QUERY);

enum error handle_checkpoint_get(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    TRY(checkpoint_get(
        c, call->request.params[0], q->ns, call->request.params[1], CHECKPOINT_WHOLE, &k));
    return call_answer(call, &schema_checkpoint, &k, 0);
}

enum error handle_checkpoint_latest(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    TRY(checkpoint_latest(
        c, call->request.params[0], str_is_none(q->ns) ? STR("") : q->ns, CHECKPOINT_WHOLE, &k));
    return call_answer(call, &schema_checkpoint, &k, 0);
}

/* --- Lists --------------------------------------------------------------------------------- */

/* clang-format off */
/*    value         word       parts of a checkpoint */
#define SHOWS(X)                                     \
    X(SHOW_VALUES, "values", CHECKPOINT_VALUES)      \
    X(SHOW_WRITES, "writes", CHECKPOINT_WRITES)      \
    X(SHOW_ALL,    "all",    CHECKPOINT_WHOLE)
/* clang-format on */
ENUM_DECLARE(show, SHOW_NONE, shows, SHOWS);
ENUM_DEFINE(shows, SHOWS);

struct list_query {
    struct page_query page;
    struct str ns;
    bool has_id_before;
    struct uuid id_before;
    bool has_before;
    struct uuid before;
    bool has_from;
    int64_t from;
    bool has_to;
    int64_t to;
    enum show include;
    bool has_run_id;
    struct uuid run_id;
};
/* Lists of one thread take `before`, and those of a thread that names no run also take the run. */
enum { IN_ONE_THREAD = IN_SENT(0), IN_BY_RUN = IN_SENT(1) };
#define OF struct list_query
static const struct field list_query_fields[] = {
    PAGE_FIELDS(IN_QUERY),
    FIELD_AS(STRING_OR_NONE, "namespace", ns, IN_QUERY,
        "only this namespace; empty: the outermost graph", .max = CHECKPOINT_NAMESPACE_MAX_BYTES),
    FIELD(UUID_OR_NONE, id_before, IN_QUERY,
        "only checkpoints with a smaller id; no checkpoint with this id has to exist"),
    FIELD(TIME_OR_NONE, from, IN_QUERY, "only checkpoints put at or after this time"),
    FIELD(TIME_OR_NONE, to, IN_QUERY, "only checkpoints put before this time"),
    FIELD(ENUM_OR_NONE, include, IN_QUERY, "values (with their versions), writes, or all",
        .choices = shows),
    FIELD(UUID_OR_NONE, before, IN_ONE_THREAD, "only checkpoints that were put before this one"),
    FIELD(UUID_OR_NONE, run_id, IN_BY_RUN),
};
#undef OF
const struct schema query_checkpoints = SCHEMA(
    "CheckpointsQuery", struct list_query, list_query_fields, IN_QUERY | IN_ONE_THREAD | IN_BY_RUN);
const struct schema query_run_checkpoints =
    SCHEMA("RunCheckpointsQuery", struct list_query, list_query_fields, IN_QUERY | IN_ONE_THREAD);
const struct schema query_all_checkpoints =
    SCHEMA("AllCheckpointsQuery", struct list_query, list_query_fields, IN_QUERY);

/* The cursor is a number; in the list of all threads a position in the order by time,
 * "AT~THREAD~NUMBER". */
static struct str write_cursor(
    struct call *call, const struct checkpoint_filter *filter, const struct checkpoint_mark *next)
{
    char thread[UUID_TEXT_LEN];
    if (!filter->of_all)
        return cursor_from_number(call->arena, next->sequence_num);
    uuid_format(next->thread_id, thread);
    return cursor_from_text(
        call->arena, arena_printf(call->arena, "%lld~%.*s~%lld", (long long)next->created_at,
                         UUID_TEXT_LEN, thread, (long long)next->sequence_num));
}

static enum error read_cursor(
    struct call *call, struct str cursor, struct checkpoint_filter *filter)
{
    struct checkpoint_mark *out = &filter->before;
    struct str rest, at, thread;
    if (!filter->of_all)
        return cursor_to_number(call, cursor, &out->sequence_num);
    TRY(cursor_to_text(call, cursor, &rest));
    if (str_is_none(rest))
        return OK;
    bool good = str_next_part(&rest, '~', &at) && str_to_i64(at, &out->created_at) &&
                str_next_part(&rest, '~', &thread) && uuid_parse(thread, &out->thread_id) &&
                str_to_i64(rest, &out->sequence_num) && out->sequence_num > 0;
    return good ? OK : cursor_refused(call);
}

enum error checkpoints_answer_list(struct call *call, struct context *c,
    const struct schema *schema, struct checkpoint_filter *filter)
{
#define PARTS(value, word, parts) [value] = parts,
    static const unsigned parts[] = {[SHOW_NONE] = CHECKPOINT_HEAD, SHOWS(PARTS)};
#undef PARTS
    const struct list_query *q = call->request.query;
    struct checkpoint_page page = {.page = page_of(&q->page)};
    page.checkpoints = ARENA_ARRAY(call->arena, struct checkpoint, page.page.limit);
    filter->ns = q->ns;
    filter->has_before_id = q->has_before;
    filter->before_id = q->before;
    filter->has_id_before = q->has_id_before;
    filter->id_before = q->id_before;
    filter->has_from = q->has_from;
    filter->from = q->from;
    filter->has_to = q->has_to;
    filter->to = q->to;
    filter->show = parts[q->include];
    memcpy(filter->metadata_keys, call->request.metadata_keys, sizeof filter->metadata_keys);
    memcpy(filter->metadata_values, call->request.metadata_values, sizeof filter->metadata_values);
    TRY(read_cursor(call, q->page.cursor, filter));
    TRY(checkpoint_list(c, filter, &page));
    return call_answer_list(call, schema, page.checkpoints, &page.page,
        page.page.more ? write_cursor(call, filter, &page.next) : STR_NONE);
}

enum error handle_checkpoint_list(struct call *call, struct context *c)
{
    const struct list_query *q = call->request.query;
    struct checkpoint_filter filter = {
        .thread_id = call->request.params[0], .has_run_id = q->has_run_id, .run_id = q->run_id};
    return checkpoints_answer_list(call, c, &schema_checkpoint, &filter);
}

enum error handle_all_checkpoints(struct call *call, struct context *c)
{
    struct checkpoint_filter filter = {.of_all = true};
    return checkpoints_answer_list(call, c, &schema_checkpoint, &filter);
}

/* --- Writes -------------------------------------------------------------------------------- */

struct write_body {
    struct str channel;
    struct str value;
    bool has_index;
    int64_t index;
};
#define OF struct write_body
static const struct field write_fields[] = {
    FIELD(STRING, channel, IN_BODY, .max = CHECKPOINT_CHANNEL_MAX_BYTES),
    FIELD(JSON, value, IN_BODY, .max = CHECKPOINT_WRITES_MAX_BYTES),
    FIELD(INT_OR_NONE, index, IN_BODY,
        "default: position in the list; a write with a negative index can be overwritten",
        .min = CHECKPOINT_INDEX_MIN, .max = CHECKPOINT_INDEX_MAX),
};
#undef OF
static const struct schema schema_write =
    SCHEMA("CheckpointWrite", struct write_body, write_fields, IN_BODY);

struct writes_body {
    struct str task_id;
    struct str task_path;
    bool has_ahead;
    bool ahead;
    struct nested_list writes;
};
#define OF struct writes_body
static const struct field writes_fields[] = {
    FIELD(STRING, task_id, IN_BODY, .min = 1, .max = CHECKPOINT_TASK_ID_MAX_BYTES),
    FIELD(STRING_OR_NONE, task_path, IN_BODY, .max = CHECKPOINT_TASK_PATH_MAX_BYTES),
    FIELD(BOOL_OR_NONE, ahead, IN_BODY, "accept writes for a checkpoint that does not exist yet"),
    FIELD(LIST, writes, IN_BODY, .max = CHECKPOINT_WRITES_MAX, .nested = &schema_write),
};
#undef OF
const struct schema schema_checkpoint_writes_put =
    SCHEMA("CheckpointWritesPut", struct writes_body, writes_fields, IN_BODY);

struct written {
    int64_t written;
    int64_t kept;
};
#define OF struct written
static const struct field written_fields[] = {
    FIELD(INT, written, IN_READ),
    FIELD(INT, kept, IN_READ,
        "number of writes that existed already: the first write of an index is kept"),
};
#undef OF
const struct schema schema_checkpoint_written =
    SCHEMA("CheckpointWritten", struct written, written_fields, IN_READ);

enum error handle_checkpoint_writes_put(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    const struct writes_body *body = call->request.input;
    const struct write_body *items = body->writes.items;
    const struct checkpoint checkpoint = {
        .thread_id = call->request.params[0], .ns = q->ns, .id = call->request.params[1]};
    const struct checkpoint_task task = {
        body->task_id, body->task_path, body->has_ahead && body->ahead};
    size_t n = body->writes.count;
    struct checkpoint_write *writes = ARENA_ARRAY(call->arena, struct checkpoint_write, n + 1);
    for (size_t i = 0; i < n; i++)
        writes[i] = (struct checkpoint_write){.channel = items[i].channel,
            .value = str_is_none(items[i].value) ? STR("null") : items[i].value,
            .index = items[i].has_index ? items[i].index : (int64_t)i};
    struct written written = {0};
    TRY(checkpoint_put_writes(c, &checkpoint, &task, writes, n, &written.written));
    written.kept = (int64_t)n - written.written;
    return call_answer(call, &schema_checkpoint_written, &written, 0);
}

#define OF struct checkpoint
static const struct field writes_shown_fields[] = {
    FIELD_AS(UUID, "checkpoint_id", id, IN_READ),
    FIELD_AS(STRING, "namespace", ns, IN_READ),
    FIELD_AS(ARRAY, "writes", pending_writes, IN_READ,
        "[{task_id, task_path, index, channel, value}], by task and index",
        .nested = &schema_pending_write),
};
#undef OF
const struct schema schema_checkpoint_writes =
    SCHEMA("CheckpointWrites", struct checkpoint, writes_shown_fields, IN_READ);

enum error handle_checkpoint_writes_get(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    TRY(checkpoint_get(
        c, call->request.params[0], q->ns, call->request.params[1], CHECKPOINT_WRITES, &k));
    return call_answer(call, &schema_checkpoint_writes, &k, 0);
}
