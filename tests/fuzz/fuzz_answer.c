/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a response as the client reads it. The result does not depend on how the bytes are
 * split into packets, and an accepted head that is serialised and parsed again gives the same
 * result.
 */
#include "base/buf.h"
#include "net/http_answer.h"

#include "fuzz.h"

enum { HEAD_BYTES = 2048 };

/* Offers ever more of the bytes, `step` at a time, until the head is decided. */
static enum http_parsed parse(
    struct arena *arena, struct str bytes, size_t step, struct http_answer *a, size_t *used)
{
    enum http_parsed parsed = HTTP_MORE;
    const char *rule = NULL;
    for (size_t offered = 0; parsed == HTTP_MORE && offered < bytes.len;) {
        offered = bytes.len - offered < step ? bytes.len : offered + step;
        parsed = http_answer_parse(arena, str_slice(bytes, 0, offered), HEAD_BYTES, a, used, &rule);
    }
    FUZZ_CHECK((parsed == HTTP_REFUSED) == (rule != NULL));
    return parsed;
}

static bool is_same(const struct http_answer *a, const struct http_answer *b)
{
    if (a->status != b->status || a->minor != b->minor || a->n_headers != b->n_headers ||
        a->chunked != b->chunked || a->has_length != b->has_length ||
        a->content_length != b->content_length || a->keep_alive != b->keep_alive)
        return false;
    for (size_t i = 0; i < a->n_headers; i++)
        if (!str_eq(a->headers[i].name, b->headers[i].name) ||
            !str_eq(a->headers[i].value, b->headers[i].value))
            return false;
    return true;
}

static void check_again(struct arena *arena, const struct http_answer *a)
{
    struct buf text;
    struct http_answer again;
    size_t used;
    const char *rule;
    buf_init(&text, 4 * HEAD_BYTES);
    buf_printf(&text, "HTTP/1.%u %d %.*s\r\n", a->minor, a->status, STR_ARG(a->reason));
    for (size_t i = 0; i < a->n_headers; i++)
        buf_printf(
            &text, "%.*s: %.*s\r\n", STR_ARG(a->headers[i].name), STR_ARG(a->headers[i].value));
    buf_append(&text, STR("\r\n"));
    FUZZ_CHECK(http_answer_parse(arena, buf_str(&text), 4 * HEAD_BYTES, &again, &used, &rule) ==
               HTTP_DONE);
    FUZZ_CHECK(used == text.len && is_same(a, &again));
    buf_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct http_answer whole = {0}, pieces = {0};
    size_t used = 0, used_in_pieces = 0;
    struct str bytes = {size > 0 ? (const char *)data : "", size};
    arena_init(&arena, SIZE_MAX);
    enum http_parsed parsed = parse(&arena, bytes, SIZE_MAX, &whole, &used);
    FUZZ_CHECK(parse(&arena, bytes, 1, &pieces, &used_in_pieces) == parsed);
    if (parsed == HTTP_DONE) {
        FUZZ_CHECK(used == used_in_pieces && used <= size && is_same(&whole, &pieces));
        check_again(&arena, &whole);
    }
    arena_deinit(&arena);
    return 0;
}
