# SPDX-License-Identifier: Apache-2.0
"""The model takes messages and tools and returns one message, as in OpenAI's chat completions.

Without OPENAI_BASE_URL the model is a deterministic script that needs no key.
"""
import json
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Callable, Dict, List

Message = Dict[str, Any]

SCRIPTED_MODEL = "scripted-1"
TIMEOUT_S = 120


@dataclass
class Answer:
    message: Message
    model: str
    provider: str
    input_tokens: int
    output_tokens: int


class ModelFailed(Exception):
    pass


Model = Callable[[List[Message], List[Dict[str, Any]]], Answer]


def choose_model() -> Model:
    return endpoint if os.environ.get("OPENAI_BASE_URL") else scripted


# --- Any endpoint with OpenAI's chat completions API -----------------------------------------


def endpoint(messages: List[Message], tools: List[Dict[str, Any]]) -> Answer:
    base = os.environ["OPENAI_BASE_URL"].rstrip("/")
    model = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
    body = {"model": model, "messages": messages, "tools": tools}
    request = urllib.request.Request(
        f"{base}/chat/completions", json.dumps(body).encode(),
        {"Content-Type": "application/json",
         "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return read_answer(json.load(answer), model)
    except urllib.error.HTTPError as error:
        raise ModelFailed(f"the model answered {error.code}: {error.read(500).decode()}") from error
    except (OSError, ValueError, KeyError, IndexError) as error:
        raise ModelFailed(f"the model did not answer: {error!r}") from error


def read_answer(answer: Dict[str, Any], model: str) -> Answer:
    said = answer["choices"][0]["message"]
    message: Message = {"role": "assistant", "content": said.get("content")}
    if said.get("tool_calls"):
        message["tool_calls"] = said["tool_calls"]
    usage = answer.get("usage") or {}
    return Answer(message, answer.get("model", model), "openai",
                  usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


# --- A script in place of a model --------------------------------------------------------------

# "note milk; research cheese; mail bob@example.com: hello; weather in Oslo"
REQUESTS = [
    (re.compile(r"weather in (?P<city>.+)"), "weather"),
    (re.compile(r"note (?P<text>.+)"), "take_note"),
    (re.compile(r"research (?P<topic>.+)"), "research"),
    (re.compile(r"mail (?P<to>\S+): (?P<body>.+)"), "send_mail"),
]


def scripted(messages: List[Message], tools: List[Dict[str, Any]]) -> Answer:
    start = max(i for i, m in enumerate(messages) if m["role"] == "user")
    results = [m["content"] for m in messages[start:] if m["role"] == "tool"]
    calls = [] if results else calls_for(messages[start]["content"])
    message: Message = {"role": "assistant", "content": None if calls else say(messages, results)}
    if calls:
        message["tool_calls"] = calls
    return Answer(message, SCRIPTED_MODEL, "example", words(messages), words([message]))


def calls_for(text: str) -> List[Dict[str, Any]]:
    calls: List[Dict[str, Any]] = []
    for part in text.split(";"):
        for pattern, tool in REQUESTS:
            found = pattern.fullmatch(part.strip())
            if found:
                arguments = json.dumps(found.groupdict(), ensure_ascii=False)
                calls.append({"id": f"call_{len(calls)}", "type": "function",
                              "function": {"name": tool, "arguments": arguments}})
    return calls


def say(messages: List[Message], results: List[str]) -> str:
    if results:
        return f"Done: {'; '.join(results)}."
    asked = [m["content"] for m in messages if m["role"] == "user"]
    if asked[-1] == "what did I say first?":
        return f"You said: {asked[0]}"
    return f"You said {len(asked)} things so far."


def words(messages: List[Message]) -> int:
    return len(json.dumps(messages).split())
