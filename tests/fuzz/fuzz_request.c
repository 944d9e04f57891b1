/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests, one after another, all the way through: the HTTP parser, the route, the key, the body,
 * the model and SQLite. An input is text, its requests separated by a line "--":
 *
 *     POST /v1/threads/{t}/events
 *     Idempotency-Key: 1
 *
 *     {"kind":"progress"}
 *
 * The client is the admin of a separate tenant; with '!' before the method an operator, with '~' a
 * key that may only read, with '?' a client without a key. {t} is the newest thread's id,
 * {T} that of the one before, {r} and {R} of runs, {k} a key's id, {s} its secret, {n} the tenant's
 * id, {c} the newest cursor, {e} ETag, {f} fence, {m} message, {a} and {A} agents, {p} participant,
 * {h} share, {x} its token, {u} upload. SWEEP runs the sweep, which otherwise runs every
 * second; DAY advances the clock by a day before that.
 *
 * Conditions: every answer satisfies judge.h; a request that only reads, or is rejected, changes
 * nothing, except that a principal with an open stream is online; a repeated request with the same
 * Idempotency-Key gets the same answer and changes nothing; a stream can be followed to its end;
 * the events of every thread have no gap; and in the end the rules of `cairn check` find nothing.
 */
#include "api/handlers.h"
#include "api/threads/events_api.h"
#include "fuzz.h"
#include "judge.h"
#include "lib/local_call.h"
#include "throwaway.h"

enum {
    INPUTS_A_DATABASE = 100,
    MAX_REQUESTS = 24,
    MAX_HEADERS = 12,
    MAX_INPUT_BYTES = 64 * 1024,
    MAX_FOLLOWED = MAX_INPUT_BYTES, /* no story makes more events than it has bytes */
};

enum slot {
    THREAD,
    THREAD_2,
    RUN,
    RUN_2,
    KEY,
    SECRET,
    TENANT,
    CURSOR,
    ETAG,
    FENCE,
    MESSAGE,
    AGENT,
    AGENT_2,
    PARTICIPANT,
    SHARE,
    TOKEN,
    UPLOAD,
    CHECKPOINT,
    SLOTS
};
static const char slot_letters[] = "tTrRksncefmaAphxuq";

struct world {
    struct arena arena; /* of one input */
    struct uuid tenant_id;
    struct str admin, reader; /* secrets; the reader's is made when it is wanted */
    struct str slots[SLOTS];
    struct str digest;
    int64_t data_version;
};

static struct throwaway here;
static unsigned n_inputs;
static char operator_secret[128];

/* --- Asking --------------------------------------------------------------------------------- */

static cairn_answer *ask(
    struct world *w, struct str secret, const char *method, const char *target, struct str body)
{
    struct str key = arena_printf(&w->arena, "Authorization: Bearer %.*s", STR_ARG(secret));
    const char *const headers[] = {secret.len > 0 ? arena_cstr(&w->arena, key) : NULL, NULL};
    return cairn_call(here.cairn, method, target, headers, body.ptr, body.len);
}

/* The secret of a new key; STR_NONE when it is refused. */
static struct str make_key(struct world *w, struct str secret, struct str body)
{
    cairn_answer *a = ask(w, secret, "POST", "/v1/keys", body);
    struct str made = json_text_of(&w->arena, answer_json(&w->arena, a), "secret");
    cairn_answer_free(a);
    return made;
}

static void close_here(void)
{
    throwaway_close(&here);
}

static void open_here(struct world *w)
{
    static bool is_registered;
    throwaway_close(&here);
    throwaway_open(&here);
    struct str secret =
        make_key(w, STR(""), STR("{\"name\":\"operator\",\"scopes\":[\"operator\"]}"));
    FUZZ_CHECK(secret.len > 0 && secret.len < sizeof operator_secret);
    memcpy(operator_secret, secret.ptr, secret.len);
    /* After OpenSSL has been used, so that it is there until then. */
    if (!is_registered)
        atexit(close_here);
    is_registered = true;
}

/* False: an input before has revoked the operator's key. */
static bool make_tenant(struct world *w)
{
    char name[UUID_TEXT_LEN];
    uuid_format(uuid_v7(), name);
    struct str body = arena_printf(&w->arena, "{\"name\":\"%.*s\"}", UUID_TEXT_LEN, name);
    cairn_answer *a = ask(w, str_of(operator_secret), "POST", "/v1/tenants", body);
    bool made = cairn_answer_status(a) == 201;
    struct json answer = answer_json(&w->arena, a), tenant, key;
    if (made) {
        FUZZ_CHECK(json_get(answer, STR("tenant"), &tenant) && json_get(answer, STR("key"), &key));
        w->admin = json_text_of(&w->arena, key, "secret");
        w->slots[TENANT] = json_text_of(&w->arena, tenant, "id");
        FUZZ_CHECK(uuid_parse(w->slots[TENANT], &w->tenant_id));
    }
    cairn_answer_free(a);
    return made;
}

