# SPDX-License-Identifier: Apache-2.0
"""The tools of the agent. Each is a function of its arguments and of the call."""
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List

Arguments = Dict[str, Any]

# Tools that a person must approve.
NEEDS_APPROVAL = {"send_mail"}


@dataclass
class Call:
    id: str  # the same if the call is repeated
    report: Callable[[str], None]  # shows progress to everyone who follows the conversation


def desk() -> Path:
    """Returns the directory for notes and mail."""
    place = Path(os.environ.get("CHAT_DESK", "desk"))
    place.mkdir(parents=True, exist_ok=True)
    return place


def weather(arguments: Arguments, call: Call) -> str:
    degrees = sum(arguments["city"].encode()) % 35
    return f"{degrees} °C in {arguments['city']}"


def take_note(arguments: Arguments, call: Call) -> str:
    with open(desk() / "notes.txt", "a", encoding="utf-8") as notes:
        notes.write(arguments["text"] + "\n")
    return f"noted: {arguments['text']}"


def research(arguments: Arguments, call: Call) -> str:
    """A slow tool that reports its progress."""
    seconds = float(os.environ.get("CHAT_RESEARCH_SECONDS", "3"))
    for source in (1, 2, 3):
        call.report(f"reading source {source} of 3 about {arguments['topic']}")
        time.sleep(seconds / 3)
    return f"three sources agree about {arguments['topic']}"


def send_mail(arguments: Arguments, call: Call) -> str:
    """A worker may die after it has sent the mail and before it has stored the result. The id of
    the call then prevents a second mail, like the idempotency key of a payment or mail service."""
    outbox = desk() / "outbox"
    outbox.mkdir(exist_ok=True)
    with open(outbox / f"{call.id}.json", "w", encoding="utf-8") as mail:
        json.dump(arguments, mail, ensure_ascii=False)
    return f"sent to {arguments['to']}"


FUNCTIONS: Dict[str, Callable[[Arguments, Call], str]] = {
    "weather": weather, "take_note": take_note, "research": research, "send_mail": send_mail,
}


def declare(name: str, description: str, *parameters: str) -> Dict[str, Any]:
    return {"type": "function", "function": {
        "name": name, "description": description, "parameters": {
            "type": "object", "required": list(parameters),
            "properties": {p: {"type": "string"} for p in parameters}}}}


# The declarations for the model.
TOOLS: List[Dict[str, Any]] = [
    declare("weather", "The temperature in a city", "city"),
    declare("take_note", "Write something down", "text"),
    declare("research", "Read about a topic; takes a while", "topic"),
    declare("send_mail", "Send a mail; a person is asked first", "to", "body"),
]


def use(name: str, arguments: str, call: Call) -> str:
    """Returns the tool's result for the model. An error is a result too: the model may retry."""
    try:
        return FUNCTIONS[name](json.loads(arguments), call)
    except (KeyError, TypeError, ValueError) as error:
        return f"error: {type(error).__name__}: {error}"
