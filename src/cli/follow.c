/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/follow.h"

#include "base/clock.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/request.h"
#include "cli/sse.h"
#include "cli/state.h"
#include "cli/text.h"

enum {
    SILENCE_MS = 30000, /* the server sends a heartbeat every 10 seconds */
    PAUSE_FIRST_MS = 200,
    PAUSE_LONGEST_MS = 5000,
    PAGE_EVENTS = 1000,
    CURSOR_MAX_BYTES = 256,
};

void follower_init(struct follower *f, struct cli *cli, struct remote *remote)
{
    *f = (struct follower){.cli = cli, .remote = remote};
    buf_init(&f->cursor, CURSOR_MAX_BYTES);
    buf_append(&f->cursor, cli_value(cli, "after"));
}

void follower_deinit(struct follower *f)
{
    buf_deinit(&f->cursor);
}

bool follower_is_finished(struct str status)
{
    return str_eq(status, STR("completed")) || str_eq(status, STR("failed")) ||
           str_eq(status, STR("cancelled"));
}

bool follower_may_wait(
    const struct follower *f, enum client_result result, const struct remote_answer *answer)
{
    int status = answer->head.status;
    if (result == CLIENT_OK)
        return status == 503 || status == 429 || (f->reached && (status == 502 || status == 504));
    return f->reached && (result == CLIENT_LOST || result == CLIENT_UNREACHABLE);
}

/* --- One event ------------------------------------------------------------------------------ */

/* Prints a line for people: number, time, thread, kind, and the text, or the payload if there is no
 * text. The time is exact, because the line stays on the screen. */
static void print_line(struct follower *f, struct json event)
{
    struct cli *cli = f->cli;
    struct arena *arena = &cli->arena;
    struct str at = text_clean(arena, remote_string(arena, event, STR("/created_at")));
    struct str kind = text_clean(arena, remote_string(arena, event, STR("/kind")));
    struct str thread = text_clean(arena, remote_string(arena, event, STR("/thread_id")));
    struct str text = remote_string(arena, event, STR("/text"));
    struct json number, payload;
    if (!json_pointer(event, f->one_thread ? STR("/seq") : STR("/id"), &number))
        return;
    struct str shown_number = text_clean(arena, json_raw(number));
    if (str_is_none(text) && json_pointer(event, STR("/payload"), &payload) &&
        json_type(payload) != JSON_NULL)
        text = json_compact(arena, payload);
    at = str_slice(at, 0, strlen("2026-01-31T23:59:59"));
    struct str head = arena_printf(arena, "%6.*s  %.*sZ  %.*s%s", STR_ARG(shown_number),
        STR_ARG(at), f->one_thread ? 0 : (int)thread.len, thread.ptr, f->one_thread ? "" : "  ");
    size_t used = text_columns(head) + (kind.len > 8 ? kind.len : 8) + 2;
    size_t left = cli->width > used + 10 ? cli->width - used : 10;
    const char *colour = cli_status_colour(cli, kind);
    struct str shown = text_cut(arena, text_clean(arena, text), left);
    printf("%.*s%s%-8.*s%s  %.*s\n", STR_ARG(head), colour, STR_ARG(kind),
        colour[0] == '\0' ? "" : cli_plain(cli), STR_ARG(shown));
}

static void watch_for_end(struct follower *f, struct json event)
{
    struct arena *arena = &f->cli->arena;
    if (f->ends_with_run && str_eq(remote_string(arena, event, STR("/run_id")), f->run_id) &&
        str_eq(remote_string(arena, event, STR("/payload/change")), STR("run.status")) &&
        follower_is_finished(remote_string(arena, event, STR("/payload/to"))))
        f->saw_end = true;
}

static void print_event(struct follower *f, struct json event)
{
    struct arena_mark mark = arena_mark(&f->cli->arena);
    watch_for_end(f, event);
    if (f->cli->terminal && f->cli->format == FORMAT_TABLE) {
        print_line(f, event);
        arena_rewind(&f->cli->arena, mark);
        return;
    }
    arena_rewind(&f->cli->arena, mark);
    cli_print_row(f->cli, f->cli->command->shown, f->cli->command->n_shown, event);
}

