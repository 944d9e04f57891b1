/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a thread: put, read, list; the writes of tasks towards the next. */
#include "model/checkpoints/checkpoints.h"

#include "api/checkpoints/checkpoint_fields.h"
#include "api/resources.h"

/* --- What is shown -------------------------------------------------------------------------- */

struct pending_write {
    struct checkpoint_task task;
    struct checkpoint_write write;
};
#define PENDING_FIELD(member) offsetof(struct pending_write, member)
static const struct field pending_write_fields[] = {
    {.name = "task_id", .kind = FIELD_STRING, .offset = PENDING_FIELD(task.task_id)},
    {.name = "index", .kind = FIELD_INT, .offset = PENDING_FIELD(write.index)},
    {.name = "task_path", .kind = FIELD_STRING, .offset = PENDING_FIELD(task.task_path)},
    {.name = "channel", .kind = FIELD_STRING, .offset = PENDING_FIELD(write.channel)},
    {.name = "value", .kind = FIELD_JSON, .offset = PENDING_FIELD(write.value)},
};
const struct schema schema_pending_write = {"PendingWrite", pending_write_fields,
    COUNT_OF(pending_write_fields), sizeof(struct pending_write), 0};

#define CHECKPOINT_FIELD(member) offsetof(struct checkpoint, member)
#define VALUES_FIELD(wire_name)                                                             \
    {                                                                                       \
        .name = (wire_name), .kind = FIELD_OBJECT, .flags = FIELD_HIDE_NONE,                \
        .offset = CHECKPOINT_FIELD(channel_values),                                         \
        .summary = "with include=values, and of one checkpoint: the values of its channels" \
    }
#define HEAD_FIELDS                                                                           \
    {.name = "id", .kind = FIELD_UUID, .offset = CHECKPOINT_FIELD(id)},                       \
        {.name = "thread_id", .kind = FIELD_UUID, .offset = CHECKPOINT_FIELD(thread_id)},     \
        {.name = "thread_key",                                                                \
            .kind = FIELD_STRING,                                                             \
            .flags = FIELD_NULLABLE,                                                          \
            .offset = CHECKPOINT_FIELD(thread_key)},                                          \
        {.name = "namespace",                                                                 \
            .kind = FIELD_STRING,                                                             \
            .offset = CHECKPOINT_FIELD(ns),                                                   \
            .summary = "\"\" is the outermost graph"},                                        \
        {.name = "parent_id",                                                                 \
            .kind = FIELD_UUID,                                                               \
            .flags = FIELD_NULLABLE,                                                          \
            .offset = CHECKPOINT_FIELD(parent_id),                                            \
            .has_offset = CHECKPOINT_FIELD(has_parent_id)},                                   \
        {.name = "run_id",                                                                    \
            .kind = FIELD_UUID,                                                               \
            .flags = FIELD_NULLABLE,                                                          \
            .offset = CHECKPOINT_FIELD(run_id),                                               \
            .has_offset = CHECKPOINT_FIELD(has_run_id)},                                      \
        {.name = "sequence_num",                                                              \
            .kind = FIELD_INT,                                                                \
            .offset = CHECKPOINT_FIELD(sequence_num),                                         \
            .summary = "rises with what is put into the thread"},                             \
        {.name = "node",                                                                      \
            .kind = FIELD_STRING,                                                             \
            .flags = FIELD_NULLABLE,                                                          \
            .offset = CHECKPOINT_FIELD(node)},                                                \
        {.name = "metadata", .kind = FIELD_OBJECT, .offset = CHECKPOINT_FIELD(metadata)},     \
        {.name = "size_bytes",                                                                \
            .kind = FIELD_INT,                                                                \
            .offset = CHECKPOINT_FIELD(size_bytes),                                           \
            .summary = "of the values, as JSON"},                                             \
        {.name = "created_at", .kind = FIELD_TIME, .offset = CHECKPOINT_FIELD(created_at)},   \
        {.name = "channel_versions",                                                          \
            .kind = FIELD_OBJECT,                                                             \
            .flags = FIELD_HIDE_NONE,                                                         \
            .offset = CHECKPOINT_FIELD(channel_versions)},                                    \
        {.name = "versions_seen",                                                             \
            .kind = FIELD_OBJECT,                                                             \
            .flags = FIELD_HIDE_NONE,                                                         \
            .offset = CHECKPOINT_FIELD(versions_seen)},                                       \
        {.name = "pending_sends",                                                             \
            .kind = FIELD_ARRAY,                                                              \
            .items = "object",                                                                \
            .flags = FIELD_HIDE_NONE,                                                         \
            .offset = CHECKPOINT_FIELD(pending_sends)},                                       \
    {                                                                                         \
        .name = "pending_writes", .kind = FIELD_ARRAY, .nested = &schema_pending_write,       \
        .flags = FIELD_HIDE_NONE, .offset = CHECKPOINT_FIELD(pending_writes),                 \
        .summary = "with include=writes: what tasks have written towards the next checkpoint" \
    }

