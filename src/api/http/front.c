/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a request, from the last section of this file to the first:
 *
 *   on_request     checks Host and Origin, finds the route
 *   receive        reads the body, unless the route takes an upload
 *   on_body        decodes the request, a large body on another thread, and submits the call
 *                  (call_run.c); on_done follows
 *   finished       back on the loop: waits, receives an upload, or answers
 *   answer         after start_encoding; or start_stream, or start_download
 */
#include "api/http/front.h"

#include "api/http/answer.h"
#include "api/http/coders.h"
#include "api/http/codings.h"
#include "api/http/encoding.h"
#include "api/http/metrics.h"
#include "api/http/origins.h"
#include "api/http/poll.h"
#include "api/http/receiver.h"
#include "api/http/sender.h"
#include "api/http/stream.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"

/* Per loop. */
struct front_loop {
    struct front *front;
    struct loop *loop;
    struct watchers *watchers;
    struct loop_task task; /* drain and detach */
};

struct front {
    struct front_config config;
    struct http_server *server;
    struct front_loop *loops;
    size_t n_loops;
    struct coders *decoders;
    struct coders *encoders;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    size_t n_pending;
    size_t n_transfers; /* uploads, downloads and queued bodies, which need the store to end */
};

/* One exchange and its call, in the exchange's arena. */
struct front_call {
    struct call call;
    struct poll poll;
    struct arena rerun_arena; /* for runs after the first, so that long waits need no more memory */
    struct coders_task *decoding; /* of a large body; NULL: none */
    struct str body;              /* the large body */
    struct encoding encoding;     /* of the answer */
    struct loop_task task;
    struct receiver receiver; /* set while has_receiver */
    bool has_receiver;
    struct sender *sender; /* NULL: none */
    struct front_loop *front_loop;
    struct http_exchange *x;
    struct str origin; /* allowed by the answer; STR_NONE: none */
    int64_t start_us;
};

static struct front_call *front_call_of(struct call *call)
{
    return CONTAINER_OF(call, struct front_call, call);
}

/* --- Answering ------------------------------------------------------------------------------ */

static void add_common(struct answer_head *head, const struct front_call *fc)
{
    answer_head_add_common(head, &fc->call);
    answer_head_add_origin(head, fc->origin);
}

/* The private data of agents, and their keys, do not appear in the log. */
static struct str path_to_log(const struct call *call)
{
    const unsigned private = SCOPE_STORAGE_READ | SCOPE_STORAGE_WRITE;
    bool hidden = call->route != NULL && ((unsigned)call->route->scope & private) != 0;
    return hidden ? str_of(call->route->path) : call->request.http->path;
}

static void log_request(const struct front_call *fc)
{
    const struct call *call = &fc->call;
    /* A balancer probes often, and the loss of the database and a full disk have been logged
     * before. */
    bool told = call->route != NULL && (call->route->flags & ROUTE_PROBE);
    told = told || (call->problem.code == ERR_STORAGE_FULL && !store_is_shared(call->api->store));
    told = told || call->problem.code == ERR_QUOTA_STORED; /* no fault of the server */
    enum log_level level = call->answer.status >= 500 && !told ? LOG_ERROR : LOG_DEBUG;
    if (!log_is_on(level))
        return;
    LOG(level, "request", LOG_STR("method", call->request.http->method),
        LOG_STR("path", path_to_log(call)), LOG_I64("status", call->answer.status),
        LOG_STR("request_id", call->request.id), LOG_STR("detail", call->problem.detail),
        LOG_I64("took_us", clock_steady_us() - fc->start_us));
}

/* The last use of the strings of a call whose body was large. Accepts NULL. */
static void release_decoding(struct front *f, struct coders_task *decoding)
{
    if (decoding != NULL)
        coders_release(f->decoders, decoding);
}

/* The last use of the front_call: releasing the exchange may free its arena. */
static void leave(struct front_call *fc)
{
    call_deinit(&fc->call);
    arena_deinit(&fc->rerun_arena);
    release_decoding(fc->front_loop->front, fc->decoding);
    http_exchange_release(fc->x);
}

static void on_poll_closed(struct poll *p)
{
    leave(CONTAINER_OF(p, struct front_call, poll));
}

/* While a job runs for the call, its memory stays; finished() frees it. */
static void on_exchange_end(struct http_exchange *x)
{
    struct front_call *fc = http_exchange_data(x);
    atomic_store(&fc->call.is_abandoned, true);
    if (fc->has_receiver)
        receiver_client_left(&fc->receiver);
    else if (!fc->poll.running)
        poll_finish(&fc->poll);
}

