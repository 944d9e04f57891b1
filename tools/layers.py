#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the map of the house: which folder may include which (ARCHITECTURE.md, "Layers")."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"

MAY_INCLUDE = {
    "base": set(),
    "store": {"base"},
    "model": {"base", "store"},
    "net": {"base"},
    "api": {"base", "store", "model", "net"},
    "lib": {"base", "store", "model", "api", "cairn"},  # cairn: the public header
    "server": {"base", "store", "model", "net", "api", "lib"},
    "cli": {"base", "store", "net", "server"},
}

faults = []
for path in sorted(SRC.rglob("*.[ch]")):
    layer = path.relative_to(SRC).parts[0]
    if layer not in MAY_INCLUDE:
        faults.append(f"{path}: src/{layer} is not a layer")
        continue
    for number, line in enumerate(path.read_text().splitlines(), 1):
        include = re.match(r'#include "([^"]+)"', line)
        if not include:
            continue
        where = f"{path.relative_to(ROOT)}:{number}"
        if "/" not in include.group(1):
            faults.append(f"{where}: name the folder: #include \"{layer}/{include.group(1)}\"")
            continue
        other = include.group(1).split("/")[0]
        if other != layer and other not in MAY_INCLUDE[layer]:
            faults.append(f"{where}: {layer} may not include {other}")

# SQLite is the store's affair, sockets are net's.
OWNERS = {"sqlite3.h": "store", "uv.h": "net", "wslay/wslay.h": "net", "sys/socket.h": "net",
          "zstd.h": "base", "zdict.h": "base"}
for path in sorted(SRC.rglob("*.[ch]")):
    layer = path.relative_to(SRC).parts[0]
    for header in re.findall(r"#include <([^>]+)>", path.read_text()):
        if OWNERS.get(header, layer) != layer:
            faults.append(f"{path.relative_to(ROOT)}: <{header}> belongs to {OWNERS[header]}")

print("\n".join(faults))
sys.exit(1 if faults else 0)
