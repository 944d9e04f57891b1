# SPDX-License-Identifier: Apache-2.0
"""The worker: python3 agent.py. Start any number of workers, and kill them at any time.

The state of a run is in Cairn only. The model's messages are a checkpoint, tool results since then
are the checkpoint's pending writes, and human decisions are the results of awaited tools. The next
worker that claims the run, in either language, continues from there.
"""
import logging
import os
import signal
import time
from typing import Any, Dict, List, Optional

from cairn import Cairn, Job, NotFound
from cairn.types import ToolAsked

from conversation import AGENT, PROMPT, ensure_agent, ensure_participant
from model import Message, Model, choose_model
from tools import NEEDS_APPROVAL, TOOLS, Call, use

LEASE_MS = int(os.environ.get("CHAT_LEASE_MS", "15000"))
MAX_TURNS = 20


class GaveUp(Exception):
    pass


class Conversation:
    """Works on one run, turn by turn. The job's client sends the fencing token of the lease with
    every write, so a worker that lost its lease cannot overwrite its successor's data."""

    def __init__(self, job: Job, model: Model) -> None:
        self.job, self.cairn, self.model = job, job.client, model
        self.run_id, self.thread_id = job.id, job.thread_id
        self.messages: List[Message] = []
        self.results: Dict[str, Message] = {}  # results of this turn, by the id of the tool call
        self.point: Optional[str] = None  # the newest checkpoint

    def work(self) -> Optional[str]:
        """Returns the answer, or None after asking a person: their decision puts the run back into
        the queue. The last message alone determines the next action."""
        self.load()
        for _ in range(MAX_TURNS):
            last = self.messages[-1]
            if last["role"] != "assistant":
                self.ask_model()
            elif not last.get("tool_calls"):
                return self.answer(last["content"] or "")
            elif not self.use_tools(last["tool_calls"]):
                return None
        raise GaveUp(f"no answer after {MAX_TURNS} turns")

    # --- State --------------------------------------------------------------------------------

    def load(self) -> None:
        try:
            latest = self.cairn.threads.checkpoints.latest(self.thread_id)
        except NotFound:
            return self.keep([{"role": "system", "content": PROMPT}, self.question()])
        self.point = latest["id"]
        self.messages = latest["channel_values"]["messages"]
        self.results = {w["task_id"]: w["value"] for w in latest["pending_writes"]}
        if latest["run_id"] != self.run_id:
            self.keep([*self.left_open(), self.question()])

    def question(self) -> Message:
        return {"role": "user", "content": self.job.run.get("user_input") or ""}

    def left_open(self) -> List[Message]:
        """Results for a turn that an earlier run did not finish: models require a result for every
        tool call."""
        calls = self.messages[-1].get("tool_calls") or []
        return [self.results.get(c["id"]) or result_of(c, "not done") for c in calls]

    def keep(self, new: List[Message]) -> None:
        """Puts a checkpoint that appends the new messages; only these are sent and stored."""
        state: Dict[str, Any] = (
            {"channel_values": {"messages": new}} if self.point is None
            else {"changes": {"append": {"messages": new}}})
        made = self.cairn.threads.checkpoints.put(
            self.thread_id, run_id=self.run_id, expected_latest=self.point, **state)
        self.point, self.results = made["id"], {}
        self.messages.extend(new)

    def keep_result(self, call: Dict[str, Any], text: str) -> None:
        """Stores the result at once, as a pending write, so that the tool is never called again."""
        self.results[call["id"]] = result_of(call, text)
        assert self.point is not None
        self.cairn.threads.checkpoints.writes.put(
            self.thread_id, self.point, task_id=call["id"],
            writes=[{"channel": "messages", "value": self.results[call["id"]]}])

    def log_step(self, action: str, started: float, **step: Any) -> None:
        self.cairn.runs.steps.append(
            self.run_id, action_type=action, step_number=len(self.messages),
            duration_ms=round((time.monotonic() - started) * 1000), **step)

    def report(self, text: str) -> None:
        self.cairn.threads.events.append(
            self.thread_id, kind="progress", text=text, run_id=self.run_id)

    # --- Actions ------------------------------------------------------------------------------

    def ask_model(self) -> None:
        started = time.monotonic()
        answer = self.model(self.messages, TOOLS)
        for i, call in enumerate(answer.message.get("tool_calls") or []):
            # Assign unique ids: some endpoints start with call_0 in every response.
            call["id"] = f"call_{len(self.messages)}_{i}"
        # Record the cost first, because it is spent even if the next write fails.
        self.log_step(
            "api_response_received", started, model=answer.model, provider=answer.provider,
            usage={"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens})
        self.keep([answer.message])

    def use_tools(self, calls: List[Dict[str, Any]]) -> bool:
        """Returns False if the turn has to wait for a decision of a person."""
        todo = [c for c in calls if c["id"] not in self.results]
        for call in todo:
            if call["function"]["name"] not in NEEDS_APPROVAL:
                self.use_tool(call)
        risky = [c for c in todo if c["function"]["name"] in NEEDS_APPROVAL]
        if risky and not self.decided(risky):
            return False
        self.keep([self.results[c["id"]] for c in calls])
        return True

    def decided(self, risky: List[Dict[str, Any]]) -> bool:
        said = {t["tool_use_id"]: t["content"] for t in self.cairn.runs.tools.list(self.run_id)}
        unasked = [c for c in risky if c["id"] not in said]
        if unasked:
            self.cairn.runs.tools.ask(
                self.run_id, tools=[question_about(c) for c in unasked])
            return False
        for call in risky:
            decision = said[call["id"]]
            if decision["approved"]:
                self.use_tool(call)
            else:
                reason = decision.get("reason") or "no reason given"
                self.keep_result(call, f"refused by {decision['by']}: {reason}")
        return True

    def use_tool(self, call: Dict[str, Any]) -> None:
        self.job.check()  # raises if another worker has the run
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        self.report(f"{name} {arguments}")
        started = time.monotonic()
        text = use(name, arguments, Call(f"{self.run_id}-{call['id']}", self.report))
        self.keep_result(call, text)
        failed = text.startswith("error:")
        self.log_step("tool_execution", started, tool_name=name, tool_use_id=call["id"],
                      outcome="error" if failed else "success", action_data={"output": text})

    def answer(self, text: str) -> str:
        principal = f"agent:{self.job.run['agent_id']}"
        me = ensure_participant(self.cairn, self.thread_id, principal, "assistant")
        # The key prevents a second message if this worker dies right after sending the first.
        self.cairn.threads.messages.create(
            self.thread_id, content=text, sender_id=me["id"], run_id=self.run_id,
            idempotency_key=f"answer-{self.run_id}")
        return text


def result_of(call: Dict[str, Any], text: str) -> Message:
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def question_about(call: Dict[str, Any]) -> ToolAsked:
    function = call["function"]
    return {"tool_use_id": call["id"], "name": function["name"], "side": "frontend",
            "input": {"arguments": function["arguments"]}}


def stop(*_: object) -> None:
    raise SystemExit(0)  # returns the current run to the queue


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    model = choose_model()
    with Cairn() as cairn:
        ensure_agent(cairn)
        logging.info("%d works for %s", os.getpid(), AGENT)
        # Claims runs one by one and renews their leases. The return value of work() completes the
        # run, an exception fails it; None leaves a run that waits for a person unchanged.
        cairn.runs.work(
            lambda job: Conversation(job, model).work(), agent=AGENT, lease_ms=LEASE_MS)


if __name__ == "__main__":
    main()
