# SPDX-License-Identifier: Apache-2.0
"""The worst requests to each route that are known so far, from one tenant.

A route without an entry in WORST is sent the example of the OpenAPI document, with the largest page
size. Requests that need an object of their own for each call, such as deletions, name the requests
that create it. "@id@" and any other member in a path or body is replaced by that member of the
script's first answer that has it, "@run.fence@" by that of the answer whose id is "@run@", and
"@n@" by the number of the repetition."""
import json
import random

MIB = 1024 * 1024
ANY = {"If-Match": "*"}
JSON_PATCH = {"Content-Type": "application/json-patch+json", **ANY}
WEBSOCKET = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
             "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
LARGEST_PAGE = 200
LARGE_EVENTS = 32  # of 120 KiB, in a request


class Request:
    def __init__(self, method, path, body=None, headers=None, operator=False, made="id"):
        self.method, self.path = method, path
        self.made = made  # the mark of the id in the answer
        self.body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = headers or {}
        self.operator = operator

    def head(self, key, marks, length):
        headers = {"Host": "localhost", "Authorization": f"Bearer {key}"}
        if self.body is not None:
            headers["Content-Type"] = "application/json"
        headers.update({**self.headers, "Content-Length": length})
        lines = [f"{self.method} {self.path} HTTP/1.1",
                 *(f"{name}: {value}" for name, value in headers.items())]
        return (replace_marks("\r\n".join(lines), marks) + "\r\n\r\n").encode()

    def encode(self, key, marks):
        """Returns the parts of the request to send."""
        body = self.body or b""
        for name in marks if b"@" in body else ():
            body = body.replace(f"@{name}@".encode(), str(marks[name]).encode())
        return self.head(key, marks, len(body)), body


def replace_marks(text, marks):
    for name, value in marks.items():
        text = text.replace(f"@{name}@", str(value))
    return text


# --- Large values ----------------------------------------------------------------------------