static const struct field checkpoint_fields[] = {HEAD_FIELDS, VALUES_FIELD("channel_values")};
const struct schema schema_checkpoint = {
    "Checkpoint", checkpoint_fields, COUNT_OF(checkpoint_fields), sizeof(struct checkpoint), 0};
/* Of a run, as other platforms show it: the values are its state. */
static const struct field run_checkpoint_fields[] = {HEAD_FIELDS, VALUES_FIELD("state")};
const struct schema schema_run_checkpoint = {"RunCheckpoint", run_checkpoint_fields,
    COUNT_OF(run_checkpoint_fields), sizeof(struct checkpoint), 0};

/* --- Put ------------------------------------------------------------------------------------ */

static const char *const inherits[] = {"all", "versions", NULL};

struct changes_body {
    struct str set;
    struct str append;
    struct str_list remove;
    struct str inherit;
};
static const struct field changes_fields[] = {
    {.name = "set",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct changes_body, set),
        .max = SNAPSHOT_MAX_BYTES,
        .summary = "channels and their new values"},
    {.name = "append",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct changes_body, append),
        .max = SNAPSHOT_MAX_BYTES,
        .summary = "channels that are lists, and what is added to each"},
    {.name = "remove",
        .kind = FIELD_STRINGS,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct changes_body, remove),
        .summary = "channels that go"},
    {.name = "inherit",
        .kind = FIELD_ENUM,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct changes_body, inherit),
        .choices = inherits,
        .summary = "of the parent's channels: all, unless given, or those that have kept the "
                   "version which channel_versions names"},
};
static const struct schema schema_changes = {
    "CheckpointChanges", changes_fields, COUNT_OF(changes_fields), sizeof(struct changes_body), 0};

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
#define PUT_FIELD(member) offsetof(struct put_body, member)
static const struct field put_fields[] = {
    {.name = "id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.id),
        .has_offset = PUT_FIELD(has_id),
        .summary = "any UUID; a new one of version 7 unless given"},
    {.name = "namespace",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "\"\", the outermost graph, unless given"},
    {.name = "parent_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PUT_FIELD(checkpoint.parent_id),
        .has_offset = PUT_FIELD(checkpoint.has_parent_id),
        .summary = "the latest of the namespace unless given; null: none"},
    {.name = "expected_latest",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PUT_FIELD(expected_latest),
        .has_offset = PUT_FIELD(has_expected_latest),
        .summary = "refuse with 409 when the latest is another one; null: when there is any"},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PUT_FIELD(checkpoint.run_id),
        .has_offset = PUT_FIELD(checkpoint.has_run_id)},
    {.name = "channel_values",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.channel_values),
        .max = SNAPSHOT_MAX_BYTES,
        .summary = "whole; or else changes"},
    {.name = "changes",
        .kind = FIELD_NESTED,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(changes),
        .has_offset = PUT_FIELD(has_changes),
        .nested = &schema_changes,
        .summary = "what differs from the values of the parent"},
    {.name = "channel_versions",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.channel_versions),
        .max = CHECKPOINT_VERSIONS_MAX_BYTES,
        .summary = "a number or a string for each channel"},
    {.name = "versions_seen",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.versions_seen),
        .max = CHECKPOINT_VERSIONS_MAX_BYTES,
        .summary = "for each node, the versions that it has seen"},
    {.name = "pending_sends",
        .kind = FIELD_ARRAY,
        .items = "object",
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.pending_sends),
        .max = CHECKPOINT_SENDS_MAX_BYTES,
        .summary = "[{channel, value}]: tool calls and messages that are queued"},
    {.name = "metadata",
        .kind = FIELD_OBJECT,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(checkpoint.metadata),
        .max = CHECKPOINT_METADATA_MAX_BYTES,
        .summary = "its scalar members can be filtered by"},
    {.name = "node",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL | FIELD_NULLABLE,
        .offset = PUT_FIELD(checkpoint.node),
        .max = CHECKPOINT_NODE_MAX_BYTES,
        .summary = "where in the graph, for lists"},
    {.name = "replace",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = PUT_FIELD(replace),
        .has_offset = PUT_FIELD(has_replace),
        .summary = "write over a checkpoint of this id, instead of 409"},
};
const struct schema schema_checkpoint_put = {
    "CheckpointPut", put_fields, COUNT_OF(put_fields), sizeof(struct put_body), 0};

