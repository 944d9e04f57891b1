# SPDX-License-Identifier: Apache-2.0
"""Shared parts of the measurements: load programs, the server under test, and its figures."""
import base64
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")
running = []  # servers and programs that still have to be stopped

# A progress line, the payload of an append; the C programs use the same.
PAYLOAD = '{"n":1,"of":10,"note":"about as long as a progress line is"}'
EVENT = f'{{"kind":"progress","text":"step done","payload":{PAYLOAD}}}'


class Rig:
    """The environment of a section: the binary, its own directory, the load programs, and whether
    to measure only briefly."""

    # Additional sources of each program and its libraries; pkg-config expands words that begin
    # with "pkg:".
    NEEDS = {
        "load": (["measure.c", "sockets.c"], []),
        "delivery": (["measure.c", "sockets.c"], []),
        "slow": (["measure.c", "sockets.c"], []),
        "deaf": (["measure.c", "sockets.c"], []),
        "limits": (["measure.c", "rows.c", "{built}/model/statements.c"], ["-lsqlite3"]),
        "group": (["measure.c", "rows.c", "{built}/model/statements.c"],
                  ["-lsqlite3", "-lpthread"]),
        "messages": (["measure.c", "{built}/model/statements.c"], ["-lsqlite3"]),
        "steps": (["measure.c", "{built}/model/statements.c"], ["-lsqlite3"]),
        "seed": (["measure.c"], ["pkg:libpq"]),
        "libpq": (["{built}/model/statements.c"], ["pkg:libpq", "-lpthread"]),
        "embedded": (["measure.c", "{built}/lib/libcairn.a"],
                     ["-lsqlite3", "-lpq", "-lcrypto", "-lzstd", "-lz", "-lpthread"]),
    }

    def __init__(self, binary, directory, quick):
        self.binary = binary
        self.directory = directory
        self.quick = quick
        # The build directory of Cairn, with its statements and its library.
        self.built = Path(binary).resolve().parents[1]

    def program(self, name):
        path = f"{self.directory}/{name}"
        if not os.path.exists(path):
            sources, flags = self.NEEDS[name]
            sources = [source.format(built=self.built) for source in [f"{name}.c", *sources]]
            flags = [word for flag in flags for word in expand_flag(flag)]
            subprocess.run(
                ["cc", "-std=gnu17", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror",
                 f"-I{HERE.parent}/src", f"-I{HERE.parent}/include", f"-I{self.built}", "-o", path,
                 *sources, *flags], check=True, cwd=HERE)
        return path

    def measure(self, name, *arguments):
        """Runs one of the programs and returns its output as a dictionary."""
        return results([self.program(name), *(str(argument) for argument in arguments)])

    def cairn(self, data, *options):
        return Cairn(self.binary, "--data", f"{self.directory}/{data}", *options)


def expand_flag(flag):
    if not flag.startswith("pkg:"):
        return [flag]
    return subprocess.run(["pkg-config", "--cflags", "--libs", flag.removeprefix("pkg:")],
                          check=True, text=True, capture_output=True).stdout.split()


