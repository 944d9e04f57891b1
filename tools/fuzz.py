#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the fuzzers with libFuzzer, runs each for some seconds and ends with a table.

    fuzz.py [--at-once N] [--keep] SECONDS [TARGET …]

New inputs are stored in build-fuzz/corpus, and the next run starts from them; a crash is stored in
build-fuzz/crashes and fails the run. The last column is the share of lines of the target's sources
that all its inputs cover, old and new. --keep adds the inputs that reach new code to the corpora of
tests/fuzz; SECONDS may then be 0.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD, COVERAGE_BUILD = ROOT / "build-fuzz", ROOT / "build-fuzz-coverage"
CORPORA, CRASHES, LOGS = BUILD / "corpus", BUILD / "crashes", BUILD / "logs"
KEPT = ROOT / "tests/fuzz/corpus"

AIMS = {
    "fuzz_answer": ["src/net/http_answer.c"],
    "fuzz_archive": ["src/model/upkeep/archive", "src/api/upkeep/archive_api.c", "src/base/tar.c"],
    "fuzz_condition": ["src/base/condition.c", "src/base/semver.c"],
    "fuzz_cursor": ["src/api/threads/events_api.c", "src/api/threads/event_page.c"],
    "fuzz_http": ["src/net/http.c", "src/net/http_head.c", "src/net/http_body.c"],
    "fuzz_json": ["src/base/json/json.c", "src/base/json/json_keys.c",
                  "src/base/json/json_number.c", "src/base/json/json_parse.c"],
    "fuzz_json_patch": ["src/base/json/json_patch.c", "src/base/json/json_pointer.c",
                        "src/base/json/json_tree.c"],
    "fuzz_json_schema": ["src/base/jsonschema/json_schema"],
    "fuzz_manifest": ["src/model/checkpoints/manifest"],
    "fuzz_merge_patch": ["src/base/json/json_merge.c"],
    "fuzz_pattern": ["src/base/jsonschema/pattern"],
    "fuzz_request": ["src/api/", "src/model/", "src/lib/visit.c", "src/base/schema.c"],
    "fuzz_route": ["src/api/http/route.c", "src/api/http/params.c"],
    "fuzz_toml": ["src/cli/toml.c"],
    "fuzz_websocket": ["src/net/ws_frames.c"],
}
# An input of fuzz_request reaches thousands of features, whose bookkeeping would take most of the
# time, and leaves memory to the store's threads, which is no leak.
OPTIONS = {"fuzz_request": ["-entropic=0", "-detect_leaks=0", "-timeout=60"]}
MOST_KEPT, KEPT_BYTES = 250, 256 * 1024


def build(directory, *options):
    env = {**os.environ, "CC": "clang"}
    if not (directory / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(directory), *options], cwd=ROOT, env=env, check=True)
    subprocess.run(["ninja", "--quiet", "-C", str(directory), "fuzzers"], env=env, check=True)


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def fuzz(target, seconds, env):
    """One row of the table."""
    grown, log = CORPORA / target, LOGS / f"{target}.log"
    grown.mkdir(parents=True, exist_ok=True)
    before = set(CRASHES.glob(f"{target}-*"))
    start = time.monotonic()
    with log.open("w") as out:
        result = subprocess.run(
            [BUILD / "tests/fuzz" / target, grown, KEPT / target, f"-max_total_time={seconds}",
             "-print_final_stats=1", "-timeout=10", "-rss_limit_mb=4096",
             f"-artifact_prefix={CRASHES}/{target}-", *OPTIONS.get(target, [])],
            env=env, stdout=out, stderr=subprocess.STDOUT)
    text = log.read_text(errors="replace")
    return {"target": target, "broken": result.returncode != 0,
            "seconds": time.monotonic() - start,
            "runs": number(r"stat::number_of_executed_units: (\d+)", text),
            "edges": number(r" cov: (\d+)", text), "features": number(r" ft: (\d+)", text),
            "inputs": number(r" corp: (\d+)", text),
            "crashes": sorted(set(CRASHES.glob(f"{target}-*")) - before)}


