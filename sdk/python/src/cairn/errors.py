# SPDX-License-Identifier: Apache-2.0
"""What can go wrong. Every message says what to do about it; none holds an API key."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple, Type


class CairnError(Exception):
    """Whatever this package raises, but for the mistakes of calls themselves (TypeError …)."""


class ConnectionFailed(CairnError):
    """No connection came about, or it broke before anything could have been done."""


class TimedOut(CairnError):
    """There was no answer in time. `outcome_unknown`: whether the request may have been done."""

    def __init__(self, message: str, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class Aborted(CairnError):
    """The client was closed, or what was under way was called off."""


class NotCairn(CairnError):
    """Something answered that is not Cairn: another server, or a proxy in between."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class VersionMismatch(CairnError):
    """Server (or library) and this package do not fit together."""


class NotModified(CairnError):
    """`if_none_match` named what is there: nothing has changed."""


class LibraryError(CairnError):
    """libcairn cannot be used, or cannot open what it was given."""


class LibraryMissing(LibraryError):
    """libcairn was not found."""


class DirectoryInUse(LibraryError):
    """A server, or another program, has the data directory open."""


class ApiError(CairnError):
    """Cairn refused. Unless it is OutcomeUnknown, nothing was changed."""

    def __init__(self, problem: Mapping[str, Any],
                 headers: Optional[Mapping[str, str]] = None) -> None:
        self.problem: Dict[str, Any] = dict(problem)
        self.status = int(problem.get("status") or 0)
        self.code = str(problem.get("code") or "")
        self.detail = str(problem.get("detail") or problem.get("title") or "")
        self.request_id = str(problem.get("request_id") or "")
        self.retryable = bool(problem.get("retryable"))
        self.errors: List[Dict[str, str]] = list(problem.get("errors") or [])
        self.retry_after = _seconds((headers or {}).get("retry-after"))
        super().__init__(self._message())

    def __reduce__(self) -> Tuple[Any, ...]:
        """Whole from process to process: an exception is made anew from its arguments else."""
        return _rebuilt, (type(self), self.problem, self.retry_after)

    def _message(self) -> str:
        text = f"{self.status or ''} {self.code}: {self.detail}".lstrip()
        told = [f"{e.get('pointer')}: {e.get('detail')}" for e in self.errors
                if str(e.get("detail")) not in self.detail]
        if told:
            text += " (" + "; ".join(told) + ")"
        advice = ADVICE.get(self.code)
        if advice:
            text += f". {advice}"
        return f"{text} [request {self.request_id}]" if self.request_id else text


class InvalidInput(ApiError):
    """The request breaks a rule; `errors` names the fields."""


class Authentication(ApiError):
    """The key is missing, wrong, revoked or expired."""


class PermissionDenied(ApiError):
    """The key lacks a scope, or the principal a permission."""


class NotFound(ApiError):
    """There is no such object, or not for this key."""


class Gone(ApiError):
    """What was there is no more."""


class Conflict(ApiError):
    """The object is in another state."""


class TransitionRefused(Conflict):
    """The status cannot change so; `allowed` names what it may become."""

    @property
    def allowed(self) -> List[str]:
        return list(self.problem.get("allowed") or [])


class RunActive(Conflict):
    """The thread has an unfinished run."""


class LeaseLost(Conflict):
    """Another worker has the run, or may get it: stop working on it."""


class LeaseRequired(Conflict):
    """The run is leased to a worker: only who has its fencing token may write."""


class StaleEtag(ApiError):
    """The object has changed since the version that if_match names."""


class PreconditionRequired(ApiError):
    """The route needs if_match, or if_none_match="*"."""


class TooLarge(ApiError):
    """The body, or the answer, is too large."""


class RateLimited(ApiError):
    """The key has used up its requests; `retry_after` says for how many seconds."""


class Unavailable(ApiError):
    """Cairn cannot answer now."""


class StorageFull(ApiError):
    """The disk of the server is full."""


class ServerFailed(ApiError):
    """Cairn failed: an error of its own."""


class DataDamaged(ServerFailed):
    """What is stored does not have the hash any more that it was stored with."""


class EventsPruned(Gone):
    """Events after the cursor were removed. `resume_cursor` goes on behind them."""

    @property
    def resume_cursor(self) -> str:
        return str(self.problem.get("resume_cursor") or "")


class OutcomeUnknown(ApiError):
    """The request was carried out whole or not at all, and nobody can tell which."""

    def __init__(self, problem: Mapping[str, Any],
                 headers: Optional[Mapping[str, str]] = None) -> None:
        super().__init__({"code": "outcome_unknown", **problem}, headers)


ADVICE = {
    "unauthenticated": "Give api_key= or set CAIRN_API_KEY to a key of this server",
    "key_expired": "Ask for a new API key",
    "forbidden": "Use a key with that scope or permission",
    "stale_etag": "Read it again, and send the change with its new version",
    "run_active": "Wait for that run, cancel it, or start with policy=",
    "lease_lost": "Stop working on this run: its writes are refused from now on",
    "lease_required": "Send fencing_token= with the fence that the claim answered",
    "idempotency_key_reused": "Use a new idempotency_key for another request",
    "precondition_required": "Send if_match=, or if_none_match=\"*\" for what is new",
    "storage_full": "Free space on the server's disk",
    "events_pruned": "Go on from resume_cursor to accept the gap",
    "data_damaged": "Restore the server's data from a backup",
}

CLASSES: Dict[str, Type[ApiError]] = {
    "unauthenticated": Authentication, "key_expired": Authentication,
    "forbidden": PermissionDenied, "host_refused": PermissionDenied,
    "not_found": NotFound, "no_route": NotFound, "conflict": Conflict,
    "transition_refused": TransitionRefused, "run_active": RunActive,
    "lease_lost": LeaseLost, "lease_required": LeaseRequired,
    "events_pruned": EventsPruned, "stale_etag": StaleEtag,
    "precondition_required": PreconditionRequired, "body_too_large": TooLarge,
    "answer_too_large": TooLarge, "rate_limited": RateLimited, "unavailable": Unavailable,
    "storage_full": StorageFull, "outcome_unknown": OutcomeUnknown,
    "data_damaged": DataDamaged,
}

BY_STATUS: Dict[int, Type[ApiError]] = {
    400: InvalidInput, 401: Authentication, 403: PermissionDenied, 404: NotFound, 409: Conflict,
    410: Gone, 412: StaleEtag, 413: TooLarge, 414: TooLarge, 415: InvalidInput, 422: InvalidInput,
    428: PreconditionRequired, 429: RateLimited, 431: TooLarge, 503: Unavailable, 507: StorageFull,
}


def api_error(problem: Mapping[str, Any], headers: Mapping[str, str]) -> ApiError:
    """The error of this refusal: by its code, or by its status when the code is new."""
    status = int(problem.get("status") or 0)
    usual = BY_STATUS.get(status, ServerFailed if status >= 500 else ApiError)
    return CLASSES.get(str(problem.get("code")), usual)(problem, headers)


def _rebuilt(kind: Type[ApiError], problem: Mapping[str, Any],
             retry_after: Optional[float]) -> ApiError:
    error = kind(problem)
    error.retry_after = retry_after
    return error


def _seconds(text: Optional[str]) -> Optional[float]:
    return float(text) if text is not None and text.strip().isdigit() else None
