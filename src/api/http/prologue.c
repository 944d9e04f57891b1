/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/prologue.h"

#include "api/execution/run_path.h"
#include "api/http/access.h"
#include "base/hash.h"
#include "model/execution/runs.h"
#include "model/tenancy/idempotency.h"
#include "model/tenancy/keys.h"

/* --- From the headers ----------------------------------------------------------------------- */

static bool is_plain_id(struct str id, size_t max_bytes)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] <= ' ' || id.ptr[i] > '~' || id.ptr[i] == '"' || id.ptr[i] == '\\')
            return false;
    return id.len > 0 && id.len <= max_bytes;
}

struct str prologue_request_id(struct arena *arena, const struct http_request *request)
{
    struct str given = http_header(request, STR("X-Request-Id"));
    if (is_plain_id(given, CALL_REQUEST_ID_MAX_BYTES))
        return given;
    char *text = arena_alloc(arena, UUID_TEXT_LEN);
    uuid_format(uuid_v7(), text);
    return (struct str){text, UUID_TEXT_LEN};
}

/* Browsers cannot set headers on a WebSocket; they may offer the key as a subprotocol. */
static struct str secret_from_protocols(const struct http_request *request)
{
    const struct str prefix = STR("bearer.");
    struct str rest = http_header(request, STR("Sec-WebSocket-Protocol")), part;
    while (str_next_part(&rest, ',', &part)) {
        part = str_trim_blanks(part);
        if (str_starts_with(part, prefix))
            return str_slice(part, prefix.len, part.len);
    }
    return STR_NONE;
}

struct str prologue_secret(const struct http_request *request)
{
    struct str value = http_header(request, STR("Authorization"));
    if (str_is_none(value))
        return secret_from_protocols(request);
    size_t blank = str_find(value, ' ');
    bool once = http_header_count(request, STR("Authorization")) == 1;
    if (!once || !str_eq_nocase(str_slice(value, 0, blank), STR("Bearer")))
        return STR(""); /* given, but not a key: refused, never "open" */
    return str_trim_blanks(str_slice(value, blank, value.len));
}

/* Headers that would mean two things if they came twice. */
static enum error check_single(struct call *call)
{
    static const struct str names[] = {{"If-Match", 8}, {"Cairn-Fencing-Token", 19},
        {"Idempotency-Key", 15}, {"Content-Type", 12}, {"Last-Event-ID", 13},
        {"Cairn-Principal", 15}};
    enum error e = OK;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (http_header_count(call->request.http, names[i]) > 1)
            e = problem_fault(&call->problem, names[i], "must be given once");
    return e;
}

static enum error read_match(struct call *call, struct context *c)
{
    struct str match = http_header(call->request.http, STR("If-Match"));
    if (str_is_none(match))
        return OK;
    bool versioned = (call->route->flags & ROUTE_ETAG) != 0;
    if (call->route->mode == ROUTE_WRITE && !versioned)
        return problem_fault(
            &call->problem, STR("If-Match"), "cannot be given here: this route has no ETag");
    if (str_has_byte(match, ','))
        return problem_fault(&call->problem, STR("If-Match"), "must be one ETag, or *");
    c->match_any = str_eq(match, STR("*"));
    if (c->match_any)
        return OK;
    c->has_match = true;
    c->match_version = -1;
    const struct str start = call->route->flags & ROUTE_REVISION ? STR("\"r") : STR("\"");
    bool quoted =
        str_starts_with(match, start) && match.len > start.len && match.ptr[match.len - 1] == '"';
    if (quoted && !str_to_i64(str_slice(match, start.len, match.len - 1), &c->match_version))
        c->match_version = -1;
    return OK;
}

/* Of a write that makes an object which must not be there yet. */
static enum error read_none_match(struct call *call, struct context *c)
{
    const struct str name = STR("If-None-Match");
    struct str match = http_header(call->request.http, name);
    if (str_is_none(match) || !(call->route->flags & ROUTE_CONDITIONAL))
        return OK;
    if (!str_eq(match, STR("*")) || http_header_count(call->request.http, name) > 1)
        return problem_fault(&call->problem, name, "must be * on a write");
    if (c->has_match || c->match_any)
        return problem_fault(&call->problem, name, "cannot be given together with If-Match");
    c->match_none = true;
    return OK;
}

/* A token is good for the run it was given for, and for the thread of that run: checked here for
 * every route, so that no write of a worker that lost its lease gets through. */
static enum error check_fence(struct call *call, struct context *c)
{
    size_t at;
    struct run run;
    if (call->route->mode != ROUTE_WRITE)
        return OK;
    if (call_find_param(call, "thread_id", &at) || call_find_param(call, "workflow_id", &at))
        return run_check_thread_fence(c, call->request.params[at]);
    if (!call_find_param(call, "run_id", &at))
        return problem_fault(&call->problem, STR("Cairn-Fencing-Token"),
            "cannot be given here: this route is not about one thread or run");
    enum error e = run_get_head(c, call->request.params[at], &run);
    return e == OK ? run_check_fence(c, &run) : e;
}

