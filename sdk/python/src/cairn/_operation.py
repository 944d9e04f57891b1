# SPDX-License-Identifier: Apache-2.0
"""The parts of a call: the operation, its arguments, and the options of the request."""
from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, timezone
from typing import (
    IO, Any, AsyncIterable, Dict, FrozenSet, Iterable, List, Mapping, Optional, Sequence, Tuple,
    Union)
from urllib.parse import quote
from uuid import UUID


class Unset:
    """The type of UNSET, the default of an omitted argument; None is JSON's null."""

    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET = Unset()

Scalar = Union[str, int, float, bool]
Time = Union[str, datetime]
# A position in a log: the number of an event or a message, or a cursor.
Position = Union[int, str]
# The number of a version or revision, or the text of an ETag; for a fencing token, `fence`.
ETag = Union[int, str]
Content = Union[bytes, bytearray, memoryview, str, IO[bytes], Iterable[bytes]]
AsyncContent = Union[Content, AsyncIterable[bytes]]


@dataclass(frozen=True)
class Operation:
    """One route of the API. `body`: none, json, patch or bytes. `answer`: none, json, page, bytes,
    text, sse or websocket. `cursors`: the parameters for the next page. `ranges`: the route
    supports ranges of bytes."""

    name: str
    method: str
    path: str
    body: str
    answer: str
    headers: FrozenSet[str] = frozenset()
    cursors: Tuple[str, ...] = ()
    etag_prefix: str = ""
    ranges: bool = False


@dataclass(frozen=True)
class Options:
    """The options of a request besides its arguments."""

    timeout: Optional[float] = None
    max_retries: Optional[int] = None
    idempotency_key: Optional[str] = None
    if_match: Optional[ETag] = None
    if_none_match: Optional[ETag] = None
    fencing_token: Optional[ETag] = None
    principal: Optional[str] = None
    consistency: Optional[str] = None
    headers: Optional[Mapping[str, str]] = None

    def over(self, defaults: "Options") -> "Options":
        """Returns these options, with defaults for missing ones."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        chosen = {n: v if v is not None else getattr(defaults, n) for n, v in found.items()}
        chosen["headers"] = {**(defaults.headers or {}), **(self.headers or {})}
        return replace(self, **chosen)


def metadata_filter(metadata: Optional[Mapping[str, Scalar]]) -> Dict[str, Scalar]:
    return {f"metadata.{key}": value for key, value in (metadata or {}).items()}


def path_of(template: str, values: Sequence[Union[str, int]]) -> str:
    """Returns the path, with every value encoded as one segment."""
    parts = template.split("/")
    rest = iter(values)
    for i, part in enumerate(parts):
        if part.startswith("{"):
            value = _segment(part.strip("{}"), next(rest))
            parts[i] = {".": "%2E", "..": "%2E%2E"}.get(value, quote(value, safe=""))
    return "/".join(parts)


def _segment(name: str, value: object) -> str:
    """Rejects None and objects, which would result in a path that does not exist."""
    if not isinstance(value, (str, int, UUID)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    text = str(value)
    if not text:
        raise ValueError(f"{name} must not be empty")
    return text


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ".".join(value)
    return time_text(value) if isinstance(value, datetime) else str(value)


def query_of(members: Mapping[str, Any]) -> str:
    """None omits a parameter, like UNSET, because a query has no null."""
    pairs = [f"{quote(name, safe='.')}={quote(_parameter(value), safe='')}"
             for name, value in members.items() if value is not UNSET and value is not None]
    return "?" + "&".join(pairs) if pairs else ""


def time_text(value: datetime) -> str:
    """Formats as RFC 3339 in UTC; a time without a zone is local time."""
    return value.astimezone(timezone.utc).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def json_bytes(value: Any) -> bytes:
    return json.dumps(value, default=_plain, separators=(",", ":"), ensure_ascii=False,
                      allow_nan=False).encode("utf-8")


def body_of(members: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in members.items() if value is not UNSET}


def etag_text(value: ETag, prefix: str = "") -> str:
    if isinstance(value, int):
        return f'"{prefix}{value}"'
    is_whole = value == "*" or value.endswith('"')
    return value if is_whole else f'"{value}"'


def header_pairs(operation: Operation, options: Options) -> List[Tuple[str, str]]:
    """Returns the headers for the options that the operation supports."""
    asked = {
        "Idempotency-Key": options.idempotency_key,
        "If-Match": _tag(options.if_match, operation),
        "If-None-Match": _tag(options.if_none_match, operation),
        "Cairn-Fencing-Token": options.fencing_token,
        "Cairn-Principal": options.principal,
        "Cairn-Consistency": options.consistency,
    }
    pairs = [(name, str(value)) for name, value in asked.items()
             if value is not None and name in operation.headers]
    return [*pairs, *(options.headers or {}).items()]


def _tag(value: Optional[ETag], operation: Operation) -> Optional[str]:
    return None if value is None else etag_text(value, operation.etag_prefix)
