# SPDX-License-Identifier: Apache-2.0
"""Cairn without a server: libcairn inside this process, behind the same clients.

    import cairn.embedded

    with cairn.embedded.open("./data") as client:
        client.threads.create(title="hello")

Differences: an upload is held in memory completely, downloads are read in parts of 16 MiB, and the
timeout does not interrupt a blocking call, because it runs in the calling thread.
"""
from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import (
    Any, Callable, Dict, List, Mapping, Optional, Protocol, Tuple, TypeVar, Union)

from ._asyncio import within
from ._carrier import Answer, Request, Signal, Subscription
from ._client import AsyncCairn, Cairn
from ._core import Core
from ._http1 import Wait
from ._library import ENDED, EVENT, GAP, Library, load
from ._operation import Options
from ._place import key_of
from .errors import Aborted

__all__ = ["open", "open_async"]

T = TypeVar("T")
Where = Union[str, "os.PathLike[str]"]
# The time the library waits for an event before Python can handle a signal.
SLICE_MS = 250
MAX_THREADS = 64
PART_BYTES = 16 * 1024 * 1024


class Runner(Protocol):
    """Runs calls of the library."""

    async def run(self, work: Callable[[], T], wait: Wait) -> T: ...

    async def sleep(self, seconds: float) -> None: ...

    def close(self) -> None: ...


class BlockingRunner:
    async def run(self, work: Callable[[], T], wait: Wait) -> T:
        return work()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        pass


class AsyncRunner:
    """Runs calls in threads, so that the event loop is not blocked. The thread of a cancelled or
    expired call completes it, and the response is dropped."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="cairn")
        self._is_closed = False

    async def run(self, work: Callable[[], T], wait: Wait) -> T:
        if self._is_closed:
            raise Aborted("the client is closed")
        loop = asyncio.get_running_loop()
        return await within(loop.run_in_executor(self._threads, work), wait.left())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def close(self) -> None:
        self._is_closed = True
        self._threads.shutdown(wait=False)


class WholeAnswer:
    """A response in memory."""

    def __init__(self, status: int, headers: Dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = {**headers, "content-length": str(len(body))}
        self._body = body

    async def read(self, wait: Wait) -> bytes:
        body, self._body = self._body, b""
        return body

    def close(self) -> None:
        self._body = b""


class EmbeddedCarrier:
    part_bytes: Optional[int] = PART_BYTES

    def __init__(self, library: Library, runner: Runner, place: str,
                 headers: List[Tuple[str, str]]) -> None:
        self.place = place
        self._library = library
        self._runner = runner
        self._headers = headers
        self._idle = threading.Condition()
        self._active = 0
        self._is_closed = False
        self._process = os.getpid()
        self._subscriptions: "weakref.WeakSet[EmbeddedSubscription]" = weakref.WeakSet()
        atexit.register(self.close)

    def enter(self) -> None:
        """Called before each call of the library, which must not be used after closing."""
        if self._process != os.getpid():
            raise Aborted("the client was opened before a fork; libcairn cannot be used after one. "
                          "Open a client in the child")
        with self._idle:
            if self._is_closed:
                raise Aborted("the client is closed")
            self._active += 1

    def leave(self) -> None:
        with self._idle:
            self._active -= 1
            self._idle.notify_all()

    def _guarded(self, work: Callable[[], T]) -> T:
        self.enter()
        try:
            return work()
        finally:
            self.leave()

    async def exchange(self, request: Request, wait: Wait) -> Answer:
        body: Optional[bytes] = None
        if request.source is not None:
            pieces: List[bytes] = []
            while True:
                piece = await request.source.next()
                if not piece:
                    break
                pieces.append(piece)
            body = b"".join(pieces)
        status, headers, data = await self._runner.run(
            lambda: self._guarded(lambda: self._library.call(
                request.method, request.target, request.headers, body)), wait)
        return WholeAnswer(status, headers, data)

    async def subscribe(self, target: str, headers: List[Tuple[str, str]], transport: str,
                        wait: Wait) -> Tuple[Optional[Subscription], Optional[Answer]]:
        path, mark, query = target.partition("?")
        if path.endswith("/ws"):
            path = path[:-len("ws")] + "stream"
        subscription, refusal = await self._runner.run(
            lambda: self._guarded(lambda: self._subscribe(path + mark + query, headers)), wait)
        return subscription, None if refusal is None else WholeAnswer(*refusal)

    def _subscribe(self, target: str, headers: List[Tuple[str, str]]) -> "Tuple[Any, Any]":
        handle, refusal = self._library.subscribe(target, headers)
        if refusal is not None:
            return None, refusal
        subscription = EmbeddedSubscription(self._library, self._runner, handle)
        self._subscriptions.add(subscription)
        return subscription, None

    async def sleep(self, seconds: float) -> None:
        await self._runner.sleep(seconds)

    def close(self) -> None:
        """Keeps the library open until every thread has returned; closing wakes the waiting
        threads."""
        if self._process != os.getpid():
            return
        with self._idle:
            if self._is_closed:
                return
            keeper, _ = self._library.subscribe("/v1/events/stream", self._headers)
            self._is_closed = True
            if keeper is None:
                self._idle.wait_for(lambda: self._active == 0)
        self._library.close()
        with self._idle:
            self._idle.wait_for(lambda: self._active == 0)
        for subscription in list(self._subscriptions):
            subscription.close()
        if keeper is not None:
            self._library.unsubscribe(keeper)
        self._runner.close()
        atexit.unregister(self.close)


class EmbeddedSubscription:
    """One thread at a time may wait; any thread may close it."""

    def __init__(self, library: Library, runner: Runner, handle: Any) -> None:
        self._library, self._runner = library, runner
        self._handle = handle
        self._lock = threading.Lock()
        self._is_used = False
        self._is_closed = False
        self._process = os.getpid()

    async def next(self) -> Optional[Signal]:
        while True:
            kind, data, cursor = await self._runner.run(self._wait_once, Wait(None))
            if kind == EVENT:
                return Signal("event", data, cursor)
            if kind == GAP:
                return Signal("gap", data, cursor)
            if kind == ENDED:
                return Signal("closed", data, cursor)

    def _wait_once(self) -> Tuple[int, str, str]:
        with self._lock:
            if self._is_closed:
                return ENDED, "", ""
            self._is_used = True
        try:
            return self._library.next(self._handle, SLICE_MS)
        finally:
            with self._lock:
                self._is_used = False
                if self._is_closed:
                    self._library.unsubscribe(self._handle)

    def close(self) -> None:
        """A thread that waits in the library frees the subscription itself."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._is_used:
                self._library.cancel(self._handle)
            else:
                self._library.unsubscribe(self._handle)

    def __del__(self) -> None:
        """Closes a subscription that opened after its task was cancelled."""
        if self._process == os.getpid():
            self.close()


