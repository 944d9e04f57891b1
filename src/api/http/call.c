/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/call.h"

#include "api/http/denials.h"
#include "api/http/metrics.h"
#include "api/http/params.h"
#include "api/http/prologue.h"
#include "base/hash.h"

/* --- Life ----------------------------------------------------------------------------------- */

static void reset_answer(struct call *call)
{
    problem_init(&call->problem, call->arena);
    call->answer.n_headers = 0;
    call->answer.content_type = STR("application/json");
    call->answer.may_wait = false;
    call->answer.is_bytes = false;
    call->answer.stream = NULL;
    download_drop(&call->answer.download);
    buf_reset(&call->answer.body);
    buf_reset(&call->answer.replay);
}

/* As call_submit found it: nothing is left of an earlier run. */
static void start_over(struct call *call)
{
    arena_rewind(call->arena, call->mark);
    reset_answer(call);
    call->answer.status = call->route->status;
    call->caller.tenant_id = call->caller.key_id = UUID_NIL;
    call->caller.has_key = call->caller.has_expiry = false;
    call->caller.principal = STR_NONE;
    call->caller.denied = NULL;
    call->later = NULL;
    call->idempotency = NULL;
}

void call_init(
    struct call *call, struct api *api, struct arena *arena, const struct http_request *request)
{
    *call = (struct call){.api = api, .arena = arena, .request = {.http = request}};
    download_init(&call->answer.download);
    buf_init(&call->answer.body, CALL_ANSWER_MAX_BYTES);
    buf_init(&call->answer.replay, CALL_ANSWER_MAX_BYTES);
    reset_answer(call);
    call->request.id = prologue_request_id(arena, request);
    call->request.secret = prologue_secret(request);
}

void call_deinit(struct call *call)
{
    download_drop(&call->answer.download);
    buf_deinit(&call->answer.body);
    buf_deinit(&call->answer.replay);
}

void call_rewind(struct call *call)
{
    reset_answer(call);
}

/* --- Routing -------------------------------------------------------------------------------- */

/* A name is data: any text but control characters. */
static enum error decode_text_param(
    struct call *call, struct str name, struct str encoded, size_t i)
{
    struct str *text = &call->request.texts[i];
    if (!http_decode_percent(call->arena, encoded, false, text))
        return problem_fault(&call->problem, name, "must be percent-encoded UTF-8 without U+0000");
    if (text->len > ROUTE_TEXT_MAX_BYTES)
        return problem_fault(
            &call->problem, name, "must have at most %d bytes", ROUTE_TEXT_MAX_BYTES);
    for (size_t k = 0; k < text->len; k++)
        if ((unsigned char)text->ptr[k] < ' ' || text->ptr[k] == 0x7f)
            return problem_fault(&call->problem, name, "must not contain control characters");
    return OK;
}

static enum error decode_path_param(struct call *call, struct str encoded, size_t i)
{
    struct str name = route_param_name(call->route, i);
    switch (route_param_kind(name)) {
    case ROUTE_PARAM_UUID:
        return uuid_parse(encoded, &call->request.params[i])
                   ? OK
                   : problem_fault(&call->problem, name, "must be a UUID");
    case ROUTE_PARAM_NUMBER:
        return str_to_i64(encoded, &call->request.numbers[i]) && call->request.numbers[i] > 0
                   ? OK
                   : problem_fault(&call->problem, name, "must be a whole number from 1");
    case ROUTE_PARAM_TEXT:
        return decode_text_param(call, name, encoded, i);
    }
    return OK;
}

static bool decode_path_params(struct call *call, const struct str encoded[ROUTE_MAX_PARAMS])
{
    bool good = true;
    for (size_t i = 0; i < ROUTE_MAX_PARAMS && !str_is_none(encoded[i]); i++)
        good = decode_path_param(call, encoded[i], i) == OK && good;
    return good;
}