static void answer(struct front_call *fc)
{
    struct call *call = &fc->call;
    struct answer_head head = {.count = 0};
    add_common(&head, fc);
    answer_head_add_call(&head, call);
    codings_add_headers(&head, call);
    log_request(fc);
    http_exchange_reply(fc->x, &(struct http_answer){.status = call->answer.status,
                                   .headers = head.items,
                                   .n_headers = head.count,
                                   .body = buf_str(&call->answer.body),
                                   .closes = call->answer.closes});
}

/* Counts a stream or a waiting request of the tenant. Returns false, with the refusal as the
 * answer, if the tenant has as many as it may have on this node. */
static bool hold_stream(struct front_call *fc)
{
    struct call *call = &fc->call;
    const struct quota_limits *q = &call->caller.quotas;
    struct holdings *streams = call->api->streams;
    struct uuid tenant_id = call->caller.tenant_id;
    if (holdings_take(streams, tenant_id, q->has_max_streams ? q->max_streams : INT64_MAX))
        return true;
    struct context none;
    problem_init(&call->problem, call->arena);
    context_init(&none, call->arena, &call->problem, NULL);
    call_refuse(call, quota_refuse(&none, ERR_QUOTA, "streams", q->max_streams,
                          holdings_count(streams, tenant_id)));
    answer(fc);
    return false;
}

static void start_stream(struct front_call *fc)
{
    struct answer_head head = {.count = 0};
    add_common(&head, fc);
    bool sse = fc->call.route->mode == ROUTE_SSE;
    if (sse) {
        answer_head_add(&head, STR("Content-Type"), STR("text/event-stream; charset=utf-8"));
        answer_head_add(&head, STR("X-Accel-Buffering"), STR("no"));
    }
    if (sse && str_eq(fc->call.request.http->method, STR("HEAD"))) {
        log_request(fc);
        http_exchange_reply(fc->x,
            &(struct http_answer){.status = 200, .headers = head.items, .n_headers = head.count});
        return;
    }
    if (!hold_stream(fc))
        return;
    log_request(fc);
    struct http_exchange *x = fc->x;
    struct front *f = fc->front_loop->front;
    struct coders_task *decoding = fc->decoding;
    /* Starting the stream frees the arena, which holds the front_call. */
    struct call call = fc->call;
    stream_start(fc->front_loop->watchers, x, &call, head.items, head.count);
    release_decoding(f, decoding);
    buf_deinit(&call.answer.body);
    buf_deinit(&call.answer.replay);
    http_exchange_release(x);
}

/* --- Bytes in and out ----------------------------------------------------------------------- */

static void count_transfer(struct front *f, bool begins)
{
    pthread_mutex_lock(&f->mutex);
    f->n_transfers = begins ? f->n_transfers + 1 : f->n_transfers - 1;
    if (f->n_transfers == 0)
        pthread_cond_signal(&f->cond);
    pthread_mutex_unlock(&f->mutex);
}

static void finished(struct front_call *fc);

static void on_receiver_ended(struct receiver *r)
{
    struct front_call *fc = CONTAINER_OF(r, struct front_call, receiver);
    fc->has_receiver = false;
    count_transfer(fc->front_loop->front, false);
    finished(fc);
}

static void on_received(struct receiver *r, enum error e)
{
    struct front_call *fc = CONTAINER_OF(r, struct front_call, receiver);
    struct call *call = &fc->call;
    if (e == OK) {
        call_submit(call);
        return;
    }
    call->is_admitted = false;
    intake_explain(call, e);
    call_refuse(call, e == ERR_CANCELLED ? ERR_UNAVAILABLE : e);
    metrics_count(call->api->metrics, call->route, call->answer.status);
    receiver_end(r, on_receiver_ended);
}

static void on_run(struct http_exchange *x, struct str run, bool last)
{
    struct front_call *fc = http_exchange_data(x);
    receiver_take(&fc->receiver, run, last);
}

static bool has_body(const struct http_request *r)
{
    return r->chunked || (r->has_length && r->content_length > 0);
}

