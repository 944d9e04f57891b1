# SPDX-License-Identifier: Apache-2.0
"""(a) and (b): durable appends, compared with SQLite with the same group commit, a plain file,
Redis Streams and PostgreSQL, in turns."""
from lib import PAYLOAD, Program, median, ms, paragraph, settle, table, report, write_requests
from peers import Postgres, Redis

THREADS = 64
MAX_JOBS = 512  # in one commit of Cairn

# name, what, connections, threads of the log, events an append
CASES = (
    ("one-1", "one event, 1 connection", 1, THREADS, 1),
    ("one-64", "one event, 64 connections", 64, THREADS, 1),
    ("one-512", "one event, 512 connections", 512, THREADS, 1),
    ("one-64-same", "one event, 64 connections, all to one thread", 64, 1, 1),
    ("100-1", "100 events, 1 connection", 1, THREADS, 100),
    ("100-64", "100 events, 64 connections", 64, THREADS, 100),
)

NAMES = {
    "cairn": "Cairn over HTTP",
    "group": "SQLite, the same group commit, a thread for each connection",
    "loop": "SQLite, one thread in a loop, without a queue",
    "file": "a preallocated file, fdatasync",
    "redis": "Redis Streams, appendfsync always",
    "postgres": "PostgreSQL, INSERT into the seed's table",
}


class Contest:
    """All compared systems; the data of each grows from turn to turn."""

    def __init__(self, rig, seconds):
        self.rig = rig
        self.seconds = seconds
        self.redis = Redis(rig.directory)
        # The default limit is 100 connections; one measurement needs 512.
        self.postgres = Postgres(rig.directory, "max_connections=600")
        self.postgres.make_seed_tables()
        for name in ("raw-group", "raw-loop"):  # databases with Cairn's own schema
            rig.cairn(name).stop()
        self.cairn = rig.cairn("data")
        self.threads = self.cairn.make_threads(THREADS)
        self.locked = rig.cairn("data-key")
        self.locked.make_key()
        self.locked_threads = self.locked.make_threads(THREADS)

    def stop(self):
        for server in (self.cairn, self.locked, self.redis, self.postgres):
            server.stop()

    def load(self, server, protocol, requests, connections, events, *more):
        """Returns the client's results in events a second, and the server's CPU per event."""
        file = write_requests(f"{self.rig.directory}/requests", requests)
        before = server.cpu_us()
        run = self.rig.measure("load", protocol, server.port, connections, file, self.seconds, 0, 0,
                               *more)
        done = run["requests"] * events
        return {"rate": run["rate"] * events, "p50": run["latency_p50"],
                "p99": run["latency_p99"], "server": (server.cpu_us() - before) / done,
                "client": run["cpu"] / done}

    def run_cairn(self, connections, n_threads, events, locked=False):
        server, threads = ((self.locked, self.locked_threads) if locked
                           else (self.cairn, self.threads))
        requests = [server.append_request(thread, events) for thread in threads[:n_threads]]
        before = server.metrics()
        run = self.load(server, "http", requests, connections, events)
        after = server.metrics()
        writes, commits = (after[name] - before[name] for name in
                           ("cairn_store_writes_total", "cairn_store_commits_total"))
        return {**run, "jobs": writes / max(commits, 1)}

    def run_redis(self, connections, n_threads, events):
        def request(i):
            add = self.redis.command("XADD", f"thread:{i}", "*", "kind", "progress", "text",
                                     "step done", "payload", PAYLOAD)
            if events == 1:
                return add
            return self.redis.command("MULTI") + add * events + self.redis.command("EXEC")
        # Response lines: MULTI, each QUEUED, the list, and two for each id.
        lines = 2 if events == 1 else 2 + 3 * events
        return self.load(self.redis, "redis", [request(i) for i in range(n_threads)], connections,
                         events, lines)

    def in_process(self, run):
        cpu_each = run["cpu"] / (run["rate"] * self.seconds)
        return {"rate": run["rate"], "p50": run.get("latency_p50", 0),
                "p99": run.get("latency_p99", 0), "server": cpu_each, "client": 0,
                "jobs": run.get("jobs_per_commit", 0)}

    def run_group(self, connections, n_threads, events):
        return self.in_process(self.rig.measure("group", f"{self.rig.directory}/raw-group",
                                                connections, events, self.seconds, n_threads))

    def run_loop(self, connections, n_threads, events):
        return self.in_process(self.rig.measure(
            "limits", "sqlite", f"{self.rig.directory}/raw-loop",
            min(connections, MAX_JOBS) * events, self.seconds, n_threads))

    def run_file(self, connections, _, events):
        return self.in_process(self.rig.measure(
            "limits", "file", self.rig.directory, min(connections, MAX_JOBS) * events,
            self.seconds))

    def run_postgres(self, connections, n_threads, events):
        seed = Program(self.rig, "seed", self.postgres.url, connections, n_threads, events,
                       self.seconds)
        seed.await_ready()
        before = self.postgres.cpu_us()
        run = seed.finish("\n")
        done = run["rate"] * self.seconds
        return {"rate": run["rate"], "p50": run["latency_p50"], "p99": run["latency_p99"],
                "server": (self.postgres.cpu_us() - before) / done, "client": run["cpu"] / done}

    def run_case(self, case, turns):
        """Runs the turns of each system. The first system rotates, so that no system always follows
        the same one."""
        _, what, connections, n_threads, events = case
        runs = {name: [] for name in NAMES}
        names = list(NAMES)
        for turn in range(turns):
            report(f"appends: {what}, turn {turn + 1}")
            for name in names[turn:] + names[:turn]:
                settle()
                runs[name].append(getattr(self, f"run_{name}")(connections, n_threads, events))
        return runs

    def compare_locked(self, turns):
        """Returns the rate with an API key in each request, relative to the rate without."""
        ratios = []
        for _ in range(turns):
            rates = []
            for locked in (False, True):
                settle()
                rates.append(self.run_cairn(64, THREADS, 1, locked)["rate"])
            ratios.append(rates[1] / rates[0])
        return median(ratios)


