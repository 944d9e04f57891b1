#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much the tests notice: changes one place of src at a time and runs the tests.

    mutants.py --seed 7 --count 60     a sample; --list prints it without running tests
    mutants.py --layer api             a sample of one layer

The changes are made in a copy under build-mutants, never in this tree. A mutant is detected if a
test fails or does not end in time. A mutant that does not compile is replaced by the next one of
its kind. Tests are chosen by the name of the changed file: first those of its resource, then those
of its layer, then tests that walk over all routes; the first failure ends a mutant. A test that
detects its first mutant then runs on the unchanged code, because a test that always fails detects
nothing; such a test is left out. Builds have no sanitizers, so changes that only these find (loops
that run once too often, memory that is not freed) are left out; so are checks of failing system
calls and of failing calls of SQLite, which tests/fault is for.
"""
import argparse
import difflib
import fcntl
import hashlib
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from run_tests import install_node_modules

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"

# --- Places ------------------------------------------------------------------------------------

# Schemas are data, and released ones cannot change; the last two are tables.
NOT_MUTATED = re.compile(
    r"/migrations/|^src/api/routes\.c$|^src/cli/resources\.c$|/examples\.c$|/media_types\.c$"
    r"|_tables\.c$|^src/base/(unicode|error)")

# How often each kind is drawn.
KINDS = {
    "comparison": 12, "boolean": 8, "check": 12, "limit": 5, "predicate": 10, "effect": 9,
    "cursor": 3, "order": 1,
}


@dataclass(frozen=True)
class Mutant:
    kind: str
    path: str
    start: int
    end: int
    text: str

    def apply(self, source):
        return source[:self.start] + self.text + source[self.end:]

    def line(self, source):
        return source.count("\n", 0, self.start) + 1

    def near(self, source):
        """The changed line, or the whole statement of SQL."""
        limit = "\n-- name:" if self.path.endswith(".sql") else "\n"
        end = source.find(limit, self.end)
        return source[source.rfind(limit, 0, self.start) + 1:end if end >= 0 else len(source)]

    @property
    def layer(self):
        return self.path.split("/")[1]


def blank(text):
    return re.sub(r"[^\n]", " ", text)


C_HIDDEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
# Initializers of tables; statements that log, and assertions.
C_TABLE = re.compile(r"^(?:static |const )[^;{}()]*=\s*\{.*?^\};", re.S | re.M)
C_UNTESTED = re.compile(r"\b(?:assert|ASSERT|STATIC_ASSERT|_Static_assert|log_\w+)\s*\(", re.S)


def closing(code, opening):
    """The index after the parenthesis that closes the one at `opening`; -1 without one."""
    depth = 0
    for i in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return -1


def visible_c(source):
    """The code with comments, strings, tables, logging and assertions blanked; offsets stay."""
    code = C_HIDDEN.sub(lambda m: blank(m[0]), source)
    return hide_untested(C_TABLE.sub(lambda m: blank(m[0]), code))


def hide_untested(code):
    for m in list(C_UNTESTED.finditer(code)):
        end = closing(code, m.end() - 1)
        if end > 0:
            code = code[:m.start()] + blank(code[m.start():end]) + code[end:]
    return code


def hide_loops(code):
    """Without the heads of for loops, and without the bounds of while loops, such as `i < n`, whose
    change only makes the loop read or write one place too many."""
    for m in list(re.finditer(r"\b(for|while)\s*\(", code)):
        end = closing(code, m.end() - 1)
        if end > 0:
            head = code[m.start():end]
            head = blank(head) if m[1] == "for" else re.sub(r" [<>](?= )", "  ", head)
            code = code[:m.start()] + head + code[end:]
    return code


SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
         "||": "&&"}


def c_comparisons(path, source, code):
    for m in re.finditer(r"(?<= )(<=|>=|==|!=|<|>|&&|\|\|)(?=[ \n])", hide_loops(code)):
        kind = "boolean" if m[1] in ("&&", "||") else "comparison"
        yield Mutant(kind, path, m.start(1), m.end(1), SWAPS[m[1]])


ERRORS = re.compile(
    r"\s*return\s+(?:problem_|ERR_|call_problem|fault|refuse|reject|invalid|false;)")


# A system call, or SQLite, reports that the disk or memory failed.
FAILED_CALL = re.compile(r"\berrno\b|!= SQLITE_OK\)|sqlite3_errmsg")


def c_checks(path, source, code):
    """`TRY(check_…);` and `if (…) return error;` are dropped."""
    for m in re.finditer(r"^[ \t]+TRY\(\w*check\w*\(", code, re.M):
        end = code.find(";", closing(code, code.index("(", m.start()))) + 1
        yield Mutant("check", path, m.start(), end, "")
    for m in re.finditer(r"^[ \t]+if \(", code, re.M):
        end = closing(code, m.end() - 1)
        if end < 0 or not ERRORS.match(code, end):
            continue
        stop = code.index(";", end) + 1
        if not FAILED_CALL.search(code, m.start(), stop):
            yield Mutant("check", path, m.start(), stop, "")


LIMIT = r"\b(?:[A-Z][A-Z0-9_]*_(?:MAX|MIN)(?:_[A-Z]+)*|[A-Z][A-Z0-9_]*_MAX|MAX_[A-Z_]+)\b"


def c_limits(path, source, code):
    """Constants of limits, in comparisons and in tables of fields, move by one."""
    plain = hide_loops(hide_untested(C_HIDDEN.sub(lambda m: blank(m[0]), source)))
    for m in re.finditer(rf"(?:[<>]=?|\.max =|\.min =) ({LIMIT})", plain):
        up = int(hashlib.sha256(f"{path}:{m.start()}".encode()).hexdigest(), 16) % 2
        yield Mutant("limit", path, m.start(1), m.end(1), f"({m[1]} {'+' if up else '-'} 1)")


# Releases memory or closes: a leak needs a sanitizer.
RELEASES = re.compile(
    r"free|deinit|destroy|unref|close|clear|release|memset|memcpy|memzero|va_|_init$|abort|trim"
    r"|CLEANUP|ENUM_|explicit_bzero|pthread_(?:attr|cond|mutex)|unmap|fclose|printf|puts|fflush")


def c_effects(path, source, code):
    """A statement that only calls, and a TRY of a call without results, are dropped."""
    for m in re.finditer(r"(?<=[;{})\n])\n?([ \t]+)(TRY\()?(\w+)\(", code):
        name = m[3]
        start = m.start(1)
        if re.match(r"(?:if|for|while|switch|return|sizeof|TRY|STR|case)$", name):
            continue
        if RELEASES.search(name) or "check" in name or code[:start].rstrip()[-1:] == ",":
            continue
        opening = code.index("(", m.start(1))
        end = closing(code, opening)
        if end < 0 or code[end:end + 1] != ";":
            continue
        if m[2] and "&" in code[opening:end]:
            continue
        before = code[:start].rstrip()
        if not m[2] and before[-1:] not in (";", "{", "}", ")", ":"):
            continue
        # The body of an if without braces becomes empty.
        yield Mutant("effect", path, start, end + 1, " " * len(m[1]) + ";")


def c_cursors(path, source, code):
    for m in re.finditer(r" ([+-]) 1\b(?![\d.])", hide_loops(code)):
        begin = code.rfind("\n", 0, m.start()) + 1
        line = code[begin:code.find("\n", m.end())]
        if re.search(r"page|limit|cursor|next|after|before|last|seq|more|count|offset", line):
            yield Mutant("cursor", path, m.start(), m.end(), "")


SQL_END = re.compile(
    r"\b(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|UNION|HAVING|WINDOW|FOR|ON|WHEN|THEN|ELSE|END|JOIN"
    r"|LEFT|CROSS|SET|WHERE)\b|;|--|\}\}")
PARAM = re.compile(r"(?<!:):(\w+)")


def sql_term(code, at):
    """The end of the condition that begins at `at`."""
    depth = 0
    i = at
    while i < len(code):
        if code[i] == "(":
            depth += 1
        elif code[i] == ")":
            if depth == 0:
                return i
            depth -= 1
        elif depth == 0:
            if code.startswith("{{", i):
                i = code.index("}}", i) + 2
                continue
            if SQL_END.match(code, i) and not code[i - 1].isalnum():
                return i
        i += 1
    return i


def visible_sql(source):
    """Without comments; definitions of tokens stay, which are comments, too."""
    def line(m):
        text = m[0]
        if re.match(r"-- (?:define|  \|)", text):
            return text
        return ";" + blank(text[1:])  # ends the statement or definition before it
    return re.sub(r"^--[^\n]*", line, re.sub(r"'[^'\n]*'", lambda m: blank(m[0]), source),
                  flags=re.M)


def sql_predicates(path, source, code):
    """One AND term of a WHERE becomes true; its parameters stay, as C binds them."""
    for m in re.finditer(r"\b(WHERE|AND)\s+", code):
        end = sql_term(code, m.end())
        term = source[m.end():end].rstrip()
        if not term or "--" in term or "BETWEEN" in code[max(0, m.start() - 40):m.start()]:
            continue
        if m[1] == "WHERE" and not re.match(r"AND\b", code[end:]):
            continue
        params = list(dict.fromkeys(PARAM.findall(term)))
        true = " AND ".join(f"(:{p} IS NULL OR 1 = 1)" for p in params) or "1 = 1"
        yield Mutant("predicate", path, m.end(), m.end() + len(term), true)


def sql_comparisons(path, source, code):
    for m in re.finditer(r" (<=|>=|<>|<|>) (\S+)", code):
        of_cursor = re.search(r":(?:after|before|from|next|since)|_(?:before|after)", m[2])
        swap = {"<>": "="}.get(m[1]) or SWAPS[m[1]]
        yield Mutant("cursor" if of_cursor else "comparison", path, m.start(1), m.end(1), swap)


def sql_orders(path, source, code):
    for m in re.finditer(r"\bORDER BY\s+", code):
        end = sql_term(code, m.end())
        first = re.match(r"[\w.]+(\s+(?:DESC|ASC))?", code[m.end():end])
        if not first:
            continue
        name = first[0].split()[0]
        turned = name if (first[1] or "").strip() == "DESC" else f"{name} DESC"
        yield Mutant("order", path, m.end(), m.end() + len(first[0]), turned)


OPERATORS = {
    ".c": (visible_c, (c_comparisons, c_checks, c_limits, c_effects, c_cursors)),
    ".sql": (visible_sql, (sql_predicates, sql_comparisons, sql_orders)),
}


def mutants_of(path, source):
    view, operators = OPERATORS[Path(path).suffix]
    code = view(source)
    return [m for operator in operators for m in operator(path, source, code)]


def sources(root):
    found = [p.relative_to(root).as_posix() for suffix in OPERATORS
             for p in root.glob(f"src/**/*{suffix}")]
    return sorted(p for p in found if not NOT_MUTATED.search(p))


def sample(root, seed, layer=None):
    """An endless order of distinct mutants, the same for the same seed and sources: a kind is
    drawn by its weight, then a place of that kind."""
    pools = {kind: [] for kind in KINDS}
    for path in sources(root):
        if layer is None or path.split("/")[1] == layer:
            for mutant in mutants_of(path, (root / path).read_text()):
                pools[mutant.kind].append(mutant)
    chance = random.Random(seed)
    for pool in pools.values():
        chance.shuffle(pool)
    while any(pools.values()):
        kinds = [kind for kind in KINDS if pools[kind]]
        kind = chance.choices(kinds, [KINDS[k] for k in kinds])[0]
        yield pools[kind].pop()


# --- Tests -------------------------------------------------------------------------------------

# API tests by a part of the path, most specific first: the tests of the first line that matches.
API_TESTS = (
    ("jsonschema/", "json-schema states"),
    ("base/diff", "files history"),
    ("base/condition", "agents runs"),
    ("base/", "bad-input conventions"),
    ("net/share", "flood rate-limit conventions"),
    ("select", "cli-sql views"),
    ("/tenancy/", "keys tenants audit access idempotency"),
    ("share", "shares participants access"),
    ("thread_copy", "shares threads"),
    ("participant", "participants access messages"),
    ("message", "messages participants"),
    ("notebook", "notebooks threads"),
    ("/threads/event", "events streams access"),
    ("thread_delete", "deletions threads"),
    ("/threads/", "threads thread-keys events"),
    ("usage", "usage memoria steps"),
    ("price", "usage"),
    ("eval", "usage views memoria"),
    ("resumption", "resumption agent-runs"),
    ("transcript", "resumption history steps"),
    ("awaited_tools", "resumption waits agent-runs memoria"),
    ("tools_api", "resumption waits agent-runs memoria"),
    ("step", "steps cli-states"),
    ("turn", "agent-runs waits memoria"),
    ("history", "history agent-runs"),
    ("lease", "leases runs"),
    ("memoria", "memoria"),
    ("schedule", "attempts runs"),
    ("attempts", "attempts"),
    ("/execution/", "runs run-start agent-runs leases lifecycle memoria"),
    ("state", "states cli-states"),
    ("storage", "storage"),
    ("/agents/", "agents agent-runs states"),
    ("/files/", "files content cli-file"),
    ("/checkpoints/", "checkpoints checkpoint-savers"),
    ("/memory/", "store"),
    ("archive", "archive archive-export archive-slices cli-archive"),
    ("export_places", "archive-export cli-archive"),
    ("upkeep/imports", "archive archive-slices cli-archive"),
    ("fsck", "fsck cli-backup audit"),
    ("/upkeep/", "runs files store leases"),
    ("stream", "streams events"),
    ("rate_limit", "rate-limit"),
    ("replay", "idempotency"),
    ("openapi", "openapi"),
    ("denials", "audit"),
    ("access", "access agent-workers"),
    ("http/download", "content files"),
    ("http/sender", "content archive-export"),
    ("http/intake", "content files flood"),
    ("http/receiver", "content flood"),
    ("http/cod", "compression codings bad-input"),
    ("http/encoding", "compression codings"),
    ("http/echo", "scenarios agents threads"),
    ("http/poll", "waits runs events"),
    ("http/watch", "waits streams events"),
    ("http/interest", "waits runs streams"),
    ("http/holdings", "quotas flood"),
    ("http/known_keys", "flood rate-limit keys"),
    ("http/call", "conventions bad-input idempotency lifecycle flood tickets access"),
    ("http/front", "conventions bad-input idempotency flood options access"),
    ("/http/", "conventions bad-input idempotency streams stopped access"),
    ("src/lib/", "embed-identity streams"),
    ("src/server/", "options stopped cli-config"),
    ("cli/doctor", "cli-doctor"),
    ("cli/layout", "cli-layout"),
    ("cli/migrate", "cli-migrate"),
    ("cli/config", "cli-config options"),
    ("cli/settings", "cli-config options"),
    ("cli/toml", "cli-config"),
    ("cli/backup", "cli-backup"),
    ("cli/restore", "cli-backup"),
    ("cli/check", "cli-backup"),
    ("cli/follow", "cli-tail cli-network"),
    ("cli/event_tail", "cli-tail"),
    ("cli/run_wait", "cli-tail cli"),
    ("cli/sse", "cli-tail"),
    ("cli/mirror", "cli-file"),
    ("cli/file", "cli-file"),
    ("cli/archive", "cli-archive"),
    ("cli/tree", "cli-usage cli cli-terminal"),
    ("cli/", "cli cli-usage cli-terminal cli-states cli-participants"),
    ("client", "cli-network cli-tail"),
    ("tls", "cli-network options"),
    ("net/", "conventions bad-input streams flood stopped"),
    ("backup", "cli-backup"),
    ("restore", "cli-backup"),
    ("content", "content files"),
    ("transfer", "cli-migrate"),
    ("sidecar", "cli-migrate cli-backup"),
    ("space", "disk-full"),
    ("reserve", "disk-full"),
    ("hub", "streams events"),
    ("postgres", "runs leases"),
    ("sqlite_open", "cli-backup cli-doctor options"),
    ("sqlite_file", "cli-backup cli-doctor options"),
    ("store/", "threads runs faults"),
)
# Tests that use every route or many resources, for the layers behind the API.
BROAD = {
    "api": "lists neighbours limits bad-input conventions routes",
    "model": "lists neighbours archive limits bad-input views",
    "base": "limits openapi cli", "store": "streams leases", "net": "cli-network",
    "lib": "runs", "server": "cli-network", "cli": "cli-network cli-layout cli-doctor docs",
}
POSTGRES_TESTS = "postgres-start postgres-nodes postgres-leases postgres-network"
UNITS = {"base": "base", "store": "store", "model": "model", "net": "net", "api": "api",
         "lib": "lib", "cli": "cli"}
# Programs that a test needs beside the server.
PROGRAMS = {"json-schema": ("tests/lib/schema",),
            "embed-identity": ("tests/lib/drive", "src/lib/libcairn.so.0")}
# Files whose unit tests are those of another layer, too.
UNITS_TOO = (("store/content", "model"),)
UNIT_LATER = ("store", "model", "net", "lib")  # these take longer than a few API tests


@dataclass(frozen=True)
class Part:
    name: str
    command: tuple
    engine: str = "sqlite"


def named_tests(path, files):
    """API tests whose name begins with the resource of the file: agent_links → agents."""
    stem = re.sub(r"_api$", "", Path(path).stem)
    words = stem.split("_")
    wanted = {"-".join(words), words[0], f"{words[0]}s", "-".join(words[:2])}
    return [name for name in files if name in wanted]


def api_part(name, engine):
    return Part(f"{name} ({engine})", ("node", f"tests/api/{name}.test.mjs"), engine)


# Code that only matters where several nodes share a database.
SHARED = re.compile(r"postgres:|tail|context_enter|context_lock|lock_|is_shared|\bFOR UPDATE")


def parts_for(path, files, changed=""):
    """The tests of a changed file, the most specific first; `changed` is the changed text."""
    layer = path.split("/")[1]
    of_table = next((tests.split() for part, tests in API_TESTS if part in path), [])
    unit = [Part(f"unit_{name}", (str(BUILD / f"tests/unit/{name}/unit_{name}"),))
            for name in (layer, *(other for part, other in UNITS_TOO if part in path))
            if name in UNITS]
    near = [api_part(n, "sqlite") for n in dict.fromkeys([*named_tests(path, files), *of_table])]
    far = [api_part(n, "sqlite") for n in BROAD[layer].split()]
    own = []
    if re.search(r"postgres|/tail", path):
        own = [Part("unit_store (postgres)", (str(BUILD / "tests/unit/store/unit_store"),
                                              "postgres"), "postgres"),
               Part("unit_model (postgres)", (str(BUILD / "tests/unit/model/unit_model"),),
                    "postgres"),
               *(api_part(n, "postgres") for n in (*of_table, *POSTGRES_TESTS.split()))]
        near = []
    elif SHARED.search(changed):
        own = [api_part(p.name.split(" ")[0], "postgres") for p in near[:2]]
        own += [Part("unit_model (postgres)", (str(BUILD / "tests/unit/model/unit_model"),),
                     "postgres")] if layer == "model" else []
    ordered = [*near, *own, *unit, *far] if layer in UNIT_LATER else [*unit, *near, *own, *far]
    known = [p for p in ordered if not p.command[0] == "node"
             or p.command[1].split("/")[-1].split(".")[0] in files]
    return list(dict.fromkeys(known))


# --- Running -----------------------------------------------------------------------------------

POLITE = ("nice", "-n", "5")
# Of each process, so that a loop that allocates without end fails instead of taking all memory.
MEMORY_MAX_BYTES = 4 << 30


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_MAX_BYTES, MEMORY_MAX_BYTES))


class Processes:
    """The processes that run now; each has a group of its own, which ends as a whole."""

    def __init__(self):
        self.running = []

    def start(self, command, log, **options):
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=limit_memory, **options)
        self.running.append(process)
        return process

    def end(self, process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        if process in self.running:
            self.running.remove(process)

    def end_all(self):
        for process in list(self.running):
            self.end(process)


class Runner:
    def __init__(self, limit_s, jobs):
        self.limit_s = limit_s
        self.jobs = jobs
        self.processes = Processes()
        self.cluster = None
        self.files = sorted(f.name.split(".")[0] for f in (ROOT / "tests/api").glob("*.test.mjs"))
        self.scratch = WORK / "tmp"
        self.trusted = set()  # parts that pass on the unchanged code
        self.left_out = set()  # parts that do not

    def prepare(self):
        """Copies the sources whose content differs, so that unchanged ones are not compiled."""
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
            stdout=subprocess.PIPE).stdout.split("\n")
        wanted = {p for p in listed if p and (ROOT / p).is_file()}
        for path in wanted:
            content = (ROOT / path).read_bytes()
            copy = TREE / path
            if not copy.exists() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                copy.chmod((ROOT / path).stat().st_mode)
        for copy in list(TREE.rglob("*")):
            if copy.is_file() and not copy.is_symlink() \
                    and copy.relative_to(TREE).as_posix() not in wanted:
                copy.unlink()
        install_node_modules(ROOT / "tests/api")
        modules = TREE / "tests/api/node_modules"
        if not modules.exists():
            modules.symlink_to((ROOT / "tests/api/node_modules").resolve())
        self.scratch.mkdir(parents=True, exist_ok=True)
        if not (BUILD / "build.ninja").exists():
            compiler = "ccache gcc" if any(
                (Path(d) / "ccache").exists() for d in os.environ["PATH"].split(":")) else "gcc"
            subprocess.run([*POLITE, "meson", "setup", BUILD, TREE, "--buildtype=debug",
                            "-Doptimization=0"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "CC": compiler})

    def build(self, parts):
        targets = {"src/cli/cairn", "tests/preload/libmeddle.so"}
        for part in parts:
            if part.command[0] != "node":
                targets.add(str(Path(part.command[0]).relative_to(BUILD)))
            targets.update(PROGRAMS.get(part.name.split(" ")[0], ()))
        with open(WORK / "build.log", "wb") as log:
            process = self.processes.start(
                [*POLITE, "ninja", "-C", str(BUILD), *sorted(targets)], log)
            process.wait()
            self.processes.end(process)
        return process.returncode == 0

    def environment(self, part):
        env = {**os.environ, "CAIRN_BIN": str(BUILD / "src/cli/cairn"),
               "CAIRN_TEST_ENGINE": part.engine, "TMPDIR": str(self.scratch),
               "CAIRN_CRASH_CYCLES": "4", "CAIRN_CHAOS_CYCLES": "2",
               "CAIRN_LIBRARY": str(BUILD / "src/lib/libcairn.so.0")}
        env.pop("CAIRN_TEST_POSTGRES", None)
        if part.engine == "postgres":
            env["CAIRN_TEST_POSTGRES"] = self.postgres()
        return env

    def postgres(self):
        if self.cluster is None:
            self.cluster = subprocess.Popen(
                ["node", "tests/api/lib/shared-cluster.mjs"], cwd=TREE, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
            self.url = self.cluster.stdout.readline().strip()
            if not self.url:
                sys.exit("PostgreSQL for the tests did not start")
        return self.url

    def first_failure(self, parts):
        """Runs several parts at once, in order; returns the name of one that failed, or None."""
        waiting = list(parts)
        active = []
        try:
            while waiting or active:
                while waiting and len(active) < self.jobs:
                    part = waiting.pop(0)
                    log = tempfile.TemporaryFile(dir=self.scratch)
                    process = self.processes.start(
                        [*POLITE, *part.command], log, cwd=TREE, stdin=subprocess.DEVNULL,
                        env=self.environment(part))
                    active.append((part, process, log, time.monotonic()))
                time.sleep(0.05)
                for entry in list(active):
                    part, process, log, begun = entry
                    late = time.monotonic() - begun > self.limit_s
                    if process.poll() is None and not late:
                        continue
                    active.remove(entry)
                    self.processes.end(process)
                    if late or process.returncode != 0:
                        log.seek(0)
                        (WORK / "failed.log").write_bytes(log.read())
                        return part, "hang" if late else "failed"
            return None, "survived"
        finally:
            for _, process, _, _ in active:
                self.processes.end(process)

    def try_once(self, mutant):
        """Returns (None, "not built"), (None, "survived") or (part, "failed" or "hang")."""
        place = TREE / mutant.path
        original = place.read_text()
        parts = [p for p in parts_for(mutant.path, self.files, mutant.near(original))
                 if p not in self.left_out]
        place.write_text(mutant.apply(original))
        try:
            if not self.build(parts):
                return None, "not built"
            return self.first_failure(parts)
        finally:
            place.write_text(original)

    def try_mutant(self, mutant):
        """The same, but a part that fails without the mutant, twice, is left out for good."""
        while True:
            part, how = self.try_once(mutant)
            if part is None or part in self.trusted:
                return part, how
            self.build([part])
            if self.first_failure([part])[0] is None or self.first_failure([part])[0] is None:
                self.trusted.add(part)
                return part, how
            self.left_out.add(part)
            say(f"left out, because it fails without any change: {part.name}\n"
                + (WORK / "failed.log").read_text(errors="replace")[-3000:])

    def stop(self):
        self.processes.end_all()
        if self.cluster is not None:
            self.cluster.stdin.close()
            self.cluster.wait()


# --- Report ------------------------------------------------------------------------------------

def difference(mutant, source):
    changed = mutant.apply(source)
    return "".join(difflib.unified_diff(
        source.splitlines(True), changed.splitlines(True), mutant.path, mutant.path, n=2))


def score(detected, survived):
    return f"{100 * detected / (detected + survived):.0f} %" if detected + survived else "–"


def summary(results):
    """results: [(mutant, outcome)] with "detected", "survived" and "not built"."""
    layers = sorted({m.layer for m, _ in results})
    lines = []
    for layer in [*layers, "all"]:
        outcomes = [o for m, o in results if layer in ("all", m.layer)]
        n = {o: outcomes.count(o) for o in ("detected", "survived", "not built")}
        lines.append(f"{layer:7} {n['detected']:4} detected, {n['survived']:3} survived, "
                     f"{n['not built']:3} not built; {score(n['detected'], n['survived'])}")
    return "\n".join(lines)


def say(text):
    print(text, flush=True)


def run_sample(runner, options):
    results, survivors = [], []
    n = 0
    for mutant in sample(TREE, options.seed, options.layer):
        if n == options.count:
            break
        source = (TREE / mutant.path).read_text()
        part, how = runner.try_mutant(mutant)
        if how == "not built":
            results.append((mutant, how))
            continue
        n += 1
        outcome = "survived" if part is None else "detected"
        results.append((mutant, outcome))
        say(f"{n:3} {outcome:8} {mutant.kind:10} {mutant.path}:{mutant.line(source)}"
            + (f"  ({part.name}{', hang' if how == 'hang' else ''})" if part else ""))
        if part is None:
            survivors.append((mutant, source))
            say(difference(mutant, source))
    return results, survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--layer", choices=sorted(BROAD))
    parser.add_argument("--list", action="store_true", help="print the sample only")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a test file")
    parser.add_argument("--jobs", type=int, default=3, help="test files at the same time")
    options = parser.parse_args()
    if options.list:
        for _, mutant in zip(range(options.count), sample(ROOT, options.seed, options.layer)):
            source = (ROOT / mutant.path).read_text()
            say(f"{mutant.kind} {mutant.path}:{mutant.line(source)}\n{difference(mutant, source)}")
        return
    WORK.mkdir(exist_ok=True)
    lock = open(WORK / "lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("another run uses build-mutants")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    runner = Runner(options.limit, options.jobs)
    try:
        runner.prepare()
        results, survivors = run_sample(runner, options)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        runner.stop()
    if survivors:
        say("\nsurvivors:")
        for mutant, source in survivors:
            say(difference(mutant, source))
    say(f"seed {options.seed}")
    say(summary(results))


if __name__ == "__main__":
    main()
