/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recovery after data was lost: finds the latest checkpoint with undamaged values. Reading a
 * snapshot checks its hash; if it is damaged, the parent is tried, and so on. The skipped
 * checkpoints are reported.
 */
#include "base/json/json_write.h"
#include "model/checkpoints/checkpoint_rows.h"

static enum error locate(
    struct context *c, const struct checkpoint_place *place, struct checkpoint *out)
{
    struct thread thread;
    bool found = false;
    TRY(thread_get_head(c, place->thread_id, &thread));
    if (place->has_id)
        TRY(checkpoint_find(c, place->thread_id, place->ns, place->id, true, &found, out));
    else if (place->has_run_id)
        TRY(checkpoint_find_latest_of_run(c, place->run_id, place->ns, true, &found, out));
    else
        TRY(checkpoint_find_latest(c, place->thread_id, place->ns, true, &found, out));
    if (found)
        return OK;
    if (place->has_id)
        return context_not_found(c, "checkpoint", place->id);
    return problem_set(c->problem, ERR_NOT_FOUND, "no checkpoint exists to recover from");
}

/* --- Consistency ---------------------------------------------------------------------------- */

static void warn(struct json_writer *w, struct str channel, struct str detail)
{
    json_write_object(w);
    json_write_text_member(w, "channel", channel);
    json_write_text_member(w, "detail", detail);
    json_write_end(w);
}

static void warn_of_missing(struct context *c, struct json_writer *w, struct json in,
    struct json also_in, struct str detail)
{
    struct json_iter it = json_iter(in);
    struct json key, value, unused;
    while (json_next(&it, &key, &value)) {
        struct str channel = json_string(c->arena, key);
        if (!json_get(also_in, channel, &unused))
            warn(w, channel, detail);
    }
}

/* Versions are not checked for an engine that does not keep them. */
static enum error compare_channels(struct context *c, struct checkpoint_recovery *r)
{
    struct json_doc values, versions;
    struct json_error unused;
    struct json_text text;
    if (!json_parse(c->arena, r->checkpoint.channel_values, &values, &unused) ||
        !json_parse(c->arena, r->checkpoint.channel_versions, &versions, &unused))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the answer exceeds the memory limit of a request");
    json_text_init(&text, SIZE_MAX);
    json_write_array(&text.w);
    if (json_count(json_root(&versions)) > 0) {
        warn_of_missing(c, &text.w, json_root(&values), json_root(&versions),
            STR("has a value and no version"));
        warn_of_missing(c, &text.w, json_root(&versions), json_root(&values),
            STR("has a version and no value"));
    }
    json_write_end(&text.w);
    r->warnings = json_text_take(&text, c->arena);
    return OK;
}

/* --- Recover -------------------------------------------------------------------------------- */

struct skipped {
    struct json_text text;
    size_t count;
};

static void skip(struct skipped *skipped, struct uuid id, struct str reason)
{
    json_write_object(&skipped->text.w);
    json_write_name(&skipped->text.w, "checkpoint_id");
    json_write_uuid(&skipped->text.w, id);
    json_write_text_member(&skipped->text.w, "reason", reason);
    json_write_end(&skipped->text.w);
    skipped->count++;
}

/* There is no undamaged ancestor. */
static enum error give_up(struct context *c, struct skipped *skipped)
{
    json_write_end(&skipped->text.w);
    struct str list = json_text_take(&skipped->text, c->arena);
    problem_init(c->problem, c->arena);
    c->problem->extension = arena_printf(c->arena, "{\"skipped\":%.*s}", STR_ARG(list));
    if (skipped->count == CHECKPOINT_SKIP_MAX)
        return problem_set(c->problem, ERR_DAMAGED,
            "the newest %d checkpoints are damaged; older ones were not examined",
            CHECKPOINT_SKIP_MAX);
    return problem_set(
        c->problem, ERR_DAMAGED, "all of the %zu checkpoints are damaged", skipped->count);
}

/* Finds the parent of a damaged checkpoint. */
static enum error step_back(struct context *c, struct checkpoint *k, bool *out_found)
{
    struct checkpoint parent;
    *out_found = false;
    if (!k->has_parent_id)
        return OK;
    TRY(checkpoint_find(c, k->thread_id, k->ns, k->parent_id, true, out_found, &parent));
    if (*out_found)
        *k = parent;
    return OK;
}

static enum error find_intact(
    struct context *c, struct checkpoint *k, struct skipped *skipped, bool *out_found)
{
    struct arena_mark mark = arena_mark(c->arena);
    const struct str ns = k->ns;
    enum error e = OK;
    *out_found = true;
    while (e == OK && *out_found) {
        e = snapshot_get(c, k->snapshot_id, &k->channel_values);
        if (e != ERR_DAMAGED && e != ERR_NOT_FOUND)
            return e;
        e = OK;
        if (skipped->count == CHECKPOINT_SKIP_MAX)
            break;
        skip(skipped, k->id, c->problem->detail);
        /* Frees the documents of the damaged checkpoint before its ancestors are read. */
        problem_init(c->problem, c->arena);
        arena_rewind(c->arena, mark);
        k->ns = ns;
        e = step_back(c, k, out_found);
    }
    *out_found = false;
    return e;
}

enum error checkpoint_recover(struct context *c, const struct checkpoint_place *place,
    struct checkpoint_recovery *out_recovery)
{
    struct checkpoint_recovery r = {0};
    struct skipped skipped = {0};
    bool found = false;
    TRY(locate(c, place, &r.checkpoint));
    json_text_init(&skipped.text, SIZE_MAX);
    json_write_array(&skipped.text.w);
    enum error e = find_intact(c, &r.checkpoint, &skipped, &found);
    if (e == OK && !found)
        return give_up(c, &skipped);
    json_write_end(&skipped.text.w);
    r.skipped = json_text_take(&skipped.text, c->arena);
    if (e == OK)
        e = checkpoint_fill(c, CHECKPOINT_WRITES, &r.checkpoint);
    if (e == OK)
        e = compare_channels(c, &r);
    if (e == OK)
        *out_recovery = r;
    return e;
}
