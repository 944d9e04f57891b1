# SPDX-License-Identifier: Apache-2.0
"""libcairn inside the process, behind the same clients."""
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import uuid
from unittest import mock

import cairn
import cairn.embedded

from . import program
from .server import BINARY, ENGINE, POSTGRES, Server, same_on_every_engine


class Embedded(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-python-")
        self.addCleanup(scratch.cleanup)
        self.directory = os.path.join(scratch.name, "data")
        self.schema = None
        if ENGINE == "postgres":
            self.schema = f"py_{uuid.uuid4().hex[:12]}"
            self.addCleanup(subprocess.run, ["psql", POSTGRES, "-qc", (
                "SET client_min_messages = warning; "
                f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")], check=False)

    @property
    def place(self):
        return POSTGRES if self.schema else self.directory

    def open(self, **more):
        return cairn.embedded.open(self.place, schema=self.schema, **more)

    def open_async(self, **more):
        return cairn.embedded.open_async(self.place, schema=self.schema, **more)

    def test_one_program_says_the_same_on_a_server_and_on_a_file(self):
        server = Server()
        self.addCleanup(server.end)
        with cairn.Cairn(server.url) as client:
            on_server = program.run(client)
        with self.open() as client:
            in_process = program.run(client)
        self.assertEqual(in_process, on_server)
        self.assertEqual(len(on_server), 16)

        async def main(make):
            async with make() as client:
                return await program.run_async(client)
        there = asyncio.run(main(lambda: cairn.AsyncCairn(server.url)))
        self.assertEqual(asyncio.run(main(self.open_async)), there)

    def test_a_stream_waits_for_what_comes_and_ends_with_the_client(self):
        client = self.open()
        self.addCleanup(client.close)
        thread = client.threads.create()["id"]
        seen, ended = [], []

        def read():
            try:
                for event in client.threads.events.follow(thread):
                    seen.append(event["seq"])
            except cairn.Aborted as e:
                ended.append(e)
        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(50):
            client.threads.events.append(thread, kind="progress")
        while len(seen) < 51:
            time.sleep(0.01)
        client.close()
        reader.join(timeout=120)
        self.assertEqual((seen, len(ended)), (list(range(1, 52)), 1))
        with self.assertRaises(cairn.Aborted):
            client.health()
        with self.open() as again:
            self.assertEqual(again.threads.get(thread)["last_seq"], 51)

    @same_on_every_engine("calls that wait")
    def test_closing_answers_a_call_that_waits(self):
        client = self.open(max_retries=0)
        answers = []

        def claim():
            try:
                answers.append(client.runs.claim(worker="w", wait=60))
            except cairn.CairnError as e:
                answers.append(e)
        waiting = threading.Thread(target=claim)
        waiting.start()
        time.sleep(0.2)
        begun = time.monotonic()
        client.close()
        waiting.join()
        self.assertLess(time.monotonic() - begun, 50)
        self.assertEqual(len(answers), 1)
        client.close()

    @same_on_every_engine("tasks")
    def test_a_cancelled_task_leaves_the_client_usable(self):
        async def main():
            async with self.open_async() as client:
                thread = (await client.threads.create())["id"]
                stream = client.threads.events.follow(thread)
                await stream.__anext__()
                task = asyncio.ensure_future(stream.__anext__())
                await asyncio.sleep(0.05)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await client.threads.events.append(thread, kind="acme.note")
                self.assertEqual((await stream.__anext__())["kind"], "acme.note")
        asyncio.run(main())

    @same_on_every_engine("tasks")
    def test_closing_ends_a_stream_that_is_awaited(self):
        async def main():
            client = self.open_async()
            stream = client.threads.events.follow((await client.threads.create())["id"])
            await stream.__anext__()
            task = asyncio.ensure_future(stream.__anext__())
            await asyncio.sleep(0.05)
            await client.aclose()
            with self.assertRaisesRegex(cairn.Aborted, "the client is closed"):
                await task
            with self.assertRaisesRegex(cairn.Aborted, "the client is closed"):
                await client.health()
        asyncio.run(main())

    @same_on_every_engine("tasks")
    def test_a_subscription_that_nobody_waits_for_any_more_is_given_back(self):
        held = []

        class Counting(cairn.embedded.Library):
            def subscribe(self, *args):
                answer = super().subscribe(*args)
                held.append(answer[0])
                time.sleep(0.1)
                return answer

            def unsubscribe(self, handle):
                super().unsubscribe(handle)
                held.remove(handle)

        async def main():
            async with self.open_async() as client:
                stream = client.threads.events.follow((await client.threads.create())["id"])
                task = asyncio.ensure_future(stream.__anext__())
                while not held:
                    await asyncio.sleep(0.005)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                await client.health()
        with mock.patch.object(cairn.embedded, "Library", Counting):
            asyncio.run(main())
        self.assertEqual(held, [])

    @same_on_every_engine("processes")
    def test_a_child_of_fork_is_told_and_ends(self):
        client = self.open()
        self.addCleanup(client.close)
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            try:
                client.health()
            except cairn.Aborted as e:
                client.close()
                os._exit(7 if "fork" in str(e) else 8)
            os._exit(9)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
        self.assertEqual(client.health()["status"], "ok")

    @same_on_every_engine("headers")
    def test_headers_are_checked_as_they_are_for_a_server(self):
        with self.open() as client:
            for name, value in (("X", "a\r\nCairn-Principal: user:x"), ("X", "a\0b"), ("X:Y", "1"),
                                ("X Y", "1"), ("", "1"), ("\u00dc", "1")):
                with self.assertRaisesRegex(ValueError, "no header may have"):
                    client.threads.list(headers={name: value})

    @same_on_every_engine("parts of answers")
    def test_downloads_come_in_parts(self):
        data = os.urandom(300_000)
        with mock.patch.object(cairn.embedded.EmbeddedCarrier, "part_bytes", 100_000), \
                self.open() as client:
            thread = client.threads.create()["id"]
            for content in (data, data[:200_000], b"", b"x"):
                client.threads.files.upload(thread, "f", content)
                with client.threads.files.download(thread, "f") as download:
                    self.assertEqual((download.status, download.content_length),
                                     (200, len(content)))
                    self.assertEqual(download.read(), content)
            archive = client.threads.export(thread).read()
            self.assertGreater(len(archive), 1000)

    def test_keys_and_gaps_are_as_on_a_server(self):
        with self.open() as client:
            thread = client.threads.create()["id"]
            client.threads.events.append(thread, events=[{"kind": "progress"}] * 5)
            client.threads.events.prune(thread, through_seq=3)
            with self.assertRaises(cairn.EventsPruned) as caught:
                next(client.threads.events.follow(thread, after=1))
            self.assertEqual(caught.exception.resume_cursor, "3")
            secret = client.keys.create(name="k", scopes=["operator"])["secret"]
            with self.assertRaises(cairn.Authentication):
                client.threads.list()
        with self.open(api_key=secret) as client:
            self.assertEqual(client.threads.get(thread)["last_seq"], 6)

    def test_a_directory_that_is_taken_is_told(self):
        if self.schema:
            self.skipTest("a PostgreSQL schema takes any number of programs")
        with self.open(), self.assertRaisesRegex(cairn.DirectoryInUse, "Stop that server"):
            self.open()
        server = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", "--data", self.directory],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            server.stdout.readline()
            with self.assertRaisesRegex(cairn.DirectoryInUse, "base_url"):
                self.open()
        finally:
            server.terminate()
            server.wait()
            server.stdout.close()

    def test_a_library_that_cannot_be_used_is_told(self):
        with self.assertRaisesRegex(cairn.LibraryMissing, "CAIRN_LIBRARY"):
            self.open(library="/nowhere/libcairn.so.0")
        with mock.patch.dict(os.environ, CAIRN_LIBRARY="/nowhere/at/all.so"):
            with self.assertRaisesRegex(cairn.LibraryMissing, "/nowhere/at/all.so"):
                self.open()
        with self.assertRaisesRegex(cairn.LibraryError, "not a libcairn"):
            self.open(library="libc.so.6")
        with mock.patch("cairn._library.API_VERSION", "7.0.0"):
            with self.assertRaisesRegex(cairn.VersionMismatch, "7.x"):
                self.open()
        with self.assertRaisesRegex(ValueError, "empty"):
            cairn.embedded.open("")
        with self.assertRaisesRegex(cairn.LibraryError, "cannot be opened") as caught:
            cairn.embedded.open("postgres://u:geheim@127.0.0.1:1/none")
        self.assertNotIn("geheim", str(caught.exception))

    def test_a_program_that_ends_without_closing_loses_nothing(self):
        source = ("import sys, cairn.embedded; c = cairn.embedded.open(sys.argv[1], "
                  "schema=sys.argv[2] or None); c.threads.create(title='kept'); "
                  "s = c.events.follow(); next(s)")
        path = os.path.dirname(os.path.dirname(cairn.__file__))
        subprocess.run([sys.executable, "-c", source, self.place, self.schema or ""], check=True,
                       env={**os.environ, "PYTHONPATH": path}, timeout=60)
        with self.open() as client:
            self.assertEqual([t["title"] for t in client.threads.list()], ["kept"])


if __name__ == "__main__":
    unittest.main()