static void start_upload(struct front_call *fc)
{
    struct call *call = &fc->call;
    uint64_t limit = intake_limit(call);
    call->is_admitted = false;
    if (call->request.http->has_length && call->request.http->content_length > limit) {
        call_refuse(call, intake_refuse_large(call));
        metrics_count(call->api->metrics, call->route, call->answer.status);
        answer(fc);
        return;
    }
    fc->has_receiver = true;
    fc->poll.running = true;
    count_transfer(fc->front_loop->front, true);
    receiver_start(&fc->receiver, fc->x, call, on_received);
    if (has_body(call->request.http))
        http_exchange_stream_body(fc->x, limit, on_run);
    else
        receiver_take(&fc->receiver, STR(""), true);
}

static void on_download_ended(void *data)
{
    count_transfer(data, false);
}

static void refuse_download(struct front_call *fc, enum error e)
{
    struct call *call = &fc->call;
    if (e == ERR_DAMAGED)
        problem_set(&call->problem, e,
            "the content differs from what was stored: cairn check lists the damage; restore it "
            "from a backup");
    call_refuse(call, e);
    answer(fc);
}

static void on_download_ready(void *data, enum error e)
{
    struct front_call *fc = data;
    struct front *f = fc->front_loop->front;
    struct sender *d = fc->sender;
    fc->poll.running = false;
    if (e != OK || !http_exchange_is_open(fc->x)) {
        sender_destroy(d);
        count_transfer(f, false);
        if (http_exchange_is_open(fc->x))
            refuse_download(fc, e);
        else
            poll_finish(&fc->poll);
        return;
    }
    struct answer_head head = {.count = 0};
    int status = fc->call.answer.status;
    add_common(&head, fc);
    answer_head_add_call(&head, &fc->call);
    log_request(fc);
    /* Starting the stream frees the arena, which holds the front_call. */
    struct coders_task *decoding = fc->decoding;
    call_deinit(&fc->call);
    arena_deinit(&fc->rerun_arena);
    sender_start(d, status, head.items, head.count, on_download_ended, f);
    release_decoding(f, decoding);
}

static void start_download(struct front_call *fc)
{
    struct call *call = &fc->call;
    if (str_eq(call->request.http->method, STR("HEAD"))) {
        struct answer_head head = {.count = 0};
        size_t size_bytes = (size_t)call->answer.download.size_bytes;
        download_drop(&call->answer.download); /* before the client's next request */
        add_common(&head, fc);
        answer_head_add_call(&head, call);
        log_request(fc);
        http_exchange_reply(fc->x, &(struct http_answer){.status = call->answer.status,
                                       .headers = head.items,
                                       .n_headers = head.count,
                                       .body = {"", size_bytes}});
        return;
    }
    fc->poll.running = true;
    count_transfer(fc->front_loop->front, true);
    fc->sender = sender_create(fc->x, call, on_download_ready, fc);
}

static void finish_encoding(struct loop_task *task)
{
    struct front_call *fc = CONTAINER_OF(task, struct front_call, task);
    struct front *f = fc->front_loop->front;
    fc->poll.running = false;
    encoding_finish(&fc->encoding, f->encoders);
    if (http_exchange_is_open(fc->x))
        answer(fc);
    else
        poll_finish(&fc->poll);
    count_transfer(f, false);
}

static void on_encoded(struct encoding *e)
{
    struct front_call *fc = CONTAINER_OF(e, struct front_call, encoding);
    loop_post(fc->front_loop->loop, &fc->task);
}

/* Returns false if the answer is sent as it is. */
static bool start_encoding(struct front_call *fc)
{
    struct encoding *e = &fc->encoding;
    struct front *f = fc->front_loop->front;
    e->coding = codings_of_answer(&fc->call);
    if (e->coding == CODING_NONE)
        return false;
    e->call = &fc->call;
    e->done = on_encoded;
    fc->task.run = finish_encoding;
    fc->poll.running = true;
    count_transfer(f, true);
    if (encoding_start(e, f->encoders))
        return true;
    fc->poll.running = false;
    count_transfer(f, false);
    return false;
}

/* --- A call's way through ------------------------------------------------------------------- */

/* See poll_wait, which answers at once otherwise. */
static bool may_begin_to_wait(const struct front_call *fc)
{
    return !fc->poll.finished && !watchers_are_draining(fc->poll.watchers);
}

static void prepare_poll(struct front_call *fc)
{
    struct poll *p = &fc->poll;
    p->interest = interest_of(&fc->call);
    p->watch.tenant_id = p->interest.tenant_id;
    p->watch.topic = p->interest.topic;
    p->watch.by_time = p->interest.by_time;
    p->watch.held = fc->call.api->streams;
}