bool call_route(struct call *call)
{
    struct str params[ROUTE_MAX_PARAMS] = {{0}};
    struct str allow;
    const struct http_request *r = call->request.http;
    switch (route_find(call->arena, r->method, r->path, &call->route, params, &allow)) {
    case ROUTE_FOUND:
        call->request.is_bad = !decode_path_params(call, params);
        return true;
    case ROUTE_OTHER_METHOD:
        problem_set(
            &call->problem, ERR_METHOD, "%.*s takes %.*s", STR_ARG(r->path), STR_ARG(allow));
        call_refuse(call, ERR_METHOD);
        call_add_header(call, STR("Allow"), allow);
        return false;
    case ROUTE_UNKNOWN:
        problem_set(&call->problem, ERR_NO_ROUTE, "there is no route %.*s", STR_ARG(r->path));
        call_refuse(call, ERR_NO_ROUTE);
        return false;
    }
    return false;
}

/* --- The body ------------------------------------------------------------------------------- */

/* The media type without its parameters. */
static struct str media_type(const struct call *call)
{
    struct str value = http_header(call->request.http, STR("Content-Type"));
    return str_is_none(value) ? value : str_trim_blanks(str_slice(value, 0, str_find(value, ';')));
}

static enum error check_media_type(struct call *call)
{
    struct str type = media_type(call);
    bool patch = (call->route->flags & ROUTE_PATCH) != 0;
    call->request.is_json_patch = patch && str_eq_nocase(type, STR("application/json-patch+json"));
    if (str_is_none(type) || str_eq_nocase(type, STR("application/json")) ||
        call->request.is_json_patch ||
        (patch && str_eq_nocase(type, STR("application/merge-patch+json"))))
        return OK;
    return problem_set(&call->problem, ERR_MEDIA_TYPE,
        patch ? "Content-Type must be application/json, application/merge-patch+json or "
                "application/json-patch+json"
              : "Content-Type must be application/json");
}

static enum error parse_body(struct call *call)
{
    struct json_error bad;
    if (json_parse(call->arena, call->request.body, &call->request.doc, &bad))
        return OK;
    if (arena_is_over(call->arena))
        return problem_set(
            &call->problem, ERR_TOO_LARGE, "the body needs more memory than a request may take");
    return problem_set(
        &call->problem, ERR_BAD_JSON, "byte %zu of the body: %s", bad.offset, bad.rule);
}

/* A POST that needs no body still takes {}, which many clients always send. */
static enum error decode_no_body(struct call *call)
{
    static const struct schema nothing = {.name = "an empty body", .struct_bytes = 1};
    if (call->request.body.len == 0)
        return OK;
    if (!str_eq(call->request.http->method, STR("POST")))
        return problem_set(&call->problem, ERR_BAD_REQUEST, "this route takes no body");
    char none;
    enum error e = check_media_type(call);
    if (e == OK)
        e = parse_body(call);
    return e == OK ? schema_decode(call->arena, &nothing, json_root(&call->request.doc), &none,
                         &call->problem)
                   : e;
}

/* A body of any type is left as it came, but for JSON, which has to be some. */
static enum error decode_raw_body(struct call *call)
{
    call->request.is_json = str_eq_nocase(media_type(call), STR("application/json"));
    return call->request.is_json ? parse_body(call) : OK;
}

static enum error decode_body(struct call *call)
{
    const struct route *route = call->route;
    if ((route->flags & ROUTE_RAW_BODY) && route->mode == ROUTE_WRITE)
        return decode_raw_body(call);
    if (route->body == NULL)
        return decode_no_body(call);
    call->request.input = arena_zalloc(call->arena, route->body->struct_bytes);
    if (call->request.body.len == 0 && (route->flags & ROUTE_BODY_OPTIONAL))
        call->request.body = STR("{}");
    enum error e = check_media_type(call);
    if (e == OK)
        e = parse_body(call);
    if (e == OK && !(route->flags & ROUTE_PATCH))
        e = schema_decode(call->arena, route->body, json_root(&call->request.doc),
            call->request.input, &call->problem);
    return e;
}

/* Replicas lag behind. Who asks for that may have it, where nothing depends on the order of what
 * was written; without a key never, because the first key has to end that at once. */
