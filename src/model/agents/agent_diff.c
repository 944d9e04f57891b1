/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two versions of an agent. */
#include "base/json/json_diff.h"
#include "model/agents/agent_versions.h"

enum { DIFF_MAX_BYTES = 64 * 1024 * 1024 };

static bool parse(struct context *c, struct str text, struct json *out_value)
{
    struct json_doc *doc = ARENA_NEW(c->arena, struct json_doc);
    struct json_error unused;
    if (!json_parse(c->arena, text, doc, &unused))
        return false;
    *out_value = json_root(doc);
    return true;
}

/* An absent graph is null, because a definition has a member for every part. */
static bool compare_part(struct context *c, enum agent_part part, struct str from, struct str to,
    struct json_writer *w, struct agent_diff_field *out)
{
    struct str null = STR("null"), pointer = arena_printf(c->arena, "/%s", agent_part_names[part]);
    struct json a, b;
    if (!parse(c, str_is_none(from) ? null : from, &a) ||
        !parse(c, str_is_none(to) ? null : to, &b))
        return false;
    out->field = str_of(agent_part_names[part]);
    out->change = str_is_none(from) ? STR("added")
                  : str_is_none(to) ? STR("removed")
                                    : STR("changed");
    out->operations = (int64_t)json_diff(c->arena, pointer, a, b, w);
    return true;
}

static bool compare(struct context *c, const struct agent_version *from,
    const struct agent_version *to, struct agent_diff *out)
{
    struct agent_diff_field *fields = ARENA_ARRAY(c->arena, struct agent_diff_field, AGENT_PARTS);
    struct json_text patch;
    bool parsed = true;
    json_text_init(&patch, DIFF_MAX_BYTES);
    json_write_array(&patch.w);
    out->fields = (struct nested_list){.items = fields};
    for (enum agent_part i = 0; i < AGENT_PARTS && parsed; i++) {
        struct agent_diff_field *field = &fields[out->fields.count];
        parsed = compare_part(c, i, from->parts[i], to->parts[i], &patch.w, field);
        if (parsed && field->operations > 0)
            out->fields.count++;
    }
    json_write_end(&patch.w);
    out->patch = json_text_take(&patch, c->arena);
    return parsed;
}

enum error agent_version_diff(struct context *c, struct uuid agent_id, struct str from,
    struct str to, struct agent_diff *out_diff)
{
    struct agent_version a, b;
    struct agent_diff diff = {0};
    TRY(agent_version_show(c, agent_id, from, &a));
    TRY(agent_version_show(c, agent_id, to, &b));
    if (!compare(c, &a, &b, &diff))
        return problem_set(
            c->problem, ERR_TOO_LARGE, "the versions exceed the memory limit of a request");
    diff.from = a.version;
    diff.to = b.version;
    *out_diff = diff;
    return OK;
}
