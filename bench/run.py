#!/usr/bin/env python3
"""Measures Cairn beside the limits of the machine, in one run: run.py CAIRN [--only SECTION]

Sections: sqlite, postgres. Prints tables and, when all were measured, writes them to
bench/RESULTS.md. The load generator shares the machine with the servers, so the ratios matter, not
the figures.
"""
import argparse
import os
import platform
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True

import postgres
import sqlite
from lib import HERE

SECTIONS = {"sqlite": sqlite.measure, "postgres": postgres.measure}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cairn")
    parser.add_argument("--only", choices=SECTIONS)
    options = parser.parse_args()
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    lines = ["# Results", "", f"`make bench` on {machine}. The load generators share the",
             "machine, so ratios matter, not figures; they are of one run.", ""]
    for name, measure in SECTIONS.items():
        if options.only in (None, name):
            directory = tempfile.mkdtemp(prefix="cairn-bench-", dir=os.environ.get("BENCH_DIR"))
            try:
                lines += measure(options.cairn, directory)
            finally:
                shutil.rmtree(directory)
    print("\n".join(lines))
    if options.only is None:
        (HERE / "RESULTS.md").write_text("\n".join(lines))


main()
