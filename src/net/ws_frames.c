/* SPDX-License-Identifier: Apache-2.0 */
#include "net/ws_frames.h"

#include <sys/types.h>
#include <wslay/wslay.h>

#include "base/alloc.h"

struct ws_reader {
    wslay_frame_context_ptr wslay;
    struct str source;   /* the input of wslay */
    uint64_t held;       /* bytes read from the source that belong to an unfinished frame */
    uint64_t frame_seen; /* payload of the current frame */
    size_t control_len;
    char control[WS_CONTROL_BYTES_MAX];
};

size_t ws_frame_header(uint8_t opcode, uint64_t payload_len, char out_header[WS_HEADER_BYTES_MAX])
{
    out_header[0] = (char)(0x80 | opcode);
    size_t length_bytes = payload_len < 126 ? 0 : payload_len <= UINT16_MAX ? 2 : 8;
    out_header[1] = (char)(length_bytes == 0 ? payload_len : length_bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < length_bytes; i++)
        out_header[2 + i] = (char)(payload_len >> (8 * (length_bytes - 1 - i)));
    return 2 + length_bytes;
}

/* --- Readers -------------------------------------------------------------------------------- */

static ssize_t give_source(uint8_t *place, size_t room, int flags, void *user_data)
{
    struct ws_reader *r = user_data;
    size_t size = r->source.len < room ? r->source.len : room;
    if (size == 0)
        return -1;
    memcpy(place, r->source.ptr, size);
    r->source = str_slice(r->source, size, r->source.len);
    r->held += size;
    return (ssize_t)size;
}

static struct ws_reader *reader_create(void)
{
    static const struct wslay_frame_callbacks callbacks = {.recv_callback = give_source};
    struct ws_reader *r = MEM_NEW(struct ws_reader);
    if (wslay_frame_context_init(&r->wslay, &callbacks, r) != 0)
        mem_exhausted(sizeof *r);
    return r;
}

void ws_reader_destroy(struct ws_reader *r)
{
    if (r == NULL)
        return;
    wslay_frame_context_free(r->wslay);
    mem_free(r);
}

static void borrow_reader(struct ws_input *in)
{
    in->reader = *in->spare != NULL ? *in->spare : reader_create();
    *in->spare = NULL;
}

/* Between frames wslay has no state, so another connection may use the reader. */
static void give_back_reader(struct ws_input *in)
{
    assert(in->reader->held == 0 && in->reader->frame_seen == 0);
    if (*in->spare == NULL)
        *in->spare = in->reader;
    else
        ws_reader_destroy(in->reader);
    in->reader = NULL;
}

/* --- Messages ------------------------------------------------------------------------------- */

void ws_input_init(struct ws_input *in, size_t message_bytes_max, struct ws_reader **spare)
{
    *in = (struct ws_input){.spare = spare};
    buf_init(&in->message, message_bytes_max);
}

void ws_input_deinit(struct ws_input *in)
{
    buf_deinit(&in->message);
    ws_reader_destroy(in->reader);
    in->reader = NULL;
}

static struct ws_event broken(struct ws_input *in, uint16_t code)
{
    in->over = true;
    return (struct ws_event){.kind = WS_EVENT_BROKEN, .code = code};
}

/* Returns the code to fail with, or 0. Called once per frame, with its first payload. */
static uint16_t frame_fault(const struct ws_input *in, const struct wslay_frame_iocb *frame)
{
    if (frame->rsv != 0 || !frame->mask)
        return WS_CODE_PROTOCOL;
    switch (frame->opcode) {
    case WS_CLOSE:
    case WS_PING:
    case WS_PONG:
        return 0;
    case WS_TEXT:
    case WS_BINARY:
        if (in->opcode != 0)
            return WS_CODE_PROTOCOL;
        break;
    case WS_CONTINUATION:
        if (in->opcode == 0)
            return WS_CODE_PROTOCOL;
        break;
    default:
        return WS_CODE_PROTOCOL;
    }
    return frame->payload_length > in->message.max - in->message.len ? WS_CODE_TOO_BIG : 0;
}

static bool is_sendable_code(unsigned code)
{
    return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
           (code >= 3000 && code <= 4999);
}