static void world_begin(struct world *w)
{
    *w = (struct world){0};
    arena_init(&w->arena, SIZE_MAX);
    if (here.cairn == NULL || n_inputs++ % INPUTS_A_DATABASE == 0)
        open_here(w);
    if (make_tenant(w))
        return;
    open_here(w);
    FUZZ_CHECK(make_tenant(w));
}

static struct str reader_secret(struct world *w)
{
    static const struct str body =
        STR("{\"name\":\"reader\",\"scopes\":[\"threads:read\",\"runs:read\",\"events:read\"]}");
    if (w->reader.len == 0)
        w->reader = make_key(w, w->admin, body);
    return str_is_none(w->reader) ? STR("none") : w->reader;
}

/* --- Detection of changes ------------------------------------------------------------------- */

/* Detects a commit by another connection since the last call, without reading a table. */
static bool has_changed(struct world *w)
{
    int64_t version;
    struct str text = throwaway_ask(&here, &w->arena, "PRAGMA data_version", UUID_NIL);
    FUZZ_CHECK(str_to_i64(text, &version));
    bool changed = version != w->data_version;
    w->data_version = version;
    return changed;
}

/* The audit log is left out: it records refusals too. */
static struct str digest_of(struct world *w)
{
    return throwaway_ask(&here, &w->arena,
        "SELECT (SELECT count(*) || ' ' || total(version) FROM tenants) || ' ' ||"
        "(SELECT count(*) || ' ' || count(revoked_at) FROM api_keys) || ' ' ||"
        "(SELECT count(*) FROM idempotency_keys) || ' ' ||"
        "(SELECT count(*) || ' ' || total(version) FROM threads WHERE tenant_id = ?1) || ' ' ||"
        "(SELECT count(*) || ' ' || total(version) || ' ' || total(lease_expires_at) FROM runs"
        " WHERE tenant_id = ?1) || ' ' ||"
        "(SELECT count(*) || ' ' || total(id) FROM events WHERE tenant_id = ?1)",
        w->tenant_id);
}

static void note_changes(struct world *w, bool allowed)
{
    if (!has_changed(w))
        return;
    struct str digest = digest_of(w);
    FUZZ_CHECK(allowed || str_eq(digest, w->digest));
    w->digest = digest;
}

static void check_events(struct world *w)
{
    struct str gaps = throwaway_ask(&here, &w->arena,
        "SELECT count(*) FROM (SELECT max(seq) - min(seq) + 1 - count(*) AS missing FROM events"
        " WHERE tenant_id = ?1 GROUP BY thread_id) WHERE missing <> 0",
        w->tenant_id);
    FUZZ_CHECK(str_eq(gaps, STR("0")));
}

/* --- From text to request ------------------------------------------------------------------- */

struct asked {
    struct local_request request;
    struct str secret; /* STR_NONE: without a key */
    const char *headers[MAX_HEADERS + 2];
    bool has_idempotency_key;
    bool has_principal;
};

/* With the slots filled in. */
static struct str fill_in(struct world *w, struct str text)
{
    struct buf out CLEANUP(buf_deinit);
    buf_init(&out, SIZE_MAX);
    for (size_t i = 0; i < text.len; i++) {
        const char *slot = i + 2 < text.len && text.ptr[i] == '{' && text.ptr[i + 2] == '}'
                               ? memchr(slot_letters, text.ptr[i + 1], SLOTS)
                               : NULL;
        if (slot == NULL) {
            buf_append_byte(&out, text.ptr[i]);
            continue;
        }
        struct str value = w->slots[slot - slot_letters];
        buf_append(&out, str_is_none(value) ? STR("00000000-0000-0000-0000-000000000000") : value);
        i += 2;
    }
    return arena_str(&w->arena, buf_str(&out));
}

/* Returns the text before the separator; `rest` becomes the text after it, or STR_NONE. */
static struct str cut(struct str *rest, struct str separator)
{
    struct str text = *rest;
    const char *at = text.len > 0 ? memmem(text.ptr, text.len, separator.ptr, separator.len) : NULL;
    size_t end = at == NULL ? text.len : (size_t)(at - text.ptr);
    *rest = at == NULL ? STR_NONE : str_slice(text, end + separator.len, text.len);
    return str_slice(text, 0, end);
}

