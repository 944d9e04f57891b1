# SPDX-License-Identifier: Apache-2.0
"""The exceptions of this package. Every message suggests a remedy; none contains an API key."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple, Type


class CairnError(Exception):
    """The base class of all exceptions, except those for wrong arguments (TypeError …)."""


class ConnectionFailed(CairnError):
    """No connection was made, or it broke before the request could have an effect."""


class TimedOut(CairnError):
    """No response in time. `outcome_unknown`: the request may have been performed."""

    def __init__(self, message: str, outcome_unknown: bool = False) -> None:
        super().__init__(message)
        self.outcome_unknown = outcome_unknown


class Aborted(CairnError):
    """The client was closed, or the operation was cancelled."""


class NotCairn(CairnError):
    """The response is not from Cairn but from another server or a proxy."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class VersionMismatch(CairnError):
    """The server (or library) and this package are incompatible."""


class NotModified(CairnError):
    """The resource still has the version in `if_none_match`."""


class LibraryError(CairnError):
    """libcairn cannot be used, or cannot open the given place."""


class LibraryMissing(LibraryError):
    """libcairn was not found."""


class DirectoryInUse(LibraryError):
    """A server or another program uses the data directory."""


class ApiError(CairnError):
    """An error from Cairn. Except for OutcomeUnknown, nothing was changed."""

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
        """Preserves all members when pickled; by default an exception keeps only its arguments."""
        return _rebuilt, (type(self), self.problem, self.retry_after)

    def _message(self) -> str:
        text = f"{self.status or ''} {self.code}: {self.detail}".lstrip()
        entries = [f"{e.get('pointer')}: {e.get('detail')}" for e in self.errors
                if str(e.get("detail")) not in self.detail]
        if entries:
            text += " (" + "; ".join(entries) + ")"
        advice = ADVICE.get(self.code)
        if advice:
            text += f". {advice}"
        return f"{text} [request {self.request_id}]" if self.request_id else text


class InvalidInput(ApiError):
    """The request violates a rule; `errors` names the fields."""


class Authentication(ApiError):
    """The key is missing, wrong, revoked or expired."""


class PermissionDenied(ApiError):
    """The key lacks a scope, or the principal lacks a permission."""


class NotFound(ApiError):
    """The object does not exist, or this key may not see it."""


class Gone(ApiError):
    """The object existed and has been removed."""


class Conflict(ApiError):
    """The request conflicts with the current state."""


class TransitionRefused(Conflict):
    """The status transition is not allowed; `allowed` lists the possible statuses."""

    @property
    def allowed(self) -> List[str]:
        return list(self.problem.get("allowed") or [])


class RunActive(Conflict):
    """The thread has an unfinished run."""


class LeaseLost(Conflict):
    """Another worker has claimed the run or may claim it: stop working on it."""


class LeaseRequired(Conflict):
    """The run is leased to a worker: writes need its fencing token."""


class StaleEtag(ApiError):
    """The object has changed since the version in if_match."""


class PreconditionRequired(ApiError):
    """The route needs if_match, or if_none_match="*"."""


class TooLarge(ApiError):
    """The body or the response is too large."""


class RateLimited(ApiError):
    """The key has exceeded its rate limit; `retry_after` is in seconds."""


class Unavailable(ApiError):
    """Cairn is temporarily unavailable."""


class StorageFull(ApiError):
    """The disk of the server is full."""


class ServerFailed(ApiError):
    """An internal error of Cairn."""


class DataDamaged(ServerFailed):
    """The stored data does not match its hash."""


class EventsPruned(Gone):
    """Events after the cursor were pruned. `resume_cursor` is after them."""

    @property
    def resume_cursor(self) -> str:
        return str(self.problem.get("resume_cursor") or "")


class OutcomeUnknown(ApiError):
    """The request was performed completely or not at all; the outcome is unknown."""

    def __init__(self, problem: Mapping[str, Any],
                 headers: Optional[Mapping[str, str]] = None) -> None:
        super().__init__({"code": "outcome_unknown", **problem}, headers)


ADVICE = {
    "unauthenticated": "Pass api_key= or set CAIRN_API_KEY to a key of this server",
    "key_expired": "Request a new API key",
    "forbidden": "Use a key with that scope or permission",
    "stale_etag": "Read it again, and send the change with its new version",
    "run_active": "Wait for that run, cancel it, or start with policy=",
    "lease_lost": "Stop working on this run: its writes are now rejected",
    "lease_required": "Send fencing_token= with the fence from the claim",
    "idempotency_key_reused": "Use a new idempotency_key for another request",
    "precondition_required": "Send if_match=, or if_none_match=\"*\" for a new object",
    "quota_full": "Delete something, or ask the operator for a larger quota",
    "storage_full": "Free space on the server's disk",
    "events_pruned": "Continue from resume_cursor to accept the gap",
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
    "quota_exceeded": RateLimited, "quota_full": StorageFull,
    "storage_full": StorageFull, "outcome_unknown": OutcomeUnknown,
    "data_damaged": DataDamaged,
}

BY_STATUS: Dict[int, Type[ApiError]] = {
    400: InvalidInput, 401: Authentication, 403: PermissionDenied, 404: NotFound, 409: Conflict,
    410: Gone, 412: StaleEtag, 413: TooLarge, 414: TooLarge, 415: InvalidInput, 422: InvalidInput,
    428: PreconditionRequired, 429: RateLimited, 431: TooLarge, 503: Unavailable, 507: StorageFull,
}


def api_error(problem: Mapping[str, Any], headers: Mapping[str, str]) -> ApiError:
    """Returns the exception for a problem: by its code, or by its status if the code is unknown."""
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
