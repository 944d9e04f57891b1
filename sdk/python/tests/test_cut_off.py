# SPDX-License-Identifier: Apache-2.0
"""A worker whose handler could not reach the server."""
import asyncio
import time
import unittest
import uuid

import cairn

from .server import shared

NOWHERE = "http://127.0.0.1:1"


class CutOff(unittest.TestCase):
    def setUp(self):
        self.agent = f"cut-off-{uuid.uuid4()}"
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        thread = self.cairn.threads.create(agent=self.agent)
        self.run_id = self.cairn.threads.runs.create(thread["id"])["id"]
        self.tries = 0

    def check(self):
        run = self.cairn.runs.get(self.run_id)
        self.assertEqual((run["status"], run["final_output"], self.tries), ("completed", 2, 2))

    def test_gives_its_run_back(self):
        def handle(job):
            self.tries += 1
            if self.tries == 1:
                with cairn.Cairn(NOWHERE, max_retries=0) as nowhere:
                    nowhere.health()
            return self.tries
        with self.assertLogs("cairn", "WARNING") as logged:
            self.cairn.runs.work(handle, agent=self.agent, max_runs=2)
        self.assertIn("returns to the queue", logged.output[0])
        self.check()

    def test_is_not_asked_again_at_once(self):
        begun = time.monotonic()

        def handle(job):
            raise cairn.TimedOut("what it waits for")
        with self.assertLogs("cairn", "WARNING"):
            self.cairn.runs.work(handle, agent=self.agent, max_runs=2)
        self.assertGreaterEqual(time.monotonic() - begun, 0.3)

    def test_gives_its_run_back_when_it_is_async(self):
        async def handle(job):
            self.tries += 1
            if self.tries == 1:
                async with cairn.AsyncCairn(NOWHERE, max_retries=0) as nowhere:
                    await nowhere.health()
            return self.tries

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                await client.runs.work(handle, agent=self.agent, max_runs=2)
        with self.assertLogs("cairn", "WARNING"):
            asyncio.run(main())
        self.check()