/* Ends the exchange of a waiting client that has left: a run must not be claimed for it. */
static void end_with_client(struct front_call *fc)
{
    fc->poll.running = true; /* keeps the front_call until the outcome is known */
    http_exchange_end_on_eof(fc->x);
    fc->poll.running = false;
}

enum {
    /* The limit of routes without a key, which take no body: nothing is collected for them. */
    UNUSED_BODY_BYTES = 1024,
    /* Larger bodies are read only from clients whose key has been checked, and are not decoded on
     * the loop. */
    UNCHECKED_BODY_BYTES = 64 * 1024,
};

static void on_body(struct http_exchange *x, struct str body);

static size_t body_limit(const struct route *route)
{
    return route->body_limit > 0 ? route->body_limit : ROUTE_BODY_DEFAULT;
}

static void read_body(struct front_call *fc)
{
    struct call *call = &fc->call;
    size_t limit = route_is_public(call->route) ? UNUSED_BODY_BYTES : body_limit(call->route);
    call->is_admitted = call->is_admitting = call->checks_head = false;
    http_exchange_read_body(fc->x, limit, on_body);
}

/* The key has been checked: its large body counts for the key and for its tenant. */
static void charge_body(struct front_call *fc)
{
    const struct caller *caller = &fc->call.caller;
    const struct http_charge charges[] = {
        {caller->tenant_id, 2,
            "the bodies of the tenant's requests have reached half of --max-body-memory: try "
            "again"},
        {caller->key_id, 4,
            "the bodies of the key's requests have reached a quarter of --max-body-memory: try "
            "again"},
    };
    http_exchange_charge(fc->x, charges, caller->has_key ? 2 : 1);
}

static void finished(struct front_call *fc)
{
    struct call *call = &fc->call;
    if (fc->has_receiver) { /* content that was not adopted is removed before the answer is sent */
        receiver_end(&fc->receiver, on_receiver_ended);
        return;
    }
    fc->poll.running = false;
    int64_t wait_s = call_wait_s(call);
    if (wait_s > 0)
        end_with_client(fc);
    if (!http_exchange_is_open(fc->x)) {
        poll_finish(&fc->poll);
        return;
    }
    if (wait_s > 0) {
        if (!fc->poll.started && may_begin_to_wait(fc)) {
            if (!hold_stream(fc))
                return;
            prepare_poll(fc);
        }
        if (poll_wait(
                &fc->poll, http_exchange_loop(fc->x), (uint64_t)wait_s * 1000, call_wake_ms(call)))
            return;
    }
    poll_settle(&fc->poll);
    if (call->is_admitted && call->checks_head) {
        charge_body(fc);
        read_body(fc);
        return;
    }
    if (call->is_admitted) {
        start_upload(fc);
        return;
    }
    if (call->answer.download.is_wanted) {
        start_download(fc);
        return;
    }
    bool stream = call->route != NULL &&
                  (call->route->mode == ROUTE_SSE || call->route->mode == ROUTE_WEBSOCKET) &&
                  call->answer.status == call->route->status;
    if (stream)
        start_stream(fc);
    else if (!start_encoding(fc))
        answer(fc);
}

static void on_task(struct loop_task *task)
{
    finished(CONTAINER_OF(task, struct front_call, task));
}

static void on_done(struct call *call)
{
    struct front_call *fc = front_call_of(call);
    if (call->route->mode == ROUTE_STATIC)
        finished(fc);
    else
        loop_post(fc->front_loop->loop, &fc->task);
}

static void rerun(struct poll *p)
{
    struct front_call *fc = CONTAINER_OF(p, struct front_call, poll);
    arena_clear(&fc->rerun_arena);
    fc->call.arena = &fc->rerun_arena;
    call_rewind(&fc->call);
    call_submit(&fc->call);
}

static bool decode_large(struct coders_task *task)
{
    struct front_call *fc = task->data;
    call_decode(&fc->call, fc->body);
    return false;
}

static void submit_large(struct coders_task *task)
{
    struct front_call *fc = task->data;
    struct front *f = fc->front_loop->front;
    call_submit(&fc->call);
    count_transfer(f, false);
}

/* A body with a coding takes memory again when it is decoded, as much as its route allows. */
static size_t decoding_budget(const struct front_call *fc)
{
    return http_exchange_arena(fc->x)->budget_bytes +
           (codings_has_body(fc->call.request.http) ? body_limit(fc->call.route) : 0);
}

