# SPDX-License-Identifier: Apache-2.0
"""Archives: export and import of threads of several sizes, beside a client with small reads."""
import http.client
import json
import os
import random
import subprocess
import threading
import time

from lib import median, paragraph, remove, report, settle, table, write_requests
from messages import write_text

SIZES = (10_000, 100_000, 1_000_000)
BATCH = 100    # messages per request while a thread is filled
BATCHES = 200  # different requests, repeated
TURNS = 3
WARM = 100_000  # messages that fill the page cache of the server's writer, 64 MiB, beforehand
READS_ALONE = 1000
A_TURN = 100_000  # messages that one turn transfers at least; a small thread several times
PAUSE = 0.005  # between two small reads, so that they use little of the CPU


class Beside:
    """A client that reads one thread 200 times a second. Records the latencies."""

    def __init__(self, server, thread, count=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.path, self.count = f"/v1/threads/{thread}", count
        self.seconds, self.is_over = [], False
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while not self.is_over and len(self.seconds) != self.count:
            started = time.monotonic()
            self.connection.request("GET", self.path)
            answer = self.connection.getresponse()
            answer.read()
            if answer.status != 200:
                raise SystemExit(f"a read beside an archive: {answer.status}")
            self.seconds.append(time.monotonic() - started)
            time.sleep(PAUSE)

    def p99_ms(self):
        """Ends the client unless it has a count."""
        self.is_over = self.count is None
        self.thread.join()
        return sorted(self.seconds)[len(self.seconds) * 99 // 100] * 1000


def curl(*arguments):
    """Returns the status and the seconds of a transfer."""
    done = subprocess.run(["curl", "-sS", "-w", "%{http_code} %{time_total}", *arguments],
                          check=True, text=True, capture_output=True)
    status, seconds = done.stdout.split()
    return int(status), float(seconds)


class Size:
    """A server with one thread of so many messages."""

    def __init__(self, rig, count):
        self.rig, self.count = rig, count
        self.data = f"data-{count}"
        self.server = rig.cairn(self.data)
        self.thread, self.other, spare = self.server.make_threads(3)
        self.archive = f"{rig.directory}/archive"
        if count < WARM:
            self.fill(spare, WARM - count)
        self.fill(self.thread, count)

    def fill(self, thread, count):
        rng = random.Random(6)
        bodies = [json.dumps({"messages": [{"content": write_text(rng)} for _ in range(BATCH)]})
                  for _ in range(BATCHES)]
        path = f"/v1/threads/{thread}/messages"
        file = write_requests(f"{self.rig.directory}/requests",
                              [self.server.request("POST", path, body) for body in bodies])
        self.rig.measure("load", "http", self.server.port, 4, file, 3600, count // BATCH, 0)

    def transfer(self, *arguments):
        """Returns the status and the figures of transfers, with a client beside them."""
        settle()
        repeats = max(1, A_TURN // self.count)
        messages = self.count * repeats
        with open(f"/proc/{self.server.process.pid}/clear_refs", "w") as peak:
            peak.write("5")
        before, used = self.server.memory_kib(), self.server.cpu_us()
        beside = Beside(self.server, self.other)
        done = [curl(*arguments) for _ in range(repeats)]
        p99 = beside.p99_ms()
        status = max(status for status, _ in done)
        return status, {"us": sum(seconds for _, seconds in done) * 1e6 / messages,
                        "cpu_us": (self.server.cpu_us() - used) / messages,
                        "mib": (self.server.memory_kib("VmHWM") - before) / 1024, "p99": p99}

    def measure_export(self):
        url = f"{self.server.url}/v1/threads/{self.thread}/export"
        status, seen = self.transfer("-o", self.archive, url)
        if status != 200:
            raise SystemExit(f"an export of {self.count} messages: {status}")
        return seen

    def measure_import(self):
        """Returns the status too: an archive may have more rows than an import accepts."""
        return self.transfer("-o", "/dev/null", "-X", "POST", "-H", "Expect:", "-H",
                             "Content-Type: application/x-tar", "-T", self.archive,
                             f"{self.server.url}/v1/imports?ids=remap")

    def measure(self, turns):
        report(f"archives: {self.count} messages")
        alone = Beside(self.server, self.other, READS_ALONE).p99_ms()
        exports = [self.measure_export() for _ in range(turns)]
        size_mib = os.path.getsize(self.archive) / 2**20
        status, imported = self.measure_import()
        self.server.stop()
        remove(f"{self.rig.directory}/{self.data}")
        return {"count": self.count, "size_mib": size_mib, "alone_p99": alone,
                "export": {name: median([one[name] for one in exports]) for name in exports[0]},
                "import_status": status, "import": imported if status == 201 else None}


def row_of(size):
    export, imported = size["export"], size["import"]
    refused = ["-", f"refused with {size['import_status']}", "-", "-"]
    return [f"{size['count']:,}", f"{size['size_mib']:.0f} MiB", f"{size['alone_p99']:.1f} ms",
            f"{export['us']:.1f} µs", f"{export['cpu_us']:.1f} µs", f"{export['mib']:.0f} MiB",
            f"{export['p99']:.1f} ms",
            *(refused if imported is None else
              [f"{imported['us']:.1f} µs", f"{imported['cpu_us']:.1f} µs",
               f"{imported['mib']:.0f} MiB", f"{imported['p99']:.1f} ms"])]


def measure(rig):
    counts = (2_000, 10_000) if rig.quick else SIZES
    sizes = [Size(rig, count).measure(1 if rig.quick else TURNS) for count in counts]
    lines = ["## Archives", "",
             *paragraph(
                 "Threads of several sizes are exported over HTTP and imported again with new ids"
                 f" (SQLite); exports are the median of {TURNS} turns. Each message has an event,"
                 " so the archive has two rows for it. Times are for each message; the memory is"
                 " the growth of the server's maximum, after messages have filled the page cache of"
                 " its writer (64 MiB). Meanwhile another client reads one small thread 200 times a"
                 " second; its latencies are p99, and those without a transfer are in the third"
                 " column."),
             *table(["messages", "archive", "reads alone", "export", "CPU", "memory",
                     "reads beside", "import", "CPU", "memory", "reads beside"],
                    [row_of(size) for size in sizes])]
    return lines, {"sizes": sizes}