static struct str secret_of(struct world *w, char who)
{
    switch (who) {
    case '!':
        return str_of(operator_secret);
    case '~':
        return reader_secret(w);
    case '?':
        return STR_NONE;
    default:
        return w->admin;
    }
}

static void read_request(struct world *w, struct str text, struct asked *out)
{
    struct str head = cut(&text, STR("\n\n")), body = text;
    struct str line = cut(&head, STR("\n")), header;
    size_t n = 0;
    char who = line.len > 0 ? line.ptr[0] : ' ';
    *out = (struct asked){.secret = secret_of(w, who)};
    if (who == '!' || who == '~' || who == '?')
        line = str_slice(line, 1, line.len);
    size_t blank = str_find(line, ' ');
    if (!str_is_none(out->secret)) {
        struct str key =
            arena_printf(&w->arena, "Authorization: Bearer %.*s", STR_ARG(out->secret));
        out->headers[n++] = arena_cstr(&w->arena, key);
    }
    while (n < MAX_HEADERS && str_next_part(&head, '\n', &header)) {
        out->headers[n++] = arena_cstr(&w->arena, fill_in(w, header));
        out->has_idempotency_key =
            out->has_idempotency_key || str_starts_with(header, STR("Idempotency-Key:"));
        out->has_principal = out->has_principal || str_starts_with(header, STR("Cairn-Principal:"));
    }
    struct str target = fill_in(w, str_slice(line, blank + 1, line.len));
    out->request =
        (struct local_request){.method = arena_cstr(&w->arena, str_slice(line, 0, blank)),
            .target = arena_cstr(&w->arena, target),
            .headers = out->headers,
            .body = str_is_none(body) ? STR("") : fill_in(w, body)};
}

/* The route, and how long the request would wait there for something to happen. */
static const struct route *look_ahead(const struct asked *asked, int64_t *out_wait_s)
{
    struct local_call v;
    const struct route *route = NULL;
    *out_wait_s = 0;
    local_call_init(&v, &here.cairn->instance.api, &asked->request);
    if (local_call_find_route(&v)) {
        route = v.call.route;
        call_decode(&v.call, asked->request.body);
        *out_wait_s = v.call.request.wait_s;
    }
    local_call_deinit(&v);
    return route;
}

/* --- Values of answers for later requests --------------------------------------------------- */

static void keep(struct world *w, enum slot newest, enum slot before, struct str value)
{
    if (str_is_none(value) || str_eq(value, w->slots[newest]))
        return;
    w->slots[before] = w->slots[newest];
    w->slots[newest] = value;
}

static void learn(struct world *w, const struct route *route, const cairn_answer *a)
{
    const char *etag = cairn_answer_header(a, "ETag");
    if (etag != NULL)
        keep(w, ETAG, ETAG, arena_str(&w->arena, str_of(etag)));
    size_t len;
    cairn_answer_body(a, &len);
    if (len == 0 || route->answer == NULL)
        return;
    struct json body = answer_json(&w->arena, a);
    struct str id = json_text_of(&w->arena, body, "id");
    if (route->answer == &schema_thread)
        keep(w, THREAD, THREAD_2, id);
    if (route->answer == &schema_run)
        keep(w, RUN, RUN_2, id);
    if (route->answer == &schema_message)
        keep(w, MESSAGE, MESSAGE, id);
    if (route->answer == &schema_participant)
        keep(w, PARTICIPANT, PARTICIPANT, id);
    if (route->answer == &schema_share_created)
        keep(w, SHARE, SHARE, id);
    if (route->answer == &schema_checkpoint)
        keep(w, CHECKPOINT, CHECKPOINT, id);
    if (route->answer == &schema_upload)
        keep(w, UPLOAD, UPLOAD, id);
    keep(w, TOKEN, TOKEN, json_text_of(&w->arena, body, "token"));
    if (route->answer == &schema_key_created)
        keep(w, KEY, KEY, id);
    if (route->answer == &schema_agent)
        keep(w, AGENT, AGENT_2, id);
    keep(w, THREAD, THREAD_2, json_text_of(&w->arena, body, "workflow_id"));
    keep(w, RUN, RUN_2, json_text_of(&w->arena, body, "run_id"));
    keep(w, SECRET, SECRET, json_text_of(&w->arena, body, "secret"));
    keep(w, CURSOR, CURSOR, json_text_of(&w->arena, body, "next_cursor"));
    keep(w, FENCE, FENCE, json_text_of(&w->arena, body, "fence"));
}

