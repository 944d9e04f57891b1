# SPDX-License-Identifier: Apache-2.0
"""A real cairn process on a real database, which can be killed and restarted on its port."""
import atexit
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
BINARY = os.environ.get("CAIRN_BIN") or str(ROOT / "build/src/cli/cairn")
os.environ.setdefault(
    "CAIRN_LIBRARY", str(Path(BINARY).resolve().parent.parent / "lib/libcairn.so.0"))
ENGINE = os.environ.get("CAIRN_TEST_ENGINE") or "sqlite"
POSTGRES = os.environ.get("CAIRN_TEST_POSTGRES") or ""


def free_port():
    """Returns a port that outgoing connections do not use, so that a server can restart on it."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            continue


def same_on_every_engine(why):
    """Runs a test on one engine only, because it does not depend on the database."""
    return unittest.skipUnless(ENGINE == "sqlite", f"run on SQLite: {why}")


class Server:
    def __init__(self, *args):
        self._args = args
        self._directory = tempfile.mkdtemp(prefix="cairn-python-")
        self.schema = f"py_{uuid.uuid4().hex[:12]}"
        self.port = free_port()
        self._process = None
        self._errors = None
        self.start()
        atexit.register(self.end)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def data(self):
        return os.path.join(self._directory, "data")

    def start(self):
        assert self._process is None, "the server runs already"
        store = ["--data", self.data] if ENGINE == "sqlite" \
            else ["--db", POSTGRES, "--db-schema", self.schema]
        self._errors = open(os.path.join(self._directory, "stderr"), "ab")
        self._process = subprocess.Popen(
            [BINARY, "serve", "--listen", f"127.0.0.1:{self.port}", *store, *self._args],
            stdout=subprocess.PIPE, stderr=self._errors, text=True,
            env={**os.environ, "CAIRN_DB": ""})
        line = self._process.stdout.readline()
        assert line.strip().endswith(f":{self.port}"), f"no start: {line}{self.errors()}"

    def errors(self):
        return Path(self._directory, "stderr").read_text()[-2000:]

    def _finish(self, number):
        process, self._process = self._process, None
        if process is None:
            return None
        process.send_signal(number)
        code = process.wait(timeout=60)
        process.stdout.close()
        self._errors.close()
        return code

    def kill(self):
        """Sends SIGKILL: data that is not durable is lost."""
        self._finish(signal.SIGKILL)

    def stop(self):
        code = self._finish(signal.SIGTERM)
        assert code in (0, None), f"cairn ended with {code}: {self.errors()}"

    def end(self):
        self.stop()
        if ENGINE == "postgres":
            subprocess.run(["psql", POSTGRES, "-qc", "SET client_min_messages = warning; "
                            f"DROP SCHEMA IF EXISTS {self.schema} CASCADE"], check=False)
        shutil.rmtree(self._directory, ignore_errors=True)


_shared = {}


def shared(name="open"):
    """The server shared by all test files; each test uses its own objects."""
    if name not in _shared:
        _shared[name] = Server()
    return _shared[name]


class Relay:
    """A TCP proxy. `cut_answers` = n closes the next n connections when the server responds, after
    it has received the request. `cut_after` = [n, …] closes the next connections after n bytes of
    responses."""

    def __init__(self, port, tls=None):
        self._target = port
        self._tls = tls  # a context: the relay uses TLS, the server behind it does not
        self.cut_answers = 0
        self.cut_after = []
        self.frozen = False  # connections with a response stay open and silent
        self.swallowed = 0
        self.connections = 0
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self._tls is not None:
                try:
                    near = self._tls.wrap_socket(near, server_side=True)
                except OSError:  # the client does not trust us, or does not use TLS
                    near.close()
                    continue
            far = socket.create_connection(("127.0.0.1", self._target))
            self._sockets += [near, far]
            threading.Thread(target=self._pass, args=(near, far), daemon=True).start()
            most = self.cut_after.pop(0) if self.cut_after else None
            threading.Thread(target=self._pass_back, args=(far, near, most), daemon=True).start()

    @staticmethod
    def _pass(source, target):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _pass_back(self, source, target, left):
        try:
            while True:
                data = source.recv(65536 if left is None else min(left, 65536))
                left = left if left is None else left - len(data)
                if self.frozen and data:
                    self.swallowed += len(data)
                    while data:
                        data = source.recv(65536)
                if self.cut_answers and data:
                    self.cut_answers -= 1
                    break
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass
        for sock in (source, target):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def drop(self):
        """Closes all current connections."""
        for sock in self._sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._listener.close()
        for sock in self._sockets:
            sock.close()
