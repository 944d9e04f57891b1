# SPDX-License-Identifier: Apache-2.0
"""When a request is sent again, and after which pause."""
from __future__ import annotations

import random
from typing import List, Optional, Tuple

from .errors import ApiError, CairnError, NotCairn

DEFAULT_RETRIES = 4
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 8.0
# Refusals that have changed nothing, and may be gone later.
RETRIED_STATUSES = {408, 429, 503, 507}
# What a proxy says when the server behind it is away.
PROXY_STATUSES = {502, 503, 504}


def is_repeatable(method: str, headers: List[Tuple[str, str]], writes: bool = True) -> bool:
    """Whether it may be sent again when nobody knows whether it was done: it only reads, the server
    knows it by its key, or doing it twice comes to the same."""
    names = {name.lower() for name, _ in headers}
    if method == "GET" or not writes:
        return True
    if method == "POST":
        return "idempotency-key" in names
    if method in ("PUT", "DELETE"):
        return not names & {"if-match", "if-none-match"}
    return False


def pause_before(attempt: int, retry_after: Optional[float] = None) -> float:
    """Longer each time, with jitter, so that many clients do not come back at once."""
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * (2.0 ** attempt))
    pause = longest * random.uniform(0.5, 1.0)
    return pause if retry_after is None else max(pause, retry_after)


def may_succeed_later(error: CairnError, repeatable: bool) -> bool:
    """Of an answer that refuses. An unknown outcome is no refusal."""
    if isinstance(error, NotCairn):
        return repeatable and error.status in PROXY_STATUSES
    if not isinstance(error, ApiError):
        return False
    if error.code == "outcome_unknown":
        return repeatable
    return error.status in RETRIED_STATUSES and (error.retryable or error.status != 503)
