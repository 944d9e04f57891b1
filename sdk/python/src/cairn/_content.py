# SPDX-License-Identifier: Apache-2.0
"""Bodies of uploads: the source of their bytes, and whether they can be read a second time."""
from __future__ import annotations

import io
from typing import Any, AsyncIterable, AsyncIterator, Iterable, Iterator, Optional, Union, cast

from ._operation import AsyncContent

PIECE_BYTES = 131072


class Source:
    """`length` is None if unknown. `has_begun`: a part has been read."""

    length: Optional[int] = None
    can_repeat = False
    has_begun = False
    content_type: Optional[str] = None

    async def next(self) -> bytes:
        """Returns the next piece; b"" at the end."""
        raise NotImplementedError

    def rewind(self) -> None:
        """Rewinds repeatable content."""


class BytesSource(Source):
    can_repeat = True

    def __init__(self, data: Union[bytes, bytearray, memoryview],
                 content_type: Optional[str] = None) -> None:
        self.data = bytes(data)
        self.length = len(self.data)
        self.content_type = content_type
        self._at = 0

    async def next(self) -> bytes:
        piece = self.data[self._at:self._at + PIECE_BYTES]
        self._at += len(piece)
        return piece

    def rewind(self) -> None:
        self._at = 0


class FileSource(Source):
    """From the current position of the file to its end."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = 0
        self.can_repeat = _is_seekable(file)
        if self.can_repeat:
            self._start = file.tell()
            self.length = file.seek(0, io.SEEK_END) - self._start
            file.seek(self._start)
        self._left = self.length

    async def next(self) -> bytes:
        self.has_begun = True
        wanted = PIECE_BYTES if self._left is None else min(PIECE_BYTES, self._left)
        piece = self._file.read(wanted) if wanted else b""
        if isinstance(piece, str):
            raise TypeError('the file must be opened in binary mode: open(path, "rb")')
        if self._left is not None:
            if not piece and self._left:
                raise ValueError("the file became shorter while it was sent")
            self._left -= len(piece)
        return bytes(piece or b"")

    def rewind(self) -> None:
        self._file.seek(self._start)
        self._left = self.length


def _is_seekable(file: Any) -> bool:
    seekable = getattr(file, "seekable", None)
    return isinstance(file, io.TextIOBase) is False and bool(seekable and seekable())


class IteratorSource(Source):
    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces: Iterator[bytes] = iter(pieces)

    async def next(self) -> bytes:
        self.has_begun = True
        for piece in self._pieces:
            if _checked(piece):
                return bytes(piece)
        return b""


class AsyncIteratorSource(Source):
    def __init__(self, pieces: AsyncIterable[bytes]) -> None:
        self._pieces: AsyncIterator[bytes] = pieces.__aiter__()

    async def next(self) -> bytes:
        self.has_begun = True
        async for piece in self._pieces:
            if _checked(piece):
                return bytes(piece)
        return b""


def _checked(piece: Any) -> Any:
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise TypeError(f"an upload must consist of bytes, not {type(piece).__name__}")
    return piece


def source_of(content: AsyncContent, may_await: bool) -> Source:
    if isinstance(content, str):
        return BytesSource(content.encode("utf-8"), "text/plain; charset=utf-8")
    if isinstance(content, (bytes, bytearray, memoryview)):
        return BytesSource(content)
    if hasattr(content, "read"):
        return FileSource(content)
    if isinstance(content, AsyncIterable):
        if not may_await:
            raise TypeError("only AsyncCairn can send an async iterator")
        return AsyncIteratorSource(content)
    if isinstance(content, Iterable):
        return IteratorSource(cast(Iterable[bytes], content))
    raise TypeError(f"{type(content).__name__} cannot be sent: use bytes, str, a file or an "
                    "iterator of bytes")
