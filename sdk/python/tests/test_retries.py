# SPDX-License-Identifier: Apache-2.0
"""The requests that are repeated, and not repeated, when responses are lost."""
import asyncio
import threading
import unittest
import uuid

import cairn

from .server import Relay, Server, shared


class LostAnswers(unittest.TestCase):
    """A relay closes connections when the server responds: the request was performed."""

    def setUp(self):
        self.relay = Relay(shared().port)
        self.addCleanup(self.relay.close)
        self.direct = cairn.Cairn(shared().url)
        self.cairn = cairn.Cairn(self.relay.url)
        for client in (self.direct, self.cairn):
            self.addCleanup(client.close)
        self.title = f"lost-{uuid.uuid4()}"

    def count(self):
        return len(list(self.direct.threads.list(title=self.title)))

    def test_a_post_makes_exactly_one_thing(self):
        self.relay.cut_answers = 3
        thread = self.cairn.threads.create(title=self.title)
        self.assertEqual(thread["title"], self.title)
        self.assertEqual(self.relay.connections, 4)
        self.assertEqual(self.count(), 1)

    def test_a_post_of_an_async_client_makes_exactly_one_thing(self):
        async def main():
            async with cairn.AsyncCairn(self.relay.url) as client:
                self.relay.cut_answers = 2
                await client.threads.create(title=self.title)
        asyncio.run(main())
        self.assertEqual(self.count(), 1)

    def test_tries_end_with_what_is_known(self):
        self.relay.cut_answers = 99
        with self.assertRaisesRegex(cairn.OutcomeUnknown, "read the resource"):
            self.cairn.threads.create(title=self.title, max_retries=1)
        with self.assertRaisesRegex(cairn.ConnectionFailed, "Nothing was changed"):
            self.cairn.threads.list(max_retries=1)
        self.assertEqual(self.count(), 1)

    def test_a_patch_is_not_sent_again(self):
        thread = self.direct.threads.create(title=self.title)
        self.relay.cut_answers = 1
        with self.assertRaises(cairn.OutcomeUnknown):
            self.cairn.threads.update(thread["id"], metadata={"n": 1})
        self.assertEqual(self.direct.threads.get(thread["id"])["version"], thread["version"] + 1)
        self.assertEqual(self.relay.connections, 1)

    def test_a_put_without_a_condition_is_sent_again_and_one_with_is_not(self):
        model = f"m-{uuid.uuid4()}"
        self.relay.cut_answers = 1
        made = self.cairn.prices.put(model, input=1.0, output=2.0)
        self.assertEqual((made["version"], self.relay.connections), (1, 2))
        self.relay.cut_answers = 1
        with self.assertRaises(cairn.OutcomeUnknown):
            self.cairn.prices.put(model, input=3.0, output=4.0, if_match=made["version"])
        self.assertEqual(self.direct.prices.get(model)["version"], 2)

    def test_a_delete_that_had_been_done_is_a_success(self):
        thread = self.direct.threads.create(title=self.title)
        self.relay.cut_answers = 1
        self.cairn.threads.delete(thread["id"])
        self.assertEqual(self.count(), 0)
        with self.assertRaises(cairn.NotFound):
            self.cairn.threads.delete(thread["id"])

    def test_a_body_that_can_be_read_again_is_sent_again(self):
        thread = self.direct.threads.create()["id"]
        self.relay.cut_answers = 1
        self.cairn.threads.files.upload(thread, "g", b"ab")
        with self.direct.threads.files.download(thread, "g") as download:
            self.assertEqual(download.read(), b"ab")


class OneTimeStreams(unittest.TestCase):
    def test_say_why_they_are_not_tried_again(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        with cairn.Cairn(shared().url) as direct, cairn.Cairn(relay.url) as client:
            thread = direct.threads.create()["id"]

            def pieces():
                yield b"a" * 200000
                relay.cut_answers = 1
                yield b"b"
            with self.assertRaisesRegex(cairn.CairnError, "upload_resumable"):
                client.threads.files.upload(thread, "f", pieces())


class Restarts(unittest.TestCase):
    def test_a_server_that_is_away_for_a_moment_is_waited_for(self):
        server = Server()
        self.addCleanup(server.end)
        with cairn.Cairn(server.url, max_retries=30) as client:
            thread = client.threads.create(title="before")
            for change in (lambda: client.threads.create(title="after"),
                           lambda: client.threads.update(thread["id"], title="changed"),
                           lambda: client.threads.get(thread["id"])):
                server.kill()
                timer = threading.Timer(0.3, server.start)
                timer.start()
                self.assertIn(change()["title"], ("after", "changed"))
                timer.join()


if __name__ == "__main__":
    unittest.main()