class Program:
    """One of the programs, running in the background."""

    def __init__(self, rig, name, *arguments):
        self.name = name
        self.process = subprocess.Popen(
            [rig.program(name), *(str(argument) for argument in arguments)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        running.append(self)

    def await_ready(self):
        if self.process.stdout.readline() != "ready\n":
            sys.exit(f"{self.name} did not start")

    def finish(self, line=""):
        out = self.process.communicate(line)[0]
        running.remove(self)
        if self.process.returncode != 0:
            sys.exit(f"{self.name} failed")
        return parse_results(out)

    def stop(self):
        self.process.kill()
        self.process.communicate()
        running.remove(self)


class Server:
    """A running server process."""

    def __init__(self, command, **more):
        self.process = subprocess.Popen(command, **more)
        running.append(self)

    def cpu_us(self):
        return cpu_us(self.process.pid)

    def stop(self):
        self.process.terminate()
        self.process.wait()
        running.remove(self)


def results(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)[:400]}:\n{done.stderr}")
    return parse_results(done.stdout)


def parse_results(text):
    return {name: float(value) for name, value in re.findall(r"(?m)^(\w+) ([-\d.]+)$", text)}


def numbers(command):
    done = subprocess.run(command, text=True, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return [float(word) for word in done.stdout.split()]


def milliseconds(text):
    number, unit = re.fullmatch(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(number) * {"us": 0.001, "ms": 1, "s": 1000, "m": 60000}[unit]


def wrk(urls, connections, seconds, appends=True, paths=None, **environment):
    """Returns the requests a second, the latencies p50 and p99 in ms of the slowest server, and the
    number of failed requests. Each URL has its own wrk with an equal share of the connections, and
    its own file of paths if `paths` is given."""
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


# --- Processes -------------------------------------------------------------------------------


def cpu_us(pid):
    """Returns the CPU time of a process and its children, including terminated ones."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(entry.name) == pid:
            total += sum(int(field) for field in fields[11:15])  # including terminated children
        elif int(fields[1]) == pid:
            total += sum(int(field) for field in fields[11:13])
    return total * 1e6 / TICKS


def children_cpu_us():
    """Returns the CPU time of all terminated child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (usage.ru_utime + usage.ru_stime) * 1e6


def settle():
    """Flushes pending writes, so that they do not slow down the next measurement."""
    os.sync()
    time.sleep(0.1)


def raise_file_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Cairn(Server):
    def __init__(self, binary, *options):
        started = time.monotonic()
        super().__init__(
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
        """Returns the ids of the tenant and the key, which the secret contains."""
        secret = base64.urlsafe_b64decode(self.key.removeprefix("cairn_") + "==")
        dashed = r"(.{8})(.{4})(.{4})(.{4})(.{12})"
        return [re.sub(dashed, r"\1-\2-\3-\4-\5", part.hex())
                for part in (secret[:16], secret[16:32])]

    def make_threads(self, count):
        return [self.post("/v1/threads")["id"] for _ in range(count)]

    def list_threads(self):
        ids, cursor = [], ""
        while cursor is not None:
            page = json.loads(self.ask("GET", f"/v1/threads?limit=200{cursor}"))
            ids += [thread["id"] for thread in page["data"]]
            cursor = f"&cursor={page['next_cursor']}" if page["has_more"] else None
        return ids

    def metrics(self):
        text = self.ask("GET", "/metrics")
        return {name: float(value) for name, value in re.findall(r"(?m)^(\w+) (\S+)$", text)}

    def memory_kib(self, what="VmRSS", file="status"):
        text = Path(f"/proc/{self.process.pid}/{file}").read_text()
        return int(re.search(rf"{what}:\s+(\d+)", text)[1])

    def request(self, method, path, body=None):
        """Returns the bytes of a request for load.c."""
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n"
        if self.key:
            head += f"Authorization: Bearer {self.key}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return (head + "\r\n" + (body or "")).encode()

    def append_request(self, thread, events=1):
        body = EVENT if events == 1 else '{"events":[' + ",".join([EVENT] * events) + "]}"
        return self.request("POST", f"/v1/threads/{thread}/events", body)


# --- Files and tables ------------------------------------------------------------------------


def report(what):
    print(what, file=sys.stderr, flush=True)


def write_lines(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines))
    return str(path)


def write_requests(path, requests):
    """Writes a file of requests for load.c."""
    with open(path, "wb") as file:
        for request in requests:
            file.write(b"%d\n%b" % (len(request), request))
    return str(path)


def remove(*paths):
    for path in paths:
        shutil.rmtree(path, ignore_errors=True)


def median(values):
    return statistics.median(values)


def medians(runs):
    """Returns the median of each value over the dictionaries of several turns."""
    return {name: median([run[name] for run in runs]) for name in runs[0]}


def ms(us):
    return f"{us / 1000:.2f} ms"


def paragraph(text):
    """Returns the lines of a Markdown paragraph."""
    return [*textwrap.wrap(text, 110, break_on_hyphens=False), ""]


def table(heads, rows):
    """Returns a Markdown table. Columns whose head begins with '<' are left-aligned."""
    lines = ["| " + " | ".join(head.lstrip("<") for head in heads) + " |",
             "|" + "|".join("---" if head.startswith("<") else "--:" for head in heads) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]