def rows_of(runs):
    rows = []
    for name, what in NAMES.items():
        rates = [run["rate"] for run in runs[name]]
        ratios = [ours["rate"] / run["rate"] for ours, run in zip(runs["cairn"], runs[name])]
        middle = {key: median([run[key] for run in runs[name]]) for key in runs[name][0]}
        timed, jobs = middle["p50"] > 0, middle.get("jobs", 0)
        rows.append([what, f"{median(rates):,.0f}", f"{min(rates):,.0f}–{max(rates):,.0f}",
                     ms(middle["p50"]) if timed else "", ms(middle["p99"]) if timed else "",
                     f"{middle['server']:.1f}", f"{middle['client']:.1f}" if middle["client"]
                     else "", f"{jobs:.1f}" if jobs else "",
                     "" if name == "cairn" else f"{median(ratios):.2f}"])
    return rows


def facts_of(runs):
    facts = {name: median([run["rate"] for run in turns]) for name, turns in runs.items()}
    for name in NAMES:
        facts[f"p50_{name}"] = median([run["p50"] for run in runs[name]])
        facts[f"ratio_{name}"] = median(
            [ours["rate"] / run["rate"] for ours, run in zip(runs["cairn"], runs[name])])
    for side in ("server", "client"):
        facts[side] = median([run[side] for run in runs["cairn"]])
    facts["group_cpu"] = median([run["server"] for run in runs["group"]])
    return facts


def measure(rig):
    seconds, turns = (1, 1) if rig.quick else (2, 3)
    contest = Contest(rig, seconds)
    lines, facts = [], {}
    try:
        for case in CASES:
            runs = contest.run_case(case, turns)
            facts[case[0]] = facts_of(runs)
            lines += [f"### {case[1]}", "",
                      *table(["<", "events/s", "of the turns", "p50", "p99", "CPU µs, server",
                              "CPU µs, client", "appends a commit", "Cairn / it"], rows_of(runs))]
        locked = contest.compare_locked(turns)
        versions = contest.redis.version(), contest.postgres.version()
    finally:
        contest.stop()
    facts["locked"] = locked
    return ["## Durable appends", "",
            *paragraph(
                f"An event is a progress line of about 110 bytes. Appends rotate over {THREADS}"
                " threads of the log, unless the table names one thread. Figures are medians of"
                f" {turns} turns of {seconds} s. The systems take turns, and the data of each"
                " grows from turn to turn. SQLite is measured with Cairn's own schema, statement,"
                " pragmas and checkpoints (`bench/rows.c`): once with a thread for each"
                " connection that hands over a row and waits for the commit (`bench/group.c`: at"
                " most 512 rows a commit, without savepoints, like Cairn), and once in a loop"
                " with as many rows a commit as there are connections (`bench/limits.c`). Redis"
                f" {versions[0]} runs without snapshots and rewrites; 100 events are a MULTI."
                f" PostgreSQL {versions[1]} has default settings except for max_connections=600;"
                " 100 events are one INSERT. The same client (`bench/load.c`) loads Cairn and"
                " Redis; an equivalent one with libpq (`bench/seed.c`) loads PostgreSQL. CPU is"
                " per event; the clients share the cores with the servers. Without a client, the"
                " CPU is that of the one process."), *lines,
            *paragraph(
                f"With an API key in each request and 64 connections, the rate is {locked:.2f} of"
                " the rate without (median of the turns).")], facts
