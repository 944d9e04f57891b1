# SPDX-License-Identifier: Apache-2.0
"""(e), and (f) with a large database: appends and reads as the log grows to 10 million events."""
import os
import random
import time
from pathlib import Path

from lib import median, ms, paragraph, settle, table, report, write_requests
from process import start_ms

# The number of events and threads at each measurement; each thread has at least one page.
STEPS = ((10_000, 100), (100_000, 1000), (1_000_000, 10_000), (3_000_000, 10_000),
         (10_000_000, 10_000))
LOAD_BATCH = 10   # events per request while the log is filled, as a step of an agent may write
CONNECTIONS = 64
APPENDS = 10_000  # per turn
TURNS = 3
READS = 3000
COLD_READS = 300
PAGE = 100


class Log:
    def __init__(self, rig):
        self.rig = rig
        self.random = random.Random(5)
        self.counts = {}  # events by thread
        self.cairn = rig.cairn("data")

    def n_events(self):
        return sum(self.counts.values())

    def load(self, requests, connections, count):
        file = write_requests(f"{self.rig.directory}/requests", requests)
        return self.rig.measure("load", "http", self.cairn.port, connections, file, 1800, count, 0)

    def make_threads(self, count):
        missing = count - len(self.counts)
        if missing > 0:
            self.load([self.cairn.request("POST", "/v1/threads", "{}")], 64, missing)
            for thread in self.cairn.list_threads():
                self.counts.setdefault(thread, 1)  # the event of its creation

    def append(self, events, n_requests):
        """Sends appends with this number of events to all threads, in an order unlike any index."""
        threads = list(self.counts)
        self.random.shuffle(threads)
        run = self.load([self.cairn.append_request(thread, events) for thread in threads],
                        CONNECTIONS, n_requests)
        rounds, rest = divmod(n_requests, len(threads))
        for i, thread in enumerate(threads):
            self.counts[thread] += (rounds + (i < rest)) * events
        return run

    def grow_to(self, count):
        """Fills the log up to `count` events; returns the events a second."""
        n_requests = max(count - self.n_events(), 0) // LOAD_BATCH
        return self.append(LOAD_BATCH, n_requests)["rate"] * LOAD_BATCH if n_requests else 0

    def read(self, connections, count):
        """Reads pages of 100 events at random positions of random threads."""
        requests = []
        for thread in self.random.sample(list(self.counts), min(count, len(self.counts))):
            after = self.random.randint(0, max(self.counts[thread] - PAGE, 0))
            requests.append(self.cairn.request(
                "GET", f"/v1/threads/{thread}/events?limit={PAGE}&after={after}"))
        return self.load(requests, connections, count)

    def read_cold(self):
        """Reads after a restart without the database in the page cache."""
        self.cairn.stop()
        for path in Path(self.rig.directory, "data").iterdir():
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)
        self.cairn = self.rig.cairn("data")
        return self.read(1, min(COLD_READS, len(self.counts)))

    def size_mib(self):
        return sum(path.stat().st_size
                   for path in Path(self.rig.directory, "data").iterdir()) / 2**20


def measure_step(log, count, n_threads):
    report(f"growth: to {count:,} events of {n_threads:,} threads")
    log.make_threads(n_threads)
    filled = log.grow_to(count)
    settle()
    time.sleep(1)
    appends = [log.append(1, APPENDS) for _ in range(TURNS)]
    read = log.read(1, READS)
    reads = log.read(16, READS)
    cold = log.read_cold()
    return {"events": count, "threads": n_threads, "filled": filled,
            "appends": median([run["rate"] for run in appends]),
            "append_p99": median([run["latency_p99"] for run in appends]),
            "read_p50": read["latency_p50"], "read_p99": read["latency_p99"],
            "reads": reads["rate"], "cold_p50": cold["latency_p50"],
            "cold_p99": cold["latency_p99"], "mib": log.size_mib(),
            "rss_mib": log.cairn.memory_kib() / 1024}


def row_of(step):
    return [f"{step['events']:,}", f"{step['threads']:,}",
            f"{step['filled']:,.0f}" if step["filled"] else "", f"{step['appends']:,.0f}",
            ms(step["append_p99"]), ms(step["read_p50"]), ms(step["read_p99"]),
            f"{step['reads']:,.0f}", ms(step["cold_p50"]), ms(step["cold_p99"]),
            f"{step['mib']:,.0f} MiB"]


def measure(rig):
    log = Log(rig)
    steps = []
    try:
        for count, n_threads in STEPS[:2] if rig.quick else STEPS:
            steps.append(measure_step(log, count, n_threads))
            report("growth: " + ", ".join(row_of(steps[-1])))
    finally:
        log.cairn.stop()
    report("growth: starts")
    started = median([start_ms(rig, "data") for _ in range(10)])
    first, last = steps[0], steps[-1]
    ratios = {"append_ratio": first["appends"] / last["appends"],
              "read_ratio": last["read_p50"] / first["read_p50"],
              "reads_ratio": first["reads"] / last["reads"],
              "cold_ratio": last["cold_p50"] / first["cold_p50"]}
    facts = {"steps": steps, "start_ms": started, **ratios}
    return ["## As the log grows", "",
            *paragraph(
                f"The log is filled by appends of {LOAD_BATCH} events to all threads in a random"
                " order, so that the events of a thread are far apart; each row is measured when"
                " the log has that many events. Appends: one event each, 64 connections, random"
                f" threads (the median of {TURNS} times {APPENDS:,}). Reads: {PAGE} events of one"
                " thread, from a random position, of random threads; p50 and p99 with one"
                " connection, reads/s with 16. Cold: the first reads after a start without the"
                " files in the page cache of this machine (its disk may have a cache)."),
            *table(["events", "threads", "filled at, events/s", "appends/s", "append p99",
                    "read p50", "read p99", "reads/s", "cold read p50", "cold read p99", "files"],
                   [row_of(step) for step in steps]),
            *paragraph(
                f"From the first row to the last: appends {ratios['append_ratio']:.2f} times"
                f" slower, reads {ratios['read_ratio']:.2f} times (p50) and"
                f" {ratios['reads_ratio']:.2f} times (reads/s), cold reads"
                f" {ratios['cold_ratio']:.2f} times. Start to listening with {last['events']:,}"
                f" events: {started:.0f} ms (median of 10).")], facts
