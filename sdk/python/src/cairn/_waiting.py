# SPDX-License-Identifier: Apache-2.0
"""Waiting for a run."""
from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Collection, Dict, Optional, Tuple, cast

from ._core import Call, Core
from ._download import DEFAULT_TIMEOUT_S
from ._generated import operations
from ._generated.types import RunWithMembers
from ._operation import Options
from ._retry import PROXY_STATUSES, pause_before
from .errors import (
    ApiError, CairnError, ConnectionFailed, EventsPruned, InvalidInput, NotCairn, NotFound,
    OutcomeUnknown, TimedOut, TooLarge)

FINISHED = ("completed", "failed", "cancelled")
LONGEST_POLL_S = 30


def heals(error: CairnError) -> bool:
    """Returns true if a later retry may succeed, for callers that check the current state first."""
    if isinstance(error, ApiError):
        return error.retryable or isinstance(error, OutcomeUnknown)
    if isinstance(error, NotCairn):
        return error.status in PROXY_STATUSES
    return isinstance(error, (ConnectionFailed, TimedOut))


class CutOff(Exception):
    """The handler could not reach the server, which is not a fault of the run."""


async def wait_for_run(core: Core, run_id: str, until: Collection[str],
                       timeout: Optional[float], options: Options) -> RunWithMembers:
    """Reads the end of the thread's log, then the run, then waits for events of the run. A change
    between the two reads is an event after that end."""
    deadline = None if timeout is None else time.monotonic() + timeout
    run = await _run(core, run_id, options)
    cursor: Optional[str] = None
    failures = 0
    while run["status"] not in until:
        if deadline is not None and time.monotonic() >= deadline:
            raise TimedOut(f"the run {run_id} is {run['status']} after {timeout:g} s")
        try:
            if cursor is None:
                cursor = await _end_of_log(core, run["thread_id"], _within(options, deadline))
            else:
                cursor = await _poll(core, run, cursor, deadline, options)
            run = await _run(core, run_id, _within(options, deadline))
            failures = 0
        except CairnError as e:
            if not heals(e):
                raise
            await core.carrier.sleep(pause_before(min(failures, 6)))
            failures += 1
    return run


def _within(options: Options, deadline: Optional[float]) -> Options:
    """Limits the wait for an unresponsive server to little more than the caller's timeout."""
    if deadline is None:
        return options
    left = max(1.0, deadline - time.monotonic())
    return replace(options, timeout=min(DEFAULT_TIMEOUT_S, left))


async def _run(core: Core, run_id: str, options: Options) -> RunWithMembers:
    call = Call(operations.RUNS_GET, [run_id], {}, options=options)
    return cast(RunWithMembers, await core.call(call))


async def _end_of_log(core: Core, thread_id: str, options: Options) -> str:
    call = Call(operations.THREADS_GET, [thread_id], {}, options=options)
    return str((await core.call(call))["last_seq"])


async def _poll(core: Core, run: RunWithMembers, cursor: str, deadline: Optional[float],
                options: Options) -> str:
    left = LONGEST_POLL_S if deadline is None else deadline - time.monotonic()
    seconds = max(0, min(LONGEST_POLL_S, int(left) + 1))
    query = {"after": cursor, "run_id": run["id"], "wait": seconds, "limit": 1}
    call = Call(operations.THREADS_EVENTS_LIST, [run["thread_id"]], query,
                options=_within(options, deadline))
    try:
        page: Any = await core.call(call)
    except EventsPruned as e:
        return e.resume_cursor
    return str(page["next_cursor"])


async def claim(core: Core, body: Any, wait: int, options: Options) -> Any:
    return await core.call(Call(operations.RUNS_CLAIM, [], {"wait": wait}, body, options=options))


async def settle(core: Core, run: Any, members: Any) -> bool:
    """Finishes a run that its worker still holds and whose status has not changed. After a lost
    response, the run is read to find the outcome. Returns False if the worker no longer holds it.
    An output that is not JSON or exceeds a limit fails the run, because a retry would fail too."""
    failures = 0
    token = Options(fencing_token=run["fence"])
    while True:
        try:
            now = await _run(core, run["id"], Options())
            if now["status"] != "running" or now["fence"] != run["fence"]:
                return False
            await core.call(Call(operations.RUNS_UPDATE, [run["id"]], {}, members, options=token))
            return True
        except NotFound:
            return False
        except (InvalidInput, TooLarge, TypeError, ValueError) as e:
            if members["status"] == "failed":
                raise
            members = failure_of(e, "the return value of the handler cannot be stored: ")
        except CairnError as e:
            if not heals(e):
                raise
            await core.carrier.sleep(pause_before(min(failures, 6)))
            failures += 1


def failure_of(error: BaseException, why: str = "") -> Dict[str, Any]:
    """Returns the update that fails a run, without U+0000 and unpaired surrogates."""
    text = f"{why}{error}"[:2000].encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return {"status": "failed", "error": {"type": type(error).__name__, "message": text}}


async def give_back(core: Core, run: Any) -> None:
    token = Options(fencing_token=run["fence"], max_retries=1, timeout=5.0)
    try:
        await core.call(Call(operations.RUNS_RELEASE, [run["id"]], {}, options=token))
    except CairnError:
        pass  # its lease will expire


async def beat(core: Core, run: Any, lease_ms: int) -> Tuple[bool, bool]:
    """Extends the lease once; returns (was_extended, is_lost)."""
    options = Options(fencing_token=run["fence"], timeout=lease_ms / 3000, max_retries=1)
    try:
        await core.call(Call(operations.RUNS_HEARTBEAT, [run["id"]], {}, {"lease_ms": lease_ms},
                             options=options))
        return True, False
    except CairnError as e:
        return False, not heals(e)
