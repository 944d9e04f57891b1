# SPDX-License-Identifier: Apache-2.0
"""Steps: appends one by one and in batches, compared with SQLite, and queries among a million."""
import json
import os
import sqlite3
import time
import urllib.request
import uuid

from lib import median, ms, paragraph, settle, table, report, write_requests

STEPS = int(os.environ.get("BENCH_STEPS", 1_000_000))
STEPS_A_RUN = 25
RUNS_A_THREAD = 10
AGENTS = 20
BATCH = 100
SECONDS = 5        # of appends
READS = 300        # of each reading
SLICE = 200_000    # steps per transaction while the database is filled

STEP = {"action_type": "tool_execution", "step_number": 1, "duration_ms": 1,
        "action_data": {"tool_name": "bash", "tool_use_id": "toolu_123",
                        "input": {"command": "python chart.py"},
                        "result": {"stdout": "saved", "return_code": 0}}}

# The steps of a run repeat a cycle of types; every thousandth step is an error.
FILL = """
WITH RECURSIVE n(i) AS (SELECT :first UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :end)
INSERT INTO steps (tenant_id, run_id, number, thread_id, agent_id, at, step_number, action_type,
    action_data, duration_ms, tool_name, tool_use_id, outcome, model, input_tokens, output_tokens,
    created_at)
SELECT r.tenant_id, r.run_id, n.i % :a_run + 1, r.thread_id, r.agent_id,
    :began + n.i * 1000000, n.i % :a_run / 3,
    CASE WHEN n.i % 1000 = 999 THEN 'error' ELSE CASE n.i % 3 WHEN 0 THEN 'api_call_started'
        WHEN 1 THEN 'api_response_received' ELSE 'tool_execution' END END,
    '{"stop_reason":"tool_use","content":[{"type":"text","text":"step ' || n.i || ' of a run"}]}',
    n.i % 2000,
    CASE WHEN n.i % 3 = 2 AND n.i % 1000 <> 999 THEN 'tool-' || (n.i % 40) END,
    CASE WHEN n.i % 3 = 2 AND n.i % 1000 <> 999 THEN 'toolu_' || n.i END,
    CASE WHEN n.i % 1000 = 999 THEN 'error' WHEN n.i % 3 = 0 THEN NULL ELSE 'success' END,
    CASE WHEN n.i % 3 < 2 AND n.i % 1000 <> 999 THEN 'model-' || (n.i % 6) END,
    CASE WHEN n.i % 3 = 1 THEN 450 END, CASE WHEN n.i % 3 = 1 THEN 120 END, :began + n.i * 1000000
FROM n JOIN bench_runs AS r ON r.place = n.i / :a_run
"""