static bool is_given(const struct call *call, struct str member)
{
    struct json unused;
    return json_get(json_root(&call->request.doc), member, &unused);
}

static enum error check_form(struct call *call, const struct put_body *body)
{
    bool whole = !str_is_none(body->checkpoint.channel_values);
    if (whole && body->has_changes)
        return problem_fault(&call->problem, STR("/changes"),
            "cannot be given together with channel_values, which is the whole");
    if (!whole && !body->has_changes)
        return problem_fault(&call->problem, STR("/channel_values"),
            "must be given, or else changes of the parent's");
    return OK;
}

enum error handle_checkpoint_put(struct call *call, struct context *c)
{
    const struct put_body *body = call->request.input;
    struct checkpoint checkpoint = body->checkpoint;
    struct checkpoint_put put = {.has_id = body->has_id,
        .knows_parent = is_given(call, STR("parent_id")),
        .expects_latest = is_given(call, STR("expected_latest")),
        .has_expected = body->has_expected_latest,
        .expected = body->expected_latest,
        .values = body->checkpoint.channel_values,
        .change = {.set = body->changes.set,
            .append = body->changes.append,
            .remove = body->changes.remove.items,
            .n_remove = body->changes.remove.count},
        .by_versions = body->has_changes && str_eq(body->changes.inherit, STR("versions")),
        .may_replace = body->has_replace && body->replace};
    bool is_new = false;
    checkpoint.thread_id = call->request.params[0];
    if (str_is_none(checkpoint.ns))
        checkpoint.ns = STR("");
    enum error e = check_form(call, body);
    if (e == OK)
        e = checkpoint_put(c, &put, &checkpoint, &is_new);
    if (e != OK)
        return e;
    checkpoint.channel_values = STR_NONE;
    checkpoint.pending_writes = STR_NONE;
    call_answer(call, &schema_checkpoint, &checkpoint, 0);
    if (is_new)
        call->answer.status = 201;
    return OK;
}

/* --- One ------------------------------------------------------------------------------------ */

