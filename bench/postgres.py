# SPDX-License-Identifier: Apache-2.0
"""Cairn on PostgreSQL with one and three nodes, compared with libpq alone and with SQLite."""
import statistics

from lib import Cairn, numbers, paragraph, table, report, write_lines, wrk
from peers import Postgres

SECONDS = 2  # of each turn
TURNS = 3    # Cairn and its peer take turns, so that other load affects both
WRITERS = 4  # per node: the default of --db-writers
THREADS = 64
NODES = 3
SUBSCRIBERS = 1000

APART = "one event, threads apart"  # no two nodes write to the same thread

# what, connections, threads of the log, events an append, nodes
APPENDS = (
    ("one event", 1, THREADS, 1, 1),
    ("one event", 64, THREADS, 1, 1),
    ("one event", 512, THREADS, 1, 1),
    ("one event, one thread", 64, 1, 1, 1),
    ("100 events", 64, THREADS, 100, 1),
    ("one event", 64, THREADS, 1, NODES),
    ("one event", 512, THREADS, 1, NODES),
    (APART, 64, THREADS, 1, NODES),
    (APART, 512, THREADS, 1, NODES),
    ("one event, one thread", 64, 1, 1, NODES),
    ("100 events", 64, THREADS, 100, NODES),
)


class Bench:
    def __init__(self, rig):
        self.rig = rig
        self.turns = 1 if rig.quick else TURNS
        self.peer = rig.program("libpq")
        self.directory = rig.directory
        self.cluster = Postgres(rig.directory)
        self.nodes = [Cairn(rig.binary, "--db", self.cluster.url, "--db-writers", f"{WRITERS}")
                      for _ in range(NODES)]
        self.alone = rig.cairn("data")
        self.nodes[0].make_key()
        self.alone.make_key()
        for node in self.nodes[1:]:
            node.key = self.nodes[0].key
        self.threads = {server: server.make_threads(THREADS)
                        for server in (self.nodes[0], self.alone)}
        self.of_one_node = {}

    def stop(self):
        for server in (*self.nodes, self.alone):
            server.stop()
        self.cluster.stop()

    def append(self, servers, connections, n_threads, events, apart=False):
        """Returns events a second, p50, p99, appends a commit, and failed requests."""
        urls = [f"/v1/threads/{i}/events" for i in self.threads[servers[0]][:n_threads]]
        paths = [write_lines(f"{self.directory}/paths{i}", urls[i::len(servers)] if apart else urls)
                 for i in range(len(servers))]
        before = [server.metrics() for server in servers]
        rate, p50, p99, refused = wrk([server.url for server in servers], connections, SECONDS,
                                      paths=paths, BATCH=f"{events}", KEY=servers[0].key)
        after = [server.metrics() for server in servers]
        writes, commits = (sum(b[name] - a[name] for a, b in zip(before, after)) for name in
                           ("cairn_store_writes_total", "cairn_store_commits_total"))
        return rate * events, p50, p99, writes / max(commits, 1), refused

    def peer_arguments(self, what, n_threads):
        ids = write_lines(f"{self.directory}/ids", self.threads[self.nodes[0]][:n_threads])
        return [self.peer, what, self.cluster.url, "cairn", *self.nodes[0].ids_of_key(), ids]

    def append_row(self, what, connections, n_threads, events, n_nodes):
        report(f"PostgreSQL, append of {what}, {n_nodes} nodes, {connections} connections")
        runs, peers, sqlites = [], [], []
        lanes = min(n_nodes * WRITERS, n_threads, connections)
        for _ in range(self.turns):
            runs.append(self.append(
                self.nodes[:n_nodes], connections, n_threads, events, what == APART))
            rows = max(round(runs[-1][3]), 1)
            peers += numbers([*self.peer_arguments("append", n_threads), f"{lanes}", f"{rows}",
                              f"{events}", f"{SECONDS}"])
            if n_nodes == 1:
                sqlites.append(self.append([self.alone], connections, n_threads, events)[0])
        ours, p50, p99, rows, _ = (statistics.median(column) for column in zip(*runs))
        refused = sum(run[4] for run in runs)
        peer = statistics.median(peers)
        sqlite = statistics.median(sqlites) if sqlites else None
        note = f" ({refused} refused)" if refused else ""
        kind = "one event" if what == APART else what
        one = self.of_one_node.setdefault((kind, connections), ours)
        return [what, f"{n_nodes}", f"{connections}", f"{ours:,.0f}{note}", f"{p50:.1f} ms",
                f"{p99:.1f} ms", f"{rows:.1f}", f"{peer:,.0f}",
                f"{statistics.median(r[0] / p for r, p in zip(runs, peers)):.2f}",
                f"{sqlite:,.0f}" if sqlite else "", f"{ours / sqlite:.2f}" if sqlite else "",
                f"{ours / one:.2f}" if n_nodes > 1 else ""]

    def deliver(self, to, server, stream, subscribers):
        rounds = 300 if subscribers == 1 else 40
        run = self.rig.measure("delivery", server.port, to.port, stream, server.make_threads(1)[0],
                               server.key, subscribers, rounds)
        return run["answer_p50"], run["one_p50"], run["one_p99"]

    def delivery_rows(self):
        rows = []
        peer = numbers([*self.peer_arguments("deliver", 1), "300"])
        for stream in ("thread", "tenant"):
            for subscribers in (1, SUBSCRIBERS):
                places = (("SQLite", self.alone, self.alone),
                          ("PostgreSQL, same node", self.nodes[0], self.nodes[0]),
                          ("PostgreSQL, other node", self.nodes[0], self.nodes[1]))
                for place, server, to in places:
                    report(f"delivery by the {stream} stream, {subscribers} subscribers, {place}")
                    answer, p50, p99 = self.deliver(to, server, stream, subscribers)
                    compared = subscribers == 1 and server is not self.alone
                    rows.append([stream, f"{subscribers:,}", place,
                                 *(f"{us / 1000:.2f} ms" for us in (answer, p50, p99)),
                                 f"{peer[0] / p50:.2f}" if compared else ""])
        rows.append(["", "1", "libpq alone", "", *(f"{us / 1000:.2f} ms" for us in peer), "1.00"])
        return rows


