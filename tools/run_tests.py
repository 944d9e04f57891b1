#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests and ends with the line "N passed, N failed".

    run_tests.py test               the plain build: all on SQLite, PostgreSQL where it differs
    run_tests.py verify             the rest on PostgreSQL, larger samples, ASan+UBSan and TSan
    run_tests.py one NAME [ENGINE]  unit tests with NAME in their name, tests/api/NAME.test.mjs
    run_tests.py clients            the clients in sdk/, on both engines
    run_tests.py crash 1000         the server is killed 1000 times on each engine; its disk fails
    run_tests.py chaos 100 BINARY   three nodes and PostgreSQL are disturbed 100 times

The tables below say which tests a suite runs on which build and engine. `verify` does not repeat
what `test` has run, so a change is proven by both. PostgreSQL is started here and stopped at the
end. The output of a test that fails is shown whole; of those that pass, the figures. The CPU time
of each part is written to build-plain/times-SUITE.txt, the most expensive part first.
"""
import os
import re
import resource
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
API = ROOT / "tests" / "api"
SDK = ROOT / "sdk"
LINTERS = ROOT / "tests" / "openapi"  # of the OpenAPI document

# --- Which tests run where ---------------------------------------------------------------------

# API tests that do not use a database, or that are about SQLite's files: they run on SQLite only.
WITHOUT_ENGINE = (
    "cli-config", "cli-network", "cli-reference", "cli-terminal", "cli-usage", "disk-full",
    "faults", "install", "json-schema", "options",
)
# API tests of `make test` on PostgreSQL, beside postgres-*: those whose statements, locks or stored
# content differ between the engines. The others run there in `make verify`.
TEST_ON_POSTGRES = (
    "access", "archive", "archive-export", "archive-slices", "cli-migrate", "cli-sql", "content",
    "files", "leases", "messages", "runs", "shares", "states", "view-plans",
)
# ASan runs every API test on SQLite, and on PostgreSQL those above. These are left out, because
# they only kill and wait, or test PostgreSQL more than Cairn's memory.
ASAN_ON_POSTGRES = tuple(name for name in TEST_ON_POSTGRES if name != "cli-migrate")
ASAN_NOT = (
    "cli-backup", "cli-usage", "clock", "postgres-chaos", "postgres-full", "postgres-operator",
    "postgres-replica", "postgres-schema", "routes",
)
# Everything takes several times as long under TSan. In these API tests many threads meet; the
# others differ from them in SQL and in the command line, which ASan covers.
TSAN = (
    "compression", "content", "embed", "leases", "streams", "stopped", "postgres-leases",
    "postgres-nodes",
)
# Unit tests that also run on PostgreSQL. The rules and the statements of the model are the same on
# any thread, so TSan runs those of the library only.
UNITS_ON_POSTGRES = ("unit_model", "unit_lib")
# The tests that take longest start first, so that no single one is waited for at the end.
LONGEST = (
    "cli-migrate", "fault", "crash", "postgres-network", "postgres-chaos", "unit_net", "python",
    "streams", "routes", "clock", "cli-network", "unit_store", "unit_model", "postgres-operator",
    "examples", "postgres-pooler", "leases", "postgres-nodes", "postgres-leases", "cli-backup",
)

# To optimize instrumented code takes four times as long as to compile it, and saves less than that
# in the tests.
BUILDS = {
    "plain": {"dir": "build-plain", "setup": ["-Doptimization=1"], "env": {}},
    "asan": {
        "dir": "build-asan",
        # A variable that is read before it is set has a value that UBSan or a test rejects: a bool
        # of 0xAA, a pointer into nowhere.
        "setup": ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=0",
                  "-Dc_args=-ftrivial-auto-var-init=pattern"],
        "env": {
            "CC": "clang",
            "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
            "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        },
    },
    "tsan": {
        "dir": "build-tsan",
        "setup": ["-Db_sanitize=thread", "-Db_lundef=false", "-Doptimization=0"],
        "env": {
            "CC": "clang",
            "TSAN_OPTIONS": f"halt_on_error=1:suppressions={ROOT}/tests/tsan.supp",
        },
    },
}
# The tests wait more than they work.
PARTS_AT_ONCE = 3 * max(2, os.cpu_count() or 2)

passed = failed = 0


def say(text):
    print(text, flush=True)


# --- Parts --------------------------------------------------------------------------------------

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
    return number("pass"), n_failed or (0 if number("pass") + number("skipped") else 1)


def vitest_counts(result):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", result.stdout)
    found = re.findall(r"^ +Tests +(?:(\d+) failed \| )?(\d+) passed", plain, re.M)
    return (int(found[-1][1]), int(found[-1][0] or 0)) if found else (0, 1)


def unittest_counts(result):
    ran = re.findall(r"^Ran (\d+) tests? in", result.stdout, re.M)
    end = re.findall(r"^FAILED \((.*)\)$", result.stdout, re.M)
    n_failed = sum(map(int, re.findall(r"(?:failures|errors)=(\d+)", end[-1]))) if end else 0
    return (int(ran[-1]) - n_failed, n_failed) if ran else (0, 1)


@dataclass(eq=False)
class Part:
    """One command. The parts of a group are reported as one line."""
    group: str
    name: str
    command: list
    counter: object = node_counts
    engine: str = "sqlite"
    env: dict = field(default_factory=dict)


NODE = ["node", "--test-reporter=tap"]


def api_files():
    return {f.name.split(".")[0]: f for f in sorted(API.glob("*.test.mjs"))}


def api_parts(engine, names, env=None):
    files = api_files()
    gone = set(names) - set(files)
    assert not gone, f"no such API test: {gone}"
    return [Part(f"api, {engine}", name, [*NODE, files[name]], node_counts, engine, env or {})
            for name in names]


def api_names(own):
    """The tests of PostgreSQL's own ways, or those that both engines share."""
    return [name for name in api_files() if name.startswith("postgres-") == own]


