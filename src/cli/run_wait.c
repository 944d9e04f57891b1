/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a run until it ends, or waits for its end. */
#include "base/clock.h"
#include "cli/follow.h"
#include "cli/request.h"
#include "cli/resources.h"

enum { POLL_S = 30, PAUSE_MS = 500, TIMEOUT_MAX_S = 365 * 86400 };

static enum client_result get_run(
    struct cli *cli, struct remote *remote, struct remote_answer *out_answer)
{
    struct str id = remote_encode(cli_arena(cli), cli_argument(cli, 0));
    struct remote_request request = {.method = "GET",
        .path = arena_printf(cli_arena(cli), "/v1/runs/%.*s", STR_ARG(id)),
        .body = STR_NONE};
    return remote_send(remote, &request, out_answer);
}

static struct str events_path(struct cli *cli, struct json run)
{
    struct str thread = remote_string(cli_arena(cli), run, STR("/thread_id"));
    thread = remote_encode(cli_arena(cli), thread);
    return arena_printf(cli_arena(cli), "/v1/threads/%.*s/events", STR_ARG(thread));
}

int command_run_tail(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    struct remote_answer answer;
    TRY_EXIT(remote_open(cli, &remote));
    struct follower follower CLEANUP(follower_deinit);
    follower_init(&follower, cli, remote);
    TRY_EXIT(remote_judge(remote, get_run(cli, remote, &answer), &answer));
    if (!answer.has_json)
        return cli_fail(cli, "the server's answer is not JSON");
    follower.one_thread = true;
    follower.path = events_path(cli, answer.json);
    follower.run_id =
        arena_str(cli_arena(cli), remote_string(cli_arena(cli), answer.json, STR("/id")));
    follower.kind = cli_value(cli, "kind");
    follower.ends_with_run = true;
    return follower_run(&follower, cli_flag(cli, "follow"));
}

/* --- Waiting -------------------------------------------------------------------------------- */

struct wait {
    struct follower follower; /* its cursor is that of the last event of the run */
    int64_t deadline_us;
    bool noted_input;
};

static int64_t left_s(const struct wait *w)
{
    return (w->deadline_us - clock_steady_us() + 999999) / 1000000;
}

/* Waits for the next event of the run; then the run itself is read again. */
static enum client_result poll_events(struct cli *cli, struct wait *w, struct remote_answer *out)
{
    int64_t wait_s = left_s(w) < POLL_S ? left_s(w) : POLL_S;
    struct buf *cursor = &w->follower.cursor;
    struct str path = arena_printf(cli_arena(cli), "%.*s?wait=%lld", STR_ARG(w->follower.path),
        (long long)(wait_s > 0 ? wait_s : 0));
    path = request_with(cli, path, STR("run_id"), cli_argument(cli, 0));
    if (cursor->len > 0)
        path = request_with(cli, path, STR("after"), buf_str(cursor));
    struct remote_request request = {.method = "GET", .path = path, .body = STR_NONE};
    enum client_result result = remote_send(w->follower.remote, &request, out);
    if (result != CLIENT_OK || !out->has_json)
        return result;
    /* If events were pruned, the run is read again and the wait continues after them. */
    bool gone = out->head.status == 410;
    struct str next = remote_string(
        cli_arena(cli), out->json, gone ? STR("/resume_cursor") : STR("/next_cursor"));
    follower_move_to(&w->follower, next);
    if (gone)
        out->head.status = 200;
    return result;
}

/* Prints a run that has ended and returns the exit code; -1: it has not ended. */
static int judge_run(struct cli *cli, struct wait *w, struct json run)
{
    struct str status = remote_string(cli_arena(cli), run, STR("/status"));
    if (follower_is_finished(status)) {
        cli_print_object(cli, cli_command(cli)->shown, cli_command(cli)->n_shown, run);
        return str_eq(status, STR("completed")) ? EXIT_SUCCESS : EXIT_RUN_FAILED;
    }
    bool waits = str_eq(status, STR("waiting_for_input"));
    if (waits && !w->noted_input)
        cli_note(cli, "The run waits for input: cairn run input %.*s --text …",
            STR_ARG(cli_argument(cli, 0)));
    w->noted_input = waits;
    return -1;
}

/* Reads the run once and waits for an event. Returns -1 to repeat. */
static int wait_once(struct cli *cli, struct wait *w)
{
    struct remote_answer answer;
    enum client_result result = get_run(cli, w->follower.remote, &answer);
    if (result == CLIENT_OK && answer.head.status == 200 && answer.has_json) {
        w->follower.reached = true;
        int code = judge_run(cli, w, answer.json);
        if (code >= 0)
            return code;
        w->follower.path = events_path(cli, answer.json);
        result = poll_events(cli, w, &answer);
    }
    if (result == CLIENT_OK && answer.head.status < 400)
        return -1;
    if (!follower_may_wait(&w->follower, result, &answer))
        return remote_judge(w->follower.remote, result, &answer);
    if (!remote_pause(w->follower.remote, PAUSE_MS))
        return remote_judge(w->follower.remote, CLIENT_INTERRUPTED, &answer);
    return -1;
}

static int read_timeout(struct cli *cli, int64_t *out_deadline_us)
{
    struct str given = cli_value(cli, "timeout");
    uint64_t seconds = TIMEOUT_MAX_S;
    if (!str_is_none(given) &&
        (!str_to_u64(given, &seconds) || seconds == 0 || seconds > TIMEOUT_MAX_S))
        return cli_usage(cli, "--timeout must be 1 to %d seconds", TIMEOUT_MAX_S);
    *out_deadline_us = clock_steady_us() + (int64_t)seconds * 1000000;
    return EXIT_SUCCESS;
}

int command_run_wait(struct cli *cli)
{
    struct remote *remote CLEANUP(remote_closep) = NULL;
    struct wait w = {.noted_input = false};
    int code = read_timeout(cli, &w.deadline_us);
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &remote);
    if (code != EXIT_SUCCESS)
        return code;
    follower_init(&w.follower, cli, remote);
    remote_set_deadline(remote, w.deadline_us);
    do {
        struct arena_mark mark = arena_mark(cli_arena(cli));
        code = wait_once(cli, &w);
        arena_rewind(cli_arena(cli), mark);
    } while (code < 0 && left_s(&w) > 0);
    follower_deinit(&w.follower);
    return code < 0 ? cli_fail(cli, "the run has not ended within %.*s seconds",
                          STR_ARG(cli_value(cli, "timeout")))
                    : code;
}
