/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two checkpoints, by channel. */
#include "base/json/json_diff.h"
#include "base/json/json_patch.h"
#include "model/checkpoints/checkpoint_rows.h"

struct side {
    struct json_doc values;
    struct json_doc versions;
};

static enum error read_side(struct context *c, struct uuid thread_id, struct str ns, struct uuid id,
    struct checkpoint *out, struct side *side)
{
    struct json_error unused;
    TRY(checkpoint_get(c, thread_id, ns, id, CHECKPOINT_VALUES, out));
    if (json_parse(c->arena, out->channel_values, &side->values, &unused) &&
        json_parse(c->arena, out->channel_versions, &side->versions, &unused))
        return OK;
    return problem_set(
        c->problem, ERR_TOO_LARGE, "the comparison exceeds the memory limit of a request");
}

static void write_version(
    struct json_writer *w, const char *name, const struct side *side, struct str channel)
{
    struct json version;
    json_write_name(w, name);
    if (json_get(json_root(&side->versions), channel, &version))
        json_write_value(w, version);
    else
        json_write_null(w);
}

static void write_channel(struct json_writer *w, const struct side *from, const struct side *to,
    struct str channel, const char *change)
{
    json_write_object(w);
    json_write_text_member(w, "channel", channel);
    json_write_text_member(w, "change", str_of(change));
    write_version(w, "from_version", from, channel);
    write_version(w, "to_version", to, channel);
    json_write_end(w);
}

/* First the channels that are only in the first or have another value, then those that are only in
 * the second. */
static void write_channels(
    struct context *c, struct json_writer *w, const struct side *from, const struct side *to)
{
    struct json_iter it = json_iter(json_root(&from->values));
    struct json key, value, other;
    while (json_next(&it, &key, &value)) {
        struct str channel = json_string(c->arena, key);
        if (!json_get(json_root(&to->values), channel, &other))
            write_channel(w, from, to, channel, "removed");
        else if (!json_equal(value, other))
            write_channel(w, from, to, channel, "changed");
    }
    it = json_iter(json_root(&to->values));
    while (json_next(&it, &key, &value)) {
        struct str channel = json_string(c->arena, key);
        if (!json_get(json_root(&from->values), channel, &other))
            write_channel(w, from, to, channel, "added");
    }
}

enum error checkpoint_diff(struct context *c, struct uuid thread_id, struct str ns,
    struct uuid from_id, struct uuid to_id, struct checkpoint_diff *out_diff)
{
    struct checkpoint_diff diff;
    struct side from, to;
    struct json_text channels, patch;
    TRY(read_side(c, thread_id, ns, from_id, &diff.from, &from));
    TRY(read_side(c, thread_id, ns, to_id, &diff.to, &to));
    json_text_init(&channels, SIZE_MAX);
    json_write_array(&channels.w);
    write_channels(c, &channels.w, &from, &to);
    json_write_end(&channels.w);
    diff.channels = json_text_take(&channels, c->arena);
    json_text_init(&patch, SIZE_MAX);
    json_write_array(&patch.w);
    json_diff(c->arena, STR(""), json_root(&from.values), json_root(&to.values), &patch.w);
    json_write_end(&patch.w);
    diff.patch = json_text_take(&patch, c->arena);
    *out_diff = diff;
    return OK;
}