def programs(directory, pattern):
    return [b for b in sorted(directory.glob(pattern)) if b.is_file() and os.access(b, os.X_OK)]


def directory_of(build):
    return ROOT / BUILDS[build]["dir"]


def unit_parts(build, engine, only=None, without=()):
    units = [u for u in programs(directory_of(build), "tests/unit/*/unit_*")
             if u.name not in without and (only is None or u.name in only)]
    return [Part(f"unit, {engine}", u.name, [u], last_line_counts, engine) for u in units]


def fuzz_parts(build):
    corpora = ROOT / "tests" / "fuzz" / "corpus"
    return [Part("fuzz corpora", f.name, [f, corpora / f.name], one_test)
            for f in programs(directory_of(build), "tests/fuzz/fuzz_*")]


def fault_part(build, *args):
    program = directory_of(build) / "tests" / "fault" / "fault"
    return Part("fault", "fault", [program, *args], last_line_counts)


def client_parts(engine):
    """The clients' tests, documents and examples."""
    python = ["python3", "-m", "unittest", "discover", "-s", "sdk/python/tests", "-t", "sdk/python"]
    tests = [*(("typescript", f) for f in sorted((SDK / "typescript" / "test").glob("*.test.mjs"))),
             *(("documents and examples", f) for f in sorted((SDK / "test").glob("*.test.mjs")))]
    return [
        Part(f"clients, python, {engine}", "python", python, unittest_counts, engine),
        Part(f"clients, langgraph, {engine}", "langgraph",
             ["npm", "test", "--prefix", SDK, "-w", "langgraph"], vitest_counts, engine),
        *(Part(f"clients, {what}, {engine}", f.name.split(".")[0], [*NODE, f], node_counts, engine)
          for what, f in tests),
    ]


