# SPDX-License-Identifier: Apache-2.0
"""Hand-written methods of the resources, for the asyncio client."""
from __future__ import annotations

import asyncio
import os
import socket
import time
from typing import (
    TYPE_CHECKING, Any, Awaitable, Callable, Collection, Dict, Mapping, Optional, Union, cast)

from ._async_calls import AsyncCaller
from ._events import AsyncEventStream
from ._extras import ALL_EVENTS, THREAD_EVENTS, completion_of, log
from ._follow import Follower, OnGap
from ._generated.types import File, Run, RunWithMembers
from ._operation import Options
from ._retry import pause_before
from ._uploading import PIECE_BYTES, Progress, ResumableUpload, Whole, WholeContent
from ._waiting import (
    FINISHED, CutOff, beat, claim, failure_of, give_back, heals, settle, wait_for_run)
from .errors import CairnError, LeaseLost

if TYPE_CHECKING:
    from ._client import AsyncCairn


class AsyncFollowAll:
    _caller: AsyncCaller

    def follow(self, *, after: Optional[Union[str, int]] = None, kind: Optional[str] = None,
               run_id: Optional[str] = None, transport: str = "sse",
               on_gap: Optional[OnGap] = None, principal: Optional[str] = None,
               max_retries: Optional[int] = None,
               headers: Optional[Mapping[str, str]] = None) -> AsyncEventStream:
        """Follow the events of all threads after a cursor, without end.

        The iteration survives lost connections and restarts of the server, and returns every event
        exactly once and in order.
        after: the cursor; default: before the oldest stored event
        transport: "sse", or "websocket"
        on_gap: called when events were pruned before they were read; without it, EventsPruned is
            raised
        max_retries: attempts of the first connection; later reconnects are unlimited
        """
        options = Options(principal=principal, max_retries=max_retries, headers=headers)
        return AsyncEventStream(Follower(self._caller.core, ALL_EVENTS, (), after, kind, run_id,
                                         transport, on_gap, options))


class AsyncFollowThread:
    _caller: AsyncCaller

    def follow(self, thread_id: str, *, after: Optional[Union[str, int]] = None,
               kind: Optional[str] = None, run_id: Optional[str] = None, transport: str = "sse",
               on_gap: Optional[OnGap] = None, principal: Optional[str] = None,
               max_retries: Optional[int] = None,
               headers: Optional[Mapping[str, str]] = None) -> AsyncEventStream:
        """Follow the events of a thread after a cursor, without end.

        The iteration survives lost connections and restarts of the server, and returns every event
        exactly once and in order.
        after: the cursor; default: before the oldest stored event
        transport: "sse", or "websocket"
        on_gap: called when events were pruned before they were read; without it, EventsPruned is
            raised
        max_retries: attempts of the first connection; later reconnects are unlimited
        """
        options = Options(principal=principal, max_retries=max_retries, headers=headers)
        return AsyncEventStream(Follower(self._caller.core, THREAD_EVENTS, (thread_id,), after,
                                         kind, run_id, transport, on_gap, options))


class AsyncResumableUploads:
    _caller: AsyncCaller

    async def upload_resumable(
            self, thread_id: str, name: str, content: Whole, *,
            content_type: Optional[str] = None, expected_version: Optional[int] = None,
            upload_id: Optional[str] = None, piece_bytes: int = PIECE_BYTES,
            on_progress: Optional[Progress] = None, principal: Optional[str] = None,
            timeout: Optional[float] = None, max_retries: Optional[int] = None) -> File:
        """Upload a file in pieces; after an interruption, continue where the server stopped.

        content: bytes, or a file that can seek
        expected_version: the version that the file must have at the end; 0: it must not exist
        upload_id: an earlier upload of the same content
        on_progress: called with the number of uploaded bytes and the total
        """
        options = Options(principal=principal, timeout=timeout, max_retries=max_retries)
        upload = ResumableUpload(
            self._caller.core, thread_id, name, WholeContent(content), content_type,
            expected_version, piece_bytes, on_progress, options)
        return cast(File, await upload.run(upload_id))


class AsyncJob:
    """A claimed run. `client` sends the fencing token with every write. The handler is cancelled
    when the run is lost."""

    def __init__(self, client: "AsyncCairn", run: Run) -> None:
        self.client = client
        self.run = run
        self.id: str = run["id"]
        self.thread_id: str = run["thread_id"]
        self.is_lost = False


