# SPDX-License-Identifier: Apache-2.0
"""Following events: no event is lost or duplicated when connections break."""
import asyncio
import threading
import time
import unittest
import uuid
from unittest import mock

import cairn

from .server import Relay, Server, shared


def append_through_restarts(server, thread, count, kills):
    """Appends numbered events while the server is killed `kills` times; it runs at the end."""
    every = count // (kills + 1)
    starting = threading.Timer(0, lambda: None)
    starting.start()
    with cairn.Cairn(server.url, max_retries=30) as writer:
        for n in range(count):
            if n and n % every == 0 and kills:
                kills -= 1
                starting.join()
                server.kill()
                starting = threading.Timer(0.15, server.start)
                starting.start()
            writer.threads.events.append(thread, kind="acme.n", payload={"n": n})


class KilledServer(unittest.TestCase):
    """One server that is killed repeatedly, for all transports and both clients."""
    COUNT = 90

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.addClassCleanup(cls.server.end)

    def setUp(self):
        with cairn.Cairn(self.server.url) as client:
            self.thread = client.threads.create()["id"]
        self.writer = threading.Thread(
            target=append_through_restarts, args=(self.server, self.thread, self.COUNT, 3))
        self.writer.start()
        self.addCleanup(self.writer.join)

    def check(self, events):
        told = [e["payload"]["n"] for e in events if e["kind"] == "acme.n"]
        self.assertEqual(told, list(range(self.COUNT)))

    def is_last(self, event):
        return event["thread_id"] == self.thread and event["payload"] == {"n": self.COUNT - 1}

    def follow(self, make):
        with cairn.Cairn(self.server.url) as client, make(client) as stream:
            events = []
            for event in stream:
                events.append(event)
                if self.is_last(event):
                    return events, stream.cursor

    def follow_async(self, make):
        async def main():
            async with cairn.AsyncCairn(self.server.url) as client, make(client) as stream:
                events = []
                async for event in stream:
                    events.append(event)
                    if self.is_last(event):
                        return events, stream.cursor
        return asyncio.run(main())

    def test_a_thread_is_followed_over_sse(self):
        events, cursor = self.follow(lambda c: c.threads.events.follow(self.thread))
        self.check(events)
        self.assertEqual([e["seq"] for e in events], list(range(1, self.COUNT + 2)))
        self.assertEqual(cursor, str(events[-1]["seq"]))

    def test_a_thread_is_followed_over_websocket(self):
        events, _ = self.follow(
            lambda c: c.threads.events.follow(self.thread, transport="websocket"))
        self.check(events)
        self.assertEqual([e["seq"] for e in events], list(range(1, self.COUNT + 2)))

    def test_all_threads_are_followed_by_both_clients_at_once(self):
        found = {}

        def awaiting():
            found["async"] = self.follow_async(
                lambda c: c.events.follow(kind="acme.n", transport="websocket"))
        other = threading.Thread(target=awaiting)
        other.start()
        found["blocking"] = self.follow(lambda c: c.events.follow(kind="acme.n"))
        other.join()
        for events, cursor in found.values():
            self.check([e for e in events if e["thread_id"] == self.thread])
            ids = [e["id"] for e in events]
            self.assertEqual(ids, sorted(set(ids)))
            self.assertEqual(cursor, str(ids[-1]))

    def test_an_async_reader_follows_over_sse(self):
        events, _ = self.follow_async(lambda c: c.threads.events.follow(self.thread, after=1))
        self.check(events)
        self.assertEqual(events[0]["seq"], 2)


