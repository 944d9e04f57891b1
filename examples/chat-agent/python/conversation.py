# SPDX-License-Identifier: Apache-2.0
"""Creates the agent, the thread and its participants if they do not exist."""
from typing import Literal

from cairn import Cairn, Conflict
from cairn.types import Participant, Thread

from model import SCRIPTED_MODEL
from tools import TOOLS

AGENT = "chat-agent"
PROMPT = "You are a helpful assistant. Use the tools that you have. Be brief."


def ensure_agent(cairn: Cairn) -> str:
    """Returns the id of the agent. The first worker or client creates it."""
    try:
        names = [tool["function"]["name"] for tool in TOOLS]
        made = cairn.agents.create(name=AGENT, system_prompt=PROMPT, tools=names)
        # The price of a million tokens. From now on Cairn computes the cost of every run.
        cairn.prices.put(SCRIPTED_MODEL, provider="example", input=1, output=4)
        return made["id"]
    except Conflict:
        return next(iter(cairn.agents.list(name=AGENT)))["id"]


def ensure_conversation(cairn: Cairn, name: str) -> Thread:
    """Returns the conversation with this name, and creates it on first use."""
    return cairn.threads.by_key.ensure(f"chat/{name}", title=name, run_policy="enqueue")


def ensure_participant(cairn: Cairn, thread_id: str, principal: str,
                       role: Literal["user", "assistant"]) -> Participant:
    try:
        return cairn.threads.participants.add(thread_id, principal=principal, role=role)
    except Conflict:  # already a participant
        return next(iter(cairn.threads.participants.list(thread_id, principal=principal)))