static enum error read_consistency(struct call *call)
{
    const struct str name = STR("Cairn-Consistency");
    struct str wanted = http_header(call->request.http, name);
    if (str_is_none(wanted))
        return OK;
    if (http_header_count(call->request.http, name) > 1)
        return problem_fault(&call->problem, name, "must be given once");
    bool eventual = str_eq(wanted, STR("eventual"));
    if (!eventual && !str_eq(wanted, STR("strong")))
        return problem_fault(&call->problem, name, "must be strong or eventual");
    call->request.may_lag =
        eventual && (call->route->flags & ROUTE_MAY_LAG) && !str_is_none(call->request.secret);
    return OK;
}

void call_decode(struct call *call, struct str body)
{
    const struct route *route = call->route;
    call->request.body = body;
    if (route->query != NULL)
        call->request.query = arena_zalloc(call->arena, route->query->struct_bytes);
    if (params_decode(call, route->query, call->request.http->query, call->request.query,
            &call->problem) != OK)
        call->request.is_bad = true;
    if (read_consistency(call) != OK)
        call->request.is_bad = true;
    enum error e = route->flags & ROUTE_UPLOAD ? intake_read_digest(call) : decode_body(call);
    if (e != OK)
        call->request.is_bad = true;
}

/* --- The job -------------------------------------------------------------------------------- */

static enum error complete(struct call *call)
{
    enum error e = prologue_finish(call, call->context);
    /* Judged before the commit: what cannot be answered must not have happened. */
    if (e == OK && (call->answer.body.failed || arena_is_over(call->arena)))
        return problem_set(&call->problem, ERR_ANSWER_LARGE,
            "the answer would have more than %d bytes: ask for less, where the route allows it",
            CALL_ANSWER_MAX_BYTES);
    return e;
}

static enum error run(struct store_job *job, struct tx *tx)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    start_over(call);
    call->context = ARENA_NEW(call->arena, struct context);
    context_init(call->context, call->arena, &call->problem, tx);
    enum error e = prologue_run(call, call->context);
    return e == OK && call->later == NULL ? complete(call) : e;
}

/* The second half, for a handler that left its answer to it. */
static enum error run_later(struct store_job *job, struct tx *tx)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    if (call->later == NULL)
        return OK;
    context_enter(call->context, call->context->tenant_id);
    enum error e = call->later(call, call->context);
    return e == OK ? complete(call) : e;
}

static void finish(struct call *call, enum error result)
{
    if (call->is_admitting && result == OK) {
        call->is_admitted = true;
        call->done(call);
        return;
    }
    if (result != OK)
        call_refuse(call, result);
    if (call->caller.denied != NULL)
        denial_note(call, call->caller.denied);
    metrics_count(call->api->metrics, call->route, call->answer.status);
    call->done(call);
}

static void submit(struct call *call, enum store_mode mode);

static void job_done(struct store_job *job, enum error result)
{
    struct call *call = CONTAINER_OF(job, struct call, job);
    /* A replica may not have heard of the key yet. */
    if (job->mode == STORE_READ_STALE && (result == ERR_UNAUTHENTICATED || call->must_be_fresh)) {
        submit(call, STORE_READ);
        return;
    }
    finish(call, result);
}

/* Jobs about the same rows go to the same writer, where they wait for nobody's locks. */
static uint64_t affinity_of(const struct call *call)
{
    struct str param = route_param_name(call->route, 0);
    struct str key = http_header(call->request.http, STR("Idempotency-Key"));
    if (call->route->flags & ROUTE_ONE_LANE)
        return str_is_none(call->request.secret)
                   ? 1
                   : hash_bytes(call->request.secret.ptr, call->request.secret.len) | 1;
    if (str_is_none(param))
        return str_is_none(key) ? 0 : hash_bytes(key.ptr, key.len) | 1;
    return hash_bytes(call->request.params[0].bytes, sizeof call->request.params[0].bytes) | 1;
}

static void submit(struct call *call, enum store_mode mode)
{
    call->job = (struct store_job){.mode = mode,
        .on_full = call->route->on_full,
        .affinity = affinity_of(call),
        .run = run,
        .finish = run_later,
        .done = job_done};
    store_submit(call->api->store, &call->job);
}

