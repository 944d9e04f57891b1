# SPDX-License-Identifier: Apache-2.0
"""The terminal: python3 chat.py NAME [USER]. Sends each line of input to the conversation NAME.

It follows the conversation live and shows each event once and in order, even if the connection or
the server fails in between.
"""
import getpass
import sys
import threading
from typing import Any, Dict, Mapping, Set

from cairn import Cairn
from cairn.types import Event, Participant, Run, Thread

from conversation import ensure_agent, ensure_conversation, ensure_participant


class Terminal:
    def __init__(self, cairn: Cairn, thread: Thread, me: Participant) -> None:
        self.cairn, self.thread_id, self.me = cairn, thread["id"], me
        self.names: Dict[str, str] = {}  # by the ids of participants
        self.ended: Set[str] = set()  # runs
        self.news = threading.Condition()

    def show_history(self) -> int:
        """Prints all messages. Returns the number of the last one, where following starts."""
        seen = 0
        for message in self.cairn.threads.messages.list(self.thread_id, after=0, type="chat"):
            print(f"{self.name_of(message)}: {message['content']}")
            seen = message["seq"]
        return seen

    def name_of(self, message: Mapping[str, Any]) -> str:
        """Reads the participants again when a new one sends a message."""
        if message["sender_role"] != "user":
            return "agent"
        if message["sender_id"] not in self.names:
            people = self.cairn.threads.participants.list(self.thread_id)
            self.names = {one["id"]: one["name"] for one in people}
        return self.names.get(message["sender_id"], "unknown")

    def follow(self, after: int) -> None:
        for event in self.cairn.threads.events.follow(self.thread_id, after=after):
            self.show(event)

    def show(self, event: Event) -> None:
        kind, payload, run_id = event["kind"], event["payload"] or {}, event["run_id"]
        if kind == "message.created" and payload["sender_id"] != self.me["id"]:
            print(f"{self.name_of(payload)}: {payload['content']}", flush=True)
        elif kind == "progress":
            print(f"  … {event['text']}", flush=True)
        elif kind == "tool.awaited":
            for tool in payload["tools"]:
                print(f"  {tool['name']} waits for approval: approve.py yes {run_id}", flush=True)
        elif payload.get("to") in ("completed", "failed", "cancelled") and run_id:
            self.show_end(self.cairn.runs.get(run_id))
            with self.news:
                self.ended.add(run_id)
                self.news.notify_all()

    def show_end(self, run: Run) -> None:
        usage = run["total_usage"]
        tokens = usage["input_tokens"] + usage["output_tokens"]
        cost = "no price" if usage["cost_usd"] is None else f"${usage['cost_usd']:.6f}"
        why = f" {run['error']['message']}" if run["error"] else ""
        print(f"  [{run['status']}{why}: {tokens} tokens, {cost}]", flush=True)

    def say(self, text: str) -> str:
        message = self.cairn.threads.messages.create(
            self.thread_id, content=text, sender_id=self.me["id"])
        run = self.cairn.agents.runs.create(
            ensure_agent(self.cairn), thread_id=self.thread_id, input={"message": text},
            message=False, metadata={"message_id": message["id"]})
        return run["run_id"]

    def wait_for(self, run_id: str) -> None:
        with self.news:
            self.news.wait_for(lambda: run_id in self.ended)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("chat.py NAME [USER]")
    name, user = [*sys.argv[1:], getpass.getuser()][:2]
    with Cairn() as cairn:
        thread = ensure_conversation(cairn, name)
        me = ensure_participant(cairn, thread["id"], f"user:{user}", "user")
        terminal = Terminal(cairn, thread, me)
        seen = terminal.show_history()
        threading.Thread(target=terminal.follow, args=(seen,), daemon=True).start()
        for line in sys.stdin:
            if line.strip():
                terminal.wait_for(terminal.say(line.strip()))


if __name__ == "__main__":
    main()