static enum error read_fence(struct call *call, struct context *c)
{
    struct str fence = http_header(call->request.http, STR("Cairn-Fencing-Token"));
    if (str_is_none(fence))
        return OK;
    c->has_fence = true;
    if (!str_to_i64(fence, &c->fence) || c->fence <= 0)
        return problem_fault(
            &call->problem, STR("Cairn-Fencing-Token"), "must be the fence of a claimed run");
    return OK;
}

static enum error read_conditions(struct call *call, struct context *c)
{
    enum error e = check_single(call);
    if (e == OK)
        e = read_match(call, c);
    if (e == OK)
        e = read_none_match(call, c);
    return e == OK ? read_fence(call, c) : e;
}

/* --- Who, how often, whether ---------------------------------------------------------------- */

static enum error limit_rate(struct call *call, const struct api_key *key, int64_t now_us)
{
    if (!key->has_rate_limit)
        return OK;
    if (!call->is_counted)
        call->rate =
            rate_limiter_take(call->api->rate_limiter, key->id, key->rate_limit_per_minute, now_us);
    call->is_counted = true;
    const struct rate_verdict v = call->rate;
    call_add_header(call, STR("RateLimit-Policy"),
        arena_printf(call->arena, "\"key\";q=%lld;w=60", (long long)v.limit));
    call_add_header(call, STR("RateLimit"),
        arena_printf(
            call->arena, "\"key\";r=%lld;t=%lld", (long long)v.remaining, (long long)v.reset_s));
    if (v.allowed)
        return OK;
    enum error e = problem_set(&call->problem, ERR_RATE_LIMITED,
        "the key may make %lld requests a minute", (long long)v.limit);
    call->problem.retry_after_s = (uint32_t)v.reset_s;
    return e;
}

/* Without any key in the database, whoever reaches the loopback address owns the default tenant. */
static enum error enter_open(struct call *call, struct context *c)
{
    bool any = true;
    if (call->api->may_be_open) {
        enum error e = key_any(c, &any);
        if (e != OK)
            return e;
    }
    if (any)
        return problem_set(
            &call->problem, ERR_UNAUTHENTICATED, "send an API key: Authorization: Bearer cairn_…");
    context_enter(c, DEFAULT_TENANT_ID);
    c->actor = ACTOR_OPEN;
    c->scopes = scopes_effective(SCOPE_OPERATOR);
    return OK;
}

static enum error enter_with_key(struct call *call, struct context *c)
{
    struct api_key key;
    bool known;
    enum error e = key_authenticate(c, call->request.secret, &key, &known);
    if (e != OK) {
        if (known) {
            call->caller.denied = "key.refused";
            call->caller.key_id = c->key_id;
        }
        return e;
    }
    call->caller.has_key = true;
    call->caller.key_id = key.id;
    call->caller.has_expiry = key.has_expires_at;
    call->caller.expires_at = key.expires_at;
    return limit_rate(call, &key, c->now_us);
}

static enum error authenticate(struct call *call, struct context *c)
{
    enum error e =
        str_is_none(call->request.secret) ? enter_open(call, c) : enter_with_key(call, c);
    call->caller.tenant_id = c->tenant_id;
    if (e == OK)
        e = access_take_principal(call, c);
    call->caller.principal = c->principal;
    return e;
}

static enum error authorize(struct call *call, struct context *c)
{
    unsigned needed = (unsigned)call->route->scope;
    if ((c->scopes & needed) == needed)
        return OK;
    call->caller.denied = "scope.refused";
    return problem_set(&call->problem, ERR_FORBIDDEN, "this route needs the scope %s",
        scope_name(call->route->scope));
}

/* --- Idempotency ---------------------------------------------------------------------------- */

struct idempotency {
    bool wanted;
    struct str route;
    struct str key;
    struct sha256 request_hash;
};

static enum error read_idempotency(struct call *call, struct idempotency *out)
{
    const struct http_request *r = call->request.http;
    *out = (struct idempotency){.key = http_header(r, STR("Idempotency-Key"))};
    if (str_is_none(out->key) || call->route->mode != ROUTE_WRITE || call->is_admitting ||
        !str_eq(r->method, STR("POST")))
        return OK;
    if (!is_plain_id(out->key, IDEMPOTENCY_KEY_MAX_BYTES))
        return problem_fault(&call->problem, STR("Idempotency-Key"),
            "must be 1 to %d printable ASCII characters without blanks and quotes",
            IDEMPOTENCY_KEY_MAX_BYTES);
    out->wanted = true;
    /* What was answered to one principal is not for another. */
    out->route = arena_printf(call->arena, "%s %s%s%.*s", call->route->method, call->route->path,
        str_is_none(call->caller.principal) ? "" : " for ", STR_ARG(call->caller.principal));
    struct sha256_state *state = sha256_create();
    sha256_add(state, r->target);
    sha256_add(state, STR("\n"));
    sha256_add(state, call->request.body);
    if (call->route->flags & ROUTE_UPLOAD)
        sha256_add(state, (struct str){(const char *)call->upload.sha256.bytes, SHA256_LEN});
    out->request_hash = sha256_finish(state);
    return OK;
}

