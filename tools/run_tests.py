#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test of the named builds and ends with the line "N passed, N failed".

    run_tests.py plain asan tsan
    run_tests.py --chaos 100 build/src/cli/cairn
    run_tests.py --crash 1000
    run_tests.py --clients

`plain` also checks the sources themselves (layers, style, format) and the clients in sdk/, their
types, tests and documents. Each build runs the unit tests,
the sweeps of faults, the fuzzers' corpora and the API tests, on SQLite and on a PostgreSQL that is
started here and ends with us. The output of what fails is shown whole, of what passes only the
figures.
"""
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
API = ROOT / "tests" / "api"
SDK = ROOT / "sdk"

# Under TSan everything takes several times as long. These are the API tests in which many threads
# meet; the rest differs from them in the SQL and in the command line, which ASan has seen.
TSAN = (
    "content", "embed", "leases", "streams", "stopped", "postgres-leases", "postgres-nodes",
)
# The engine makes no difference to these: they run once a build, with the tests on SQLite.
WITHOUT_ENGINE = (
    "cli-config", "cli-network", "cli-terminal", "cli-usage", "faults", "install", "json-schema",
    "options",
)
# Under ASan the API tests that both engines share run on SQLite, and of them on PostgreSQL those in
# which it is asked for something of its own; all run there on the plain build.
ASAN_ON_POSTGRES = (
    "access", "archive", "content", "files", "leases", "messages", "runs", "shares", "states",
)
# What only kills and waits, again and again, does so on the plain build, and so does what is about
# PostgreSQL's own ways more than about our memory.
ASAN_NOT = (
    "cli-backup", "cli-usage", "clock", "postgres-chaos", "postgres-full", "postgres-operator",
    "postgres-replica", "postgres-schema", "routes",
)
# Where both builds are tested, each API test runs on PostgreSQL with the plain one and on SQLite
# with ASan. On SQLite with the plain one run also: what ASan leaves out, and what is about speed
# and the order of threads.
PLAIN_ON_SQLITE = (
    *(name for name in ASAN_NOT if not name.startswith("postgres-")),
    "crash", "embed", "events", "faults", "leases", "runs", "stopped", "streams", "threads",
)
# To optimize what a sanitizer has made of the code takes four times as long as to compile it, and
# saves less than that in the tests, which mostly wait.
BUILDS = {
    "plain": {"dir": "build-plain", "setup": [], "env": {}, "on_sqlite": PLAIN_ON_SQLITE},
    "asan": {
        "dir": "build-asan",
        "setup": ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=0"],
        "env": {
            "CC": "clang",
            "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
            "CAIRN_CRASH_CYCLES": "8",
        },
        "on_postgres": ASAN_ON_POSTGRES,
        "without": ASAN_NOT,
    },
    "tsan": {
        "dir": "build-tsan",
        "setup": ["-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=0"],
        "env": {
            "CC": "clang",
            "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT}/tests/tsan.supp",
        },
        "only": TSAN,
        "units_without": ("unit_api", "unit_base", "unit_cli", "unit_model"),
        "units_on_postgres": ("unit_lib",),
    },
}
# Unit tests that run once more with CAIRN_TEST_ENGINE=postgres. Under TSan those in which threads
# meet: the rules and statements of the model are the same on any thread.
UNITS_ON_POSTGRES = ("unit_model", "unit_lib")
PARTS_AT_ONCE = 4
FILES_AT_ONCE = 3

passed = failed = 0


def say(text):
    print(text, flush=True)


def run(command, env=None, cwd=ROOT):
    """Its `cpu` are the seconds of processor time that it and what it waited for took."""
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, **(env or {})}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result = subprocess.CompletedProcess(command, process.returncode, output)
    result.cpu = usage.ru_utime + usage.ru_stime
    return result


def count(name, ok, n_passed, n_failed, seconds, output, n_skipped=0, cpu=0):
    global passed, failed
    if not ok and n_failed == 0:
        n_failed = 1  # it broke outside of any test
    passed += n_passed
    failed += n_failed
    say(f"  {'ok  ' if n_failed == 0 else 'FAIL'} {name}: {n_passed} passed, {n_failed} failed"
        f"{f', {n_skipped} skipped' if n_skipped else ''} ({seconds:.0f} s, {cpu:.0f} of CPU)")
    if n_failed:
        say(output)


def timed_run(command, env=None, cwd=ROOT):
    start = time.monotonic()
    result = run(command, env, cwd)
    return result, time.monotonic() - start


def step(name, command, counter, env=None, cwd=ROOT):
    judge(name, counter, *timed_run(command, env, cwd))


def judge(name, counter, result, seconds):
    n_passed, n_failed = counter(result)
    skipped = sum(map(int, re.findall(r"^# skipped (\d+)$", result.stdout, re.M)))
    count(name, result.returncode == 0, n_passed, n_failed, seconds, result.stdout, skipped,
          result.cpu)
    for figures in re.findall(r"^(?:# )?((?:chaos|crash): .*|ok .* cases.*)$", result.stdout, re.M):
        say(f"       {figures}")


def one_test(result):
    return (1, 0) if result.returncode == 0 else (0, 1)


def last_line_counts(result):
    found = re.findall(r"^(\d+) passed, (\d+) failed$", result.stdout, re.M)
    return (int(found[-1][0]), int(found[-1][1])) if found else (0, 1)


def node_counts(result):
    def number(word):
        found = re.findall(rf"^# {word} (\d+)$", result.stdout, re.M)
        return int(found[-1]) if found else 0
    n_failed = number("fail") + number("cancelled")
    return number("pass"), n_failed or (0 if number("pass") else 1)


def vitest_counts(result):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    found = re.findall(r"^ +Tests +(?:(\d+) failed \| )?(\d+) passed", plain, re.M)
    return (int(found[-1][1]), int(found[-1][0] or 0)) if found else (0, 1)


def unittest_counts(result):
    ran = re.findall(r"^Ran (\d+) tests? in", result.stdout, re.M)
    end = re.findall(r"^FAILED \((.*)\)$", result.stdout, re.M)
    n_failed = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", end[-1]))) if end else 0
    return (int(ran[-1]) - n_failed, n_failed) if ran else (0, 1)


def check_sources():
    say("sources")
    step("layers", ["tools/layers.py"], one_test)
    step("tidy", ["tools/tidy.py"], one_test)
    step("SQL tools", ["python3", "tests/tools/test_sql.py"], one_test)
    files = run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h"])
    step("format", ["clang-format", "--dry-run", "--Werror", *files.stdout.split()], one_test)


def build(name, first):
    """Builds after the first one give way to the tests that run beside them."""
    spec = BUILDS[name]
    directory = ROOT / spec["dir"]
    start = time.monotonic()
    result = None
    if not (directory / "build.ninja").exists():
        result = run(["meson", "setup", str(directory), "-Dwerror=true", *spec["setup"]],
                     spec["env"])
    if result is None or result.returncode == 0:
        polite = [] if first else ["nice", "-n", "10"]
        result = run([*polite, "ninja", "-C", str(directory)], spec["env"])
    return result, time.monotonic() - start


def install_node_modules(folder):
    marker = folder / "node_modules" / ".package-lock.json"
    if marker.exists() and marker.stat().st_mtime >= (folder / "package-lock.json").stat().st_mtime:
        return
    start = time.monotonic()
    result = run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder)
    if result.returncode != 0:
        count("npm ci", False, 0, 1, time.monotonic() - start, result.stdout)


def path_to_node():
    """The clients need Node 20. Where it is older, as in Debian 12, npm brings one of its own."""
    version = run(["node", "--version"]).stdout
    if int(re.match(r"v(\d+)", version).group(1)) >= 20:
        return os.environ["PATH"]
    package = f"node-linux-{ {'x86_64': 'x64', 'aarch64': 'arm64'}[os.uname().machine] }"
    folder = ROOT / "build-node"
    program = folder / "node_modules" / package / "bin" / "node"
    if not program.exists():
        folder.mkdir(exist_ok=True)
        run(["npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", str(folder),
             f"{package}@22"])
    return f"{program.parent}{os.pathsep}{os.environ['PATH']}"


def parts_of(name):
    """What a build is tested by: (what it is, engine, command, what counts its tests)."""
    spec = BUILDS[name]
    directory = ROOT / spec["dir"]
    on_sqlite = spec.get("on_sqlite") if "asan" in sys.argv[1:] else None
    parts = [
        *api_parts(spec.get("only"), spec.get("on_postgres"), on_sqlite, spec.get("without", ())),
        *unit_parts(directory, spec), *fault_parts(name), *client_parts(name),
        *fuzz_parts(directory)]
    # It waits for disks the longest: whatever begins late is what everybody waits for at the end.
    return sorted(parts, key=lambda part: part[0] != "unit_store")


def start(name, first, pool, parts):
    """Builds, then leaves its tests to the pool; what it gives back is judged in this order."""
    spec = BUILDS[name]
    directory = ROOT / spec["dir"]
    started = [("build", one_test, build(name, first))]
    if started[0][2][0].returncode != 0:
        return started
    if name == "plain":
        command = ["npm", "run", "build", "--workspaces"]
        started.append(("clients, build", one_test, timed_run(command, cwd=SDK)))
    env = {**spec["env"], "CAIRN_BIN": str(directory / "src" / "cli" / "cairn"),
           "CAIRN_LIBRARY": str(directory / "src" / "lib" / "libcairn.so.0")}
    for part, engine, command, counter in parts(name):
        end = pool.submit(timed_run, command, {**env, "CAIRN_TEST_ENGINE": engine})
        started.append((part, counter, end))
    return started


def judge_build(name, started):
    say(name)
    for part, counter, end in started:
        judge(part, counter, *(end if isinstance(end, tuple) else end.result()))


def api_parts(only, on_postgres, on_sqlite, without):
    """The longest first. They wait more than they work, so each runs several files at once."""
    files = sorted(API.glob("*.test.mjs"))
    names = {f: f.name.split(".")[0] for f in files}
    chosen = {*(only or ()), *(on_postgres or ()), *(on_sqlite or ()), *without}
    assert chosen <= set(names.values()), "a chosen test is gone"
    files = [f for f in files if names[f] not in without and (not only or names[f] in only)]
    own = [f for f in files if names[f].startswith("postgres-")]
    every = [f for f in files if f not in own]
    shared = [f for f in every if names[f] not in WITHOUT_ENGINE]
    shared = [f for f in shared if not on_postgres or names[f] in on_postgres]
    every = [f for f in every if not on_sqlite or names[f] in on_sqlite]
    node = ["node", "--test", "--test-reporter=tap", f"--test-concurrency={FILES_AT_ONCE}"]
    return [
        ("api, postgres's own", "postgres", [*node, *own], node_counts),
        ("api, postgres", "postgres", [*node, *shared], node_counts),
        ("api, sqlite", "sqlite", [*node, *every], node_counts),
    ]


def programs(directory, pattern):
    return [b for b in sorted(directory.glob(pattern)) if b.is_file() and os.access(b, os.X_OK)]


def client_parts(name):
    """The clients, each against servers on both engines."""
    if name != "plain":
        return []
    directory = ROOT / BUILDS[name]["dir"]
    node = ["node", "--test", "--test-reporter=tap", f"--test-concurrency={FILES_AT_ONCE}"]
    python = ["python3", "-m", "unittest", "discover", "-s", "sdk/python/tests", "-t", "sdk/python"]
    typescript = sorted((SDK / "typescript" / "test").glob("*.test.mjs"))
    documents = sorted((SDK / "test").glob("*.test.mjs"))
    parts = [
        ("clients, generated", "sqlite",
         ["python3", "tools/sdk", directory / "src" / "cli" / "cairn", "--check"], one_test),
        ("clients, types of Python", "sqlite",
         ["mypy", "--config-file", "sdk/python/pyproject.toml", "sdk/python/src"], one_test),
    ]
    for engine in ("sqlite", "postgres"):
        parts += [
            (f"clients, typescript, {engine}", engine, [*node, *typescript], node_counts),
            (f"clients, python, {engine}", engine, python, unittest_counts),
            (f"clients, langgraph, {engine}", engine,
             ["npm", "test", "--prefix", SDK, "-w", "langgraph"], vitest_counts),
            (f"clients, documents and examples, {engine}", engine, [*node, *documents],
             node_counts),
        ]
    return parts


def unit_parts(directory, spec):
    units = [u for u in programs(directory, "tests/unit/*/unit_*")
             if u.name not in spec.get("units_without", ())]
    again = [u for u in units if u.name in spec.get("units_on_postgres", UNITS_ON_POSTGRES)]
    return [*((u.name, "sqlite", [u], last_line_counts) for u in units),
            *((f"{u.name}, postgres", "postgres", [u], last_line_counts) for u in again)]


def fault_parts(name):
    """A sample of `fault --all`. It is about what fails, not about which thread comes first: TSan
    has seen those threads in the unit tests. What ASan has to say is said where memory runs out."""
    program = ROOT / BUILDS[name]["dir"] / "tests/fault/fault"
    only = {"plain": [[]], "asan": [["allocation"]]}.get(name, [])
    return [("fault", "sqlite", [program, *part], last_line_counts) for part in only]


def fuzz_parts(directory):
    corpora = ROOT / "tests" / "fuzz" / "corpus"
    return [(f.name, "sqlite", [f, corpora / f.name], one_test)
            for f in programs(directory, "tests/fuzz/fuzz_*")]


@contextmanager
def postgres():
    """A PostgreSQL server for as long as the tests take; its URL goes to them."""
    helper = subprocess.Popen(
        ["node", str(API / "lib" / "shared-cluster.mjs")], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        url = helper.stdout.readline().strip()
        if not url:
            sys.exit("PostgreSQL for the tests did not start")
        os.environ["CAIRN_TEST_POSTGRES"] = url
        yield
    finally:
        helper.stdin.close()
        helper.wait()


def run_chaos(cycles, binary):
    """The long form of one test, with what it prints."""
    env = {**os.environ, "CAIRN_TEST_ENGINE": "postgres", "CAIRN_CHAOS_CYCLES": cycles,
           "CAIRN_BIN": str(Path(binary).resolve())}
    sys.exit(subprocess.run(
        ["node", "--test", "--test-reporter=spec", "tests/api/postgres-chaos.test.mjs"],
        cwd=ROOT, env=env).returncode)


def run_crash(cycles):
    """The long forms of what kills the server and fails its disk, with what they print."""
    judge("build", one_test, *build("plain", first=True))
    if failed:
        finish()
    directory = ROOT / BUILDS["plain"]["dir"]
    env = {"CAIRN_BIN": str(directory / "src" / "cli" / "cairn"), "CAIRN_CRASH_CYCLES": cycles,
           "CAIRN_FAULT_ROUNDS": str(max(1, int(cycles) // 20))}
    node = ["node", "--test", "--test-reporter=tap"]
    kills = ["--test-name-pattern=killed|route", "tests/api/crash.test.mjs"]
    with postgres():
        for engine in ("sqlite", "postgres"):
            step(f"killed, {engine}", [*node, *kills], node_counts,
                 {**env, "CAIRN_TEST_ENGINE": engine})
    step("the disk fails", [*node, "tests/api/faults.test.mjs"], node_counts, env)
    for sweep in programs(directory, "tests/fault/fault"):
        step("the sweep of faults", [sweep, "--all"], one_test)
    finish()


def run_clients():
    """What `make test` does for the clients, without the rest."""
    with postgres(), ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
        judge_build("plain", start("plain", True, pool, client_parts))
    finish()


def finish():
    say(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def main():
    begin = time.monotonic()
    os.environ["PATH"] = path_to_node()
    install_node_modules(API)
    if "--chaos" in sys.argv[1:]:
        run_chaos(*sys.argv[2:])
    if "--crash" in sys.argv[1:]:
        run_crash(*sys.argv[2:])
    install_node_modules(SDK)
    if "--clients" in sys.argv[1:]:
        run_clients()
    if "plain" in sys.argv[1:]:
        check_sources()
    # The tests wait more than they work: meanwhile the next build is made, and its tests begin
    # while the last of the one before still wait.
    names = sys.argv[1:]
    with postgres(), ThreadPoolExecutor(PARTS_AT_ONCE) as pool, ThreadPoolExecutor(1) as builder:
        started = [builder.submit(start, name, i == 0, pool, parts_of)
                   for i, name in enumerate(names)]
        for name, parts in zip(names, started):
            judge_build(name, parts.result())
    say(f"\n{time.monotonic() - begin:.0f} s")
    finish()


main()
