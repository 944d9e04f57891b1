# SPDX-License-Identifier: Apache-2.0
"""What the agent can do. Each tool is a plain function of its arguments and of the call."""
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List

Arguments = Dict[str, Any]

# These wait until a person has said yes.
NEEDS_APPROVAL = {"send_mail"}


@dataclass
class Call:
    id: str  # the same whenever the call is made again
    tell: Callable[[str], None]  # shows progress to whoever follows the conversation


def desk() -> Path:
    """Where notes and mail go."""
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
    """Takes its time, and tells how far it is."""
    seconds = float(os.environ.get("CHAT_RESEARCH_SECONDS", "3"))
    for source in (1, 2, 3):
        call.tell(f"reading source {source} of 3 about {arguments['topic']}")
        time.sleep(seconds / 3)
    return f"three sources agree about {arguments['topic']}"


def send_mail(arguments: Arguments, call: Call) -> str:
    """A worker may die after the mail went out and before that was written down. The call's id goes
    along, so that sending it again does nothing: what a payment or mail service calls an
    idempotency key."""
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


# As the model is told of them.
TOOLS: List[Dict[str, Any]] = [
    declare("weather", "The temperature in a city", "city"),
    declare("take_note", "Write something down", "text"),
    declare("research", "Read about a topic; takes a while", "topic"),
    declare("send_mail", "Send a mail; a person is asked first", "to", "body"),
]


def use(name: str, arguments: str, call: Call) -> str:
    """What the tool answers, for the model. A mistake is an answer too: the model may try again."""
    try:
        return FUNCTIONS[name](json.loads(arguments), call)
    except (KeyError, TypeError, ValueError) as error:
        return f"error: {type(error).__name__}: {error}"
