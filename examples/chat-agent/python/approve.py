# SPDX-License-Identifier: Apache-2.0
"""Lists or decides pending approvals: approve.py [yes RUN | no RUN [REASON]]"""
import getpass
import sys
from typing import List

from cairn import Cairn
from cairn.types import ToolResult

from conversation import AGENT


def show(cairn: Cairn) -> None:
    for run in cairn.runs.list(status="waiting_for_input", agent=AGENT):
        for tool in cairn.runs.tools.list(run["id"], open=True):
            print(f"{run['id']} {tool['name']} {tool['input']['arguments']}")


def decide(cairn: Cairn, run_id: str, approved: bool, reason: str) -> None:
    """If two people decide, the first decision counts."""
    decision = {"approved": approved, "by": getpass.getuser(), "reason": reason}
    waiting = cairn.runs.tools.list(run_id, open=True)
    results: List[ToolResult] = [
        {"tool_use_id": t["tool_use_id"], "content": decision} for t in waiting]
    if not results:
        sys.exit(f"run {run_id} is not waiting for approval")
    cairn.runs.tools.answer(run_id, results=results)


def main() -> None:
    with Cairn() as cairn:
        if len(sys.argv) == 1:
            show(cairn)
        elif len(sys.argv) >= 3 and sys.argv[1] in ("yes", "no"):
            decide(cairn, sys.argv[2], sys.argv[1] == "yes", " ".join(sys.argv[3:]))
        else:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
