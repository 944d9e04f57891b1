# SPDX-License-Identifier: Apache-2.0
"""What the resources offer beside the operations of the API, for callers that await."""
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
        """The events of all threads after a cursor, and then those to come, without end.

        It survives lost connections and restarts of the server: every event comes once, in order.
        after: the cursor; without one, from the oldest event that is kept
        transport: "sse", or "websocket"
        on_gap: is told of events that were pruned before they were read; without it EventsPruned
            is raised
        max_retries: how often the first connection is tried; later ones are without limit
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
        """The events of a thread after a cursor, and then those to come, without end.

        It survives lost connections and restarts of the server: every event comes once, in order.
        after: the cursor; without one, from the oldest event that is kept
        transport: "sse", or "websocket"
        on_gap: is told of events that were pruned before they were read; without it EventsPruned
            is raised
        max_retries: how often the first connection is tried; later ones are without limit
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
        """Upload a file in pieces; after an interruption it goes on where the server stands.

        content: bytes, or a file that can seek
        expected_version: what the file's version must be when it is complete; 0: no file is there
        upload_id: an upload of the same content that was begun before
        on_progress: is called with the bytes that are there, and with all
        """
        options = Options(principal=principal, timeout=timeout, max_retries=max_retries)
        upload = ResumableUpload(
            self._caller.core, thread_id, name, WholeContent(content), content_type,
            expected_version, piece_bytes, on_progress, options)
        return cast(File, await upload.run(upload_id))


class AsyncJob:
    """A run that was claimed. `client` sends its fencing token with every write that takes one.
    The handler is cancelled when the run is lost."""

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
        """Wait until a run has one of these statuses; TimedOut when it does not in time.

        timeout: seconds; without it, as long as it takes
        """
        return await wait_for_run(self._caller.core, run_id, until, timeout,
                                  Options(principal=principal))

    async def work(self, handler: Callable[[AsyncJob], Awaitable[Any]], *,
                   worker: Optional[str] = None, agent: Optional[str] = None,
                   thread_id: Optional[str] = None, lease_ms: int = 30000, wait: int = 20,
                   max_runs: Optional[int] = None) -> int:
        """Claim runs and hand them to `handler`, one after the other; how many there were.

        What the handler returns becomes the run's `final_output`, and the run is completed; what it
        raises fails the run. A run that the handler has moved itself (to waiting_for_input …) is
        left alone. The lease is extended while the handler runs; when it is lost, the handler is
        cancelled. Cancel the task to end the work: a run that is under way goes back to the queue.
        max_runs: end after so many runs
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
                if cut_offs:  # or it would go round and round
                    await asyncio.sleep(pause_before(min(cut_offs, 6)))
        return done

    async def _work_on(self, handler: Callable[[AsyncJob], Awaitable[Any]], run: Run,
                       lease_ms: int) -> bool:
        """False when the run went back to the queue, for the server could not be reached."""
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
            log.warning("the lease of the run %s was lost; another worker goes on", job.id)
        except CutOff as e:
            log.warning("the run %s goes back to the queue: %s", job.id, e)
            await give_back(core, run)
            return False
        except asyncio.CancelledError:
            if job.is_lost and work.cancelled():
                log.warning("the lease of the run %s was lost; another worker goes on", job.id)
                return True
            work.cancel()
            await asyncio.shield(give_back(core, run))
            raise
        except Exception:
            log.exception("the run %s could not be settled; its lease ends by itself", job.id)
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
