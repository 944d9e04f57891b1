# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: a conversation that stores its whole list of messages after each turn, compared with
full copies and LangGraph's own savers."""
import http.client
import json
import os
import random
import sqlite3
import subprocess
import time

from lib import HERE, median, parse_results, paragraph, settle, table, report, write_requests
from peers import Postgres

TURNS = 200
BYTES = 1_280_000   # of messages at the end
GETS = 100
VOCABULARY = 8000
SHARE = 20          # turns at the start and at the end that are compared
PACKED_S = 8        # time for the sweep to compress the checkpoints
READ_BYTES = 1_000_000  # of the checkpoint that is only read
STARTS = 5


def make_words(rng):
    parts = ["ta", "re", "lo", "mi", "con", "ver", "si", "an", "der", "ing", "ment", "st", "pro",
             "al", "ic", "er", "un", "de", "to", "na"]
    return ["".join(rng.choice(parts) for _ in range(rng.randint(1, 4)))
            for _ in range(VOCABULARY)]


def make_messages():
    """Returns questions and long answers; word frequencies follow a natural distribution."""
    rng = random.Random(7)
    words = make_words(rng)

    def text(size):
        out = []
        while size > 0:
            word = words[int(VOCABULARY ** rng.random()) - 1]
            out.append(word)
            size -= len(word) + 1
        return " ".join(out)

    a_turn = BYTES // TURNS
    messages = []
    for turn in range(TURNS):
        question = a_turn // 12
        messages.append({"id": f"msg_{rng.getrandbits(64):016x}", "role": "user",
                         "content": text(question)})
        messages.append({"id": f"msg_{rng.getrandbits(64):016x}", "role": "assistant",
                         "content": [{"type": "text", "text": text(a_turn - question - 250)}],
                         "model": "model-1", "stop_reason": "end_turn",
                         "usage": {"input_tokens": 400 + turn * 60, "output_tokens": 300}})
    return messages


def values(messages, turn):
    return {"messages": messages[:turn * 2], "step": turn}


def size_of(path):
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))


class Client:
    """One persistent connection."""

    def __init__(self, cairn):
        self.http = http.client.HTTPConnection("127.0.0.1", cairn.port)

    def ask(self, method, path, body=None):
        began = time.perf_counter()
        self.http.request(method, path, body, {"Content-Type": "application/json"})
        answer = self.http.getresponse()
        text = answer.read()
        took = (time.perf_counter() - began) * 1e6
        if answer.status not in (200, 201):
            raise SystemExit(f"{method} {path}: {answer.status} {text[:300]}")
        return text, took


def put_to_cairn(client, path, messages, turns, by_parts):
    puts = []
    parent = None
    for turn in range(1, turns + 1):
        body = {"channel_values": values(messages, turn)}
        if by_parts and parent:
            body = {"parent_id": parent, "changes": {
                "set": {"step": turn}, "append": {"messages": messages[turn * 2 - 2:turn * 2]}}}
        text, took = client.ask("POST", path, json.dumps(body).encode())
        parent = json.loads(text)["id"]
        puts.append(took)
    return puts


def measure_cairn(rig, messages, turns, gets, by_parts):
    """Measures puts and gets, and the growth of the file between two stops of the server."""
    data = "by-parts" if by_parts else "whole"
    cairn = rig.cairn(data)
    thread = cairn.make_threads(1)[0]
    cairn.stop()
    file = f"{rig.directory}/{data}/cairn.db"
    before = size_of(file)
    cairn = rig.cairn(data)
    client = Client(cairn)
    path = f"/v1/threads/{thread}/checkpoints"
    puts = put_to_cairn(client, path, messages, turns, by_parts)
    text, _ = client.ask("GET", f"{path}/latest")
    if json.loads(text)["channel_values"] != values(messages, turns):
        raise SystemExit("the latest checkpoint differs from the one that was put")
    time.sleep(0 if rig.quick else PACKED_S)

    def read():
        return client.ask("GET", f"{path}/latest")[0]

    found = {"puts": puts, "get": timed(gets, lambda: json.loads(read())),
             "get_bytes": timed(gets, read)}
    cairn.stop()
    return {**found, "bytes": size_of(file) - before}


