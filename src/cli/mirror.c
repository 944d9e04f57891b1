/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a tree of the files layout up to date by following the tenant's events.
 *
 * Events name the parts that have changed; each part is updated from the server, any number of
 * times. The cursor is written to the directory after all changes up to it are on the disk, so that
 * the next process continues from there and misses nothing, however this one ends.
 */
#include "base/clock.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "cli/layout_pages.h"
#include "cli/sse.h"
#include "cli/text.h"

enum {
    SILENCE_MS = 30000, /* the server sends a heartbeat every 10 seconds */
    PAUSE_FIRST_MS = 200,
    PAUSE_LONGEST_MS = 5000,
    CURSOR_MAX_BYTES = 256,
    CHANGES_MAX = 256,
    STATE_MAX_BYTES = 64 * 1024,
    IDLE_EVENTS = 5000, /* without a change, after which the cursor is written anyway */
};

static int run(struct cli *cli);

const struct command command_mirror = {
    .noun = "mirror",
    .arguments = "DIR",
    .summary = "keep a directory of agents' files up to date",
    .details = "Writes the files of cairn export --layout files to DIR, and then every change as "
               "it happens, until Ctrl-C or SIGTERM. DIR/.cairn-mirror.json contains the position: "
               "the next call continues from there, also after a crash. If events were pruned "
               "meanwhile, everything is read again. docs/files-layout.md describes the files.",
    .flags = COMMAND_REMOTE,
    .run = run,
};

/* A part that an event has changed. */
struct change {
    enum { CHANGE_THREAD, CHANGE_CONFIG, CHANGE_ENTRY, CHANGE_RUN } what;
    struct id_text thread;
    struct id_text run;
    int64_t number;
};

struct mirror {
    struct layout layout;
    struct remote *stream; /* the connection of events */
    struct id_text tenant;
    struct buf cursor; /* of the last event that was received */
    struct change changes[CHANGES_MAX];
    size_t n_changes;
    size_t idle;   /* events since the cursor was written */
    bool was_here; /* the directory was a mirror before */
    bool needs_pass;
    bool noted_loss;
};

/* --- Position ------------------------------------------------------------------------------- */

static bool set_cursor(struct mirror *m, struct str cursor)
{
    for (size_t i = 0; i < cursor.len; i++)
        if (cursor.ptr[i] <= ' ' || cursor.ptr[i] >= 0x7f)
            return false;
    if (str_is_none(cursor) || cursor.len == 0 || cursor.len > CURSOR_MAX_BYTES)
        return false;
    buf_reset(&m->cursor);
    buf_append(&m->cursor, cursor);
    return true;
}

static int save(struct mirror *m)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct str text = arena_printf(&arena, "{\"tenant_id\":\"%.*s\",\"cursor\":\"%.*s\"}\n",
        ID_ARG(&m->tenant), STR_ARG(buf_str(&m->cursor)));
    m->idle = 0;
    m->was_here = true;
    return tree_write(&m->layout.tree, STR(LAYOUT_MIRROR), text);
}

/* An invalid file counts as none. */
static int load(struct mirror *m)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct buf text CLEANUP(buf_deinit) = BUF_INIT(STATE_MAX_BYTES + 1024 * 1024);
    struct json_doc doc;
    struct json_error error;
    struct id_text tenant;
    bool found;
    int code = tree_read(&m->layout.tree, STR(LAYOUT_MIRROR), &text, &found);
    if (code != EXIT_SUCCESS || !found || !json_parse(&arena, buf_str(&text), &doc, &error) ||
        !layout_read_id(json_root(&doc), STR("/tenant_id"), &tenant))
        return code;
    if (memcmp(tenant.text, m->tenant.text, UUID_TEXT_LEN) != 0)
        return cli_fail(
            m->layout.cli, "%s mirrors another tenant: %.*s", m->layout.tree.path, ID_ARG(&tenant));
    m->was_here = set_cursor(m, remote_string(&arena, json_root(&doc), STR("/cursor")));
    return EXIT_SUCCESS;
}

static int learn_tenant(struct mirror *m)
{
    struct remote_answer answer;
    bool found;
    TRY_EXIT(layout_ask(&m->layout, STR("/v1/whoami"), &answer, &found));
    if (!found || !layout_read_id(answer.json, STR("/tenant_id"), &m->tenant))
        return cli_fail(m->layout.cli, "the server did not return the tenant of the key");
    return EXIT_SUCCESS;
}

/* --- Everything ----------------------------------------------------------------------------- */

