/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WebSocket frames (RFC 6455) as bytes, without sockets, so that a fuzzer can run it alone.
 * Incoming bytes become whole messages and control frames; every rule of the RFC for a server is
 * enforced here. wslay parses the frames. A connection has wslay's state, with a 4 KiB buffer, only
 * in the middle of a frame, so an idle connection has none.
 */
#ifndef NET_WS_FRAMES_H
#define NET_WS_FRAMES_H

#include "base/buf.h"

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

enum { WS_HEADER_BYTES_MAX = 10, WS_CONTROL_BYTES_MAX = 125 };

enum ws_code {
    WS_CODE_NONE = 0, /* a close frame without a code */
    WS_CODE_NORMAL = 1000,
    WS_CODE_GOING_AWAY = 1001,
    WS_CODE_PROTOCOL = 1002,
    WS_CODE_NOT_UTF8 = 1007,
    WS_CODE_TOO_BIG = 1009,
};

/* Writes the header of one unmasked, final frame and returns its length. */
size_t ws_frame_header(uint8_t opcode, uint64_t payload_len, char out_header[WS_HEADER_BYTES_MAX]);

struct ws_reader;
void ws_reader_destroy(struct ws_reader *r); /* accepts NULL */

struct ws_input {
    struct ws_reader **spare; /* a pool of one: the idle reader */
    struct ws_reader *reader; /* NULL between frames */
    struct buf message;       /* the received part of the current message */
    uint8_t opcode;           /* of the current message; 0: there is none */
    bool delivered;           /* `message` was returned and is removed by the next call */
    bool over;                /* after a close frame or a violation: no more input is read */
};

enum ws_event_kind {
    WS_EVENT_MORE, /* all bytes were consumed, and nothing is complete */
    WS_EVENT_MESSAGE,
    WS_EVENT_PING,
    WS_EVENT_PONG,
    WS_EVENT_CLOSE,  /* `code` is that of the peer, or WS_CODE_NONE */
    WS_EVENT_BROKEN, /* `code` is the code to close with */
};

struct ws_event {
    enum ws_event_kind kind;
    bool text;
    uint16_t code;
    struct str payload; /* valid until the next call */
};

void ws_input_init(struct ws_input *in, size_t message_bytes_max, struct ws_reader **spare);
void ws_input_deinit(struct ws_input *in);
/* Consumes `bytes` from the front, up to the next event. */
struct ws_event ws_input_next(struct ws_input *in, struct str *bytes);

#endif
