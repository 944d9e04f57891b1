/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "fixture.h"

enum { DOWNLOAD_PIECE_BYTES = 32 * 1024, ECHO_LIMIT_BYTES = 1 << 20, PAUSE_MS = 20 };

/* The state of an exchange. */
struct visit {
    struct fixture *fixture;
    size_t left; /* of a download */
    size_t count;
    bool subscribed;
};

/* A trip to the worker's thread and back; the exchange may have ended meanwhile, and is held. */
struct errand {
    struct loop_task task;
    struct http_exchange *exchange;
    unsigned delay_ms;
    void (*back)(struct http_exchange *x);
};

static struct visit *visit_of(struct http_exchange *x)
{
    return http_exchange_data(x);
}

static void on_end(struct http_exchange *x)
{
    struct visit *v = visit_of(x);
    struct fixture *f = v->fixture;
    EXPECT(!http_exchange_is_open(x));
    for (size_t i = 0; v->subscribed && i < f->n_subscribers; i++)
        if (f->subscribers[i] == x)
            f->subscribers[i] = f->subscribers[--f->n_subscribers];
    atomic_fetch_add(&f->ended, 1);
    mem_free(v);
    http_exchange_set_data(x, NULL);
}

static void reply_text(struct http_exchange *x, int status, struct str body)
{
    struct http_header type = {STR("Content-Type"), STR("text/plain")};
    struct http_answer answer = {.status = status, .headers = &type, .n_headers = 1, .body = body};
    http_exchange_reply(x, &answer);
}

static uint64_t query_number(const struct http_exchange *x)
{
    uint64_t number = 0;
    return str_to_u64(http_exchange_request(x)->query, &number) ? number : 0;
}

/* --- /echo: the whole body back -------------------------------------------------------------- */

static void echo_body(struct http_exchange *x, struct str body)
{
    reply_text(x, 200, body);
}

/* --- Errands --------------------------------------------------------------------------------- */

static void come_back(struct loop_task *task)
{
    struct errand *e = CONTAINER_OF(task, struct errand, task);
    e->back(e->exchange);
    http_exchange_release(e->exchange);
    mem_free(e);
}

static void be_away(struct loop_task *task)
{
    struct errand *e = CONTAINER_OF(task, struct errand, task);
    sleep_ms(e->delay_ms);
    task->run = come_back;
    loop_post(http_exchange_loop(e->exchange), task);
}

static void go_away(
    struct http_exchange *x, unsigned delay_ms, void (*back)(struct http_exchange *x))
{
    struct errand *e = MEM_NEW(struct errand);
    *e = (struct errand){{NULL, be_away}, x, delay_ms, back};
    http_exchange_hold(x);
    loop_post(visit_of(x)->fixture->worker, &e->task);
}

/* --- /later?ms: answered after a trip to another thread --------------------------------------- */

static void answer_target(struct http_exchange *x)
{
    if (http_exchange_is_open(x))
        reply_text(x, 200, http_exchange_request(x)->target);
}

static void serve_later(struct http_exchange *x)
{
    go_away(x, (unsigned)query_number(x), answer_target);
}

/* --- /upload: counts the bytes; /slow-upload pauses after every run -------------------------- */

static void count_run(struct http_exchange *x, struct str run, bool last)
{
    struct visit *v = visit_of(x);
    v->count += run.len;
    atomic_fetch_add(&v->fixture->received, run.len);
    if (last) {
        struct arena *arena = http_exchange_arena(x);
        reply_text(x, 200, arena_printf(arena, "%zu", v->count));
    }
}

static void count_run_slowly(struct http_exchange *x, struct str run, bool last)
{
    if (!last) {
        http_exchange_pause_body(x);
        go_away(x, PAUSE_MS, http_exchange_resume_body);
    }
    count_run(x, run, last);
}

/* --- /pause-at-end: answers while paused ------------------------------------------------------ */

static void pause_and_answer(struct http_exchange *x, struct str run, bool last)
{
    http_exchange_pause_body(x);
    reply_text(x, 200, STR("paused\n"));
}

/* --- /mirror: returns the body while it arrives ----------------------------------------------- */

static void note_queued(struct http_exchange *x)
{
    struct fixture *f = visit_of(x)->fixture;
    size_t queued = http_stream_queued(x);
    if (queued > atomic_load(&f->queued_most))
        atomic_store(&f->queued_most, queued);
}

static void mirror_run(struct http_exchange *x, struct str run, bool last)
{
    struct fixture *f = visit_of(x)->fixture;
    atomic_fetch_add(&f->received, run.len);
    if (!http_stream_send(x, run))
        atomic_fetch_add(&f->refused_sends, 1);
    note_queued(x);
    if (last)
        http_stream_end(x, STR(""));
    else if (http_stream_queued(x) > f->config.stream_max_bytes / 2)
        http_exchange_pause_body(x);
}

