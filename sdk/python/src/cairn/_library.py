# SPDX-License-Identifier: Apache-2.0
"""ctypes bindings of libcairn: its location and its functions (include/cairn/cairn.h)."""
from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_size_t, c_uint, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._core import major
from ._generated.operations import API_VERSION
from ._http1 import header_lines
from .errors import DirectoryInUse, LibraryError, LibraryMissing, VersionMismatch

NAME = "libcairn.so.0"
TIMEOUT, EVENT, GAP, ENDED = range(4)


class OpenOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("schema", c_char_p), ("replica", c_char_p),
                ("readers", c_uint), ("writers", c_uint)]


class Event(ctypes.Structure):
    _fields_ = [("cursor", c_char_p), ("data", c_void_p), ("data_len", c_size_t)]


FUNCTIONS: Dict[str, Tuple[Any, ...]] = {
    # name: result type, then argument types
    "cairn_version": (c_char_p,),
    "cairn_open": (c_void_p, c_char_p, POINTER(OpenOptions), POINTER(c_void_p)),
    "cairn_close": (None, c_void_p),
    "cairn_free": (None, c_void_p),
    "cairn_call": (c_void_p, c_void_p, c_char_p, c_char_p, POINTER(c_char_p), c_char_p, c_size_t),
    "cairn_answer_status": (c_int, c_void_p),
    "cairn_answer_body": (c_void_p, c_void_p, POINTER(c_size_t)),
    "cairn_answer_header_at": (c_char_p, c_void_p, c_size_t, POINTER(c_char_p)),
    "cairn_answer_free": (None, c_void_p),
    "cairn_subscribe": (c_void_p, c_void_p, c_char_p, POINTER(c_char_p), POINTER(c_void_p)),
    "cairn_next": (c_int, c_void_p, c_long, POINTER(POINTER(Event))),
    "cairn_cancel": (None, c_void_p),
    "cairn_unsubscribe": (None, c_void_p),
}


def candidates(library: Optional[str]) -> List[str]:
    """Returns the possible locations of libcairn, in order of preference."""
    named = library or os.environ.get("CAIRN_LIBRARY")
    if named:
        return [named]
    here = Path(__file__).resolve().parent
    beside = [str(p) for p in (here / NAME, here.parent / NAME) if p.exists()]
    found = ctypes.util.find_library("cairn")
    return [*beside, NAME, *([found] if found else [])]


def load(library: Optional[str]) -> Any:
    """Loads the library and declares its functions."""
    failures = []
    for path in candidates(library):
        try:
            lib = ctypes.CDLL(path)
            break
        except OSError as e:
            failures.append(str(e))
    else:
        raise LibraryMissing(
            f"libcairn cannot be loaded ({'; '.join(failures)}). Install it (make install, or the "
            f"package libcairn0), or set CAIRN_LIBRARY to the path of {NAME}")
    try:
        for name, (result, *arguments) in FUNCTIONS.items():
            function = getattr(lib, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as e:
        raise LibraryError(f"{path} is not a libcairn that this package supports: {e}") from e
    version = lib.cairn_version().decode()
    if major(version) != major(API_VERSION):
        raise VersionMismatch(f"{path} is libcairn {version}, but this package is for "
                              f"{major(API_VERSION)}.x. Install a matching version")
    return lib


def header_array(headers: Sequence[Tuple[str, str]]) -> Any:
    lines = [line.encode("utf-8") for line in header_lines(headers)]
    return (c_char_p * (len(lines) + 1))(*lines, None)


def text_of(value: str, what: str) -> bytes:
    if "\0" in value:
        raise ValueError(f"{what} must not contain U+0000")
    return value.encode("utf-8")


class Library:
    """An open Cairn. Any thread may call these functions before close()."""

    def __init__(self, lib: Any, where: str, schema: Optional[str], replica: Optional[str],
                 readers: int, writers: int) -> None:
        self._lib = lib
        options = OpenOptions(
            ctypes.sizeof(OpenOptions), schema.encode() if schema else None,
            replica.encode() if replica else None, readers, writers)
        why = c_void_p()
        self._cairn = lib.cairn_open(text_of(where, "the place"), byref(options), byref(why))
        if not self._cairn:
            raise self._refusal(where, why)

    def _refusal(self, where: str, why: c_void_p) -> LibraryError:
        text = ctypes.string_at(why.value).decode("utf-8", "replace") if why.value else "no reason"
        self._lib.cairn_free(why)
        if "another cairn process" in text:
            return DirectoryInUse(f"{text}. Stop that server or program, or use the server: "
                                  "cairn.Cairn(base_url=…)")
        place = where if where.startswith("sqlite:") else "the database"
        return LibraryError(f"{place} cannot be opened: {text}")

    def call(self, method: str, target: str, headers: Sequence[Tuple[str, str]],
             body: Optional[bytes]) -> Tuple[int, Dict[str, str], bytes]:
        answer = self._lib.cairn_call(
            self._cairn, method.encode(), text_of(target, "the path"), header_array(headers), body,
            len(body or b""))
        return self._take(answer)

    def _take(self, answer: Any) -> Tuple[int, Dict[str, str], bytes]:
        """Converts a response and frees it."""
        try:
            size = c_size_t()
            body = self._lib.cairn_answer_body(answer, byref(size))
            data = ctypes.string_at(body, size.value)
            return self._lib.cairn_answer_status(answer), self._headers(answer), data
        finally:
            self._lib.cairn_answer_free(answer)

    def _headers(self, answer: Any) -> Dict[str, str]:
        headers: Dict[str, str] = {}
        value = c_char_p()
        for index in itertools.count():
            name = self._lib.cairn_answer_header_at(answer, index, byref(value))
            if name is None:
                break
            headers[name.decode().lower()] = (value.value or b"").decode("utf-8", "replace")
        return headers

    def subscribe(self, target: str, headers: Sequence[Tuple[str, str]]) -> "Tuple[Any, Any]":
        """Returns a subscription, or the error response as from call()."""
        refusal = c_void_p()
        handle = self._lib.cairn_subscribe(
            self._cairn, text_of(target, "the path"), header_array(headers), byref(refusal))
        return (handle, None) if handle else (None, self._take(refusal))

    def next(self, subscription: Any, timeout_ms: int) -> Tuple[int, str, str]:
        """Returns the kind, the data and the cursor of the next message."""
        event = POINTER(Event)()
        kind = self._lib.cairn_next(subscription, timeout_ms, byref(event))
        if kind == TIMEOUT:
            return TIMEOUT, "", ""
        message = event.contents
        data = ctypes.string_at(message.data, message.data_len).decode("utf-8")
        return kind, data, (message.cursor or b"").decode()

    def cancel(self, subscription: Any) -> None:
        self._lib.cairn_cancel(subscription)

    def unsubscribe(self, subscription: Any) -> None:
        self._lib.cairn_unsubscribe(subscription)

    def close(self) -> None:
        self._lib.cairn_close(self._cairn)