struct place_query {
    struct str ns;
};
static const struct field place_fields[] = {
    {.name = "namespace",
        .kind = FIELD_STRING,
        .offset = offsetof(struct place_query, ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "unless given, the outermost one that has it"},
};
const struct schema query_checkpoint = {
    "CheckpointQuery", place_fields, COUNT_OF(place_fields), sizeof(struct place_query), 0};

enum error handle_checkpoint_get(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    enum error e = checkpoint_get(
        c, call->request.params[0], q->ns, call->request.params[1], CHECKPOINT_WHOLE, &k);
    if (e == OK)
        call_answer(call, &schema_checkpoint, &k, 0);
    return e;
}

enum error handle_checkpoint_latest(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    enum error e = checkpoint_latest(
        c, call->request.params[0], str_is_none(q->ns) ? STR("") : q->ns, CHECKPOINT_WHOLE, &k);
    if (e == OK)
        call_answer(call, &schema_checkpoint, &k, 0);
    return e;
}

/* --- Lists ---------------------------------------------------------------------------------- */

static const char *const includes[] = {"values", "writes", "all", NULL};

struct list_query {
    struct page_query page;
    struct str ns;
    bool has_id_before;
    struct uuid id_before;
    bool has_before;
    struct uuid before;
    struct str include;
    bool has_run_id;
    struct uuid run_id;
};
#define QUERY_FIELD(member) offsetof(struct list_query, member)
static const struct field list_query_fields[] = {
    PAGE_FIELDS(struct list_query),
    {.name = "namespace",
        .kind = FIELD_STRING,
        .offset = QUERY_FIELD(ns),
        .max = CHECKPOINT_NAMESPACE_MAX_BYTES,
        .summary = "only this one; empty: the outermost graph"},
    {.name = "id_before",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(id_before),
        .has_offset = QUERY_FIELD(has_id_before),
        .summary = "those whose ids are smaller than this one, which nobody need have"},
    {.name = "include",
        .kind = FIELD_ENUM,
        .offset = QUERY_FIELD(include),
        .choices = includes,
        .summary = "values (with their versions), writes, or all of it"},
    {.name = "before",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(before),
        .has_offset = QUERY_FIELD(has_before),
        .summary = "those that were put before this checkpoint"},
    {.name = "run_id",
        .kind = FIELD_UUID,
        .offset = QUERY_FIELD(run_id),
        .has_offset = QUERY_FIELD(has_run_id)},
};
const struct schema query_checkpoints = {"CheckpointsQuery", list_query_fields,
    COUNT_OF(list_query_fields), sizeof(struct list_query), 0};
/* The run is in the path. */
const struct schema query_run_checkpoints = {"RunCheckpointsQuery", list_query_fields,
    COUNT_OF(list_query_fields) - 1, sizeof(struct list_query), 0};

/* Of all threads: what was put before is told by the cursor, and runs have lists of their own. */
const struct schema query_all_checkpoints = {"AllCheckpointsQuery", list_query_fields,
    COUNT_OF(list_query_fields) - 2, sizeof(struct list_query), 0};

static unsigned shown(struct str include)
{
    if (str_is_none(include))
        return CHECKPOINT_HEAD;
    if (str_eq(include, STR("values")))
        return CHECKPOINT_VALUES;
    return str_eq(include, STR("writes")) ? CHECKPOINT_WRITES : CHECKPOINT_WHOLE;
}

/* By number; of all threads a place in the order by time: "AT~THREAD~NUMBER". */
static struct str write_cursor(
    struct call *call, const struct checkpoint_filter *filter, const struct checkpoint_mark *next)
{
    char thread[UUID_TEXT_LEN];
    if (!filter->of_all)
        return arena_printf(call->arena, "%lld", (long long)next->sequence_num);
    uuid_format(next->thread_id, thread);
    return arena_printf(call->arena, "%lld~%.*s~%lld", (long long)next->created_at, UUID_TEXT_LEN,
        thread, (long long)next->sequence_num);
}

static bool read_cursor(
    struct str cursor, const struct checkpoint_filter *filter, struct checkpoint_mark *out)
{
    struct str rest = cursor, at, thread;
    if (!filter->of_all)
        return str_to_i64(cursor, &out->sequence_num) && out->sequence_num > 0;
    return str_next_part(&rest, '~', &at) && str_to_i64(at, &out->created_at) &&
           str_next_part(&rest, '~', &thread) && uuid_parse(thread, &out->thread_id) &&
           str_to_i64(rest, &out->sequence_num) && out->sequence_num > 0;
}

static void answer_page(struct call *call, const struct schema *schema,
    const struct checkpoint_filter *filter, const struct checkpoint_page *page)
{
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_name(&w, "data");
    json_write_array(&w);
    for (size_t i = 0; i < page->count; i++)
        schema_encode(&w, schema, &page->checkpoints[i]);
    json_write_end(&w);
    json_write_name(&w, "has_more");
    json_write_bool(&w, page->more);
    json_write_name(&w, "next_cursor");
    json_write_string(&w, page->more ? write_cursor(call, filter, &page->next) : STR_NONE);
    json_write_end(&w);
}

enum error checkpoints_answer_list(struct call *call, struct context *c,
    const struct schema *schema, struct checkpoint_filter *filter)
{
    const struct list_query *q = call->request.query;
    size_t limit = page_limit(&q->page);
    struct checkpoint_page page = {
        .checkpoints = ARENA_ARRAY(call->arena, struct checkpoint, limit)};
    filter->ns = q->ns;
    filter->has_before_id = q->has_before;
    filter->before_id = q->before;
    filter->has_id_before = q->has_id_before;
    filter->id_before = q->id_before;
    filter->show = shown(q->include);
    memcpy(filter->metadata_keys, call->request.metadata_keys, sizeof filter->metadata_keys);
    memcpy(filter->metadata_values, call->request.metadata_values, sizeof filter->metadata_values);
    if (!str_is_none(q->page.cursor) && !read_cursor(q->page.cursor, filter, &filter->before))
        return cursor_refused(call);
    enum error e = checkpoint_list(c, filter, limit, &page);
    if (e == OK)
        answer_page(call, schema, filter, &page);
    return e;
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

/* --- Writes --------------------------------------------------------------------------------- */

struct write_body {
    struct str channel;
    struct str value;
    bool has_index;
    int64_t index;
};
static const struct field write_fields[] = {
    {.name = "channel",
        .kind = FIELD_STRING,
        .offset = offsetof(struct write_body, channel),
        .max = CHECKPOINT_CHANNEL_MAX_BYTES},
    {.name = "value",
        .kind = FIELD_JSON,
        .offset = offsetof(struct write_body, value),
        .max = CHECKPOINT_WRITES_MAX_BYTES},
    {.name = "index",
        .kind = FIELD_INT,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct write_body, index),
        .has_offset = offsetof(struct write_body, has_index),
        .min = CHECKPOINT_INDEX_MIN,
        .max = CHECKPOINT_INDEX_MAX,
        .summary = "its place in the list unless given; a negative one is written over"},
};
static const struct schema schema_write = {
    "CheckpointWrite", write_fields, COUNT_OF(write_fields), sizeof(struct write_body), 0};

struct writes_body {
    struct str task_id;
    struct str task_path;
    bool has_ahead;
    bool ahead;
    struct nested_list writes;
};
static const struct field writes_fields[] = {
    {.name = "task_id",
        .kind = FIELD_STRING,
        .offset = offsetof(struct writes_body, task_id),
        .min = 1,
        .max = CHECKPOINT_TASK_ID_MAX_BYTES},
    {.name = "task_path",
        .kind = FIELD_STRING,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct writes_body, task_path),
        .max = CHECKPOINT_TASK_PATH_MAX_BYTES},
    {.name = "ahead",
        .kind = FIELD_BOOL,
        .flags = FIELD_OPTIONAL,
        .offset = offsetof(struct writes_body, ahead),
        .has_offset = offsetof(struct writes_body, has_ahead),
        .summary = "the checkpoint may be yet to come"},
    {.name = "writes",
        .kind = FIELD_NESTED_LIST,
        .offset = offsetof(struct writes_body, writes),
        .max = CHECKPOINT_WRITES_MAX,
        .nested = &schema_write},
};
const struct schema schema_checkpoint_writes_put = {
    "CheckpointWritesPut", writes_fields, COUNT_OF(writes_fields), sizeof(struct writes_body), 0};

