# SPDX-License-Identifier: Apache-2.0
"""(g): calls through libcairn, compared with the same calls over HTTP."""
from lib import EVENT, medians, ms, paragraph, settle, table, report, write_requests

CALLERS = (1, 8, 64)
THREADS = 64
PAGE = 100


class Http:
    """The same appends and reads over HTTP, with as many connections."""

    def __init__(self, rig):
        self.rig = rig
        self.cairn = rig.cairn("http")
        threads = self.cairn.make_threads(2 * THREADS)
        page = '{"events":[' + ",".join([EVENT] * PAGE) + "]}"
        reads = [self.cairn.request("GET", f"/v1/threads/{thread}/events?limit={PAGE}")
                 for thread in threads[:THREADS]]
        fill = [self.cairn.request("POST", f"/v1/threads/{thread}/events", page)
                for thread in threads[:THREADS]]
        appends = [self.cairn.append_request(thread) for thread in threads[THREADS:]]
        self.files = {name: write_requests(f"{rig.directory}/{name}", requests) for name, requests
                      in (("read", reads), ("append", appends), ("fill", fill))}
        self.load("fill", 1, 10, THREADS)

    def load(self, what, connections, seconds, count=0):
        before = self.cairn.cpu_us()
        run = self.rig.measure("load", "http", self.cairn.port, connections, self.files[what],
                               seconds, count, 0)
        return {**run, "cpu": self.cairn.cpu_us() - before, "client": run["cpu"]}


def row_of(what, callers, library, http, seconds):
    calls = library["rate"] * seconds
    return [what, f"{callers}", f"{library['rate']:,.0f}", ms(library["latency_p50"]),
            ms(library["latency_p99"]), f"{library['cpu'] / calls:.1f}", f"{http['rate']:,.0f}",
            ms(http["latency_p50"]), ms(http["latency_p99"]),
            f"{(http['cpu'] + http['client']) / http['requests']:.1f}",
            f"{library['rate'] / http['rate']:.2f}"]


def measure(rig):
    seconds, turns = (1, 1) if rig.quick else (2, 3)
    http = Http(rig)
    rows, facts = [], {}
    try:
        for what, name in (("append", "append of one event"), ("read", "read of 100 events")):
            for callers in CALLERS:
                report(f"embedded: {name}, {callers} callers")
                ours, theirs = [], []
                for _ in range(turns):
                    settle()
                    ours.append(rig.measure("embedded", what, f"{rig.directory}/lib", callers,
                                            seconds))
                    settle()
                    theirs.append(http.load(what, callers, seconds))
                library, server = medians(ours), medians(theirs)
                facts[f"{what}-{callers}"] = {"library": library["rate"], "http": server["rate"]}
                rows.append(row_of(name, callers, library, server, seconds))
    finally:
        http.cairn.stop()
    return ["## Inside a program", "",
            *paragraph(
                "Calls a second through libcairn by threads of one process (`bench/embedded.c`),"
                f" and over HTTP by as many connections; {turns} turns of {seconds} s each. CPU is"
                " per call; over HTTP it is the sum of server and client."),
            *table(["<call", "callers", "libcairn", "p50", "p99", "CPU µs", "HTTP", "p50", "p99",
                    "CPU µs", "libcairn / HTTP"], rows)], facts
