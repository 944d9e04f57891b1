# SPDX-License-Identifier: Apache-2.0
"""The rules and delays of retries."""
from __future__ import annotations

import random
from typing import List, Optional, Tuple

from .errors import ApiError, CairnError, NotCairn

DEFAULT_RETRIES = 4
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 8.0
# Temporary errors of requests that have changed nothing.
RETRIED_STATUSES = {408, 429, 503, 507}
# Responses of a proxy whose server is unreachable.
PROXY_STATUSES = {502, 503, 504}


def is_repeatable(method: str, headers: List[Tuple[str, str]], writes: bool = True) -> bool:
    """Returns true if a request with an unknown outcome may be repeated: it only reads, it has an
    idempotency key, or it is idempotent."""
    names = {name.lower() for name, _ in headers}
    if method == "GET" or not writes:
        return True
    if method == "POST":
        return "idempotency-key" in names
    if method in ("PUT", "DELETE"):
        return not names & {"if-match", "if-none-match"}
    return False


def pause_before(attempt: int, retry_after: Optional[float] = None) -> float:
    """Exponential with jitter, so that many clients do not retry at once."""
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * (2.0 ** attempt))
    pause = longest * random.uniform(0.5, 1.0)
    return pause if retry_after is None else max(pause, retry_after)


def may_succeed_later(error: CairnError, repeatable: bool) -> bool:
    """For an error response. An unknown outcome is not such an error."""
    if isinstance(error, NotCairn):
        return repeatable and error.status in PROXY_STATUSES
    if not isinstance(error, ApiError):
        return False
    if error.code == "outcome_unknown":
        return repeatable
    return error.status in RETRIED_STATUSES and (error.retryable or error.status != 503)
