/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/visit.h"

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

/* As the head of a request, so that the one strict parser judges it. False: it has a line end where
 * none may be. */
static bool write_head(struct buf *head, const struct visit_request *r)
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

static bool parse(struct visit *v, const struct visit_request *r)
{
    struct http_limits limits = http_default_limits;
    limits.body_bytes = INT64_MAX; /* each route has a limit of its own */
    struct buf head CLEANUP(buf_deinit);
    size_t used;
    buf_init(&head, SIZE_MAX);
    if (!write_head(&head, r)) {
        v->refusal = (struct http_refusal){400, "the head must not hold control characters"};
        return false;
    }
    struct str seen = str_slice(buf_str(&head), 0, limits.head_bytes);
    if (http_head_parse(&v->arena, seen, &limits, &v->request, &used, &v->refusal) != HTTP_DONE)
        return false;
    /* As a blank line it would have ended the head before the headers behind it. */
    v->refusal = (struct http_refusal){400, "a header must not be empty"};
    return used == head.len;
}

/* --- Running -------------------------------------------------------------------------------- */

static void on_done(struct call *call)
{
    sem_post(&CONTAINER_OF(call, struct visit, call)->done);
}

static void wait_for_done(struct visit *v)
{
    while (sem_wait(&v->done) != 0) {
    }
}

static void submit(struct visit *v)
{
    call_submit(&v->call);
    wait_for_done(v);
}

static void run_again(struct visit *v)
{
    arena_clear(&v->rerun_arena);
    v->call.arena = &v->rerun_arena;
    call_rewind(&v->call);
    submit(v);
}

/* Who acts by time looks again each second. */
static int64_t next_look_us(const struct interest *interest, int64_t until_us)
{
    int64_t second_us = clock_steady_us() + 1000000;
    return interest->by_time && second_us < until_us ? second_us : until_us;
}

/* Runs it again whenever something happens, and a last time when the time is over. */
static void wait_for_more(struct visit *v, cairn *c, int64_t until_us)
{
    const struct interest interest = interest_of(&v->call);
    struct bell bell;
    bool last = false;
    handle_add_bell(c, &bell, &interest);
    run_again(v); /* something may have happened before anybody listened */
    while (call_wait_s(&v->call) > 0 && !last) {
        enum bell_news news = bell_wait(&bell, next_look_us(&interest, until_us));
        last = bell_is_stopped(&bell) || (news == BELL_SILENT && clock_steady_us() >= until_us);
        run_again(v);
    }
    handle_remove_bell(c, &bell);
}

/* The body's length is judged as if it came over a socket. */
static bool fits(struct visit *v, struct str body)
{
    const struct route *route = v->call.route;
    size_t limit = route->body_limit > 0 ? route->body_limit : ROUTE_BODY_DEFAULT;
    struct http_body framing;
    struct str run;
    size_t used;
    if (body.len == 0)
        return true;
    v->arena.budget_bytes = http_arena_budget(limit);
    http_body_init(&framing, &v->request, limit);
    return http_body_feed(&framing, body, &run, &used, &v->refusal) != HTTP_REFUSED;
}

/* --- Bytes in and out ----------------------------------------------------------------------- */

static enum error write_content(
    struct visit *v, struct str body, struct content_writer **out_writer)
{
    struct content_info info;
    enum error e = OK;
    if (body.len > intake_limit(&v->call))
        return intake_refuse_large(&v->call);
    e = intake_open(&v->call, out_writer);
    if (e == OK)
        e = intake_write(&v->call, *out_writer, body);
    if (e == OK)
        e = intake_sync(&v->call, *out_writer, &info);
    if (e == OK)
        e = intake_prepare(&v->call, &info);
    return e == OK ? intake_complete(&v->call, &info, false) : e;
}

/* As over a socket: asked first, then the bytes, then the call. */
static void upload(struct visit *v, struct str body)
{
    struct call *call = &v->call;
    struct content_writer *writer = NULL;
    call_decode(call, STR(""));
    call_admit(call);
    wait_for_done(v);
    if (!call->is_admitted)
        return;
    call->is_admitted = false;
    enum error e = write_content(v, body, &writer);
    if (e == OK)
        submit(v);
    if (e != OK) {
        intake_explain(call, e);
        call_refuse(call, e);
    }
    intake_end(call, writer);
}

/* An answer in memory has its limit. */
static void collect(struct visit *v)
{
    struct call *call = &v->call;
    struct download_reader reader;
    enum error e = OK;
    if (!call->answer.download.is_wanted || str_eq(v->request.method, STR("HEAD")))
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

void visit_run(struct visit *v, cairn *c, struct str body)
{
    if (v->call.route->flags & ROUTE_UPLOAD) {
        upload(v, body);
        return;
    }
    if (!fits(v, body)) {
        v->is_call = false;
        return;
    }
    call_decode(&v->call, body);
    submit(v);
    collect(v);
    int64_t wait_s = call_wait_s(&v->call);
    if (wait_s > 0)
        wait_for_more(v, c, clock_steady_us() + wait_s * 1000000);
}

/* --- Life ----------------------------------------------------------------------------------- */

void visit_init(struct visit *v, struct api *api, const struct visit_request *request)
{
    *v = (struct visit){0};
    arena_init(&v->arena, http_arena_budget(0));
    arena_init(&v->rerun_arena, http_arena_budget(0));
    sem_init(&v->done, 0, 0);
    v->is_call = parse(v, request);
    if (!v->is_call)
        return;
    call_init(&v->call, api, &v->arena, &v->request);
    v->call.done = on_done;
}

void visit_deinit(struct visit *v)
{
    call_deinit(&v->call);
    arena_deinit(&v->arena);
    arena_deinit(&v->rerun_arena);
    sem_destroy(&v->done);
}

bool visit_find_route(struct visit *v)
{
    return v->is_call && call_route(&v->call);
}

void visit_refuse(struct visit *v, enum error e, const char *detail)
{
    call_refuse(&v->call, problem_set(&v->call.problem, e, "%s", detail));
}

/* --- The answer ----------------------------------------------------------------------------- */

struct cairn_answer {
    int status;
    struct arena arena;
    struct http_header *headers; /* ended by NUL each */
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

cairn_answer *visit_answer(struct visit *v)
{
    struct answer_head head = {.count = 0};
    struct buf body CLEANUP(buf_deinit);
    buf_init(&body, SIZE_MAX);
    if (!v->is_call) {
        for (size_t i = 0; i < ANSWER_REFUSAL_HEADERS; i++)
            answer_head_add(&head, answer_refusal_headers[i].name, answer_refusal_headers[i].value);
        buf_append(&body, answer_refusal(&v->arena, &v->refusal));
        return answer_create(v->refusal.status, &head, &body);
    }
    answer_head_add_common(&head, &v->call);
    answer_head_add_call(&head, &v->call);
    if (str_eq(v->request.method, STR("HEAD")))
        buf_reset(&v->call.answer.body);
    return answer_create(v->call.answer.status, &head, &v->call.answer.body);
}

cairn_answer *visit_turn_away(const struct visit_request *request)
{
    struct visit v;
    visit_init(&v, NULL, request);
    if (v.is_call)
        visit_refuse(&v, ERR_UNAVAILABLE, "this cairn closes");
    cairn_answer *answer = visit_answer(&v);
    visit_deinit(&v);
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
