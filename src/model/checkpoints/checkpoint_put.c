/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a checkpoint. */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"
#include "model/checkpoints/checkpoints.sql.h"
#include "model/threads/events.h"

/* --- Shape ---------------------------------------------------------------------------------- */

static enum error parse(struct context *c, struct str text, struct json_doc *out_doc)
{
    struct json_error unused;
    if (json_parse(c->arena, text, out_doc, &unused))
        return OK;
    return problem_set(
        c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
}

/* Versions are numbers or texts, whose order only the engine of the client knows. */
static enum error check_versions(
    struct context *c, struct json versions, struct str at, const char *what)
{
    struct json_iter it = json_iter(versions);
    struct json key, value;
    if (json_type(versions) != JSON_OBJECT)
        return problem_fault(c->problem, at, "must be an object");
    while (json_next(&it, &key, &value))
        if (json_type(value) != JSON_NUMBER && json_type(value) != JSON_STRING)
            return problem_fault(c->problem,
                json_pointer_join(c->arena, at, json_string(c->arena, key)),
                "must be %s: a number or a string, not %s", what, json_type_name(json_type(value)));
    return OK;
}

static enum error check_seen(struct context *c, struct json seen)
{
    struct json_iter it = json_iter(seen);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        struct str at =
            json_pointer_join(c->arena, STR("/versions_seen"), json_string(c->arena, key));
        TRY(check_versions(c, value, at, "the version that the node has seen"));
    }
    return OK;
}

static enum error check_send(struct context *c, struct json send, size_t i)
{
    struct str at = arena_printf(c->arena, "/pending_sends/%zu", i);
    struct json channel, value;
    if (json_type(send) != JSON_OBJECT)
        return problem_fault(c->problem, at, "must be an object with channel and value");
    if (!json_get(send, STR("channel"), &channel) || json_type(channel) != JSON_STRING)
        return problem_fault(c->problem, json_pointer_join(c->arena, at, STR("channel")),
            "must be the name of a channel");
    if (!json_get(send, STR("value"), &value))
        return problem_fault(
            c->problem, json_pointer_join(c->arena, at, STR("value")), "must be given");
    return OK;
}

static enum error check_sends(struct context *c, struct json sends)
{
    struct json_iter it = json_iter(sends);
    struct json send;
    for (size_t i = 0; json_next(&it, NULL, &send); i++)
        TRY(check_send(c, send, i));
    return OK;
}

enum error checkpoint_check_shape(struct context *c, struct checkpoint *k)
{
    struct json_doc versions, seen, sends;
    if (str_is_none(k->channel_versions))
        k->channel_versions = STR("{}");
    if (str_is_none(k->versions_seen))
        k->versions_seen = STR("{}");
    if (str_is_none(k->pending_sends))
        k->pending_sends = STR("[]");
    if (str_is_none(k->metadata))
        k->metadata = STR("{}");
    TRY(parse(c, k->channel_versions, &versions));
    TRY(check_versions(
        c, json_root(&versions), STR("/channel_versions"), "the version of a channel"));
    TRY(parse(c, k->versions_seen, &seen));
    TRY(check_seen(c, json_root(&seen)));
    TRY(parse(c, k->pending_sends, &sends));
    return check_sends(c, json_root(&sends));
}

/* --- Rows ----------------------------------------------------------------------------------- */

void checkpoint_bind(struct query *q, const struct checkpoint *k)
{
    query_uuid(q, thread_id, k->thread_id);
    query_text(q, namespace, k->ns);
    query_uuid(q, id, k->id);
    query_uuid_if(q, parent_id, k->has_parent_id, k->parent_id);
    query_uuid_if(q, run_id, k->has_run_id, k->run_id);
    query_uuid(q, snapshot_id, k->snapshot_id);
    query_text(q, channel_versions, k->channel_versions);
    query_text(q, versions_seen, k->versions_seen);
    query_text(q, pending_sends, k->pending_sends);
    query_text(q, metadata, k->metadata);
    query_text(q, node, k->node);
}

