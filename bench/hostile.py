# SPDX-License-Identifier: Apache-2.0
"""Harmful clients: thousands of slow ones, and subscribers that never read."""
import threading
import time

from lib import Program, ms, paragraph, table, report, write_lines, write_requests

SLOW = 5000
SLOW_INTERVAL_MS = 400
SLOW_SECONDS = 40
SLOW_RAMP_SECONDS = 5
ANSWER_EVENTS, ANSWER_BYTES = 128, 2048  # size of the response that the slow readers request
GOOD_CONNECTIONS = 64
GOOD_RATE = 400  # requests a second, half of them appends

SUBSCRIBERS = 10000
DEAF = 1000
DEAF_THREADS = 10
DEAF_RATE = 30   # events a second in total, each to a tenth of the subscribers
DEAF_BYTES = 8192
DEAF_SECONDS = 30


class Watcher(threading.Thread):
    """Records the subscribers and connections of the server twice a second."""

    def __init__(self, cairn):
        super().__init__(daemon=True)
        self.cairn = cairn
        self.notes = []
        self.is_over = False
        self.start()

    def run(self):
        started = time.monotonic()
        while not self.is_over:
            try:
                metrics = self.cairn.metrics()
            except OSError:  # the server was stopped after a failure
                return
            self.notes.append((time.monotonic() - started, metrics["cairn_subscribers"],
                               metrics["cairn_http_connections"], self.cairn.memory_kib()))
            time.sleep(0.5)

    def stop(self):
        self.is_over = True
        self.join()


# --- Slow clients ----------------------------------------------------------------------------


def make_large_thread(cairn):
    thread = cairn.make_threads(1)[0]
    event = {"kind": "progress", "payload": "x" * ANSWER_BYTES}
    cairn.post(f"/v1/threads/{thread}/events", {"events": [event] * ANSWER_EVENTS})
    return thread


def good_requests(rig, cairn):
    requests = []
    for thread in cairn.make_threads(64):
        requests += [cairn.append_request(thread),
                     cairn.request("GET", f"/v1/threads/{thread}/events?limit=20")]
    return write_requests(f"{rig.directory}/good", requests)


def measure_good(rig, cairn, file, seconds):
    """Loads the server with the good clients; adds the share of a core that the server used."""
    before = cairn.cpu_us()
    run = rig.measure("load", "http", cairn.port, GOOD_CONNECTIONS, file, seconds, 0, GOOD_RATE)
    return {**run, "server": (cairn.cpu_us() - before) / (seconds * 1e6)}


def row_of_good(name, run, rss_mib):
    return [name, f"{run['rate']:,.0f}", *(ms(run[f"latency_{p}"]) for p in
                                           ("p50", "p99", "p999", "max")),
            f"{run['server']:.2f}", f"{rss_mib:.1f} MiB"]


def cut_rows(cuts):
    rows = []
    for kind in ("head", "body", "page", "stream"):
        n = int(cuts[f"{kind}_cuts"])
        rows.append([kind, f"{n:,}", *(f"{cuts[f'{kind}_age_{p}'] / 1e6:.1f} s" if n else ""
                                       for p in ("p50", "max"))])
    return rows


