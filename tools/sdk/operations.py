# SPDX-License-Identifier: Apache-2.0
"""The operations of the server's OpenAPI document with their names in the clients, the input of the
generators. `threads.checkpoints.list` lists the checkpoints of a thread; its arguments are the path
parameters in order, then body and query.

The name of a method follows from the path and method of its route; NAMES has the exceptions, where
that name would read badly. ALIASES has alternative paths, for which clients have no methods.
"""
import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

# Alternatives of shorter paths.
ALIASES = re.compile(r"^/v1/agents/\{agent_id\}/runs/\{run_id\}")

# A POST to one of these is an action on the preceding part of the path.
ACTIONS = {
    "activate", "rollback", "focus", "pause", "resume", "cancel", "claim", "input", "heartbeat",
    "release", "prune", "copy", "restore", "complete", "redeem", "replay", "search", "batch",
    "deltas", "namespaces",
}

NAMES = {
    "GET /workflow/{workflow_id}": "workflows.get",
    "GET /healthz": "health",
    "GET /readyz": "ready",
    "GET /metrics": "metrics",
    "GET /openapi.json": "openapi",
    "GET /v1/export": "archives.export",
    "POST /v1/imports": "archives.import_archive",
    "POST /v1/costs": "prices.cost",
    "GET /v1/usage": "usage.get",
    "GET /v1/usage/averages": "usage.averages",
    "POST /v1/runs/{run_id}/usage": "runs.usage.add",
    "POST /v1/runs/{run_id}/phase": "runs.set_phase",
    "POST /v1/runs/{run_id}/tools": "runs.tools.ask",
    "POST /v1/runs/{run_id}/tool-results": "runs.tools.answer",
    "POST /v1/runs/{run_id}/steps": "runs.steps.append",
    "POST /v1/threads/{thread_id}/events": "threads.events.append",
    "POST /v1/threads/{thread_id}/participants": "threads.participants.add",
    "DELETE /v1/threads/{thread_id}/participants/{participant_id}": "threads.participants.remove",
    "DELETE /v1/threads/{thread_id}/participants/me": "threads.participants.me.leave",
    "POST /v1/threads/{thread_id}/resumption/messages": "threads.resumption.append",
    "POST /v1/threads/{thread_id}/checkpoints": "threads.checkpoints.put",
    "DELETE /v1/threads/{thread_id}/checkpoints": "threads.checkpoints.delete_all",
    "POST /v1/notebooks/{notebook_id}/sessions": "notebooks.sessions.add",
    "DELETE /v1/notebooks/{notebook_id}/sessions/{thread_id}": "notebooks.sessions.remove",
    "PUT /v1/threads/{thread_id}/files/{name}": "threads.files.upload",
    "GET /v1/threads/{thread_id}/files/{name}": "threads.files.download",
    "GET /v1/threads/{thread_id}/files/{name}/info": "threads.files.get",
    "PATCH /v1/threads/{thread_id}/files/{name}/info": "threads.files.update",
    "GET /v1/threads/{thread_id}/files/{name}/versions/{version}":
        "threads.files.versions.download",
    "PATCH /v1/threads/{thread_id}/uploads/{upload_id}": "threads.uploads.append",
    "DELETE /v1/keys/{key_id}": "keys.revoke",
    "DELETE /v1/threads/{thread_id}/shares/{share_id}": "threads.shares.revoke",
    "PUT /v1/threads/by-key/{key}": "threads.by_key.ensure",
    "GET /v1/store/items": "store.get",
    "PUT /v1/store/items": "store.put",
    "DELETE /v1/store/items": "store.delete",
    "GET /v1/checkpoints": "checkpoints.list",
    "GET /workflow/ws/{workflow_id}": "workflows.websocket",
}

VERBS = {"GET": "get", "PUT": "put", "PATCH": "update", "DELETE": "delete", "POST": "create"}

# Headers that a client sends by itself or for an option of the request, never as an argument.
OPTION_HEADERS = {
    "If-Match", "If-None-Match", "Idempotency-Key", "Cairn-Fencing-Token", "Cairn-Principal",
    "Cairn-Consistency", "Last-Event-ID", "Content-Digest", "Range", "If-Range",
}


@dataclass
class Parameter:
    name: str
    schema: dict
    summary: str = ""
    required: bool = False

    @property
    def is_position(self) -> bool:
        """True for a position in a log, for which the number of an event or message is accepted."""
        return self.name in ("after", "before") and "format" not in self.schema


@dataclass
class Operation:
    method: str
    path: str
    group: Tuple[str, ...]  # ("threads", "checkpoints"); () is the client itself
    name: str  # "list"
    summary: str
    path_parameters: List[Parameter]
    query: List[Parameter]
    takes_metadata: bool  # metadata.KEY=VALUE in the query
    headers: List[str]  # those of OPTION_HEADERS that this route supports
    # "none", "json", "patch" (a Merge Patch or a JSON Patch) or "bytes"
    body_kind: str
    body: Optional[dict]  # its schema
    body_required: bool
    # "none", "json", "page", "bytes", "text", "sse" or "websocket"
    answer_kind: str
    answer: Optional[dict]  # its schema; for a page, that of an item
    maybe_nothing: bool  # 204 if there is no result


