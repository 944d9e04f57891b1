# SPDX-License-Identifier: Apache-2.0
"""One tenant does its worst, and another tenant sends small reads and writes.

First five cases that were slow in earlier versions, then a walk over all routes of the OpenAPI
document (noisy_routes.py). NOISY_BEFORE names the binary of an older version, which is measured in
the five cases too. NOISY_VERBOSE reports each route, NOISY_WALK_ONLY omits the cases,
NOISY_ENGINES selects one engine, and NOISY_ROUTES the routes whose names contain one of its parts,
separated by commas."""
import itertools
import json
import multiprocessing
import os
import socket
import tempfile
import threading
import time

import noisy_routes
from lib import Cairn, Program, ms, paragraph, report, settle, table, write_requests
from noisy_routes import ANY, JSON_PATCH, Place, Request, words
from peers import Postgres

CASE_S = 4
GLANCE_S = 0.5  # of the first round of the walk
LOOK_S = 2.0    # of the second round, with the worst routes of the first
RATE = 200      # reads, and writes, a second
PROBES = 64     # connections of each, so that a slow response delays no other request
CONNECTIONS = 6
WORST = 10
TARGET_MS, TARGET_RATIO = 100, 5


# --- The noise -------------------------------------------------------------------------------


class Line:
    """A connection that sends requests and reads answers until a deadline."""

    def __init__(self, port, until):
        self.port, self.until = port, until
        self.sock, self.data = None, bytearray()

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock, self.data = None, bytearray()

    def receive(self):
        part = self.sock.recv(1 << 20)
        if not part:
            raise OSError("closed")
        self.data += part

    def take(self, count):
        while len(self.data) < count:
            self.receive()
        taken = bytes(self.data[:count])
        del self.data[:count]
        return taken

    def take_line(self):
        while b"\r\n" not in self.data:
            self.receive()
        line = self.take(self.data.index(b"\r\n") + 2)
        return line[:-2].decode("latin-1")

    def read_body(self, headers):
        if "chunked" not in headers.get("transfer-encoding", ""):
            return self.take(int(headers.get("content-length", 0)))
        chunks = []
        while (size := int(self.take_line(), 16)) > 0:
            chunks.append(self.take(size + 2)[:-2])
        self.take_line()
        return b"".join(chunks)

    def read_stream(self):
        """Reads an endless answer until the deadline."""
        self.sock.settimeout(0.1)
        while time.monotonic() < self.until:
            try:
                self.receive()
                self.data.clear()
            except TimeoutError:
                pass
        self.close()
        return b""

    def send(self, parts):
        """Returns the status and the body of the answer."""
        if self.sock is None:
            self.sock = socket.create_connection(("127.0.0.1", self.port), 60)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            self.sock.sendall(part)
        status = int(self.take_line().split()[1])
        headers = {}
        while line := self.take_line():
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        if status == 101 or "event-stream" in headers.get("content-type", ""):
            return status, self.read_stream()
        return status, self.read_body(headers)


def run_script(line, script, keys, numbers):
    """Sends the requests of a script once. Returns the status of the last one."""
    marks = {"n": next(numbers)}
    status = 0
    for request in script:
        status, body = line.send(request.encode(keys[request.operator], marks))
        if status >= 300:
            return status, request is script[-1], body[:300]
        marks = {**members(body, request.made), **marks}
    return status, True, b""


def members(body, made):
    """Returns the members of an answer that later requests of the script may name."""
    answer = json.loads(body) if body[:1] == b"{" and len(body) < 1 << 20 else {}
    if "id" in answer:
        answer[made] = answer.pop("id")
    if "tenant" in answer:
        answer["tenant.id"] = answer["tenant"]["id"]
    found = {name: value for name, value in answer.items() if isinstance(value, (str, int))}
    return {**found, **{f"{made}.{name}": value for name, value in found.items()}}