/* Only a client whose key has been checked sends a large body, so the tenant is known. */
static void decode_elsewhere(struct front_call *fc, struct str body)
{
    struct front *f = fc->front_loop->front;
    struct coders_task *d = coders_task_create(decoding_budget(fc));
    d->tenant_id = fc->call.caller.tenant_id;
    d->data = fc;
    d->work = decode_large;
    d->done = submit_large;
    fc->decoding = d;
    fc->body = body;
    fc->call.arena = &d->arena;
    call_rewind(&fc->call);
    count_transfer(f, true);
    coders_submit(f->decoders, d);
}

/* A small body with a coding may be a large one. */
static bool is_decoded_elsewhere(const struct call *call, struct str body)
{
    return body.len > UNCHECKED_BODY_BYTES ||
           (body.len > 0 && codings_has_body(call->request.http) && !route_is_public(call->route));
}

static void on_body(struct http_exchange *x, struct str body)
{
    struct front_call *fc = http_exchange_data(x);
    fc->poll.running = true;
    if (is_decoded_elsewhere(&fc->call, body)) {
        decode_elsewhere(fc, body);
        return;
    }
    if (fc->call.route->flags & ROUTE_LONG)
        http_exchange_end_on_eof(x);
    call_decode(&fc->call, body);
    if (fc->call.route->flags & ROUTE_UPLOAD)
        call_admit(&fc->call);
    else
        call_submit(&fc->call);
}

/* --- Arrival -------------------------------------------------------------------------------- */

static void answer_preflight(struct front_call *fc)
{
    struct answer_head head = {.count = 0};
    add_common(&head, fc);
    answer_head_add_preflight(&head);
    http_exchange_reply(fc->x,
        &(struct http_answer){.status = 204, .headers = head.items, .n_headers = head.count});
}

static struct front_loop *loop_of(struct front *f, const struct http_exchange *x)
{
    struct loop *loop = http_exchange_loop(x);
    for (size_t i = 0; i < f->n_loops; i++)
        if (f->loops[i].loop == loop)
            return &f->loops[i];
    abort(); /* every exchange belongs to one of the listener's loops */
}

static void refuse(struct front_call *fc, enum error e)
{
    call_refuse(&fc->call, e);
    answer(fc);
}

static bool has_large_body(const struct call *call)
{
    const struct http_request *r = call->request.http;
    return !route_is_public(call->route) &&
           (r->chunked || r->content_length > UNCHECKED_BODY_BYTES || codings_has_body(r));
}

static struct connection *connection_of(struct front_call *fc)
{
    struct connection *connection = http_exchange_connection_data(fc->x);
    if (connection == NULL) {
        connection = connection_create(fc->call.api->connections);
        http_exchange_set_connection_data(fc->x, connection, connection_destroy);
    }
    return connection;
}

static void receive(struct front_call *fc)
{
    struct call *call = &fc->call;
    const char *rule;
    if (!route_is_public(call->route))
        call->connection = connection_of(fc);
    if (call->route->mode == ROUTE_WEBSOCKET && !ws_is_handshake(fc->x, &rule)) {
        refuse(fc, problem_set(&call->problem, ERR_UPGRADE, "%s", rule));
        return;
    }
    if (!has_body(call->request.http) || call->route->flags & ROUTE_UPLOAD) {
        on_body(fc->x, STR(""));
    } else if (has_large_body(call)) {
        fc->poll.running = true;
        call_check_head(call);
    } else {
        read_body(fc);
    }
}

static struct front_call *front_call_create(struct front *f, struct http_exchange *x)
{
    struct arena *arena = http_exchange_arena(x);
    /* Not ARENA_NEW: call_init sets the call, which is most of it. */
    struct front_call *fc = arena_alloc(arena, sizeof *fc);
    call_init(&fc->call, f->config.api, arena, http_exchange_request(x));
    fc->front_loop = loop_of(f, x);
    fc->poll = (struct poll){
        .watchers = fc->front_loop->watchers, .rerun = rerun, .closed = on_poll_closed};
    arena_init(&fc->rerun_arena, arena->budget_bytes);
    fc->decoding = NULL;
    fc->body = fc->origin = STR_NONE;
    fc->encoding = (struct encoding){0};
    fc->task = (struct loop_task){.run = on_task};
    fc->has_receiver = false;
    fc->sender = NULL;
    fc->x = x;
    fc->start_us = clock_steady_us();
    fc->call.done = on_done;
    http_exchange_hold(x);
    http_exchange_set_data(x, fc);
    http_exchange_on_end(x, on_exchange_end);
    return fc;
}