/* A cursor is printed and sent; other characters are not allowed. */
static bool is_cursor(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f)
            return false;
    return s.len <= CURSOR_MAX_BYTES;
}

void follower_move_to(struct follower *f, struct str cursor)
{
    if (str_is_none(cursor) || !is_cursor(cursor))
        return;
    buf_reset(&f->cursor);
    buf_append(&f->cursor, cursor);
}

/* Flushes the output before the cursor moves on. */
static bool flush(struct follower *f)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        f->stopped = "the output could not be written";
    return f->stopped == NULL;
}

/* Returns the target of the log, or of its stream, from the cursor on. */
static struct str target(struct follower *f, const char *which)
{
    struct str target = arena_printf(&f->cli->arena, "%.*s%s", STR_ARG(f->path), which);
    if (!str_is_none(f->kind))
        target = request_with(f->cli, target, STR("kind"), f->kind);
    if (!str_is_none(f->run_id))
        target = request_with(f->cli, target, STR("run_id"), f->run_id);
    if (f->cursor.len > 0)
        target = request_with(f->cli, target, STR("after"), buf_str(&f->cursor));
    return target;
}

/* --- Existing events ------------------------------------------------------------------------ */

static void note_gap(struct follower *f, struct json about)
{
    struct json through;
    if (!json_pointer(about, STR("/pruned_through"), &through))
        return;
    struct str shown = text_clean(&f->cli->arena, json_raw(through));
    cli_note(f->cli, "Events up to %.*s were pruned; the remaining ones follow.", STR_ARG(shown));
}

/* Prints one page. `out_more` is set if there is another one. */
static int print_page(struct follower *f, bool *out_more)
{
    struct arena *arena = &f->cli->arena;
    struct str limit = arena_printf(arena, "%d", PAGE_EVENTS);
    struct remote_request request = {.method = "GET",
        .path = request_with(f->cli, target(f, ""), STR("limit"), limit),
        .body = STR_NONE};
    struct remote_answer answer;
    struct json data, event, more;
    enum client_result result = remote_send(f->remote, &request, &answer);
    if (result == CLIENT_OK && answer.head.status == 410 && answer.has_json) {
        note_gap(f, answer.json);
        follower_move_to(f, remote_string(arena, answer.json, STR("/resume_cursor")));
        *out_more = true;
        return EXIT_SUCCESS;
    }
    TRY_EXIT(remote_judge(f->remote, result, &answer));
    if (!answer.has_json || !json_get(answer.json, STR("data"), &data))
        return cli_fail(f->cli, "the server's answer is not a list");
    struct json_iter it = json_iter(data);
    while (json_next(&it, NULL, &event))
        print_event(f, event);
    if (!flush(f))
        return cli_fail(f->cli, "%s", f->stopped);
    follower_move_to(f, remote_string(arena, answer.json, STR("/next_cursor")));
    *out_more = json_get(answer.json, STR("has_more"), &more) && json_type(more) == JSON_TRUE;
    return EXIT_SUCCESS;
}

static int print_pages(struct follower *f)
{
    bool more = true;
    int code = EXIT_SUCCESS;
    while (more && code == EXIT_SUCCESS) {
        struct arena_mark mark = arena_mark(&f->cli->arena);
        code = print_page(f, &more);
        arena_rewind(&f->cli->arena, mark);
    }
    return code;
}

/* --- The stream ----------------------------------------------------------------------------- */

/* Handles a complete frame of the stream. */
static void take_frame(struct follower *f, const struct sse_event *frame)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json_doc doc;
    struct json_error error;
    if (!json_parse(&arena, frame->data, &doc, &error))
        return;
    struct json json = json_root(&doc);
    if (frame->name.len == 0)
        print_event(f, json);
    else if (str_eq(frame->name, STR("gap")))
        note_gap(f, json);
    else if (str_eq(frame->name, STR("closed")))
        follower_move_to(f, remote_string(&arena, json, STR("/cursor")));
    if (flush(f))
        follower_move_to(f, frame->id);
}