class Log:
    """A database with many steps, written into the file while no server uses it."""

    def __init__(self, rig, count):
        self.rig, self.count = rig, count
        self.cairn = rig.cairn("data")
        self.agents = [self.cairn.post("/v1/agents", {"name": f"agent {i}"})["id"]
                       for i in range(AGENTS)]
        self.thread = self.cairn.make_threads(1)[0]
        self.make_one_of_each()
        self.run = self.start_run(self.thread)
        self.cairn.stop()
        self.fill()
        self.cairn = rig.cairn("data")

    def start_run(self, thread):
        return self.cairn.post(f"/v1/threads/{thread}/runs", {"dispatch": "direct"})["id"]

    def make_one_of_each(self):
        """Creates the templates of the copies: a resumption and a run with its history entry."""
        self.put(f"/v1/threads/{self.thread}/resumption",
                 {"system_prompt": "You draw charts.", "model": "model-1"})
        self.put(f"/v1/runs/{self.start_run(self.thread)}",
                 {"status": "completed", "final_output": "Here it is."}, "PATCH")

    def put(self, path, body, method="PUT"):
        request = urllib.request.Request(self.cairn.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "If-Match": "*"},
                                         method=method)
        urllib.request.urlopen(request).close()

    def fill(self):
        """Copies the thread and run that Cairn created, and creates the indexes at the end."""
        db = sqlite3.connect(f"{self.rig.directory}/data/cairn.db", isolation_level=None)
        db.execute("PRAGMA synchronous = OFF")
        db.execute("PRAGMA cache_size = -262144")
        indexes = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index'"
                             " AND tbl_name = 'steps' AND sql IS NOT NULL").fetchall()
        n_runs = self.count // STEPS_A_RUN
        threads = [uuid.uuid4().bytes for _ in range(max(1, n_runs // RUNS_A_THREAD))]
        db.execute("BEGIN")
        for name, _ in indexes:
            db.execute(f"DROP INDEX {name}")
        db.execute("CREATE TEMP TABLE bench_runs (place INTEGER PRIMARY KEY, tenant_id BLOB,"
                   " thread_id BLOB, run_id BLOB, agent_id BLOB)")
        tenant = db.execute("SELECT tenant_id FROM runs LIMIT 1").fetchone()[0]
        db.executemany("INSERT INTO bench_runs VALUES (?, ?, ?, ?, ?)",
                       ((i, tenant, threads[i * len(threads) // n_runs], uuid.uuid4().bytes,
                         uuid.UUID(self.agents[i % AGENTS]).bytes) for i in range(n_runs)))
        of_run = "(SELECT b.{} FROM bench_runs AS b WHERE b.run_id = n.x)".format
        self.copy_rows(db, "threads", "id", "SELECT DISTINCT thread_id FROM bench_runs")
        self.copy_rows(db, "thread_documents", "thread_id",
                       "SELECT DISTINCT thread_id FROM bench_runs")
        self.copy_rows(db, "runs", "id", "SELECT run_id FROM bench_runs",
                       thread_id=of_run("thread_id"), agent_id=of_run("agent_id"),
                       step_count=str(STEPS_A_RUN))
        self.copy_rows(db, "run_documents", "run_id", "SELECT run_id FROM bench_runs")
        self.copy_rows(db, "resumptions", "thread_id", "SELECT DISTINCT thread_id FROM bench_runs")
        self.copy_rows(db, "history_entries", "run_id", "SELECT run_id FROM bench_runs",
                       id="randomblob(16)", thread_id=of_run("thread_id"),
                       agent_id=of_run("agent_id"), sequence_number=of_run("place + 2"),
                       started_at=f"{time.time_ns() // 1000} - " + of_run("place * 20000000"),
                       input_tokens="1500", output_tokens="800")
        db.execute("COMMIT")
        for first in range(0, n_runs * STEPS_A_RUN, SLICE):
            end = min(first + SLICE, n_runs * STEPS_A_RUN)
            db.execute(FILL, {"first": first, "end": end, "a_run": STEPS_A_RUN,
                              "began": 1_700_000_000_000_000})
        for _, sql in indexes:
            db.execute(sql)
        middle = db.execute("SELECT thread_id, run_id FROM bench_runs WHERE place = ?",
                            (n_runs // 2,)).fetchone()
        self.old_thread, self.old_run = (str(uuid.UUID(bytes=one)) for one in middle)
        db.close()

    @staticmethod
    def copy_rows(db, name, key, ids, **others):
        """As many rows like the first one of the table as there are ids."""
        db.execute("CREATE INDEX IF NOT EXISTS temp.bench_by_run ON bench_runs (run_id)")
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
        values = [others.get(column, "n.x" if column == key else f't."{column}"')
                  for column in columns]
        named = ", ".join(f'"{column}"' for column in columns)
        db.execute(f"WITH n(x) AS ({ids}) INSERT INTO {name} ({named})"
                   f" SELECT {', '.join(values)} FROM (SELECT * FROM {name} LIMIT 1) AS t, n")

    def load(self, requests, connections, seconds, count):
        file = write_requests(f"{self.rig.directory}/requests", requests)
        return self.rig.measure("load", "http", self.cairn.port, connections, file, seconds, count,
                                0)

    def append(self, steps, connections, seconds):
        body = json.dumps(STEP if steps == 1 else {"steps": [STEP] * steps})
        path = f"/v1/runs/{self.run}/steps"
        run = self.load([self.cairn.request("POST", path, body)], connections, seconds, 0)
        return {**run, "rate": run["rate"] * steps}

    def read(self, path, count):
        return self.load([self.cairn.request("GET", path)], 1, 120, count)


def readings(log):
    """Returns the queries and their paths: the typical uses of a log of steps, then each filter."""
    steps = json.loads(log.cairn.ask("GET", f"/v1/runs/{log.old_run}/steps"))["data"]
    at = steps[0]["timestamp"]
    return (("resume: the whole state of a thread",
             f"/v1/threads/{log.old_thread}/resumption"),
            ("the newest 20 entries of its history",
             f"/v1/threads/{log.old_thread}/history?limit=20"),
            ("the average tokens of a run, by agent, of the last 7 days",
             "/v1/usage/averages?days=7&group_by=agent"),
            ("debug one run: its 25 steps", f"/v1/runs/{log.old_run}/steps?limit=200"),
            ("find errors: the newest 50", "/v1/steps?action_type=error&limit=50"),
            ("find errors of one agent", f"/v1/steps?outcome=error&agent_id={log.agents[3]}"),
            ("the calls of models of one run", f"/v1/runs/{log.old_run}/llm-calls"),
            ("the newest 50 steps", "/v1/steps?limit=50"),
            ("50 steps from the middle of time", f"/v1/steps?to={at}&limit=50"),
            ("of one thread", f"/v1/steps?thread_id={log.old_thread}"),
            ("of one agent", f"/v1/steps?agent_id={log.agents[7]}"),
            ("of one tool", "/v1/steps?tool_name=tool-5"),
            ("of one model", "/v1/steps?model=model-1"),
            ("one type of one model, by two filters",
             "/v1/steps?model=model-1&action_type=api_response_received"))


def measure_appends(log, seconds):
    """Measures Cairn, stops it, and then measures SQLite, which allows only one writer."""
    cases = ((1, 1), (1, 64), (BATCH, 1), (BATCH, 8))
    ours = {case: log.append(*case, seconds) for case in cases}
    log.cairn.stop()
    settle()
    rows = []
    for steps, connections in cases:
        limit = log.rig.measure("steps", f"{log.rig.directory}/data", connections, steps, seconds)
        run = ours[steps, connections]
        rows.append({"steps": steps, "connections": connections, "rate": run["rate"],
                     "p50": run["latency_p50"], "p99": run["latency_p99"],
                     "limit": limit["rate"], "ratio": run["rate"] / limit["rate"]})
    return rows


def measure_reads(log):
    rows = []
    count = READS // 10 if log.rig.quick else READS
    for what, path in readings(log):
        report(f"steps: {what}")
        turns = [log.read(path, count) for _ in range(3)]
        rows.append({"what": what, "p50": median([turn["latency_p50"] for turn in turns]),
                     "p99": median([turn["latency_p99"] for turn in turns])})
    return rows


def measure(rig):
    count = STEPS // 50 if rig.quick else STEPS
    report(f"steps: makes a database with {count:,}")
    log = Log(rig, count)
    settle()
    reads = measure_reads(log)
    report("steps: appends")
    appends = measure_appends(log, 1 if rig.quick else SECONDS)
    facts = {"steps": count, "reads": reads, "appends": appends}
    return ["## Steps", "",
            *paragraph(
                f"A database with {count:,} steps, {STEPS_A_RUN} a run and {RUNS_A_THREAD} runs a"
                f" thread, of {AGENTS} agents (set `BENCH_STEPS` to change the number). Appends go"
                " to one run. The limit is SQLite alone: Cairn's own statements on the same"
                " database, in a loop of one thread, without HTTP and JSON, with as many requests"
                " a commit as there are connections."),
            *table(["steps a request", "connections", "steps/s", "p50", "p99",
                    "SQLite alone, steps/s", "of it"],
                   [[str(a["steps"]), str(a["connections"]), f"{a['rate']:,.0f}", ms(a["p50"]),
                     ms(a["p99"]), f"{a['limit']:,.0f}", f"{a['ratio']:.2f}"] for a in appends]),
            *table(["<one request, one connection", "p50", "p99"],
                   [[r["what"], ms(r["p50"]), ms(r["p99"])] for r in reads])], facts
