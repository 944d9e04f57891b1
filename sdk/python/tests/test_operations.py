# SPDX-License-Identifier: Apache-2.0
"""Every client sends every operation once, and the request reaches the correct route."""
import asyncio
import inspect
import os
import tempfile
import unittest
import uuid

import cairn
import cairn.embedded
from cairn._generated import operations

from .server import Server, same_on_every_engine
from .test_calls import method_of

ASTRAY = ("no_route", "method_not_allowed", "internal", "bad_request", "invalid_json")
SENT = [o for o in operations.ALL if o.answer not in ("sse", "websocket")]


def arguments_of(method):
    """Returns a value for each required argument; the server may reject it after routing."""
    path, keywords = [], {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            continue
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[name] = {} if "Mapping" in str(parameter.annotation) else "x"
        elif name == "content":
            path.append(b"x")
        else:
            path.append(str(uuid.uuid4()) if name.endswith("_id") else "7")
    return path, keywords


@same_on_every_engine("routes")
class EveryOperation(unittest.TestCase):
    def reached(self, operation, error):
        self.assertNotIn(error.code, ASTRAY, f"{operation.name}: {error}")

    def check_sync(self, client):
        with client:
            for operation in SENT:
                method = method_of(client, operation.name)
                path, keywords = arguments_of(method)
                try:
                    answer = method(*path, **keywords, max_retries=0)
                    if operation.answer == "bytes":
                        answer.close()
                except cairn.ApiError as e:
                    self.reached(operation, e)

    async def check_async(self, client):
        async with client:
            for operation in SENT:
                method = method_of(client, operation.name)
                path, keywords = arguments_of(method)
                try:
                    answer = await method(*path, **keywords, max_retries=0)
                    if operation.answer == "bytes":
                        answer.close()
                except cairn.ApiError as e:
                    self.reached(operation, e)

    def test_is_one_of_more_than_two_hundred(self):
        self.assertGreater(len(SENT), 200)

    def test_is_sent_by_both_clients_to_a_server(self):
        server = Server()
        self.addCleanup(server.end)
        self.check_sync(cairn.Cairn(server.url))
        asyncio.run(self.check_async(cairn.AsyncCairn(server.url)))

    def test_is_sent_by_both_clients_within_a_program(self):
        with tempfile.TemporaryDirectory(prefix="cairn-python-") as scratch:
            place = os.path.join(scratch, "data")
            self.check_sync(cairn.embedded.open(place))
            asyncio.run(self.check_async(cairn.embedded.open_async(place)))


if __name__ == "__main__":
    unittest.main()