class Streams(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        self.thread = self.cairn.threads.create()["id"]

    def append(self, *texts):
        self.cairn.threads.events.append(
            self.thread, events=[{"kind": "acme.note", "text": t} for t in texts])

    def test_a_cursor_goes_on_where_another_stream_stood(self):
        self.append("one", "two", "three")
        for transport in ("sse", "websocket"):
            first = self.cairn.threads.events.follow(self.thread, kind="acme.note",
                                                     transport=transport)
            self.assertEqual(next(first)["text"], "one")
            second = self.cairn.threads.events.follow(self.thread, after=first.cursor,
                                                      transport=transport)
            first.close()
            self.assertEqual(next(second)["text"], "two")
            second.close()
            self.assertEqual(list(second), [])

    def test_a_cut_connection_goes_unnoticed(self):
        relay = Relay(int(shared().url.rsplit(":", 1)[1]))
        self.addCleanup(relay.close)
        with cairn.Cairn(relay.url) as client:
            for transport in ("sse", "websocket"):
                with client.threads.events.follow(self.thread, kind="acme.note",
                                                  transport=transport) as stream:
                    seen = []
                    for n in range(6):
                        relay.cut_answers = n % 2
                        self.append(f"{transport} {n}")
                        seen.append(next(e for e in stream
                                         if e["text"].startswith(transport))["text"])
                    self.assertEqual(seen, [f"{transport} {n}" for n in range(6)])
        self.assertGreater(relay.connections, 6)

    def test_a_connection_that_fell_silent_is_replaced(self):
        for transport in ("sse", "websocket"):
            relay = Relay(shared().port)
            self.addCleanup(relay.close)
            with cairn.Cairn(relay.url) as client, mock.patch("cairn._http.SILENCE_S", 0.3), \
                    mock.patch("cairn._http.PING_S", 0.1), client.threads.events.follow(
                        self.thread, kind="acme.note", transport=transport) as stream:
                self.append(f"{transport} one")
                while next(stream)["text"] != f"{transport} one":
                    pass
                relay.frozen = True
                self.append(f"{transport} two")
                while not relay.swallowed:
                    time.sleep(0.01)
                relay.frozen = False
                self.assertEqual(next(stream)["text"], f"{transport} two")
                self.assertGreater(relay.connections, 1)

    def test_a_gap_ends_the_stream_with_where_to_go_on(self):
        self.append(*"abcdef")
        self.cairn.threads.events.prune(self.thread, through_seq=4)
        for transport in ("sse", "websocket"):
            stream = self.cairn.threads.events.follow(self.thread, after=1, transport=transport)
            with self.assertRaises(cairn.EventsPruned) as caught:
                next(stream)
            resumed = self.cairn.threads.events.follow(
                self.thread, after=caught.exception.resume_cursor, transport=transport)
            self.assertEqual(next(resumed)["seq"], 5)
            resumed.close()

    def test_a_gap_is_passed_by_whoever_wants_to_be_told(self):
        self.append(*"abcdef")
        self.cairn.threads.events.prune(self.thread, through_seq=4)
        before = next(self.cairn.threads.events.follow(self.thread, after=4))["id"] - 5
        for transport in ("sse", "websocket"):
            gaps = []
            with self.cairn.threads.events.follow(
                    self.thread, after=1, transport=transport, on_gap=gaps.append) as stream:
                self.assertEqual([next(stream)["seq"] for _ in range(3)], [5, 6, 7])
            self.assertEqual([gap["pruned_through"] for gap in gaps], [4])
            gaps.clear()
            with self.cairn.events.follow(after=before, kind="acme.note", transport=transport,
                                          on_gap=gaps.append) as stream:
                told = [e for _, e in zip(range(3), stream) if e["thread_id"] == self.thread]
                self.assertEqual([e["text"] for e in told], list("def"))
                self.assertEqual(len(gaps), 1)

    def test_a_slow_reader_gets_everything(self):
        texts = [f"{n} " + "x" * 12000 for n in range(200)]
        for transport in ("sse", "websocket"):
            after = self.cairn.threads.get(self.thread)["last_seq"]
            with self.cairn.threads.events.follow(
                    self.thread, after=after, transport=transport) as stream:
                self.append("first")
                self.assertEqual(next(stream)["text"], "first")
                for begin in range(0, 200, 20):
                    self.append(*texts[begin:begin + 20])
                self.assertEqual([next(stream)["text"] for _ in texts], texts)

    def test_another_thread_may_close_a_stream_that_waits(self):
        for transport in ("sse", "websocket"):
            stream = self.cairn.threads.events.follow(self.thread, transport=transport)
            next(stream)
            threading.Timer(0.1, stream.close).start()
            self.assertEqual(list(stream), [])

    def test_a_deleted_thread_ends_its_streams(self):
        for transport in ("sse", "websocket"):
            thread = self.cairn.threads.create()["id"]
            stream = self.cairn.threads.events.follow(thread, transport=transport)
            next(stream)
            self.cairn.threads.delete(thread)
            with self.assertRaises(cairn.NotFound):
                list(stream)
            self.assertEqual(list(stream), [])

    def test_what_cannot_heal_is_raised_at_once(self):
        for transport in ("sse", "websocket"):
            with self.assertRaises(cairn.NotFound):
                next(self.cairn.threads.events.follow(str(uuid.uuid4()), transport=transport))
            with self.assertRaises(cairn.InvalidInput):
                next(self.cairn.threads.events.follow(self.thread, after=999, transport=transport))
        with self.assertRaisesRegex(ValueError, "transport"):
            self.cairn.events.follow(transport="carrier pigeon")

    def test_a_cancelled_task_lets_go_of_its_connection(self):
        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                for transport in ("sse", "websocket"):
                    stream = client.threads.events.follow(self.thread, transport=transport)
                    seen = []

                    async def read():
                        async for event in stream:
                            seen.append(event["seq"])
                    task = asyncio.ensure_future(read())
                    while not seen:
                        await asyncio.sleep(0.01)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
                    self.append(transport)
                    self.assertEqual((await stream.__anext__())["text"], transport)
                    await stream.aclose()
                    self.assertEqual([e async for e in stream], [])
        asyncio.run(main())



class Filters(unittest.TestCase):
    """Filtered events count as read, so pruning them is not a gap."""

    def test_the_cursor_moves_on_when_the_server_says_goodbye(self):
        server = Server()
        self.addCleanup(server.end)
        with cairn.Cairn(server.url, max_retries=50) as client:
            thread = client.threads.create()["id"]
            streams = []
            for transport in ("sse", "websocket"):
                for follow in (lambda **o: client.threads.events.follow(thread, **o),
                               client.events.follow):
                    streams.append(follow(kind="acme.rare", transport=transport))
            seen = []
            for stream in streams:
                threading.Thread(target=lambda s=stream: seen.append(next(s)["seq"])).start()
            client.threads.events.append(thread, events=[{"kind": "progress"}] * 9)
            time.sleep(0.3)
            server.stop()
            server.start()
            until(lambda: [s.cursor for s in streams] == ["10"] * 4)
            client.threads.events.prune(thread, through_seq=10)
            client.threads.events.append(thread, kind="acme.rare")
            until(lambda: len(seen) == 4)
            self.assertEqual(set(seen), {client.threads.get(thread)["last_seq"]})
            for stream in streams:
                stream.close()


def until(is_so, seconds=120):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
