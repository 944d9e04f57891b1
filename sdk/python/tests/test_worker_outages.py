# SPDX-License-Identifier: Apache-2.0
"""Workers when responses are lost, or a proxy is in front of an unreachable server."""
import asyncio
import http.client
import logging
import threading
import unittest
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cairn

from .server import same_on_every_engine, shared


class Proxy:
    """An HTTP proxy. `refuse` = n returns 502 for the next n requests; `lose`,
    (method, path) -> bool, is called for each request before it is sent, and true loses it."""

    def __init__(self, port):
        self.refuse = 0
        self.lose = lambda method, path: False
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self, status, headers, body):
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in ("connection", "content-length"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if proxy.refuse:
                    proxy.refuse -= 1
                    self.answer(502, [], b"bad gateway")
                    return
                if proxy.lose(self.command, self.path):
                    self.close_connection = True
                    return
                far = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
                far.request(self.command, self.path, body or None, dict(self.headers))
                answer = far.getresponse()
                data = answer.read()
                far.close()
                self.answer(answer.status, answer.getheaders(), data)
            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = pass_on
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@same_on_every_engine("answers that get lost")
class Outages(unittest.TestCase):
    def setUp(self):
        self.proxy = Proxy(shared().port)
        self.addCleanup(self.proxy.close)
        self.direct = cairn.Cairn(shared().url)
        self.addCleanup(self.direct.close)
        self.agent = f"outage-{uuid.uuid4()}"
        self.thread = self.direct.threads.create(agent=self.agent)["id"]
        logging.getLogger("cairn").setLevel(logging.CRITICAL)
        self.addCleanup(logging.getLogger("cairn").setLevel, logging.NOTSET)

    def start(self):
        return self.direct.threads.runs.create(self.thread, policy="enqueue")["id"]

    def lose(self, count, method, end):
        left = [count]

        def lose(asked, path):
            hit = left[0] > 0 and asked == method and path.split("?")[0].endswith(end)
            left[0] -= hit
            return hit
        self.proxy.lose = lose

    def work(self, handler, is_async, **more):
        async def main():
            async def handle(job):
                return await asyncio.get_running_loop().run_in_executor(None, handler, job)
            async with cairn.AsyncCairn(self.proxy.url, max_retries=1) as client:
                return await client.runs.work(handle, agent=self.agent, wait=1, **more)
        if is_async:
            return asyncio.run(main())
        with cairn.Cairn(self.proxy.url, max_retries=1) as client:
            return client.runs.work(handler, agent=self.agent, wait=1, **more)

    def test_the_end_of_a_run_that_was_lost_on_its_way_is_sent_again(self):
        for is_async in (False, True):
            run, handled = self.start(), []
            self.lose(1, "PATCH", run)

            def handle(job):
                handled.append(job.id)
                return "once"
            self.work(handle, is_async, max_runs=1)
            done = self.direct.runs.get(run)
            self.assertEqual((done["status"], done["final_output"], handled),
                             ("completed", "once", [run]))

    def test_an_unanswered_heartbeat_does_not_lose_the_run(self):
        for is_async in (False, True):
            run = self.start()
            # A slow machine may lose a short lease: then the next is longer.
            for lease_ms in (6000, 30000, 90000):
                beats = threading.Event()
                self.lose(2, "POST", "/heartbeat")
                lose = self.proxy.lose

                def watch(method, path, lose=lose, beats=beats):
                    hit = lose(method, path)
                    if path.endswith("/heartbeat") and not hit:
                        beats.set()
                    return hit
                self.proxy.lose = watch

                def handle(job, beats=beats):
                    self.assertTrue(beats.wait(180))
                    return job.is_lost
                self.work(handle, is_async, max_runs=1, lease_ms=lease_ms)
                done = self.direct.runs.get(run)
                if done["status"] == "completed":
                    break
            self.assertEqual((done["status"], done["final_output"]), ("completed", False))

    def test_a_worker_outlasts_a_proxy_without_a_server(self):
        for is_async in (False, True):
            first, second = self.start(), []

            def handle(job):
                if not second:
                    second.append(self.start())
                    outage.start()
                return "done"

            def begin():
                self.direct.runs.wait(first)
                self.proxy.refuse = 5  # more than the attempts of one call
            outage = threading.Thread(target=begin)
            self.work(handle, is_async, max_runs=2)
            outage.join()
            self.assertEqual(self.direct.runs.get(second[0])["status"], "completed")


if __name__ == "__main__":
    unittest.main()
