# SPDX-License-Identifier: Apache-2.0
"""The address of the server and the key, from the arguments or the environment."""
from __future__ import annotations

import os
import ssl
from typing import Optional, Tuple
from urllib.parse import urlsplit

from ._network import Origin

USUAL_URL = "http://127.0.0.1:7420"


def origin_of(base_url: Optional[str]) -> Tuple[Origin, str]:
    """Returns the server and the prefix of every path."""
    source = "base_url" if base_url else "CAIRN_URL"
    url = base_url or os.environ.get("CAIRN_URL") or USUAL_URL
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError(f"{source}: the URL must have a port from 1 to 65535") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{source}: the URL must begin with http:// or https://")
    if parts.username is not None or parts.password is not None:
        raise ValueError(f"{source}: the URL must not contain a user or a password")
    if not parts.hostname:
        raise ValueError(f"{source}: the URL must name a host")
    if parts.query or parts.fragment or " " in url:
        raise ValueError(f"{source}: the URL must not contain a query, a fragment or a blank")
    tls = parts.scheme == "https"
    return Origin(parts.hostname, port or (443 if tls else 80), tls), parts.path.rstrip("/")


def key_of(api_key: Optional[str]) -> Optional[str]:
    """Like the command line: CAIRN_API_KEY, or the content of CAIRN_API_KEY_FILE."""
    key, source = api_key, "api_key"
    if key is None:
        key, source = os.environ.get("CAIRN_API_KEY") or None, "CAIRN_API_KEY"
    if key is None and os.environ.get("CAIRN_API_KEY_FILE"):
        source = "CAIRN_API_KEY_FILE"
        with open(os.environ[source], encoding="ascii") as file:
            key = file.read().rstrip("\r\n")
    if key is None:
        return None
    if not key or any(not "!" <= c <= "~" for c in key):
        raise ValueError(f"{source}: an API key consists of letters, digits and _")
    return key


def context_of(origin: Origin, given: Optional[ssl.SSLContext]) -> Optional[ssl.SSLContext]:
    if not origin.tls:
        return None
    if given is not None:
        return given
    file = os.environ.get("CAIRN_CA_FILE") or None
    try:
        return ssl.create_default_context(cafile=file)
    except OSError as e:  # which does not name the file
        raise ValueError(f"CAIRN_CA_FILE: {file} cannot be used ({e.strerror or e})") from e