static void serve_mirror(struct http_exchange *x)
{
    static const struct http_stream_hooks hooks = {.on_writable = http_exchange_resume_body};
    http_stream_start(x, 200, NULL, 0, &hooks);
    http_exchange_stream_body(x, UINT64_MAX, mirror_run);
}

/* --- /download?bytes ------------------------------------------------------------------------- */

static void produce(struct http_exchange *x)
{
    static const char piece[DOWNLOAD_PIECE_BYTES];
    struct visit *v = visit_of(x);
    while (v->left > 0) {
        size_t size = v->left < sizeof piece ? v->left : sizeof piece;
        if (!http_stream_send(x, (struct str){piece, size}))
            return;
        v->left -= size;
        atomic_fetch_add(&v->fixture->produced, size);
        note_queued(x);
    }
    http_stream_end(x, STR(""));
}

static void serve_download(struct http_exchange *x)
{
    static const struct http_stream_hooks hooks = {.on_writable = produce};
    visit_of(x)->left = (size_t)query_number(x);
    http_stream_start(x, 200, NULL, 0, &hooks);
}

/* --- /sized?bytes, an answer of known length; /cut-off?bytes breaks in the middle of one -------
 */

static void produce_sized(struct http_exchange *x)
{
    static const char piece[DOWNLOAD_PIECE_BYTES];
    struct visit *v = visit_of(x);
    size_t size = v->left < sizeof piece ? v->left : sizeof piece;
    v->left -= size;
    atomic_fetch_add(&v->fixture->produced, size);
    if (size > 0 && !http_stream_send(x, (struct str){piece, size}))
        atomic_fetch_add(&v->fixture->refused_sends, 1);
    note_queued(x);
}

static void serve_sized(struct http_exchange *x)
{
    static const struct http_stream_hooks hooks = {.on_writable = produce_sized};
    struct visit *v = visit_of(x);
    v->left = (size_t)query_number(x);
    http_stream_start_sized(x, 200, NULL, 0, v->left, &hooks);
}

static void produce_half(struct http_exchange *x)
{
    struct visit *v = visit_of(x);
    if (v->count++ == 0)
        produce_sized(x);
    else
        http_exchange_abort(x);
}

static void serve_cut_off(struct http_exchange *x)
{
    static const struct http_stream_hooks hooks = {.on_writable = produce_half};
    struct visit *v = visit_of(x);
    v->left = (size_t)query_number(x);
    http_stream_start_sized(x, 200, NULL, 0, v->left, &hooks);
}

/* --- /events, /ws ---------------------------------------------------------------------------- */

static void say_goodbye(struct http_exchange *x)
{
    http_stream_end(x, STR("event: bye\n\n"));
}

static void subscribe(struct http_exchange *x)
{
    struct visit *v = visit_of(x);
    struct fixture *f = v->fixture;
    if (http_exchange_loop(x) == http_server_loop(f->server, 0) &&
        f->n_subscribers < SUBSCRIBERS_MAX) {
        f->subscribers[f->n_subscribers++] = x;
        v->subscribed = true;
    }
    atomic_fetch_add(&f->subscribed, 1);
}

static void serve_events(struct http_exchange *x)
{
    static const struct http_stream_hooks hooks = {.on_drain_out = say_goodbye};
    struct http_header type = {STR("Content-Type"), STR("text/event-stream")};
    subscribe(x);
    http_stream_start(x, 200, &type, 1, &hooks);
    if (!http_stream_send(x, STR(": welcome\n\n")))
        http_stream_end(x, STR(""));
}

static void answer_message(struct http_exchange *x, struct str message, bool text)
{
    bool sent = true;
    if (str_eq(message, STR("close")))
        ws_close(x, 4001, STR("as you wish"));
    else
        sent = ws_send_text(x, text ? message : STR("(binary)"));
    if (!sent)
        ws_close(x, 1008, STR("too slow"));
}

static void serve_ws(struct http_exchange *x)
{
    static const struct ws_hooks hooks = {.on_message = answer_message};
    const char *rule;
    if (!ws_is_handshake(x, &rule)) {
        reply_text(x, 426, str_of(rule));
        return;
    }
    struct str offered = http_header(http_exchange_request(x), STR("Sec-WebSocket-Protocol"));
    bool wanted = str_eq(offered, STR("cairn.v1"));
    ws_accept(x, wanted ? STR("cairn.v1") : STR_NONE, NULL, 0, &hooks);
    atomic_fetch_add(&visit_of(x)->fixture->subscribed, 1);
}

