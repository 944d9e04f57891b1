/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/tail.h"

#include "base/clock.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/event.h"
#include "cli/request.h"
#include "cli/sse.h"
#include "cli/state.h"
#include "cli/text.h"

enum {
    SILENCE_MS = 30000, /* a heartbeat comes every 10 seconds */
    PAUSE_FIRST_MS = 200,
    PAUSE_LONGEST_MS = 5000,
    PAGE_EVENTS = 1000,
    CURSOR_MAX_BYTES = 256,
};

void tail_init(struct tail *t, struct cli *cli, struct remote *remote)
{
    *t = (struct tail){.cli = cli, .remote = remote};
    buf_init(&t->cursor, CURSOR_MAX_BYTES);
    buf_append(&t->cursor, cli_value(cli, "after"));
}

void tail_deinit(struct tail *t)
{
    buf_deinit(&t->cursor);
}

bool tail_is_finished(struct str status)
{
    return str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
           str_eq(status, STR("cancelled"));
}

bool tail_may_wait(
    const struct tail *t, enum client_result result, const struct remote_answer *answer)
{
    int status = answer->head.status;
    if (result == CLIENT_OK)
        return status == 503 || status == 429 || (t->reached && (status == 502 || status == 504));
    return t->reached && (result == CLIENT_LOST || result == CLIENT_UNREACHABLE);
}

/* --- One event ------------------------------------------------------------------------------ */

/* A line for people: the moment, whose it is, what kind, and the text, or the payload without one.
 * A line stays where it is, so its time is exact. */
static void print_line(struct tail *t, struct json event)
{
    struct cli *cli = t->cli;
    struct arena *arena = &cli->arena;
    struct str at = text_clean(arena, remote_string(arena, event, STR("/created_at")));
    struct str kind = text_clean(arena, remote_string(arena, event, STR("/kind")));
    struct str thread = text_clean(arena, remote_string(arena, event, STR("/thread_id")));
    struct str text = remote_string(arena, event, STR("/text"));
    struct json number, payload;
    if (!json_pointer(event, t->one_thread ? STR("/seq") : STR("/id"), &number))
        return;
    struct str shown_number = text_clean(arena, json_raw(number));
    if (str_is_none(text) && json_pointer(event, STR("/payload"), &payload) &&
        json_type(payload) != JSON_NULL)
        text = json_compact(arena, payload);
    at = str_slice(at, 0, strlen("2026-01-31T23:59:59"));
    struct str head = arena_printf(arena, "%6.*s  %.*sZ  %.*s%s", STR_ARG(shown_number),
        STR_ARG(at), t->one_thread ? 0 : (int)thread.len, thread.ptr, t->one_thread ? "" : "  ");
    size_t used = text_columns(head) + (kind.len > 8 ? kind.len : 8) + 2;
    size_t left = cli->width > used + 10 ? cli->width - used : 10;
    const char *colour = cli_status_colour(cli, kind);
    struct str shown = text_cut(arena, text_clean(arena, text), left);
    printf("%.*s%s%-8.*s%s  %.*s\n", STR_ARG(head), colour, STR_ARG(kind),
        colour[0] == '\0' ? "" : cli_plain(cli), STR_ARG(shown));
}

static void watch_for_end(struct tail *t, struct json event)
{
    struct arena *arena = &t->cli->arena;
    if (t->ends_with_run && str_eq(remote_string(arena, event, STR("/run_id")), t->run_id) &&
        str_eq(remote_string(arena, event, STR("/payload/change")), STR("run.status")) &&
        tail_is_finished(remote_string(arena, event, STR("/payload/to"))))
        t->saw_end = true;
}

static void print_event(struct tail *t, struct json event)
{
    struct arena_mark mark = arena_mark(&t->cli->arena);
    watch_for_end(t, event);
    if (t->cli->terminal && t->cli->format == FORMAT_TABLE) {
        print_line(t, event);
        arena_rewind(&t->cli->arena, mark);
        return;
    }
    arena_rewind(&t->cli->arena, mark);
    cli_print_row(t->cli, event_columns, EVENT_COLUMNS, event);
}

/* It is printed, and goes into the next request. */
static bool is_cursor(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f)
            return false;
    return s.len <= CURSOR_MAX_BYTES;
}