def covered_lines(target, env):
    """Returns how many lines of the target's sources its inputs cover, and how many there are."""
    program = COVERAGE_BUILD / "tests/fuzz" / target
    raw, profile = COVERAGE_BUILD / f"{target}.profraw", COVERAGE_BUILD / f"{target}.profdata"
    folders = [d for d in (KEPT / target, CORPORA / target) if d.is_dir() and any(d.iterdir())]
    subprocess.run([program, *folders], env={**env, "LLVM_PROFILE_FILE": str(raw)}, check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["llvm-profdata", "merge", "-o", profile, raw], check=True)
    report = subprocess.run(
        ["llvm-cov", "export", "--summary-only", f"--instr-profile={profile}", program],
        check=True, text=True, stdout=subprocess.PIPE)
    aims = [str(ROOT / aim) for aim in AIMS[target]]
    lines = [f["summary"]["lines"] for f in json.loads(report.stdout)["data"][0]["files"]
             if os.path.normpath(COVERAGE_BUILD / f["filename"]).startswith(tuple(aims))]
    return sum(n["covered"] for n in lines), sum(n["count"] for n in lines)


def keep(target, env):
    """By edges alone: counting how often each is passed would keep ten times as many."""
    with tempfile.TemporaryDirectory() as merged:
        for old in (KEPT / target).iterdir():
            shutil.copy(old, merged)
        had = set(os.listdir(merged))
        subprocess.run(
            [BUILD / "tests/fuzz" / target, "-merge=1", "-use_counters=0", "-timeout=60",
             "-rss_limit_mb=4096", merged, CORPORA / target],
            env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        new = [Path(merged) / name for name in set(os.listdir(merged)) - had]
        room = KEPT_BYTES - sum(f.stat().st_size for f in (KEPT / target).iterdir())
        count = 0
        for found in sorted(new, key=lambda f: (f.stat().st_size, f.name)):
            room -= found.stat().st_size
            if room < 0 or len(had) + count >= MOST_KEPT:
                break
            shutil.copy(found, KEPT / target)
            count += 1
        print(f"{target}: {count} of {len(new)} inputs kept")


def show(rows):
    print(f"\n{'target':<17}{'seconds':>8}{'runs':>11}{'runs/s':>8}{'edges':>7}{'features':>10}"
          f"{'inputs':>8}{'crashes':>9}   lines reached")
    for row in rows:
        covered, lines = row["lines"]
        print(f"{row['target']:<17}{row['seconds']:>8.0f}{row['runs']:>11}"
              f"{row['runs'] / row['seconds']:>8.0f}{row['edges']:>7}{row['features']:>10}"
              f"{row['inputs']:>8}{len(row['crashes']):>9}   "
              f"{covered} of {lines} ({100 * covered / lines:.1f} %)")


def run(arguments, env):
    found = sorted(p.name for p in (BUILD / "tests/fuzz").glob("fuzz_*")
                   if p.is_file() and os.access(p, os.X_OK))
    assert set(found) <= set(AIMS), "say in AIMS what each target is for"
    targets = arguments.targets or found
    for directory in (CORPORA, CRASHES, LOGS):
        directory.mkdir(exist_ok=True)
    rows = []
    if arguments.seconds > 0:
        with ThreadPoolExecutor(arguments.at_once) as pool:
            rows = list(pool.map(lambda t: fuzz(t, arguments.seconds, env), targets))
        for row in rows:
            row["lines"] = covered_lines(row["target"], env)
        show(rows)
    if arguments.keep:
        for target in targets:
            keep(target, env)
    broken = [row for row in rows if row["broken"]]
    for row in broken:
        print(f"{row['target']} broke, see {LOGS / row['target']}.log:",
              *(f"\n  {crash}" for crash in row["crashes"]))
    return 1 if broken else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--at-once", type=int, default=os.cpu_count())
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("seconds", type=int)
    parser.add_argument("targets", nargs="*", metavar="target", choices=[*AIMS, []])
    arguments = parser.parse_args()
    build(BUILD, "-Dfuzz=true", "-Db_lundef=false", "-Db_sanitize=address,undefined")
    instrument = "-fprofile-instr-generate -fcoverage-mapping"
    build(COVERAGE_BUILD, f"-Dc_args={instrument}", f"-Dc_link_args={instrument}")
    shared_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared_memory if shared_memory.is_dir() else None) as tmp:
        sys.exit(run(arguments, {**os.environ, "TMPDIR": tmp}))


main()
