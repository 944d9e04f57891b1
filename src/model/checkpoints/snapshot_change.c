/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a snapshot from its base and a change, without reading the items of the base. */
#include "base/json/json_write.h"
#include "model/checkpoints/snapshot_plan.h"
#include "model/rehearsal.h"

struct change {
    struct context *c;
    struct arena *arena;
    struct str pointer;
    struct manifest m; /* of the new snapshot; shares pieces with the base */
};

/* Faults have the position POINTER/PART/NAME. */
static struct str place(struct change *change, const char *part, struct str name)
{
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, SNAPSHOT_MAX_BYTES);
    buf_append(&text, change->pointer);
    buf_append_byte(&text, '/');
    buf_append(&text, str_of(part));
    buf_append_byte(&text, '/');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '~' || name.ptr[i] == '/')
            buf_append(&text, name.ptr[i] == '~' ? STR("~0") : STR("~1"));
        else
            buf_append_byte(&text, name.ptr[i]);
    }
    return arena_str(change->c->arena, buf_str(&text));
}

static enum error parse(
    struct change *change, const char *part, struct str text, struct json_doc *out_doc)
{
    struct json_error error;
    struct str at = arena_printf(change->c->arena, "%.*s/%s", STR_ARG(change->pointer), part);
    if (!json_parse(change->arena, text, out_doc, &error))
        return problem_fault(change->c->problem, at, "is not valid JSON: %s", error.rule);
    if (json_type(json_root(out_doc)) != JSON_OBJECT)
        return problem_fault(change->c->problem, at, "must be an object");
    return OK;
}

/* --- Its parts ------------------------------------------------------------------------------ */

static enum error set(struct change *change, struct json members)
{
    struct json_iter it = json_iter(members);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        struct manifest_member member = {.key = json_raw(key)};
        manifest_cut_value(change->arena, value, &member.value);
        size_t at = manifest_find(&change->m, json_string(change->arena, key));
        if (at < change->m.n_members)
            change->m.members[at].value = member.value;
        else
            manifest_append(change->arena, &change->m, member);
    }
    return OK;
}

/* Appends to an array that is too long to be cut, as text. */
static enum error append_to_text(
    struct change *change, struct cut *cut, struct json elements, struct str at)
{
    struct str text;
    struct json_doc doc;
    struct json_error error;
    TRY(snapshot_read_cut(change->c, change->arena, cut, &text));
    if (text.len < 2 || text.ptr[0] != '[')
        return problem_fault(change->c->problem, at, "must be an array in the base");
    struct str more = json_compact(change->arena, elements);
    bool any = text.len > 2 && json_count(elements) > 0;
    struct str whole = arena_printf(change->arena, "%.*s%s%.*s", (int)text.len - 1, text.ptr,
        any ? "," : "", (int)more.len - 1, more.ptr + 1);
    if (!json_parse(change->arena, whole, &doc, &error))
        return problem_fault(change->c->problem, at, "%s", error.rule);
    struct json_doc *kept = ARENA_NEW(change->arena, struct json_doc);
    *kept = doc;
    manifest_cut_value(change->arena, json_root(kept), cut);
    return OK;
}

static enum error append_elements(
    struct change *change, struct cut *cut, struct json elements, struct str at)
{
    if (!cut->is_array || cut->n + json_count(elements) > MANIFEST_CUT_MAX)
        return append_to_text(change, cut, elements, at);
    struct cut more;
    manifest_cut_value(change->arena, elements, &more);
    /* The base uses the same array of pieces, up to its own end. */
    for (size_t i = 0; i < more.n; i++)
        cut_append(change->arena, cut, more.pieces[i]);
    return OK;
}

static enum error append(struct change *change, struct json members)
{
    struct json_iter it = json_iter(members);
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        struct str name = json_string(change->arena, key);
        struct str at = place(change, "append", name);
        size_t index = manifest_find(&change->m, name);
        if (json_type(value) != JSON_ARRAY) {
            return problem_fault(change->c->problem, at, "must be an array of elements");
        } else if (index < change->m.n_members) {
            TRY(append_elements(change, &change->m.members[index].value, value, at));
        } else {
            struct manifest_member member = {.key = json_raw(key)};
            manifest_cut_value(change->arena, value, &member.value);
            manifest_append(change->arena, &change->m, member);
        }
    }
    return OK;
}

static void take_out(struct change *change, struct str name)
{
    struct manifest *m = &change->m;
    size_t at = manifest_find(m, name);
    if (at == m->n_members)
        return;
    memmove(m->members + at, m->members + at + 1, (m->n_members - at - 1) * sizeof(m->members[0]));
    m->n_members--;
}

/* --- The whole ------------------------------------------------------------------------------ */