void tail_move_to(struct tail *t, struct str cursor)
{
    if (str_is_none(cursor) || !is_cursor(cursor))
        return;
    buf_reset(&t->cursor);
    buf_append(&t->cursor, cursor);
}

/* The cursor must not go past what was written. */
static bool flush(struct tail *t)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        t->stopped = "the output could not be written";
    return t->stopped == NULL;
}

/* The log, or its stream, from the cursor on. */
static struct str target(struct tail *t, const char *which)
{
    struct str target = arena_printf(&t->cli->arena, "%.*s%s", STR_ARG(t->path), which);
    if (!str_is_none(t->kind))
        target = request_with(t->cli, target, STR("kind"), t->kind);
    if (!str_is_none(t->run_id))
        target = request_with(t->cli, target, STR("run_id"), t->run_id);
    if (t->cursor.len > 0)
        target = request_with(t->cli, target, STR("after"), buf_str(&t->cursor));
    return target;
}

/* --- What is there already ------------------------------------------------------------------ */

static void tell_gap(struct tail *t, struct json about)
{
    struct json through;
    if (!json_pointer(about, STR("/pruned_through"), &through))
        return;
    struct str shown = text_clean(&t->cli->arena, json_raw(through));
    cli_note(t->cli, "Events up to %.*s were pruned; what is left follows.", STR_ARG(shown));
}

/* One page. `out_more`: there is another one. */
static int print_page(struct tail *t, bool *out_more)
{
    struct arena *arena = &t->cli->arena;
    struct str limit = arena_printf(arena, "%d", PAGE_EVENTS);
    struct remote_request request = {.method = "GET",
        .path = request_with(t->cli, target(t, ""), STR("limit"), limit),
        .body = STR_NONE};
    struct remote_answer answer;
    struct json data, event, more;
    enum client_result result = remote_send(t->remote, &request, &answer);
    if (result == CLIENT_OK && answer.head.status == 410 && answer.has_json) {
        tell_gap(t, answer.json);
        tail_move_to(t, remote_string(arena, answer.json, STR("/resume_cursor")));
        *out_more = true;
        return EXIT_SUCCESS;
    }
    int code = remote_judge(t->remote, result, &answer);
    if (code != EXIT_SUCCESS)
        return code;
    if (!answer.has_json || !json_get(answer.json, STR("data"), &data))
        return cli_fail(t->cli, "the server's answer is not a list");
    struct json_iter it = json_iter(data);
    while (json_next(&it, NULL, &event))
        print_event(t, event);
    if (!flush(t))
        return cli_fail(t->cli, "%s", t->stopped);
    tail_move_to(t, remote_string(arena, answer.json, STR("/next_cursor")));
    *out_more = json_get(answer.json, STR("has_more"), &more) && json_type(more) == JSON_TRUE;
    return EXIT_SUCCESS;
}

static int print_pages(struct tail *t)
{
    bool more = true;
    int code = EXIT_SUCCESS;
    while (more && code == EXIT_SUCCESS) {
        struct arena_mark mark = arena_mark(&t->cli->arena);
        code = print_page(t, &more);
        arena_rewind(&t->cli->arena, mark);
    }
    return code;
}

/* --- The stream ----------------------------------------------------------------------------- */

/* A whole frame of the stream. */
static void take_frame(struct tail *t, const struct sse_event *frame)
{
    struct arena arena CLEANUP(arena_deinit);
    struct json_doc doc;
    struct json_error error;
    arena_init(&arena, SIZE_MAX);
    if (!json_parse(&arena, frame->data, &doc, &error))
        return;
    struct json json = json_root(&doc);
    if (frame->name.len == 0)
        print_event(t, json);
    else if (str_eq(frame->name, STR("gap")))
        tell_gap(t, json);
    else if (str_eq(frame->name, STR("closed")))
        tail_move_to(t, remote_string(&arena, json, STR("/cursor")));
    if (flush(t))
        tail_move_to(t, frame->id);
}