def measure(rig):
    bench = Bench(rig)
    try:
        deliveries = bench.delivery_rows()
        cases = APPENDS[:2] if rig.quick else APPENDS
        appends = [bench.append_row(*case) for case in cases]
        version = bench.cluster.version()
    finally:
        bench.stop()
    return [
        "## PostgreSQL: durable appends over HTTP, events a second", "",
        *paragraph(
            f"PostgreSQL {version} on the same machine with default settings (fsync on), and an"
            f" ordinary role under row-level security. {WRITERS} writers a node; {THREADS} threads"
            " of the log, unless the row names one thread. With three nodes, each has its own"
            " wrk, and all write to the same threads; in rows marked 'threads apart', no two"
            " nodes write to the same thread. libpq alone uses the same statements, the same"
            " number of connections, and as many appends a commit as Cairn reached; it sends each"
            f" transaction at once. Medians of {bench.turns} turns of {SECONDS} s. The target is a"
            " ratio of 0.7. libpq alone shares the two cores only with PostgreSQL; Cairn shares"
            " them also with wrk, HTTP, JSON and the check of the key, so a lower ratio is partly"
            " due to the machine."),
        *table(["<append of", "nodes", "connections", "Cairn", "p50", "p99", "appends a commit",
                "libpq", "ratio", "Cairn on SQLite", "ratio", "to one node"], appends),
        "### Delivery", "",
        *paragraph(
            "Times from the sending of an append to its response (median) and to the subscribers"
            " of a stream. For libpq alone: from the sending of a transaction until another"
            " connection was notified of it and has read the event."),
        *table(["<stream", "subscribers", "<where", "answer p50", "delivery p50", "delivery p99",
                "libpq / p50"], deliveries)], {}
