# SPDX-License-Identifier: Apache-2.0
"""Server-Sent Events, see https://html.spec.whatwg.org/#event-stream-interpretation."""
from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass
class Message:
    event: str
    data: str
    last_id: str


class SseParser:
    """Consumes bytes and returns complete messages. A message ends with an empty line, so a broken
    connection never causes a partial message."""

    def __init__(self) -> None:
        self._buffer = b""
        self._data: List[str] = []
        self._event = ""
        self.last_id = ""

    def feed(self, data: bytes) -> List[Message]:
        self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        messages = []
        for line in lines:
            message = self._line(line.rstrip(b"\r").decode("utf-8", "replace"))
            if message is not None:
                messages.append(message)
        return messages

    def _line(self, line: str) -> "Message | None":
        if line == "":
            return self._dispatch()
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self.last_id = value
        return None

    def _dispatch(self) -> "Message | None":
        data, event = self._data, self._event
        self._data, self._event = [], ""
        return Message(event or "message", "\n".join(data), self.last_id) if data else None
