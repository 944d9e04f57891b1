# SPDX-License-Identifier: Apache-2.0
"""Processes a call from its arguments to its response: headers, retries, errors. Shared by both
clients and all carriers."""
from __future__ import annotations

import json
import time
import uuid
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._carrier import Answer, Carrier, Interrupted, Request, read_all
from ._content import BytesSource, Source, source_of
from ._download import DEFAULT_TIMEOUT_S, Incoming
from ._generated.operations import API_VERSION
from ._http1 import ConnectionLost, ProtocolError, Wait
from ._operation import (
    AsyncContent, Operation, Options, Unset, body_of, header_pairs, json_bytes, path_of, query_of)
from ._retry import DEFAULT_RETRIES, is_repeatable, may_succeed_later, pause_before
from .errors import (
    ApiError, CairnError, ConnectionFailed, NotCairn, NotFound, NotModified, OutcomeUnknown,
    TimedOut, VersionMismatch, api_error)

MAX_PROBLEM_BYTES = 1024 * 1024


@dataclass(frozen=True)
class Call:
    """An operation with its arguments."""

    operation: Operation
    path: Sequence[Union[str, int]]
    query: Mapping[str, Any]
    body: Optional[Mapping[str, Any]] = None
    json_patch: Optional[Sequence[Mapping[str, Any]]] = None
    content: Optional[AsyncContent] = None
    content_type: Optional[str] = None
    options: Options = Options()

    def with_query(self, more: Mapping[str, Any]) -> "Call":
        return replace(self, query={**self.query, **more})


class Attempts:
    """The retry budget of one call."""

    def __init__(self, call: Call, options: Options) -> None:
        retries = options.max_retries
        self.max_retries = DEFAULT_RETRIES if retries is None else retries
        self.timeout = DEFAULT_TIMEOUT_S if options.timeout is None else options.timeout
        held = call.query.get("wait")
        held_s = float(held) if held and not isinstance(held, Unset) else 0.0
        self.deadline = time.monotonic() + self.timeout + held_s
        # A body may take any time; only a lack of progress is a failure.
        streams = call.operation.body == "bytes" or call.operation.answer == "bytes"
        self.wait = Wait(None, self.timeout) if streams else Wait(self.deadline)
        self.streams = streams
        self.done = 0
        self.was_sent = False

    def has_time_for(self, pause: float) -> bool:
        return self.streams or time.monotonic() + pause < self.deadline

    def is_over(self) -> bool:
        return not self.streams and time.monotonic() >= self.deadline


