/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/local_call.h"

#include "api/http/answer.h"
#include "base/alloc.h"
#include "base/clock.h"

/* --- The request ---------------------------------------------------------------------------- */

static bool add_line(struct buf *head, const char *text)
{
    struct str line = str_of(text);
    buf_append(head, line);
    return !str_has_byte(line, '\r') && !str_has_byte(line, '\n');
}

/* Writes the head of a request, so that the one strict parser validates it. Returns false if a part
 * contains a line break that is not allowed. */
static bool write_head(struct buf *head, const struct local_request *r)
{
    bool good = add_line(head, r->method);
    buf_append_byte(head, ' ');
    good = add_line(head, r->target) && good;
    buf_append(head, STR(" HTTP/1.1\r\nHost: localhost\r\n"));
    if (r->body.len > 0)
        buf_printf(head, "Content-Length: %zu\r\n", r->body.len);
    for (size_t i = 0; r->headers != NULL && r->headers[i] != NULL; i++) {
        good = add_line(head, r->headers[i]) && good;
        buf_append(head, STR("\r\n"));
    }
    buf_append(head, STR("\r\n"));
    return good;
}

static bool parse(struct local_call *lc, const struct local_request *r)
{
    struct http_limits limits = http_default_limits;
    limits.body_bytes = INT64_MAX; /* each route has its own limit */
    struct buf head CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    size_t used;
    if (!write_head(&head, r)) {
        lc->refusal = (struct http_refusal){400, "the head must not contain control characters"};
        return false;
    }
    struct str seen = str_slice(buf_str(&head), 0, limits.head_bytes);
    if (http_head_parse(&lc->arena, seen, &limits, &lc->request, &used, &lc->refusal) != HTTP_DONE)
        return false;
    /* An empty header would be a blank line and end the head before the headers that follow. */
    lc->refusal = (struct http_refusal){400, "a header must not be empty"};
    return used == head.len;
}

/* --- Running -------------------------------------------------------------------------------- */

static void on_done(struct call *call)
{
    sem_post(&CONTAINER_OF(call, struct local_call, call)->done);
}

static void wait_for_done(struct local_call *lc)
{
    while (sem_wait(&lc->done) != 0) {
    }
}

static void submit(struct local_call *lc)
{
    call_submit(&lc->call);
    wait_for_done(lc);
}

static void run_again(struct local_call *lc)
{
    arena_clear(&lc->rerun_arena);
    lc->call.arena = &lc->rerun_arena;
    call_rewind(&lc->call);
    submit(lc);
}

/* An interest that depends on time is checked again each second, and a call that knows when its
 * answer may change at that time. */
static int64_t next_look_us(
    const struct call *call, const struct interest *interest, int64_t until_us)
{
    int64_t now_us = clock_steady_us(), look_us = until_us;
    int64_t wake_us = call->answer.wake_in_us;
    if (wake_us > 0 && now_us + wake_us < look_us)
        look_us = now_us + wake_us;
    if (interest->by_time && now_us + 1000000 < look_us)
        look_us = now_us + 1000000;
    return look_us;
}

/* Runs the call again after each matching event, and a last time after the timeout. */
static void wait_for_more(struct local_call *lc, cairn *c, int64_t until_us)
{
    const struct interest interest = interest_of(&lc->call);
    struct bell bell;
    bool last = false;
    handle_add_bell(c, &bell, &interest);
    run_again(lc); /* an event may have been committed before the bell was registered */
    while (call_wait_s(&lc->call) > 0 && !last) {
        enum bell_news news = bell_wait(&bell, next_look_us(&lc->call, &interest, until_us));
        last = bell_is_stopped(&bell) || (news == BELL_SILENT && clock_steady_us() >= until_us);
        run_again(lc);
    }
    handle_remove_bell(c, &bell);
}

/* Applies the limits of a body that arrives over a socket. */
static bool fits(struct local_call *lc, struct str body)
{
    const struct route *route = lc->call.route;
    size_t limit = route->body_limit > 0 ? route->body_limit : ROUTE_BODY_DEFAULT;
    struct http_body framing;
    struct str run;
    size_t used;
    if (body.len == 0)
        return true;
    lc->arena.budget_bytes = http_arena_budget(limit);
    http_body_init(&framing, &lc->request, limit);
    return http_body_feed(&framing, body, &run, &used, &lc->refusal) != HTTP_REFUSED;
}

/* --- Bytes in and out ----------------------------------------------------------------------- */

static enum error write_content(
    struct local_call *lc, struct str body, struct content_writer **out_writer)
{
    struct content_info info;
    if (body.len > intake_limit(&lc->call))
        return intake_refuse_large(&lc->call);
    TRY(intake_open(&lc->call, out_writer));
    TRY(intake_write(&lc->call, *out_writer, body));
    TRY(intake_sync(&lc->call, *out_writer, &info));
    TRY(intake_prepare(&lc->call, &info));
    return intake_complete(&lc->call, &info, false);
}

/* In the order of a request over a socket: authorize, receive the bytes, run the call. */
static void upload(struct local_call *lc, struct str body)
{
    struct call *call = &lc->call;
    struct content_writer *writer = NULL;
    call_decode(call, STR(""));
    call_admit(call);
    wait_for_done(lc);
    if (!call->is_admitted)
        return;
    call->is_admitted = false;
    enum error e = write_content(lc, body, &writer);
    if (e == OK)
        submit(lc);
    if (e != OK) {
        intake_explain(call, e);
        call_refuse(call, e);
    }
    intake_end(call, writer);
}

