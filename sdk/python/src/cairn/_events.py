# SPDX-License-Identifier: Apache-2.0
"""Streams of events, for blocking and asyncio clients."""
from __future__ import annotations

from types import TracebackType
from typing import AsyncIterator, Iterator, Optional, Type

from ._follow import Follower
from ._generated.types import Event
from ._network import run_now


class EventStream(Iterator[Event]):
    """An iterator that ends with `close()` or a permanent error. `cursor` is that of the last
    returned event: pass it to follow(after=…) to continue from there."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._is_closed = False

    @property
    def cursor(self) -> Optional[str]:
        return self._follower.cursor

    def __iter__(self) -> "EventStream":
        return self

    def __next__(self) -> Event:
        if self._is_closed:
            raise StopIteration
        try:
            return run_now(self._follower.next())
        except Exception:
            if self._is_closed:
                raise StopIteration from None
            self.close()
            raise

    def close(self) -> None:
        """Ends the connection, and an iteration that waits for an event in another thread."""
        self._is_closed = True
        self._follower.close()

    def __enter__(self) -> "EventStream":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        self._follower.close()


class AsyncEventStream(AsyncIterator[Event]):
    """An async iterator that ends with `aclose()` or a permanent error. `cursor` is that of the
    last returned event: pass it to follow(after=…) to continue from there."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._is_closed = False

    @property
    def cursor(self) -> Optional[str]:
        return self._follower.cursor

    def __aiter__(self) -> "AsyncEventStream":
        return self

    async def __anext__(self) -> Event:
        if self._is_closed:
            raise StopAsyncIteration
        try:
            return await self._follower.next()
        except Exception:
            if self._is_closed:
                raise StopAsyncIteration from None
            await self.aclose()
            raise

    async def aclose(self) -> None:
        self._is_closed = True
        self._follower.close()

    async def __aenter__(self) -> "AsyncEventStream":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    def __del__(self) -> None:
        self._follower.close()
