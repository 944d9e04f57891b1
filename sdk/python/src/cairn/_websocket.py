# SPDX-License-Identifier: Apache-2.0
"""WebSocket frames (RFC 6455), client side."""
from __future__ import annotations

import base64
import hashlib
import os
import re
import struct
from dataclasses import dataclass
from typing import List, Optional

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class FrameError(Exception):
    """The peer violates the protocol."""


@dataclass
class Frame:
    opcode: int
    payload: bytes


def new_key() -> str:
    return base64.b64encode(os.urandom(16)).decode("ascii")


def accept_of(key: str) -> str:
    """Returns the Sec-WebSocket-Accept value for a key."""
    return base64.b64encode(hashlib.sha1((key + _GUID).encode("ascii")).digest()).decode("ascii")


def encode(opcode: int, payload: bytes = b"") -> bytes:
    """Encodes one masked frame."""
    mask = os.urandom(4)
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
    elif size < 65536:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
    masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
    return head + mask + masked


class FrameParser:
    """Consumes bytes and returns complete messages, joined from their fragments."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._opcode = 0
        self._parts = bytearray()

    def feed(self, data: bytes) -> List[Frame]:
        self._buffer += data
        messages: List[Frame] = []
        while True:
            frame = self._take()
            if frame is None:
                return messages
            message = self._join(*frame)
            if message is not None:
                messages.append(message)

    def _take(self) -> "Optional[tuple[bool, int, bytes]]":
        if len(self._buffer) < 2:
            return None
        first, second = self._buffer[0], self._buffer[1]
        if first & 0x70 or second & 0x80:
            raise FrameError("a frame has reserved bits set")
        size, begin = second & 0x7F, 2
        if size == 126:
            begin = 4
        elif size == 127:
            begin = 10
        if len(self._buffer) < begin:
            return None
        if begin > 2:
            size = int.from_bytes(self._buffer[2:begin], "big")
        if size > MAX_MESSAGE_BYTES or (first & 0x08 and (size > 125 or not first & 0x80)):
            raise FrameError("a frame is too large")
        if len(self._buffer) < begin + size:
            return None
        payload = bytes(self._buffer[begin:begin + size])
        del self._buffer[:begin + size]
        return bool(first & 0x80), first & 0x0F, payload

    def _join(self, is_last: bool, opcode: int, payload: bytes) -> Optional[Frame]:
        if opcode & 0x08:
            return Frame(opcode, payload)
        if (opcode == 0) != (self._opcode != 0):
            raise FrameError("a fragment is out of place")
        self._opcode = opcode or self._opcode
        self._parts += payload
        if len(self._parts) > MAX_MESSAGE_BYTES:
            raise FrameError("a message is too large")
        if not is_last:
            return None
        whole = Frame(self._opcode, bytes(self._parts))
        self._opcode, self._parts = 0, bytearray()
        return whole


def close_cursor(payload: bytes) -> str:
    """Parses the reason after the code, such as "shutting_down cursor=12"."""
    found = re.search(rb" cursor=(\S+)$", payload[2:])
    return found[1].decode("ascii", "replace") if found else ""
