# SPDX-License-Identifier: Apache-2.0
"""Cairn: durable runtime state for AI agents.

    from cairn import Cairn

    with Cairn() as cairn:
        thread = cairn.threads.create(title="hello")
        for event in cairn.threads.events.follow(thread["id"]):
            print(event["kind"])

`AsyncCairn` is the client for asyncio; `cairn.embedded` works without a server.
"""
from . import types
from ._async_calls import AsyncDownload, AsyncPage, AsyncPages
from ._async_extras import AsyncJob
from ._calls import Download, Page
from ._client import AsyncCairn, Cairn
from ._events import AsyncEventStream, EventStream
from ._extras import Job
from ._generated.operations import API_VERSION as __version__
from ._operation import UNSET
from .errors import (
    Aborted, ApiError, Authentication, CairnError, Conflict, ConnectionFailed, DataDamaged,
    DirectoryInUse, EventsPruned, Gone, InvalidInput, LeaseLost, LeaseRequired, LibraryError,
    LibraryMissing, NotCairn, NotFound, NotModified, OutcomeUnknown, PermissionDenied,
    PreconditionRequired, RateLimited, RunActive, ServerFailed, StaleEtag, StorageFull, TimedOut,
    TooLarge, TransitionRefused, Unavailable, VersionMismatch)

__all__ = [
    "Aborted", "ApiError", "AsyncCairn", "AsyncDownload", "AsyncEventStream", "AsyncJob",
    "AsyncPage", "AsyncPages", "Authentication", "Cairn", "CairnError", "Conflict",
    "ConnectionFailed", "DataDamaged", "DirectoryInUse", "Download", "EventStream", "EventsPruned",
    "Gone", "InvalidInput", "Job", "LeaseLost", "LeaseRequired", "LibraryError", "LibraryMissing",
    "NotCairn", "NotFound", "NotModified", "OutcomeUnknown", "Page", "PermissionDenied",
    "PreconditionRequired", "RateLimited", "RunActive", "ServerFailed", "StaleEtag", "StorageFull",
    "TimedOut", "TooLarge", "TransitionRefused", "UNSET", "Unavailable", "VersionMismatch",
    "__version__", "types",
]