/* --- The table ------------------------------------------------------------------------------- */

static void serve_hello(struct http_exchange *x)
{
    reply_text(x, 200, STR("hello\n"));
}

static void serve_empty(struct http_exchange *x)
{
    struct http_answer answer = {.status = 204};
    http_exchange_reply(x, &answer);
}

static void serve_unchanged(struct http_exchange *x)
{
    reply_text(x, 304, STR("twelve bytes"));
}

static void serve_echo(struct http_exchange *x)
{
    http_exchange_read_body(x, ECHO_LIMIT_BYTES, echo_body);
}

/* The body belongs to owner N of the query, who is a part of owner 100 + N / 10. */
static void serve_owned_echo(struct http_exchange *x)
{
    uint8_t n = (uint8_t)query_number(x);
    const struct http_charge charges[] = {
        {{{100 + n / 10}}, 2, "half of the memory"}, {{{n}}, 4, "a quarter of the memory"}};
    http_exchange_charge(x, charges, 2);
    http_exchange_read_body(x, ECHO_LIMIT_BYTES, echo_body);
}

static void serve_upload(struct http_exchange *x)
{
    http_exchange_stream_body(x, UINT64_MAX, count_run);
}

static void serve_slow_upload(struct http_exchange *x)
{
    http_exchange_stream_body(x, UINT64_MAX, count_run_slowly);
}

static void serve_pause_at_end(struct http_exchange *x)
{
    http_exchange_stream_body(x, UINT64_MAX, pause_and_answer);
}

static void serve_injection(struct http_exchange *x)
{
    struct http_header evil = {STR("X-Name"), STR("a\r\nX-Evil: 1\r\n\r\nb")};
    struct http_answer answer = {.status = 200, .headers = &evil, .n_headers = 1};
    http_exchange_reply(x, &answer);
}

/* Refuses without looking at the body. */
static void serve_forbidden(struct http_exchange *x)
{
    reply_text(x, 403, STR("no\n"));
}

/* --- /count: the number of such requests on the connection; /last closes it ------------------- */

struct tally {
    struct fixture *fixture;
    unsigned count;
};

static void tally_destroy(void *data)
{
    struct tally *tally = data;
    atomic_fetch_add(&tally->fixture->left, 1);
    mem_free(tally);
}

static void serve_count(struct http_exchange *x)
{
    struct tally *tally = http_exchange_connection_data(x);
    if (tally == NULL) {
        tally = MEM_NEW(struct tally);
        tally->fixture = visit_of(x)->fixture;
        http_exchange_set_connection_data(x, tally, tally_destroy);
    }
    reply_text(x, 200, arena_printf(http_exchange_arena(x), "%u", ++tally->count));
}

static void serve_last(struct http_exchange *x)
{
    http_exchange_reply(x, &(struct http_answer){.status = 429, .closes = true});
}

/* --------------------------------------------------------------------------------------------- */

static const struct {
    struct str path;
    void (*serve)(struct http_exchange *x);
} ROUTES[] = {
#define ROUTE(path, serve)              \
    {                                   \
        {path, sizeof(path) - 1}, serve \
    }
    ROUTE("/hello", serve_hello),
    ROUTE("/empty", serve_empty),
    ROUTE("/unchanged", serve_unchanged),
    ROUTE("/echo", serve_echo),
    ROUTE("/owned-echo", serve_owned_echo),
    ROUTE("/later", serve_later),
    ROUTE("/upload", serve_upload),
    ROUTE("/slow-upload", serve_slow_upload),
    ROUTE("/pause-at-end", serve_pause_at_end),
    ROUTE("/mirror", serve_mirror),
    ROUTE("/download", serve_download),
    ROUTE("/sized", serve_sized),
    ROUTE("/cut-off", serve_cut_off),
    ROUTE("/events", serve_events),
    ROUTE("/ws", serve_ws),
    ROUTE("/injection", serve_injection),
    ROUTE("/forbidden", serve_forbidden),
    ROUTE("/count", serve_count),
    ROUTE("/last", serve_last),
};

void fixture_on_request(struct http_exchange *x, void *data)
{
    struct fixture *f = data;
    struct visit *v = MEM_NEW(struct visit);
    v->fixture = f;
    http_exchange_set_data(x, v);
    http_exchange_on_end(x, on_end);
    atomic_fetch_add(&f->requests, 1);
    for (size_t i = 0; i < COUNT_OF(ROUTES); i++)
        if (str_eq(ROUTES[i].path, http_exchange_request(x)->path)) {
            ROUTES[i].serve(x);
            return;
        }
    reply_text(x, 404, STR("no such path\n"));
}