def client_checks(build):
    """The tests that do not depend on the engine."""
    binary = directory_of(build) / "src" / "cli" / "cairn"
    return [
        Part("clients, generated", "generated", ["python3", "tools/sdk", binary, "--check"],
             one_test),
        Part("clients, types of Python", "mypy",
             ["mypy", "--config-file", "sdk/python/pyproject.toml", "sdk/python/src"], one_test),
        Part("OpenAPI linters", "openapi-lint", [*NODE, LINTERS / "lint.test.mjs"]),
    ]


def test_plain():
    samples = {"CAIRN_CRASH_CYCLES": "8", "CAIRN_CHAOS_CYCLES": "8"}
    return [
        *unit_parts("plain", "sqlite"), *api_parts("sqlite", api_names(own=False), samples),
        *unit_parts("plain", "postgres", UNITS_ON_POSTGRES),
        *api_parts("postgres", [*api_names(own=True), *TEST_ON_POSTGRES], samples),
        *client_checks("plain"), *client_parts("sqlite"),
        fault_part("plain", "--sparse"), *fuzz_parts("plain"),
    ]


def verify_plain():
    samples = {"CAIRN_CRASH_CYCLES": "25", "CAIRN_CHAOS_CYCLES": "20",
               "CAIRN_CRASH_REHEARSAL": "no"}
    rest = [name for name in api_names(own=False)
            if name not in TEST_ON_POSTGRES and name not in WITHOUT_ENGINE]
    return [
        *api_parts("postgres", [*rest, "postgres-chaos"], samples),
        *api_parts("sqlite", ["crash"], samples),
        *client_parts("postgres"), fault_part("plain"),
    ]


def verify_asan():
    def kept(names):
        return [name for name in names if name not in ASAN_NOT]
    return [
        *unit_parts("asan", "sqlite"),
        *api_parts("sqlite", kept(api_names(own=False)),
                   {"CAIRN_CRASH_CYCLES": "8", "CAIRN_CRASH_REHEARSAL": "no"}),
        *unit_parts("asan", "postgres", UNITS_ON_POSTGRES),
        *api_parts("postgres", kept([*api_names(own=True), *ASAN_ON_POSTGRES])),
        # Every build fails alike; ASan also finds leaks after an allocation failed.
        fault_part("asan", "--sparse", "allocation"), *fuzz_parts("asan"),
    ]


def verify_tsan():
    shared = [name for name in TSAN if not name.startswith("postgres-")]
    return [
        *unit_parts("tsan", "sqlite", without=("unit_api", "unit_base", "unit_cli", "unit_model")),
        *api_parts("sqlite", shared),
        *unit_parts("tsan", "postgres", ("unit_lib",)),
        *api_parts("postgres", TSAN), *fuzz_parts("tsan"),
    ]


SUITES = {
    "test": {"plain": test_plain},
    "verify": {"plain": verify_plain, "asan": verify_asan, "tsan": verify_tsan},
}


# --- Running -------------------------------------------------------------------------------------

def run(command, env=None, cwd=ROOT):
    """`cpu` of the result: the seconds of processor time of the command and its children."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, cwd=cwd, env={**os.environ, **(env or {})}, text=True, errors="replace",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    result = subprocess.CompletedProcess(command, process.returncode, output)
    result.cpu = usage.ru_utime + usage.ru_stime
    result.seconds = time.monotonic() - start
    return result


class Tally:
    """The results of the parts of a group."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.cpu = self.seconds = 0.0
        self.shown = ""

    def add(self, name, counter, result):
        n_passed, n_failed = counter(result)
        if result.returncode != 0 and n_failed == 0:
            n_failed = 1  # the program broke outside of any test
        self.passed += n_passed
        self.failed += n_failed
        self.skipped += sum(map(int, re.findall(r"^# skipped (\d+)$", result.stdout, re.M)))
        self.cpu += result.cpu
        self.seconds = max(self.seconds, result.seconds)
        if n_failed:
            self.shown += f"--- {name}\n{result.stdout}\n"
        else:
            figures = r"^(?:# )?((?:chaos|crash): .*|ok .* cases.*)$"
            self.shown += "".join(
                f"       {line}\n" for line in re.findall(figures, result.stdout, re.M))

    def report(self, group):
        global passed, failed
        passed += self.passed
        failed += self.failed
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        say(f"  {'FAIL' if self.failed else 'ok  '} {group}: {self.passed} passed, "
            f"{self.failed} failed{skipped} ({self.seconds:.0f} s, {self.cpu:.0f} of CPU)")
        if self.shown:
            print(self.shown, end="", flush=True)


