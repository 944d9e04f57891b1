# SPDX-License-Identifier: Apache-2.0
"""Requests of the next page."""
from __future__ import annotations

from dataclasses import replace
from typing import Optional

from ._core import Call
from ._operation import UNSET


def next_call(call: Call, has_more: bool, next_cursor: Optional[str]) -> Optional[Call]:
    """Returns the arguments for the next page in the direction of the caller."""
    if not has_more or next_cursor is None:
        return None
    if call.operation.body == "json":  # a search has its cursor in the body
        rest = {name: value for name, value in (call.body or {}).items() if name != "offset"}
        return replace(call, body={**rest, "cursor": next_cursor})
    cursors = call.operation.cursors
    given = [c for c in cursors if call.query.get(c, UNSET) not in (UNSET, None)]
    name = given[0] if given else cursors[-1]
    return call.with_query({name: next_cursor})
