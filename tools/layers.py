#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layers (ARCHITECTURE.md): which folder may include which, and who owns a library.

Three rules: includes between layers, includes between the domains of a layer, and the headers and
symbols of foreign libraries, which only the named layers use.
"""
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
    "cli": {"base", "store", "net", "server", "api"},
}

# The headers of these layers that other layers may include; in other layers, all of them.
ONLY_HEADERS = {
    ("cli", "api"): {"api/http/route.h"},  # the route table, from which commands are derived
}

# Domains are folders with the same names in model and api. The edges record today's dependencies,
# so that a new one is a decision; they are not a design, and some form cycles. Files beside the
# folders are shared by all domains of the layer.
DOMAINS = {
    "base": {"json": set(), "jsonschema": {"json"}},
    "model": {
        "tenancy": {"threads", "files", "checkpoints", "memory"},
        "threads": {"tenancy", "execution", "agents", "files", "checkpoints"},
        "execution": {"tenancy", "threads", "agents", "checkpoints"},
        "agents": {"tenancy", "threads"},
        "files": {"threads"},
        "checkpoints": {"tenancy", "threads", "execution"},
        "memory": {"tenancy"},
        "upkeep": {"tenancy", "threads", "execution", "agents", "files", "checkpoints", "memory"},
    },
    "api": {
        "http": {"threads", "execution"},
        "tenancy": {"http"},
        "threads": {"http", "execution"},
        "execution": {"http", "threads"},
        "agents": {"http"},
        "files": {"http"},
        "checkpoints": {"http", "execution"},
        "memory": {"http"},
        "upkeep": {"http"},
    },
}

# Foreign libraries: headers, the pattern of their symbols, and the layers that may use them.
LIBRARIES = (
    (("sqlite3.h",), r"sqlite3_\w+\s*\(", {"store"}),
    (("libpq-fe.h",), r"PQ[a-z]\w+\s*\(", {"store"}),
    (("uv.h",), r"uv_\w+", {"net"}),
    (("wslay/wslay.h",), r"wslay_\w+\s*\(", {"net"}),
    (("zlib.h",), r"(?:in|de)flate\w*\s*\(", {"base"}),
    (("zstd.h", "zdict.h"), r"Z(?:STD|DICT)_\w+\s*\(", {"base"}),
    (("openssl/crypto.h", "openssl/evp.h", "openssl/rand.h"), r"(?:EVP|RAND)_\w+\s*\(", {"base"}),
    (("openssl/bio.h", "openssl/err.h", "openssl/ssl.h", "openssl/x509v3.h"),
     r"(?:BIO|SSL)_\w+\s*\(", {"net"}),
    (("openssl/x509_vfy.h",), None, {"net", "cli"}),  # doctor explains the result of a handshake
    (("sys/socket.h", "netinet/in.h", "netinet/tcp.h"), None, {"net"}),
    (("netdb.h",), r"(?:get|free)addrinfo\s*\(", {"net", "store"}),  # store: hosts of PostgreSQL
    (("arpa/inet.h",), r"inet_(?:pton|ntop)\s*\(", {"server"}),  # addresses in the settings
)

faults = []


def check_include(where, layer, domain, name):
    if "/" not in name:
        faults.append(f'{where}: name the folder: #include "{layer}/{name}"')
        return
    other, *rest = name.split("/")
    if other != layer:
        if other not in MAY_INCLUDE[layer]:
            faults.append(f"{where}: {layer} may not include {other}")
        elif name not in ONLY_HEADERS.get((layer, other), {name}):
            faults.append(f"{where}: {layer} may not include {name}")
        return
    domains = DOMAINS.get(layer)
    target = rest[0] if len(rest) > 1 else None
    if domains and domain and target and target != domain and target not in domains[domain]:
        faults.append(f"{where}: {layer}/{domain} may not include {layer}/{target}")


def strip(text):
    """Without comments and string literals, with the same line numbers."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', blank, text, flags=re.S)


def check_libraries(path, layer, text):
    for headers, symbol, layers in LIBRARIES:
        if layer in layers:
            continue
        owner = " and ".join(sorted(layers))
        for header in headers:
            if f"#include <{header}>" in text:
                faults.append(f"{path}: <{header}> belongs to {owner}")
        for number, line in enumerate(strip(text).splitlines(), 1):
            found = symbol and re.search(rf"(?<!\w){symbol}", line)
            if found:
                faults.append(f"{path}:{number}: {found.group(0).strip(' (')} belongs to {owner}")


def check(path):
    layer, *folders, _ = path.relative_to(SRC).parts
    domain = folders[0] if folders else None
    name = path.relative_to(ROOT)
    if layer not in MAY_INCLUDE:
        faults.append(f"{name}: src/{layer} is not a layer")
        return
    if domain and domain not in DOMAINS.get(layer, {}):
        faults.append(f"{name}: {domain} is not a domain of {layer}")
        return
    text = path.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        include = re.match(r'#include "([^"]+)"', line)
        if include:
            check_include(f"{name}:{number}", layer, domain, include.group(1))
    check_libraries(name, layer, text)


for source in sorted(SRC.rglob("*.[ch]")):
    check(source)
print("\n".join(faults))
sys.exit(1 if faults else 0)
