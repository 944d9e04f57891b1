# SPDX-License-Identifier: Apache-2.0
"""Requests over HTTP: a pool of connections, and subscriptions over SSE and WebSocket."""
from __future__ import annotations

import json
import os
import socket
import ssl
import threading
import time
import weakref
from collections import deque
from typing import Deque, Dict, List, Optional, Tuple

from . import _websocket as websocket
from ._carrier import Answer, Interrupted, Request, Signal, Subscription
from ._content import Source
from ._http1 import (
    Body, Connection, ConnectionLost, Head, ProtocolError, Wait, content_headers, in_chunk,
    request_head)
from ._network import Network, Origin
from ._sse import Message, SseParser
from .errors import Aborted, ConnectionFailed, NotCairn

MAX_IDLE = 16
# A request that must not be repeated is not sent on a connection that the server may be closing.
FRESH_S = 3.0
MAX_IDLE_S = 50.0
# Bodies of at least this size, and those that can be read only once, are sent with
# Expect: 100-continue, so that the server can reject them before they are sent.
ANNOUNCED_BYTES = 1024 * 1024
CONTINUE_WAIT_S = 2.0
SILENCE_S = 30.0
PING_S = 10.0


class HttpAnswer:
    def __init__(self, carrier: "HttpCarrier", connection: Connection, head: Head,
                 method: str) -> None:
        self.status = head.status
        self.headers: Dict[str, str] = head.headers
        self._carrier = carrier
        self._connection: Optional[Connection] = connection
        self._keeps = head.keeps_connection
        self._body = Body(connection, head, method)

    async def read(self, wait: Wait) -> bytes:
        if self._connection is None:
            if self._body.is_complete:
                return b""
            raise Aborted("the response was closed before it was read completely")
        try:
            data = await self._body.read(wait)
        except BaseException:
            self._keeps = False
            self.close()
            raise
        if self._body.is_complete:
            self.close()
        return data

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._keeps and self._body.leaves_connection_usable and not connection.buffer:
            self._carrier.give_back(connection)
        else:
            connection.stream.close()