/* --- Carrying out --------------------------------------------------------------------------- */

static void follow(struct world *w, const struct route *route, const struct asked *asked)
{
    cairn_answer *refusal = NULL;
    const struct cairn_event *event;
    struct json_doc doc;
    struct json_error error;
    int kind = CAIRN_EVENT;
    cairn_subscription *s =
        cairn_subscribe(here.cairn, asked->request.target, asked->headers, &refusal);
    if (s == NULL)
        judge_answer(&w->arena, route, STR("GET"), refusal);
    cairn_answer_free(refusal);
    for (size_t i = 0; s != NULL && kind != CAIRN_TIMEOUT && kind != CAIRN_ENDED; i++) {
        FUZZ_CHECK(i < MAX_FOLLOWED);
        kind = cairn_next(s, 0, &event);
        if (kind == CAIRN_TIMEOUT)
            break;
        struct str data = {event->data, event->data_len};
        FUZZ_CHECK(json_parse(&w->arena, data, &doc, &error));
        w->slots[CURSOR] = arena_str(&w->arena, str_of(event->cursor));
    }
    cairn_unsubscribe(s);
    /* An event reports that the principal of an open stream is online. */
    note_changes(w, asked->has_principal);
}

static cairn_answer *call(const struct asked *asked)
{
    const struct local_request *r = &asked->request;
    return cairn_call(here.cairn, r->method, r->target, r->headers, r->body.ptr, r->body.len);
}

static void check_replay(struct world *w, const struct asked *asked, const cairn_answer *first)
{
    cairn_answer *again = call(asked);
    const char *replayed = cairn_answer_header(again, "Idempotency-Replayed");
    const char *body = cairn_answer_body(first, NULL);
    bool has_secret = strstr(body, "\"secret\"") != NULL || strstr(body, "\"token\"") != NULL;
    FUZZ_CHECK(cairn_answer_status(again) == cairn_answer_status(first));
    FUZZ_CHECK(replayed != NULL && strcmp(replayed, "true") == 0);
    FUZZ_CHECK(
        has_secret || strcmp(cairn_answer_body(again, NULL), cairn_answer_body(first, NULL)) == 0);
    cairn_answer_free(again);
    note_changes(w, false);
}

static void carry_out(struct world *w, const struct route *route, const struct asked *asked)
{
    struct str method = str_of(asked->request.method);
    cairn_answer *a = call(asked);
    int status = cairn_answer_status(a);
    judge_answer(&w->arena, route, method, a);
    bool writes = status < 300 && route->mode == ROUTE_WRITE;
    note_changes(w, writes);
    if (status < 300)
        learn(w, route, a);
    bool limited = cairn_answer_header(a, "RateLimit") != NULL;
    if (writes && asked->has_idempotency_key && str_eq(method, STR("POST")) && status != 204 &&
        !limited)
        check_replay(w, asked, a);
    cairn_answer_free(a);
}

static void run(struct world *w, struct str text)
{
    struct asked asked;
    int64_t wait_s;
    bool day = str_eq(text, STR("DAY"));
    if (day || str_eq(text, STR("SWEEP"))) {
        if (day)
            throwaway_age(&here);
        throwaway_sweep(&here);
        w->data_version = 0; /* it does not count what our own connection does */
        note_changes(w, true);
        return;
    }
    read_request(w, text, &asked);
    note_changes(w, true); /* the reader's key may just have been made */
    const struct route *route = look_ahead(&asked, &wait_s);
    if (wait_s > 0) {
        struct str target = str_of(asked.request.target);
        asked.request.target = arena_cstr(&w->arena, str_slice(target, 0, str_find(target, '?')));
    }
    bool stream = route != NULL && (route->mode == ROUTE_SSE || route->mode == ROUTE_WEBSOCKET);
    if (stream && strcmp(asked.request.method, "GET") == 0)
        follow(w, route, &asked);
    else
        carry_out(w, route, &asked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world w;
    struct str rest = {size > 0 ? (const char *)data : "", size};
    if (size == 0 || size > MAX_INPUT_BYTES)
        return 0;
    world_begin(&w);
    for (size_t i = 0; i < MAX_REQUESTS && !str_is_none(rest); i++)
        run(&w, cut(&rest, STR("\n--\n")));
    check_events(&w);
    arena_deinit(&w.arena);
    return 0;
}
