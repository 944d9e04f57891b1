# SPDX-License-Identifier: Apache-2.0
"""Network streams for blocking calls."""
from __future__ import annotations

import os
import socket
import ssl
import time
from typing import Optional

from ._network import READ_BYTES, Origin, is_readable, refuse_own_end


class BlockingStream:
    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._process = os.getpid()

    async def send(self, data: bytes, timeout: Optional[float]) -> None:
        self._socket.settimeout(timeout)
        try:
            self._socket.sendall(data)
        except socket.timeout as e:
            raise TimeoutError("timed out") from e

    async def receive(self, timeout: Optional[float]) -> bytes:
        self._socket.settimeout(timeout)
        try:
            return self._socket.recv(READ_BYTES)
        except socket.timeout as e:  # TimeoutError itself from Python 3.10 on
            raise TimeoutError("timed out") from e

    def is_stale(self) -> bool:
        try:
            if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
                return True
            return is_readable(self._socket.fileno())
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        """Also wakes a thread that waits for bytes. A child of fork closes only its own copy."""
        try:
            if self._process == os.getpid():
                self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()


class BlockingNetwork:
    async def connect(self, origin: Origin, context: Optional[ssl.SSLContext],
                      timeout: Optional[float]) -> BlockingStream:
        try:
            sock = socket.create_connection((origin.host, origin.port), timeout)
        except socket.timeout as e:
            raise TimeoutError("timed out") from e
        try:
            refuse_own_end(sock.getsockname(), sock.getpeername())
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                sock = context.wrap_socket(sock, server_hostname=origin.host)
        except BaseException:
            sock.close()
            raise
        return BlockingStream(sock)

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
