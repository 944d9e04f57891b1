# SPDX-License-Identifier: Apache-2.0
"""Runs the migration programs of the guides, interrupted after each write and restarted."""
import os
import re
import tempfile
import unittest
from unittest import mock

import cairn
from cairn._calls import Caller

from .server import ROOT, Server, same_on_every_engine


class Stopped(BaseException):
    pass


def program_of(guide):
    """Returns the definitions of a guide, without its calls to a server."""
    text = (ROOT / "docs" / guide).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    members = {}
    exec(blocks[0], members)
    exec(blocks[1].split("\ncairn = Cairn(")[0], members)
    return members


def stop_after(writes):
    """Interrupts the program after a write, before it sees the response."""
    call, left = Caller.call, [writes]

    def counted(self, operation, path, **more):
        answer = call(self, operation, path, **more)
        if operation.method != "GET":
            left[0] -= 1
            if left[0] == 0:
                raise Stopped
        return answer
    return mock.patch.object(Caller, "call", counted)


def all_of(client):
    """Returns the moved data, without ids and times."""
    found = [(a["name"], a["kind"]) for a in client.agents.list()]
    for thread in client.threads.list():
        at = thread["id"]
        found += [(m["content"], m["sender_role"]) for m in client.threads.messages.list(at)]
        found += [(p["name"], p["active"]) for p in client.threads.participants.list(at)]
        for run in client.threads.runs.list(at):
            steps = client.runs.steps.list(run["id"])
            found.append((run["agent"], run["status"], [s["action_type"] for s in steps]))
        for entry in client.threads.history.list(at, include="messages"):
            found.append([m["role"] for m in entry["messages"]])
        for file in client.threads.files.list(at):
            versions = client.threads.files.versions.list(at, file["name"])
            found.append((file["name"], [v["sha256"] for v in versions]))
    return sorted(map(repr, found))


@same_on_every_engine("programs")
class Guides(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-python-")
        self.addCleanup(scratch.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(scratch.name)
        self.server = Server()
        self.addCleanup(self.server.end)
        with cairn.Cairn(self.server.url) as client:
            key = client.keys.create(name="operator", scopes=["operator"])["secret"]
        self.operator = cairn.Cairn(self.server.url, key)
        self.addCleanup(self.operator.close)

    def moved(self, name, move, stop=0):
        """Returns the content of a new tenant, and whether the program was interrupted."""
        key = self.operator.tenants.create(name=name)["key"]["secret"]
        stopped = False
        with cairn.Cairn(self.server.url, key) as client:
            try:
                with stop_after(stop):
                    move(client)
            except Stopped:
                stopped = True
            move(client)
            return all_of(client), stopped

    def check(self, move):
        expected, _ = self.moved("whole", move)
        self.assertGreater(len(expected), 5)
        writes = 0
        while True:
            writes += 1
            found, stopped = self.moved(f"stopped-{writes}", move, writes)
            self.assertEqual(found, expected, f"interrupted after write {writes}")
            if not stopped:
                break
        self.assertGreater(writes, 5)

    def test_agno(self):
        program = program_of("moving-from-agno.md")
        self.addCleanup(program["agno"].close)
        self.check(program["move"])

    def test_semantic_workbench(self):
        program = program_of("moving-from-semantic-workbench.md")
        self.check(lambda client: program["move"](client, "export.zip"))
        twins = [{"assistant_id": name, "name": "Twin", "meta_data": {}} for name in "ab"]
        ids = program["move_assistants"](self.operator, {"Assistant": twins})
        self.assertEqual(len(set(ids.values())), 2)
        self.assertEqual(program["move_assistants"](self.operator, {"Assistant": twins}), ids)


if __name__ == "__main__":
    unittest.main()
