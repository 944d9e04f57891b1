# SPDX-License-Identifier: Apache-2.0
"""The clients."""
from __future__ import annotations

import ssl
from types import TracebackType
from typing import Mapping, Optional, Type

from ._async_calls import AsyncCaller
from ._asyncio import AsyncNetwork
from ._blocking import BlockingNetwork
from ._calls import Caller
from ._core import Core
from ._generated.async_resources import AsyncRoot
from ._generated.resources import Root
from ._http import HttpCarrier
from ._network import Network
from ._operation import Options
from ._place import context_of, key_of, origin_of


def _http_core(network: Network, base_url: Optional[str], api_key: Optional[str],
               ssl_context: Optional[ssl.SSLContext], defaults: Options, may_await: bool) -> Core:
    origin, prefix = origin_of(base_url)
    carrier = HttpCarrier(network, origin, prefix, context_of(origin, ssl_context))
    return Core(carrier, key_of(api_key), defaults, may_await)


class Cairn(Root):
    """A blocking client. Threads may share it; connections are reused.

    base_url: CAIRN_URL, or http://127.0.0.1:7420
    api_key: CAIRN_API_KEY, or the content of the file CAIRN_API_KEY_FILE
    timeout: seconds for a whole call with its retries, 60; for content, without progress
    max_retries: attempts after the first, 4
    principal: the principal of every request, such as user:alice
    """

    def __init__(self, base_url: Optional[str] = None, api_key: Optional[str] = None, *,
                 timeout: Optional[float] = None, max_retries: Optional[int] = None,
                 principal: Optional[str] = None, headers: Optional[Mapping[str, str]] = None,
                 ssl_context: Optional[ssl.SSLContext] = None) -> None:
        defaults = Options(timeout=timeout, max_retries=max_retries, principal=principal,
                           headers=headers)
        super().__init__(Caller(_http_core(
            BlockingNetwork(), base_url, api_key, ssl_context, defaults, False)))

    @classmethod
    def of(cls, core: Core) -> "Cairn":
        """Returns a client with another carrier."""
        client = cls.__new__(cls)
        Root.__init__(client, Caller(core))
        return client

    def with_options(self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
                     principal: Optional[str] = None, consistency: Optional[str] = None,
                     fencing_token: Optional[int] = None,
                     headers: Optional[Mapping[str, str]] = None) -> "Cairn":
        """Returns a client with these defaults, which shares the connections of this one."""
        return Cairn.of(self._caller.core.with_defaults(Options(
            timeout=timeout, max_retries=max_retries, principal=principal,
            consistency=consistency, fencing_token=fencing_token, headers=headers)))

    def close(self) -> None:
        self._caller.core.carrier.close()

    def __enter__(self) -> "Cairn":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Cairn at {self._caller.core.carrier.place}>"


class AsyncCairn(AsyncRoot):
    """A client for asyncio. Its arguments are those of Cairn."""

    def __init__(self, base_url: Optional[str] = None, api_key: Optional[str] = None, *,
                 timeout: Optional[float] = None, max_retries: Optional[int] = None,
                 principal: Optional[str] = None, headers: Optional[Mapping[str, str]] = None,
                 ssl_context: Optional[ssl.SSLContext] = None) -> None:
        defaults = Options(timeout=timeout, max_retries=max_retries, principal=principal,
                           headers=headers)
        super().__init__(AsyncCaller(_http_core(
            AsyncNetwork(), base_url, api_key, ssl_context, defaults, True)))

    @classmethod
    def of(cls, core: Core) -> "AsyncCairn":
        """Returns a client with another carrier."""
        client = cls.__new__(cls)
        AsyncRoot.__init__(client, AsyncCaller(core))
        return client

    def with_options(self, *, timeout: Optional[float] = None, max_retries: Optional[int] = None,
                     principal: Optional[str] = None, consistency: Optional[str] = None,
                     fencing_token: Optional[int] = None,
                     headers: Optional[Mapping[str, str]] = None) -> "AsyncCairn":
        """Returns a client with these defaults, which shares the connections of this one."""
        return AsyncCairn.of(self._caller.core.with_defaults(Options(
            timeout=timeout, max_retries=max_retries, principal=principal,
            consistency=consistency, fencing_token=fencing_token, headers=headers)))

    async def aclose(self) -> None:
        self._caller.core.carrier.close()

    async def __aenter__(self) -> "AsyncCairn":
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<AsyncCairn at {self._caller.core.carrier.place}>"