class HttpCarrier:
    part_bytes: Optional[int] = None

    def __init__(self, network: Network, origin: Origin, prefix: str,
                 context: Optional[ssl.SSLContext]) -> None:
        self.place = origin.url + prefix
        self._network = network
        self._origin = origin
        self._prefix = prefix
        self._context = context
        self._is_closed = False
        self._idle: Deque[Connection] = deque()
        self._own_connections()

    # --- Connections ---

    def _own_connections(self) -> None:
        """A child of fork must neither use nor end the connections of its parent."""
        for connection in self._idle:
            connection.stream.close()
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._idle = deque()
        self._streams: "weakref.WeakSet[Subscription]" = weakref.WeakSet()

    def give_back(self, connection: Connection) -> None:
        connection.idle_since = time.monotonic()
        with self._lock:
            if not self._is_closed and len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.stream.close()

    def _take_idle(self, max_idle_s: float) -> Optional[Connection]:
        if self._process != os.getpid():
            self._own_connections()
        while True:
            with self._lock:
                if self._is_closed:
                    raise Aborted("the client is closed")
                if not self._idle:
                    return None
                connection = self._idle.pop()
            fresh = time.monotonic() - connection.idle_since < max_idle_s
            if fresh and not connection.stream.is_stale():
                return connection
            connection.stream.close()

    async def _connect(self, wait: Wait) -> Connection:
        if self._process != os.getpid():
            self._own_connections()
        with self._lock:
            if self._is_closed:
                raise Aborted("the client is closed")
        try:
            return Connection(
                await self._network.connect(self._origin, self._context, wait.left()))
        except ssl.SSLCertVerificationError as e:
            raise ConnectionFailed(
                f"the certificate of {self.place} is not trusted ({e.verify_message}). Pass an "
                "ssl_context= that trusts it, or set CAIRN_CA_FILE to its authority") from e
        except ssl.SSLError as e:
            raise ConnectionFailed(
                f"{self.place} does not speak TLS ({e.reason or e}). If the server has no "
                "certificate, its URL begins with http://") from e
        except socket.gaierror as e:
            may_heal = e.errno == socket.EAI_AGAIN
            raise Interrupted(e, False, may_heal) from e
        except OSError as e:
            raise Interrupted(e, False) from e

    def close(self) -> None:
        """Running requests still complete; streams of events end."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = list(self._idle), deque()
            streams = list(self._streams)
        for connection in idle:
            connection.stream.close()
        for stream in streams:
            stream.close()

    def _opened(self, stream: Subscription) -> Subscription:
        with self._lock:
            if self._is_closed:
                raise Aborted("the client is closed")
            self._streams.add(stream)
        return stream

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)

    # --- Requests ---

    async def exchange(self, request: Request, wait: Wait) -> Answer:
        connection = self._take_idle(MAX_IDLE_S if request.is_repeatable else FRESH_S)
        connection = connection or await self._connect(wait)
        try:
            head = await self._send(connection, request, wait)
            return HttpAnswer(self, connection, head, request.method)
        except ContentFailed as e:
            connection.stream.close()
            raise e.cause
        except (OSError, ConnectionLost) as e:
            connection.stream.close()
            raise Interrupted(e, True) from e
        except ProtocolError as e:
            connection.stream.close()
            raise not_cairn(self.place, e) from e
        except BaseException:
            connection.stream.close()
            raise

    def _head_of(self, request: Request, more: List[Tuple[str, str]]) -> bytes:
        headers = [("Host", self._origin.authority), *request.headers, *more]
        return request_head(request.method, self._prefix + request.target, headers)

    async def _send(self, connection: Connection, request: Request, wait: Wait) -> Head:
        source = request.source
        if source is None:
            length = [] if request.method in ("GET", "DELETE") else content_headers(0)
            await connection.stream.send(self._head_of(request, length), wait.left())
            return await connection.read_head(wait)
        announced = source.length is None or source.length >= ANNOUNCED_BYTES
        more = content_headers(source.length) + ([("Expect", "100-continue")] if announced else [])
        head = self._head_of(request, more)
        if not announced:
            first = await _piece(source)
            await connection.stream.send(head + first, wait.left())
        else:
            await connection.stream.send(head, wait.left())
            refusal = await self._wait_for_continue(connection, wait)
            if refusal is not None:
                return refusal
        return await self._send_body(connection, source, wait)

    async def _wait_for_continue(self, connection: Connection, wait: Wait) -> Optional[Head]:
        left = wait.left()
        short = CONTINUE_WAIT_S if left is None else min(CONTINUE_WAIT_S, left)
        try:
            head = await connection.read_head(Wait(time.monotonic() + short), takes_continue=True)
        except TimeoutError:
            return None
        return None if head.status < 200 else _last(head)

    async def _send_body(self, connection: Connection, source: Source, wait: Wait) -> Head:
        """A server may respond with an error and close the connection before reading the body."""
        broken: Optional[OSError] = None
        while broken is None:
            piece = await _piece(source)
            data = piece if source.length is not None else in_chunk(piece)
            try:
                if data:
                    await connection.stream.send(data, wait.left())
            except TimeoutError:
                raise
            except OSError as e:
                broken = e
            if not piece:
                break
        try:
            head = await connection.read_head(wait)
        except (OSError, ConnectionLost):
            if broken is not None:
                raise broken
            raise
        return head if broken is None else _last(head)

    # --- Subscriptions ---

    async def subscribe(self, target: str, headers: List[Tuple[str, str]], transport: str,
                        wait: Wait) -> Tuple[Optional[Subscription], Optional[Answer]]:
        connection = await self._connect(wait)
        try:
            if transport == "websocket":
                return await self._open_websocket(connection, target, headers, wait)
            request = Request("GET", target, [*headers, ("Accept", "text/event-stream")])
            await connection.stream.send(self._head_of(request, []), wait.left())
            head = await connection.read_head(wait)
            answer = HttpAnswer(self, connection, head, "GET")
            if head.status == 200 and "text/event-stream" in head.headers.get("content-type", ""):
                return self._opened(SseSubscription(answer)), None
            return None, answer
        except (OSError, ConnectionLost) as e:
            connection.stream.close()
            raise Interrupted(e, False) from e
        except ProtocolError as e:
            connection.stream.close()
            raise not_cairn(self.place, e) from e
        except BaseException:
            connection.stream.close()
            raise

    async def _open_websocket(
            self, connection: Connection, target: str, headers: List[Tuple[str, str]],
            wait: Wait) -> Tuple[Optional[Subscription], Optional[Answer]]:
        key = websocket.new_key()
        more = [("Connection", "Upgrade"), ("Upgrade", "websocket"),
                ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", key)]
        request = Request("GET", target, headers)
        await connection.stream.send(self._head_of(request, more), wait.left())
        head = await connection.read_head(wait)
        if head.status != 101:
            return None, HttpAnswer(self, connection, head, "GET")
        if head.headers.get("sec-websocket-accept") != websocket.accept_of(key):
            raise ProtocolError("it does not speak WebSocket")
        return self._opened(WebSocketSubscription(connection)), None


class ContentFailed(Exception):
    """The content of an upload could not be read, which is not a failure of the connection."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _piece(source: Source) -> bytes:
    try:
        return await source.next()
    except OSError as e:
        raise ContentFailed(e) from e