enum error checkpoint_insert(struct context *c, struct checkpoint *k)
{
    struct query q;
    int64_t last;
    context_query(c, &q, &SQL_CHECKPOINT_LAST_NUMBER);
    query_uuid(&q, thread_id, k->thread_id);
    TRY(context_number(&q, &last));
    k->sequence_num = last + 1;
    context_query(c, &q, &SQL_CHECKPOINT_INSERT);
    checkpoint_bind(&q, k);
    query_i64(&q, sequence_num, k->sequence_num);
    query_i64(&q, now, k->created_at);
    return query_run(&q);
}

enum error checkpoint_tell(struct context *c, enum event_kind kind, const struct checkpoint *k)
{
    struct json_text payload;
    json_text_init(&payload, EVENT_PAYLOAD_MAX_BYTES);
    struct json_writer *w = &payload.w;
    json_write_object(w);
    json_write_name(w, "checkpoint_id");
    json_write_uuid(w, k->id);
    json_write_text_member(w, "namespace", k->ns);
    json_write_name(w, "parent_id");
    if (k->has_parent_id)
        json_write_uuid(w, k->parent_id);
    else
        json_write_null(w);
    json_write_name(w, "sequence_num");
    json_write_i64(w, k->sequence_num);
    json_write_end(w);
    struct event event = {.kind = event_kind_word(kind),
        .has_run_id = k->has_run_id,
        .run_id = k->run_id,
        .payload = json_text_take(&payload, c->arena)};
    return event_emit(c, k->thread_id, &event);
}

/* --- Checks --------------------------------------------------------------------------------- */

static struct str id_text(struct context *c, struct uuid id)
{
    char text[UUID_TEXT_LEN];
    uuid_format(id, text);
    return arena_str(c->arena, (struct str){text, sizeof text});
}

/* `latest` is NULL if there is none, or if the put does not need it. */
static enum error check_latest(
    struct context *c, const struct checkpoint_put *put, const struct checkpoint *latest)
{
    if (!put->expects_latest)
        return OK;
    if (put->has_expected ? latest != NULL && uuid_eq(latest->id, put->expected) : latest == NULL)
        return OK;
    struct str id = latest != NULL ? id_text(c, latest->id) : STR_NONE;
    c->problem->extension = latest != NULL
                                ? arena_printf(c->arena, "{\"latest\":\"%.*s\"}", STR_ARG(id))
                                : STR("{\"latest\":null}");
    if (latest == NULL)
        return problem_set(c->problem, ERR_CONFLICT,
            "the namespace has no checkpoint: send expected_latest as null");
    return problem_set(c->problem, ERR_CONFLICT,
        "the latest checkpoint is %.*s, not expected_latest: another client wrote a checkpoint",
        STR_ARG(id));
}

/* The values of the parent, on which a checkpoint is based. */
struct base {
    struct uuid snapshot_id; /* the nil id: there is no parent */
    struct str versions;     /* of its channels, if the put needs them */
};

static struct base base_of(const struct checkpoint *parent)
{
    return (struct base){parent->snapshot_id, parent->channel_versions};
}

/* The default parent is the expected latest checkpoint. Without one it is the latest of the run,
 * because other runs may write in parallel (such as one that was replayed from it), or else the
 * latest of the namespace. */
static enum error take_usual_parent(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *k, const struct checkpoint *latest, struct base *out_base)
{
    struct checkpoint own;
    bool found = false;
    if (k->has_run_id && latest != NULL && !put->expects_latest)
        TRY(checkpoint_find_latest_of_run(c, k->run_id, k->ns, put->by_versions, &found, &own));
    const struct checkpoint *parent = found ? &own : latest;
    if (parent == NULL)
        return OK;
    k->has_parent_id = true;
    k->parent_id = parent->id;
    *out_base = base_of(parent);
    return OK;
}

/* The parent must be an earlier checkpoint, so that every chain of parents ends. An existing
 * checkpoint already has its number. */
static bool is_before(const struct checkpoint *parent, const struct checkpoint *k)
{
    return k->sequence_num == 0 || parent->sequence_num < k->sequence_num;
}