/* A member may be in only one part of the change. */
static enum error check_apart(struct change *change, const struct snapshot_change *wanted,
    struct json set_members, struct json append_members)
{
    struct json unused, key;
    struct json_iter it = json_iter(append_members);
    while (json_next(&it, &key, &unused)) {
        struct str name = json_string(change->arena, key);
        if (json_get(set_members, name, &unused))
            return problem_fault(change->c->problem, place(change, "append", name),
                "must not be in set too: change each member in one way");
    }
    for (size_t i = 0; i < wanted->n_remove; i++)
        if (json_get(set_members, wanted->remove[i], &unused) ||
            json_get(append_members, wanted->remove[i], &unused))
            return problem_fault(change->c->problem,
                arena_printf(change->c->arena, "%.*s/remove/%zu", STR_ARG(change->pointer), i),
                "must not be in set or append too: change each member in one way");
    return OK;
}

static enum error carry_out(struct change *change, const struct snapshot_change *wanted)
{
    struct json_doc set_doc, append_doc;
    struct str set_text = str_is_none(wanted->set) ? STR("{}") : wanted->set;
    struct str append_text = str_is_none(wanted->append) ? STR("{}") : wanted->append;
    TRY(parse(change, "set", set_text, &set_doc));
    TRY(parse(change, "append", append_text, &append_doc));
    TRY(check_apart(change, wanted, json_root(&set_doc), json_root(&append_doc)));
    for (size_t i = 0; i < wanted->n_remove; i++)
        take_out(change, wanted->remove[i]);
    TRY(set(change, json_root(&set_doc)));
    TRY(append(change, json_root(&append_doc)));
    if (change->m.n_members > MANIFEST_CUT_MAX)
        return problem_fault(change->c->problem, change->pointer,
            "would result in %zu members; a document that is changed in parts can have at most %d",
            change->m.n_members, MANIFEST_CUT_MAX);
    return OK;
}

static bool *find_kept(
    struct arena *arena, const struct manifest *base, const struct snapshot_change *wanted)
{
    bool *kept = ARENA_ARRAY(arena, bool, base->n_members + 1);
    for (size_t i = 0; i < base->n_members; i++)
        kept[i] = !wanted->keeps_some;
    for (size_t i = 0; i < wanted->n_keep; i++)
        kept[manifest_find(base, wanted->keep[i])] = true;
    return kept;
}

/* Copies the list of members; the pieces are shared with the base. */
static struct manifest copy_members(
    struct arena *arena, const struct manifest *base, const struct snapshot_change *wanted)
{
    struct manifest m = {.is_object = true};
    const bool *kept = find_kept(arena, base, wanted);
    for (size_t i = 0; i < base->n_members; i++)
        if (kept[i])
            manifest_append(arena, &m, base->members[i]);
    return m;
}

/* Equal for equal changes of the same base. */
static struct str key_of(
    struct context *c, struct uuid base_id, const struct snapshot_change *change)
{
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, SIZE_MAX);
    buf_append(&text, (struct str){(const char *)base_id.bytes, sizeof base_id.bytes});
    buf_append(&text, change->set);
    buf_append_byte(&text, '\n'); /* not in compact JSON, and not in names as they are written */
    buf_append(&text, change->append);
    for (size_t i = 0; i < change->n_remove; i++) {
        buf_append(&text, STR("\n-"));
        buf_append(&text, change->remove[i]);
    }
    for (size_t i = 0; change->keeps_some && i < change->n_keep; i++) {
        buf_append(&text, STR("\n+"));
        buf_append(&text, change->keep[i]);
    }
    return arena_str(c->arena, buf_str(&text));
}

enum error snapshot_change(struct context *c, struct uuid thread_id, struct uuid base_id,
    const struct snapshot_change *change, struct str pointer, struct snapshot *out_snapshot)
{
    CLEANUP(arena_deinit) struct arena scratch;
    struct snapshot_loaded base = {.manifest = {.is_object = true}};
    bool has_base = !uuid_is_nil(base_id), is_done = false;
    struct snapshot_inputs inputs = {.thread_id = thread_id, .key = STR("")};
    arena_init(&scratch, SNAPSHOT_MEMORY_BYTES);
    if (c->rehearsal != NULL && change->set.len + change->append.len >= REHEARSAL_FROM_BYTES) {
        inputs.key = key_of(c, base_id, change);
        TRY(snapshot_plan_use(c, &inputs, &is_done, out_snapshot));
    }
    if (is_done)
        return OK;
    TRY(rehearsal_first(c, inputs.key.len));
    if (has_base)
        TRY(snapshot_load_base(c, &scratch, thread_id, base_id, &base));
    if (!base.manifest.is_object)
        return problem_fault(c->problem, pointer,
            "requires a base that is an object of at most %d members", MANIFEST_CUT_MAX);
    struct change work = {.c = c,
        .arena = &scratch,
        .pointer = pointer,
        .m = copy_members(&scratch, &base.manifest, change)};
    TRY(carry_out(&work, change));
    return snapshot_store(c, &scratch, &inputs, has_base ? &base : NULL, &work.m, out_snapshot);
}
