/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the context of a thread: {"meta":{"next_seq":N+1},"tail":[…,{"seq":N,…}]}. */
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "model/threads/threads.h"

static void write_message(
    struct json_writer *w, int64_t seq, const char *role, struct str content_json)
{
    json_write_object(w);
    json_write_name(w, "seq");
    json_write_i64(w, seq);
    json_write_text_member(w, "role", str_of(role));
    json_write_name(w, "content");
    json_write_raw(w, content_json);
    json_write_end(w);
}

/* Copies the tail of the context, if it is a list. */
static void write_tail(struct json_writer *w, struct json context)
{
    struct json tail, message;
    if (!json_get(context, STR("tail"), &tail) || json_type(tail) != JSON_ARRAY)
        return;
    struct json_iter it = json_iter(tail);
    while (json_next(&it, NULL, &message))
        json_write_value(w, message);
}

/* Returns the number of the next message. A counter that is not valid starts again. */
static int64_t next_seq(struct json context)
{
    struct json meta, next;
    int64_t seq;
    bool known = json_get(context, STR("meta"), &meta) && json_type(meta) == JSON_OBJECT &&
                 json_get(meta, STR("next_seq"), &next) && json_type(next) == JSON_NUMBER &&
                 json_to_i64(next, &seq) && seq > 0 && seq < INT64_MAX;
    return known ? seq : 1;
}

static struct str patch_of(
    struct arena *arena, struct json context, const char *role, struct str content_json)
{
    struct json_text text;
    int64_t seq = next_seq(context);
    json_text_init(&text, SIZE_MAX);
    json_write_object(&text.w);
    json_write_name(&text.w, "meta");
    json_write_object(&text.w);
    json_write_name(&text.w, "next_seq");
    json_write_i64(&text.w, seq + 1);
    json_write_end(&text.w);
    json_write_name(&text.w, "tail");
    json_write_array(&text.w);
    write_tail(&text.w, context);
    write_message(&text.w, seq, role, content_json);
    json_write_end(&text.w);
    json_write_end(&text.w);
    return json_text_take(&text, arena);
}

enum error thread_context_append(struct context *c, struct str context, const char *role,
    struct str content_json, struct str pointer, struct str *out_context)
{
    struct json_doc doc, patch;
    struct json_error bad;
    struct json_patch_error refused;
    if (!json_parse(c->arena, context, &doc, &bad))
        return problem_set(c->problem, ERR_TOO_LARGE, "the context is too large to change");
    struct str text = patch_of(c->arena, json_root(&doc), role, content_json);
    if (json_parse(c->arena, text, &patch, &bad) &&
        json_merge_patch(c->arena, json_root(&doc), json_root(&patch), THREAD_DOCUMENT_MAX_BYTES,
            out_context, &refused))
        return OK;
    return problem_fault(c->problem, pointer,
        "is too long: the context of the conversation is limited to %d bytes",
        THREAD_DOCUMENT_MAX_BYTES);
}