def report_one(name, counter, result):
    tally = Tally()
    tally.add(name, counter, result)
    tally.report(name)


def check_sources():
    say("sources")
    report_one("layers", one_test, run(["tools/layers.py"]))
    report_one("tidy", one_test, run(["tools/tidy.py"]))
    report_one("SQL tools", unittest_counts,
               run(["python3", "-m", "unittest", "discover", "-s", "tests/tools"]))
    files = run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.c", "*.h"])
    report_one("format", one_test,
               run(["clang-format", "--dry-run", "--Werror", *files.stdout.split()]))


def build(name, polite=False, targets=()):
    """Later builds give way to the tests that run beside them."""
    spec = BUILDS[name]
    directory = directory_of(name)
    result = None
    if not (directory / "build.ninja").exists():
        result = run(["meson", "setup", str(directory), "-Dwerror=true", *spec["setup"]],
                     spec["env"])
    if result is None or result.returncode == 0:
        nice = ["nice", "-n", "10"] if polite else []
        result = run([*nice, "ninja", "-C", str(directory), *targets], spec["env"])
    return result


def install_node_modules(folder):
    marker = folder / "node_modules" / ".package-lock.json"
    if marker.exists() and marker.stat().st_mtime >= (folder / "package-lock.json").stat().st_mtime:
        return
    result = run(["npm", "ci", "--no-audit", "--no-fund"], cwd=folder)
    if result.returncode != 0:
        report_one("npm ci", one_test, result)


def path_to_node():
    """The clients need Node 20. Where Node is older, as in Debian 12, npm installs a newer one."""
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


def environment(build_name, part):
    directory = directory_of(build_name)
    return {**BUILDS[build_name]["env"], "CAIRN_BIN": str(directory / "src" / "cli" / "cairn"),
            "CAIRN_LIBRARY": str(directory / "src" / "lib" / "libcairn.so.0"),
            "CAIRN_TEST_ENGINE": part.engine, **part.env}


def urgency(part):
    return LONGEST.index(part.name) if part.name in LONGEST else len(LONGEST)


def start(name, polite, parts_of, pool):
    """Builds, then hands the tests to the pool: [(part, result or its future)]."""
    started = [(Part("build", "build", [], one_test), build(name, polite))]
    if started[0][1].returncode != 0:
        return started
    parts = parts_of()
    if any(part.group.startswith("clients") for part in parts):
        built = run(["npm", "run", "build", "--workspaces"], cwd=SDK)
        started.append((Part("clients, build", "clients", [], one_test), built))
    futures = {part: pool.submit(run, part.command, environment(name, part))
               for part in sorted(parts, key=urgency)}
    return [*started, *((part, futures[part]) for part in parts)]


def report_build(name, started, times):
    """Reports each group of parts as soon as its last part has ended."""
    say(name)
    groups = {}
    for part, result in started:
        groups.setdefault(part.group, []).append((part, result))
    for group, members in groups.items():
        tally = Tally()
        for part, result in members:
            result = result.result() if isinstance(result, Future) else result
            tally.add(part.name, part.counter, result)
            times.append((result.cpu, result.seconds, f"{name}, {group}, {part.name}"))
        tally.report(group)


def write_times(suite, times):
    lines = [f"{cpu:7.1f} of CPU {seconds:7.1f} s  {what}\n"
             for cpu, seconds, what in sorted(times, reverse=True)]
    (directory_of("plain") / f"times-{suite}.txt").write_text("".join(lines))