def words(size_bytes, seed=1):
    """Returns a text of different words, which fills an index of words."""
    rng = random.Random(seed)
    return " ".join(f"w{rng.randrange(10**6)}" for _ in range(size_bytes // 8))[:size_bytes]


def wide(members):
    return {f"member-{i}": i for i in range(members)}


def chat(count, size_bytes=200):
    """Returns messages that no earlier request has sent."""
    return [{"role": "user", "content": f"@n@ {words(size_bytes, i)}"} for i in range(count)]


# --- The tenant's data -----------------------------------------------------------------------


class Place:
    """A thread, an agent, a run and many rows of a tenant. `ask` sends a request and returns the
    decoded answer."""

    MESSAGES, EVENTS, STEPS, ITEMS, CHECKPOINTS = 5000, 20000, 5000, 3000, 300

    def __init__(self, ask, share=1.0):
        self.ask = ask
        self.share = share
        self.thread = ask("POST", "/v1/threads", {
            "context": {"text": words(MIB // 2)}, "run_policy": "enqueue"})["id"]
        self.other_thread = ask("POST", "/v1/threads", {})["id"]
        self.tenant = ask("GET", "/v1/whoami")["tenant_id"]
        self.fill_agent()
        self.fill_thread()
        self.fill_runs()
        self.fill_checkpoints()
        self.fill_store()
        self.fill_rest()
        self.archive = ask("GET", f"/v1/threads/{self.other_thread}/export")

    def times(self, count):
        return range(max(int(count * self.share), 2))

    def fill_agent(self):
        self.agent = self.ask("POST", "/v1/agents", {"name": "noisy", "kind": "team"})["id"]
        for i in range(50):
            child = self.ask("POST", "/v1/agents", {"name": f"child {i}"})["id"]
            self.ask("PUT", f"/v1/agents/{self.agent}/links/{child}", {"role": f"role {i}"})
        self.child = child
        self.spare = self.ask("POST", "/v1/agents", {"name": "spare"})["id"]
        for _ in range(2):
            self.ask("POST", f"/v1/agents/{self.agent}/versions",
                     {"bump": "patch", "activate": True})
        document = {"data": {"text": words(MIB // 4), "wide": wide(10000)}}
        for owner in (f"/v1/agents/{self.agent}", f"/v1/threads/{self.thread}",
                      f"/v1/threads/{self.thread}/agents/{self.agent}"):
            for i in self.times(10):
                self.ask("PUT", f"{owner}/states/state", document, ANY)
        for i in self.times(10):
            self.ask("PUT", f"/v1/agents/{self.agent}/config", document, ANY)
            self.ask("PUT", f"/v1/agents/{self.agent}/storage/item-{i}", document)

    def fill_thread(self):
        for i in self.times(self.MESSAGES // 100):
            sent = [{"content": f"everybody says lantern {words(300, i * 100 + j)}"}
                    for j in range(100)]
            self.message = self.ask("POST", f"/v1/threads/{self.thread}/messages",
                                    {"messages": sent})["ids"][0]
        events = [{"kind": "acme.noise", "payload": {"text": words(200, i)}} for i in range(1000)]
        for i in self.times(self.EVENTS // 1000):
            self.ask("POST", f"/v1/threads/{self.thread}/events", {"events": events})
        joined = {"principal": "user:noisy", "permission": "read_write"}
        self.participant = self.ask("POST", f"/v1/threads/{self.thread}/participants", joined)["id"]
        self.joined = {"Cairn-Principal": "user:noisy"}
        self.shared = self.ask("POST", f"/v1/threads/{self.thread}/shares", {"kind": "participate"})
        self.copied = self.share_largest_copy()
        for i in range(3):
            lines = "\n".join(words(60, i * 10 ** 5 + j) for j in range(5000)).encode()
            self.ask("PUT", f"/v1/threads/{self.thread}/files/file", lines)
        self.upload = self.ask("POST", f"/v1/threads/{self.thread}/uploads",
                               {"name": "up", "size_bytes": MIB})["id"]

    def share_largest_copy(self):
        """Returns a share whose redemption copies as many messages and bytes as it may."""
        thread = self.ask("POST", "/v1/threads", {})["id"]
        for i in self.times(10):
            sent = [{"content": words(8000, i * 100 + j)} for j in range(100)]
            self.ask("POST", f"/v1/threads/{thread}/messages", {"messages": sent})
        return self.ask("POST", f"/v1/threads/{thread}/shares", {"kind": "copy"})

    def fill_runs(self):
        start = {"agent_id": self.agent, "dispatch": "direct"}
        for i in self.times(30):
            run = self.ask("POST", f"/v1/threads/{self.thread}/runs",
                           {**start, "user_input": words(2000, i)})["id"]
            self.ask("PATCH", f"/v1/runs/{run}", {"status": "completed", "final_output": "done"})
        self.run = self.ask("POST", f"/v1/threads/{self.thread}/runs", start)["id"]
        steps = [{"action_type": "tool_execution", "step_number": i, "duration_ms": i,
                  "action_data": {"tool_name": "search", "tool_use_id": f"u{i}",
                                  "result": words(300, i)}} for i in range(100)]
        for i in self.times(self.STEPS // 100):
            self.ask("POST", f"/v1/runs/{self.run}/steps", {"steps": steps})
        for i in self.times(50):
            self.ask("POST", f"/v1/runs/{self.run}/usage",
                     {"model": f"model-{i}", "provider": "p", "input_tokens": 1,
                      "output_tokens": 1})
        self.turn = self.ask("POST", f"/v1/runs/{self.run}/turns",
                             {"input": {"message": words(MIB // 8)},
                              "status": "complete"})["turn_id"]
        self.ask("PUT", f"/v1/threads/{self.thread}/resumption",
                 {"system_prompt": "s", "model": "m", "messages": chat(2000)}, ANY)

    def fill_checkpoints(self):
        """Each checkpoint has different values, so that no item is shared."""
        for i in self.times(self.CHECKPOINTS):
            put = {"channel_values": {"messages": chat(20, 100 + i), "n": i}, "run_id": self.run,
                   "metadata": {"n": i}}
            self.first_checkpoint = getattr(self, "checkpoint", None)
            self.checkpoint = self.ask("POST", f"/v1/threads/{self.thread}/checkpoints", put)["id"]

    def fill_store(self):
        rng = random.Random(7)
        for i in self.times(self.ITEMS // 100):
            self.ask("POST", "/v1/store/batch", {"operations": [
                {"op": "put", "namespace": ["users", f"{j}"], "key": f"item-{i}",
                 "value": {"text": words(300, i * 100 + j), "n": j},
                 "vectors": [{"path": "text", "values": [rng.random() for _ in range(256)]}]}
                for j in range(100)]})

    def fill_rest(self):
        self.model = "priced"
        for model in (self.model, "claude-sonnet-4-5"):  # of the examples
            self.ask("PUT", f"/v1/prices/{model}", {"input": 1, "output": 2})
        self.key = self.ask("POST", "/v1/keys", {"name": "spare", "scopes": ["runs:read"]})["id"]
        self.notebook = self.ask("POST", "/v1/notebooks", {"title": "books"})["id"]
        self.ask("POST", f"/v1/notebooks/{self.notebook}/sessions", {"thread_id": self.thread})
        self.judged = self.ask("POST", "/v1/evals", {"name": "e", "eval_type": "accuracy",
                                                     "run_id": self.run})["id"]
        self.ask("PUT", "/v1/threads/by-key/noisy", {})
        for i in range(300):
            self.ask("POST", "/v1/threads", {"title": f"thread {i}", "metadata": {"n": i}})

    def param(self, name, path):
        return {"thread_id": self.thread, "agent_id": self.agent, "run_id": self.run,
                "tenant_id": self.tenant, "key_id": self.key, "message_id": self.message,
                "notebook_id": self.notebook, "eval_id": self.judged, "model": self.model,
                "share_id": self.shared["id"], "participant_id": self.participant,
                "checkpoint_id": self.checkpoint, "other_id": self.first_checkpoint,
                "turn_id": self.turn, "upload_id": self.upload, "child_id": self.child,
                "semver": "latest", "other": "1.0.0", "sequence": "1", "number": "1",
                "workflow_id": self.thread, "version": "1",
                "key": "noisy" if "by-key" in path else "item-0",
                "name": "file" if "/files/" in path else "state"}[name]


# --- The worst requests ----------------------------------------------------------------------


def shifting_patch(operations, place="/data/list"):
    """Every operation changes the other end of an array."""
    return [{"op": "add", "path": f"{place}/0", "value": 0},
            {"op": "add", "path": f"{place}/-", "value": 0}] * (operations // 2)


def growing_state(owner):
    """A patch that is applied, and one that needs too much work."""
    def scripts(p):
        path = f"{owner(p)}/@n@" if not owner(p).endswith("/config") else owner(p)
        put = Request("PUT", path.replace("@n@", "patched"), {"data": {"list": [0] * 100000}}, ANY)
        patch = path.replace("@n@", "patched")
        return [[put, Request("PATCH", patch, shifting_patch(300), JSON_PATCH)],
                [put, Request("PATCH", patch, shifting_patch(10000), JSON_PATCH)],
                [put, Request("PATCH", patch, {"data": wide(40000)}, ANY)]]
    return scripts


def large_state(owner):
    def scripts(p):
        body = {"data": {"wide": wide(40000)}, "json_schema": {"additionalProperties": True}}
        path = owner(p) if owner(p).endswith("/config") else f"{owner(p)}/large-@n@"
        return [[Request("PUT", path, body, ANY)]]
    return scripts


def deleted_state(owner):
    def scripts(p):
        path = f"{owner(p)}/gone-@n@"
        return [[Request("PUT", path, {"data": {"text": words(MIB // 2)}}, ANY),
                 Request("DELETE", path, headers=ANY)]]
    return scripts


def on_new_thread(p, *requests):
    return [[Request("POST", "/v1/threads", {"run_policy": "enqueue"}), *requests]]


def started(p, *requests):
    """A running run on a thread of its own: "@run@"."""
    return [[Request("POST", "/v1/threads", {}),
             Request("POST", "/v1/threads/@id@/runs", {"agent_id": p.agent, "dispatch": "direct"},
                     made="run"), *requests]]


def claimed(p, *requests):
    return [[Request("POST", "/v1/threads", {}),
             Request("POST", "/v1/threads/@id@/runs", {"dispatch": "queue"}, made="queued"),
             Request("POST", "/v1/runs/claim", {"worker": "noisy", "lease_ms": 60000}, made="run"),
             *requests]]


def batch(operations):
    return Request("POST", "/v1/store/batch", {"operations": operations})


def store_batches(p):
    rng = random.Random(5)
    vectors = [{"path": "text", "values": [round(rng.random(), 3) for _ in range(4096)]}]
    large = [{"op": "put", "namespace": ["large", f"{i}"], "key": "k",
              "value": {"text": words(100 * 1024, i)}} for i in range(100)]
    vectored = [{"op": "put", "namespace": ["vectors", f"{i}"], "key": "k", "value": {"n": i},
                 "vectors": vectors} for i in range(100)]
    searches = [{"op": "put", "namespace": ["one"], "key": "k", "value": {}}]
    searches += [{"op": "search", "namespace_prefix": ["users"], "limit": 100,
                  "query": words(2000, i)} for i in range(50)]
    return [[batch(large)], [batch(vectored)], [batch(searches)]]


def step_batches(p):
    steps = [{"action_type": "api_call_started", "step_number": i,
              "action_data": {"n": i}, "messages_snapshot": chat(200 + i)} for i in range(100)]
    large = [{"action_type": "tool_execution", "action_data": {
        "tool_name": "t", "tool_use_id": f"{i}", "result": words(100 * 1024, i)}}
        for i in range(100)]
    return [[Request("POST", f"/v1/runs/{p.run}/steps", {"steps": steps})],
            [Request("POST", f"/v1/runs/{p.run}/steps", {"steps": large})]]


def checkpoint_puts(p):
    path = f"/v1/threads/{p.other_thread}/checkpoints"
    return [[Request("POST", path, {"channel_values": {"messages": chat(19000, 300)}})],
            [Request("POST", path, {"channel_values": {"text": words(7 * MIB)}})]]


def checkpoint_copies(p):
    return [[Request("POST", "/v1/threads", {}),
             Request("POST", f"/v1/threads/{p.thread}/checkpoints/copy",
                     b'{"to_thread_id":"@id@"}')]]


def filled_with_checkpoints(p, last):
    """Deletes what was copied to a new thread, and large checkpoints that share nothing."""
    large = [Request("POST", "/v1/threads/@id@/checkpoints",
                     {"channel_values": {"text": f"@n@ {words(4 * MIB, i)}"}}, made="checkpoint")
             for i in range(3)]
    return [[Request("POST", "/v1/threads", {}),
             Request("POST", f"/v1/threads/{p.thread}/checkpoints/copy",
                     b'{"to_thread_id":"@id@"}', made="copy"), last],
            [Request("POST", "/v1/threads", {}), *large, last]]


def message_batches(p):
    large = [{"content": words(39 * 1024, i)} for i in range(100)]
    return [[Request("POST", f"/v1/threads/{p.other_thread}/messages", {"messages": large})]]


def event_batches(p):
    large = [{"kind": "acme.noise", "payload": {"text": words(4000, i)}} for i in range(1000)]
    return [[Request("POST", f"/v1/threads/{p.other_thread}/events", {"events": large})]]


def large_events(first=0):
    """A request with as many of the largest events as its body may have."""
    return Request("POST", "/v1/threads/@id@/events", {"events": [
        {"kind": "acme.noise", "payload": {"text": words(120 * 1024, first + i)}}
        for i in range(LARGE_EVENTS)]}, made="event")


def event_prunes(p):
    """Many small events, and large ones: 20 MB for each request."""
    prune = b'{"through_seq":@last_seq@}'
    return [[Request("POST", f"/v1/threads/{p.other_thread}/events",
                     {"events": [{"kind": "acme.noise", "payload": {"n": i}}
                                 for i in range(1000)]}),
             Request("POST", f"/v1/threads/{p.other_thread}/events/prune", prune)],
            [Request("POST", "/v1/threads", {}),
             *(large_events(i * LARGE_EVENTS) for i in range(5)),
             Request("POST", "/v1/threads/@id@/events/prune",
                     {"through_seq": 5 * LARGE_EVENTS})]]


def thread_deletions(p):
    large = {"messages": [{"content": words(39 * 1024, i)} for i in range(100)]}
    delete = Request("DELETE", "/v1/threads/@id@", headers=ANY)
    return [[Request("POST", "/v1/threads", {}),
             Request("POST", "/v1/threads/@id@/events",
                     {"events": [{"kind": "acme.noise", "payload": {"n": i}}
                                 for i in range(1000)]}), delete],
            [Request("POST", "/v1/threads", {}),
             Request("POST", "/v1/threads/@id@/messages", large, made="message"), delete],
            [Request("POST", "/v1/threads", {}), large_events(), delete]]


def tools(p):
    asked = [{"tool_use_id": f"@n@-{i}", "name": "x", "side": "frontend",
              "input": {"text": words(4000, i)}} for i in range(256)]
    return Request("POST", "/v1/runs/@run@/tools", {"tools": asked})


def tool_results(p):
    asked = [{"tool_use_id": f"@n@-{i}", "name": "x", "side": "frontend"} for i in range(256)]
    results = [{"tool_use_id": f"@n@-{i}", "content": words(2900, i)} for i in range(256)]
    return [Request("POST", "/v1/runs/@run@/tools", {"tools": asked}),
            Request("POST", "/v1/runs/@run@/tool-results", {"results": results})]


def of_agent(p, requests):
    for request in requests:
        request.path = request.path.replace("/v1/runs/", f"/v1/agents/{p.agent}/runs/")
    return requests


def json_patch_of(path, member, document):
    """Writes a large member, and patches it."""
    def scripts(p):
        target = path(p)
        put = Request("PATCH", target, {member: document}, ANY)
        return [[put, Request("PATCH", target, shifting_patch(count, f"/{member}/list"),
                              JSON_PATCH)] for count in (300, 10000)]
    return scripts


LIST = {"list": [0] * 100000}
SMALL_LIST = {"list": [0] * 7000}
WORKFLOW = Request("POST", "/workflow/start", {"user_input": "go", "ask_clarifications": True})
STATES = (("/v1/agents/{agent_id}/states/{name}", lambda p: f"/v1/agents/{p.agent}/states"),
          ("/v1/threads/{thread_id}/states/{name}", lambda p: f"/v1/threads/{p.thread}/states"),
          ("/v1/threads/{thread_id}/agents/{agent_id}/states/{name}",
           lambda p: f"/v1/threads/{p.thread}/agents/{p.agent}/states"),
          ("/v1/agents/{agent_id}/config", lambda p: f"/v1/agents/{p.agent}/config"))

# Each entry returns scripts: lists of requests, of which the last one is the route's.
WORST = {
    **{f"GET {path}": (lambda path: lambda p: [[Request("GET", path.format(
        thread_id=p.thread, workflow_id=p.thread), headers=WEBSOCKET)]])(path)
       for path in ("/v1/threads/{thread_id}/events/ws", "/v1/events/ws",
                    "/workflow/ws/{workflow_id}")},
    "POST /v1/imports": lambda p: [[Request("POST", "/v1/imports?ids=remap", p.archive,
                                            {"Content-Type": "application/x-tar"})]],
    "POST /v1/tenants": lambda p: [[Request("POST", "/v1/tenants", {"name": "t-@n@"})]],
    "DELETE /v1/tenants/{tenant_id}": lambda p: [[
        Request("POST", "/v1/tenants", {"name": "t-@n@"}, operator=True),
        Request("DELETE", "/v1/tenants/@tenant.id@", headers=ANY)]],
    "PATCH /v1/tenants/{tenant_id}": lambda p: [[
        Request("PATCH", f"/v1/tenants/{p.tenant}", {"name": "noisy"})]],
    "PATCH /v1/tenant": json_patch_of(lambda p: "/v1/tenant", "settings", {"list": [0] * 30000}),
    "DELETE /v1/keys/{key_id}": lambda p: [[
        Request("POST", "/v1/keys", {"name": "k", "scopes": ["runs:read"]}),
        Request("DELETE", "/v1/keys/@id@")]],
    "POST /v1/agents": lambda p: [[Request("POST", "/v1/agents", {
        "name": "agent @n@", "system_prompt": {"role": "r", "instructions": words(100 * 1024)},
        "metadata": wide(256),
        "workflow_graph": {"entry_point": "n0",
                           "nodes": [{"name": f"n{i}", "type": "llm"} for i in range(500)],
                           "edges": [{"from": f"n{i % 500}", "to": f"n{(i + i // 500 + 1) % 500}"}
                                     for i in range(2000)]}})]],
    "PATCH /v1/agents/{agent_id}": json_patch_of(
        lambda p: f"/v1/agents/{p.agent}", "metadata", SMALL_LIST),
    "DELETE /v1/agents/{agent_id}": lambda p: [[
        Request("POST", "/v1/agents", {"name": "gone @n@"}),
        Request("PUT", "/v1/agents/@id@/storage/a", words(4 * MIB).encode(),
                {"Content-Type": "text/plain"}),
        Request("PUT", "/v1/agents/@id@/storage/b", words(4 * MIB).encode(),
                {"Content-Type": "text/plain"}),
        Request("DELETE", "/v1/agents/@id@", headers=ANY)]],
    "POST /v1/agents/{agent_id}/versions": lambda p: [[Request(
        "POST", f"/v1/agents/{p.agent}/versions",
        {"bump": "patch", "system_prompt": {"role": "r", "instructions": words(120 * 1024)}})]],
    "PATCH /v1/agents/{agent_id}/versions/{semver}": lambda p: [[
        Request("POST", f"/v1/agents/{p.spare}/versions", {"bump": "patch"}),
        Request("PATCH", f"/v1/agents/{p.spare}/versions/latest",
                {"system_prompt": {"role": "r", "instructions": words(120 * 1024)}})]],
    "POST /v1/agents/{agent_id}/rollback": lambda p: [[
        Request("POST", f"/v1/agents/{p.spare}/versions", {"bump": "patch", "activate": True}),
        Request("POST", f"/v1/agents/{p.spare}/rollback")]],
    "DELETE /v1/agents/{agent_id}/links/{child_id}": lambda p: [[
        Request("PUT", f"/v1/agents/{p.agent}/links/{p.spare}", {"role": "r"}),
        Request("DELETE", f"/v1/agents/{p.agent}/links/{p.spare}", headers=ANY)]],
    "PUT /v1/agents/{agent_id}/links/{child_id}": lambda p: [[
        Request("PUT", f"/v1/agents/{p.agent}/links/{p.child}", {"role": "r", "position": 1})]],
    "PUT /v1/agents/{agent_id}/storage/{key}": lambda p: [[
        Request("PUT", f"/v1/agents/{p.agent}/storage/large", words(4 * MIB).encode(),
                {"Content-Type": "text/plain"})]],
    "DELETE /v1/agents/{agent_id}/storage/{key}": lambda p: [[
        Request("PUT", f"/v1/agents/{p.agent}/storage/gone-@n@", words(4 * MIB).encode(),
                {"Content-Type": "text/plain"}),
        Request("DELETE", f"/v1/agents/{p.agent}/storage/gone-@n@")]],
    **{f"PUT {path}": large_state(owner) for path, owner in STATES},
    **{f"PATCH {path}": growing_state(owner) for path, owner in STATES},
    **{f"DELETE {path}": deleted_state(owner) for path, owner in STATES[:3]},
    "POST /v1/threads": lambda p: [[Request("POST", "/v1/threads", {
        "context": wide(40000), "preferences": wide(40000),
        "important_steps": [words(MIB - 1000)]})]],
    "GET /v1/threads": lambda p: [[Request("GET", f"/v1/threads?limit=200&{query}")] for query in
                                  ("include=documents", "title=zzz", "metadata.n=17")],
    "PUT /v1/threads/by-key/{key}": lambda p: [[
        Request("PUT", "/v1/threads/by-key/k-@n@", {"context": wide(40000)})]],
    "PATCH /v1/threads/{thread_id}": json_patch_of(
        lambda p: f"/v1/threads/{p.other_thread}", "context", LIST),
    "DELETE /v1/threads/{thread_id}": thread_deletions,
    "POST /v1/threads/{thread_id}/pause": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/pause")),
    "POST /v1/threads/{thread_id}/resume": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/pause"),
        Request("POST", "/v1/threads/@id@/resume")),
    "POST /v1/threads/{thread_id}/cancel": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/cancel", {"reason": "noise"})),
    "POST /v1/runs/{run_id}/tools": lambda p: started(p, tools(p)),
    "POST /v1/agents/{agent_id}/runs/{run_id}/tools":
        lambda p: started(p, *of_agent(p, [tools(p)])),
    "POST /v1/runs/{run_id}/tool-results": lambda p: started(p, *tool_results(p)),
    "POST /v1/agents/{agent_id}/runs/{run_id}/tool-results":
        lambda p: started(p, *of_agent(p, tool_results(p))),
    "PUT /v1/threads/{thread_id}/resumption": lambda p: [[
        Request("PUT", f"/v1/threads/{p.other_thread}/resumption",
                {"system_prompt": "s", "model": "m", "messages": chat(15000)}, ANY)]],
    "PATCH /v1/threads/{thread_id}/resumption": lambda p: [
        [Request("PATCH", f"/v1/threads/{p.thread}/resumption", {"messages": chat(4000)}, ANY)],
        [Request("PATCH", f"/v1/threads/{p.thread}/resumption",
                 [{"op": "add", "path": "/messages/0", "value": {"role": "user"}}] * 10000,
                 JSON_PATCH)]],
    "POST /v1/threads/{thread_id}/resumption/messages": lambda p: [[
        Request("PUT", f"/v1/threads/{p.other_thread}/resumption",
                {"system_prompt": "s", "model": "m", "messages": []}, ANY),
        Request("POST", f"/v1/threads/{p.other_thread}/resumption/messages",
                {"append": chat(4000)})]],
    "PATCH /v1/threads/{thread_id}/history/{sequence}": lambda p: [[
        Request("PATCH", f"/v1/threads/{p.thread}/history/1", {"messages": chat(4000)})]],
    "POST /v1/threads/{thread_id}/runs": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/runs",
                   {"agent_id": p.agent, "user_input": words(250 * 1024)})),
    "POST /v1/agents/{agent_id}/runs": lambda p: [[
        Request("POST", f"/v1/agents/{p.agent}/runs", {"input": {"message": words(200 * 1024)}})]],
    "POST /v1/runs/claim": lambda p: [[
        Request("POST", "/v1/threads", {}),
        Request("POST", "/v1/threads/@id@/runs", {"dispatch": "queue"}),
        Request("POST", "/v1/runs/claim", {"worker": "noisy", "lease_ms": 60000})]],
    "PATCH /v1/runs/{run_id}": json_patch_of(lambda p: f"/v1/runs/{p.run}", "state", LIST),
    "POST /v1/runs/{run_id}/phase": lambda p: started(
        p, Request("POST", "/v1/runs/@run@/phase", {"to": "initializing"})),
    "POST /v1/agents/{agent_id}/runs/{run_id}/phase": lambda p: started(
        p, Request("POST", f"/v1/agents/{p.agent}/runs/@run@/phase", {"to": "initializing"})),
    "POST /v1/runs/{run_id}/turns": lambda p: [[Request(
        "POST", f"/v1/runs/{p.run}/turns",
        {"input": {"message": words(200 * 1024)}, "status": "complete"})]],
    "POST /v1/agents/{agent_id}/runs/{run_id}/turns": lambda p: [[Request(
        "POST", f"/v1/agents/{p.agent}/runs/{p.run}/turns",
        {"input": {"message": words(200 * 1024)}, "status": "complete"})]],
    **{f"PATCH {path}/{{run_id}}/turns/{{turn_id}}": (lambda path: lambda p: started(
        p, Request("POST", "/v1/runs/@run@/turns", {"input": {"message": "go"}}),
        Request("PATCH", f"{path.format(agent_id=p.agent)}/@run@/turns/@turn_id@",
                {"output": {"message": words(200 * 1024)}})))(path)
       for path in ("/v1/runs", "/v1/agents/{agent_id}/runs")},
    "DELETE /v1/prices/{model}": lambda p: [[
        Request("PUT", "/v1/prices/gone-@n@", {"input": 1, "output": 2}),
        Request("DELETE", "/v1/prices/gone-@n@")]],
    "PATCH /v1/evals/{eval_id}": lambda p: [[
        Request("PATCH", f"/v1/evals/{p.judged}", {"metadata": wide(256)})]],
    "POST /v1/evals": lambda p: [[Request(
        "POST", "/v1/evals", {"name": "e", "eval_type": "accuracy", "run_id": p.run})]],
    "DELETE /v1/evals/{eval_id}": lambda p: [[
        Request("POST", "/v1/evals", {"name": "e", "eval_type": "accuracy"}),
        Request("DELETE", "/v1/evals/@id@")]],
    "POST /v1/notebooks": lambda p: [[
        Request("POST", "/v1/notebooks", {"title": "n", "instructions": words(250 * 1024)})]],
    "DELETE /v1/notebooks/{notebook_id}": lambda p: [[
        Request("POST", "/v1/notebooks", {"title": "n", "instructions": words(250 * 1024)}),
        Request("DELETE", "/v1/notebooks/@id@")]],
    "POST /v1/notebooks/{notebook_id}/sessions": lambda p: [[
        Request("POST", f"/v1/notebooks/{p.notebook}/sessions", {})]],
    "DELETE /v1/notebooks/{notebook_id}/sessions/{thread_id}": lambda p: [[
        Request("POST", f"/v1/notebooks/{p.notebook}/sessions", {}),
        Request("DELETE", f"/v1/notebooks/{p.notebook}/sessions/@thread_id@")]],
    "POST /v1/runs/{run_id}/input": lambda p: started(
        p, Request("PATCH", "/v1/runs/@run@", {"status": "waiting_for_input"}),
        Request("POST", "/v1/runs/@run@/input", {"input": words(250 * 1024)})),
    "POST /v1/runs/{run_id}/pause": lambda p: started(
        p, Request("POST", "/v1/runs/@run@/pause")),
    "POST /v1/runs/{run_id}/resume": lambda p: started(
        p, Request("POST", "/v1/runs/@run@/pause"), Request("POST", "/v1/runs/@run@/resume")),
    "POST /v1/runs/{run_id}/cancel": lambda p: started(
        p, Request("POST", "/v1/runs/@run@/cancel", {"reason": "noise"})),
    "POST /v1/runs/{run_id}/retry": lambda p: [[
        *started(p, Request("POST", "/v1/runs/@run@/cancel", {}))[0],
        Request("POST", "/v1/runs/@run@/retry", {})]],
    "GET /v1/agents/by-name/{name}": lambda p: [[
        Request("GET", "/v1/agents/by-name/noisy?include=definition")]],
    "POST /v1/runs/{run_id}/heartbeat": lambda p: claimed(p, Request(
        "POST", "/v1/runs/@run@/heartbeat", {"lease_ms": 60000},
        {"Cairn-Fencing-Token": "@run.fence@"})),
    "POST /v1/runs/{run_id}/release": lambda p: claimed(p, Request(
        "POST", "/v1/runs/@run@/release", headers={"Cairn-Fencing-Token": "@run.fence@"})),
    "POST /v1/runs/{run_id}/steps": step_batches,
    "GET /v1/steps": lambda p: [[Request("GET", f"/v1/steps?limit=200&{query}")] for query in
                                (f"tool_name=none&agent_id={p.agent}&outcome=error",
                                 f"thread_id={p.thread}&include=messages")],
    "GET /v1/steps/summary": lambda p: [[
        Request("GET", f"/v1/steps/summary?thread_id={p.thread}")]],
    "GET /v1/usage": lambda p: [[
        Request("GET", "/v1/usage?from=2024-01-01&to=2026-12-31&group_by=model")]],
    "GET /v1/usage/averages": lambda p: [[
        Request("GET", "/v1/usage/averages?days=365&group_by=thread&limit=200")]],
    "POST /v1/threads/{thread_id}/events": event_batches,
    "GET /v1/threads/{thread_id}/events": lambda p: [[
        Request("GET", f"/v1/threads/{p.thread}/events?after=0&limit=1000{kind}")]
        for kind in ("", "&kind=acme.none")],
    "GET /v1/events": lambda p: [[
        Request("GET", f"/v1/events?limit=1000{kind}")] for kind in ("", "&kind=acme.none")],
    "POST /v1/threads/{thread_id}/events/prune": event_prunes,
    "POST /v1/threads/{thread_id}/participants": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/participants", {"principal": "user:a"})),
    **{f"{method} /v1/threads/{{thread_id}}/participants/me{tail}":
       (lambda method, tail, body: lambda p: [[Request(
           method, f"/v1/threads/{p.thread}/participants/me{tail}", body, dict(p.joined))]])(
               method, tail, body)
       for method, tail, body in (("GET", "", None), ("PATCH", "", {"status": "x" * 500}),
                                  ("POST", "/heartbeat", {"ttl_s": 60}))},
    "DELETE /v1/threads/{thread_id}/participants/me": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/participants", {"principal": "user:a"}),
        Request("DELETE", "/v1/threads/@id@/participants/me",
                headers={"Cairn-Principal": "user:a"})),
    "DELETE /v1/threads/{thread_id}/participants/{participant_id}": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/participants", {"principal": "user:a"}),
        Request("DELETE", f"/v1/threads/{p.other_thread}/participants/@id@")]],
    "POST /v1/threads/{thread_id}/messages": message_batches,
    "GET /v1/threads/{thread_id}/messages": lambda p: [[
        Request("GET", f"/v1/threads/{p.thread}/messages?limit=200{more}")] for more in
        ("", f"&type=note&sender_id={p.participant}")],
    "GET /v1/messages/search": lambda p: [[
        Request("GET", f"/v1/messages/search?limit=200&q={query}")] for query in
        ("everybody+lantern", "+".join(["everybody", "lantern", "says"] * 10))],
    "GET /v1/threads/{thread_id}/messages/search": lambda p: [[
        Request("GET", f"/v1/threads/{p.thread}/messages/search?limit=200&q=everybody+lantern")]],
    "PATCH /v1/threads/{thread_id}/messages/{message_id}": lambda p: [[
        Request("PATCH", f"/v1/threads/{p.thread}/messages/{p.message}",
                {"content": words(MIB - 100)})]],
    "DELETE /v1/threads/{thread_id}/messages/{message_id}": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/messages", {"content": words(MIB - 100)}),
        Request("DELETE", f"/v1/threads/{p.other_thread}/messages/@id@")]],
    "PUT /v1/store/items": lambda p: [[
        Request("PUT", "/v1/store/items", {"namespace": ["large"], "key": "k-@n@",
                                           "value": {"text": words(MIB - 100)}})]],
    "GET /v1/store/items": lambda p: [[
        Request("GET", "/v1/store/items?namespace=users.1&key=item-0")]],
    "DELETE /v1/store/items": lambda p: [[
        Request("PUT", "/v1/store/items", {"namespace": ["gone"], "key": "k",
                                           "value": {"text": words(MIB - 100)}}),
        Request("DELETE", "/v1/store/items?namespace=gone&key=k")]],
    "POST /v1/store/search": lambda p: [
        [Request("POST", "/v1/store/search", {"namespace_prefix": ["users"], "limit": 200,
                                              **search})]
        for search in ({"query": words(60000)}, {"vector": [0.5] * 256},
                       {"filter": {"n": {"$gt": 1000}}}, {"offset": 10000})],
    "POST /v1/store/namespaces": lambda p: [[
        Request("POST", "/v1/store/namespaces", {"prefix": ["*"], "suffix": ["*"],
                                                 "limit": 1000})]],
    "POST /v1/store/batch": store_batches,
    "POST /v1/threads/{thread_id}/checkpoints": checkpoint_puts,
    "GET /v1/threads/{thread_id}/checkpoints": lambda p: [[
        Request("GET", f"/v1/threads/{p.thread}/checkpoints?limit=200&{more}")] for more in
        ("include=values", "metadata.n=-1")],
    "GET /v1/checkpoints": lambda p: [[
        Request("GET", f"/v1/checkpoints?limit=200&{more}")] for more in
        ("include=values", "metadata.n=-1")],
    "PUT /v1/threads/{thread_id}/checkpoints/{checkpoint_id}/writes": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/checkpoints",
                {"channel_values": {"n": "@n@"}}),
        Request("PUT", f"/v1/threads/{p.other_thread}/checkpoints/@id@/writes",
                {"task_id": "t", "writes": [{"channel": "c", "value": words(8000, i)}
                                            for i in range(1000)]})]],
    "DELETE /v1/threads/{thread_id}/checkpoints": lambda p: filled_with_checkpoints(
        p, Request("DELETE", "/v1/threads/@id@/checkpoints")),
    "POST /v1/threads/{thread_id}/checkpoints/prune": lambda p: filled_with_checkpoints(
        p, Request("POST", "/v1/threads/@id@/checkpoints/prune", {"keep_latest": 1})),
    "POST /v1/threads/{thread_id}/checkpoints/copy": checkpoint_copies,
    "POST /v1/runs/{run_id}/replay": lambda p: [[
        Request("POST", f"/v1/runs/{p.run}/replay",
                {"checkpoint_id": p.checkpoint, "modified_state": {"text": words(MIB)}})]],
    "POST /v1/agents/{agent_id}/runs/{run_id}/replay": lambda p: [[
        Request("POST", f"/v1/agents/{p.agent}/runs/{p.run}/replay",
                {"checkpoint_id": p.checkpoint, "modified_state": {"text": words(MIB)}})]],
    "POST /v1/threads/{thread_id}/shares": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/shares", {"kind": "participate"})),
    "DELETE /v1/threads/{thread_id}/shares/{share_id}": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/shares", {"kind": "participate"}),
        Request("DELETE", f"/v1/threads/{p.other_thread}/shares/@id@")]],
    "POST /v1/shares/redeem": lambda p: [[
        Request("POST", "/v1/shares/redeem", {"token": share["token"]},
                {"Cairn-Principal": "user:guest-@n@"})] for share in (p.shared, p.copied)],
    "PUT /v1/threads/{thread_id}/files/{name}": lambda p: [[
        Request("PUT", f"/v1/threads/{p.other_thread}/files/large", words(8 * MIB).encode())]],
    "GET /v1/threads/{thread_id}/files/{name}/diff": lambda p: [[
        Request("GET", f"/v1/threads/{p.thread}/files/file/diff?from=1&to=2")]],
    "DELETE /v1/threads/{thread_id}/files/{name}": lambda p: [[
        Request("PUT", f"/v1/threads/{p.other_thread}/files/gone-@n@", words(MIB).encode()),
        Request("DELETE", f"/v1/threads/{p.other_thread}/files/gone-@n@")]],
    "DELETE /v1/threads/{thread_id}/files/{name}/versions/{version}": lambda p: [[
        Request("PUT", f"/v1/threads/{p.other_thread}/files/old-@n@", words(MIB).encode()),
        Request("DELETE", f"/v1/threads/{p.other_thread}/files/old-@n@/versions/1")]],
    "POST /v1/threads/{thread_id}/files/{name}/restore": lambda p: [[
        Request("POST", f"/v1/threads/{p.thread}/files/file/restore", {"version": 1})]],
    "POST /v1/threads/{thread_id}/files/{name}/copy": lambda p: [[
        Request("POST", f"/v1/threads/{p.thread}/files/file/copy",
                {"thread_id": p.other_thread, "name": "copy-@n@", "history": True})]],
    "POST /v1/threads/{thread_id}/uploads": lambda p: on_new_thread(
        p, Request("POST", "/v1/threads/@id@/uploads", {"name": "up", "size_bytes": 9})),
    "PATCH /v1/threads/{thread_id}/uploads/{upload_id}": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/uploads", {"name": "u", "size_bytes": MIB}),
        Request("PATCH", f"/v1/threads/{p.other_thread}/uploads/@id@?offset=0", b"x" * MIB),
        Request("DELETE", f"/v1/threads/{p.other_thread}/uploads/@id@")]],
    "DELETE /v1/threads/{thread_id}/uploads/{upload_id}": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/uploads", {"name": "u", "size_bytes": 9}),
        Request("DELETE", f"/v1/threads/{p.other_thread}/uploads/@id@")]],
    "POST /v1/threads/{thread_id}/uploads/{upload_id}/complete": lambda p: [[
        Request("POST", f"/v1/threads/{p.other_thread}/uploads",
                {"name": "u", "size_bytes": MIB}),
        Request("PATCH", f"/v1/threads/{p.other_thread}/uploads/@id@?offset=0", b"x" * MIB),
        Request("POST", f"/v1/threads/{p.other_thread}/uploads/@id@/complete")]],
    "POST /workflow/start": lambda p: [[Request(
        "POST", "/workflow/start", {"user_input": words(200 * 1024)})]],
    "POST /workflow/input/{workflow_id}": lambda p: [[
        WORKFLOW, Request("PATCH", "/v1/runs/@run_id@", {"status": "waiting_for_input"}),
        Request("POST", "/workflow/input/@workflow_id@", {"input": words(200 * 1024)})]],
    "POST /workflow/pause/{workflow_id}": lambda p: [[
        WORKFLOW, Request("POST", "/workflow/pause/@workflow_id@")]],
    "POST /workflow/resume/{workflow_id}": lambda p: [[
        WORKFLOW, Request("POST", "/workflow/pause/@workflow_id@"),
        Request("POST", "/workflow/resume/@workflow_id@")]],
    "POST /workflow/cancel/{workflow_id}": lambda p: [[
        WORKFLOW, Request("POST", "/workflow/cancel/@workflow_id@")]],
}


# --- The walk --------------------------------------------------------------------------------


def example_body(document, operation):
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {}).get("$ref", "").split("/")[-1]
    examples = document["components"]["schemas"].get(schema, {}).get("examples")
    return examples[0] if examples else None


def with_ids(place, body):
    """Returns the example with ids that exist."""
    ids = {"run_id": place.run, "thread_id": place.thread, "agent_id": place.agent,
           "checkpoint_id": place.checkpoint, "to_thread_id": place.other_thread}
    if not isinstance(body, dict):
        return body
    return {name: ids.get(name, value) for name, value in body.items()}


def example_request(document, place, method, path, operation):
    target = path
    query = []
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        if parameter["in"] == "path":
            target = target.replace(f"{{{name}}}", place.param(name, path))
        elif name == "limit":
            query.append(f"limit={parameter['schema'].get('maximum', LARGEST_PAGE)}")
        elif name == "include":
            schema = parameter["schema"]
            words = schema.get("enum") or schema.get("items", {}).get("enum") or []
            query += [f"include={words[0]}"] if words else []
    if query:
        target += "?" + "&".join(query)
    body = with_ids(place, example_body(document, operation))
    return Request(method, target, body, dict(ANY) if method in ("PUT", "PATCH") else None)


def routes_of(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method in ("get", "post", "put", "patch", "delete"):
                yield f"{method.upper()} {path}", method.upper(), path, operation


def scripts_of(document, place, name, method, path, operation):
    scripts = WORST[name](place) if name in WORST else [
        [example_request(document, place, method, path, operation)]]
    if operation.get("x-cairn-scope") == "operator":
        for script in scripts:
            script[-1].operator = True
    return scripts