def measure_reads(rig, messages):
    """Measures reads of one checkpoint of 1 MB: repeated ones over HTTP and through libcairn, and
    the first one of a server."""
    turns = next((turn for turn in range(1, TURNS)
                  if len(json.dumps(values(messages, turn))) >= READ_BYTES), len(messages) // 2)
    body = json.dumps({"channel_values": values(messages, turns)})
    file = f"{rig.directory}/checkpoint.json"
    with open(file, "w") as out:
        out.write(body)
    seconds = 1 if rig.quick else 3
    cairn = rig.cairn("reads")
    path = f"/v1/threads/{cairn.make_threads(1)[0]}/checkpoints"
    Client(cairn).ask("POST", path, body.encode())
    requests = write_requests(f"{rig.directory}/latest", [cairn.request("GET", f"{path}/latest")])
    over = rig.measure("load", "http", cairn.port, 1, requests, seconds, 0, 0)
    first = []
    for _ in range(STARTS):
        cairn.stop()
        cairn = rig.cairn("reads")
        first.append(Client(cairn).ask("GET", f"{path}/latest")[1])
    cairn.stop()
    inside = rig.measure("embedded", "checkpoint", f"{rig.directory}/reads-lib", 1, seconds, file)
    return {"http_us": over["latency_p50"], "lib_us": inside["latency_p50"],
            "first_us": median(first), "bytes": len(body)}


def timed(times, work):
    """Returns the microseconds of one call."""
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times * 1e6


def measure_copies(rig, messages, turns, gets):
    """Stores each checkpoint as a row with its JSON, the simplest possible way."""
    file = f"{rig.directory}/copies.db"
    db = sqlite3.connect(file, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, value TEXT NOT NULL)")
    puts = []
    for turn in range(1, turns + 1):
        now = values(messages, turn)
        began = time.perf_counter()
        db.execute("INSERT INTO checkpoints VALUES (?, ?)", (turn, json.dumps(now)))
        puts.append((time.perf_counter() - began) * 1e6)

    def read():
        return db.execute("SELECT value FROM checkpoints ORDER BY id DESC LIMIT 1").fetchone()[0]

    found = {"puts": puts, "get": timed(gets, lambda: json.loads(read())),
             "get_bytes": timed(gets, read)}
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return {**found, "bytes": size_of(file)}


def has_langgraph():
    """Installs LangGraph if necessary; returns false if that fails."""
    home = HERE / "langgraph"
    if not (home / "node_modules").exists():
        report("checkpoints: npm install in bench/langgraph")
        done = subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock"],
                              cwd=home, capture_output=True, text=True)
        if done.returncode != 0:
            report(done.stderr[-500:])
            return False
    return True


def run_langgraph(kind, place, file, turns, gets):
    done = subprocess.run(["node", "checkpoints.mjs", kind, place, file, str(turns), str(gets)],
                          cwd=HERE / "langgraph", capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr[-1000:])
    found = parse_results(done.stdout)
    return {"puts": [found[f"put_{i}"] for i in range(turns)], "get": found["get_us"],
            "synchronous": found.get("synchronous")}


def measure_langgraph_sqlite(rig, file, turns, gets):
    place = f"{rig.directory}/langgraph.db"
    return {**run_langgraph("sqlite", place, file, turns, gets), "bytes": size_of(place)}


def measure_langgraph_postgres(rig, file, turns, gets):
    postgres = Postgres(rig.directory)
    sql = ("SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
           " AND relname LIKE 'checkpoint%'")
    found = run_langgraph("postgres", postgres.url, file, turns, gets)
    out = subprocess.run([f"{postgres.bin}/psql", "-At", "-c", sql, postgres.url],
                         capture_output=True, text=True, check=True).stdout
    postgres.stop()
    return {**found, "bytes": int(out)}


