#!/usr/bin/env python3
"""Measures Cairn beside the limits of the machine, in one run: run.py CAIRN_BINARY

Prints a table and writes it to bench/RESULTS.md. The load generator shares the machine with the
server, so the ratios matter, not the figures.
"""
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS = 5
CONNECTIONS = (1, 64, 512)
SUBSCRIBERS = 2000


def rate(command):
    return float(subprocess.run(command, check=True, text=True, capture_output=True).stdout)


def wrk(url, connections, script=None):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}", "--latency", url]
    if script:
        command[4:4] = ["-s", str(script)]
    out = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    if "Non-2xx" in out:
        sys.exit(f"requests were refused:\n{out}")
    return (float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]),
            re.search(r"50%\s+(\S+)", out)[1], re.search(r"99%\s+(\S+)", out)[1])


class Cairn:
    def __init__(self, binary, directory):
        started = time.monotonic()
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--data", f"{directory}/data"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline())[1])
        self.start_ms = (time.monotonic() - started) * 1000
        self.url = f"http://127.0.0.1:{self.port}"

    def post(self, path):
        request = urllib.request.Request(self.url + path, method="POST")
        return json.load(urllib.request.urlopen(request))

    def rss_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def memory_per_subscriber(cairn, thread):
    request = f"GET /v1/threads/{thread}/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    before = cairn.rss_kib()
    sockets = []
    for _ in range(SUBSCRIBERS):
        s = socket.create_connection(("127.0.0.1", cairn.port))
        s.sendall(request)
        sockets.append(s)
    for s in sockets:
        s.recv(4096)
    time.sleep(0.5)
    after = cairn.rss_kib()
    for s in sockets:
        s.close()
    return (after - before) * 1024 / SUBSCRIBERS


def main():
    binary = sys.argv[1]
    directory = tempfile.mkdtemp(prefix="cairn-bench-", dir=os.environ.get("BENCH_DIR"))
    limits = f"{directory}/limits"
    source = str(HERE / "limits.c")
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", limits, source, "-lsqlite3"], check=True)
    cairn = Cairn(binary, directory)
    idle_mib = cairn.rss_kib() / 1024
    thread = cairn.post("/v1/threads")["id"]
    bytes_each = memory_per_subscriber(cairn, cairn.post("/v1/threads")["id"])
    rows = []
    for n in CONNECTIONS:
        ours, p50, p99 = wrk(f"{cairn.url}/v1/threads/{thread}/events", n, HERE / "append.lua")
        sqlite = rate([limits, "sqlite", directory, str(n), str(SECONDS)])
        plain = rate([limits, "file", directory, str(n), str(SECONDS)])
        rows.append(f"| {n} | {ours:,.0f} | {p50} | {p99} | {sqlite:,.0f} | {ours / sqlite:.2f} "
                    f"| {plain:,.0f} | {ours / plain:.2f} |")
    noop = wrk(f"{cairn.url}/healthz", 64)
    cairn.stop()
    shutil.rmtree(directory)
    report(rows, noop, bytes_each, cairn.start_ms, idle_mib)


def report(rows, noop, bytes_each, start_ms, idle_mib):
    text = "\n".join([
        "# Results", "",
        f"`make bench` on {os.cpu_count()} cores, {platform.system()} {platform.machine()}; the",
        "load generator (wrk, one thread) shares the machine. Ratios are of one run.", "",
        "## Durable appends of one event over HTTP, a second", "",
        "Beside bare SQLite (same table, indexes and pragmas, as many rows a commit as there are",
        "connections) and a preallocated file with fdatasync: the limit.", "",
        "| connections | Cairn | p50 | p99 | SQLite | ratio | file | ratio |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|", *rows, "",
        "## The rest", "", "| what | figure |", "|---|--:|",
        f"| `GET /healthz`, 64 connections, one loop | {noop[0]:,.0f} a second, p99 {noop[2]} |",
        f"| memory of an idle SSE subscriber ({SUBSCRIBERS}) | {bytes_each:,.0f} bytes |",
        f"| from start to listening | {start_ms:.0f} ms |",
        f"| resident memory, idle | {idle_mib:.1f} MiB |", ""])
    print(text)
    (HERE / "RESULTS.md").write_text(text)


main()
