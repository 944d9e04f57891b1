#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures Cairn next to the limits of the machine and its peers: run.py CAIRN [--only SECTION …]

The tables and figures of each section are stored in bench/results.json, from which bench/RESULTS.md
is generated, so a section can be measured again without the others. --quick runs everything briefly
and stores nothing. --render regenerates RESULTS.md without measuring.
"""
import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import signal
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import appends
import archives
import checkpoints
import embedded
import files
import flood
import growth
import hostile
import messages
import noisy
import postgres
import process
import savers
import steps
import subscribers
import targets
from lib import HERE, Rig, paragraph, remove, running

SECTIONS = {"appends": appends.measure, "subscribers": subscribers.measure,
            "growth": growth.measure, "process": process.measure, "embedded": embedded.measure,
            "slow": hostile.measure_slow, "deaf": hostile.measure_deaf,
            "flood": flood.measure, "noisy": noisy.measure,
            "postgres": postgres.measure,
            "messages": messages.measure, "steps": steps.measure,
            "checkpoints": checkpoints.measure, "savers": savers.measure,
            "files": files.measure, "archives": archives.measure}
STORE = HERE / "results.json"


def machine():
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    return (f"{os.cpu_count()} cores ({model[1] if model else platform.machine()}),"
            f" {memory:.0f} GiB, {platform.system()} {platform.release()}")


def output_of(*command):
    done = subprocess.run(command, cwd=HERE, text=True, capture_output=True, check=True)
    return done.stdout.strip()


def file_system(directory):
    kind = output_of("stat", "-f", "-c", "%T", directory)
    if kind == "tmpfs":
        sys.exit(f"{directory} is in memory, where fsync costs nothing; set BENCH_DIR")
    return kind


def measure(name, options):
    directory = tempfile.mkdtemp(prefix="cairn-bench-", dir=os.environ.get("BENCH_DIR"))
    disk = file_system(directory)
    load = os.getloadavg()[0]
    try:
        lines, facts = SECTIONS[name](Rig(options.cairn, directory, options.quick))
    finally:
        for one in list(running):  # left over after a failure
            one.stop()
        remove(directory)
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"when": now.strftime("%Y-%m-%d %H:%M UTC"), "machine": f"{machine()}, {disk}",
            "commit": output_of("git", "rev-parse", "--short", "HEAD"),
            "load": round(load, 2), "lines": lines, "facts": facts}


def write_section(name, section):
    head, *rest = section["lines"]
    note = (f"`make bench BENCH=\"--only {name}\"`, {section['when']}, commit {section['commit']}:"
            f" {section['machine']}; load average before: {section['load']}.")
    return [head, "", note, *rest]


def write_results(sections):
    lines = ["# Results", "",
             *paragraph(
                 "`make bench` measures everything below. The load generators share the machine"
                 " with the servers, so compare ratios, not absolute figures, and only within a"
                 " table, which is from one run.")]
    for name in SECTIONS:
        if name in sections:
            lines += write_section(name, sections[name])
    return lines + targets.write({name: s["facts"] for name, s in sections.items()})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cairn")
    parser.add_argument("--only", choices=SECTIONS, action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))  # stops its servers
    sections = json.loads(STORE.read_text()) if STORE.exists() else {}
    measured = {}
    for name in [] if options.render else options.only or SECTIONS:
        measured[name] = measure(name, options)
        sections[name] = measured[name]
        if not options.quick:
            STORE.write_text(json.dumps(sections, indent=1, ensure_ascii=False) + "\n")
    print("\n".join(write_results(sections if options.render else measured)))
    if not options.quick:
        (HERE / "RESULTS.md").write_text("\n".join(write_results(sections)))


main()
