# SPDX-License-Identifier: Apache-2.0
"""Accepted arguments, and those that are rejected before anything is sent."""
import datetime
import os
import pickle
import unittest
import uuid
from decimal import Decimal
from unittest import mock

import cairn
from cairn._carrier import Request

from .server import shared


class Arguments(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)

    def test_what_is_no_id_is_refused_before_it_is_sent(self):
        thread = self.cairn.threads.create()
        for wrong in (None, thread, b"x", True, 1.5):
            with self.assertRaisesRegex(TypeError, "thread_id must be"):
                self.cairn.threads.get(wrong)
        with self.assertRaisesRegex(ValueError, "thread_id must not be empty"):
            self.cairn.threads.get("")
        self.assertEqual(self.cairn.threads.get(uuid.UUID(thread["id"]))["id"], thread["id"])

    def test_what_is_no_json_is_refused_before_it_is_sent(self):
        for wrong in (b"bytes", bytearray(b"x"), memoryview(b"x"), {1, 2}, Decimal("0.1"),
                      object(), float("nan")):
            with self.assertRaises((TypeError, ValueError), msg=repr(wrong)):
                self.cairn.threads.create(metadata={"x": wrong})

    def test_what_python_has_no_json_for_is_sent_as_its_text(self):
        someone = uuid.uuid4()
        day = datetime.date(2026, 11, 16)
        thread = self.cairn.threads.create(metadata={"id": someone, "day": day})
        self.assertEqual(thread["metadata"], {"id": str(someone), "day": "2026-11-16"})

    def test_a_file_of_authorities_that_is_not_there_is_named(self):
        with mock.patch.dict(os.environ, CAIRN_CA_FILE="/nowhere/ca.pem"):
            with self.assertRaisesRegex(ValueError, "CAIRN_CA_FILE.*/nowhere/ca.pem"):
                cairn.Cairn("https://127.0.0.1:1")

    def test_a_timeout_may_be_without_end(self):
        self.cairn.health(timeout=float("inf"))

    def test_no_repr_shows_the_key(self):
        request = Request("GET", "/", [("Authorization", "Bearer geheim")])
        self.assertNotIn("geheim", repr(request))


class Errors(unittest.TestCase):
    def test_what_is_refused_before_it_has_a_route_is_still_told_by_cairn(self):
        with cairn.Cairn(shared().url, max_retries=0) as client:
            with self.assertRaisesRegex(cairn.TooLarge, "413 body_too_large"):
                client.threads.create(metadata={"x": "x" * 20_000_000})
            with self.assertRaisesRegex(cairn.TooLarge, "431 bad_request"):
                client.threads.list(headers={"X": "x" * 100_000})
            with self.assertRaisesRegex(cairn.TooLarge, "414 bad_request"):
                client.threads.list(title="x" * 100_000)
            with self.assertRaisesRegex(cairn.InvalidInput, "400 bad_request"):
                client.threads.list(headers={"Host": "elsewhere"})

    def test_pass_from_process_to_process(self):
        with cairn.Cairn(shared().url) as client:
            with self.assertRaises(cairn.NotFound) as caught:
                client.threads.get(str(uuid.uuid4()))
        error = caught.exception
        again = pickle.loads(pickle.dumps(error))
        self.assertIs(type(again), cairn.NotFound)
        self.assertEqual((str(again), again.problem, again.status, again.retry_after),
                         (str(error), error.problem, 404, None))
        for other in (cairn.TimedOut("late", True), cairn.NotCairn("no", 502),
                      cairn.OutcomeUnknown({"detail": "who knows"})):
            again = pickle.loads(pickle.dumps(other))
            self.assertEqual((str(again), vars(again)), (str(other), vars(other)))


if __name__ == "__main__":
    unittest.main()
