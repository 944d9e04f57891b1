# SPDX-License-Identifier: Apache-2.0
"""The network interface of the client.

The client is written once, as coroutines. With `_blocking` they never suspend: `run_now` runs one
to its end within the call. With `_asyncio` they are awaited as usual.
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
    """The address of a server."""

    host: str
    port: int
    tls: bool

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        usual = self.port == (443 if self.tls else 80)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if usual else f"{host}:{self.port}"


def refuse_own_end(local: object, remote: object) -> None:
    """Detects a TCP self-connection, which can happen on a local port without a listener."""
    if local == remote:
        raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")


def is_readable(descriptor: int) -> bool:
    """An idle connection receives no data, so a readable one has ended."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class Stream(Protocol):
    """A connection. Times are seconds; raises TimeoutError, or OSError if it breaks."""

    async def send(self, data: bytes, timeout: Optional[float]) -> None: ...

    async def receive(self, timeout: Optional[float]) -> bytes:
        """Returns some bytes; b"" at the end."""

    def is_stale(self) -> bool:
        """Returns true if an idle connection has ended, or its event loop no longer exists."""

    def close(self) -> None:
        """In a child of fork: closes the copy without ending the connection of the parent."""


class Network(Protocol):
    async def connect(self, origin: Origin, context: Optional[ssl.SSLContext],
                      timeout: Optional[float]) -> Stream: ...

    async def sleep(self, seconds: float) -> None: ...


def run_now(steps: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine that never suspends."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("a blocking call was suspended")
