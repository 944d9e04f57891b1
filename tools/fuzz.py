#!/usr/bin/env python3
"""Builds the fuzzers with libFuzzer and runs each for some seconds: fuzz.py SECONDS [TARGET …]

What they find new goes to build-fuzz/corpus; a crash is kept in build-fuzz/crashes and fails the
run.
"""
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build-fuzz"

seconds, wanted = sys.argv[1], sys.argv[2:]
env = {**os.environ, "CC": "clang"}
if not (BUILD / "build.ninja").exists():
    subprocess.run(["meson", "setup", str(BUILD), "-Dfuzz=true", "-Db_lundef=false",
                    "-Db_sanitize=address,undefined"], cwd=ROOT, env=env, check=True)
subprocess.run(["ninja", "-C", str(BUILD)], env=env, check=True)

broken = []
for target in sorted(BUILD.glob("tests/fuzz/fuzz_*")):
    runnable = target.is_file() and os.access(target, os.X_OK)
    if not runnable or (wanted and target.name not in wanted):
        continue
    grown, crashes = BUILD / "corpus" / target.name, BUILD / "crashes"
    grown.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(exist_ok=True)
    print(f"== {target.name}", flush=True)
    result = subprocess.run(
        [str(target), str(grown), str(ROOT / "tests/fuzz/corpus" / target.name),
         f"-max_total_time={seconds}", "-print_final_stats=1", "-verbosity=0", "-timeout=10",
         "-rss_limit_mb=4096", f"-artifact_prefix={crashes}/{target.name}-"])
    if result.returncode != 0:
        broken.append(target.name)
print("broken: " + ", ".join(broken) if broken else "no target broke")
sys.exit(1 if broken else 0)