/* Finds the parent. */
static enum error find_parent(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *k, const struct checkpoint *latest, struct base *out_base)
{
    struct checkpoint parent;
    bool found = false;
    *out_base = (struct base){.snapshot_id = UUID_NIL};
    if (!put->knows_parent)
        return take_usual_parent(c, put, k, latest, out_base);
    if (!k->has_parent_id)
        return OK;
    TRY(checkpoint_find(c, k->thread_id, k->ns, k->parent_id, put->by_versions, &found, &parent));
    if (!found || uuid_eq(k->parent_id, k->id))
        return problem_fault(c->problem, STR("/parent_id"),
            "must be another checkpoint of this thread and namespace");
    if (!is_before(&parent, k))
        return problem_fault(c->problem, STR("/parent_id"),
            "must be a checkpoint that was put before the replaced checkpoint");
    *out_base = base_of(&parent);
    return OK;
}

/* --- Put ------------------------------------------------------------------------------------ */

/* The inherited channels: those with the same version in the parent, and those that are appended
 * to. */
static enum error find_kept(struct context *c, const struct checkpoint *k, struct str base_versions,
    struct snapshot_change *change)
{
    struct json_doc own, parents, added;
    struct json key, version, other;
    struct str append = str_is_none(change->append) ? STR("{}") : change->append;
    TRY(parse(c, k->channel_versions, &own));
    TRY(parse(c, base_versions, &parents));
    TRY(parse(c, append, &added));
    size_t most = json_count(json_root(&own)) + json_count(json_root(&added)), n = 0;
    struct str *keep = ARENA_ARRAY(c->arena, struct str, most + 1);
    struct json_iter it = json_iter(json_root(&own));
    while (json_next(&it, &key, &version)) {
        struct str channel = json_string(c->arena, key);
        if (json_get(json_root(&parents), channel, &other) && json_equal(version, other))
            keep[n++] = channel;
    }
    it = json_iter(json_root(&added));
    while (json_next(&it, &key, &other))
        keep[n++] = json_string(c->arena, key);
    change->keeps_some = true;
    change->keep = keep;
    change->n_keep = n;
    return OK;
}

static enum error put_changes(struct context *c, const struct checkpoint_put *put,
    const struct checkpoint *k, const struct base *base, struct snapshot *out_snapshot)
{
    struct snapshot_change change = put->change;
    bool has_base = !uuid_is_nil(base->snapshot_id);
    /* A change requires a parent: without one the request is rejected. */
    if (!has_base && !put->by_versions && !put->knows_parent)
        return problem_fault(c->problem, STR("/changes"),
            "requires a parent: send channel_values for the first checkpoint, or \"parent_id\": "
            "null");
    if (has_base && put->by_versions)
        TRY(find_kept(c, k, base->versions, &change));
    return snapshot_change(
        c, k->thread_id, base->snapshot_id, &change, STR("/changes"), out_snapshot);
}

static enum error put_values(struct context *c, const struct checkpoint_put *put,
    const struct checkpoint *k, const struct base *base, struct snapshot *out_snapshot)
{
    if (str_is_none(put->values))
        return put_changes(c, put, k, base, out_snapshot);
    enum error e = snapshot_put(c, k->thread_id, base->snapshot_id, put->values, out_snapshot);
    if (e != ERR_DAMAGED)
        return e;
    /* Whole values do not need a parent that may be damaged. */
    problem_init(c->problem, c->arena);
    return snapshot_put(c, k->thread_id, UUID_NIL, put->values, out_snapshot);
}

/* Members that the client left out keep their values. */
static void take_over(
    const struct checkpoint_put *put, const struct checkpoint *old, struct checkpoint *k)
{
    if (!put->knows_parent) {
        k->has_parent_id = old->has_parent_id;
        k->parent_id = old->parent_id;
    }
    k->sequence_num = old->sequence_num;
    k->created_at = old->created_at;
}

static bool is_same(struct context *c, const struct checkpoint *a, const struct checkpoint *b)
{
    return a->has_parent_id == b->has_parent_id &&
           (!a->has_parent_id || uuid_eq(a->parent_id, b->parent_id)) &&
           a->has_run_id == b->has_run_id && (!a->has_run_id || uuid_eq(a->run_id, b->run_id)) &&
           !str_differs(a->node, b->node) && json_texts_equal(c->arena, a->metadata, b->metadata) &&
           json_texts_equal(c->arena, a->channel_versions, b->channel_versions) &&
           json_texts_equal(c->arena, a->versions_seen, b->versions_seen) &&
           json_texts_equal(c->arena, a->pending_sends, b->pending_sends) &&
           json_texts_equal(c->arena, a->channel_values, b->channel_values);
}

