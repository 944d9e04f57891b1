# SPDX-License-Identifier: Apache-2.0
"""Clients that flood the server with bodies and connections, and a client at another address.

FLOOD_BEFORE names the binary of an older version, which is then measured in the same way."""
import json
import multiprocessing
import os
import socket
import subprocess
import tempfile
import time

from lib import Cairn, ms, paragraph, raise_file_limit, report, table

SECONDS = 15
READ_EVERY_S = 0.01
WRITE_EVERY_S = 0.1
WRITE_BYTES = 100 * 1024

BODIES = 90
BODY_BYTES = 4 * 1024 * 1024
ZEROS_CLIENTS = 4
ZEROS_BYTES = 15 * 1024 * 1024
IDLE = 10000

ATTACKER, GOOD = "127.0.0.2", "127.0.0.3"


# --- Clients: each is a process --------------------------------------------------------------


def connect(port, address):
    return socket.create_connection(("127.0.0.1", port), 30, (address, 0))


def head(method, path, key, length=0):
    text = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    if key:
        text += f"Authorization: Bearer {key}\r\n"
    return f"{text}Content-Length: {length}\r\n\r\n".encode()


def status_of(sock):
    """Reads one response whole; returns its status, 0 if there is none."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65536)
        if not part:
            return 0
        data += part
    head, rest = data.split(b"\r\n\r\n", 1)
    left = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                 if line.lower().startswith(b"content-length:")), 0) - len(rest)
    while left > 0:
        left -= len(sock.recv(65536)) or left
    return int(head.split()[1])


def probe(port, request, every_s, until, keeps, out):
    """Sends the request at a steady rate; a new connection each time unless `keeps`. Latencies
    start when the request was due."""
    latencies, good, due, sock = [], 0, time.monotonic(), None
    while due < until:
        time.sleep(max(0, due - time.monotonic()))
        try:
            sock = sock or connect(port, GOOD)
            sock.sendall(request)
            good += status_of(sock) in (200, 201)
            latencies.append(time.monotonic() - due)
        except OSError:
            keeps and sock and sock.close()
            sock = None
        if not keeps and sock:
            sock.close()
            sock = None
        due += every_s
    out.put((sorted(latencies) or [float("nan")], good, len(latencies)))


def hold_bodies(port, key, until):
    """Never-ending bodies: sends all but the last bytes at once, and then one byte at a time."""
    waiting = [None] * BODIES
    while time.monotonic() < until:
        for i, sock in enumerate(waiting):
            try:
                if sock is None:
                    sock = waiting[i] = connect(port, ATTACKER)
                    sock.settimeout(2)
                    sock.sendall(head("POST", "/v1/threads", key, BODY_BYTES))
                    sock.sendall(b" " * (BODY_BYTES - 1000))
                else:
                    sock.sendall(b" ")
            except OSError:
                sock and sock.close()
                waiting[i] = None
        time.sleep(0.2)


def send_zeros(port, key, until):
    body = b'{"operations":[' + b"0," * (ZEROS_BYTES // 2) + b"0]}"
    request = head("POST", "/v1/store/batch", key, len(body)) + body
    while time.monotonic() < until:
        try:
            with connect(port, ATTACKER) as sock:
                sock.sendall(request)
                status_of(sock)
        except OSError:
            time.sleep(0.05)


def hold_connections(port, until, opened):
    raise_file_limit()
    waiting = []
    for i in range(IDLE):
        try:
            waiting.append(connect(port, ATTACKER))
        except OSError:
            break
    opened.set()
    time.sleep(max(0, until - time.monotonic()))


# --- One scenario ----------------------------------------------------------------------------


def knows(binary, option):
    return option in subprocess.run([binary, "serve", "--help"], text=True,
                                    capture_output=True).stdout


class Flood:
    def __init__(self, rig, binary, *options):
        # Loopback addresses have no limit by default.
        if knows(binary, "--max-connections-per-address"):
            options += ("--max-connections-per-address", "2500")
        raise_file_limit()
        self.rig = rig
        self.seconds = 4 if rig.quick else SECONDS
        self.cairn = Cairn(binary, "--data", tempfile.mkdtemp(dir=rig.directory), *options)
        self.cairn.make_key()
        self.keys = [self.make_tenant(which) for which in ("a", "b")]

    def make_tenant(self, name):
        return self.cairn.post("/v1/tenants", {"name": name})["key"]["secret"]

    def run(self, attackers, keeps=True, warm_s=3):
        """Returns what a good client sees while the attackers work."""
        started = time.monotonic()
        until = started + warm_s + self.seconds
        processes = [multiprocessing.Process(target=target, args=(self.cairn.port, *args, until))
                     for target, *args in attackers]
        for process in processes:
            process.start()
        time.sleep(warm_s)
        body = json.dumps({"context": {"text": "x" * WRITE_BYTES}}).encode()
        read = head("GET", "/v1/whoami", self.keys[1])
        write = head("POST", "/v1/threads", self.keys[1], len(body)) + body
        figures = []
        queues = [multiprocessing.Queue(), multiprocessing.Queue()]
        for queue, request, every_s in zip(queues, (read, write), (READ_EVERY_S, WRITE_EVERY_S)):
            processes.append(multiprocessing.Process(
                target=probe, args=(self.cairn.port, request, every_s, until - 0.5, keeps, queue)))
            processes[-1].start()
        for queue in queues:
            latencies, good, tried = queue.get()
            figures.append({"p50": latencies[len(latencies) // 2] * 1e6,
                            "p99": latencies[len(latencies) * 99 // 100] * 1e6,
                            "good": good / tried if tried else 0})
        peak = self.cairn.memory_kib("VmHWM") / 1024
        for process in processes:
            process.join()
        self.cairn.stop()
        return {"read": figures[0], "write": figures[1], "peak_mib": peak}


def scenarios(rig, binary):
    idle = Flood(rig, binary)
    yield "nobody floods", idle.run([], warm_s=0)
    report("flood: bodies without a key")
    flood = Flood(rig, binary)
    yield f"{BODIES} endless bodies without a key", flood.run([(hold_bodies, None)])
    report("flood: bodies with a key")
    flood = Flood(rig, binary)
    yield f"{BODIES} endless bodies of another tenant", flood.run([(hold_bodies, flood.keys[0])])
    report("flood: zeros")
    flood = Flood(rig, binary)
    yield (f"{ZEROS_CLIENTS} clients of another tenant send 15 MiB of `0,`",
           flood.run([(send_zeros, flood.keys[0])] * ZEROS_CLIENTS))
    report("flood: idle connections")
    flood = Flood(rig, binary, "--max-connections", str(IDLE))
    yield f"{IDLE:,} idle connections", hold_idle(flood)


def hold_idle(flood):
    """The good client connects for each request, because idle connections only take places."""
    opened = multiprocessing.Event()
    until = time.monotonic() + 20 + flood.seconds
    holder = multiprocessing.Process(target=hold_connections,
                                     args=(flood.cairn.port, until, opened))
    holder.start()
    opened.wait(20)
    found = flood.run([], keeps=False, warm_s=0)
    holder.kill()
    holder.join()
    return found


def row(version, name, found):
    return [version, name, f"{found['peak_mib']:.0f} MiB",
            ms(found["read"]["p50"]), ms(found["read"]["p99"]), f"{found['read']['good']:.0%}",
            ms(found["write"]["p50"]), ms(found["write"]["p99"]), f"{found['write']['good']:.0%}"]


def measure(rig):
    before = os.environ.get("FLOOD_BEFORE")
    rows, facts = [], {}
    for version, binary in (("before", before), ("now", rig.binary)):
        if binary is None:
            continue
        for name, found in scenarios(rig, binary):
            rows.append(row(version, name, found))
            facts[f"{version}: {name}"] = found
    return ["## Floods", "",
            *paragraph(
                f"One address floods the server; a client of another tenant at another address"
                f" reads (`GET /v1/whoami`) every {READ_EVERY_S * 1000:.0f} ms and creates a thread"
                f" of {WRITE_BYTES // 1024} KiB every {WRITE_EVERY_S * 1000:.0f} ms for"
                f" {SECONDS} s. Endless bodies have {BODY_BYTES >> 20} MiB, all of it sent at once"
                " except for the last bytes, and are sent again when the server closes the"
                " connection. The"
                f" idle connections occupy a server with `--max-connections {IDLE}`, and the"
                " client connects for each request. Latency is measured from the time a request"
                " was due; \"accepted\" is the share of 2xx responses. \"Before\" is a build from"
                " before keys were checked ahead of large bodies. Memory is VmHWM, the maximum."),
            *table(["<", "<flood", "memory", "read p50", "p99", "accepted",
                    "write p50", "p99", "accepted"], rows)], facts
