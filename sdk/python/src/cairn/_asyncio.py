# SPDX-License-Identifier: Apache-2.0
"""Network streams for asyncio."""
from __future__ import annotations

import asyncio
import os
import ssl
from typing import Awaitable, Optional, TypeVar

from ._network import READ_BYTES, Origin, is_readable, refuse_own_end

T = TypeVar("T")


class AsyncStream:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()

    async def send(self, data: bytes, timeout: Optional[float]) -> None:
        self._writer.write(data)
        await within(self._writer.drain(), timeout)

    async def receive(self, timeout: Optional[float]) -> bytes:
        return await within(self._reader.read(READ_BYTES), timeout)

    def is_stale(self) -> bool:
        if self._loop is not asyncio.get_running_loop():
            return True
        if self._reader.at_eof() or self._writer.is_closing() \
                or self._reader.exception() is not None:
            return True
        # A busy event loop may not have noticed the end of the connection yet.
        return is_readable(self._writer.get_extra_info("socket").fileno())

    def close(self) -> None:
        """May be called from another thread or a finalizer. After a fork the event loop does not
        exist, and neither do its sockets."""
        if self._process != os.getpid():
            return
        try:
            is_here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            is_here = False
        if is_here:
            self._writer.transport.abort()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._writer.transport.abort)


class AsyncNetwork:
    async def connect(self, origin: Origin, context: Optional[ssl.SSLContext],
                      timeout: Optional[float]) -> AsyncStream:
        opening = asyncio.open_connection(
            origin.host, origin.port, ssl=context,
            server_hostname=origin.host if context is not None else None)
        reader, writer = await within(opening, timeout)
        try:
            refuse_own_end(*map(writer.get_extra_info, ("sockname", "peername")))
        except OSError:
            writer.transport.abort()
            raise
        return AsyncStream(reader, writer)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def within(work: Awaitable[T], timeout: Optional[float]) -> T:
    """Unlike asyncio.wait_for before Python 3.12, never loses a cancellation."""
    if timeout is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    except BaseException:
        task.cancel()
        raise
    if not done:
        task.cancel()
        raise TimeoutError("timed out")
    return task.result()
