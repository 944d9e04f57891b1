# SPDX-License-Identifier: Apache-2.0
"""The targets and their results, computed from the figures of the sections."""
import os

from lib import table


class Target:
    """`seen` extracts the figure from the section's facts, or from a `part` of them, which may be
    missing; it returns None if these facts were measured before the figure was. `why` explains a
    missed target from the same facts."""

    def __init__(self, letter, what, section, seen, goal, unit="", *, part=None, most=False,
                 why=None):
        self.letter, self.what, self.section, self.seen = letter, what, section, seen
        self.part = part
        self.goal, self.unit, self.most, self.why = goal, unit, most, why

    def number(self, value):
        if value == REFUSED:
            return "refused"
        digits = 0 if self.goal >= 1000 or value == int(value) else 2 if self.goal < 100 else 1
        return f"{value:,.{digits}f}{self.unit}"

    def row(self, facts):
        sign = "≤" if self.most else "≥"
        goal = f"{sign} {self.number(self.goal)}"
        facts = facts.get(self.section)
        if facts and self.part:
            facts = facts.get(self.part)
        if not facts:
            return [self.letter, self.what, goal, "not measured", "", ""]
        value = self.seen(facts)
        if value is None:
            return [self.letter, self.what, goal, "not measured", "", ""]
        if value <= self.goal if self.most else value >= self.goal:
            return [self.letter, self.what, goal, self.number(value), "met", ""]
        return [self.letter, self.what, goal, self.number(value), self.shortfall(value),
                self.why(facts) if self.why else ""]

    def shortfall(self, value):
        if self.goal == 0 or value == REFUSED:
            return "**missed**"
        if self.most:
            return f"**missed**: {value / self.goal:.2f} times the target"
        return f"**missed**: {value / self.goal:.2f} of the target"


# --- Why --------------------------------------------------------------------------------------


def cores():
    return os.cpu_count()


def why_many(case):
    def why(facts):
        f = facts[case]
        return (f"An append takes {f['server']:.0f} µs of CPU in the server and"
                f" {f['client']:.0f} µs in the client, so {cores()} cores reach at most"
                f" {cores() * 1e6 / (f['server'] + f['client']):,.0f} a second with any disk;"
                f" SQLite with its producers takes {f['group_cpu']:.0f} µs.")
    return why


def why_alone(facts):
    """With one connection, an append cannot share its commit."""
    f = facts["one-1"]
    p50s = ", ".join(f"{name} {f[f'p50_{key}'] / 1000:.2f} ms" for key, name in
                     (("cairn", "Cairn"), ("group", "SQLite handed one row"), ("redis", "Redis"),
                      ("postgres", "PostgreSQL")))
    return (f"Each append waits for its own sync; p50: {p50s}. The difference"
            " between Cairn and SQLite is HTTP, JSON, the rules, and two thread switches.")


def why_batches(facts):
    f = facts["100-64"]
    return (f"An event takes {f['server']:.1f} µs of CPU in the server;"
            f" SQLite's group commit alone takes {f['group_cpu']:.1f} µs and reached"
            f" {f['group']:,.0f} events/s in the same run.")


def why_delivery(facts):
    f = facts["thread-10000"]
    each_us = (f["all_p50"] - f["answer_p50"]) / 10000
    return (f"All 10,000 have it after {f['all_p50'] / 1000:.0f} ms in the median round, the"
            f" response to the append arrives after {f['answer_p50'] / 1000:.0f} ms:"
            f" {each_us:.1f} µs a subscriber for sending (one loop) and receiving (one process).")


def why_growth(facts):
    first, last = facts["steps"][0], facts["steps"][-1]
    return (f"The files grew from {first['mib']:,.0f} MiB to {last['mib']:,.0f} MiB, the writer's"
            " cache is 64 MiB. Random index pages are a likely cause, but these figures do not"
            " prove it.")


def why_noop(facts):
    ours, theirs = facts["noop"], facts["nginx"]
    return (f"A request takes {ours['server']:.1f} µs of the loop's CPU, which alone allows"
            f" {1e6 / ours['server']:,.0f} a second, and {ours['client']:.1f} µs of wrk's; nginx"
            f" reached {theirs['rate']:,.0f} with {theirs['server']:.1f} µs on the same machine.")


def why_new(facts):
    return (f"{facts['start_new_ms'] - facts['start_ms']:.0f} ms more than with an existing"
            " database: the directory, the file and the schema are created and synced.")


def why_slow(facts):
    return (f"The server took {facts['beside']['server']:.2f} of a core with them and"
            f" {facts['alone']['server']:.2f} without; it shares the {cores()} cores with all the"
            " clients.")


def why_noisy(facts):
    worst = max(facts["worst"], key=lambda name: max(
        facts["worst"][name][what]["p99"] for what in ("read", "write")))
    p99 = max(facts["worst"][worst][what]["p99"] for what in ("read", "write")) / 1000
    text = f"Of {facts['routes']} routes. The worst: `{worst}`, {p99:.0f} ms."
    if "alone" in facts:
        text += (f" With a server of its own, the quiet tenant exceeds a limit next to"
                 f" {facts['above'] - len(facts['alone'])} of {facts['above']}, too.")
    return text


def noisy(engine):
    return (
        Target("noisy", f"{engine}: routes next to which a p99 of others is above 100 ms", "noisy",
               lambda f: f["slow"], 0, part=engine, most=True, why=why_noisy),
        Target("noisy", f"{engine}: routes next to which it is above 5 times the idle p99", "noisy",
               lambda f: f["above"], 0, part=engine, most=True, why=why_noisy),
        Target("noisy", f"{engine}: of these, routes next to which it is not, with a server of its"
               " own", "noisy", lambda f: len(f["alone"]) if "alone" in f else None, 0,
               part=engine, most=True,
               why=why_noisy))


