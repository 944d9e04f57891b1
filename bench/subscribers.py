# SPDX-License-Identifier: Apache-2.0
"""(c) and (d): delivery times of events, and the memory of an idle subscriber."""
import socket
import time

from lib import ms, paragraph, raise_file_limit, table, report

SUBSCRIBERS = (1, 1000, 10000)
ROUNDS = {1: 500, 1000: 60, 10000: 20}
IDLE = 10000


def rows_of_delivery(rig, cairn, facts):
    rows = []
    for stream in ("thread", "tenant"):
        for count in SUBSCRIBERS:
            report(f"delivery by the {stream} stream, {count} subscribers")
            run = rig.measure("delivery", cairn.port, cairn.port, stream,
                              cairn.make_threads(1)[0], cairn.key, count,
                              ROUNDS[count] // 5 if rig.quick else ROUNDS[count])
            facts[f"{stream}-{count}"] = run
            rows.append([stream, f"{count:,}", ms(run["answer_p50"]), ms(run["one_p50"]),
                         ms(run["one_p99"]), ms(run["one_max"]), ms(run["all_p50"])])
    return rows


def memory_each(cairn, threads):
    """Returns the resident bytes per subscriber; the subscribers are spread over the threads."""
    requests = [cairn.request("GET", f"/v1/threads/{thread}/events/stream?after=1")
                for thread in threads]
    before = cairn.memory_kib()
    sockets = []
    for i in range(IDLE):
        s = socket.create_connection(("127.0.0.1", cairn.port))
        s.sendall(requests[i % len(requests)])
        sockets.append(s)
    for s in sockets:
        if not s.recv(4096).startswith(b"HTTP/1.1 200"):
            raise SystemExit("a stream was refused")
    time.sleep(1)
    if cairn.metrics()["cairn_subscribers"] != IDLE:
        raise SystemExit("some subscribers were disconnected")
    after = cairn.memory_kib()
    for s in sockets:
        s.close()
    return (after - before) * 1024 / IDLE


def measure_memory(rig, n_threads):
    """Measures on a new server, which has no freed memory to reuse."""
    report(f"memory of {IDLE} idle subscribers of {n_threads} threads")
    cairn = rig.cairn(f"idle-{n_threads}")
    try:
        return memory_each(cairn, cairn.make_threads(n_threads))
    finally:
        cairn.stop()


def measure(rig):
    facts = {}
    raise_file_limit()
    one = measure_memory(rig, 1)
    many = measure_memory(rig, 1000)
    facts["idle_bytes"], facts["idle_bytes_apart"] = one, many
    cairn = rig.cairn("data")
    try:
        cairn.make_key()
        rows = rows_of_delivery(rig, cairn, facts)
    finally:
        cairn.stop()
    return ["## Subscribers", "",
            *paragraph(
                "Times start when the append is sent, so they include the commit. They end when"
                " its response arrives, when a subscriber has the event (p50, p99 and the slowest"
                " of all subscribers in all rounds), and when all subscribers have it (the median"
                " round). SSE, one loop; one process runs all subscribers, on the same cores."),
            *table(["<stream", "subscribers", "answer p50", "delivery p50", "delivery p99",
                    "the slowest", "all of them"], rows),
            *paragraph(
                f"Resident memory of the server for each of {IDLE:,} idle subscribers: {one:,.0f}"
                f" bytes if all follow one thread, {many:,.0f} if they follow 1,000 threads."
                " Kernel memory of the sockets is not included.")], facts
