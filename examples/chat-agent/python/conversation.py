# SPDX-License-Identifier: Apache-2.0
"""Who talks where: the agent, and a thread with its participants."""
from typing import Literal

from cairn import Cairn, Conflict
from cairn.types import Participant, Thread

from model import SCRIPTED_MODEL
from tools import TOOLS

AGENT = "chat-agent"
PROMPT = "You are a helpful assistant. Use the tools that you have. Be brief."


def ensure_agent(cairn: Cairn) -> str:
    """The id of the agent. Whoever comes first makes it: a worker or a client."""
    try:
        names = [tool["function"]["name"] for tool in TOOLS]
        made = cairn.agents.create(name=AGENT, system_prompt=PROMPT, tools=names)
        # What a million tokens cost. From here on every run knows what it cost.
        cairn.prices.put(SCRIPTED_MODEL, provider="example", input=1, output=4)
        return made["id"]
    except Conflict:
        return next(iter(cairn.agents.list(name=AGENT)))["id"]


def ensure_conversation(cairn: Cairn, name: str) -> Thread:
    """The conversation of this name, which begins when it is first asked for."""
    return cairn.threads.by_key.ensure(f"chat/{name}", title=name, run_policy="enqueue")


def ensure_participant(cairn: Cairn, thread_id: str, principal: str,
                       role: Literal["user", "assistant"]) -> Participant:
    try:
        return cairn.threads.participants.add(thread_id, principal=principal, role=role)
    except Conflict:  # it takes part already
        return next(iter(cairn.threads.participants.list(thread_id, principal=principal)))