/* Reads until the stream ends, one way or another, or the run does. */
static enum client_result read_stream(struct tail *t, struct sse *sse)
{
    struct sse_event frame;
    struct str run;
    for (;;) {
        enum client_result result = http_client_read(remote_client(t->remote), SILENCE_MS, &run);
        if (result != CLIENT_OK || run.len == 0)
            return result;
        if (!sse_feed(sse, run))
            t->stopped = "an event of the stream is too large";
        while (!t->saw_end && t->stopped == NULL && sse_next(sse, &frame))
            take_frame(t, &frame);
        if (t->saw_end || t->stopped != NULL)
            return CLIENT_OK;
    }
}

/* Whether the run has come to its end, also when the event that tells of it is gone. */
static enum client_result look_at_run(
    struct tail *t, struct remote_answer *out_answer, bool *out_finished)
{
    struct arena *arena = &t->cli->arena;
    struct str id = remote_encode(arena, t->run_id);
    struct remote_request request = {.method = "GET",
        .path = arena_printf(arena, "/v1/runs/%.*s", STR_ARG(id)),
        .body = STR_NONE};
    *out_finished = false;
    enum client_result result = remote_send(t->remote, &request, out_answer);
    if (result == CLIENT_OK && out_answer->head.status == 200 && out_answer->has_json)
        *out_finished = tail_is_finished(remote_string(arena, out_answer->json, STR("/status")));
    return result;
}

/* One connection. True: `out_code` is how it all ended; false: try again. */
static bool follow_once(struct tail *t, struct sse *sse, int *out_code)
{
    struct remote_answer answer = {.has_json = false};
    enum client_result result = CLIENT_OK;
    bool finished = false;
    *out_code = EXIT_SUCCESS;
    if (t->ends_with_run)
        result = look_at_run(t, &answer, &finished);
    if (finished) {
        *out_code = print_pages(t);
        return true;
    }
    if (result == CLIENT_OK && answer.head.status < 400) {
        struct remote_request request = {
            .method = "GET", .path = target(t, "/stream"), .body = STR_NONE};
        result = remote_begin(t->remote, &request, &answer);
    }
    if (result != CLIENT_OK || answer.head.status >= 400) {
        if (tail_may_wait(t, result, &answer))
            return false;
        *out_code = remote_judge(t->remote, result, &answer);
        return true;
    }
    t->reached = true;
    t->told_lost = false;
    sse_reset(sse);
    result = read_stream(t, sse);
    if (t->stopped != NULL) {
        *out_code = cli_fail(t->cli, "%s", t->stopped);
        return true;
    }
    if (result == CLIENT_INTERRUPTED || result == CLIENT_MALFORMED) {
        *out_code = remote_judge(t->remote, result, &answer);
        return true;
    }
    return t->saw_end;
}

static int follow(struct tail *t)
{
    struct sse sse CLEANUP(sse_deinit);
    uint32_t pause_ms = PAUSE_FIRST_MS;
    int code;
    sse_init(&sse);
    for (;;) {
        struct arena_mark mark = arena_mark(&t->cli->arena);
        int64_t begun_us = clock_steady_us();
        bool over = follow_once(t, &sse, &code);
        arena_rewind(&t->cli->arena, mark);
        if (over)
            return code;
        if (clock_steady_us() - begun_us > (int64_t)PAUSE_LONGEST_MS * 1000)
            pause_ms = PAUSE_FIRST_MS;
        if (!t->told_lost)
            cli_note(t->cli, "The connection was lost; trying again.");
        t->told_lost = true;
        http_client_close(remote_client(t->remote));
        if (!remote_pause(t->remote, pause_ms)) {
            cli_fail(t->cli, "interrupted");
            return EXIT_INTERRUPTED;
        }
        pause_ms = pause_ms * 2 < PAUSE_LONGEST_MS ? pause_ms * 2 : PAUSE_LONGEST_MS;
    }
}

int tail_run(struct tail *t, bool follows)
{
    if (follows && t->cli->format == FORMAT_JSON)
        return cli_usage(t->cli, "--json is for what ends; use --jsonl with --follow");
    int code = follows ? follow(t) : print_pages(t);
    if (t->cli->format == FORMAT_JSON)
        cli_print_end(t->cli, event_columns, EVENT_COLUMNS);
    if (t->cursor.len > 0)
        cli_note(t->cli, "cursor: %.*s (--after %.*s goes on from here)",
            STR_ARG(buf_str(&t->cursor)), STR_ARG(buf_str(&t->cursor)));
    return code;
}
