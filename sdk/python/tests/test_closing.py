# SPDX-License-Identifier: Apache-2.0
"""Clients and streams that are closed during an operation, or copied by a fork."""
import asyncio
import os
import socket
import threading
import time
import unittest

import cairn

from .server import Relay, same_on_every_engine, shared

STREAM = (b"HTTP/1.1 200 OK\r\nCairn-Version: 0.1.0\r\nContent-Type: text/event-stream\r\n"
          b"Transfer-Encoding: chunked\r\n\r\n")


@same_on_every_engine("connections")
class Closing(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        self.thread = self.cairn.threads.create()["id"]

    def test_a_stream_that_is_closed_while_it_connects_ends(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        client = cairn.Cairn(f"http://127.0.0.1:{listener.getsockname()[1]}")
        self.addCleanup(client.close)
        stream = client.threads.events.follow(self.thread)
        reader = threading.Thread(target=lambda: list(stream), daemon=True)
        reader.start()
        connection, _ = listener.accept()
        connection.recv(65536)
        stream.close()
        connection.sendall(STREAM)
        reader.join(timeout=60)
        self.assertFalse(reader.is_alive())
        connection.close()

    def test_closing_the_client_ends_its_streams(self):
        for transport in ("sse", "websocket"):
            client = cairn.Cairn(shared().url)
            stream = client.threads.events.follow(self.thread, transport=transport)
            next(stream)
            ended = []

            def read():
                try:
                    next(stream)
                except cairn.Aborted as e:
                    ended.append(str(e))
            reader = threading.Thread(target=read, daemon=True)
            reader.start()
            time.sleep(0.1)
            client.close()
            reader.join(timeout=60)
            self.assertEqual(ended, ["the client is closed"])

    def test_closing_an_async_client_ends_its_streams(self):
        async def main():
            client = cairn.AsyncCairn(shared().url)
            stream = client.threads.events.follow(self.thread)
            await stream.__anext__()
            task = asyncio.ensure_future(stream.__anext__())
            await asyncio.sleep(0.1)
            await client.aclose()
            with self.assertRaisesRegex(cairn.Aborted, "the client is closed"):
                await asyncio.wait_for(task, 120)
        asyncio.run(main())

    def test_a_child_of_fork_leaves_the_connections_of_its_parent_alone(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        client = cairn.Cairn(relay.url)
        self.addCleanup(client.close)
        stream = client.threads.events.follow(self.thread)
        next(stream)
        client.health()
        child = os.fork()
        if child == 0:
            try:
                client.health()
                stream.close()
                client.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        self.assertEqual(relay.connections, 3)
        client.health()
        client.threads.events.append(self.thread, kind="progress")
        self.assertEqual(next(stream)["kind"], "progress")
        self.assertEqual(relay.connections, 3)

    def test_a_server_that_came_back_is_met_on_a_new_connection_by_async_clients_too(self):
        async def main():
            relay = Relay(shared().port)
            self.addCleanup(relay.close)
            async with cairn.AsyncCairn(relay.url) as client:
                await client.health()
                relay.drop()
                time.sleep(0.2)  # the event loop has not noticed this yet
                await client.threads.update(self.thread, title="met")
        asyncio.run(main())


class Uploads(unittest.TestCase):
    def test_what_the_iterator_of_an_upload_raises_comes_out_as_it_is(self):
        def pieces():
            yield b"a" * 200000
            raise OSError("the disk that is read from")

        async def async_pieces():
            for piece in pieces():
                yield piece

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                await client.threads.files.upload(thread, "f", async_pieces(), timeout=60)
        with cairn.Cairn(shared().url) as client:
            thread = client.threads.create()["id"]
            with self.assertRaisesRegex(OSError, "^the disk that is read from$"):
                client.threads.files.upload(thread, "f", pieces(), timeout=60)
            with self.assertRaisesRegex(OSError, "^the disk that is read from$"):
                asyncio.run(main())
            self.assertEqual(client.threads.files.list(thread).data, [])


if __name__ == "__main__":
    unittest.main()