static void on_request(struct http_exchange *x, void *data)
{
    struct front *f = data;
    struct front_call *fc = front_call_create(f, x);
    enum error e = origins_check(&f->config, http_server_is_tls(f->server), &fc->call, &fc->origin);
    if (e != OK)
        refuse(fc, e);
    else if (str_eq(fc->call.request.http->method, STR("OPTIONS")) && !str_is_none(fc->origin))
        answer_preflight(fc);
    else if (!call_route(&fc->call))
        answer(fc);
    else
        receive(fc);
}

/* Only the headers of the request are known. */
static struct http_answer word_refusal(struct arena *arena, const struct http_refusal *refusal,
    const struct http_request *request, void *data)
{
    const struct front *f = data;
    struct answer_head *head = ARENA_NEW(arena, struct answer_head);
    struct str origin = http_header(request, STR("Origin"));
    struct str body = answer_refusal(arena, refusal, request, head);
    if (!str_is_none(origin) &&
        origins_is_allowed(&f->config, arena, http_server_is_tls(f->server), origin, request->host))
        answer_head_add_origin(head, origin);
    return (struct http_answer){.headers = head->items, .n_headers = head->count, .body = body};
}

/* --- Life ----------------------------------------------------------------------------------- */

struct front *front_create(const struct front_config *config)
{
    struct front *f = MEM_NEW(struct front);
    f->config = *config;
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->cond, NULL);
    f->decoders = coders_create("cairn-decoder");
    f->encoders = coders_create("cairn-encoder");
    return f;
}

struct http_app front_app(struct front *f)
{
    return (struct http_app){.data = f, .on_request = on_request, .word_refusal = word_refusal};
}

void front_attach(struct front *f, struct http_server *server)
{
    f->server = server;
    f->n_loops = http_server_loop_count(server);
    f->loops = mem_zalloc(f->n_loops * sizeof(struct front_loop));
    for (size_t i = 0; i < f->n_loops; i++) {
        struct loop *loop = http_server_loop(server, i);
        f->loops[i] = (struct front_loop){.front = f,
            .loop = loop,
            .watchers = watchers_create(loop, store_hub(f->config.api->store))};
    }
}

size_t front_subscribers(const struct front *f)
{
    size_t count = 0;
    for (size_t i = 0; i < f->n_loops; i++)
        count += watch_count(f->loops[i].watchers);
    return count;
}

static void loop_done(struct front_loop *fl)
{
    struct front *f = fl->front;
    pthread_mutex_lock(&f->mutex);
    f->n_pending--;
    pthread_cond_signal(&f->cond);
    pthread_mutex_unlock(&f->mutex);
}

/* Runs a function on every loop and waits until all are done. */
static void on_every_loop(struct front *f, void (*run)(struct loop_task *task))
{
    f->n_pending = f->n_loops;
    for (size_t i = 0; i < f->n_loops; i++) {
        f->loops[i].task.run = run;
        loop_post(f->loops[i].loop, &f->loops[i].task);
    }
    pthread_mutex_lock(&f->mutex);
    while (f->n_pending > 0)
        pthread_cond_wait(&f->cond, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

static void drain_loop(struct loop_task *task)
{
    struct front_loop *fl = CONTAINER_OF(task, struct front_loop, task);
    watchers_drain(fl->watchers);
    loop_done(fl);
}

static void stop_loop(struct loop_task *task)
{
    struct front_loop *fl = CONTAINER_OF(task, struct front_loop, task);
    watchers_stop(fl->watchers);
    loop_done(fl);
}

void front_drain(struct front *f)
{
    on_every_loop(f, drain_loop);
}

void front_detach(struct front *f)
{
    on_every_loop(f, stop_loop);
    pthread_mutex_lock(&f->mutex);
    while (f->n_transfers > 0)
        pthread_cond_wait(&f->cond, &f->mutex);
    pthread_mutex_unlock(&f->mutex);
}

void front_destroy(struct front *f)
{
    for (size_t i = 0; i < f->n_loops; i++)
        watchers_destroy(f->loops[i].watchers);
    coders_destroy(f->decoders);
    coders_destroy(f->encoders);
    pthread_cond_destroy(&f->cond);
    pthread_mutex_destroy(&f->mutex);
    mem_free(f->loops);
    mem_free(f);
}
