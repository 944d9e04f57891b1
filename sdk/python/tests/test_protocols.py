# SPDX-License-Identifier: Apache-2.0
"""Parsers of the protocols, with pieces of any size."""
import unittest

from cairn import _websocket as websocket
from cairn._http1 import Body, Connection, ConnectionLost, Head, ProtocolError, Wait, request_head
from cairn._network import run_now
from cairn._sse import SseParser


class Canned:
    """A stream that returns these bytes, `step` at a time."""

    def __init__(self, data, step):
        self.pieces = [data[i:i + step] for i in range(0, len(data), step)]

    async def receive(self, timeout):
        return self.pieces.pop(0) if self.pieces else b""


def answer_of(data, step, method="GET"):
    async def read():
        connection = Connection(Canned(data, step))
        head = await connection.read_head(Wait(None))
        body, whole = Body(connection, head, method), b""
        while True:
            piece = await body.read(Wait(None))
            if not piece:
                return head, whole, body.leaves_connection_usable
            whole += piece
    return run_now(read())


class Http(unittest.TestCase):
    def test_bodies_of_all_kinds_are_read_whole(self):
        answers = {
            b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello": (b"hello", True),
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: a\r\n\r\n": (b"hello", True),
            b"HTTP/1.1 200 OK\r\n\r\nhello": (b"hello", False),
            b"HTTP/1.1 204 No Content\r\n\r\n": (b"", True),
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi":
                (b"hi", True),
        }
        for data, (body, usable) in answers.items():
            for step in (1, 3, 1000):
                self.assertEqual(answer_of(data, step)[1:], (body, usable), data)

    def test_an_answer_that_breaks_off_is_not_taken_for_whole(self):
        for data in (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Le", b""):
            with self.assertRaises(ConnectionLost):
                answer_of(data, 4)

    def test_what_is_malformed_is_refused(self):
        for data in (b"SSH-2.0-x\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 200 OK\r\nbad\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
                     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
                     b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70000):
            with self.assertRaises(ProtocolError):
                answer_of(data, 1000)

    def test_a_header_cannot_hold_another(self):
        for name, value in (("A", "b\r\nC: d"), ("A\r\nB", "c"), ("A B", "c"), ("", "c")):
            with self.assertRaises(ValueError):
                request_head("GET", "/", [(name, value)])
        self.assertTrue(Head(200, {}).keeps_connection)


class Sse(unittest.TestCase):
    DATA = ("id: 1\ndata: {\"a\":\ndata: 1}\n\n: a comment\n\nid: 2\nevent: gap\ndata: é\r\n\r\n"
            "id: 3\n\ndata: never dispatched").encode()

    def test_messages_come_whole_whatever_the_pieces(self):
        for step in (1, 2, 7, 1000):
            parser = SseParser()
            found = [m for i in range(0, len(self.DATA), step)
                     for m in parser.feed(self.DATA[i:i + step])]
            self.assertEqual([(m.event, m.data, m.last_id) for m in found],
                             [("message", '{"a":\n1}', "1"), ("gap", "é", "2")])
            self.assertEqual(parser.last_id, "3")


def unmasked(opcode, payload, fin=0x80):
    size = len(payload)
    head = bytes([fin | opcode, size]) if size < 126 else \
        bytes([fin | opcode, 126]) + size.to_bytes(2, "big") if size < 65536 else \
        bytes([fin | opcode, 127]) + size.to_bytes(8, "big")
    return head + payload


class WebSocket(unittest.TestCase):
    def test_frames_come_whole_whatever_the_pieces(self):
        data = (unmasked(1, b"x" * 70000) + unmasked(1, b"a", fin=0) + unmasked(9, b"ping")
                + unmasked(0, b"b") + unmasked(1, b"y" * 300) + unmasked(8, b"\x03\xe9bye cursor=7~5"))
        for step in (1000, 7919, 10**6):
            parser = websocket.FrameParser()
            found = [f for i in range(0, len(data), step) for f in parser.feed(data[i:i + step])]
            self.assertEqual([f.opcode for f in found], [1, 9, 1, 1, 8])
            self.assertEqual([len(f.payload) for f in found], [70000, 4, 2, 300, 16])
            self.assertEqual(websocket.close_cursor(found[-1].payload), "7~5")
        for without in (b"", b"\x03\xe8", b"\x03\xe9bye"):
            self.assertEqual(websocket.close_cursor(without), "")

    def test_what_breaks_the_protocol_is_refused(self):
        for data in (bytes([0x81, 0x81, 0, 0, 0, 0, 0]), bytes([0xC1, 0]), unmasked(0, b"x"),
                     unmasked(1, b"a", fin=0) + unmasked(1, b"b"), bytes([0x09, 0]),
                     bytes([0x81, 127]) + (1 << 40).to_bytes(8, "big")):
            with self.assertRaises(websocket.FrameError):
                websocket.FrameParser().feed(data)

    def test_frames_of_a_client_are_masked(self):
        for size in (0, 125, 126, 70000):
            frame = websocket.encode(websocket.TEXT, b"x" * size)
            self.assertEqual(frame[1] & 0x80, 0x80)
            mask, payload = frame[-size - 4:-size or None][:4], frame[len(frame) - size:]
            self.assertEqual(bytes(b ^ mask[i % 4] for i, b in enumerate(payload)), b"x" * size)

    def test_the_handshake_is_that_of_the_rfc(self):
        self.assertEqual(websocket.accept_of("dGhlIHNhbXBsZSBub25jZQ=="),
                         "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")


if __name__ == "__main__":
    unittest.main()