def measure_slow(rig):
    seconds = 12 if rig.quick else SLOW_SECONDS
    cairn = rig.cairn("data")
    try:
        cairn.make_key()
        large = make_large_thread(cairn)
        good = good_requests(rig, cairn)
        report("hostile: good clients alone")
        alone = measure_good(rig, cairn, good, seconds / 2)
        rss_before = cairn.memory_kib() / 1024
        report(f"hostile: with {SLOW} slow clients")
        slow = Program(rig, "slow", cairn.port, SLOW, seconds, SLOW_INTERVAL_MS,
                       SLOW_RAMP_SECONDS, large, cairn.key)
        beside = measure_good(rig, cairn, good, seconds)
        cuts = slow.finish()
        peak = cairn.memory_kib("VmHWM") / 1024
        time.sleep(1)
        after = measure_good(rig, cairn, good, 2)
        rss_after = cairn.memory_kib() / 1024
    finally:
        cairn.stop()
    facts = {"alone": alone, "beside": beside, "cuts": cuts, "peak_mib": peak,
             "rss_before_mib": rss_before, "rss_after_mib": rss_after}
    return ["## Slow clients", "",
            *paragraph(
                f"{SLOW:,} clients connect within {SLOW_RAMP_SECONDS} s. Each sends one byte (or"
                f" reads up to 64) every {SLOW_INTERVAL_MS} ms for {seconds} s, and reconnects"
                " when the server closes the connection. A third of them send a head, a third a"
                f" body, and a third read a response of {ANSWER_EVENTS * ANSWER_BYTES // 1024}"
                " KiB, half of them as a page and half as a stream (`bench/slow.c`)."
                f" {GOOD_CONNECTIONS} good connections append and read in turn, {GOOD_RATE}"
                " requests a second in total, without waiting for responses. Latency is measured"
                " from the time a request was due and includes the time in which the slow clients"
                " connect."),
            *table(["<good clients", "requests/s", "p50", "p99", "p99.9", "max",
                    "server's CPU, cores", "server's memory"],
                   [row_of_good("alone", alone, rss_before),
                    row_of_good(f"next to {SLOW:,} slow ones", beside, peak),
                    row_of_good("after they left", after, rss_after)]),
            *table(["<slow with", "disconnects", "after (median)", "at most"],
                       cut_rows(cuts))], facts


# --- Subscribers that never read -------------------------------------------------------------


def measure_deaf(rig):
    seconds = 10 if rig.quick else DEAF_SECONDS
    cairn = rig.cairn("data")
    try:
        cairn.make_key()
        threads = write_lines(f"{rig.directory}/threads", cairn.make_threads(DEAF_THREADS))
        report(f"hostile: {SUBSCRIBERS} subscribers of which {DEAF} never read")
        deaf = Program(rig, "deaf", cairn.port, SUBSCRIBERS, DEAF, threads, cairn.key, seconds,
                       DEAF_RATE, DEAF_BYTES)
        deaf.await_ready()
        idle = cairn.memory_kib() / 1024
        watcher = Watcher(cairn)
        run = deaf.finish()
        watcher.stop()
        peak = cairn.memory_kib("VmHWM") / 1024
    finally:
        cairn.stop()
    during = [note for note in watcher.notes if note[0] < seconds]
    left = during[-1][1]
    cut_at = next((note[0] for note in during if note[1] <= SUBSCRIBERS - DEAF), None)
    facts = {**run, "peak_mib": peak, "idle_mib": idle, "left": left}
    return ["## Subscribers that never read", "",
            *paragraph(
                f"{SUBSCRIBERS:,} SSE subscribers of {DEAF_THREADS} threads, of which {DEAF:,}"
                f" never read; {DEAF_RATE} events of {DEAF_BYTES // 1024} KiB a second in total"
                f" for {seconds} s, each to a tenth of the subscribers (`bench/deaf.c`). Delivery"
                " is measured from the time the append was due until a reader has the event;"
                " every reader must see every seq once, in order."),
            *table(["<", "figure"], [
                ["events, deliveries to readers",
                 f"{run['events']:,.0f}, {run['deliveries']:,.0f}"],
                ["lost, out of order or duplicated", f"{run['lost']:.0f}, {run['disorder']:.0f}"],
                ["readers that were disconnected and reconnected", f"{run['reconnects']:.0f}"],
                ["delivery p50, p99, the slowest", ", ".join(
                    ms(run[f"delivery_{p}"]) for p in ("p50", "p99", "max"))],
                ["answer to an append p50, p99", ", ".join(
                    ms(run[f"answer_{p}"]) for p in ("p50", "p99"))],
                ["subscribers left at the end", f"{left:,.0f}"],
                [f"all {DEAF:,} that never read were disconnected",
                 f"{cut_at:.0f} s after the first event" if cut_at else "no"],
                ["server's memory, all subscribed, maximum",
                 f"{idle:.0f} MiB, {peak:.0f} MiB"]])], facts