class Core:
    def __init__(self, carrier: Carrier, api_key: Optional[str], defaults: Options,
                 may_await: bool) -> None:
        self.carrier = carrier
        self.defaults = defaults
        self._may_await = may_await
        self._api_key = api_key

    def with_defaults(self, options: Options) -> "Core":
        return Core(self.carrier, self._api_key, options.over(self.defaults), self._may_await)

    # --- Responses ---

    async def call(self, call: Call) -> Any:
        """Returns the decoded body of the response; None if it is empty."""
        options = self._options_of(call)
        attempts, request = Attempts(call, options), self._request(call, options)
        while True:
            answer = await self._answer(call, request, attempts)
            if answer is None:
                return None
            try:
                data = await read_all(answer, attempts.wait)
            except (OSError, ConnectionLost, ProtocolError) as e:
                await self._after_interruption(call, request, attempts, Interrupted(e, True))
                continue
            return self._decode(answer, data)

    async def download(self, call: Call) -> Incoming:
        """Called after the head of the response; the bytes have not been read."""
        in_parts = self._takes_parts(call) and self.carrier.part_bytes is not None
        try:
            answer = await self._bytes(call, self._range(0) if in_parts else {})
        except ApiError as e:
            if not in_parts or e.code != "range_not_satisfiable":
                raise
            answer = await self._bytes(call, {})  # an empty file has no satisfiable range
        options = self._options_of(call)

        async def go_on(offset: int, etag: str) -> Answer:
            return await self._bytes(call, {**self._range(offset), "If-Range": etag})
        return Incoming(answer, go_on if self._takes_parts(call) else None, self.carrier, options)

    def _takes_parts(self, call: Call) -> bool:
        """Returns None if the caller requests a range itself."""
        given = {name.lower() for name in call.options.over(self.defaults).headers or {}}
        return call.operation.ranges and "range" not in given

    def _range(self, offset: int) -> Dict[str, str]:
        size = self.carrier.part_bytes
        return {"Range": f"bytes={offset}-{'' if size is None else offset + size - 1}"}

    async def _bytes(self, call: Call, headers: Mapping[str, str]) -> Answer:
        options = self._options_of(call)
        options = replace(options, headers={**(options.headers or {}), **headers})
        answer = await self._answer(call, self._request(call, options), Attempts(call, options))
        assert answer is not None
        return answer

    def _decode(self, answer: Answer, data: bytes) -> Any:
        kind = answer.headers.get("content-type", "")
        if not data or answer.status == 204:
            return None
        if "json" not in kind:
            return data.decode("utf-8")
        try:
            return json.loads(data)
        except ValueError as e:
            raise NotCairn(f"{self.carrier.place} returned invalid JSON: "
                           f"{first_line(data)!r}. Check the URL", answer.status) from e

    def _options_of(self, call: Call) -> Options:
        """Adds the key of a POST, which is the same for all attempts."""
        options = call.options.over(self.defaults)
        if options.idempotency_key is None and "Idempotency-Key" in call.operation.headers:
            options = replace(options, idempotency_key=str(uuid.uuid4()))
        return options

    # --- Attempts ---

    async def _answer(self, call: Call, request: Request,
                      attempts: Attempts) -> Optional[Answer]:
        """Returns the response with an unread body; None for a DELETE that had succeeded before."""
        while True:
            try:
                answer = await self.carrier.exchange(request, attempts.wait)
            except Interrupted as e:
                await self._after_interruption(call, request, attempts, e)
                continue
            except TimeoutError as e:
                raise self._timed_out(call, attempts) from e
            if answer.status < 300 and "cairn-version" in answer.headers:
                self._check_version(answer)
                return answer
            error = await self.refusal(answer)
            gone = isinstance(error, NotFound) and error.code == "not_found"
            if gone and attempts.was_sent and request.method == "DELETE" \
                    and call.operation.answer == "none":
                return None
            await self._after_refusal(request, attempts, error)

    def _request(self, call: Call, options: Options) -> Request:
        o = call.operation
        headers = [*self.own_headers(), *header_pairs(o, options)]
        source = self._source(call)
        if source is not None:
            kind = _content_type(call, source)
            headers = [*([("Content-Type", kind)] if kind else []), *headers]
        target = path_of(o.path, call.path) + query_of(call.query)
        writes = o.method != "POST" or "Idempotency-Key" in o.headers
        return Request(o.method, target, headers, source,
                       is_repeatable(o.method, headers, writes))

    def own_headers(self) -> List[Tuple[str, str]]:
        key = [("Authorization", f"Bearer {self._api_key}")] if self._api_key else []
        return [*key, ("User-Agent", f"cairn-python/{API_VERSION}")]

    def _source(self, call: Call) -> Optional[Source]:
        if call.json_patch is not None:
            if body_of(call.body or {}):
                raise TypeError("use json_patch=, or the members themselves, not both")
            return BytesSource(json_bytes(call.json_patch), "application/json-patch+json")
        if call.operation.body == "bytes":
            assert call.content is not None
            return source_of(call.content, self._may_await)
        if call.body is None:
            return None
        kind = "application/merge-patch+json" if call.operation.body == "patch" \
            else "application/json"
        return BytesSource(json_bytes(body_of(call.body)), kind)

    async def _after_interruption(self, call: Call, request: Request, attempts: Attempts,
                                  e: Interrupted) -> None:
        """Waits for the next attempt, or raises."""
        attempts.was_sent = attempts.was_sent or e.was_sent
        if attempts.is_over() or (attempts.streams and e.timed_out and e.was_sent):
            raise self._timed_out(call, attempts) from e.cause
        error: CairnError = self._lost(call, e) if not e.was_sent else self._unknown(call, str(e))
        if not e.may_heal or (e.was_sent and not request.is_repeatable):
            raise error from e.cause
        self._rewind(request, error)
        await self._pause(attempts, pause_before(attempts.done), error, e.cause)

    async def _after_refusal(self, request: Request, attempts: Attempts,
                             error: CairnError) -> None:
        if not may_succeed_later(error, request.is_repeatable):
            raise error
        if isinstance(error, OutcomeUnknown):
            attempts.was_sent = True
        self._rewind(request, error)
        after = error.retry_after if isinstance(error, ApiError) else None
        await self._pause(attempts, pause_before(attempts.done, after), error)

    def _rewind(self, request: Request, error: CairnError) -> None:
        source = request.source
        if source is None:
            return
        if source.can_repeat:
            source.rewind()
        elif source.has_begun:
            raise ConnectionFailed(
                f"{error}. It was not retried: the content can be read only once, and "
                "a part was read. Use bytes, a seekable file, or upload_resumable") from error

    async def _pause(self, attempts: Attempts, pause: float, error: CairnError,
                     cause: Optional[BaseException] = None) -> None:
        if attempts.done >= attempts.max_retries or not attempts.has_time_for(pause):
            raise error from cause
        attempts.done += 1
        await self.carrier.sleep(pause)

    # --- Failures ---

    def _lost(self, call: Call, e: Interrupted) -> ConnectionFailed:
        return connection_failed(self.carrier.place, e)

    def _unknown(self, call: Call, why: str) -> CairnError:
        o = call.operation
        if o.method == "GET":
            return ConnectionFailed(f"the connection to {self.carrier.place} was lost ({why}). "
                                    "Nothing was changed: try again")
        return OutcomeUnknown({"detail": (
            f"the connection to {self.carrier.place} was lost after {o.method} {o.path} was sent "
            f"({why}); the outcome is unknown: read the resource before you send "
            "the request again")})

    def _timed_out(self, call: Call, attempts: Attempts) -> TimedOut:
        o = call.operation
        unknown = attempts.was_sent and o.method != "GET"
        advice = "It may have been performed: read the resource before you send it again" \
            if unknown else "Increase timeout="
        return TimedOut(f"{o.method} {o.path} at {self.carrier.place} got no response within "
                        f"{attempts.timeout:g} s. {advice}", unknown)

    def _check_version(self, answer: Answer) -> None:
        theirs = answer.headers.get("cairn-version", "")
        if major(theirs) != major(API_VERSION):
            answer.close()
            older = _numbers(theirs) < _numbers(API_VERSION)
            raise VersionMismatch(
                f"{self.carrier.place} is Cairn {theirs}, but this package is for "
                f"{major(API_VERSION)}.x. Upgrade the {'server' if older else 'package cairn'}")

    async def refusal(self, answer: Answer) -> CairnError:
        """Returns the exception for an error response."""
        place, status = self.carrier.place, answer.status
        try:
            data = b"" if status == 304 else await read_all(answer, Wait(None, 10.0))
        except (OSError, ConnectionLost, ProtocolError):
            data = b""
        answer.close()
        if "cairn-version" not in answer.headers and not is_own_problem(data):
            said = first_line(data)
            return NotCairn(f"{place} returned {status} and is not Cairn"
                            f"{f': {said!r}' if said else ''}. Check the URL and any "
                            "proxies", status)
        if "cairn-version" in answer.headers:
            self._check_version(answer)
        if status == 304:
            return NotModified("the resource still has the version in if_none_match")
        return self._problem(answer, data)

    def _problem(self, answer: Answer, data: bytes) -> CairnError:
        try:
            problem = json.loads(data)
            assert isinstance(problem, dict)
        except (ValueError, AssertionError):
            problem = {"detail": first_line(data) or "the response has no problem document"}
        problem.setdefault("status", answer.status)
        theirs = answer.headers.get("cairn-version", "")
        is_older = theirs != "" and _numbers(theirs) < _numbers(API_VERSION)
        if problem.get("code") == "no_route" and is_older:
            return VersionMismatch(
                f"Cairn {theirs} at {self.carrier.place} lacks this route, which this "
                f"package has from {API_VERSION}: {problem.get('detail')}. Upgrade the server")
        return api_error(problem, answer.headers)


def connection_failed(place: str, e: Interrupted) -> ConnectionFailed:
    why = getattr(e.cause, "strerror", None) or str(e.cause) or type(e.cause).__name__
    return ConnectionFailed(f"cannot reach Cairn at {place} ({why}). Is the server running, and is "
                            "base_url= (CAIRN_URL) correct?")


def _content_type(call: Call, source: Source) -> Optional[str]:
    return call.content_type or source.content_type


def is_own_problem(data: bytes) -> bool:
    """Errors before routing (such as a body too large) have no version header."""
    return data.startswith(b'{"type":"urn:cairn:error:')


def first_line(data: bytes) -> str:
    return data.strip().split(b"\n", 1)[0][:120].decode("utf-8", "replace").strip()


def _numbers(version: str) -> List[int]:
    return [int(part) if part.isdigit() else 0 for part in version.split("-")[0].split(".")]


def major(version: str) -> str:
    return version.split(".", 1)[0]
