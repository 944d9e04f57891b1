# SPDX-License-Identifier: Apache-2.0
"""(f) and (h): start-up, idle memory, and a route that does nothing, compared with nginx."""
import time

from lib import children_cpu_us, median, paragraph, remove, settle, table, report, wrk
from peers import Nginx

CONNECTIONS = 64


def start_ms(rig, data):
    """Returns the time from the start to the line that reports the address."""
    cairn = rig.cairn(data)
    cairn.stop()
    return cairn.start_ms


def measure_starts(rig):
    new = []
    for _ in range(10):
        remove(f"{rig.directory}/new")
        new.append(start_ms(rig, "new"))
    again = [start_ms(rig, "new") for _ in range(10)]
    return median(new), median(again)


def measure_idle(rig):
    cairn = rig.cairn("new")
    cairn.ask("GET", "/readyz")
    time.sleep(2)
    rss = cairn.memory_kib() / 1024
    pss = cairn.memory_kib("Pss", "smaps_rollup") / 1024
    cairn.stop()
    return rss, pss


def measure_noop(server, url, seconds):
    before, client = server.cpu_us(), children_cpu_us()
    rate, p50, p99, refused = wrk([url], CONNECTIONS, seconds, appends=False)
    if refused:
        raise SystemExit("requests were refused")
    done = rate * seconds
    return {"rate": rate, "p50": p50, "p99": p99, "server": (server.cpu_us() - before) / done,
            "client": (children_cpu_us() - client) / done}


def measure(rig):
    seconds, turns = (1, 1) if rig.quick else (3, 3)
    report("process: starts")
    new, again = measure_starts(rig)
    rss, pss = measure_idle(rig)
    cairn = rig.cairn("new", "--loops", "1")
    nginx = Nginx(rig.directory, cairn.ask("GET", "/healthz"))
    servers = {"Cairn, one loop": (cairn, f"{cairn.url}/healthz"),
               f"nginx {nginx.version()}, one worker": (nginx, nginx.url)}
    runs = {name: [] for name in servers}
    try:
        for turn in range(turns):
            report(f"process: no-op route, turn {turn + 1}")
            for name, (server, url) in servers.items():
                settle()
                runs[name].append(measure_noop(server, url, seconds))
    finally:
        cairn.stop()
        nginx.stop()
    middle = {name: {key: median([run[key] for run in turns]) for key in turns[0]}
              for name, turns in runs.items()}
    ours, theirs = middle.values()
    facts = {"start_new_ms": new, "start_ms": again, "rss_mib": rss, "pss_mib": pss, "noop": ours,
             "nginx": theirs}
    return ["## The process", "",
            *table(["<", "figure"], [
                ["start to listening, new directory (median of 10)", f"{new:.0f} ms"],
                ["start to listening, empty database (median of 10)", f"{again:.0f} ms"],
                ["idle, resident (RSS)", f"{rss:.1f} MiB"],
                ["idle, its own share (PSS)", f"{pss:.1f} MiB"]]),
            *paragraph(
                f"`GET /healthz` and nginx with the same body, {CONNECTIONS} connections of wrk"
                f" (one thread), {turns} turns of {seconds} s. A million divided by the CPU"
                " microseconds is the limit of one loop; wrk uses the other core."),
            *table(["<", "requests/s", "p50", "p99", "CPU µs, server", "CPU µs, wrk"],
                   [[name, f"{run['rate']:,.0f}", f"{run['p50']:.2f} ms", f"{run['p99']:.2f} ms",
                     f"{run['server']:.2f}", f"{run['client']:.2f}"]
                    for name, run in middle.items()])], facts