static struct str encode_headers(const struct call *call)
{
    struct json_text text;
    json_text_init(&text, CALL_ANSWER_MAX_BYTES);
    json_write_object(&text.w);
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (!str_starts_with(call->answer.headers[i].name, STR("RateLimit"))) {
            json_write_key(&text.w, call->answer.headers[i].name);
            json_write_string(&text.w, call->answer.headers[i].value);
        }
    json_write_end(&text.w);
    return json_text_take(&text, call->arena);
}

static void replay(struct call *call, const struct stored_answer *answer)
{
    struct json_doc doc;
    struct json_error unused;
    call->answer.status = (int)answer->status;
    buf_append(&call->answer.body, answer->body);
    call_add_header(call, STR("Idempotency-Replayed"), STR("true"));
    if (!json_parse(call->arena, answer->headers, &doc, &unused))
        return;
    struct json_iter it = json_iter(json_root(&doc));
    struct json name, value;
    while (json_next(&it, &name, &value) && call->answer.n_headers < CALL_MAX_HEADERS - 2)
        call_add_header(call, json_string(call->arena, name), json_string(call->arena, value));
}

static enum error store_answer(
    struct call *call, struct context *c, const struct idempotency *idempotency)
{
    struct str body =
        call->answer.replay.len > 0 ? buf_str(&call->answer.replay) : buf_str(&call->answer.body);
    struct stored_answer answer = {
        .status = call->answer.status, .headers = encode_headers(call), .body = body};
    return idempotency_store(
        c, idempotency->route, idempotency->key, idempotency->request_hash, &answer);
}

/* Where others write too, the same request may have been carried out elsewhere while this one
 * waited for a lock, and what it then ran into was its own doing. The next run finds the answer. */
static enum error refuse(struct call *call, struct context *c, enum error refusal)
{
    const struct idempotency *i = call->idempotency;
    struct problem problem = call->problem;
    struct stored_answer unused;
    bool found = false;
    if (!i->wanted || !tx_is_shared(c->tx) || error_info(refusal)->status >= 500)
        return refusal;
    if (idempotency_find(c, i->route, i->key, i->request_hash, &unused, &found) == OK && found)
        return tx_run_again(c->tx);
    call->problem = problem;
    return refusal;
}

/* --- All of it ------------------------------------------------------------------------------ */

static enum error handle(struct call *call, struct context *c)
{
    struct idempotency *i = call->idempotency = ARENA_NEW(call->arena, struct idempotency);
    struct stored_answer stored;
    bool found = false;
    enum error e = read_conditions(call, c);
    if (e == OK)
        e = read_idempotency(call, i);
    if (e == OK && i->wanted)
        e = idempotency_find(c, i->route, i->key, i->request_hash, &stored, &found);
    if (e != OK)
        return e;
    if (found) {
        i->wanted = false;
        replay(call, &stored);
        return OK;
    }
    /* Only now: what was done under a lease is answered again, also when the lease is over. Whether
     * an upload with a key was done is known when its bytes have come. */
    bool may_be_again =
        call->is_admitting && !str_is_none(http_header(call->request.http, STR("Idempotency-Key")));
    if (c->has_fence && !may_be_again)
        e = check_fence(call, c);
    if (e == OK && call->is_admitting)
        return call->route->admit != NULL ? call->route->admit(call, c) : OK;
    if (e == OK)
        e = call->route->handle(call, c);
    return e == OK ? OK : refuse(call, c, e);
}

enum error prologue_finish(struct call *call, struct context *c)
{
    /* A long poll that found nothing has not been answered yet, or did nothing that can be
     * repeated. */
    if (call->idempotency == NULL || !call->idempotency->wanted || call->answer.may_wait)
        return OK;
    return store_answer(call, c, call->idempotency);
}

enum error prologue_run(struct call *call, struct context *c)
{
    c->request_id = call->request.id;
    bool public = (call->route->flags & ROUTE_PUBLIC) != 0;
    enum error e = public ? OK : authenticate(call, c);
    if (e == OK)
        e = authorize(call, c);
    if (e != OK)
        return e;
    /* A bad request has its problem already; who sent it decides whether they are told. */
    if (call->request.is_bad) {
        call->problem = *call->request.problem;
        return call->request.problem->code;
    }
    e = access_check(call, c);
    return e == OK ? handle(call, c) : e;
}
