# SPDX-License-Identifier: Apache-2.0
"""Hand-written methods of the resources, for the blocking client."""
from __future__ import annotations

import logging
import os
import socket
import threading
import time
from typing import (
    TYPE_CHECKING, Any, Callable, Collection, Dict, Mapping, Optional, Union, cast)

from ._calls import Caller
from ._events import EventStream
from ._follow import Follower, OnGap
from ._generated import operations
from ._generated.types import File, Run, RunWithMembers
from ._network import run_now
from ._operation import Options
from ._retry import pause_before
from ._uploading import PIECE_BYTES, Progress, ResumableUpload, Whole, WholeContent
from ._waiting import (
    FINISHED, CutOff, beat, claim, failure_of, give_back, heals, settle, wait_for_run)
from .errors import CairnError, LeaseLost

if TYPE_CHECKING:
    from ._client import Cairn

log = logging.getLogger("cairn")

ALL_EVENTS = {"sse": operations.EVENTS_SSE, "websocket": operations.EVENTS_WEBSOCKET}
THREAD_EVENTS = {"sse": operations.THREADS_EVENTS_SSE,
                 "websocket": operations.THREADS_EVENTS_WEBSOCKET}


class FollowAll:
    _caller: Caller

    def follow(self, *, after: Optional[Union[str, int]] = None, kind: Optional[str] = None,
               run_id: Optional[str] = None, transport: str = "sse",
               on_gap: Optional[OnGap] = None, principal: Optional[str] = None,
               max_retries: Optional[int] = None,
               headers: Optional[Mapping[str, str]] = None) -> EventStream:
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
        return EventStream(Follower(self._caller.core, ALL_EVENTS, (), after, kind, run_id,
                                    transport, on_gap, options))


class FollowThread:
    _caller: Caller

    def follow(self, thread_id: str, *, after: Optional[Union[str, int]] = None,
               kind: Optional[str] = None, run_id: Optional[str] = None, transport: str = "sse",
               on_gap: Optional[OnGap] = None, principal: Optional[str] = None,
               max_retries: Optional[int] = None,
               headers: Optional[Mapping[str, str]] = None) -> EventStream:
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
        return EventStream(Follower(self._caller.core, THREAD_EVENTS, (thread_id,), after, kind,
                                    run_id, transport, on_gap, options))


class ResumableUploads:
    _caller: Caller

    def upload_resumable(
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
        return cast(File, run_now(upload.run(upload_id)))


class Job:
    """A claimed run. `client` sends the fencing token with every write."""

    def __init__(self, client: "Cairn", run: Run) -> None:
        self.client = client
        self.run = run
        self.id: str = run["id"]
        self.thread_id: str = run["thread_id"]
        self._lost = threading.Event()

    @property
    def is_lost(self) -> bool:
        """True if another worker may have claimed the run, or its status changed: stop working."""
        return self._lost.is_set()

    def check(self) -> None:
        """Raises LeaseLost if the run is lost."""
        if self.is_lost:
            raise LeaseLost({"status": 409, "code": "lease_lost",
                             "detail": f"the lease of the run {self.id} is lost"})

    def mark_lost(self) -> None:
        self._lost.set()


class Heart:
    """Extends the lease of a job in a separate thread while the handler runs."""

    def __init__(self, caller: Caller, job: Job, lease_ms: int) -> None:
        self._caller, self._job, self._lease_ms = caller, job, lease_ms
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cairn-heartbeat", daemon=True)

    def _run(self) -> None:
        lease_s = self._lease_ms / 1000
        held_until = time.monotonic() + lease_s
        while not self._stopped.wait(lease_s / 3):
            begun = time.monotonic()
            extended, lost = run_now(beat(self._caller.core, self._job.run, self._lease_ms))
            if extended:
                held_until = begun + lease_s
            if lost or time.monotonic() > held_until:
                self._job.mark_lost()
                return

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()


class WaitAndWork:
    _caller: Caller

    def wait(self, run_id: str, *, timeout: Optional[float] = None,
             until: Collection[str] = (*FINISHED, "waiting_for_input"),
             principal: Optional[str] = None) -> RunWithMembers:
        """Wait until a run has one of these statuses; raise TimedOut if it does not in time.

        timeout: seconds; default: unlimited
        """
        return run_now(wait_for_run(self._caller.core, run_id, until, timeout,
                                    Options(principal=principal)))

    def work(self, handler: Callable[[Job], Any], *, worker: Optional[str] = None,
             agent: Optional[str] = None, thread_id: Optional[str] = None, lease_ms: int = 30000,
             wait: int = 20, stop: Optional[threading.Event] = None,
             max_runs: Optional[int] = None) -> int:
        """Claim runs and pass them to `handler`, one after another; return their number.

        The return value of the handler becomes the run's `final_output`, and the run is completed;
        an exception fails the run, unless the server was unreachable: then the run returns to the
        queue. If the handler changes the status itself (for example to waiting_for_input), the run
        keeps that status. The lease is extended while the handler runs.
        stop: an Event that stops the worker before the next claim, which takes up to `wait` seconds
        max_runs: stop after this number of runs
        """
        body: Dict[str, Any] = {"worker": worker or f"{socket.gethostname()}:{os.getpid()}",
                                "lease_ms": lease_ms}
        body.update({n: v for n, v in (("agent", agent), ("thread_id", thread_id)) if v})
        done, failures, cut_offs, reached = 0, 0, 0, False
        while not (stop and stop.is_set()) and (max_runs is None or done < max_runs):
            try:
                run = run_now(claim(self._caller.core, body, wait, Options()))
                failures, reached = 0, True
            except CairnError as e:
                if not reached or not heals(e):
                    raise
                time.sleep(pause_before(min(failures, 6)))
                failures += 1
                continue
            if run is not None:
                done += 1
                cut_offs = 0 if self._work_on(handler, run, lease_ms) else cut_offs + 1
                if cut_offs:  # to avoid a busy loop
                    time.sleep(pause_before(min(cut_offs, 6)))
        return done

    def _work_on(self, handler: Callable[[Job], Any], run: Run, lease_ms: int) -> bool:
        """Returns False if the run returned to the queue because the server was unreachable."""
        from ._client import Cairn
        core = self._caller.core
        job = Job(Cairn.of(core.with_defaults(Options(fencing_token=run["fence"]))), run)
        try:
            with Heart(self._caller, job, lease_ms):
                members = _outcome(handler, job)
                if members is not None:
                    run_now(settle(core, run, members))
        except LeaseLost:
            log.warning("the lease of the run %s was lost; another worker continues", job.id)
        except CutOff as e:
            log.warning("the run %s returns to the queue: %s", job.id, e)
            run_now(give_back(core, run))
            return False
        except Exception:
            log.exception("the run %s could not be finished; its lease will expire", job.id)
        except BaseException:
            run_now(give_back(core, run))
            raise
        return True


def _outcome(handler: Callable[[Job], Any], job: Job) -> Optional[Dict[str, Any]]:
    """Returns the final update of the run; None if the worker must not finish it."""
    try:
        output = handler(job)
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


def completion_of(output: Any) -> Dict[str, Any]:
    members: Dict[str, Any] = {"status": "completed"}
    if output is not None:
        members["final_output"] = output
    return members