def _last(head: Head) -> Head:
    """The connection cannot be reused, because the request was not sent completely."""
    return Head(head.status, {**head.headers, "connection": "close"})


def not_cairn(place: str, error: ProtocolError) -> NotCairn:
    line = error.first_bytes.split(b"\n", 1)[0].strip()[:100]
    said = f", but with {line!r}" if line else ""
    hint = "If the server speaks TLS, its URL begins with https://" \
        if error.first_bytes[:1] == b"\x15" else "Check the URL"
    return NotCairn(f"{place} is not Cairn: {error}{said}. {hint}")


class SseSubscription:
    """Without a byte for 30 seconds the connection is dead: the server sends a comment every 10."""

    def __init__(self, answer: HttpAnswer) -> None:
        self._answer = answer
        self._parser = SseParser()
        self._ready: Deque[Signal] = deque()

    async def next(self) -> Optional[Signal]:
        while not self._ready:
            try:
                data = await self._answer.read(Wait(None, SILENCE_S))
            except (OSError, ConnectionLost, ProtocolError, Aborted):
                return None
            if not data:
                return None
            for message in self._parser.feed(data):
                self._ready.append(_signal_of(message))
        return self._ready.popleft()

    def close(self) -> None:
        self._answer.close()


def _signal_of(message: Message) -> Signal:
    if message.event == "closed":
        return Signal("closed", message.data, str(json.loads(message.data).get("cursor") or ""))
    return Signal("gap" if message.event == "gap" else "event", message.data, message.last_id)


class WebSocketSubscription:
    """Pings after 10 silent seconds; without a byte for 30 seconds the connection is dead."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._parser = websocket.FrameParser()
        self._ready: Deque[Signal] = deque()
        self._silent_s = 0.0

    async def next(self) -> Optional[Signal]:
        try:
            while not self._ready:
                data = await self._receive()
                if not data:
                    return None
                for frame in self._parser.feed(data):
                    await self._take(frame)
        except (OSError, websocket.FrameError):
            return None
        return self._ready.popleft()

    async def _receive(self) -> bytes:
        if self._connection.buffer:
            return self._connection.take(len(self._connection.buffer))
        while True:
            try:
                data = await self._connection.stream.receive(PING_S)
                self._silent_s = 0.0
                return data
            except TimeoutError:
                self._silent_s += PING_S
                if self._silent_s >= SILENCE_S:
                    return b""
                await self._connection.stream.send(websocket.encode(websocket.PING), PING_S)

    async def _take(self, frame: websocket.Frame) -> None:
        if frame.opcode == websocket.TEXT:
            text = frame.payload.decode("utf-8", "replace")
            is_gap = text.startswith('{"kind":"gap"')
            self._ready.append(Signal("gap" if is_gap else "event", text))
        elif frame.opcode == websocket.PING:
            await self._connection.stream.send(
                websocket.encode(websocket.PONG, frame.payload), PING_S)
        elif frame.opcode == websocket.CLOSE:
            cursor = websocket.close_cursor(frame.payload)
            self._ready.append(Signal("closed", "", cursor))

    def close(self) -> None:
        self._connection.stream.close()
