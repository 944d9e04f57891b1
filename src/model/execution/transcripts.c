/* SPDX-License-Identifier: Apache-2.0 */
#include "model/execution/transcripts.h"

#include "base/json/json_write.h"
#include "model/rehearsal.h"

/* The member of the snapshot that contains the list: snapshots can append to members. */
#define MEMBER "messages"

static enum error check_messages(struct context *c, struct str list, struct str pointer)
{
    struct json_doc doc;
    struct json_error bad;
    struct json item, role;
    if (!json_parse(c->arena, list, &doc, &bad))
        return problem_set(c->problem, ERR_TOO_LARGE,
            "the list of messages exceeds the memory limit of a request");
    struct json_iter it = json_iter(json_root(&doc));
    enum error e = OK;
    for (size_t i = 0; json_next(&it, NULL, &item); i++) {
        bool is_message = json_type(item) == JSON_OBJECT && json_get(item, STR("role"), &role) &&
                          json_type(role) == JSON_STRING &&
                          json_raw(role).len > 2 /* the quotes */ &&
                          json_raw(role).len <= TRANSCRIPT_ROLE_MAX_BYTES + 2;
        if (!is_message)
            e = problem_fault(c->problem, arena_printf(c->arena, "%.*s/%zu", STR_ARG(pointer), i),
                "must be an object with a \"role\" of 1 to %d bytes", TRANSCRIPT_ROLE_MAX_BYTES);
    }
    return e;
}

enum error transcript_check(struct context *c, struct str list, struct str pointer)
{
    struct str unused;
    if (list.len > TRANSCRIPT_MAX_BYTES)
        return problem_fault(
            c->problem, pointer, "must have at most %d bytes", TRANSCRIPT_MAX_BYTES);
    if (rehearsal_find(c, REHEARSED_MESSAGES, list, STR(""), &unused))
        return OK;
    TRY(rehearsal_first(c, list.len));
    TRY(check_messages(c, list, pointer));
    rehearsal_keep(c, REHEARSED_MESSAGES, list, STR(""), STR(""));
    return OK;
}

static struct str as_document(struct context *c, struct str list)
{
    struct json_text text;
    json_text_init(&text, SNAPSHOT_MAX_BYTES);
    json_write_object(&text.w);
    json_write_name(&text.w, MEMBER);
    json_write_raw(&text.w, list);
    json_write_end(&text.w);
    return json_text_take(&text, c->arena);
}

/* Deletes the previous transcript after the new one is stored. */
static enum error succeed(struct context *c, struct uuid next, struct uuid *id)
{
    if (!uuid_is_nil(*id))
        TRY(snapshot_drop(c, *id));
    *id = next;
    return OK;
}

enum error transcript_replace(
    struct context *c, struct uuid thread_id, struct str list, struct uuid *id)
{
    struct snapshot next = {0};
    if (!str_eq(list, STR("[]")))
        TRY(snapshot_put(c, thread_id, *id, as_document(c, list), &next));
    return succeed(c, next.id, id);
}

enum error transcript_append(
    struct context *c, struct uuid thread_id, struct str list, struct str pointer, struct uuid *id)
{
    struct snapshot base, next;
    if (str_eq(list, STR("[]")))
        return OK;
    if (uuid_is_nil(*id))
        return transcript_replace(c, thread_id, list, id);
    TRY(snapshot_get_head(c, *id, &base));
    if (base.size_bytes + (int64_t)list.len > TRANSCRIPT_MAX_BYTES)
        return problem_fault(c->problem, pointer,
            "would make the list %lld bytes long; the limit is %d",
            (long long)base.size_bytes + (long long)list.len, TRANSCRIPT_MAX_BYTES);
    const struct snapshot_change change = {.append = as_document(c, list)};
    TRY(snapshot_change(c, thread_id, *id, &change, pointer, &next));
    return succeed(c, next.id, id);
}

enum error transcript_get(struct context *c, struct uuid id, struct str *out_list)
{
    *out_list = STR("[]");
    return uuid_is_nil(id) ? OK : snapshot_get_member(c, id, STR(MEMBER), out_list);
}
