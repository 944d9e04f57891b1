# SPDX-License-Identifier: Apache-2.0
"""Files: uploads and downloads, compared with nginx serving the same file, and the disk alone."""
import os
import subprocess
import time

from lib import Cairn, median, paragraph, settle, table, report
from peers import NginxFiles, Postgres

MIB = 2**20


def curl(*arguments):
    """Returns the seconds of a transfer, which must succeed."""
    done = subprocess.run(["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code} %{time_total}",
                           *arguments], check=True, text=True, capture_output=True)
    status, seconds = done.stdout.split()
    if status not in ("200", "201"):
        raise SystemExit(f"curl {' '.join(arguments)}: {status}")
    return float(seconds)


def make_file(path, size):
    with open(path, "wb") as out:
        for _ in range(size // (8 * MIB)):
            out.write(os.urandom(8 * MIB))


def copy_seconds(source, target):
    """Writes and syncs a file: the disk alone."""
    started = time.monotonic()
    subprocess.run(["dd", f"if={source}", f"of={target}", "bs=256K", "conv=fsync"], check=True,
                   stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    os.unlink(target)
    return seconds


class Place:
    """A server with one kind of content storage."""

    def __init__(self, name, server):
        self.name, self.server = name, server
        self.thread = server.make_threads(1)[0]
        self.up, self.down, self.cpu_up, self.cpu_down = [], [], [], []
        self.before = server.memory_kib() / 1024

    def url(self, name):
        return f"{self.server.url}/v1/threads/{self.thread}/files/{name}"

    def take_turn(self, source, turn):
        # Different bytes each time, because equal content is stored once.
        with open(source, "r+b") as file:
            file.write(os.urandom(16))
        for seconds, cpu, arguments in (
                (self.up, self.cpu_up, ("-T", source, self.url(f"f{turn}"))),
                (self.down, self.cpu_down, (self.url(f"f{turn}"),))):
            settle()
            used = self.server.cpu_us()
            seconds.append(curl(*arguments))
            cpu.append((self.server.cpu_us() - used) / 1e6)
        self.after = self.server.memory_kib() / 1024
        self.most = self.server.memory_kib("VmHWM") / 1024


def measure(rig):
    size = (64 if rig.quick else 2048) * MIB
    turns = 1 if rig.quick else 3
    source = f"{rig.directory}/source"
    report(f"files: {size // MIB} MiB")
    make_file(source, size)
    cluster = Postgres(rig.directory)
    os.mkdir(f"{rig.directory}/shared")
    places = [
        Place("SQLite", rig.cairn("data")),
        Place("PostgreSQL, in the database", Cairn(rig.binary, "--db", cluster.url)),
        Place("PostgreSQL, in a directory", Cairn(
            rig.binary, "--db", cluster.url, "--db-schema", "shared", "--files-dir",
            f"{rig.directory}/shared")),
    ]
    nginx = NginxFiles(rig.directory, source)
    alone, served, used = [], [], []
    for turn in range(turns):
        report(f"files: turn {turn + 1}")
        settle()
        alone.append(copy_seconds(source, f"{rig.directory}/copy"))
        settle()
        before = nginx.cpu_us()
        served.append(curl(nginx.url))
        used.append((nginx.cpu_us() - before) / 1e6)
        for place in places[turn % 3:] + places[:turn % 3]:
            place.take_turn(source, turn)

    def speed(seconds):
        return size / MIB / median(seconds)

    rows = [[p.name, f"{speed(p.up):,.0f} MiB/s", f"{speed(p.up) / speed(alone):.2f}",
             f"{median(p.cpu_up):.1f} s", f"{speed(p.down):,.0f} MiB/s",
             f"{speed(p.down) / speed(served):.2f}", f"{median(p.cpu_down):.1f} s",
             f"{p.before:.0f} MiB", f"{p.after:.0f} MiB", f"{p.most:.0f} MiB"] for p in places]
    rows.append(["dd, with fsync", f"{speed(alone):,.0f} MiB/s", "1.00", *[""] * 7])
    rows.append([f"nginx {nginx.version()}", "", "", "", f"{speed(served):,.0f} MiB/s", "1.00",
                 f"{median(used):.1f} s", "", "", ""])
    facts = {p.name: {"up_mib_s": speed(p.up), "down_mib_s": speed(p.down), "rss_mib": p.after,
                      "most_mib": p.most} for p in places}
    for server in (*(place.server for place in places), nginx):
        server.stop()
    cluster.stop()
    words = (f"One client (curl) sends a file of {size // MIB} MiB and reads it again, {turns}"
             " times; the figures are medians. Cairn hashes the content, syncs it before it"
             " responds, and compares the hash again while it sends; nginx (sendfile) and dd do"
             " neither. CPU is the server's own, without that of PostgreSQL. Memory is VmRSS before"
             " and after, and its maximum.")
    heads = ["<content", "up", "of dd", "CPU", "down", "of nginx", "CPU", "memory before", "after",
             "most"]
    lines = [f"## Files: {size // MIB} MiB up and down", "", *paragraph(words)]
    return [*lines, *table(heads, rows)], facts
