# SPDX-License-Identifier: Apache-2.0
"""Follows events in one iteration that survives its connections and restarts of the server.

The cursor is that of the last returned event. A new connection requests the events after it; the
server sends each event once and in order, so no event is lost or duplicated.
"""
from __future__ import annotations

import json
import time
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from ._carrier import Interrupted, Signal, Subscription
from ._core import Core, connection_failed
from ._generated.types import Event
from ._http1 import Wait
from ._operation import UNSET, Operation, Options, header_pairs, path_of, query_of
from ._retry import DEFAULT_RETRIES, PROXY_STATUSES, pause_before
from .errors import Aborted, ApiError, CairnError, EventsPruned, NotCairn

OnGap = Callable[[Dict[str, Any]], Any]
CONNECT_S = 15.0
TRANSPORTS = ("sse", "websocket")


class Follower:
    """`is_tenant_wide`: cursors are event ids, otherwise numbers in the thread."""

    def __init__(self, core: Core, operations: Mapping[str, Operation],
                 path: Tuple[str, ...], after: Optional[Union[str, int]], kind: Optional[str],
                 run_id: Optional[str], transport: str, on_gap: Optional[OnGap],
                 options: Options) -> None:
        if transport not in TRANSPORTS:
            raise ValueError('transport must be "sse" or "websocket"')
        self._core = core
        self._operation = operations[transport]
        self._path = path
        self._transport = transport
        self._filter = {"kind": kind, "run_id": run_id}
        self._on_gap = on_gap
        self._options = options.over(core.defaults)
        self._is_tenant_wide = not path
        self._reported_gap = 0
        self._failures = 0
        self._was_connected = False
        self._is_closed = False
        self._subscription: Optional[Subscription] = None
        self._clean_ends: List[float] = []
        self.cursor: Optional[str] = None if after is None else str(after)

    async def next(self) -> Event:
        """Waits for the next event and returns it."""
        try:
            while True:
                signal = await self._signal()
                if signal.kind == "event":
                    return self._accept(signal)
                if signal.kind == "gap":
                    self._meet_gap(json.loads(signal.data))
        except BaseException:
            self._disconnect()
            raise

    def close(self) -> None:
        """May be called from another thread than the waiting one."""
        self._is_closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            subscription.close()

    async def _signal(self) -> Signal:
        while True:
            if self._is_closed:
                raise Aborted("the stream of events is closed")
            subscription = self._subscription
            if subscription is None:
                self._subscription = await self._connect()
                continue  # it may have been closed in the meantime
            signal = await subscription.next()
            if signal is not None and signal.kind != "closed":
                self._failures = 0
                return signal
            self._disconnect()
            if signal is not None and signal.cursor:
                self.cursor = signal.cursor
            await self._rest(is_clean=signal is not None)

    async def _rest(self, is_clean: bool) -> None:
        """Reconnects immediately after an orderly end, unless such ends repeat."""
        now = time.monotonic()
        self._clean_ends = [t for t in self._clean_ends if now - t < 5.0] + [now]
        if self._is_closed or (is_clean and len(self._clean_ends) <= 3):
            return
        await self._pause(None)

    async def _pause(self, retry_after: Optional[float]) -> None:
        pause = pause_before(min(self._failures, 6), retry_after)
        self._failures += 1
        await self._core.carrier.sleep(pause)

    async def _connect(self) -> Optional[Subscription]:
        """Returns None after a temporary failure, when it is time to retry."""
        headers = [*self._core.own_headers(), *header_pairs(self._operation, self._options)]
        after = UNSET if self.cursor is None else self.cursor
        target = path_of(self._operation.path, self._path) + query_of(
            {"after": after, **self._filter})
        try:
            subscription, refusal = await self._core.carrier.subscribe(
                target, headers, self._transport, Wait(time.monotonic() + CONNECT_S))
        except (Interrupted, TimeoutError) as e:
            interrupted = e if isinstance(e, Interrupted) else Interrupted(e, False)
            await self._try_later(connection_failed(self._core.carrier.place, interrupted),
                                  interrupted.may_heal)
            return None
        if refusal is not None:
            error = await self._core.refusal(refusal)
            await self._try_later(error, may_heal(error))
            return None
        self._was_connected = True
        return subscription

    async def _try_later(self, error: CairnError, heals: bool) -> None:
        """Retries are limited before the first connection, and unlimited afterwards."""
        retries = self._options.max_retries
        most = DEFAULT_RETRIES if retries is None else retries
        if not heals or (not self._was_connected and self._failures >= most):
            raise error
        await self._pause(error.retry_after if isinstance(error, ApiError) else None)

    def _accept(self, signal: Signal) -> Event:
        event: Event = json.loads(signal.data)
        self.cursor = signal.cursor or self._cursor_of(event)
        return event

    def _cursor_of(self, event: Event) -> str:
        """Over WebSocket, only gaps contain a cursor."""
        if not self._is_tenant_wide:
            return str(event["seq"])
        gap = f"~{self._reported_gap}" if self._reported_gap > event["id"] else ""
        return f"{event['id']}{gap}"

    def _meet_gap(self, gap: Dict[str, Any]) -> None:
        resume = str(gap["cursor"])
        if self._on_gap is None:
            raise EventsPruned({
                "status": 410, "code": "events_pruned", "resume_cursor": resume,
                "pruned_through": gap["pruned_through"],
                "detail": f"events up to {gap['pruned_through']} were pruned before they were "
                          "read"})
        self._reported_gap = int(gap["pruned_through"])
        self.cursor = resume
        self._on_gap(gap)


def may_heal(error: CairnError) -> bool:
    if isinstance(error, NotCairn):
        return error.status in PROXY_STATUSES
    return isinstance(error, ApiError) and (error.retryable or error.status >= 500) \
        and error.code != "data_damaged"
