#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cairn inside a Python program, using only ctypes: embed.py [DIRECTORY [libcairn.so.0]]"""
import ctypes
import json
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_long, c_size_t, c_void_p

lib = ctypes.CDLL(sys.argv[2] if len(sys.argv) > 2 else "libcairn.so.0")


class Event(ctypes.Structure):
    _fields_ = [("cursor", c_char_p), ("data", c_char_p), ("data_len", c_size_t)]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


cairn_open = declare("cairn_open", c_void_p, c_char_p, c_void_p, POINTER(c_char_p))
cairn_close = declare("cairn_close", None, c_void_p)
cairn_call = declare("cairn_call", c_void_p, c_void_p, c_char_p, c_char_p, c_void_p, c_char_p,
                     c_size_t)
cairn_status = declare("cairn_answer_status", c_int, c_void_p)
cairn_body = declare("cairn_answer_body", c_char_p, c_void_p, c_void_p)
cairn_answer_free = declare("cairn_answer_free", None, c_void_p)
cairn_subscribe = declare("cairn_subscribe", c_void_p, c_void_p, c_char_p, c_void_p, c_void_p)
cairn_next = declare("cairn_next", c_int, c_void_p, c_long, POINTER(POINTER(Event)))
cairn_unsubscribe = declare("cairn_unsubscribe", None, c_void_p)
TIMEOUT, EVENT, GAP, ENDED = range(4)

why = c_char_p()
place = sys.argv[1] if len(sys.argv) > 1 else "./data"
cairn = cairn_open(f"sqlite:{place}".encode(), None, byref(why)) or sys.exit(why.value.decode())


def call(method, path, body=None):
    text = b"" if body is None else json.dumps(body).encode()
    answer = cairn_call(cairn, method.encode(), path.encode(), None, text, len(text))
    status, document = cairn_status(answer), json.loads(cairn_body(answer, None))
    cairn_answer_free(answer)
    print(method, path, status, document)
    return document if status < 300 else sys.exit(1)


thread = call("POST", "/v1/threads", {"title": "from Python"})
run = call("POST", f"/v1/threads/{thread['id']}/runs", {"user_input": "how many?"})
call("POST", f"/v1/threads/{thread['id']}/events", {"kind": "app.answer", "payload": {"n": 42}})
events = cairn_subscribe(cairn, f"/v1/threads/{thread['id']}/events/stream".encode(), None, None)
event = POINTER(Event)()
while cairn_next(events, 200, byref(event)) == EVENT:
    print("event", event.contents.cursor.decode(), json.loads(event.contents.data))
cairn_unsubscribe(events)
call("GET", f"/v1/runs/{run['id']}")
cairn_close(cairn)
