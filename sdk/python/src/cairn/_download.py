# SPDX-License-Identifier: Apache-2.0
"""Downloads, read as they arrive."""
from __future__ import annotations

import base64
import hashlib
import re
from typing import Awaitable, Callable, Dict, Optional

from ._carrier import Answer, Carrier
from ._http1 import ConnectionLost, ProtocolError, Wait
from ._operation import Options
from ._retry import DEFAULT_RETRIES, pause_before
from .errors import CairnError, ConnectionFailed, DataDamaged, TimedOut

DEFAULT_TIMEOUT_S = 60.0
# Requests the bytes after an offset, if the content still has this ETag.
GoOn = Callable[[int, str], Awaitable[Answer]]


class Incoming:
    """Continues after a broken connection if the route supports ranges. Complete content is
    compared with the SHA-256 from the server. Names in `headers` are lower case."""

    def __init__(self, answer: Answer, go_on: Optional[GoOn], carrier: Carrier,
                 options: Options) -> None:
        self._answer = answer
        self._go_on = go_on
        self._carrier = carrier
        self._timeout = DEFAULT_TIMEOUT_S if options.timeout is None else options.timeout
        retries = options.max_retries
        self._max_retries = DEFAULT_RETRIES if retries is None else retries
        self._failures = 0
        self._is_closed = False
        self._digest = hashlib.sha256()
        self.status = answer.status
        self.headers: Dict[str, str] = dict(answer.headers)
        self.received = 0
        self._whole = self._whole_size()

    def _whole_size(self) -> Optional[int]:
        """For a download in parts: the headers of the complete content."""
        found = re.match(r"bytes 0-\d+/(\d+)$", self.headers.get("content-range", ""))
        if self._go_on is None or self.status != 206 or found is None:
            return None
        self.status = 200
        del self.headers["content-range"]
        self.headers["content-length"] = found[1]
        return int(found[1])

    async def next(self) -> bytes:
        while True:
            try:
                data = await self._answer.read(Wait(None, self._timeout))
            except (OSError, ConnectionLost, ProtocolError) as e:
                await self._resume(e)
                continue
            if data:
                self._failures = 0
                self.received += len(data)
                self._digest.update(data)
                return data
            if self._whole is None or self.received >= self._whole or self._is_closed:
                self._check()
                return b""
            await self._continue()

    async def _resume(self, error: Exception) -> None:
        if self._go_on is None or self.etag is None or self._failures >= self._max_retries:
            raise self._broken(error) from error
        self._failures += 1
        await self._carrier.sleep(pause_before(self._failures))
        await self._continue()

    async def _continue(self) -> None:
        assert self._go_on is not None
        answer = await self._go_on(self.received, self.etag or "")
        if answer.status != 206:
            answer.close()
            raise ConnectionFailed("the download was interrupted, and the file has changed since. "
                                   "Begin anew")
        self._answer = answer

    def _broken(self, error: Exception) -> CairnError:
        rest = f'Request the rest with headers={{"Range": "bytes={self.received}-"}}'
        if isinstance(error, TimeoutError):
            return TimedOut(f"the download from {self._carrier.place} made no progress for "
                            f"{self._timeout:g} s. {rest}")
        return ConnectionFailed(
            f"the download from {self._carrier.place} was interrupted ({error}). {rest}")

    @property
    def etag(self) -> Optional[str]:
        return self.headers.get("etag")

    def _check(self) -> None:
        found = re.search(r"sha-256=:([^:]+):", self.headers.get("repr-digest", ""))
        if self.status != 200 or found is None or self._is_closed:
            return
        if base64.b64decode(found[1]) != self._digest.digest():
            raise DataDamaged({"status": 200, "code": "data_damaged", "detail": (
                "the received bytes do not match the SHA-256 from the server")})

    def close(self) -> None:
        self._is_closed = True
        self._answer.close()


class Described:
    """Properties from the headers of a download."""

    def __init__(self, incoming: Incoming) -> None:
        self._incoming = incoming
        self.status = incoming.status
        self.headers = incoming.headers

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "application/octet-stream")

    @property
    def content_length(self) -> Optional[int]:
        length = self.headers.get("content-length")
        return int(length) if length is not None else None

    @property
    def etag(self) -> Optional[str]:
        return self.headers.get("etag")

    @property
    def digest(self) -> Optional[str]:
        """sha-256=:BASE64: of the complete content (RFC 9530)."""
        return self.headers.get("repr-digest")