REFUSED = float("inf")


def transfers(facts, what, figure):
    """Returns the figure of each size. A refused import misses each target."""
    return [size[what][figure] if size[what] else REFUSED for size in facts["sizes"]]


def spread(facts, what, figure):
    """Returns the greatest figure, relative to the smallest."""
    seen = transfers(facts, what, figure)
    return max(seen) / min(seen)


def archives(what):
    def why_time(facts):
        return (f"CPU time differs by {spread(facts, what, 'cpu_us'):.2f}; the rest is waiting for"
                " the disk and for a CPU.")

    return (
        Target("archives", f"{what}: time per message at the worst size, relative to the best",
               "archives", lambda f: spread(f, what, "us"), 1.3, most=True, why=why_time),
        Target("archives", f"{what}: CPU time per message, likewise", "archives",
               lambda f: spread(f, what, "cpu_us"), 1.3, most=True),
        Target("archives", f"{what}: growth of the server's memory", "archives",
               lambda f: max(transfers(f, what, "mib")), 64, " MiB", most=True),
        Target("archives", f"{what}: p99 of small reads beside it", "archives",
               lambda f: max(transfers(f, what, "p99")), 50, " ms", most=True))


def ahead(connections, peer, name):
    case = f"one-{connections}"
    return Target("a", f"{connections} connection{'s'[:connections > 1]}: relative to {name}",
                  "appends", lambda f: f[case][f"ratio_{peer}"], 1,
                  why=why_alone if connections == 1 else why_many(case))


TARGETS = (
    Target("a", "64 connections: relative to SQLite with the same group commit", "appends",
           lambda f: f["one-64"]["ratio_group"], 0.6, why=why_many("one-64")),
    *(ahead(n, peer, name) for n in (1, 64, 512) for peer, name in
      (("redis", "Redis Streams, fsync always"), ("postgres", "PostgreSQL, the seed's table"))),
    Target("b", "batches of 100: events/s", "appends", lambda f: f["100-64"]["cairn"], 100000,
           why=why_batches),
    Target("c", "10,000 subscribers: the slowest delivery", "subscribers",
           lambda f: f["thread-10000"]["one_max"] / 1000, 150, " ms", most=True, why=why_delivery),
    Target("c", "1 subscriber: delivery p99", "subscribers",
           lambda f: f["thread-1"]["one_p99"] / 1000, 5, " ms", most=True),
    Target("d", "memory of an idle subscriber", "subscribers",
           lambda f: max(f["idle_bytes"], f["idle_bytes_apart"]), 2048, " bytes", most=True),
    Target("e", "slowdown of appends at the last step", "growth", lambda f: f["append_ratio"], 2,
           most=True, why=why_growth),
    Target("e", "slowdown of reads of 100 events, p50, at the last step", "growth",
           lambda f: f["read_ratio"], 2, most=True, why=why_growth),
    Target("f", "start to listening, empty database", "process", lambda f: f["start_ms"], 50, " ms",
           most=True),
    Target("f", "start to listening, new directory", "process", lambda f: f["start_new_ms"], 50,
           " ms", most=True, why=why_new),
    Target("f", "start to listening, the grown log", "growth", lambda f: f["start_ms"], 50, " ms",
           most=True),
    Target("f", "idle memory (RSS)", "process", lambda f: f["rss_mib"], 20, " MiB", most=True),
    Target("h", "a no-op route on one loop, requests/s", "process", lambda f: f["noop"]["rate"],
           100000, why=why_noop),
    Target("slow", "p99 of good clients next to 5,000 slow ones", "slow",
           lambda f: f["beside"]["latency_p99"] / 1000, 50, " ms", most=True, why=why_slow),
    Target("deaf", "events lost or out of order for readers", "deaf",
           lambda f: f["lost"] + f["disorder"], 0, most=True),
    Target("deaf", "readers that were disconnected", "deaf", lambda f: f["reconnects"], 0,
           most=True),
    Target("deaf", "subscribers that never read and stayed connected", "deaf",
           lambda f: f["left"] - 9000, 0, most=True),
    *noisy("SQLite"),
    *noisy("PostgreSQL"),
    Target("checkpoints", "size of 200 checkpoints of a growing list, relative to full copies",
           "checkpoints", lambda f: f["share"] * 100, 2, " %", most=True),
    Target("checkpoints", "the last 20 incremental puts, relative to the first 20", "checkpoints",
           lambda f: f["late"], 1.5, most=True),
    Target("checkpoints", "parsed latest checkpoint over HTTP, relative to a full copy in SQLite",
           "checkpoints", lambda f: f["get_ratio"], 5, most=True),
    Target("checkpoints", "latest checkpoint of 1 MB over HTTP, p50", "checkpoints",
           lambda f: f["http_us"] / 1000, 3, " ms", part="reads", most=True),
    Target("checkpoints", "the same through libcairn", "checkpoints",
           lambda f: f["lib_us"] / 1000, 1, " ms", part="reads", most=True),
    Target("files", "2 GiB up and down: maximum memory of a server", "files",
           lambda f: max(place["most_mib"] for place in f.values()), 32, " MiB", most=True),
    *archives("export"),
    *archives("import"),
)


def write(facts):
    rows = [target.row(facts) for target in TARGETS]
    return ["## Targets", "",
            "Computed from the figures above. (g), calls inside a program, has no"
            " target.", "", *table(["<", "<what", "target", "seen", "<", "<why"], rows)]