def _place_of(where: Where) -> str:
    text = os.fspath(where)
    if not text:
        raise ValueError("the place is empty: use a directory, or postgres://…")
    is_named = text.startswith(("sqlite:", "postgres://", "postgresql://"))
    return text if is_named else f"sqlite:{text}"


def _core(where: Where, api_key: Optional[str], library: Optional[str], schema: Optional[str],
          replica: Optional[str], readers: int, writers: int, defaults: Options,
          runner: Runner, may_await: bool) -> Core:
    place = _place_of(where)
    key = key_of(api_key)
    opened = Library(load(library), place, schema, replica, readers, writers)
    # A URL may contain a password.
    shown = place if place.startswith("sqlite:") else "the PostgreSQL database"
    headers = [("Authorization", f"Bearer {key}")] if key else []
    return Core(EmbeddedCarrier(opened, runner, shown, headers), key, defaults, may_await)


def open(where: Where, api_key: Optional[str] = None, *, library: Optional[str] = None,
         schema: Optional[str] = None, replica: Optional[str] = None, readers: int = 0,
         writers: int = 0, max_retries: Optional[int] = None, principal: Optional[str] = None,
         headers: Optional[Mapping[str, str]] = None) -> Cairn:
    """Return a client of a directory ("./data"), or of a PostgreSQL database ("postgres://…").

    library: the path of libcairn.so.0; default: CAIRN_LIBRARY, next to this package, or the system
    schema, replica, readers, writers: see docs/embed.md
    """
    defaults = Options(max_retries=max_retries, principal=principal, headers=headers)
    return Cairn.of(_core(where, api_key, library, schema, replica, readers, writers, defaults,
                          BlockingRunner(), False))


def open_async(where: Where, api_key: Optional[str] = None, *, library: Optional[str] = None,
               schema: Optional[str] = None, replica: Optional[str] = None, readers: int = 0,
               writers: int = 0, timeout: Optional[float] = None,
               max_retries: Optional[int] = None, principal: Optional[str] = None,
               headers: Optional[Mapping[str, str]] = None) -> AsyncCairn:
    """The same for asyncio: calls run in threads. Opening itself blocks briefly."""
    defaults = Options(timeout=timeout, max_retries=max_retries, principal=principal,
                       headers=headers)
    return AsyncCairn.of(_core(where, api_key, library, schema, replica, readers, writers,
                               defaults, AsyncRunner(), True))
