# SPDX-License-Identifier: Apache-2.0
"""What carries requests to Cairn: HTTP (`_http`), or libcairn inside the process (`embedded`)."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Protocol, Tuple

from ._content import Source
from ._http1 import Wait


@dataclass
class Request:
    method: str
    target: str
    headers: List[Tuple[str, str]] = field(repr=False)  # one is the key
    source: Optional[Source] = None
    # Whether it may be sent again when nobody knows what became of it.
    is_repeatable: bool = True


class Interrupted(Exception):
    """There was no answer. `was_sent`: the request may have been carried out."""

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
        """Some bytes of the body; b"" behind the last."""

    def close(self) -> None:
        """Gives the connection back if the body was read to its end, and ends it if not."""


@dataclass
class Signal:
    """What comes of a subscription. `kind`: event, gap, or closed, which is the last. The cursor of
    the latter is behind all that was read, also what a filter left out."""

    kind: str
    data: str
    cursor: str = ""


class Subscription(Protocol):
    async def next(self) -> Optional[Signal]:
        """The next one; None when the connection just ended."""

    def close(self) -> None: ...


class Carrier(Protocol):
    place: str  # a URL, for messages
    part_bytes: Optional[int]  # of which size downloads are asked for at most; None: whole

    async def exchange(self, request: Request, wait: Wait) -> Answer: ...

    async def subscribe(self, target: str, headers: List[Tuple[str, str]], transport: str,
                        wait: Wait) -> "Tuple[Optional[Subscription], Optional[Answer]]":
        """A subscription, or the answer that refuses it."""

    async def sleep(self, seconds: float) -> None: ...

    def close(self) -> None: ...


async def read_all(answer: Answer, wait: Wait) -> bytes:
    pieces: List[bytes] = []
    while True:
        piece = await answer.read(wait)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
