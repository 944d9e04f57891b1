# SPDX-License-Identifier: Apache-2.0
"""Uploads and downloads as streams."""
import asyncio
import base64
import hashlib
import io
import os
import tempfile
import unittest

import cairn

from .server import Relay, shared
from .test_calls import answering, http

MEGABYTES = os.urandom(3 * 1024 * 1024 + 7)
DIGEST = hashlib.sha256(MEGABYTES).hexdigest()


def pieces():
    for begin in range(0, len(MEGABYTES), 100_000):
        yield MEGABYTES[begin:begin + 100_000]
        yield b""


class Files(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        self.thread = self.cairn.threads.create()["id"]
        self.files = self.cairn.threads.files

    def test_all_forms_of_content_arrive_whole(self):
        with tempfile.TemporaryFile() as file:
            file.write(b"skipped" + MEGABYTES)
            file.seek(7)
            forms = {"bytes": MEGABYTES, "bytearray": bytearray(MEGABYTES), "file": file,
                     "memory": io.BytesIO(MEGABYTES), "iterator": pieces()}
            for name, content in forms.items():
                made = self.files.upload(self.thread, name, content)
                self.assertEqual((made["sha256"], made["size_bytes"]), (DIGEST, len(MEGABYTES)),
                                 name)
        text = self.files.upload(self.thread, "text", "grüß")
        self.assertEqual(text["size_bytes"], 6)

    def test_async_iterators_are_sent_by_the_async_client(self):
        async def give():
            for piece in pieces():
                await asyncio.sleep(0)
                yield piece

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                made = await client.threads.files.upload(self.thread, "a", give())
                self.assertEqual(made["sha256"], DIGEST)
                async with client.threads.files.download(self.thread, "a") as download:
                    self.assertEqual(await download.read(), MEGABYTES)
                download = await client.threads.files.download(self.thread, "a")
                self.assertEqual(b"".join([p async for p in download.iter_bytes()]), MEGABYTES)
        asyncio.run(main())
        with self.assertRaisesRegex(TypeError, "AsyncCairn"):
            self.files.upload(self.thread, "b", give())

    def test_what_is_no_content_is_refused(self):
        wrong_pieces = "consist of bytes"
        for content, words in ((7, "use bytes"), ([1], wrong_pieces), (["x"], wrong_pieces)):
            with self.assertRaisesRegex(TypeError, words):
                self.files.upload(self.thread, "f", content)
        with tempfile.TemporaryFile("w+") as file:
            file.write("x")
            file.seek(0)
            with self.assertRaisesRegex(TypeError, '"rb"'):
                self.files.upload(self.thread, "f", file)
        self.assertEqual(self.files.list(self.thread).data, [])

    def test_a_download_is_read_in_pieces_saved_or_left(self):
        self.files.upload(self.thread, "f.bin", MEGABYTES, content_type="application/x-acme")
        with self.files.download(self.thread, "f.bin") as download:
            self.assertEqual(download.content_type, "application/x-acme")
            self.assertEqual(download.content_length, len(MEGABYTES))
            self.assertEqual(download.etag, '"1"')
            self.assertEqual(download.digest, "sha-256=:%s:" % base64.b64encode(
                bytes.fromhex(DIGEST)).decode())
            sizes = [len(piece) for piece in download.iter_bytes()]
        self.assertGreater(len(sizes), 10)
        self.assertEqual(sum(sizes), len(MEGABYTES))
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "copy")
            self.assertEqual(self.files.download(self.thread, "f.bin").save(path), len(MEGABYTES))
            with open(path, "rb") as file:
                self.assertEqual(hashlib.sha256(file.read()).hexdigest(), DIGEST)
        with self.files.download(self.thread, "f.bin") as left:
            next(left.iter_bytes())
        with self.assertRaises(cairn.Aborted):
            left.read()
        part = self.files.download(self.thread, "f.bin", headers={"Range": "bytes=1-3"})
        self.assertEqual((part.status, part.read()), (206, MEGABYTES[1:4]))

    def test_stored_json_comes_back_as_such(self):
        agent = self.cairn.agents.create(name=f"files-{self.thread}")["id"]
        self.cairn.agents.storage.put(agent, "prefs", '{"a": [1, null]}',
                                      content_type="application/json", if_none_match="*")
        with self.cairn.agents.storage.get(agent, "prefs") as stored:
            self.assertEqual(stored.json(), {"a": [1, None]})

    def test_a_refused_upload_is_not_read(self):
        read = []

        def watched():
            read.append(1)
            yield b"x"
        with self.assertRaises(cairn.NotFound):
            self.files.upload("01a1e330-59c2-79d3-ab9e-adcd134b3e17", "f", watched())
        self.assertEqual(read, [])
        self.files.upload(self.thread, "f", b"1")
        with self.assertRaises(cairn.StaleEtag):
            self.files.upload(self.thread, "f", MEGABYTES, if_none_match="*")
        with self.assertRaises(cairn.StaleEtag):
            self.files.upload(self.thread, "f", b"2", if_match=7)
        self.assertEqual(self.files.get(self.thread, "f")["version"], 1)

    def test_a_download_goes_on_where_it_broke_off(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        self.files.upload(self.thread, "f", MEGABYTES)
        with cairn.Cairn(relay.url) as client:
            relay.cut_after = [500_000, 400, 100, 900_000]
            with client.threads.files.download(self.thread, "f") as download:
                self.assertEqual(download.read(), MEGABYTES)
            self.assertEqual(relay.connections, 5)

            async def main():
                async with cairn.AsyncCairn(relay.url) as client:
                    relay.cut_after = [800_000, 1_000_000]
                    async with client.threads.files.download(self.thread, "f") as download:
                        self.assertEqual(await download.read(), MEGABYTES)
                self.assertEqual(relay.connections, 8)
            asyncio.run(main())

    def test_a_download_that_stays_broken_says_where(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        self.files.upload(self.thread, "f", MEGABYTES)
        relay.cut_after = [600_000]
        with cairn.Cairn(relay.url, max_retries=0) as client:
            with client.threads.files.download(self.thread, "f") as download:
                received = iter(download.iter_bytes())
                size = len(next(received))
                with self.assertRaisesRegex(cairn.ConnectionFailed, r"bytes=\d+-") as caught:
                    for piece in received:
                        size += len(piece)
                self.assertIn(f"bytes={size}-", str(caught.exception))

    def test_a_file_that_changes_under_a_broken_download_is_not_mixed(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        self.files.upload(self.thread, "f", MEGABYTES)
        relay.cut_after = [600_000]
        with cairn.Cairn(relay.url) as client:
            with client.threads.files.download(self.thread, "f") as download:
                received = iter(download.iter_bytes())
                next(received)
                self.files.upload(self.thread, "f", MEGABYTES[::-1])
                with self.assertRaisesRegex(cairn.ConnectionFailed, "has changed"):
                    list(received)

    def test_bytes_that_are_not_what_was_stored_are_told(self):
        wrong = base64.b64encode(hashlib.sha256(b"other").digest()).decode()
        listener, url = answering(http(
            "200 OK", f"Cairn-Version: 0.1.0\r\nRepr-Digest: sha-256=:{wrong}:\r\n", "bytes"))
        self.addCleanup(listener.close)
        with cairn.Cairn(url) as client, self.assertRaisesRegex(cairn.DataDamaged, "SHA-256"):
            client.threads.files.download(self.thread, "f").read()

    def test_a_resumable_upload_outlives_its_connections(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        told = []

        def progress(done, whole):
            told.append((done, whole))
            relay.cut_answers = 1
        with cairn.Cairn(relay.url) as client:
            made = client.threads.files.upload_resumable(
                self.thread, "big", io.BytesIO(MEGABYTES), piece_bytes=1_000_000,
                on_progress=progress, expected_version=0)
        self.assertEqual((made["sha256"], made["version"]), (DIGEST, 1))
        self.assertEqual([done for done, _ in told],
                         [1_000_000, 2_000_000, 3_000_000, len(MEGABYTES)])
        empty = self.files.upload_resumable(self.thread, "empty", b"", expected_version=0)
        self.assertEqual(empty["size_bytes"], 0)

    def test_an_upload_that_was_begun_elsewhere_is_finished(self):
        begun = self.cairn.threads.uploads.create(self.thread, name="two", size_bytes=6)
        self.cairn.threads.uploads.append(self.thread, begun["id"], b"abc", offset=0)
        made = self.files.upload_resumable(self.thread, "two", b"abcdef", upload_id=begun["id"])
        self.assertEqual(made["sha256"], hashlib.sha256(b"abcdef").hexdigest())

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                again = await client.threads.files.upload_resumable(self.thread, "two", MEGABYTES)
                self.assertEqual((again["version"], again["sha256"]), (2, DIGEST))
        asyncio.run(main())


if __name__ == "__main__":
    unittest.main()
