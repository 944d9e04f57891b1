#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the clients' types and methods from the OpenAPI document of a temporary server:

    tools/sdk CAIRN            write the files
    tools/sdk CAIRN --check    list outdated files, and fail if there are any
"""
import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import python_client
from operations import operations_of, tree_of
from typescript import typescript

ROOT = Path(__file__).resolve().parent.parent.parent

# Each: (document, operations, tree of resources) → {path in the project: text}.
GENERATORS = (typescript, python_client.generate)


def document_of(binary):
    with tempfile.TemporaryDirectory() as data:
        server = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--data", data], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            address = server.stdout.readline().split()[-1]
            with urllib.request.urlopen(f"{address}/openapi.json", timeout=10) as answer:
                return json.load(answer)
        finally:
            server.terminate()
            server.wait()


def main():
    binary, *rest = sys.argv[1:] or sys.exit(__doc__)
    document = document_of(binary)
    operations = operations_of(document)
    files = {}
    for generate in GENERATORS:
        files.update(generate(document, operations, tree_of(operations)))
    old = [p for p, text in files.items()
           if not (ROOT / p).exists() or (ROOT / p).read_text() != text]
    if rest == ["--check"]:
        sys.exit("\n".join(f"{p} is outdated: make sdk" for p in old) or 0)
    for path in old:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path])
        print(path)


main()
