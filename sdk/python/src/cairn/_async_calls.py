# SPDX-License-Identifier: Apache-2.0
"""Calls of the asyncio client: responses, pages and downloads."""
from __future__ import annotations

import json
import os
from types import TracebackType
from typing import (
    Any, AsyncIterator, Dict, Generator, Generic, List, Mapping, Optional, Sequence, Type, TypeVar,
    Union)

from ._core import Call, Core
from ._download import Described, Incoming
from ._operation import AsyncContent, Operation, Options
from ._paging import next_call

T = TypeVar("T")


class AsyncPage(Generic[T]):
    """One page of a list: `data`, `has_more`, `next_cursor`. `async for` reads all pages.
    `answer` is the complete response, such as the cursors of messages in both directions."""

    def __init__(self, caller: "AsyncCaller", call: Call, answer: Dict[str, Any]) -> None:
        self._caller = caller
        self._call = call
        self.answer = answer
        self.data: List[T] = answer["data"]
        self.has_more: bool = answer["has_more"]
        self.next_cursor: Optional[str] = answer["next_cursor"]

    async def next_page(self) -> "Optional[AsyncPage[T]]":
        """Returns the next page, or None."""
        call = next_call(self._call, self.has_more, self.next_cursor)
        return None if call is None else await self._caller.page_of(call)

    async def pages(self) -> "AsyncIterator[AsyncPage[T]]":
        page: Optional[AsyncPage[T]] = self
        while page is not None:
            yield page
            page = await page.next_page()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item

    def __repr__(self) -> str:
        return f"<AsyncPage of {len(self.data)}, {'more follow' if self.has_more else 'last page'}>"


class AsyncPages(Generic[T]):
    """The result of a list method: `await` returns its first page, `async for` all items."""

    def __init__(self, caller: "AsyncCaller", call: Call) -> None:
        self._caller = caller
        self._call = call

    def __await__(self) -> Generator[Any, None, AsyncPage[T]]:
        return self._caller.page_of(self._call).__await__()

    async def pages(self) -> AsyncIterator[AsyncPage[T]]:
        async for page in (await self).pages():
            yield page

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item


class AsyncDownload(Described):
    """A download, read as it arrives. If you do not read it completely, close it or use
    `async with`."""

    def __init__(self, incoming: Incoming) -> None:
        super().__init__(incoming)

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        while True:
            piece = await self._incoming.next()
            if not piece:
                return
            yield piece

    async def read(self) -> bytes:
        return b"".join([piece async for piece in self.iter_bytes()])

    async def text(self) -> str:
        return (await self.read()).decode("utf-8")

    async def json(self) -> Any:
        return json.loads(await self.read())

    async def save(self, path: "Union[str, os.PathLike[str]]") -> int:
        """Writes the content to a file and returns the number of bytes."""
        size = 0
        with open(path, "wb") as file:
            async for piece in self.iter_bytes():
                size += file.write(piece)
        return size

    def close(self) -> None:
        self._incoming.close()

    async def __aenter__(self) -> "AsyncDownload":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        self.close()


class AsyncDownloads:
    """The result of a download method: `await` it, or use it in `async with`."""

    def __init__(self, core: Core, call: Call) -> None:
        self._core = core
        self._call = call
        self._download: Optional[AsyncDownload] = None

    async def _begin(self) -> AsyncDownload:
        return AsyncDownload(await self._core.download(self._call))

    def __await__(self) -> Generator[Any, None, AsyncDownload]:
        return self._begin().__await__()

    async def __aenter__(self) -> AsyncDownload:
        self._download = await self._begin()
        return self._download

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        if self._download is not None:
            self._download.close()


class AsyncCaller:
    """Sends the requests of the resources."""

    def __init__(self, core: Core) -> None:
        self.core = core

    async def call(self, operation: Operation, path: Sequence[Union[str, int]], *,
                   query: Optional[Mapping[str, Any]] = None,
                   body: Optional[Mapping[str, Any]] = None,
                   json_patch: Optional[Sequence[Mapping[str, Any]]] = None,
                   content: Optional[AsyncContent] = None, content_type: Optional[str] = None,
                   options: Options = Options()) -> Any:
        return await self.core.call(
            Call(operation, path, query or {}, body, json_patch, content, content_type, options))

    def page(self, operation: Operation, path: Sequence[Union[str, int]], *,
             query: Optional[Mapping[str, Any]] = None, body: Optional[Mapping[str, Any]] = None,
             options: Options = Options()) -> AsyncPages[Any]:
        return AsyncPages(self, Call(operation, path, query or {}, body, options=options))

    async def page_of(self, call: Call) -> AsyncPage[Any]:
        return AsyncPage(self, call, await self.core.call(call))

    def download(self, operation: Operation, path: Sequence[Union[str, int]], *,
                 query: Optional[Mapping[str, Any]] = None,
                 options: Options = Options()) -> AsyncDownloads:
        return AsyncDownloads(self.core, Call(operation, path, query or {}, options=options))
