#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a static library of one object that exports only cairn_*.

    prelink.py libcairn.a libembed.a libapi.a …

A program can then link it with its own code without conflicts of names.
"""
import subprocess
import sys
from pathlib import Path

output, *parts = sys.argv[1:]
whole = str(Path(output).with_suffix(".o"))


def run(*command):
    subprocess.run(command, check=True)


run("ld", "-r", "--force-group-allocation", "-o", whole, "--whole-archive", *parts)
run("objcopy", "--wildcard", "--keep-global-symbol=cairn_*", whole)
Path(output).unlink(missing_ok=True)
run("ar", "rcs", output, whole)
Path(whole).unlink()