class AsyncWaitAndWork:
    _caller: AsyncCaller

    async def wait(self, run_id: str, *, timeout: Optional[float] = None,
                   until: Collection[str] = (*FINISHED, "waiting_for_input"),
                   principal: Optional[str] = None) -> RunWithMembers:
        """Wait until a run has one of these statuses; raise TimedOut if it does not in time.

        timeout: seconds; default: unlimited
        """
        return await wait_for_run(self._caller.core, run_id, until, timeout,
                                  Options(principal=principal))

    async def work(self, handler: Callable[[AsyncJob], Awaitable[Any]], *,
                   worker: Optional[str] = None, agent: Optional[str] = None,
                   thread_id: Optional[str] = None, lease_ms: int = 30000, wait: int = 20,
                   max_runs: Optional[int] = None) -> int:
        """Claim runs and pass them to `handler`, one after another; return their number.

        The return value of the handler becomes the run's `final_output`, and the run is completed;
        an exception fails the run. If the handler changes the status itself (for example to
        waiting_for_input), the run keeps that status. The lease is extended while the handler runs;
        when it is lost, the handler is cancelled. Cancel the task to stop: the current run returns
        to the queue.
        max_runs: stop after this number of runs
        """
        body: Dict[str, Any] = {"worker": worker or f"{socket.gethostname()}:{os.getpid()}",
                                "lease_ms": lease_ms}
        body.update({n: v for n, v in (("agent", agent), ("thread_id", thread_id)) if v})
        done, failures, cut_offs, reached = 0, 0, 0, False
        while max_runs is None or done < max_runs:
            try:
                run = await claim(self._caller.core, body, wait, Options())
                failures, reached = 0, True
            except CairnError as e:
                if not reached or not heals(e):
                    raise
                await asyncio.sleep(pause_before(min(failures, 6)))
                failures += 1
                continue
            if run is not None:
                done += 1
                cut_offs = 0 if await self._work_on(handler, run, lease_ms) else cut_offs + 1
                if cut_offs:  # to avoid a busy loop
                    await asyncio.sleep(pause_before(min(cut_offs, 6)))
        return done

    async def _work_on(self, handler: Callable[[AsyncJob], Awaitable[Any]], run: Run,
                       lease_ms: int) -> bool:
        """Returns False if the run returned to the queue because the server was unreachable."""
        from ._client import AsyncCairn
        core = self._caller.core
        job = AsyncJob(AsyncCairn.of(core.with_defaults(Options(fencing_token=run["fence"]))), run)
        work = asyncio.ensure_future(_outcome(handler, job))
        heart = asyncio.ensure_future(self._beat(job, lease_ms, work))
        try:
            members = await work
            if members is not None:
                await settle(core, run, members)
        except LeaseLost:
            log.warning("the lease of the run %s was lost; another worker continues", job.id)
        except CutOff as e:
            log.warning("the run %s returns to the queue: %s", job.id, e)
            await give_back(core, run)
            return False
        except asyncio.CancelledError:
            if job.is_lost and work.cancelled():
                log.warning("the lease of the run %s was lost; another worker continues", job.id)
                return True
            work.cancel()
            await asyncio.shield(give_back(core, run))
            raise
        except Exception:
            log.exception("the run %s could not be finished; its lease will expire", job.id)
        finally:
            heart.cancel()
        return True

    async def _beat(self, job: AsyncJob, lease_ms: int, work: "asyncio.Future[Any]") -> None:
        lease_s = lease_ms / 1000
        held_until = time.monotonic() + lease_s
        while True:
            await asyncio.sleep(lease_s / 3)
            begun = time.monotonic()
            extended, lost = await beat(self._caller.core, job.run, lease_ms)
            if extended:
                held_until = begun + lease_s
            if lost or time.monotonic() > held_until:
                job.is_lost = True
                work.cancel()
                return


async def _outcome(handler: Callable[[AsyncJob], Awaitable[Any]],
                   job: AsyncJob) -> Optional[Dict[str, Any]]:
    try:
        output = await handler(job)
    except LeaseLost:
        raise
    except CairnError as e:
        if heals(e):
            raise CutOff(str(e)) from e
        log.exception("the run %s failed", job.id)
        return failure_of(e)
    except Exception as e:
        log.exception("the run %s failed", job.id)
        return failure_of(e)
    return completion_of(output)