struct written {
    int64_t written;
    int64_t kept;
};
static const struct field written_fields[] = {
    {.name = "written", .kind = FIELD_INT, .offset = offsetof(struct written, written)},
    {.name = "kept",
        .kind = FIELD_INT,
        .offset = offsetof(struct written, kept),
        .summary = "that were there already: the first to write one wins"},
};
const struct schema schema_checkpoint_written = {
    "CheckpointWritten", written_fields, COUNT_OF(written_fields), sizeof(struct written), 0};

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
    enum error e = checkpoint_put_writes(c, &checkpoint, &task, writes, n, &written.written);
    written.kept = (int64_t)n - written.written;
    if (e == OK)
        call_answer(call, &schema_checkpoint_written, &written, 0);
    return e;
}

static const struct field writes_shown_fields[] = {
    {.name = "checkpoint_id", .kind = FIELD_UUID, .offset = CHECKPOINT_FIELD(id)},
    {.name = "namespace", .kind = FIELD_STRING, .offset = CHECKPOINT_FIELD(ns)},
    {.name = "writes",
        .kind = FIELD_ARRAY,
        .nested = &schema_pending_write,
        .offset = CHECKPOINT_FIELD(pending_writes),
        .summary = "[{task_id, task_path, index, channel, value}], by task and index"},
};
const struct schema schema_checkpoint_writes = {"CheckpointWrites", writes_shown_fields,
    COUNT_OF(writes_shown_fields), sizeof(struct checkpoint), 0};

enum error handle_checkpoint_writes_get(struct call *call, struct context *c)
{
    const struct place_query *q = call->request.query;
    struct checkpoint k;
    enum error e = checkpoint_get(
        c, call->request.params[0], q->ns, call->request.params[1], CHECKPOINT_WRITES, &k);
    if (e == OK)
        call_answer(call, &schema_checkpoint_writes, &k, 0);
    return e;
}
