"""What the measurements share: programs to measure with, a server to measure, and its metrics."""
import base64
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent


def compile_c(name, directory, flags, *more):
    program = f"{directory}/{name}"
    sources = [str(HERE / f"{name}.c"), *more]
    subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", program, *sources, *flags], check=True)
    return program


def numbers(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return [float(word) for word in done.stdout.split()]


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def wrk(urls, connections, seconds, appends=True, paths=None, **environment):
    """Requests a second, the latencies p50 and p99 in ms, of the slowest server, and how many
    requests were refused. The connections are shared out evenly among the URLs, each of which has a
    wrk of its own, and where `paths` are given, a file of paths of its own."""
    share, rest = divmod(connections, len(urls))
    runs = []
    for i, url in enumerate(urls):
        command = ["wrk", "-t1", f"-c{share + (i < rest)}", f"-d{seconds}", "--timeout", "10",
                   "--latency", url]
        if appends:
            command[1:1] = ["-s", str(HERE / "append.lua")]
        if paths:
            environment["PATHS"] = paths[i]
        runs.append(subprocess.Popen(command, text=True, stdout=subprocess.PIPE,
                                     env={**os.environ, **environment}))
    rate, p50, p99, refused = 0, 0, 0, 0
    for run in runs:
        out = run.communicate()[0]
        if run.returncode != 0 or "Socket errors" in out:
            sys.exit(f"requests failed:\n{out}")
        refused += int((re.search(r"Non-2xx or 3xx responses: (\d+)", out) or [0, 0])[1])
        rate += float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1])
        p50 = max(p50, milliseconds(re.search(r"(?m)^\s+50%\s+(\S+)\s*$", out)[1]))
        p99 = max(p99, milliseconds(re.search(r"(?m)^\s+99%\s+(\S+)\s*$", out)[1]))
    return rate, p50, p99, refused


class Cairn:
    def __init__(self, binary, *options):
        started = time.monotonic()
        self.process = subprocess.Popen(
            [binary, "serve", "--listen", "127.0.0.1:0", "--log-level", "error", *options],
            stdout=subprocess.PIPE, text=True)
        self.port = int(re.search(r":(\d+)$", self.process.stdout.readline())[1])
        self.start_ms = (time.monotonic() - started) * 1000
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = None

    def ask(self, method, path, body=None):
        request = urllib.request.Request(self.url + path, method=method)
        if self.key:
            request.add_header("Authorization", f"Bearer {self.key}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        return urllib.request.urlopen(request).read().decode()

    def post(self, path, body=None):
        return json.loads(self.ask("POST", path, body))

    def make_key(self):
        self.key = self.post("/v1/keys", {"name": "bench", "scopes": ["operator"]})["secret"]

    def ids_of_key(self):
        """The tenant and the key, both of which the secret names."""
        secret = base64.urlsafe_b64decode(self.key.removeprefix("cairn_") + "==")
        dashed = r"(.{8})(.{4})(.{4})(.{4})(.{12})"
        return [re.sub(dashed, r"\1-\2-\3-\4-\5", part.hex())
                for part in (secret[:16], secret[16:32])]

    def make_threads(self, count):
        return [self.post("/v1/threads")["id"] for _ in range(count)]

    def metrics(self):
        text = self.ask("GET", "/metrics")
        return {name: float(value) for name, value in re.findall(r"(?m)^(\w+) (\S+)$", text)}

    def rss_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1])

    def stop(self):
        self.process.terminate()
        self.process.wait()


def tell(what):
    print(what, file=sys.stderr, flush=True)


def write_lines(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def table(heads, rows):
    """A table of Markdown. Heads that begin with '<' stand left."""
    lines = ["| " + " | ".join(head.lstrip("<") for head in heads) + " |",
             "|" + "|".join("---" if head.startswith("<") else "--:" for head in heads) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]
