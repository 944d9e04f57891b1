/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remote.h"

#include <poll.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json/json_patch.h"
#include "base/json/json_write.h"
#include "base/uuid.h"
#include "cli/text.h"

enum {
    ARENA_BYTES = 512 * 1024 * 1024,
    TRIES = 4,
    FIRST_PAUSE_MS = 200,
    LONGEST_PAUSE_MS = 5000,
    MAX_HEADERS = 40,
    PROBLEM_MAX_BYTES = 1024 * 1024,
};

struct remote {
    struct cli *cli;
    struct endpoint endpoint;
    struct http_client *client;
    struct arena arena; /* of the last answer */
    struct json_doc doc;
    int interrupt_fd;
    int64_t deadline_us;
};

/* --- Life ----------------------------------------------------------------------------------- */

int remote_open(struct cli *cli, struct remote **out_remote)
{
    struct endpoint endpoint = {.url = STR_NONE};
    struct http_client_config config;
    struct str why;
    TRY_EXIT(endpoint_choose(cli, &endpoint));
    http_client_config_init(&config);
    config.host = endpoint.host;
    config.port = endpoint.port;
    config.tls = endpoint.tls;
    config.ca_file = endpoint.ca_file;
    config.interrupt_fd = cli_catch_interrupts(cli);
    struct http_client *client = http_client_create(&config, cli_arena(cli), &why);
    if (client == NULL) {
        cli_fail(cli, "%.*s", STR_ARG(why));
        return EXIT_USAGE;
    }
    struct remote *r = MEM_NEW(struct remote);
    r->cli = cli;
    r->endpoint = endpoint;
    r->client = client;
    r->interrupt_fd = config.interrupt_fd;
    r->deadline_us = INT64_MAX;
    arena_init(&r->arena, ARENA_BYTES);
    *out_remote = r;
    return EXIT_SUCCESS;
}

void remote_close(struct remote *r)
{
    if (r == NULL)
        return;
    http_client_destroy(r->client);
    arena_deinit(&r->arena);
    mem_free(r);
}

void remote_closep(struct remote **r)
{
    remote_close(*r);
}

const struct endpoint *remote_endpoint(const struct remote *r)
{
    return &r->endpoint;
}

struct http_client *remote_client(struct remote *r)
{
    return r->client;
}

void remote_set_deadline(struct remote *r, int64_t deadline_us)
{
    r->deadline_us = deadline_us;
    http_client_set_deadline(r->client, deadline_us);
}

void remote_be_patient(struct remote *r)
{
    http_client_set_answer_timeout(r->client, 3600 * 1000);
}

static int64_t left_ms(const struct remote *r)
{
    int64_t left_us = r->deadline_us - clock_steady_us();
    return left_us > 0 ? left_us / 1000 : 0;
}

bool remote_pause(struct remote *r, uint32_t ms)
{
    struct pollfd fd = {r->interrupt_fd, POLLIN, 0};
    int64_t left = left_ms(r);
    return poll(&fd, 1, (int)(ms < left ? ms : left)) == 0;
}

/* --- One request ---------------------------------------------------------------------------- */

/* A request as the client sends it. A repeated request has the same idempotency key. */
struct outgoing {
    struct client_request request;
    struct http_header headers[MAX_HEADERS];
    char idempotency_key[UUID_TEXT_LEN];
};

static void add(struct outgoing *o, struct str name, struct str value)
{
    assert(o->request.n_headers < MAX_HEADERS);
    o->headers[o->request.n_headers++] = (struct http_header){name, value};
}

static bool has_header(const struct remote_request *q, struct str name)
{
    for (size_t i = 0; i < q->n_headers; i++)
        if (str_eq_nocase(q->headers[i].name, name))
            return true;
    return false;
}

/* Returns --as or CAIRN_AS. */
static struct str acting_as(const struct cli *cli)
{
    struct str given = cli_value(cli, "as");
    const char *variable = getenv("CAIRN_AS");
    if (!str_is_none(given) || variable == NULL || variable[0] == '\0')
        return given;
    return str_of(variable);
}

