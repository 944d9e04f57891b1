/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "api/upkeep/export_places.h"
#include "base/alloc.h"
#include "model/statements.h"
#include "model/tenancy/keys.h"
#include "model/upkeep/sweep.h"

/* --- Life ----------------------------------------------------------------------------------- */

static void on_fatal(const char *what)
{
    fprintf(stderr, "fatal: %s\n", what);
    abort();
}

static enum error prepare(void *data, struct tx *tx)
{
    struct fixture *f = data;
    struct problem problem;
    struct context c;
    problem_init(&problem, f->arena);
    context_init(&c, f->arena, &problem, tx);
    return model_prepare(&c);
}

void fixture_begin(struct fixture *f)
{
    *f = (struct fixture){.budget_bytes = REQUEST_BUDGET_BYTES};
    scratch_init(&f->scratch);
    f->arena = &f->scratch.arena;
    const struct store_config config = {.engine = ENGINE_SQLITE,
        .data_dir = f->scratch.data_dir,
        .readers = 1,
        .statements = sql_statements,
        .n_statements = SQL_STATEMENT_COUNT,
        .free_memo = key_memo_free,
        .on_fatal = on_fatal};
    struct problem problem;
    problem_init(&problem, f->arena);
    EXPECT_EQ(store_open(&config, &problem, &f->api.store), OK);
    f->api.may_be_open = true;
    f->api.rate_limiter = rate_limiter_create();
    f->api.known_keys = known_keys_create();
    f->api.streams = holdings_create();
    f->api.exports = export_places_create();
    f->api.connections = holdings_create();
    f->api.metrics = metrics_create();
    sem_init(&f->done, 0, 0);
    EXPECT_EQ(store_call(f->api.store, STORE_WRITE, prepare, f), OK);
}

void fixture_end(struct fixture *f)
{
    store_close(f->api.store);
    for (size_t i = 0; i < f->n_calls; i++) {
        call_deinit(f->calls[i]);
        arena_deinit(f->calls[i]->arena);
    }
    known_keys_destroy(f->api.known_keys);
    holdings_destroy(f->api.streams);
    export_places_destroy(f->api.exports);
    holdings_destroy(f->api.connections);
    rate_limiter_destroy(f->api.rate_limiter);
    metrics_destroy(f->api.metrics);
    scratch_deinit(&f->scratch);
}

/* --- Requests ------------------------------------------------------------------------------- */

struct http_request *make_request(struct fixture *f, const char *method, const char *target)
{
    struct http_request *r = ARENA_NEW(f->arena, struct http_request);
    struct str whole = str_of(target);
    size_t mark = str_find(whole, '?');
    *r = (struct http_request){.method = str_of(method),
        .target = whole,
        .path = str_slice(whole, 0, mark),
        .query = mark < whole.len ? str_slice(whole, mark + 1, whole.len) : STR_NONE,
        .headers = ARENA_ARRAY(f->arena, struct http_header, REQUEST_HEADERS_MAX),
        .host = STR("localhost"),
        .minor = 1};
    return r;
}

void add_header(struct http_request *r, const char *name, struct str value)
{
    assert(r->n_headers < REQUEST_HEADERS_MAX);
    r->headers[r->n_headers++] = (struct http_header){str_of(name), value};
}

void call_for(struct fixture *f, struct call *call, const struct http_request *r)
{
    struct arena *arena = ARENA_NEW(f->arena, struct arena);
    arena_init(arena, f->budget_bytes);
    call_init(call, &f->api, arena, r);
    call->data = f;
    assert(f->n_calls < CALLS_MAX);
    f->calls[f->n_calls++] = call;
}

static void on_done(struct call *call)
{
    struct fixture *f = call->data;
    sem_post(&f->done);
}

struct call *carry_out(struct fixture *f, const struct http_request *r, const char *body)
{
    struct call *call = ARENA_NEW(f->arena, struct call);
    call_for(f, call, r);
    call->done = on_done;
    if (!call_route(call))
        return call;
    call_decode(call, body == NULL ? STR("") : str_of(body));
    call_submit(call);
    while (sem_wait(&f->done) != 0) {
    }
    return call;
}

struct call *ask(struct fixture *f, const char *method, const char *target, const char *body)
{
    return carry_out(f, make_request(f, method, target), body);
}

struct call *ask_as(
    struct fixture *f, struct str secret, const char *method, const char *target, const char *body)
{
    struct http_request *r = make_request(f, method, target);
    add_header(r, "Authorization", arena_printf(f->arena, "Bearer %.*s", STR_ARG(secret)));
    return carry_out(f, r, body);
}

/* --- Answers -------------------------------------------------------------------------------- */

struct str answer_member(struct fixture *f, const struct call *call, const char *name)
{
    struct json_doc doc;
    struct json_error error = {0};
    struct json value;
    if (!json_parse(f->arena, buf_str(&call->answer.body), &doc, &error)) {
        test_fail(__FILE__, __LINE__, "the answer is no JSON: %s", error.rule);
        return STR_NONE;
    }
    if (!json_get(json_root(&doc), str_of(name), &value))
        return STR_NONE;
    return json_type(value) == JSON_STRING ? json_string(f->arena, value) : json_raw(value);
}

struct str answer_header(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (str_eq(call->answer.headers[i].name, str_of(name)))
            return call->answer.headers[i].value;
    return STR_NONE;
}