/* Reads until the stream or the run ends. */
static enum client_result read_stream(struct follower *f, struct sse *sse)
{
    struct sse_event frame;
    struct str run;
    for (;;) {
        enum client_result result = http_client_read(remote_client(f->remote), SILENCE_MS, &run);
        if (result != CLIENT_OK || run.len == 0)
            return result;
        if (!sse_feed(sse, run))
            f->stopped = "an event of the stream is too large";
        while (!f->saw_end && f->stopped == NULL && sse_next(sse, &frame))
            take_frame(f, &frame);
        if (f->saw_end || f->stopped != NULL)
            return CLIENT_OK;
    }
}

/* Reads the run: its last event can be pruned when it has ended. */
static enum client_result look_at_run(
    struct follower *f, struct remote_answer *out_answer, bool *out_finished)
{
    struct arena *arena = &f->cli->arena;
    struct str id = remote_encode(arena, f->run_id);
    struct remote_request request = {.method = "GET",
        .path = arena_printf(arena, "/v1/runs/%.*s", STR_ARG(id)),
        .body = STR_NONE};
    *out_finished = false;
    enum client_result result = remote_send(f->remote, &request, out_answer);
    if (result == CLIENT_OK && out_answer->head.status == 200 && out_answer->has_json)
        *out_finished =
            follower_is_finished(remote_string(arena, out_answer->json, STR("/status")));
    return result;
}

/* Reads from one connection. Returns true with the exit code, or false to try again. */
static bool follow_once(struct follower *f, struct sse *sse, int *out_code)
{
    struct remote_answer answer = {.has_json = false};
    enum client_result result = CLIENT_OK;
    bool finished = false;
    *out_code = EXIT_SUCCESS;
    if (f->ends_with_run)
        result = look_at_run(f, &answer, &finished);
    if (finished) {
        *out_code = print_pages(f);
        return true;
    }
    if (result == CLIENT_OK && answer.head.status < 400) {
        struct remote_request request = {
            .method = "GET", .path = target(f, "/stream"), .body = STR_NONE};
        result = remote_begin(f->remote, &request, &answer);
    }
    if (result != CLIENT_OK || answer.head.status >= 400) {
        if (follower_may_wait(f, result, &answer))
            return false;
        *out_code = remote_judge(f->remote, result, &answer);
        return true;
    }
    f->reached = true;
    f->noted_loss = false;
    sse_reset(sse);
    result = read_stream(f, sse);
    if (f->stopped != NULL) {
        *out_code = cli_fail(f->cli, "%s", f->stopped);
        return true;
    }
    if (result == CLIENT_INTERRUPTED || result == CLIENT_MALFORMED) {
        *out_code = remote_judge(f->remote, result, &answer);
        return true;
    }
    return f->saw_end;
}

static int follow(struct follower *f)
{
    struct sse sse CLEANUP(sse_deinit);
    uint32_t pause_ms = PAUSE_FIRST_MS;
    int code;
    sse_init(&sse);
    for (;;) {
        struct arena_mark mark = arena_mark(&f->cli->arena);
        int64_t begun_us = clock_steady_us();
        bool over = follow_once(f, &sse, &code);
        arena_rewind(&f->cli->arena, mark);
        if (over)
            return code;
        if (clock_steady_us() - begun_us > (int64_t)PAUSE_LONGEST_MS * 1000)
            pause_ms = PAUSE_FIRST_MS;
        if (!f->noted_loss)
            cli_note(f->cli, "The connection was lost; trying again.");
        f->noted_loss = true;
        http_client_close(remote_client(f->remote));
        if (!remote_pause(f->remote, pause_ms)) {
            cli_fail(f->cli, "interrupted");
            return EXIT_INTERRUPTED;
        }
        pause_ms = pause_ms * 2 < PAUSE_LONGEST_MS ? pause_ms * 2 : PAUSE_LONGEST_MS;
    }
}

int follower_run(struct follower *f, bool follows)
{
    if (follows && f->cli->format == FORMAT_JSON)
        return cli_usage(f->cli, "--json and --follow exclude each other; use --jsonl");
    int code = follows ? follow(f) : print_pages(f);
    if (f->cli->format == FORMAT_JSON)
        cli_print_end(f->cli, f->cli->command->shown, f->cli->command->n_shown);
    if (f->cursor.len > 0)
        cli_note(f->cli, "cursor: %.*s (--after %.*s continues from here)",
            STR_ARG(buf_str(&f->cursor)), STR_ARG(buf_str(&f->cursor)));
    return code;
}