/* Reads a download into memory, up to a limit. */
static void collect(struct local_call *lc)
{
    struct call *call = &lc->call;
    struct download_reader reader;
    enum error e = OK;
    if (!call->answer.download.is_wanted || str_eq(lc->request.method, STR("HEAD")))
        return;
    download_reader_init(&reader, call);
    if (reader.what.count > CALL_ANSWER_MAX_BYTES)
        e = problem_set(&call->problem, ERR_ANSWER_LARGE,
            "the content has %llu bytes, an answer in memory at most %d: ask for a part of it with "
            "Range",
            (unsigned long long)reader.what.count, CALL_ANSWER_MAX_BYTES);
    while (e == OK && !download_is_over(&reader)) {
        size_t size = 0;
        char *place = buf_reserve(&call->answer.body, CONTENT_PIECE_BYTES);
        e = place == NULL ? ERR_ANSWER_LARGE : download_read(&reader, place, &size);
        if (e == OK)
            buf_advance(&call->answer.body, size);
    }
    download_reader_deinit(&reader);
    if (e != OK)
        call_refuse(call, e);
}

void local_call_run(struct local_call *lc, cairn *c, struct str body)
{
    if (lc->call.route->flags & ROUTE_UPLOAD) {
        upload(lc, body);
        return;
    }
    if (!fits(lc, body)) {
        lc->is_call = false;
        return;
    }
    call_decode(&lc->call, body);
    submit(lc);
    collect(lc);
    int64_t wait_s = call_wait_s(&lc->call);
    if (wait_s > 0)
        wait_for_more(lc, c, clock_steady_us() + wait_s * 1000000);
}

/* --- Life ----------------------------------------------------------------------------------- */

void local_call_init(struct local_call *lc, struct api *api, const struct local_request *request)
{
    *lc = (struct local_call){0};
    arena_init(&lc->arena, http_arena_budget(0));
    arena_init(&lc->rerun_arena, http_arena_budget(0));
    sem_init(&lc->done, 0, 0);
    lc->is_call = parse(lc, request);
    if (!lc->is_call)
        return;
    call_init(&lc->call, api, &lc->arena, &lc->request);
    lc->call.done = on_done;
}

void local_call_deinit(struct local_call *lc)
{
    call_deinit(&lc->call);
    arena_deinit(&lc->arena);
    arena_deinit(&lc->rerun_arena);
    sem_destroy(&lc->done);
}

bool local_call_find_route(struct local_call *lc)
{
    return lc->is_call && call_route(&lc->call);
}

void local_call_refuse(struct local_call *lc, enum error e, const char *detail)
{
    call_refuse(&lc->call, problem_set(&lc->call.problem, e, "%s", detail));
}

/* --- The answer ----------------------------------------------------------------------------- */

struct cairn_answer {
    int status;
    struct arena arena;
    struct http_header *headers; /* NUL-terminated */
    size_t n_headers;
    char *body;
    size_t body_len;
};

static struct str copy_line(struct arena *arena, struct str s)
{
    char *text = arena_alloc(arena, s.len + 1);
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    http_clean_value(text, s.len);
    return (struct str){text, s.len};
}

static cairn_answer *answer_create(int status, const struct answer_head *head, struct buf *body)
{
    cairn_answer *a = MEM_NEW(cairn_answer);
    arena_init(&a->arena, SIZE_MAX);
    a->status = status;
    a->headers = ARENA_ARRAY(&a->arena, struct http_header, head->count);
    for (size_t i = 0; i < head->count; i++)
        a->headers[a->n_headers++] = (struct http_header){
            copy_line(&a->arena, head->items[i].name), copy_line(&a->arena, head->items[i].value)};
    char *bytes = buf_take(body, &a->body_len);
    a->body = mem_realloc(bytes, a->body_len + 1);
    a->body[a->body_len] = '\0';
    return a;
}

cairn_answer *local_call_answer(struct local_call *lc)
{
    struct answer_head head = {.count = 0};
    struct buf body CLEANUP(buf_deinit) = BUF_INIT(SIZE_MAX);
    if (!lc->is_call) {
        buf_append(&body, answer_refusal(&lc->arena, &lc->refusal, &lc->request, &head));
        return answer_create(lc->refusal.status, &head, &body);
    }
    answer_head_add_common(&head, &lc->call);
    answer_head_add_call(&head, &lc->call);
    if (str_eq(lc->request.method, STR("HEAD")))
        buf_reset(&lc->call.answer.body);
    return answer_create(lc->call.answer.status, &head, &lc->call.answer.body);
}

cairn_answer *local_call_turn_away(const struct local_request *request)
{
    struct local_call lc;
    local_call_init(&lc, NULL, request);
    if (lc.is_call)
        local_call_refuse(&lc, ERR_UNAVAILABLE, "this cairn is closing");
    cairn_answer *answer = local_call_answer(&lc);
    local_call_deinit(&lc);
    return answer;
}

int cairn_answer_status(const cairn_answer *a)
{
    return a->status;
}

const char *cairn_answer_body(const cairn_answer *a, size_t *out_len)
{
    if (out_len != NULL)
        *out_len = a->body_len;
    return a->body;
}

const char *cairn_answer_header(const cairn_answer *a, const char *name)
{
    for (size_t i = 0; i < a->n_headers; i++)
        if (str_eq_nocase(a->headers[i].name, str_of(name)))
            return a->headers[i].value.ptr;
    return NULL;
}

const char *cairn_answer_header_at(const cairn_answer *a, size_t index, const char **out_value)
{
    if (index >= a->n_headers)
        return NULL;
    *out_value = a->headers[index].value.ptr;
    return a->headers[index].name.ptr;
}

void cairn_answer_free(cairn_answer *a)
{
    if (a == NULL)
        return;
    arena_deinit(&a->arena);
    mem_free(a->body);
    mem_free(a);
}