static enum error replace(struct context *c, const struct checkpoint *old, struct checkpoint *k)
{
    struct query q;
    context_query(c, &q, &SQL_CHECKPOINT_REPLACE);
    checkpoint_bind(&q, k);
    TRY(query_run(&q));
    TRY(snapshot_drop(c, old->snapshot_id));
    return checkpoint_tell(c, EVENT_CHECKPOINT_UPDATED, k);
}

/* Determines the new values; stores a snapshot only if the put is a change. */
static enum error values_of(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *k, const struct base *base, struct snapshot *out_snapshot)
{
    k->channel_values = put->values;
    *out_snapshot = (struct snapshot){0};
    if (!str_is_none(put->values))
        return OK;
    TRY(put_values(c, put, k, base, out_snapshot));
    return snapshot_get(c, out_snapshot->id, &k->channel_values);
}

/* The id exists: it is the same checkpoint, or one that this one replaces. */
static enum error put_again(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *old, struct checkpoint *k)
{
    struct snapshot snapshot = {0};
    struct base base;
    take_over(put, old, k);
    struct checkpoint_put known = *put;
    known.knows_parent = true;
    enum error e = find_parent(c, &known, k, NULL, &base);
    if (e == OK)
        e = values_of(c, put, k, &base, &snapshot);
    if (e == OK)
        e = snapshot_get(c, old->snapshot_id, &old->channel_values);
    if (e == ERR_DAMAGED && put->may_replace) {
        problem_init(c->problem, c->arena);
        old->channel_values = STR_NONE;
        e = OK;
    }
    if (e != OK)
        return e;
    if (is_same(c, old, k)) {
        *k = *old;
        return uuid_is_nil(snapshot.id) ? OK : snapshot_drop(c, snapshot.id);
    }
    if (!put->may_replace)
        return problem_set(c->problem, ERR_CONFLICT,
            "the namespace already has a different checkpoint %.*s: send \"replace\": true to "
            "overwrite it",
            STR_ARG(id_text(c, k->id)));
    if (uuid_is_nil(snapshot.id))
        e = put_values(c, put, k, &base, &snapshot);
    if (e != OK)
        return e;
    k->snapshot_id = snapshot.id;
    k->size_bytes = snapshot.size_bytes;
    return replace(c, old, k);
}

static enum error put_new(struct context *c, const struct checkpoint_put *put,
    const struct checkpoint *latest, struct checkpoint *k)
{
    struct snapshot snapshot;
    struct base base;
    TRY(check_latest(c, put, latest));
    TRY(find_parent(c, put, k, latest, &base));
    TRY(put_values(c, put, k, &base, &snapshot));
    k->snapshot_id = snapshot.id;
    k->size_bytes = snapshot.size_bytes;
    k->created_at = c->now_us;
    TRY(checkpoint_insert(c, k));
    return checkpoint_tell(c, EVENT_CHECKPOINT_CREATED, k);
}

enum error checkpoint_put(struct context *c, const struct checkpoint_put *put,
    struct checkpoint *checkpoint, bool *out_is_new)
{
    struct checkpoint old, latest;
    struct thread thread;
    bool exists = false, has_latest = false;
    TRY(thread_get_head(c, checkpoint->thread_id, &thread));
    TRY(checkpoint_check_shape(c, checkpoint));
    checkpoint->thread_key = thread.key;
    checkpoint->sequence_num = 0;
    if (checkpoint->has_run_id && !put->is_unfenced)
        TRY(run_check_in_thread(c, checkpoint->thread_id, checkpoint->run_id, STR("/run_id")));
    if (!put->has_id)
        checkpoint->id = uuid_v7();
    else if (uuid_is_nil(checkpoint->id))
        return problem_fault(c->problem, STR("/id"), "must not be the nil UUID");
    else
        TRY(checkpoint_find(
            c, checkpoint->thread_id, checkpoint->ns, checkpoint->id, true, &exists, &old));
    *out_is_new = !exists;
    if (exists)
        return put_again(c, put, &old, checkpoint);
    if (put->expects_latest || !put->knows_parent)
        TRY(checkpoint_find_latest(
            c, checkpoint->thread_id, checkpoint->ns, put->by_versions, &has_latest, &latest));
    return put_new(c, put, has_latest ? &latest : NULL, checkpoint);
}