/* Finds the end of the log: reads pages of a kind that no event has, up to the last. */
static int go_to_end(struct mirror *m)
{
    bool more = true, found;
    buf_reset(&m->cursor);
    while (more) {
        struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
        struct remote_answer answer;
        struct json value;
        struct str path = STR("/v1/events?kind=mirror.nothing&limit=1");
        if (m->cursor.len > 0)
            path = arena_printf(&arena, "%.*s&after=%.*s", STR_ARG(path),
                STR_ARG(remote_encode(&arena, buf_str(&m->cursor))));
        const struct remote_request request = {.method = "GET", .path = path, .body = STR_NONE};
        enum client_result result = remote_send(m->layout.remote, &request, &answer);
        if (result == CLIENT_OK && answer.head.status == 410 && answer.has_json) {
            more = set_cursor(m, remote_string(&arena, answer.json, STR("/resume_cursor")));
            continue;
        }
        TRY_EXIT(layout_judge(&m->layout, result, &answer, &found));
        set_cursor(m, remote_string(&arena, answer.json, STR("/next_cursor")));
        more = json_get(answer.json, STR("has_more"), &value) && json_type(value) == JSON_TRUE;
    }
    return EXIT_SUCCESS;
}

/* Changes that happen meanwhile have events after the cursor. */
static int pass(struct mirror *m)
{
    bool was_here = m->was_here;
    m->n_changes = 0;
    m->layout.threads = 0;
    TRY_EXIT(go_to_end(m));
    TRY_EXIT(layout_sync_all(&m->layout));
    if (was_here)
        TRY_EXIT(layout_forget_lost(&m->layout));
    TRY_EXIT(save(m));
    m->needs_pass = false;
    cli_note(m->layout.cli, "%llu threads are in %s; following changes.",
        (unsigned long long)m->layout.threads, m->layout.tree.path);
    return EXIT_SUCCESS;
}

/* --- One event ------------------------------------------------------------------------------ */

static bool same_change(const struct change *a, const struct change *b)
{
    return a->what == b->what && a->number == b->number &&
           memcmp(a->thread.text, b->thread.text, UUID_TEXT_LEN) == 0 &&
           (a->what != CHANGE_RUN || memcmp(a->run.text, b->run.text, UUID_TEXT_LEN) == 0);
}

static void add_change(struct mirror *m, const struct change *change)
{
    for (size_t i = 0; i < m->n_changes; i++)
        if (same_change(&m->changes[i], change))
            return;
    assert(m->n_changes < CHANGES_MAX);
    m->changes[m->n_changes++] = *change;
}

static bool is_about(struct str kind, const char *what)
{
    return str_starts_with(kind, str_of(what));
}

/* The event of a run's start or end also reports Cairn's step about it. */
static void take_status(struct mirror *m, struct json event, const struct change *config)
{
    struct change change = *config;
    struct json what;
    if (!json_pointer(event, STR("/payload/change"), &what) || json_type(what) != JSON_STRING ||
        !json_string_eq(what, STR("run.status")) ||
        !layout_read_id(event, STR("/run_id"), &change.run))
        return;
    change.what = CHANGE_RUN;
    add_change(m, &change);
}

/* Adds at most two changes. */
static void take_event(struct mirror *m, struct arena *arena, struct json event)
{
    struct change change = {.what = CHANGE_CONFIG};
    struct str kind = remote_string(arena, event, STR("/kind"));
    struct json number;
    if (!layout_read_id(event, STR("/thread_id"), &change.thread))
        return;
    if (str_eq(kind, STR("conversation.created")) || str_eq(kind, STR("conversation.deleted"))) {
        change.what = CHANGE_THREAD;
    } else if (is_about(kind, "history.")) {
        if (!json_pointer(event, STR("/payload/sequence_number"), &number) ||
            !json_to_i64(number, &change.number))
            return;
        change.what = CHANGE_ENTRY;
    } else if (is_about(kind, "steps.")) {
        if (!layout_read_id(event, STR("/run_id"), &change.run) &&
            !layout_read_id(event, STR("/payload/run_id"), &change.run))
            return;
        change.what = CHANGE_RUN;
    } else if (str_eq(kind, STR("status")) || str_eq(kind, STR("final")) ||
               str_eq(kind, STR("error"))) {
        take_status(m, event, &change);
    } else if (!is_about(kind, "resumption.") && !is_about(kind, "tool.") &&
               !is_about(kind, "conversation.")) {
        return;
    }
    add_change(m, &change);
}

static int make_change(struct mirror *m, const struct change *c)
{
    switch (c->what) {
    case CHANGE_THREAD:
        return layout_sync_thread(&m->layout, &c->thread);
    case CHANGE_CONFIG:
        return layout_sync_config(&m->layout, &c->thread);
    case CHANGE_ENTRY:
        return layout_sync_entry(&m->layout, &c->thread, c->number);
    default:
        return layout_sync_run(&m->layout, &c->thread, &c->run);
    }
}

/* Writes the changes of the events so far, then the position. */
static int flush(struct mirror *m)
{
    bool any = m->n_changes > 0;
    for (size_t i = 0; i < m->n_changes; i++)
        TRY_EXIT(make_change(m, &m->changes[i]));
    m->n_changes = 0;
    return any || m->idle >= IDLE_EVENTS ? save(m) : EXIT_SUCCESS;
}

/* --- The stream ----------------------------------------------------------------------------- */

