# SPDX-License-Identifier: Apache-2.0
"""Waiting for runs, and working on them."""
import asyncio
import logging
import threading
import time
import unittest
import uuid

import cairn

from .server import Relay, shared


class Runs(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        self.agent = f"worker-{uuid.uuid4()}"
        self.thread = self.cairn.threads.create(agent=self.agent)["id"]
        logging.getLogger("cairn").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("cairn").setLevel, logging.NOTSET)

    def start(self, **more):
        return self.cairn.threads.runs.create(self.thread, policy="enqueue", **more)["id"]

    def work(self, handler, **more):
        return self.cairn.runs.work(handler, agent=self.agent, max_runs=1, **more)

    def test_what_a_handler_returns_completes_the_run(self):
        run = self.start(user_input="6*7")

        def handle(job):
            job.client.threads.events.append(job.thread_id, kind="progress", run_id=job.id)
            return {"answer": 42, "to": job.run["user_input"]}
        self.assertEqual(self.work(handle), 1)
        done = self.cairn.runs.wait(run, timeout=60)
        self.assertEqual((done["status"], done["final_output"]),
                         ("completed", {"answer": 42, "to": "6*7"}))

    def test_what_it_raises_fails_the_run(self):
        run = self.start()

        def handle(job):
            raise KeyError("the model")
        self.work(handle)
        failed = self.cairn.runs.get(run)
        self.assertEqual((failed["status"], failed["error"]["type"]), ("failed", "KeyError"))

    def test_a_run_fails_once_when_what_becomes_of_it_cannot_be_stored(self):
        def odd(job):
            raise ValueError("a\0\ud800")
        for handler, kind, words in (
                (lambda job: object(), "TypeError", "cannot be stored"),
                (lambda job: "x" * 2 ** 21, "InvalidInput", "cannot be stored.*final_output"),
                (lambda job: "x" * 2 ** 24, "TooLarge", "cannot be stored"),
                (lambda job: "a\0", "InvalidInput", "cannot be stored"),
                (lambda job: "\ud800", "", "cannot be stored"),
                (odd, "ValueError", "^a\ufffd")):
            run = self.start()
            self.work(handler)
            failed = self.cairn.runs.get(run)
            self.assertEqual(failed["status"], "failed", words)
            self.assertIn(kind, failed["error"]["type"])
            self.assertRegex(failed["error"]["message"], words)

    def test_a_run_that_the_handler_has_moved_is_left_alone(self):
        run = self.start()

        def ask(job):
            job.client.runs.update(job.id, status="waiting_for_input", state={"asked": True})
            return "not to be used"
        self.work(ask)
        waiting = self.cairn.runs.wait(run, timeout=60)
        self.assertEqual(waiting["status"], "waiting_for_input")
        self.cairn.runs.input(run, input="yes")
        self.work(lambda job: job.run["input"])
        self.assertEqual(self.cairn.runs.wait(run, timeout=60)["final_output"], "yes")

    def test_the_lease_is_extended_while_the_handler_runs(self):
        run = self.start()
        # A machine that stands still for longer than a lease loses it: then the next is longer.
        for lease_ms in (2000, 10000, 40000):
            def slow(job, seconds=lease_ms * 1.2 / 1000):
                time.sleep(seconds)
                job.check()
                return "done"
            self.work(slow, lease_ms=lease_ms)
            if self.cairn.runs.get(run)["status"] == "completed":
                break
        self.assertEqual(self.cairn.runs.get(run)["final_output"], "done")

    def test_a_cancelled_run_is_lost_for_its_worker(self):
        run = self.start()

        def handle(job):
            self.cairn.runs.cancel(job.id)
            while not job.is_lost:
                time.sleep(0.02)
            with self.assertRaises(cairn.LeaseLost):
                job.client.runs.update(job.id, state={"late": True})
            job.check()
        self.work(handle, lease_ms=1000)
        self.assertEqual(self.cairn.runs.get(run)["status"], "cancelled")

    def test_an_interrupted_worker_gives_its_run_back(self):
        run = self.start()

        def interrupt(job):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            self.work(interrupt)
        self.assertEqual(self.cairn.runs.get(run)["status"], "queued")

    def test_a_stopped_worker_claims_no_more(self):
        stop = threading.Event()
        first, second = self.start(), self.start()

        def handle(job):
            stop.set()
        self.assertEqual(self.cairn.runs.work(handle, agent=self.agent, stop=stop), 1)
        self.assertEqual(self.cairn.runs.get(first)["status"], "completed")
        self.assertEqual(self.cairn.runs.get(second)["status"], "queued")

    def test_a_wait_ends_when_the_run_does_or_the_time(self):
        run = self.start()
        with self.assertRaisesRegex(cairn.TimedOut, "queued"):
            self.cairn.runs.wait(run, timeout=0.1)
        timer = threading.Timer(0.2, lambda: self.work(lambda job: 1))
        timer.start()
        self.assertEqual(self.cairn.runs.wait(run, timeout=120)["status"], "completed")
        timer.join()
        with self.assertRaises(cairn.NotFound):
            self.cairn.runs.wait(str(uuid.uuid4()))

    def test_a_wait_ends_in_time_when_nothing_answers(self):
        relay = Relay(shared().port)
        self.addCleanup(relay.close)
        run = self.start()
        threading.Timer(0.3, lambda: setattr(relay, "frozen", True)).start()
        begun = time.monotonic()
        with cairn.Cairn(relay.url) as client, self.assertRaisesRegex(cairn.TimedOut, "queued"):
            client.runs.wait(run, timeout=1)
        self.assertLess(time.monotonic() - begun, 50)

    def test_an_async_worker_does_the_same(self):
        done, failing = self.start(user_input="a"), self.start(user_input="b")

        async def handle(job):
            await job.client.runs.update(job.id, state={"seen": True})
            if job.run["user_input"] == "b":
                raise ValueError("b")
            return job.run["user_input"]

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                await client.runs.work(handle, agent=self.agent, max_runs=2)
                self.assertEqual((await client.runs.wait(done))["final_output"], "a")
                self.assertEqual((await client.runs.wait(failing))["status"], "failed")
        asyncio.run(main())

    def test_an_async_handler_is_cancelled_with_its_lease_and_with_its_task(self):
        run = self.start()
        begun, ended = [], []

        async def handle(job):
            begun.append(job.id)
            try:
                if not ended:
                    await job.client.runs.cancel(job.id)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                ended.append(job.is_lost)
                raise

        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                await client.runs.work(handle, agent=self.agent, max_runs=1, lease_ms=1000)
                self.assertEqual(ended, [True])
                given_back = self.start()
                task = asyncio.ensure_future(client.runs.work(handle, agent=self.agent))
                while given_back not in begun:
                    await asyncio.sleep(0.02)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task
                self.assertEqual(ended, [True, False])
                self.assertEqual((await client.runs.get(given_back))["status"], "queued")
        asyncio.run(main())
        self.assertEqual(self.cairn.runs.get(run)["status"], "cancelled")


if __name__ == "__main__":
    unittest.main()