static void prepare(
    struct remote *r, const struct remote_request *q, struct arena *arena, struct outgoing *o)
{
    *o = (struct outgoing){
        .request = {.method = str_of(q->method), .body = q->body, .source = q->source}};
    o->request.headers = o->headers;
    o->request.target =
        arena_printf(arena, "%.*s%.*s", STR_ARG(r->endpoint.prefix), STR_ARG(q->path));
    add(o, STR("User-Agent"), STR("cairn/" CAIRN_VERSION));
    if (!str_is_none(r->endpoint.api_key) && !has_header(q, STR("Authorization")))
        add(o, STR("Authorization"),
            arena_printf(arena, "Bearer %.*s", STR_ARG(r->endpoint.api_key)));
    struct str principal = acting_as(r->cli);
    if (!str_is_none(principal) && !has_header(q, STR("Cairn-Principal")))
        add(o, STR("Cairn-Principal"), principal);
    if (!str_is_none(q->body) && !has_header(q, STR("Content-Type")))
        add(o, STR("Content-Type"), STR("application/json"));
    if (strcmp(q->method, "POST") == 0 && !has_header(q, STR("Idempotency-Key"))) {
        uuid_format(uuid_v7(), o->idempotency_key);
        add(o, STR("Idempotency-Key"), (struct str){o->idempotency_key, UUID_TEXT_LEN});
    }
    for (size_t i = 0; i < q->n_headers; i++)
        add(o, q->headers[i].name, q->headers[i].value);
}

static void read_json(struct remote *r, struct remote_answer *answer)
{
    struct str type = http_answer_header(&answer->head, STR("content-type"));
    struct json_error error;
    type = str_slice(type, 0, str_find(type, ';'));
    answer->has_json =
        answer->body.len > 0 &&
        (str_eq_nocase(type, STR("application/json")) ||
            str_eq_nocase(type, STR("application/problem+json"))) &&
        json_parse_deep(&r->arena, answer->body, JSON_WRITE_MAX_DEPTH - 1, &r->doc, &error);
    if (answer->has_json)
        answer->json = json_root(&r->doc);
}

struct str remote_string(struct arena *arena, struct json value, struct str pointer)
{
    struct json found;
    if (!json_pointer(value, pointer, &found) || json_type(found) != JSON_STRING)
        return STR_NONE;
    return json_string(arena, found);
}

/* --- Retries -------------------------------------------------------------------------------- */

static bool only_reads(const struct remote_request *q)
{
    return strcmp(q->method, "GET") == 0 || strcmp(q->method, "HEAD") == 0;
}

/* Returns true if the request has the same effect when it is sent again. */
static bool is_repeatable(const struct remote_request *q)
{
    return only_reads(q) || strcmp(q->method, "POST") == 0;
}

/* Returns true if the request can be sent again: nothing was changed, or a repetition has no
 * further effect. */
static bool is_for_later(
    struct remote *r, const struct remote_request *q, const struct remote_answer *a)
{
    if (a->head.status == 429)
        return true;
    if (a->head.status == 502 || a->head.status == 504) /* from a proxy: the outcome is unknown */
        return only_reads(q);
    if (a->head.status != 503)
        return false;
    struct str code = a->has_json ? remote_string(&r->arena, a->json, STR("/code")) : STR_NONE;
    return is_repeatable(q) || !str_eq(code, STR("outcome_unknown"));
}

static uint32_t pause_before(unsigned tries, const struct remote_answer *a, bool answered)
{
    uint64_t after_s = 0;
    uint32_t pause_ms = (uint32_t)FIRST_PAUSE_MS << (2 * tries);
    if (answered && str_to_u64(http_answer_header(&a->head, STR("retry-after")), &after_s) &&
        after_s * 1000 > pause_ms)
        pause_ms = after_s * 1000 < LONGEST_PAUSE_MS ? (uint32_t)after_s * 1000 : LONGEST_PAUSE_MS;
    return pause_ms < LONGEST_PAUSE_MS ? pause_ms : LONGEST_PAUSE_MS;
}

enum client_result remote_send(
    struct remote *r, const struct remote_request *q, struct remote_answer *out_answer)
{
    struct outgoing o;
    bool reached = false;
    arena_clear(&r->arena);
    prepare(r, q, &r->arena, &o);
    for (unsigned tries = 0;; tries++) {
        *out_answer = (struct remote_answer){.has_json = false};
        enum client_result result =
            http_client_ask(r->client, &o.request, &r->arena, &out_answer->head, &out_answer->body);
        if (result == CLIENT_OK)
            read_json(r, out_answer);
        reached = reached || result != CLIENT_UNREACHABLE;
        bool again = result == CLIENT_OK     ? is_for_later(r, q, out_answer)
                     : result == CLIENT_LOST ? is_repeatable(q)
                                             : result == CLIENT_UNREACHABLE && reached;
        if (!again || tries + 1 == TRIES)
            return result;
        if (!remote_pause(r, pause_before(tries, out_answer, result == CLIENT_OK)))
            return CLIENT_INTERRUPTED;
        if (left_ms(r) == 0)
            return result;
    }
}

