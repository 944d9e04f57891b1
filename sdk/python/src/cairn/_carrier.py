# SPDX-License-Identifier: Apache-2.0
"""The transport of requests: HTTP (`_http`), or libcairn inside the process (`embedded`)."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Protocol, Tuple

from ._content import Source
from ._http1 import Wait


@dataclass
class Request:
    method: str
    target: str
    headers: List[Tuple[str, str]] = field(repr=False)  # including the key
    source: Optional[Source] = None
    # True if the request may be repeated when its outcome is unknown.
    is_repeatable: bool = True


class Interrupted(Exception):
    """There was no response. `was_sent`: the request may have been performed."""

    def __init__(self, cause: BaseException, was_sent: bool, may_heal: bool = True) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.was_sent = was_sent
        self.may_heal = may_heal
        self.timed_out = isinstance(cause, TimeoutError)


class Answer(Protocol):
    status: int
    headers: Dict[str, str]

    async def read(self, wait: Wait) -> bytes:
        """Returns some bytes of the body; b"" at the end."""

    def close(self) -> None:
        """Returns the connection to the pool if the body was read completely; else closes it."""


@dataclass
class Signal:
    """A message of a subscription. `kind`: event, gap, or closed (the last one). The cursor of
    `closed` is after all events that were read, including those that a filter excluded."""

    kind: str
    data: str
    cursor: str = ""


class Subscription(Protocol):
    async def next(self) -> Optional[Signal]:
        """Returns the next message; None if the connection ended without one."""

    def close(self) -> None: ...


class Carrier(Protocol):
    place: str  # a URL, for messages
    part_bytes: Optional[int]  # maximum size of one part of a download; None: unlimited

    async def exchange(self, request: Request, wait: Wait) -> Answer: ...

    async def subscribe(self, target: str, headers: List[Tuple[str, str]], transport: str,
                        wait: Wait) -> "Tuple[Optional[Subscription], Optional[Answer]]":
        """Returns a subscription, or the error response."""

    async def sleep(self, seconds: float) -> None: ...

    def close(self) -> None: ...


async def read_all(answer: Answer, wait: Wait) -> bytes:
    pieces: List[bytes] = []
    while True:
        piece = await answer.read(wait)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