static enum store_mode store_mode(const struct call *call)
{
    if (call->route->mode == ROUTE_WRITE && !call->request.is_bad && !call->is_admitting)
        return STORE_WRITE;
    return call->request.may_lag ? STORE_READ_STALE : STORE_READ;
}

/* Kept apart, since the problem of each run is its own. */
static void keep_early(struct call *call)
{
    call->request.problem = NULL;
    if (!call->request.is_bad)
        return;
    call->request.problem = ARENA_NEW(call->arena, struct problem);
    *call->request.problem = call->problem;
}

static void run_static(struct call *call)
{
    struct context none;
    context_init(&none, call->arena, &call->problem, NULL);
    call->answer.status = call->route->status;
    finish(call, call->request.is_bad ? call->problem.code : call->route->handle(call, &none));
}

void call_submit(struct call *call)
{
    const struct route *route = call->route;
    if (route->mode == ROUTE_STATIC) {
        run_static(call);
        return;
    }
    keep_early(call);
    call->mark = arena_mark(call->arena);
    /* A probe of a database elsewhere is answered at once, by what is known of it. */
    if ((route->flags & ROUTE_PROBE) && store_is_shared(call->api->store)) {
        if (store_stats(call->api->store).connected)
            run_static(call);
        else
            finish(call, ERR_UNAVAILABLE);
        return;
    }
    submit(call, store_mode(call));
}

void call_admit(struct call *call)
{
    call->is_admitting = true;
    call_submit(call);
}

/* --- Answers -------------------------------------------------------------------------------- */

void call_add_header(struct call *call, struct str name, struct str value)
{
    assert(call->answer.n_headers < CALL_MAX_HEADERS);
    call->answer.headers[call->answer.n_headers++] = (struct http_header){name, value};
}

static void write_extension(struct json_writer *w, struct arena *arena, struct str extension)
{
    struct json_doc doc;
    struct json_error unused;
    if (str_is_none(extension) || !json_parse(arena, extension, &doc, &unused))
        return;
    struct json_iter it = json_iter(json_root(&doc));
    struct json key, value;
    while (json_next(&it, &key, &value)) {
        json_write_key(w, json_string(arena, key));
        json_write_value(w, value);
    }
}

static void write_faults(struct json_writer *w, const struct problem *problem)
{
    if (problem->n_faults == 0)
        return;
    json_write_key(w, STR("errors"));
    json_write_array(w);
    for (size_t i = 0; i < problem->n_faults; i++) {
        json_write_object(w);
        json_write_key(w, STR("pointer"));
        json_write_string(w, problem->faults[i].pointer);
        json_write_key(w, STR("detail"));
        json_write_string(w, problem->faults[i].detail);
        json_write_end(w);
    }
    json_write_end(w);
    if (problem->n_faults_untold == 0)
        return;
    json_write_key(w, STR("errors_untold"));
    json_write_i64(w, (int64_t)problem->n_faults_untold);
}

/* An empty pointer is the whole body. */
static struct str word_fault(struct arena *arena, const struct problem_fault *fault)
{
    struct str where = fault->pointer.len > 0 ? fault->pointer : STR("the body");
    return arena_printf(arena, "%.*s %.*s", STR_ARG(where), STR_ARG(fault->detail));
}

static void write_problem(struct json_writer *w, struct arena *arena, const struct problem *problem,
    struct str request_id, int status)
{
    const struct error_info *info = error_info(problem->code);
    struct str detail = problem->detail;
    if (str_is_none(detail) && problem->n_faults > 0)
        detail = word_fault(arena, &problem->faults[0]);
    json_write_object(w);
    json_write_key(w, STR("type"));
    json_write_string(w, arena_printf(arena, "urn:cairn:error:%.*s", STR_ARG(info->code)));
    json_write_key(w, STR("title"));
    json_write_string(w, info->title);
    json_write_key(w, STR("status"));
    json_write_i64(w, status);
    json_write_key(w, STR("code"));
    json_write_string(w, info->code);
    json_write_key(w, STR("detail"));
    json_write_string(w, str_is_none(detail) ? info->title : detail);
    json_write_key(w, STR("request_id"));
    json_write_string(w, request_id);
    json_write_key(w, STR("retryable"));
    json_write_bool(w, info->retryable && !problem->is_final);
    write_faults(w, problem);
    write_extension(w, arena, problem->extension);
    json_write_end(w);
}