def describe(found):
    puts = found["puts"]
    share = min(SHARE, len(puts) // 4)
    return {"bytes": found["bytes"], "rate": len(puts) / sum(puts) * 1e6, "get_us": found["get"],
            "get_bytes_us": found.get("get_bytes", found["get"]),
            "late": sum(puts[-share:]) / sum(puts[:share])}


def row(name, sync, facts, full):
    return [name, sync, f"{facts['bytes'] / 1e6:.2f} MB", f"{facts['bytes'] / full:.1%}",
            f"{facts['rate']:.0f}", f"{facts['late']:.1f}", f"{1e6 / facts['get_us']:.0f}"]


def measure(rig):
    turns = 40 if rig.quick else TURNS
    gets = 20 if rig.quick else GETS
    messages = make_messages()[:turns * 2]
    file = f"{rig.directory}/messages.json"
    with open(file, "w") as out:
        json.dump(messages, out)
    names = {"whole": "Cairn, the whole list each time", "parts": "Cairn, only the added part",
             "copies": "full JSON copies in SQLite",
             "sqlite": "`@langchain/langgraph-checkpoint-sqlite`",
             "postgres": "`@langchain/langgraph-checkpoint-postgres`"}
    found = {}
    for name, work in (("whole", lambda: measure_cairn(rig, messages, turns, gets, False)),
                       ("parts", lambda: measure_cairn(rig, messages, turns, gets, True)),
                       ("copies", lambda: measure_copies(rig, messages, turns, gets))):
        report(f"checkpoints: {names[name]}")
        settle()
        found[name] = work()
    report("checkpoints: reads of 1 MB")
    settle()
    reads = measure_reads(rig, messages)
    if has_langgraph():
        for name, work in (("sqlite", measure_langgraph_sqlite),
                           ("postgres", measure_langgraph_postgres)):
            report(f"checkpoints: {names[name]}")
            settle()
            found[name] = work(rig, file, turns, gets)
    return write(names, found, reads, turns, messages)


def write(names, found, reads, turns, messages):
    facts = {name: describe(one) for name, one in found.items()}
    full = facts["copies"]["bytes"]
    sync = {"whole": "every put", "parts": "every put", "copies": "every put",
            "postgres": "every put"}
    if "sqlite" in found:
        sync["sqlite"] = ("every put" if found["sqlite"]["synchronous"] >= 2
                          else "no put (synchronous = NORMAL)")
    whole = facts["whole"]
    facts["share"] = max(whole["bytes"], facts["parts"]["bytes"]) / full
    facts["late"] = facts["parts"]["late"]
    facts["get_ratio"] = whole["get_us"] / facts["copies"]["get_us"]
    facts["get_bytes_ratio"] = whole["get_bytes_us"] / facts["copies"]["get_bytes_us"]
    facts["reads"] = reads
    size = len(json.dumps(messages))
    lines = ["## Checkpoints", "",
             *paragraph(
                 f"A conversation of {turns} turns with {size / 1e6:.2f} MB of messages at its"
                 " end. After each turn, a checkpoint with the whole list is put, one after the"
                 " other on one connection. Bytes are the growth of the file, or the size of the"
                 f" tables. *Late* is the duration of the last {SHARE} puts divided by that of the"
                 f" first {SHARE}. *Gets* read the latest checkpoint and parse its JSON. Cairn"
                 " responds over HTTP. It decompresses what it reads from the file and verifies it"
                 " against its hash, and remembers the messages that it used last; the others run"
                 " inside the measuring program."),
             *table(["<", "<fsync", "bytes", "of full copies", "puts/s", "late", "gets/s"],
                    [row(names[name], sync[name], facts[name], full) for name in found]),
             *paragraph(
                 "The cost of putting the whole list grows with the list, which must be read,"
                 " split and hashed. Putting only the added part costs only that part. Reading"
                 f" the latest checkpoint from Cairn takes {facts['get_ratio']:.1f} times as long"
                 " as reading a full copy from SQLite; the bytes alone, over HTTP, take"
                 f" {facts['get_bytes_ratio']:.1f} times as long as in SQLite, which copies them"
                 " within the process."),
             *paragraph(
                 f"A checkpoint of {reads['bytes'] / 1e6:.2f} MB that was used before is read in"
                 f" {reads['http_us'] / 1000:.2f} ms over HTTP and in {reads['lib_us'] / 1000:.2f}"
                 " ms through libcairn (p50, one connection or caller); the first read after the"
                 f" start of a server takes {reads['first_us'] / 1000:.1f} ms.")]
    return lines, facts
