"""Cairn on SQLite, beside bare SQLite and a bare file."""
import socket
import time

from lib import Cairn, compile_c, numbers, table, tell, wrk

SECONDS = 4
CONNECTIONS = (1, 64, 512)
SUBSCRIBERS = 2000


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


def measure(binary, directory):
    limits = compile_c("limits", directory, ["-lsqlite3"])
    cairn = Cairn(binary, "--data", f"{directory}/data")
    idle_mib = cairn.rss_kib() / 1024
    bytes_each = memory_per_subscriber(cairn, cairn.make_threads(1)[0])
    url = f"{cairn.url}/v1/threads/{cairn.make_threads(1)[0]}/events"
    rows = []
    for n in CONNECTIONS:
        tell(f"SQLite, {n} connections")
        ours, p50, p99, _ = wrk([url], n, SECONDS)
        sqlite, = numbers([limits, "sqlite", directory, str(n), str(SECONDS)])
        plain, = numbers([limits, "file", directory, str(n), str(SECONDS)])
        rows.append([f"{n}", f"{ours:,.0f}", f"{p50:.2f} ms", f"{p99:.2f} ms", f"{sqlite:,.0f}",
                     f"{ours / sqlite:.2f}", f"{plain:,.0f}", f"{ours / plain:.2f}"])
    noop = wrk([f"{cairn.url}/healthz"], 64, SECONDS, appends=False)
    cairn.stop()
    return [
        "## SQLite: durable appends of one event over HTTP, a second", "",
        "Beside bare SQLite (same table, indexes and pragmas, as many rows a commit as there are",
        "connections) and a preallocated file with fdatasync: the limit.", "",
        *table(["connections", "Cairn", "p50", "p99", "SQLite", "ratio", "file", "ratio"], rows),
        "## The rest", "",
        *table(["<what", "figure"], [
            ["`GET /healthz`, 64 connections, one loop",
             f"{noop[0]:,.0f} a second, p99 {noop[2]:.2f} ms"],
            [f"memory of an idle SSE subscriber ({SUBSCRIBERS})", f"{bytes_each:,.0f} bytes"],
            ["from start to listening", f"{cairn.start_ms:.0f} ms"],
            ["resident memory, idle", f"{idle_mib:.1f} MiB"]])]