struct str problem_document(
    struct arena *arena, const struct problem *problem, struct str request_id, int status)
{
    struct json_text out;
    json_text_init(&out, CALL_ANSWER_MAX_BYTES);
    write_problem(&out.w, arena, problem, request_id, status);
    return json_text_take(&out, arena);
}

static struct str word_full(const struct call *call)
{
    if (store_is_shared(call->api->store))
        return STR("the disk of the database is full; nothing was changed: send the request again "
                   "once there is space. Reads and streams go on");
    if (call->route->on_full != STORE_ON_FULL_REFUSED)
        return STR("the disk is full, and too little is left of the reserve for this: make room on "
                   "it, then send the request again; nothing was changed");
    if (!str_is_none(http_header(call->request.http, STR("Idempotency-Key"))))
        return STR(
            "the disk is full, and this request was not looked at: it may have been carried out "
            "when it was sent before. Send it again with the same Idempotency-Key once there "
            "is space");
    return STR("the disk is full; nothing was changed: send the request again once there is space. "
               "Reads and streams go on; what can be cancelled, deleted, pruned and revoked still "
               "can be, and leases can be kept and given back");
}

/* What the store refuses comes without words. */
static struct str word_refusal(const struct call *call, enum error e)
{
    switch (e) {
    case ERR_STORAGE_FULL:
        return word_full(call);
    case ERR_UNAVAILABLE:
        return STR("the database cannot be reached or is busy; nothing was changed: send the "
                   "request again");
    case ERR_OUTCOME_UNKNOWN:
        return STR("the connection to the database broke during the commit, so the request may "
                   "have been carried out or not: send it again with the same Idempotency-Key, or "
                   "read what is there now");
    default:
        return STR_NONE;
    }
}

/* The store may refuse (disk full) after the handler has written its answer: that one goes, with
 * its headers, except what tells of the rate limit. */
static void forget_answer(struct call *call, enum error e)
{
    size_t kept = 0;
    for (size_t i = 0; i < call->answer.n_headers; i++)
        if (str_starts_with(call->answer.headers[i].name, STR("RateLimit")))
            call->answer.headers[kept++] = call->answer.headers[i];
    call->answer.n_headers = kept;
    call->problem =
        (struct problem){.arena = call->arena, .code = e, .detail = word_refusal(call, e)};
}

/* Whether sending it twice does it once. */
static bool is_repeatable(const struct call *call)
{
    return str_eq(call->request.http->method, STR("POST")) &&
           !str_is_none(http_header(call->request.http, STR("Idempotency-Key")));
}

void call_refuse(struct call *call, enum error e)
{
    if (call->problem.code != e)
        forget_answer(call, e);
    call->problem.is_final = e == ERR_OUTCOME_UNKNOWN && !is_repeatable(call);
    call->answer.status = error_info(e)->status;
    call->answer.content_type = STR("application/problem+json");
    download_drop(&call->answer.download);
    buf_reset(&call->answer.body);
    buf_append(&call->answer.body,
        problem_document(call->arena, &call->problem, call->request.id, call->answer.status));
    bool retryable = error_info(e)->retryable && !call->problem.is_final;
    if (call->problem.retry_after_s == 0 && retryable)
        call->problem.retry_after_s = 1;
    if (call->problem.retry_after_s > 0)
        call_add_header(
            call, STR("Retry-After"), arena_printf(call->arena, "%u", call->problem.retry_after_s));
    if (error_info(e)->status == 401)
        call_add_header(call, STR("WWW-Authenticate"), STR("Bearer realm=\"cairn\""));
}

/* Caches on the way may have weakened the tag; for reading it is the same one. */
static bool has_already(const struct call *call, struct str tag)
{
    const struct str name = STR("If-None-Match");
    return http_header_lists(call->request.http, name, tag) ||
           http_header_lists(
               call->request.http, name, arena_printf(call->arena, "W/%.*s", STR_ARG(tag))) ||
           http_header_lists(call->request.http, name, STR("*"));
}

