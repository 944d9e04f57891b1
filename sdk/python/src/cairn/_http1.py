# SPDX-License-Identifier: Apache-2.0
"""The client side of HTTP/1.1: request heads, and responses with a length, in chunks, or up to the
end of the connection."""
from __future__ import annotations

import re
import time
from typing import Dict, List, Optional, Sequence, Tuple

from ._network import Stream

MAX_HEAD_BYTES = 65536
MAX_LINE_BYTES = 8192
# Sockets do not accept an infinite timeout.
LONGEST_WAIT_S = 86400.0 * 365
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class ProtocolError(Exception):
    """The peer does not speak HTTP/1.1. `first_bytes` are the bytes it sent instead."""

    def __init__(self, message: str, first_bytes: bytes = b"") -> None:
        super().__init__(message)
        self.first_bytes = first_bytes


class ConnectionLost(Exception):
    """The connection ended before the end of the response."""


class Head:
    """Status and headers of a response; names are lower case."""

    def __init__(self, status: int, headers: Dict[str, str]) -> None:
        self.status = status
        self.headers = headers

    @property
    def keeps_connection(self) -> bool:
        return "close" not in self.headers.get("connection", "").lower()


def header_lines(headers: Sequence[Tuple[str, str]]) -> List[str]:
    """Validates each header, to prevent header injection."""
    for name, value in headers:
        if not TOKEN.fullmatch(name) or any(c in value for c in "\r\n\0"):
            raise ValueError(f"the header {name!r} has characters that no header may have")
    return [f"{name}: {value}" for name, value in headers]


def request_head(method: str, target: str, headers: Sequence[Tuple[str, str]]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *header_lines(headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8")


def parse_head(data: bytes) -> Head:
    lines = data.decode("iso-8859-1").split("\r\n")
    parts = lines[0].split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
        raise ProtocolError("the response is not HTTP/1.1", data[:200])
    headers: Dict[str, str] = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise ProtocolError("the response has a malformed header", data[:200])
        headers[name.lower()] = value.strip()
    return Head(int(parts[1]), headers)


def chunk_size(line: bytes) -> int:
    digits = line.split(b";", 1)[0].strip()
    try:
        if not digits or digits[:1] in b"+-":
            raise ValueError
        return int(digits, 16)
    except ValueError:
        raise ProtocolError("the response has a malformed chunk", line[:200]) from None


class Wait:
    """A time limit: an absolute deadline, or a limit on silence."""

    def __init__(self, deadline: Optional[float], idle: Optional[float] = None) -> None:
        self.deadline = deadline
        self.idle = idle

    def left(self) -> Optional[float]:
        if self.deadline is None:
            return None if self.idle is None else min(self.idle, LONGEST_WAIT_S)
        left = min(self.deadline - time.monotonic(), LONGEST_WAIT_S)
        if left <= 0:
            raise TimeoutError("timed out")
        return left if self.idle is None else min(left, self.idle)


class Connection:
    """A stream with a buffer of unused bytes."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.buffer = bytearray()
        self.idle_since = 0.0

    async def more(self, wait: Wait) -> bool:
        data = await self.stream.receive(wait.left())
        self.buffer += data
        return bool(data)

    async def read_until(self, end: bytes, limit: int, wait: Wait) -> bytes:
        searched = 0
        while True:
            at = self.buffer.find(end, max(0, searched - len(end)))
            if at >= 0:
                return self.take(at + len(end))[:-len(end)]
            searched = len(self.buffer)
            if searched > limit:
                raise ProtocolError("the response head is too long", bytes(self.buffer[:200]))
            if self.buffer and not b"HTTP/1.".startswith(self.buffer[:7]) and end == b"\r\n\r\n":
                raise ProtocolError("the response is not HTTP/1.1", bytes(self.buffer[:200]))
            if not await self.more(wait):
                raise ConnectionLost("the connection ended")

    def take(self, count: int) -> bytes:
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    async def read_some(self, limit: int, wait: Wait) -> bytes:
        if not self.buffer and not await self.more(wait):
            return b""
        return self.take(min(limit, len(self.buffer)))

    async def read_head(self, wait: Wait, takes_continue: bool = False) -> Head:
        """Returns the next head, skipping 1xx unless requested; 101 is never skipped."""
        while True:
            head = parse_head(await self.read_until(b"\r\n\r\n", MAX_HEAD_BYTES, wait))
            if head.status >= 200 or head.status == 101 or takes_continue:
                return head


class Body:
    """The body of a response, read as it arrives."""

    def __init__(self, connection: Connection, head: Head, method: str) -> None:
        self._connection = connection
        self._left: Optional[int] = None
        self._chunked = "chunked" in head.headers.get("transfer-encoding", "").lower()
        self.is_complete = False
        length = head.headers.get("content-length")
        if method == "HEAD" or head.status in (204, 304) or head.status < 200:
            self._left, self.is_complete = 0, True
        elif self._chunked:
            self._left = 0
        elif length is not None:
            if not length.isdigit():
                raise ProtocolError("the response has a malformed length")
            self._left = int(length)
            self.is_complete = self._left == 0

    async def read(self, wait: Wait) -> bytes:
        """Returns some bytes; b"" at the end of the response."""
        if self.is_complete:
            return b""
        if self._chunked and self._left == 0 and not await self._next_chunk(wait):
            return b""
        limit = 65536 if self._left is None else min(65536, self._left)
        data = await self._connection.read_some(limit, wait)
        if not data:
            if self._left is None:
                self.is_complete = True
                return b""
            raise ConnectionLost("the connection ended within the response")
        if self._left is not None:
            await self._used(len(data), wait)
        return data

    async def _used(self, count: int, wait: Wait) -> None:
        assert self._left is not None
        self._left -= count
        if self._left > 0:
            return
        if self._chunked:
            await self._connection.read_until(b"\r\n", 2, wait)
        else:
            self.is_complete = True

    async def _next_chunk(self, wait: Wait) -> bool:
        line = await self._connection.read_until(b"\r\n", MAX_LINE_BYTES, wait)
        self._left = chunk_size(line)
        if self._left > 0:
            return True
        while await self._connection.read_until(b"\r\n", MAX_LINE_BYTES, wait):
            pass
        self.is_complete = True
        return False

    @property
    def leaves_connection_usable(self) -> bool:
        return self.is_complete and self._left is not None


def content_headers(length: Optional[int]) -> List[Tuple[str, str]]:
    """Headers for a body of this length; None: unknown, so in chunks."""
    if length is None:
        return [("Transfer-Encoding", "chunked")]
    return [("Content-Length", str(length))]


def in_chunk(data: bytes) -> bytes:
    """Encodes a chunk; b"" is the last one."""
    return b"%x\r\n%s\r\n" % (len(data), data)
