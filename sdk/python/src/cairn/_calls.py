# SPDX-License-Identifier: Apache-2.0
"""Calls of the blocking client: responses, pages and downloads."""
from __future__ import annotations

import json
import os
from types import TracebackType
from typing import (
    Any, Dict, Generic, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union)

from ._core import Call, Core
from ._download import Described, Incoming
from ._network import run_now
from ._operation import Content, Operation, Options
from ._paging import next_call

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list: `data`, `has_more`, `next_cursor`. Iterating reads all pages.
    `answer` is the complete response, such as the cursors of messages in both directions."""

    def __init__(self, caller: "Caller", call: Call, answer: Dict[str, Any]) -> None:
        self._caller = caller
        self._call = call
        self.answer = answer
        self.data: List[T] = answer["data"]
        self.has_more: bool = answer["has_more"]
        self.next_cursor: Optional[str] = answer["next_cursor"]

    def next_page(self) -> "Optional[Page[T]]":
        """Returns the next page, or None."""
        call = next_call(self._call, self.has_more, self.next_cursor)
        return None if call is None else self._caller.page_of(call)

    def pages(self) -> "Iterator[Page[T]]":
        page: Optional[Page[T]] = self
        while page is not None:
            yield page
            page = page.next_page()

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            yield from page.data

    def __repr__(self) -> str:
        return f"<Page of {len(self.data)}, {'more follow' if self.has_more else 'last page'}>"


class Download(Described):
    """A download, read as it arrives. If you do not read it completely, close it or use
    `with`."""

    def __init__(self, incoming: Incoming) -> None:
        super().__init__(incoming)

    def iter_bytes(self) -> Iterator[bytes]:
        while True:
            piece = run_now(self._incoming.next())
            if not piece:
                return
            yield piece

    def read(self) -> bytes:
        return b"".join(self.iter_bytes())

    def text(self) -> str:
        return self.read().decode("utf-8")

    def json(self) -> Any:
        return json.loads(self.read())

    def save(self, path: "Union[str, os.PathLike[str]]") -> int:
        """Writes the content to a file and returns the number of bytes."""
        size = 0
        with open(path, "wb") as file:
            for piece in self.iter_bytes():
                size += file.write(piece)
        return size

    def close(self) -> None:
        self._incoming.close()

    def __enter__(self) -> "Download":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


class Caller:
    """Sends the requests of the resources."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def call(self, operation: Operation, path: Sequence[Union[str, int]], *,
             query: Optional[Mapping[str, Any]] = None, body: Optional[Mapping[str, Any]] = None,
             json_patch: Optional[Sequence[Mapping[str, Any]]] = None,
             content: Optional[Content] = None, content_type: Optional[str] = None,
             options: Options = Options()) -> Any:
        return run_now(self.core.call(
            Call(operation, path, query or {}, body, json_patch, content, content_type, options)))

    def page(self, operation: Operation, path: Sequence[Union[str, int]], *,
             query: Optional[Mapping[str, Any]] = None, body: Optional[Mapping[str, Any]] = None,
             options: Options = Options()) -> Page[Any]:
        return self.page_of(Call(operation, path, query or {}, body, options=options))

    def page_of(self, call: Call) -> Page[Any]:
        return Page(self, call, run_now(self.core.call(call)))

    def download(self, operation: Operation, path: Sequence[Union[str, int]], *,
                 query: Optional[Mapping[str, Any]] = None,
                 options: Options = Options()) -> Download:
        call = Call(operation, path, query or {}, options=options)
        return Download(run_now(self.core.download(call)))