static struct ws_event close_event(struct ws_input *in, struct str payload)
{
    if (payload.len == 1)
        return broken(in, WS_CODE_PROTOCOL);
    unsigned code = WS_CODE_NONE;
    if (payload.len >= 2) {
        code = (unsigned)(unsigned char)payload.ptr[0] << 8 | (unsigned char)payload.ptr[1];
        if (!is_sendable_code(code))
            return broken(in, WS_CODE_PROTOCOL);
        payload = str_slice(payload, 2, payload.len);
    }
    if (!str_is_utf8(payload))
        return broken(in, WS_CODE_NOT_UTF8);
    in->over = true;
    return (struct ws_event){.kind = WS_EVENT_CLOSE, .code = (uint16_t)code, .payload = payload};
}

static struct ws_event control_event(struct ws_input *in, uint8_t opcode)
{
    struct str payload = {in->reader->control, in->reader->control_len};
    in->reader->control_len = 0;
    if (opcode == WS_CLOSE)
        return close_event(in, payload);
    return (struct ws_event){
        .kind = opcode == WS_PING ? WS_EVENT_PING : WS_EVENT_PONG, .payload = payload};
}

static struct ws_event message_event(struct ws_input *in)
{
    bool text = in->opcode == WS_TEXT;
    in->opcode = 0;
    if (text && !str_is_utf8(buf_str(&in->message)))
        return broken(in, WS_CODE_NOT_UTF8);
    in->delivered = true;
    return (struct ws_event){
        .kind = WS_EVENT_MESSAGE, .text = text, .payload = buf_str(&in->message)};
}

/* --- Frames --------------------------------------------------------------------------------- */

static size_t masked_header_len(uint64_t payload_len)
{
    char header[WS_HEADER_BYTES_MAX];
    return ws_frame_header(0, payload_len, header) + 4;
}

static void keep_payload(struct ws_input *in, const struct wslay_frame_iocb *frame)
{
    struct ws_reader *r = in->reader;
    struct str run = {(const char *)frame->data, frame->data_length};
    r->frame_seen += run.len;
    if (wslay_is_ctrl_frame(frame->opcode)) {
        assert(run.len <= WS_CONTROL_BYTES_MAX - r->control_len);
        if (run.len > 0)
            memcpy(r->control + r->control_len, run.ptr, run.len);
        r->control_len += run.len;
    } else {
        buf_append(&in->message, run);
        assert(!in->message.failed);
    }
}

/* One call of wslay. Returns true if there is an event, or if more bytes are needed. */
static bool take_frame(struct ws_input *in, struct ws_event *out_event)
{
    struct ws_reader *r = in->reader;
    struct wslay_frame_iocb frame = {0};
    ssize_t got = wslay_frame_recv(r->wslay, &frame);
    *out_event = (struct ws_event){.kind = WS_EVENT_MORE};
    if (got == WSLAY_ERR_WANT_READ)
        return true;
    uint16_t fault = got < 0 ? WS_CODE_PROTOCOL : r->frame_seen > 0 ? 0 : frame_fault(in, &frame);
    if (fault != 0) {
        *out_event = broken(in, fault);
        return true;
    }
    if (frame.opcode == WS_TEXT || frame.opcode == WS_BINARY)
        in->opcode = frame.opcode;
    keep_payload(in, &frame);
    if (r->frame_seen < frame.payload_length)
        return false;
    r->held -= masked_header_len(frame.payload_length) + frame.payload_length;
    r->frame_seen = 0;
    if (wslay_is_ctrl_frame(frame.opcode)) {
        *out_event = control_event(in, frame.opcode);
        return true;
    }
    if (!frame.fin)
        return false;
    *out_event = message_event(in);
    return true;
}

struct ws_event ws_input_next(struct ws_input *in, struct str *bytes)
{
    struct ws_event event = {.kind = WS_EVENT_MORE};
    if (in->delivered) {
        buf_deinit(&in->message);
        in->delivered = false;
    }
    if (in->over) {
        *bytes = str_slice(*bytes, bytes->len, bytes->len);
        return event;
    }
    if (in->reader == NULL) {
        if (bytes->len == 0)
            return event;
        borrow_reader(in);
    }
    in->reader->source = *bytes;
    while (!take_frame(in, &event))
        ;
    *bytes = in->reader->source;
    if (event.kind == WS_EVENT_MORE && in->reader->held == 0)
        give_back_reader(in);
    return event;
}