@dataclass
class Group:
    """A resource of the client: its operations and its nested resources."""
    path: Tuple[str, ...]
    operations: List[Operation] = field(default_factory=list)
    groups: Dict[str, "Group"] = field(default_factory=dict)


def statics(path: str) -> List[str]:
    words = [w for w in path.split("/") if w and w != "v1" and not w.startswith("{")]
    return [w.replace("-", "_") for w in words]


def name_of(method: str, path: str, answer_kind: str, siblings: int) -> List[str]:
    """`siblings`: the number of methods of the path."""
    given = NAMES.get(f"{method} {path}")
    if given:
        return given.split(".")
    words = statics(path)
    if path.startswith("/workflow/"):
        return ["workflows", words[1]]
    last = path.rstrip("/").split("/")[-1]
    before_last = path.split("/")[-2]
    if last.startswith("{"):
        if before_last == "diff":
            return words
        return [*words, VERBS[method]]
    if method == "POST" and last in ACTIONS:
        return words
    if method == "POST":
        return [*words, "create"]
    if answer_kind == "page" and last not in ("search", "averages"):
        return [*words, "list"]
    if answer_kind in ("sse", "websocket"):
        return [*words[:-1], answer_kind]
    if siblings == 1:
        return words
    return [*words, VERBS[method]]


def first_content(contents: dict) -> Tuple[str, dict]:
    kind = next(iter(contents))
    return kind, contents[kind].get("schema", {})


def answer_of(path: str, responses: dict) -> Tuple[str, Optional[dict], bool]:
    codes = [c for c in responses if c[0] == "2" or c == "101"]
    maybe_nothing = "204" in codes and len(codes) > 1
    if "101" in codes:
        return "websocket", None, False
    with_content = [c for c in codes if responses[c].get("content")]
    if path in ("/metrics", "/openapi.json"):
        return "text" if path == "/metrics" else "json", None, False
    if not with_content:
        return "none", None, False
    kind, schema = first_content(responses[with_content[0]]["content"])
    if kind == "text/event-stream":
        return "sse", schema, False
    if "*/*" in responses[with_content[0]]["content"] or kind != "application/json":
        return "bytes", None, maybe_nothing
    members = schema.get("properties", {})
    if {"data", "has_more"} <= set(members):
        return "page", members["data"]["items"], maybe_nothing
    return "json", schema, maybe_nothing


def body_of(operation: dict) -> Tuple[str, Optional[dict], bool]:
    body = operation.get("requestBody")
    if not body:
        return "none", None, False
    contents = body["content"]
    required = bool(body.get("required"))
    if "application/merge-patch+json" in contents:
        return "patch", contents["application/merge-patch+json"]["schema"], required
    kind, schema = first_content(contents)
    if kind == "application/json":
        return "json", schema, required
    return "bytes", None, required


def operation_of(method: str, path: str, raw: dict, siblings: int) -> Operation:
    parameters = raw.get("parameters", [])

    def some(where: str) -> List[Parameter]:
        return [Parameter(p["name"], p["schema"],
                          p.get("description") or p["schema"].get("description", ""),
                          p["required"])
                for p in parameters if p["in"] == where]

    query = [p for p in some("query") if p.name != "metadata.KEY"]
    headers = [p.name for p in some("header")]
    unknown = set(headers) - OPTION_HEADERS
    assert not unknown, f"{method} {path} has headers without an option: {unknown}"
    answer_kind, answer, maybe_nothing = answer_of(path, raw["responses"])
    if path.endswith("/ws") or "/ws/" in path:
        answer_kind, answer = "websocket", None
    body_kind, body, body_required = body_of(raw)
    *group, name = name_of(method, path, answer_kind, siblings)
    return Operation(
        method, path, tuple(group), name, raw.get("summary", ""), some("path"), query,
        any(p["name"] == "metadata.KEY" for p in parameters), headers, body_kind, body,
        body_required, answer_kind, answer, maybe_nothing)


def operations_of(document: dict) -> List[Operation]:
    found = []
    for path, methods in document["paths"].items():
        if ALIASES.match(path):
            continue
        for method, raw in methods.items():
            found.append(operation_of(method.upper(), path, raw, len(methods)))
    taken: Dict[Tuple[str, ...], Operation] = {}
    for o in found:
        other = taken.setdefault((*o.group, o.name), o)
        assert other is o, f"{o.method} {o.path} and {other.method} {other.path} have the same name"
    return found


def tree_of(operations: List[Operation]) -> Group:
    root = Group(())
    for o in operations:
        group = root
        for i, word in enumerate(o.group):
            group = group.groups.setdefault(word, Group(o.group[:i + 1]))
        group.operations.append(o)

    def check(group: Group) -> None:
        for o in group.operations:
            assert o.name not in group.groups, f"{o.group} has a resource and a method {o.name}"
        for inner in group.groups.values():
            check(inner)
    check(root)
    return root
