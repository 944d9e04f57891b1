# SPDX-License-Identifier: Apache-2.0
"""Messages: appends, pages and searches in a thread of 1,000,000, compared with SQLite."""
import json
import random

from lib import ms, paragraph, settle, table, report, write_requests

MESSAGES = 1_000_000
BATCH = 100        # messages per request while the thread is filled
BATCHES = 200      # different requests, repeated
VOCABULARY = 5000
WORDS = 12         # per message
SECONDS = 5        # of appends
PAGES = 2000       # of each reading
SEARCHES = 200
PAGE = 50


def write_text(rng):
    """Returns a text in which some words are common and most are rare, as in any language."""
    ranks = (int(VOCABULARY ** rng.random()) for _ in range(WORDS))
    return " ".join(f"w{rank}" for rank in ranks)


class Thread:
    def __init__(self, rig, count):
        self.rig, self.count = rig, count
        self.cairn = rig.cairn("data")
        self.id = self.cairn.make_threads(1)[0]
        self.path = f"/v1/threads/{self.id}/messages"

    def load(self, requests, connections, seconds, count):
        file = write_requests(f"{self.rig.directory}/requests", requests)
        return self.rig.measure("load", "http", self.cairn.port, connections, file, seconds, count,
                                0)

    def fill(self):
        rng = random.Random(6)
        bodies = [json.dumps({"messages": [{"content": write_text(rng)} for _ in range(BATCH)]})
                  for _ in range(BATCHES)]
        requests = [self.cairn.request("POST", self.path, body) for body in bodies]
        run = self.load(requests, 4, 1800, self.count // BATCH)
        return run["rate"] * BATCH

    def append(self, connections, seconds):
        body = json.dumps({"content": "the quick report about costs of travel is ready for"
                                      " review today"})
        return self.load([self.cairn.request("POST", self.path, body)], connections, seconds, 0)

    def read(self, query, count):
        request = self.cairn.request("GET", self.path + query)
        alone = self.load([request], 1, 60, count)
        many = self.load([request], 16, 60, count)
        return alone, many["rate"]


def readings(count):
    """Returns for each reading its name, the query of Cairn, and the arguments of messages.c."""
    middle = count // 2
    return (("the newest page, newest first", "?limit=50", ("down", 2**62)),
            ("a page from the middle, newest first", f"?limit=50&before={middle}",
             ("down", middle)),
            ("the last page, newest first", "?limit=50&before=52", ("down", 52)),
            ("the first page, oldest first", "?limit=50&after=0", ("up", 0)),
            ("a page from the middle, oldest first", f"?limit=50&after={middle}", ("up", middle)),
            ("the newest page, oldest first", f"?limit=50&after={count - 50}",
             ("up", count - 50)),
            ("search: a common word", "/search?limit=50&q=w1", ("search", "w1")),
            ("search: a rare word", f"/search?limit=50&q=w{VOCABULARY - 1}",
             ("search", f"w{VOCABULARY - 1}")))


def measure_readings(thread):
    rows = []
    for what, query, beside in readings(thread.count):
        n_pages = SEARCHES if "search" in what else PAGES
        n_pages = n_pages // 10 if thread.rig.quick else n_pages
        report(f"messages: {what}")
        ours, rate = thread.read(query, n_pages)
        limit = thread.rig.measure("messages", f"{thread.rig.directory}/data", *beside, n_pages)
        rows.append({"what": what, "p50": ours["latency_p50"], "p99": ours["latency_p99"],
                     "rate": rate, "limit_p50": limit["latency_p50"]})
    return rows


def measure_appends(thread, seconds):
    """Measures Cairn, stops it, and then measures SQLite, which allows only one writer."""
    ours = {n: thread.append(n, seconds) for n in (1, 64)}
    thread.cairn.stop()
    settle()
    limits = {n: thread.rig.measure("messages", f"{thread.rig.directory}/data", "append", n,
                                    seconds) for n in (1, 64)}
    return [{"connections": n, "rate": ours[n]["rate"], "p50": ours[n]["latency_p50"],
             "p99": ours[n]["latency_p99"], "limit": limits[n]["rate"],
             "ratio": ours[n]["rate"] / limits[n]["rate"]} for n in (1, 64)]


def measure(rig):
    thread = Thread(rig, MESSAGES // 50 if rig.quick else MESSAGES)
    report(f"messages: fills a thread with {thread.count:,}")
    filled = thread.fill()
    settle()
    reads = measure_readings(thread)
    report("messages: appends")
    appends = measure_appends(thread, 1 if rig.quick else SECONDS)
    facts = {"messages": thread.count, "filled": filled, "reads": reads, "appends": appends}
    return ["## Messages", "",
            *paragraph(
                f"A thread of {thread.count:,} messages of {WORDS} words each, filled with"
                f" requests of {BATCH} at {filled:,.0f} messages/s; each message has its event and"
                " its words in the index. The limit is SQLite alone: Cairn's own statements on"
                " the same database, in a loop of one thread, without HTTP and JSON; for appends,"
                " with as many rows a commit as there are connections."),
            *table(["connections", "appends/s", "p50", "p99", "SQLite alone, rows/s", "of it"],
                   [[str(a["connections"]), f"{a['rate']:,.0f}", ms(a["p50"]), ms(a["p99"]),
                     f"{a['limit']:,.0f}", f"{a['ratio']:.2f}"] for a in appends]),
            *table(["<a page of 50", "p50", "p99", "pages/s, 16 connections",
                    "SQLite alone, p50"],
                   [[r["what"], ms(r["p50"]), ms(r["p99"]), f"{r['rate']:,.0f}",
                     ms(r["limit_p50"])] for r in reads])], facts
