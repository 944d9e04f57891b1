"""The bytes of an answer, as they come."""
from __future__ import annotations

from typing import Dict, Optional

from ._carrier import Answer
from ._http1 import ConnectionLost, ProtocolError, Wait
from .errors import ConnectionFailed, TimedOut


class Incoming:
    """`headers` have names in lower case."""

    def __init__(self, answer: Answer, place: str, timeout: float) -> None:
        self._answer = answer
        self._place = place
        self._timeout = timeout
        self.status = answer.status
        self.headers: Dict[str, str] = answer.headers
        self.received = 0

    async def next(self) -> bytes:
        try:
            data = await self._answer.read(Wait(None, self._timeout))
        except TimeoutError as e:
            raise TimedOut(f"nothing more of the download came from {self._place} for "
                           f"{self._timeout:g} s. Ask for the rest with "
                           f"{self._rest()}") from e
        except (OSError, ConnectionLost, ProtocolError) as e:
            raise ConnectionFailed(
                f"the download from {self._place} was cut off ({e}). Ask for the rest with "
                f"{self._rest()}") from e
        self.received += len(data)
        return data

    def _rest(self) -> str:
        return f'headers={{"Range": "bytes={self.received}-"}}'

    def close(self) -> None:
        self._answer.close()


class Described:
    """What the headers of a download say."""

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
        """sha-256=:BASE64: of the whole (RFC 9530)."""
        return self.headers.get("repr-digest")
