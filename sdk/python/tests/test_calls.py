# SPDX-License-Identifier: Apache-2.0
"""Operations, pages, arguments and errors, over HTTP."""
import asyncio
import datetime
import inspect
import os
import socket
import threading
import unittest
import uuid
from unittest import mock

import cairn
from cairn._generated import async_resources, operations, resources

from .server import shared


def client_of(test, *args, **more):
    client = cairn.Cairn(*args, **more)
    test.addCleanup(client.close)
    return client


def method_of(client, name):
    *groups, last = name.split(".")
    for group in groups:
        client = getattr(client, group)
    return getattr(client, last)


class EveryOperation(unittest.TestCase):
    def test_is_there_in_both_clients(self):
        clients = (cairn.Cairn(shared().url), cairn.AsyncCairn(shared().url))
        for operation in operations.ALL:
            if operation.answer in ("sse", "websocket"):
                continue
            for client in clients:
                self.assertTrue(callable(method_of(client, operation.name)), operation.name)

    def test_has_the_same_arguments_in_both_clients(self):
        for name, blocking in vars(resources).items():
            awaited = getattr(async_resources, f"Async{name}", None)
            if not inspect.isclass(blocking) or awaited is None:
                continue
            for method, function in inspect.getmembers(blocking, inspect.isfunction):
                if not method.startswith("_") and method != "work":  # a task is cancelled instead
                    other = getattr(awaited, method)
                    self.assertEqual(list(inspect.signature(function).parameters),
                                     list(inspect.signature(other).parameters))

    def test_is_one_that_the_server_has(self):
        document = client_of(self, shared().url).openapi()
        known = {(m.upper(), p) for p, methods in document["paths"].items() for m in methods}
        for operation in operations.ALL:
            self.assertIn((operation.method, operation.path), known)


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cairn = cairn.Cairn(shared().url)
        cls.addClassCleanup(cls.cairn.close)

    def test_none_is_null_and_unset_is_left_out(self):
        thread = self.cairn.threads.create(title="one", agent="planner")
        changed = self.cairn.threads.update(thread["id"], title=None)
        self.assertEqual((changed["title"], changed["agent"]), (None, "planner"))

    def test_a_json_patch_takes_the_place_of_members(self):
        thread = self.cairn.threads.create(context={"a": 1})
        patch = [{"op": "add", "path": "/context/b", "value": 2}]
        changed = self.cairn.threads.update(thread["id"], json_patch=patch)
        self.assertEqual(changed["context"], {"a": 1, "b": 2})
        with self.assertRaisesRegex(TypeError, "not both"):
            self.cairn.threads.update(thread["id"], title="x", json_patch=patch)

    def test_one_and_many_are_answered_as_such(self):
        thread = self.cairn.threads.create()
        one = self.cairn.threads.events.append(thread["id"], kind="progress", text="é…")
        many = self.cairn.threads.events.append(
            thread["id"], events=[{"kind": "progress"}, {"kind": "acme.note", "payload": None}])
        self.assertEqual((one["text"], many["count"]), ("é…", 2))

    def test_a_path_takes_any_name(self):
        agent = self.cairn.agents.create(name=f"a-{uuid.uuid4()}")["id"]
        for name in ("a/b", "..", "ü %?#", "x" * 200):
            self.cairn.agents.states.put(agent, name, data={"n": 1}, if_none_match="*")
            self.assertEqual(self.cairn.agents.states.get(agent, name)["name"], name)
        with self.assertRaisesRegex(ValueError, "thread_id must not be empty"):
            self.cairn.threads.get("")

    def test_times_may_be_datetimes(self):
        before = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=5)
        thread = self.cairn.threads.create(title=f"t-{uuid.uuid4()}")
        found = self.cairn.threads.list(title=thread["title"], created_after=before)
        self.assertEqual([t["id"] for t in found], [thread["id"]])
        self.assertEqual(self.cairn.threads.list(
            title=thread["title"], created_before=before).data, [])

    def test_a_keyword_of_python_is_written_with_an_underscore(self):
        thread = self.cairn.threads.create()["id"]
        for text in ("one\n", "two\n"):
            self.cairn.threads.files.upload(thread, "a.txt", text)
        difference = self.cairn.threads.files.diff(thread, "a.txt", from_=1, to=2)
        self.assertEqual(difference["from"], 1)
        as_text = self.cairn.threads.files.diff(thread, "a.txt", format="text")
        self.assertIn("+two", as_text)

    def test_nothing_to_claim_is_none(self):
        self.assertIsNone(self.cairn.runs.claim(worker="w", agent=f"nobody-{uuid.uuid4()}"))

    def test_an_etag_is_a_number_or_a_text(self):
        thread = self.cairn.threads.create()
        for tag in (thread["version"], f'"{thread["version"]}"', str(thread["version"])):
            with self.assertRaises(cairn.NotModified):
                self.cairn.threads.get(thread["id"], if_none_match=tag)
        self.cairn.threads.files.upload(thread["id"], "f", b"x", if_none_match="*")
        info = self.cairn.threads.files.get(thread["id"], "f")
        self.cairn.threads.files.update(thread["id"], "f", metadata={"a": 1},
                                        if_match=info["revision"])
        with self.assertRaises(cairn.StaleEtag):
            self.cairn.threads.files.update(thread["id"], "f", metadata={},
                                            if_match=info["revision"])

    def test_metrics_are_text(self):
        self.assertIn("cairn_", self.cairn.metrics())

    def test_a_child_process_gets_connections_of_its_own(self):
        thread = self.cairn.threads.create(title="parent")["id"]
        child = os.fork()
        if child == 0:
            try:
                for _ in range(5):
                    assert self.cairn.threads.get(thread)["title"] == "parent"
                os._exit(0)
            finally:
                os._exit(1)
        for _ in range(5):
            self.assertEqual(self.cairn.threads.get(thread)["title"], "parent")
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_threads_share_a_client(self):
        thread = self.cairn.threads.create()["id"]

        def append():
            for _ in range(20):
                self.cairn.threads.events.append(thread, kind="progress")
        workers = [threading.Thread(target=append) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        events = list(self.cairn.threads.events.list(thread, kind="progress", limit=50))
        self.assertEqual(len(events), 160)


class Pages(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url)
        self.addCleanup(self.cairn.close)
        self.agent = f"pages-{uuid.uuid4()}"
        self.titles = [str(i) for i in range(7)]
        for title in self.titles:
            self.cairn.threads.create(title=title, agent=self.agent, metadata={"n": self.agent})

    def test_a_page_is_iterated_to_the_end_of_the_list(self):
        page = self.cairn.threads.list(agent=self.agent, limit=3)
        self.assertEqual((len(page.data), page.has_more), (3, True))
        self.assertIsNotNone(page.next_cursor)
        self.assertEqual([t["title"] for t in page], self.titles[::-1])
        self.assertEqual([len(p.data) for p in page.pages()], [3, 3, 1])
        found = self.cairn.threads.list(metadata={"n": self.agent}, limit=2)
        self.assertEqual(len(list(found)), 7)

    def test_messages_are_read_in_both_directions(self):
        thread = self.cairn.threads.create()["id"]
        sender = self.cairn.threads.participants.add(thread, principal="user:ann", role="user")
        for text in self.titles:
            self.cairn.threads.messages.create(thread, content=text, sender_id=sender["id"])
        newest = self.cairn.threads.messages.list(thread, limit=2)
        oldest = self.cairn.threads.messages.list(thread, limit=2, after="0")
        after = newest.answer["after_cursor"]
        self.assertEqual(self.cairn.threads.messages.list(thread, after=after).data, [])
        told = [m["content"] for m in oldest if m["content"] in self.titles]
        self.assertEqual(told, self.titles)
        self.assertEqual([m["content"] for m in newest if m["content"] in self.titles],
                         self.titles[::-1])

    def test_a_search_of_the_store_is_a_list_too(self):
        space = ["users", str(uuid.uuid4())]
        for key in self.titles:
            self.cairn.store.put(namespace=space, key=key, value={"n": int(key)})
        self.assertEqual(self.cairn.store.get(namespace=space, key="3")["value"], {"n": 3})
        found = self.cairn.store.search(namespace_prefix=space, limit=3, offset=1,
                                        filter={"n": {"$lt": 6}})
        self.assertEqual([item["value"]["n"] for item in found], [4, 3, 2, 1, 0])
        self.assertIn(space, list(self.cairn.store.namespaces(limit=1)))

    def test_async_lists_are_awaited_or_iterated(self):
        async def main():
            async with cairn.AsyncCairn(shared().url) as client:
                page = await client.threads.list(agent=self.agent, limit=3)
                self.assertEqual([t["title"] async for t in page], self.titles[::-1])
                all_of_them = client.threads.list(agent=self.agent, limit=2)
                self.assertEqual([t["title"] async for t in all_of_them], self.titles[::-1])
                self.assertEqual([len(p.data) async for p in client.threads.list(
                    agent=self.agent, limit=5).pages()], [5, 2])
        asyncio.run(main())


class Refusals(unittest.TestCase):
    def setUp(self):
        self.cairn = cairn.Cairn(shared().url, max_retries=0)
        self.addCleanup(self.cairn.close)

    def test_bad_input_names_the_field(self):
        with self.assertRaises(cairn.InvalidInput) as caught:
            self.cairn.threads.create(title="x" * 2000)
        self.assertEqual(caught.exception.status, 422)
        self.assertEqual(caught.exception.errors[0]["pointer"], "/title")
        self.assertIn(caught.exception.request_id, str(caught.exception))
        self.assertFalse(caught.exception.retryable)

    def test_what_is_absent_is_not_found(self):
        with self.assertRaises(cairn.NotFound) as caught:
            self.cairn.threads.get(str(uuid.uuid4()))
        self.assertEqual(caught.exception.code, "not_found")

    def test_conflicts_have_classes_of_their_own(self):
        thread = self.cairn.threads.create()
        with self.assertRaises(cairn.StaleEtag):
            self.cairn.threads.update(thread["id"], title="x", if_match=thread["version"] + 1)
        run = self.cairn.threads.runs.create(thread["id"])
        with self.assertRaises(cairn.RunActive):
            self.cairn.threads.runs.create(thread["id"])
        with self.assertRaises(cairn.TransitionRefused) as caught:
            self.cairn.runs.update(run["id"], status="completed")
        self.assertIn("cancelled", caught.exception.allowed)
        claimed = self.cairn.runs.claim(worker="w", thread_id=thread["id"])
        with self.assertRaises(cairn.LeaseLost):
            self.cairn.runs.heartbeat(run["id"], fencing_token=claimed["fence"] - 1)
        with self.assertRaises(cairn.LeaseRequired):
            self.cairn.runs.update(run["id"], state={"a": 1})

    def test_pruned_events_tell_where_to_go_on(self):
        thread = self.cairn.threads.create()["id"]
        self.cairn.threads.events.append(thread, events=[{"kind": "progress"}] * 5)
        self.cairn.threads.events.prune(thread, through_seq=4)
        with self.assertRaises(cairn.EventsPruned) as caught:
            self.cairn.threads.events.list(thread, after="1")
        self.assertEqual(caught.exception.resume_cursor, "4")

    def test_a_wrong_argument_is_an_error_of_python(self):
        with self.assertRaises(TypeError):
            self.cairn.threads.create(titel="x")
        with self.assertRaises(TypeError):
            self.cairn.threads.create(metadata={"a": object()})
        with self.assertRaises(ValueError):
            self.cairn.threads.create(title="x", headers={"X": "a\r\nB: c"})


class Keys(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = shared("with keys")
        with cairn.Cairn(cls.server.url) as client:
            cls.secret = client.keys.create(name="operator", scopes=["operator"])["secret"]

    def test_a_wrong_key_is_refused_and_never_shown(self):
        wrong = "cairn_" + "w" * 40
        client = client_of(self, self.server.url, wrong)
        with self.assertRaisesRegex(cairn.Authentication, "CAIRN_API_KEY") as caught:
            client.threads.list()
        self.assertNotIn(wrong, repr(client) + str(caught.exception) + repr(caught.exception))
        with self.assertRaises(cairn.Authentication):
            next(client.events.follow())

    def test_a_scope_that_is_missing_is_named(self):
        with cairn.Cairn(self.server.url, self.secret) as operator:
            key = operator.keys.create(name="reader", scopes=["threads:read"])["secret"]
        with cairn.Cairn(self.server.url, key) as reader:
            self.assertFalse(reader.threads.list(title="none").has_more)
            with self.assertRaisesRegex(cairn.PermissionDenied, "threads:write"):
                reader.threads.create()

    def test_the_environment_names_server_and_key(self):
        with mock.patch.dict(os.environ, CAIRN_URL=self.server.url, CAIRN_API_KEY=self.secret):
            self.assertIn("operator", client_of(self).whoami()["scopes"])

    def test_a_principal_can_be_the_clients_default(self):
        with cairn.Cairn(self.server.url, self.secret) as client:
            ann = client.with_options(principal="user:ann")
            self.assertEqual(ann.whoami()["principal"], "user:ann")
            self.assertIsNone(client.whoami()["principal"])
            thread = client.threads.create()["id"]
            made = ann.with_options(principal="user:bob")
            with self.assertRaises(cairn.NotFound):
                made.threads.get(thread)

    def test_a_rate_limit_is_waited_for_or_told(self):
        with cairn.Cairn(self.server.url, self.secret) as operator:
            key = operator.keys.create(name="slow", scopes=["threads:read"],
                                       rate_limit_per_minute=1)["secret"]
        with cairn.Cairn(self.server.url, key, timeout=20) as slow:
            with self.assertRaises(cairn.RateLimited) as caught:
                for _ in range(3):
                    slow.threads.list()
            self.assertGreater(caught.exception.retry_after, 20)


def answering(text):
    """A server that sends these bytes to every client."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            with near:
                near.recv(65536)
                near.sendall(text)
    threading.Thread(target=serve, daemon=True).start()
    return listener, f"http://127.0.0.1:{listener.getsockname()[1]}"


def http(status, headers, body=""):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n{body}".encode()


class WrongPlaces(unittest.TestCase):
    def asking(self, text):
        listener, url = answering(text)
        self.addCleanup(listener.close)
        return client_of(self, url, max_retries=1)

    def test_where_nothing_listens_the_url_is_named(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        client = cairn.Cairn(url, max_retries=1)
        for ask in (client.health, lambda: client.threads.create(title="x"),
                    lambda: next(client.events.follow()),
                    lambda: next(client.events.follow(transport="websocket"))):
            with self.assertRaisesRegex(cairn.ConnectionFailed, url) as caught:
                ask()
            self.assertIn("CAIRN_URL", str(caught.exception))
        with self.assertRaisesRegex(cairn.ConnectionFailed, "no-such-host.invalid"):
            cairn.Cairn("http://no-such-host.invalid").health()

    def test_a_url_that_is_none_is_refused_at_once(self):
        for url in ("127.0.0.1:7420", "ftp://x", "http://", "http://u:p@x", "http://x?a=1",
                    "http://x:99999"):
            with self.assertRaisesRegex(ValueError, "base_url"):
                cairn.Cairn(url)
        with self.assertRaisesRegex(ValueError, "api_key"):
            cairn.Cairn(api_key="a b")

    def test_another_server_is_not_cairn(self):
        for text in (http("200 OK", "Content-Type: text/html\r\n", "<h1>Hello</h1>"),
                     http("404 Not Found", "Content-Type: text/html\r\n", "<h1>Hello</h1>"),
                     http("302 Found", "Location: /login\r\n", "<h1>Hello</h1>"),
                     b"SSH-2.0-OpenSSH_9.2\r\n"):
            client = self.asking(text)
            for ask in (client.health, lambda: next(client.events.follow()),
                        lambda: next(client.events.follow(transport="websocket"))):
                with self.assertRaisesRegex(cairn.NotCairn, "Hello|SSH"):
                    ask()

    def test_tls_to_a_plain_port_says_so(self):
        url = shared().url.replace("http:", "https:")
        with self.assertRaisesRegex(cairn.ConnectionFailed, "http://"):
            cairn.Cairn(url, max_retries=0).health()

        async def main():
            with self.assertRaisesRegex(cairn.ConnectionFailed, "http://"):
                await cairn.AsyncCairn(url, max_retries=0).health()
        asyncio.run(main())

    def test_another_major_version_is_told_apart(self):
        newer = self.asking(http("200 OK", "Content-Type: application/json\r\n"
                                 "Cairn-Version: 7.0.0\r\n", "{}"))
        with self.assertRaisesRegex(cairn.VersionMismatch, "Upgrade the package"):
            newer.health()
        problem = '{"status": 404, "code": "no_route", "detail": "no such route"}'
        older = self.asking(http("404 Not Found", "Content-Type: application/problem+json\r\n"
                                 "Cairn-Version: 0.0.1\r\n", problem))
        with self.assertRaisesRegex(cairn.VersionMismatch, "Upgrade the server"):
            older.threads.list()

    def test_a_refusal_with_a_new_code_is_known_by_its_status(self):
        problem = '{"status": 409, "code": "brand_new", "detail": "no"}'
        client = self.asking(http("409 Conflict", "Content-Type: application/problem+json\r\n"
                                  "Cairn-Version: 0.1.0\r\n", problem))
        with self.assertRaisesRegex(cairn.Conflict, "brand_new"):
            client.threads.create()

    def test_silence_is_a_timeout(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with self.assertRaisesRegex(cairn.TimedOut, "0.2 s") as caught:
                cairn.Cairn(url, timeout=0.2).threads.create()
            self.assertTrue(caught.exception.outcome_unknown)
            with self.assertRaises(cairn.TimedOut) as caught:
                cairn.Cairn(url).threads.list(timeout=0.2)
            self.assertFalse(caught.exception.outcome_unknown)

            async def main():
                async with cairn.AsyncCairn(url, timeout=0.2) as client:
                    with self.assertRaises(cairn.TimedOut):
                        await client.health()
                    task = asyncio.ensure_future(client.health(timeout=30))
                    await asyncio.sleep(0.05)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
            asyncio.run(main())

    def test_a_closed_client_says_so(self):
        client = cairn.Cairn(shared().url)
        client.close()
        with self.assertRaisesRegex(cairn.Aborted, "closed"):
            client.health()


if __name__ == "__main__":
    unittest.main()