@contextmanager
def postgres():
    """A PostgreSQL server for as long as the tests take; they read its URL in the environment."""
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


def run_suite(suite):
    begin = time.monotonic()
    times = []
    install_node_modules(SDK)
    if suite == "test":
        install_node_modules(LINTERS)
    # While the tests of one build run, the next build is made.
    with postgres(), ThreadPoolExecutor(PARTS_AT_ONCE) as pool, ThreadPoolExecutor(1) as builder:
        started = [(name, builder.submit(start, name, i > 0, parts_of, pool))
                   for i, (name, parts_of) in enumerate(SUITES[suite].items())]
        if suite == "test":
            check_sources()
        for name, parts in started:
            report_build(name, parts.result(), times)
    write_times(suite, times)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    say(f"\n{time.monotonic() - begin:.0f} s, {used.ru_utime + used.ru_stime:.0f} of CPU")
    finish()


def run_one(name, engine="sqlite"):
    """Unit tests by a part of their name, and the API test file of that name, if there is one."""
    result = build("plain")
    if result.returncode != 0:
        report_one("build", one_test, result)
        finish()
    units = unit_parts("plain", engine, None if engine == "sqlite" else UNITS_ON_POSTGRES)
    files = api_parts(engine, [name] if name in api_files() else [])
    with postgres() if engine == "postgres" else nullcontext():
        for part in units:
            result = run([*part.command, name], environment("plain", part))
            if last_line_counts(result) != (0, 0):
                report_one(f"{part.name} {name}", last_line_counts, result)
        for part in files:
            report_one(f"{name}.test.mjs", node_counts,
                       run(part.command, environment("plain", part)))
    if not passed and not failed:
        say(f"no unit test has {name} in its name, and tests/api/{name}.test.mjs is missing")
    finish()


def run_chaos(cycles, binary):
    """The long form of one test, with what it prints."""
    env = {**os.environ, "CAIRN_TEST_ENGINE": "postgres", "CAIRN_CHAOS_CYCLES": cycles,
           "CAIRN_BIN": str(Path(binary).resolve())}
    sys.exit(subprocess.run(
        ["node", "--test-reporter=spec", "tests/api/postgres-chaos.test.mjs"],
        cwd=ROOT, env=env).returncode)


def run_crash(cycles):
    """The long forms of the tests that kill the server and fail its disk."""
    report_one("build", one_test, build("plain"))
    if failed:
        finish()
    directory = directory_of("plain")
    env = {"CAIRN_BIN": str(directory / "src" / "cli" / "cairn"), "CAIRN_CRASH_CYCLES": cycles,
           "CAIRN_FAULT_ROUNDS": str(max(1, int(cycles) // 20))}
    kills = ["--test-name-pattern=killed|route", "tests/api/crash.test.mjs"]
    with postgres():
        for engine in ("sqlite", "postgres"):
            report_one(f"killed, {engine}", node_counts,
                       run([*NODE, *kills], {**env, "CAIRN_TEST_ENGINE": engine}))
    report_one("the disk fails", node_counts, run([*NODE, "tests/api/faults.test.mjs"], env))
    report_one("the sweep of faults", last_line_counts,
               run([directory / "tests" / "fault" / "fault", "--all"]))
    finish()


def run_clients():
    """The clients' part of `test` and `verify`."""
    install_node_modules(SDK)
    install_node_modules(LINTERS)
    with postgres(), ThreadPoolExecutor(PARTS_AT_ONCE) as pool:
        report_build("plain", start("plain", False, lambda: [
            *client_checks("plain"), *client_parts("sqlite"), *client_parts("postgres")], pool), [])
    finish()


def finish():
    say(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def main():
    commands = {"one": run_one, "chaos": run_chaos, "crash": run_crash, "clients": run_clients,
                **{suite: lambda suite=suite: run_suite(suite) for suite in SUITES}}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    os.environ["PATH"] = path_to_node()
    install_node_modules(API)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