/* True: the client has this version, and nothing more is to be said. */
static bool answer_version(struct call *call, int64_t version)
{
    if (version <= 0)
        return false;
    bool is_revision = (call->route->flags & ROUTE_REVISION) != 0;
    struct str tag =
        arena_printf(call->arena, "\"%s%lld\"", is_revision ? "r" : "", (long long)version);
    call_add_header(call, STR("ETag"), tag);
    if (call->route->mode != ROUTE_READ || !has_already(call, tag))
        return false;
    call->answer.status = 304;
    return true;
}

void call_answer(
    struct call *call, const struct schema *schema, const void *object, int64_t version)
{
    if (answer_version(call, version))
        return;
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    schema_encode(&w, schema, object);
}

void call_answer_raw(struct call *call, struct str content_type, struct str bytes, int64_t version)
{
    if (answer_version(call, version))
        return;
    call->answer.content_type = content_type;
    buf_append(&call->answer.body, bytes);
}

void call_answer_page(struct call *call, const struct schema *schema, const void *items,
    size_t count, bool more, struct str (*cursor_of)(struct arena *arena, const void *item))
{
    const char *item = items;
    struct json_writer w;
    json_writer_init(&w, &call->answer.body);
    json_write_object(&w);
    json_write_key(&w, STR("data"));
    json_write_array(&w);
    for (size_t i = 0; i < count; i++)
        schema_encode(&w, schema, item + i * schema->struct_bytes);
    json_write_end(&w);
    json_write_key(&w, STR("has_more"));
    json_write_bool(&w, more);
    json_write_key(&w, STR("next_cursor"));
    json_write_string(
        &w, more ? cursor_of(call->arena, item + (count - 1) * schema->struct_bytes) : STR_NONE);
    json_write_end(&w);
}

void call_answer_nothing(struct call *call)
{
    call->answer.status = 204;
}

/* --- Cursors -------------------------------------------------------------------------------- */

struct str cursor_from_uuid(struct arena *arena, struct uuid id)
{
    return base64url_encode(arena, (struct str){(const char *)id.bytes, sizeof id.bytes});
}

enum error cursor_refused(struct call *call)
{
    problem_fault(&call->problem, STR("cursor"), "must be a next_cursor of this list");
    call->problem.code = ERR_BAD_CURSOR;
    return ERR_BAD_CURSOR;
}

enum error cursor_to_uuid(struct call *call, struct str cursor, bool *out_has, struct uuid *out_id)
{
    struct str bytes;
    if (str_is_none(cursor))
        return OK;
    if (!base64url_decode(call->arena, cursor, &bytes) || bytes.len != sizeof out_id->bytes)
        return cursor_refused(call);
    memcpy(out_id->bytes, bytes.ptr, bytes.len);
    *out_has = true;
    return OK;
}

struct str cursor_from_text(struct arena *arena, struct str text)
{
    return base64url_encode(arena, text);
}

struct str cursor_from_number(struct arena *arena, int64_t number)
{
    return cursor_from_text(arena, arena_printf(arena, "%lld", (long long)number));
}

enum error cursor_to_number(struct call *call, struct str cursor, int64_t *out_number)
{
    struct str text = STR_NONE;
    int64_t number = 0;
    enum error e = cursor_to_text(call, cursor, &text);
    if (e == OK && !str_is_none(text) && (!str_to_i64(text, &number) || number < 1))
        return cursor_refused(call);
    if (e == OK)
        *out_number = number;
    return e;
}

/* Made up by somebody, it could be anything: what no database takes as text is refused here. */
enum error cursor_to_text(struct call *call, struct str cursor, struct str *out_text)
{
    struct str text;
    if (str_is_none(cursor))
        return OK;
    if (!base64url_decode(call->arena, cursor, &text) || text.len == 0 ||
        text.len > ROUTE_TEXT_MAX_BYTES || str_has_byte(text, '\0') || !str_is_utf8(text))
        return cursor_refused(call);
    *out_text = text;
    return OK;
}