static int take_frame(struct mirror *m, const struct sse_event *frame)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct json_doc doc;
    struct json_error error;
    if (!json_parse_deep(&arena, frame->data, LAYOUT_DEPTH, &doc, &error))
        return EXIT_SUCCESS;
    if (str_eq(frame->name, STR("gap")))
        m->needs_pass = true;
    if (m->needs_pass)
        return EXIT_SUCCESS;
    if (str_eq(frame->name, STR("closed"))) {
        set_cursor(m, remote_string(&arena, json_root(&doc), STR("/cursor")));
    } else if (frame->name.len == 0) {
        take_event(m, &arena, json_root(&doc));
        m->idle++;
    }
    set_cursor(m, frame->id);
    return m->n_changes < CHANGES_MAX - 1 ? EXIT_SUCCESS : flush(m);
}

/* Reads until the stream ends. */
static int read_stream(struct mirror *m, struct sse *sse, enum client_result *out_result)
{
    struct sse_event frame;
    struct str bytes;
    while (!m->needs_pass) {
        *out_result = http_client_read(remote_client(m->stream), SILENCE_MS, &bytes);
        if (*out_result != CLIENT_OK || bytes.len == 0)
            break;
        if (!sse_feed(sse, bytes))
            return cli_fail(m->layout.cli, "an event of the stream is too large");
        while (sse_next(sse, &frame))
            TRY_EXIT(take_frame(m, &frame));
        if (!m->needs_pass)
            TRY_EXIT(flush(m));
    }
    return EXIT_SUCCESS;
}

/* Reads from one connection. Returns LAYOUT_LATER to try again. */
static int follow_once(struct mirror *m, struct sse *sse)
{
    struct arena arena CLEANUP(arena_deinit) = ARENA_INIT(SIZE_MAX);
    struct remote_answer answer;
    bool found;
    /* Changes that could not be written are before the cursor, and the stream does not repeat them.
     */
    TRY_EXIT(m->needs_pass ? pass(m) : flush(m));
    const struct remote_request request = {.method = "GET",
        .path = arena_printf(&arena, "/v1/events/stream?after=%.*s",
            STR_ARG(remote_encode(&arena, buf_str(&m->cursor)))),
        .body = STR_NONE};
    enum client_result result = remote_begin(m->stream, &request, &answer);
    if (result == CLIENT_OK && answer.head.status == 400)
        m->needs_pass = true; /* the log was restarted and does not know the cursor */
    if (result != CLIENT_OK || answer.head.status >= 400)
        return m->needs_pass ? LAYOUT_LATER
                             : layout_judge_by(&m->layout, m->stream, result, &answer, &found);
    m->noted_loss = false;
    sse_reset(sse);
    TRY_EXIT(read_stream(m, sse, &result));
    if (result == CLIENT_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (result == CLIENT_MALFORMED)
        return layout_judge_by(&m->layout, m->stream, result, &answer, &found);
    return LAYOUT_LATER;
}

static int follow(struct mirror *m)
{
    struct sse sse CLEANUP(sse_deinit);
    uint32_t pause_ms = PAUSE_FIRST_MS;
    sse_init(&sse);
    for (;;) {
        int64_t begun_us = clock_steady_us();
        int code = follow_once(m, &sse);
        if (code != LAYOUT_LATER)
            return code;
        if (clock_steady_us() - begun_us > (int64_t)PAUSE_LONGEST_MS * 1000)
            pause_ms = PAUSE_FIRST_MS;
        http_client_close(remote_client(m->stream));
        if (m->needs_pass && m->was_here)
            cli_note(m->layout.cli, "Events were pruned: reading everything again.");
        else if (!m->noted_loss)
            cli_note(m->layout.cli, "The connection was lost; trying again.");
        m->noted_loss = true;
        if (!remote_pause(m->stream, pause_ms))
            return EXIT_INTERRUPTED;
        pause_ms = pause_ms * 2 < PAUSE_LONGEST_MS ? pause_ms * 2 : PAUSE_LONGEST_MS;
    }
}

static int run(struct cli *cli)
{
    struct mirror *m = ARENA_NEW(cli_arena(cli), struct mirror);
    buf_init(&m->cursor, CURSOR_MAX_BYTES);
    int code = layout_open(&m->layout, cli, cli_argument(cli, 0));
    if (code == EXIT_SUCCESS)
        code = remote_open(cli, &m->stream);
    if (code == EXIT_SUCCESS)
        code = learn_tenant(m);
    if (code == EXIT_SUCCESS)
        code = load(m);
    m->needs_pass = !m->was_here;
    m->layout.waits = true;
    if (code == EXIT_SUCCESS)
        code = follow(m);
    /* This is the intended way to end the command. */
    if (code == EXIT_INTERRUPTED && m->n_changes == 0 && !m->needs_pass && m->cursor.len > 0)
        code = save(m);
    if (code == EXIT_INTERRUPTED)
        code = EXIT_SUCCESS;
    remote_close(m->stream);
    layout_close(&m->layout);
    buf_deinit(&m->cursor);
    return code;
}