/* Reads the body of a small answer. */
static enum client_result read_rest(struct remote *r, struct remote_answer *answer)
{
    struct str run;
    struct buf body CLEANUP(buf_deinit) = BUF_INIT(PROBLEM_MAX_BYTES);
    enum client_result result;
    while (
        (result = http_client_read(r->client, LONGEST_PAUSE_MS, &run)) == CLIENT_OK && run.len > 0)
        buf_append(&body, run);
    answer->body = arena_str(&r->arena, buf_str(&body));
    read_json(r, answer);
    return result == CLIENT_TIMED_OUT ? CLIENT_LOST : result;
}

enum client_result remote_begin(
    struct remote *r, const struct remote_request *q, struct remote_answer *out_answer)
{
    struct outgoing o;
    arena_clear(&r->arena);
    *out_answer = (struct remote_answer){.body = STR("")};
    prepare(r, q, &r->arena, &o);
    enum client_result result =
        http_client_begin(r->client, &o.request, &r->arena, &out_answer->head);
    return result == CLIENT_OK && out_answer->head.status >= 400 ? read_rest(r, out_answer)
                                                                 : result;
}

/* --- Errors --------------------------------------------------------------------------------- */

static void report_faults(struct remote *r, struct json problem)
{
    struct json errors, fault;
    if (!json_get(problem, STR("errors"), &errors) || json_count(errors) < 2)
        return;
    struct json_iter it = json_iter(errors);
    while (json_next(&it, NULL, &fault)) {
        struct str pointer = remote_string(&r->arena, fault, STR("/pointer"));
        struct str detail = remote_string(&r->arena, fault, STR("/detail"));
        pointer = text_clean(&r->arena, pointer);
        detail = text_clean(&r->arena, detail);
        cli_note(r->cli, "  %.*s %.*s", STR_ARG(pointer), STR_ARG(detail));
    }
}

static int report_refusal(struct remote *r, const struct remote_answer *a)
{
    int status = a->head.status;
    struct str detail = STR_NONE, code = STR_NONE;
    if (a->has_json) {
        detail = remote_string(&r->arena, a->json, STR("/detail"));
        code = remote_string(&r->arena, a->json, STR("/code"));
    }
    detail = str_is_none(detail) ? str_of(http_reason(status)) : text_clean(&r->arena, detail);
    code = str_is_none(code) ? code : text_clean(&r->arena, code);
    bool auth = status == 401 || status == 403;
    bool no_key = status == 401 && str_is_none(r->endpoint.api_key);
    cli_fail(r->cli, "%.*s (%d%s%.*s)%s", STR_ARG(detail), status, str_is_none(code) ? "" : " ",
        STR_ARG(code),
        no_key ? "; give a key with --api-key-file, CAIRN_API_KEY or a profile" : "");
    if (a->has_json)
        report_faults(r, a->json);
    return auth ? EXIT_AUTH : EXIT_FAILURE;
}

int remote_judge(struct remote *r, enum client_result result, const struct remote_answer *answer)
{
    struct str why = http_client_why(r->client);
    switch (result) {
    case CLIENT_OK:
        return answer->head.status < 400 ? EXIT_SUCCESS : report_refusal(r, answer);
    case CLIENT_INTERRUPTED:
        cli_fail(r->cli, "interrupted");
        return EXIT_INTERRUPTED;
    case CLIENT_UNREACHABLE:
        return cli_fail(r->cli,
            "%.*s; is the server running? --url, CAIRN_URL or a profile sets its URL",
            STR_ARG(why));
    default:
        return cli_fail(r->cli, "%.*s", STR_ARG(why));
    }
}

int remote_ask(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer)
{
    return remote_judge(r, remote_send(r, request, out_answer), out_answer);
}

int remote_ask_once(
    struct remote *r, const struct remote_request *request, struct remote_answer *out_answer)
{
    enum client_result result = remote_begin(r, request, out_answer);
    if (result == CLIENT_OK && out_answer->head.status < 400)
        result = read_rest(r, out_answer);
    return remote_judge(r, result, out_answer);
}

/* --- Paths ---------------------------------------------------------------------------------- */

static bool is_unreserved(char byte)
{
    return is_letter(byte) || is_digit(byte) || str_has_byte(STR("-._~"), byte);
}

struct str remote_encode(struct arena *arena, struct str text)
{
    static const char digits[] = "0123456789ABCDEF";
    char *out = arena_alloc(arena, text.len * 3 + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i])) {
            out[len++] = text.ptr[i];
            continue;
        }
        out[len++] = '%';
        out[len++] = digits[byte >> 4];
        out[len++] = digits[byte & 15];
    }
    return (struct str){out, len};
}
