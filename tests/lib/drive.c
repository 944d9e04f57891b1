/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives libcairn from a script: drive WHERE [SCHEMA]. Each line of the input is a JSON object,
 *   {"method":…,"target":…,"headers":["Name: value",…],"body":…}    a call; body in base64url
 *   {"subscribe":TARGET,"headers":[…],"limit":N,"timeout_ms":N}     the next events
 * and each is answered by a line:
 *   {"status":…,"headers":[[NAME,VALUE],…],"body":…}                a call, or a refusal
 *   {"events":[[KIND,CURSOR,DATA],…]}                               as cairn_next gives them
 */
#include "base/arena.h"
#include "base/hash.h"
#include "base/json/json_write.h"
#include "cairn/cairn.h"

static void fail(const char *what)
{
    fprintf(stderr, "drive: %s\n", what);
    exit(EXIT_FAILURE);
}

/* --- Requests ------------------------------------------------------------------------------- */

static struct str text_member(struct arena *arena, struct json object, const char *name)
{
    struct json value;
    return json_get(object, str_of(name), &value) ? json_string(arena, value) : STR_NONE;
}

static int64_t number_member(struct json object, const char *name)
{
    struct json value;
    int64_t number = 0;
    if (!json_get(object, str_of(name), &value) || !json_to_i64(value, &number))
        fail("a number is missing");
    return number;
}

static const char *const *headers_member(struct arena *arena, struct json object)
{
    struct json list, item;
    if (!json_get(object, STR("headers"), &list))
        return NULL;
    const char **headers = ARENA_ARRAY(arena, const char *, json_count(list) + 1);
    struct json_iter it = json_iter(list);
    for (size_t n = 0; json_next(&it, NULL, &item); n++)
        headers[n] = arena_cstr(arena, json_string(arena, item));
    return headers;
}

/* --- Answers -------------------------------------------------------------------------------- */

static void write_answer(struct json_writer *w, struct arena *arena, cairn_answer *a)
{
    size_t len;
    const char *body = cairn_answer_body(a, &len), *name, *value;
    json_write_object(w);
    json_write_key(w, STR("status"));
    json_write_i64(w, cairn_answer_status(a));
    json_write_key(w, STR("headers"));
    json_write_array(w);
    for (size_t i = 0; (name = cairn_answer_header_at(a, i, &value)) != NULL; i++) {
        json_write_array(w);
        json_write_string(w, str_of(name));
        json_write_string(w, str_of(value));
        json_write_end(w);
    }
    json_write_end(w);
    json_write_key(w, STR("body"));
    json_write_string(w, base64url_encode(arena, (struct str){body, len}));
    json_write_end(w);
    cairn_answer_free(a);
}

static void write_event(struct json_writer *w, int kind, const struct cairn_event *event)
{
    static const char *const kinds[] = {
        [CAIRN_EVENT] = "event", [CAIRN_GAP] = "gap", [CAIRN_ENDED] = "ended"};
    json_write_array(w);
    json_write_string(w, str_of(kinds[kind]));
    json_write_string(w, str_of(event->cursor));
    json_write_string(w, (struct str){event->data, event->data_len});
    json_write_end(w);
}

static void write_events(struct json_writer *w, cairn_subscription *s, struct json request)
{
    const struct cairn_event *event;
    int64_t limit = number_member(request, "limit");
    long timeout_ms = (long)number_member(request, "timeout_ms");
    json_write_object(w);
    json_write_key(w, STR("events"));
    json_write_array(w);
    for (int64_t n = 0; n < limit; n++) {
        int kind = cairn_next(s, timeout_ms, &event);
        if (kind == CAIRN_TIMEOUT)
            break;
        write_event(w, kind, event);
        if (kind == CAIRN_ENDED)
            break;
    }
    json_write_end(w);
    json_write_end(w);
    cairn_unsubscribe(s);
}

/* --- Line by line --------------------------------------------------------------------------- */

static void follow(
    struct json_writer *w, struct arena *arena, cairn *c, struct json request, struct str target)
{
    cairn_answer *refusal;
    cairn_subscription *s =
        cairn_subscribe(c, arena_cstr(arena, target), headers_member(arena, request), &refusal);
    if (s == NULL)
        write_answer(w, arena, refusal);
    else
        write_events(w, s, request);
}

static void call(struct json_writer *w, struct arena *arena, cairn *c, struct json request)
{
    struct str body = STR_NONE, encoded = text_member(arena, request, "body");
    if (!str_is_none(encoded) && !base64url_decode(arena, encoded, &body))
        fail("the body is not in base64url");
    const char *method = arena_cstr(arena, text_member(arena, request, "method"));
    const char *target = arena_cstr(arena, text_member(arena, request, "target"));
    write_answer(w, arena,
        cairn_call(c, method, target, headers_member(arena, request), body.ptr, body.len));
}

static void answer_line(cairn *c, struct str line)
{
    struct arena arena CLEANUP(arena_deinit);
    struct buf out CLEANUP(buf_deinit);
    struct json_doc doc;
    struct json_error error;
    struct json_writer w;
    arena_init(&arena, SIZE_MAX);
    buf_init(&out, SIZE_MAX);
    json_writer_init(&w, &out);
    if (!json_parse(&arena, line, &doc, &error))
        fail(error.rule);
    struct str target = text_member(&arena, json_root(&doc), "subscribe");
    if (str_is_none(target))
        call(&w, &arena, c, json_root(&doc));
    else
        follow(&w, &arena, c, json_root(&doc), target);
    buf_append_byte(&out, '\n');
    if (fwrite(out.ptr, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
        fail("the answer could not be written");
}

int main(int argc, char **argv)
{
    char *why = NULL, *line = NULL;
    size_t cap = 0;
    ssize_t len;
    const struct cairn_options options = {
        .size = sizeof options, .schema = argc > 2 ? argv[2] : NULL};
    cairn *c = cairn_open(argc > 1 ? argv[1] : NULL, &options, &why);
    if (c == NULL)
        fail(why);
    while ((len = getline(&line, &cap, stdin)) > 0)
        answer_line(c, (struct str){line, (size_t)len});
    free(line);
    cairn_close(c);
    return EXIT_SUCCESS;
}