def make_noise(port, scripts, keys, connections, until, once, out):
    """Repeats the scripts, each on its connections, and puts the counts of the last statuses. Has a
    lower priority, so that it takes no CPU from the server and the measured tenant."""
    os.nice(10)
    numbers = itertools.count(time.monotonic_ns())
    statuses, why = {}, {}

    def repeat(script):
        line = Line(port, until)
        while time.monotonic() < until:
            try:
                status, is_last, body = run_script(line, script, keys, numbers)
                statuses[status if is_last else -status] = statuses.get(status, 0) + 1
                if status >= 300:
                    why[status] = body.decode("utf-8", "replace")
            except (OSError, ValueError) as error:
                why[0] = str(error)
                line.close()
                time.sleep(0.01)
            if once:
                break
        line.close()

    threads = [threading.Thread(target=repeat, args=(script,))
               for script, _ in zip(itertools.cycle(scripts), range(connections))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((statuses, why))


# --- A server with two tenants ---------------------------------------------------------------


class Stage:
    def __init__(self, rig, binary, engine, name="stage"):
        self.rig, self.cluster = rig, None
        if engine == "PostgreSQL":
            os.chmod(rig.directory, 0o755)  # the role of PostgreSQL must reach its directory
            self.cluster = Postgres(tempfile.mkdtemp(dir=rig.directory))
            options = ("--db", self.cluster.url)
        else:
            options = ("--data", tempfile.mkdtemp(dir=rig.directory))
        self.cairn = Cairn(binary, *options)
        self.cairn.make_key()
        self.noisy, self.quiet = (self.make_tenant(name) for name in ("noisy", "quiet"))
        self.line = Line(self.cairn.port, float("inf"))
        self.thread = self.ask("POST", "/v1/threads", {}, key=self.quiet)["id"]
        event = {"kind": "progress", "text": "step done"}
        self.probes = {what: write_requests(f"{rig.directory}/{name}-{what}", [
            b"".join(request.encode(self.quiet, {}))]) for what, request in (
                ("read", Request("GET", "/v1/whoami")),
                ("write", Request("POST", f"/v1/threads/{self.thread}/events", event)))}

    def make_tenant(self, name):
        return self.cairn.post("/v1/tenants", {"name": name})["key"]["secret"]

    def ask(self, method, path, body=None, headers=None, key=None):
        request = Request(method, path, body, headers)
        status, body = self.line.send(request.encode(key or self.noisy, {}))
        if status >= 300:
            raise SystemExit(f"{method} {path[:200]}: {status} {body[:500]}")
        return json.loads(body) if body[:1] == b"{" else body

    def listen(self, scripts, seconds, connections=CONNECTIONS, once=False, warm_s=0.1,
               apart=None):
        """Returns the latencies of the quiet tenant next to the noise, and the noise's statuses.
        The quiet tenant of the stage `apart` uses another server."""
        port, noise = self.cairn.port, multiprocessing.Queue()
        quiet = apart or self
        until = time.monotonic() + warm_s + seconds
        if scripts:
            maker = multiprocessing.Process(target=make_noise, args=(
                port, scripts, (self.noisy, self.cairn.key), connections, until, once, noise))
            maker.start()
            time.sleep(warm_s)
        loads = {name: Program(self.rig, "load", "http", quiet.cairn.port, PROBES, file,
                               seconds, 0, RATE)
                 for name, file in quiet.probes.items()}
        found = {name: figures(load.finish()) for name, load in loads.items()}
        found["statuses"], found["why"] = noise.get() if scripts else ({}, {})
        if scripts:
            maker.join()
        return found

    def stop(self):
        self.line.close()
        self.cairn.stop()
        if self.cluster:
            self.cluster.stop()


def figures(run):
    return {"unserved": run["unserved"],
            **{figure: run[f"latency_{figure}"] for figure in ("p50", "p99", "max")}}


# --- Five cases ------------------------------------------------------------------------------


class Cases:
    """Data for five requests that used to stop the other tenants."""

    MESSAGES, DELETED, EVENTS = 50000, 20000, 100000

    def __init__(self, stage, share):
        self.stage, self.share = stage, share

    def make_messages(self, count):
        thread = self.stage.ask("POST", "/v1/threads", {})["id"]
        sent = {"messages": [{"content": words(100, i)} for i in range(100)]}
        for _ in range(int(count * self.share) // 100):
            self.stage.ask("POST", f"/v1/threads/{thread}/messages", sent)
        return thread

    def export(self):
        thread = self.make_messages(self.MESSAGES)
        return [[Request("GET", f"/v1/threads/{thread}/export")]], 2, False

    def batches(self):
        return noisy_routes.store_batches(None), CONNECTIONS, False

    def patches(self):
        path = f"/v1/threads/{self.stage.ask('POST', '/v1/threads', {})['id']}/states/list"
        put = Request("PUT", path, {"data": {"list": [0] * 100000}}, ANY)
        return [[put, Request("PATCH", path, noisy_routes.shifting_patch(count), JSON_PATCH)]
                for count in (300, 10000)], CONNECTIONS, False

    def deletion(self):
        threads = [self.make_messages(self.DELETED) for _ in range(2)]
        return [[Request("DELETE", f"/v1/threads/{thread}", headers=ANY)]
                for thread in threads], 2, True

    def archive(self):
        thread = self.stage.ask("POST", "/v1/threads", {})["id"]
        events = [{"kind": "acme.noise", "payload": {"n": i}} for i in range(1000)]
        for _ in range(max(int(self.EVENTS * self.share) // 1000, 1)):
            self.stage.ask("POST", f"/v1/threads/{thread}/events", {"events": events})
        return [[Request("POST", "/v1/imports?ids=remap",
                         self.stage.ask("GET", f"/v1/threads/{thread}/export"),
                         {"Content-Type": "application/x-tar"})]], 1, False

    def all(self):
        yield f"2 exports of {self.MESSAGES:,} messages", self.export
        yield "batches of the store, 10 MiB and 100 vectors", self.batches
        yield "JSON Patches of an array of 100,000 items", self.patches
        yield f"deletion of 2 threads of {self.DELETED:,} messages", self.deletion
        yield f"imports of {self.EVENTS:,} events", self.archive


def measure_cases(rig, version, binary, engine):
    stage = Stage(rig, binary, engine)
    seconds = 1 if rig.quick else CASE_S
    try:
        idle = stage.listen([], seconds)
        yield version, engine, "none", idle
        for name, prepare in Cases(stage, 0.05 if rig.quick else 1).all():
            report(f"noisy: {version}, {engine}, {name}")
            scripts, connections, once = prepare()
            settle()
            yield version, engine, name, stage.listen(scripts, seconds, connections, once)
    finally:
        stage.stop()


def case_row(version, engine, name, found):
    return [version, engine, name, *(ms(found[what][figure]) for what in ("read", "write")
                                     for figure in ("p50", "p99", "max")),
            f"{sum(found[what]['unserved'] for what in ('read', 'write')):.0f}"]


# --- The walk --------------------------------------------------------------------------------


def worst_p99(found):
    return max(found["read"]["p99"], found["write"]["p99"])


def worst_of(found, count=WORST):
    return sorted(found, key=lambda name: -worst_p99(found[name]))[:count]


def is_above(found, idle):
    return any(found[what]["p99"] > TARGET_MS * 1000 or
               found[what]["p99"] > TARGET_RATIO * idle[what]["p99"] for what in ("read", "write"))


def shared_alone(found, apart, idle):
    """The routes next to which the quiet tenant is slow, and not if it has a server of its own."""
    return [name for name in found
            if is_above(found[name], idle) and not is_above(apart[name], idle)]


def was_exercised(found):
    return any(200 <= status < 300 or status == 101 for status in found["statuses"])


def is_wanted(name):
    parts = os.environ.get("NOISY_ROUTES", "").split(",")
    return any(part in name for part in parts)


def walk(rig, engine):
    """Returns the figures without noise, next to each route, and those of a quiet tenant that has a
    server of its own, next to the routes that miss a target: what the machine allows."""
    stage = Stage(rig, rig.binary, engine)
    other = Stage(rig, rig.binary, engine, "other")
    glance_s, look_s = (0.2, 0.3) if rig.quick else (GLANCE_S, LOOK_S)
    try:
        document = json.loads(stage.cairn.ask("GET", "/openapi.json"))
        idle = stage.listen([], look_s * 2)
        place = Place(stage.ask, 0.1 if rig.quick else 1)
        routes, found, apart = {}, {}, {}

        def look(name, seconds):
            """Next to one route, and the same with a server of one's own if that is too slow."""
            found[name] = stage.listen(routes[name], seconds)
            if is_above(found[name], idle) or name in apart:
                time.sleep(0.1)
                apart[name] = stage.listen(routes[name], seconds, apart=other)
            if os.environ.get("NOISY_VERBOSE"):
                report(f"{engine} {name}: {worst_p99(found[name]) / 1000:.0f} ms"
                       f" {found[name]['statuses']} {found[name]['why'] or ''}")

        for name, method, path, operation in noisy_routes.routes_of(document):
            if is_wanted(name):
                routes[name] = noisy_routes.scripts_of(
                    document, place, name, method, path, operation)
                look(name, glance_s)
        for name in shared_alone(found, apart, idle):
            look(name, glance_s)
        for name in worst_of(found, 2 * WORST):
            time.sleep(0.2)
            look(name, look_s)
        return idle, found, apart
    finally:
        other.stop()
        stage.stop()


def walk_lines(engine, idle, found, apart):
    def row(name, figures, other=None):
        p99s = [ms(other[what]["p99"]) if other else "" for what in ("read", "write")]
        return [name, *(ms(figures[what][figure]) for what in ("read", "write")
                        for figure in ("p50", "p99", "max")), *p99s]

    worst = worst_of(found)
    rows = [row("idle", idle),
            *(row(f"`{name}`", found[name], apart.get(name)) for name in worst)]
    above = [name for name in found if is_above(found[name], idle)]
    slow = [name for name in found if worst_p99(found[name]) > TARGET_MS * 1000]
    alone = shared_alone(found, apart, idle)
    missed = [name for name in found if not was_exercised(found[name])]
    count = (f"{engine}: {len(found)} routes; next to {len(slow)} of them a p99 is above"
             f" {TARGET_MS} ms, next to {len(above)} it is above that or above {TARGET_RATIO} times"
             f" the idle p99. Next to {len(above) - len(alone)} of these it is so even if the quiet"
             " tenant has a server of its own (\"apart\").")
    if missed:
        count += " Not exercised, because no request succeeded: "
        count += ", ".join(f"`{name}`" for name in missed) + "."
    return [*paragraph(count), *table(
        ["<noise", "read p50", "p99", "max", "write p50", "p99", "max", "apart: read p99",
         "write p99"], rows)], {
            "routes": len(found), "slow": len(slow), "above": len(above),
            "alone": sorted(alone),
            "not_exercised": missed, "idle": {what: idle[what] for what in ("read", "write")},
            "worst": {name: {what: found[name][what] for what in ("read", "write")}
                      for name in worst},
            "apart": {name: {what: apart[name][what] for what in ("read", "write")}
                      for name in worst if name in apart}}


ENGINES = ("SQLite", "PostgreSQL")


def measure(rig):
    engines = os.environ.get("NOISY_ENGINES", ",".join(ENGINES)).split(",")
    before = os.environ.get("NOISY_BEFORE")
    rows, facts, walks = [], {"cases": {}}, []
    if not os.environ.get("NOISY_WALK_ONLY"):
        for engine in engines:
            for version, binary in (("before", before), ("now", rig.binary)):
                if binary:
                    for case in measure_cases(rig, version, binary, engine):
                        rows.append(case_row(*case))
                        facts["cases"][", ".join(case[:3])] = {
                            what: case[3][what] for what in ("read", "write")}
    for engine in engines:
        report(f"noisy: all routes on {engine}")
        lines, facts[engine] = walk_lines(engine, *walk(rig, engine))
        walks += lines
    return ["## Noisy neighbours", "",
            *paragraph(
                f"One tenant sends its worst requests on {CONNECTIONS} connections; another tenant"
                f" reads (`GET /v1/whoami`) and appends events, {RATE} times a second each."
                " Latency is measured from the time a request was due. The client that makes the"
                " noise has a lower priority than the server, with which it shares the machine."
                " Unserved requests got 503 or, within ten seconds, no response."
                " \"Before\" is a build from before time was divided between tenants."),
            *table(["<", "<", "<noise", "read p50", "p99", "max", "write p50", "p99", "max",
                    "unserved"], rows),
            "### All routes", "",
            *paragraph(
                f"The same next to the worst known requests to each route: {GLANCE_S} s for every"
                f" route, and again {LOOK_S} s for the {2 * WORST} worst. The table has the"
                f" {WORST} worst. \"Apart\" is the same noise on the same machine while the quiet"
                " tenant uses a second server with its own database: no server could do better"
                " than that without reserving cores."),
            *walks], facts
