# SPDX-License-Identifier: Apache-2.0
"""CairnSaver, the checkpoint saver for LangGraph.js, compared with LangGraph's own savers."""
import json
import subprocess
import time

from checkpoints import PACKED_S, has_langgraph, make_messages, size_of
from lib import HERE, Cairn, paragraph, parse_results, settle, table, report
from peers import Postgres

TURNS = 200
GETS = 50
THREADS = 8
TURNS_AT_ONCE = 50  # per conversation

NAMES = {"cairn": "`CairnSaver`, on SQLite", "cairn-postgres": "`CairnSaver`, on PostgreSQL",
         "sqlite": "`@langchain/langgraph-checkpoint-sqlite`",
         "sqlite-full": "the same, set to FULL",
         "postgres": "`@langchain/langgraph-checkpoint-postgres`"}


class Work:
    """A number of concurrent conversations with a number of turns each."""

    def __init__(self, rig, threads, turns, gets):
        self.rig, self.threads, self.turns, self.gets = rig, threads, turns, gets
        self.file = f"{rig.directory}/messages.json"
        self.mark = f"{threads}x{turns}"

    def run(self, kind, place):
        done = subprocess.run(
            ["node", "savers.mjs", kind, place, self.file,
             *(str(n) for n in (self.turns, self.gets, self.threads))],
            cwd=HERE / "langgraph", capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr[-2000:])
        return parse_results(done.stdout)

    def cairn(self):
        data = f"cairn-{self.mark}"
        cairn = self.rig.cairn(data)
        cairn.make_threads(1)
        cairn.stop()
        file = f"{self.rig.directory}/{data}/cairn.db"
        before = size_of(file)
        cairn = self.rig.cairn(data)
        found = self.run("cairn", cairn.url)
        time.sleep(0 if self.rig.quick else PACKED_S)
        cairn.stop()
        return {**found, "bytes": size_of(file) - before}

    def cairn_postgres(self, postgres):
        schema = f"cairn_{self.mark}"
        cairn = Cairn(self.rig.binary, "--db", postgres.url, "--db-schema", schema)
        cairn.make_threads(1)
        before = schema_bytes(postgres, schema)
        found = self.run("cairn", cairn.url)
        time.sleep(0 if self.rig.quick else PACKED_S)
        found["bytes"] = schema_bytes(postgres, schema) - before
        cairn.stop()
        return found

    def sqlite(self, kind):
        place = f"{self.rig.directory}/{kind}-{self.mark}.db"
        return {**self.run(kind, place), "bytes": size_of(place)}

    def postgres(self, postgres):
        psql(postgres, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public")
        found = self.run("postgres", postgres.url)
        return {**found, "bytes": schema_bytes(postgres, "public")}

    def measure(self, postgres):
        works = {"cairn": self.cairn, "cairn-postgres": lambda: self.cairn_postgres(postgres),
                 "sqlite": lambda: self.sqlite("sqlite"),
                 "sqlite-full": lambda: self.sqlite("sqlite-full"),
                 "postgres": lambda: self.postgres(postgres)}
        found = {}
        for name, work in works.items():
            report(f"savers: {NAMES[name]}, {self.threads} at once")
            settle()
            found[name] = describe(work(), self.threads * self.turns)
        return found


def has_saver():
    """Builds the packages of sdk/ if necessary; returns false if that fails."""
    home = HERE.parent / "sdk"
    if (home / "langgraph" / "dist").exists():
        return True
    report("savers: npm ci and npm run build in sdk")
    commands = ["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build", "--workspaces"]
    return all(subprocess.run(command, cwd=home, capture_output=True).returncode == 0
               for command in commands)


def psql(postgres, sql):
    return subprocess.run([f"{postgres.bin}/psql", "-At", "-q", "-c", sql, postgres.url],
                          capture_output=True, text=True, check=True).stdout.strip()


def schema_bytes(postgres, schema):
    psql(postgres, "VACUUM")  # counts free space inside the files, but no dead rows
    return int(psql(postgres, "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class"
                    " AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
                    f" AND n.nspname = '{schema}'"))


def quantile(times, share):
    return sorted(times)[min(int(len(times) * share), len(times) - 1)] / 1000


def describe(found, checkpoints):
    def times(what):
        return [found[key] for key in found if key.startswith(what)]
    return {"rate": checkpoints / found["all_us"] * 1e6, "bytes": found["bytes"],
            "put_p50": quantile(times("put_"), 0.5), "put_p99": quantile(times("put_"), 0.99),
            "write_p50": quantile(times("write_"), 0.5), "get_p50": quantile(times("get_"), 0.5),
            "synchronous": found.get("synchronous"), "wal": found.get("wal")}


def sync_of(name, facts, commit):
    """Returns how each saver syncs a checkpoint before it reports success."""
    if name == "cairn":
        return "every put (WAL, synchronous = FULL)"
    if name in ("cairn-postgres", "postgres"):
        return f"every put (synchronous_commit = {commit})"
    level = {0: "OFF", 1: "NORMAL", 2: "FULL", 3: "EXTRA"}[int(facts["synchronous"])]
    journal = "WAL" if facts["wal"] else "rollback journal"
    puts = "every" if facts["synchronous"] >= 2 else "no"
    return f"{puts} put ({journal}, synchronous = {level})"


def rows(found, commit):
    return [[NAMES[name], sync_of(name, f, commit), f"{f['rate']:.0f}",
             f"{f['bytes'] / 1e6:.2f} MB", f"{f['put_p50']:.1f}", f"{f['put_p99']:.1f}",
             f"{f['write_p50']:.1f}",
             f"{f['get_p50']:.1f}"] for name, f in found.items()]


COLUMNS = ["<", "<fsync", "checkpoints/s", "on disk", "put p50 ms", "p99", "putWrites p50",
           "getTuple p50"]


def measure(rig):
    turns, gets, at_once = (20, 5, 10) if rig.quick else (TURNS, GETS, TURNS_AT_ONCE)
    if not has_langgraph() or not has_saver():
        raise SystemExit("LangGraph and the packages of sdk/ are needed")
    messages = make_messages()[:turns * 2]
    with open(f"{rig.directory}/messages.json", "w") as out:
        json.dump(messages, out)
    postgres = Postgres(rig.directory)
    commit = psql(postgres, "SHOW synchronous_commit")
    one = Work(rig, 1, turns, gets).measure(postgres)
    many = Work(rig, THREADS, at_once, gets).measure(postgres)
    postgres.stop()
    size = len(json.dumps(messages)) / 1e6
    return write(one, many, turns, at_once, size, commit), {"one": one, "many": many}


def write(one, many, turns, at_once, size, commit):
    cairn, sqlite, postgres = (one[name] for name in ("cairn", "sqlite", "postgres"))
    return ["## LangGraph savers", "",
            *paragraph(
                f"A conversation of {turns} turns with {size:.2f} MB of messages at its end,"
                " stored by each saver as a graph does: in each turn, the write of a task, then a"
                " checkpoint with the whole list. *Checkpoints a second* counts both. Times are"
                " those of the calls inside one Node process, in milliseconds. Cairn is a server"
                " that responds over HTTP; the SQLite saver writes a file inside the process; the"
                " PostgreSQL saver uses the same PostgreSQL as Cairn. CairnSaver sends only the"
                " added part of a known list."),
            *table(COLUMNS, rows(one, commit)),
            *paragraph(f"{THREADS} conversations of {at_once} turns at once, in the same process:"),
            *table(COLUMNS, rows(many, commit)),
            *paragraph(
                f"On disk the conversation takes {sqlite['bytes'] / cairn['bytes']:.0f} times as"
                f" much with the SQLite saver and {postgres['bytes'] / cairn['bytes']:.0f} times"
                " as much with the PostgreSQL saver, because both store the whole list of each"
                " turn. In CairnSaver's own process, LangGraph's serializer is the largest part"
                " of the cost of putting a long list. With many short conversations at once, the"
                " SQLite saver is faster: each call to Cairn is a request, and the client"
                " process, the server and the database share the cores.")]
