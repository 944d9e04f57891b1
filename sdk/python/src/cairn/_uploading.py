# SPDX-License-Identifier: Apache-2.0
"""Resumable uploads."""
from __future__ import annotations

import hashlib
import io
from typing import IO, Any, Callable, Dict, Optional, Union

from ._core import Call, Core
from ._generated import operations
from ._operation import Options
from ._retry import DEFAULT_RETRIES, pause_before
from ._waiting import heals
from .errors import CairnError, Conflict

PIECE_BYTES = 8 * 1024 * 1024
Progress = Callable[[int, int], Any]
Whole = Union[bytes, bytearray, memoryview, str, IO[bytes]]


class WholeContent:
    """Content of known size with random access."""

    def __init__(self, content: Whole) -> None:
        if isinstance(content, str):
            content = content.encode("utf-8")
        self._file: Any = io.BytesIO(content) if isinstance(
            content, (bytes, bytearray, memoryview)) else content
        if not hasattr(self._file, "seekable") or not self._file.seekable():
            raise TypeError("a resumable upload needs bytes or a seekable file; "
                            "use upload for other content")
        self._start = self._file.tell()
        self.size = self._file.seek(0, io.SEEK_END) - self._start

    def part(self, offset: int, size: int) -> bytes:
        self._file.seek(self._start + offset)
        data = self._file.read(size)
        if not isinstance(data, bytes):
            raise TypeError('the file must be opened in binary mode: open(path, "rb")')
        return data

    def sha256(self) -> str:
        digest, at = hashlib.sha256(), 0
        while at < self.size:
            piece = self.part(at, PIECE_BYTES)
            if not piece:
                raise ValueError("the file became shorter while it was read")
            digest.update(piece)
            at += len(piece)
        return digest.hexdigest()


class ResumableUpload:
    def __init__(self, core: Core, thread_id: str, name: str, content: WholeContent,
                 content_type: Optional[str], expected_version: Optional[int], piece_bytes: int,
                 on_progress: Optional[Progress], options: Options) -> None:
        self._core, self._thread_id, self._name = core, thread_id, name
        self._content, self._content_type = content, content_type
        self._expected_version = expected_version
        self._piece_bytes = piece_bytes
        self._on_progress = on_progress
        self._options = options
        retries = options.over(core.defaults).max_retries
        self._max_failures = DEFAULT_RETRIES if retries is None else retries

    async def run(self, upload_id: Optional[str]) -> Dict[str, Any]:
        if self._content.size == 0:
            return await self._send_empty()
        upload = await self._begin() if upload_id is None else await self._look(upload_id)
        if upload["size_bytes"] != self._content.size or upload["name"] != self._name:
            raise ValueError(f"the upload {upload['id']} is for {upload['size_bytes']} bytes of "
                             f"{upload['name']!r}, not for this content")
        while upload["offset_bytes"] < upload["size_bytes"]:
            upload = await self._advance(upload)
            if self._on_progress is not None:
                self._on_progress(upload["offset_bytes"], upload["size_bytes"])
        answer: Dict[str, Any] = await self._call(
            operations.THREADS_UPLOADS_COMPLETE, [self._thread_id, upload["id"]])
        return answer

    async def _call(self, operation: Any, path: Any, **more: Any) -> Any:
        query = more.pop("query", {})
        return await self._core.call(Call(operation, path, query, options=self._options, **more))

    async def _begin(self) -> Dict[str, Any]:
        body = {"name": self._name, "size_bytes": self._content.size,
                "content_type": self._content_type, "expected_version": self._expected_version,
                "sha256": self._content.sha256()}
        given = {n: v for n, v in body.items() if v is not None}
        answer: Dict[str, Any] = await self._call(
            operations.THREADS_UPLOADS_CREATE, [self._thread_id], body=given)
        return answer

    async def _look(self, upload_id: str) -> Dict[str, Any]:
        answer: Dict[str, Any] = await self._call(
            operations.THREADS_UPLOADS_GET, [self._thread_id, upload_id])
        return answer

    async def _advance(self, upload: Dict[str, Any]) -> Dict[str, Any]:
        """Sends one more piece, with retries over new connections."""
        offset, failures = upload["offset_bytes"], 0
        while True:
            try:
                piece = self._content.part(offset, self._piece_bytes)
                answer: Dict[str, Any] = await self._call(
                    operations.THREADS_UPLOADS_APPEND, [self._thread_id, upload["id"]],
                    query={"offset": offset}, content=piece,
                    content_type="application/octet-stream")
                return answer
            except CairnError as e:
                if not _can_go_on(e) or failures >= self._max_failures:
                    raise
                failures += 1
                await self._core.carrier.sleep(pause_before(failures))
                now = await self._look(upload["id"])
            if now["offset_bytes"] > offset:
                return now

    async def _send_empty(self) -> Dict[str, Any]:
        condition = self._options
        if self._expected_version is not None:
            version = self._expected_version
            given = Options(if_none_match="*") if version == 0 else Options(if_match=version)
            condition = given.over(self._options)
        answer: Dict[str, Any] = await self._core.call(Call(
            operations.THREADS_FILES_UPLOAD, [self._thread_id, self._name], {}, content=b"",
            content_type=self._content_type, options=condition))
        return answer


def _can_go_on(error: CairnError) -> bool:
    """Includes conflicts with an earlier request of ours that the server has not ended yet."""
    return isinstance(error, Conflict) or heals(error)
