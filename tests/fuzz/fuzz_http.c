/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request as the connection reads it: the head, then the framing of the body. The result does not
 * depend on how the bytes are split into packets, and an accepted head that is serialised and
 * parsed again gives the same result, but for the host of an absolute target, which is written in
 * origin form.
 */
#include "net/http.h"

#include "fuzz.h"

static const struct http_limits LIMITS = {
    .head_bytes = 2048, .target_bytes = 512, .headers = 20, .body_bytes = 1 << 16};

enum { BODY_LIMIT = 4096 };

struct result {
    struct arena arena;
    enum http_parsed head;
    struct http_request request;
    enum http_parsed body;
    size_t used;
    struct buf payload;
};

static void result_init(struct result *r)
{
    *r = (struct result){.body = HTTP_MORE};
    arena_init(&r->arena, 1 << 20);
    buf_init(&r->payload, BODY_LIMIT);
}

static void result_deinit(struct result *r)
{
    arena_deinit(&r->arena);
    buf_deinit(&r->payload);
}

/* Offers ever more of the bytes, `step` at a time, until the head is decided. */
static void read_head(struct str bytes, size_t step, struct result *r)
{
    struct http_refusal refusal = {0, NULL};
    size_t offered = 0;
    r->head = HTTP_MORE;
    while (r->head == HTTP_MORE && offered < bytes.len) {
        offered = bytes.len - offered < step ? bytes.len : offered + step;
        r->head = http_head_parse(
            &r->arena, str_slice(bytes, 0, offered), &LIMITS, &r->request, &r->used, &refusal);
    }
    if (r->head == HTTP_REFUSED)
        FUZZ_CHECK(refusal.status >= 400 && refusal.rule != NULL);
    if (r->head == HTTP_DONE)
        FUZZ_CHECK(r->used <= offered && r->used <= LIMITS.head_bytes);
}

static void read_body(struct str bytes, size_t step, struct result *r)
{
    struct http_body body;
    http_body_init(&body, &r->request, BODY_LIMIT);
    do {
        size_t end = bytes.len - r->used < step ? bytes.len : r->used + step;
        struct str run;
        size_t used;
        struct http_refusal refusal;
        r->body = http_body_feed(&body, str_slice(bytes, r->used, end), &run, &used, &refusal);
        if (r->body == HTTP_REFUSED)
            return;
        FUZZ_CHECK(used <= end - r->used && run.len <= used);
        FUZZ_CHECK(used > 0 || r->body == HTTP_DONE || end == r->used);
        buf_append(&r->payload, run);
        FUZZ_CHECK(!r->payload.failed && r->payload.len == body.seen);
        r->used += used;
    } while (r->body == HTTP_MORE && r->used < bytes.len);
}

static void read_all(struct str bytes, size_t step, struct result *r)
{
    result_init(r);
    read_head(bytes, step, r);
    if (r->head == HTTP_DONE)
        read_body(bytes, step, r);
}

static void check_same_request(const struct http_request *a, const struct http_request *b)
{
    FUZZ_CHECK(str_eq(a->method, b->method) && str_eq(a->target, b->target));
    FUZZ_CHECK(str_eq(a->path, b->path) && str_eq(a->query, b->query));
    FUZZ_CHECK(a->minor == b->minor);
    FUZZ_CHECK(a->keep_alive == b->keep_alive && a->expects_continue == b->expects_continue);
    FUZZ_CHECK(a->chunked == b->chunked && a->has_length == b->has_length);
    FUZZ_CHECK(a->content_length == b->content_length && a->n_headers == b->n_headers);
    for (size_t i = 0; i < a->n_headers; i++)
        FUZZ_CHECK(str_eq(a->headers[i].name, b->headers[i].name) &&
                   str_eq(a->headers[i].value, b->headers[i].value));
}

/* The blanks that were trimmed are the only difference, so it is never longer. */
static void check_written_again(const struct http_request *r)
{
    struct buf text CLEANUP(buf_deinit);
    buf_init(&text, LIMITS.head_bytes + 20 * LIMITS.headers);
    buf_printf(&text, "%.*s %.*s HTTP/1.%u\r\n", STR_ARG(r->method), STR_ARG(r->target), r->minor);
    for (size_t i = 0; i < r->n_headers; i++)
        buf_printf(
            &text, "%.*s:%.*s\r\n", STR_ARG(r->headers[i].name), STR_ARG(r->headers[i].value));
    buf_append(&text, STR("\r\n"));
    struct result again CLEANUP(result_deinit);
    result_init(&again);
    read_head(buf_str(&text), text.len, &again);
    FUZZ_CHECK(again.head == HTTP_DONE && again.used == text.len);
    check_same_request(r, &again.request);
}

/* No byte that could split or hide a line may get through. */
static void check_clean(const struct http_request *r)
{
    for (size_t i = 0; i < r->n_headers; i++)
        for (size_t j = 0; j < r->headers[i].value.len; j++) {
            unsigned char byte = (unsigned char)r->headers[i].value.ptr[j];
            FUZZ_CHECK((byte >= ' ' && byte != 0x7f) || byte == '\t');
        }
    FUZZ_CHECK(!(r->chunked && r->has_length));
    FUZZ_CHECK(r->host.len > 0 || (r->minor == 0 && str_is_none(r->host)));
    FUZZ_CHECK(r->target.ptr[0] == '/' || str_eq(r->target, STR("*")));
    struct arena arena CLEANUP(arena_deinit);
    arena_init(&arena, 1 << 16);
    struct str decoded;
    if (http_decode_percent(&arena, r->path, false, &decoded))
        FUZZ_CHECK(str_is_utf8(decoded) && !str_has_byte(decoded, '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    struct result whole CLEANUP(result_deinit), cut CLEANUP(result_deinit);
    read_all(bytes, bytes.len + 1, &whole);
    read_all(bytes, 1 + data[0] % 16, &cut);
    FUZZ_CHECK(whole.head == cut.head && whole.body == cut.body);
    if (whole.head != HTTP_DONE)
        return 0;
    check_same_request(&whole.request, &cut.request);
    FUZZ_CHECK(str_eq(whole.request.host, cut.request.host));
    if (whole.body != HTTP_REFUSED) {
        FUZZ_CHECK(whole.used == cut.used);
        FUZZ_CHECK(str_eq(buf_str(&whole.payload), buf_str(&cut.payload)));
    }
    check_written_again(&whole.request);
    check_clean(&whole.request);
    return 0;
}
