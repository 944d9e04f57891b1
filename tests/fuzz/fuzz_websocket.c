/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The WebSocket frames of a client. The events do not depend on how the bytes are split into
 * packets; no message exceeds the limit; text is UTF-8; there is no event after a close or a
 * protocol error; and between frames no reader is held.
 */
#include "net/ws_frames.h"

#include "fuzz.h"

enum { MESSAGE_LIMIT = 3000, STORY_MAX = 1 << 22 };

struct story {
    struct ws_reader *spare;
    struct ws_input input;
    struct buf text;
    bool over;
};

static void story_deinit(struct story *s)
{
    ws_input_deinit(&s->input);
    ws_reader_destroy(s->spare);
    buf_deinit(&s->text);
}

static bool is_code(unsigned code)
{
    return code == WS_CODE_NONE || (code >= 1000 && code < 5000);
}

static void tell(struct story *s, const struct ws_event *e)
{
    FUZZ_CHECK(!s->over);
    FUZZ_CHECK(is_code(e->code));
    if (e->kind == WS_EVENT_MESSAGE) {
        FUZZ_CHECK(e->payload.len <= MESSAGE_LIMIT);
        FUZZ_CHECK(!e->text || str_is_utf8(e->payload));
    } else {
        FUZZ_CHECK(e->payload.len <= WS_CONTROL_BYTES_MAX);
    }
    if (e->kind == WS_EVENT_CLOSE)
        FUZZ_CHECK(str_is_utf8(e->payload));
    s->over = e->kind == WS_EVENT_CLOSE || e->kind == WS_EVENT_BROKEN;
    buf_printf(&s->text, "%d %d %u %zu ", (int)e->kind, e->text, e->code, e->payload.len);
    buf_append(&s->text, e->payload);
}

static void feed(struct story *s, struct str bytes)
{
    for (;;) {
        size_t before = bytes.len;
        struct ws_event e = ws_input_next(&s->input, &bytes);
        FUZZ_CHECK(bytes.len <= before);
        if (e.kind == WS_EVENT_MORE)
            break;
        tell(s, &e);
    }
    FUZZ_CHECK(bytes.len == 0);
    FUZZ_CHECK(s->input.message.len <= MESSAGE_LIMIT);
}

static void read_all(struct str bytes, size_t step, struct story *s)
{
    *s = (struct story){0};
    ws_input_init(&s->input, MESSAGE_LIMIT, &s->spare);
    buf_init(&s->text, STORY_MAX);
    for (size_t at = 0; at < bytes.len; at += step)
        feed(s, str_slice(bytes, at, at + step));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    struct str bytes = {(const char *)data + 1, size - 1};
    struct story whole CLEANUP(story_deinit), cut CLEANUP(story_deinit);
    read_all(bytes, bytes.len + 1, &whole);
    read_all(bytes, 1 + data[0] % 16, &cut);
    FUZZ_CHECK(str_eq(buf_str(&whole.text), buf_str(&cut.text)));
    FUZZ_CHECK(whole.over == cut.over);
    FUZZ_CHECK((whole.input.reader == NULL) == (cut.input.reader == NULL));
    return 0;
}
