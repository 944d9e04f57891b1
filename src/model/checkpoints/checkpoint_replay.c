/* SPDX-License-Identifier: Apache-2.0 */
/* Replay: a new run continues from a checkpoint of another run, possibly with changed values. */
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"

static enum error find_source(struct context *c, const struct run *run,
    const struct checkpoint_replay *replay, struct checkpoint *out)
{
    bool found;
    TRY(checkpoint_find(c, run->thread_id, replay->ns, replay->id, true, &found, out));
    if (found && (!out->has_run_id || uuid_eq(out->run_id, run->id)))
        return OK;
    return problem_fault(c->problem, STR("/checkpoint_id"), "must be a checkpoint of this run");
}

/* Increments the version of a replaced channel if versions are whole numbers. */
static void write_version(struct json_writer *w, struct json version, bool is_new)
{
    int64_t number;
    if (is_new && json_type(version) == JSON_NUMBER && json_to_i64(version, &number) &&
        number < INT64_MAX)
        json_write_i64(w, number + 1);
    else
        json_write_value(w, version);
}

static enum error next_versions(
    struct context *c, struct str old, struct str modified, struct str *out_versions)
{
    struct json_doc versions, state;
    struct json_error unused;
    struct json_text text;
    struct json key, value, other;
    *out_versions = old;
    if (str_is_none(modified) || str_eq(old, STR("{}")))
        return OK;
    if (!json_parse(c->arena, old, &versions, &unused) ||
        !json_parse(c->arena, modified, &state, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the request exceeds the memory limit of a request");
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    struct json_iter it = json_iter(json_root(&versions));
    while (json_next(&it, &key, &value)) {
        struct str channel = json_string(c->arena, key);
        json_write_key(&text.w, channel);
        write_version(&text.w, value, json_get(json_root(&state), channel, &other));
    }
    it = json_iter(json_root(&state));
    while (json_next(&it, &key, &value)) {
        struct str channel = json_string(c->arena, key);
        if (json_get(json_root(&versions), channel, &other))
            continue;
        json_write_key(&text.w, channel);
        json_write_i64(&text.w, 1);
    }
    json_write_end(&text.w);
    *out_versions = json_text_take(&text, c->arena);
    return OK;
}

static struct str describe(
    struct context *c, struct uuid old_run_id, const struct checkpoint *source, bool modified)
{
    struct json_text text;
    json_text_init(&text, 1024);
    json_write_object(&text.w);
    json_write_text_member(&text.w, "source", STR("fork"));
    json_write_text_member(&text.w, "trigger", STR("manual"));
    json_write_name(&text.w, "replayed_run_id");
    json_write_uuid(&text.w, old_run_id);
    json_write_name(&text.w, "replayed_checkpoint_id");
    json_write_uuid(&text.w, source->id);
    json_write_name(&text.w, "modified");
    json_write_bool(&text.w, modified);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

static enum error start(struct context *c, const struct run *run,
    const struct checkpoint_replay *replay, struct run *out_run)
{
    *out_run = (struct run){.dispatch = replay->dispatch,
        .agent = run->agent,
        .has_agent_id = run->has_agent_id,
        .agent_id = run->agent_id,
        .agent_version = run->agent_version,
        .model = run->model,
        .provider = run->provider,
        .request = run->request,
        .user_input = run->user_input,
        .ask_clarifications = run->ask_clarifications,
        .metadata = run->metadata,
        .has_forked_from_run_id = true,
        .forked_from_run_id = run->id,
        .has_forked_from_checkpoint_id = true,
        .forked_from_checkpoint_id = replay->id};
    return run_start(c, run->thread_id, replay->policy, out_run);
}

/* The first checkpoint of the new run: the old values with the modifications. */
static enum error begin_with(struct context *c, const struct run *run,
    const struct checkpoint *source, struct str modified, struct checkpoint *out)
{
    struct checkpoint_put put = {
        .knows_parent = true, .change = {.set = modified}, .is_unfenced = true};
    struct str versions;
    bool is_new;
    TRY(next_versions(c, source->channel_versions, modified, &versions));
    *out = (struct checkpoint){.thread_id = source->thread_id,
        .ns = source->ns,
        .has_parent_id = true,
        .parent_id = source->id,
        .has_run_id = true,
        .run_id = run->id,
        .channel_versions = versions,
        .versions_seen = source->versions_seen,
        .pending_sends = source->pending_sends,
        .node = source->node,
        .metadata = describe(c, run->forked_from_run_id, source, !str_is_none(modified))};
    return checkpoint_put(c, &put, out, &is_new);
}

enum error checkpoint_replay(struct context *c, const struct run *run,
    const struct checkpoint_replay *replay, struct run *out_run, struct checkpoint *out_checkpoint)
{
    struct checkpoint source;
    struct str unused;
    TRY(find_source(c, run, replay, &source));
    /* A damaged checkpoint cannot be replayed. */
    TRY(snapshot_get(c, source.snapshot_id, &unused));
    TRY(start(c, run, replay, out_run));
    return begin_with(c, out_run, &source, replay->modified, out_checkpoint);
}
