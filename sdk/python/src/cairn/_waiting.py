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
    """Whether what failed this way is worth another try later, however long it takes, by someone
    who looks what is there before."""
    if isinstance(error, ApiError):
        return error.retryable or isinstance(error, OutcomeUnknown)
    if isinstance(error, NotCairn):
        return error.status in PROXY_STATUSES
    return isinstance(error, (ConnectionFailed, TimedOut))


class CutOff(Exception):
    """The handler of a run could not reach the server, which is no fault of the run."""


async def wait_for_run(core: Core, run_id: str, until: Collection[str],
                       timeout: Optional[float], options: Options) -> RunWithMembers:
    """Reads where the log of the thread ends, then the run, then waits for events of the run: a
    change between the two is an event behind that end."""
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
    """For a server that does not answer: little longer than the caller waits."""
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
    """Ends a run that its worker still has, and that nobody has moved meanwhile. An answer that got
    lost is looked for: the run says whether it was done. False when the run is not the worker's.
    An output that is no JSON or over a limit fails the run: it would be so the next time, too."""
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
            members = failure_of(e, "what the handler returned cannot be stored: ")
        except CairnError as e:
            if not heals(e):
                raise
            await core.carrier.sleep(pause_before(min(failures, 6)))
            failures += 1


def failure_of(error: BaseException, why: str = "") -> Dict[str, Any]:
    """The members that fail a run. Cairn takes neither U+0000 nor half of a surrogate pair."""
    text = f"{why}{error}"[:2000].encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return {"status": "failed", "error": {"type": type(error).__name__, "message": text}}


async def give_back(core: Core, run: Any) -> None:
    token = Options(fencing_token=run["fence"], max_retries=1, timeout=5.0)
    try:
        await core.call(Call(operations.RUNS_RELEASE, [run["id"]], {}, options=token))
    except CairnError:
        pass  # its lease ends by itself


async def beat(core: Core, run: Any, lease_ms: int) -> Tuple[bool, bool]:
    """Extends the lease once: (whether it was extended, whether it is lost)."""
    options = Options(fencing_token=run["fence"], timeout=lease_ms / 3000, max_retries=1)
    try:
        await core.call(Call(operations.RUNS_HEARTBEAT, [run["id"]], {}, {"lease_ms": lease_ms},
                             options=options))
        return True, False
    except CairnError as e:
        return False, not heals(e)
