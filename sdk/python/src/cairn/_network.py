# SPDX-License-Identifier: Apache-2.0
"""What the client needs of a network, and of a program that waits.

The client is written once, as coroutines. Over `_blocking` they never suspend: `run_now` carries
one out to its end within the call. Over `_asyncio` they are awaited as usual.
"""
from __future__ import annotations

import errno
import select
import ssl
from dataclasses import dataclass
from typing import Any, Coroutine, Optional, Protocol, TypeVar

T = TypeVar("T")

READ_BYTES = 65536


@dataclass(frozen=True)
class Origin:
    """Where a server is."""

    host: str
    port: int
    tls: bool

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def authority(self) -> str:
        """As the header Host has it."""
        usual = self.port == (443 if self.tls else 80)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if usual else f"{host}:{self.port}"


def refuse_own_end(local: object, remote: object) -> None:
    """Where nothing listens on a port of this machine, a connection can meet itself."""
    if local == remote:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


def is_readable(descriptor: int) -> bool:
    """An idle connection has nothing to say: what can be read is its end."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class Stream(Protocol):
    """A connection. Times are seconds; TimeoutError when one is over, OSError when it breaks."""

    async def send(self, data: bytes, timeout: Optional[float]) -> None: ...

    async def receive(self, timeout: Optional[float]) -> bytes:
        """Some bytes; b"" when there will be no more."""

    def is_stale(self) -> bool:
        """Whether an idle connection was ended, or belongs to an event loop that is gone."""

    def close(self) -> None:
        """In a child of fork: lets go of it, and leaves it to the parent."""


class Network(Protocol):
    async def connect(self, origin: Origin, context: Optional[ssl.SSLContext],
                      timeout: Optional[float]) -> Stream: ...

    async def sleep(self, seconds: float) -> None: ...


def run_now(steps: Coroutine[Any, Any, T]) -> T:
    """Carries out what never suspends."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("a call that blocks was suspended")
