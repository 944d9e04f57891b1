# SPDX-License-Identifier: Apache-2.0
"""Other servers, each started for one measurement with its own data."""
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from lib import HERE, Server, cpu_us, running


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def await_port(port, process, name):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.05)
    sys.exit(f"{name} did not start")


def version_of(*command):
    done = subprocess.run(command, text=True, capture_output=True)
    return (done.stdout + done.stderr).strip()


class Redis(Server):
    """As durable as Cairn: responds after the append has been synced to the disk. Snapshots and log
    rewrites are off, because they would slow it down."""

    def __init__(self, directory):
        home = f"{directory}/redis"
        os.mkdir(home)
        self.port = free_port()
        super().__init__(
            ["redis-server", "--port", f"{self.port}", "--bind", "127.0.0.1", "--dir", home,
             "--appendonly", "yes", "--appendfsync", "always", "--save", "",
             "--auto-aof-rewrite-percentage", "0"], stdout=subprocess.DEVNULL)
        await_port(self.port, self.process, "redis-server")

    @staticmethod
    def command(*words):
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        return text.encode()

    @staticmethod
    def version():
        return version_of("redis-server", "--version").split("v=")[1].split()[0]


class Nginx(Server):
    """One worker that returns the same few bytes for every request."""

    def __init__(self, directory, body, location=None):
        location = location or f"location / {{ return 200 '{body}'; }}"
        home = f"{directory}/nginx"
        os.mkdir(home)
        self.port = free_port()
        Path(f"{home}/nginx.conf").write_text(
            f"""daemon off; worker_processes 1; pid {home}/pid; error_log {home}/errors;
events {{ worker_connections 4096; }}
http {{
    access_log off; default_type application/json; keepalive_requests 1000000000;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy;
    fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
    server {{ listen 127.0.0.1:{self.port}; {location} }}
}}
""")
        super().__init__(["nginx", "-p", home, "-c", f"{home}/nginx.conf"],
                         stderr=subprocess.DEVNULL)
        await_port(self.port, self.process, "nginx")
        self.url = f"http://127.0.0.1:{self.port}/"

    @staticmethod
    def version():
        return version_of("nginx", "-v").split("/")[-1]


class NginxFiles(Nginx):
    """One worker that serves a file with sendfile."""

    def __init__(self, directory, file):
        super().__init__(directory, "", f"location = /file {{ alias {file}; sendfile on; }}")
        self.url += "file"


def postgres_programs():
    """Returns the directory with the programs of the newest installed PostgreSQL."""
    versions = [p for p in Path("/usr/lib/postgresql").glob("*/bin") if (p / "postgres").exists()]
    if not versions:
        sys.exit("no PostgreSQL server in /usr/lib/postgresql: tools/deps bench")
    return max(versions, key=lambda p: int(p.parent.name))


class Postgres:
    """A temporary PostgreSQL with default settings (fsync is on); an ordinary role owns the
    database."""

    def __init__(self, directory, *settings):
        self.bin = postgres_programs()
        self.home = f"{directory}/pg"
        os.chmod(directory, 0o755)
        os.mkdir(self.home, 0o700)
        if os.getuid() == 0:
            shutil.chown(self.home, "postgres", pwd.getpwnam("postgres").pw_gid)
        self.port = free_port()
        self.run("initdb", "-D", f"{self.home}/data", "-A", "trust", "-E", "UTF8", "--locale=C")
        self.run("pg_ctl", "-D", f"{self.home}/data", "-w", "-l", f"{self.home}/log", "-o",
                 f"-p {self.port} -c listen_addresses=127.0.0.1"
                 f" -c unix_socket_directories={self.home}"
                 + "".join(f" -c {setting}" for setting in settings), "start")
        running.append(self)
        for sql in ("CREATE ROLE cairn LOGIN", "CREATE DATABASE cairn OWNER cairn"):
            self.run("psql", "-h", self.home, "-p", f"{self.port}", "-q", "-c", sql, "postgres")
        self.url = f"postgres://cairn@127.0.0.1:{self.port}/cairn"

    def run(self, program, *args):
        # PostgreSQL refuses to run as root.
        prefix = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run([*prefix, f"{self.bin}/{program}", *args], check=True, cwd="/",
                       stdout=subprocess.DEVNULL)

    def make_seed_tables(self):
        subprocess.run([f"{self.bin}/psql", "-q", "-v", "ON_ERROR_STOP=1", "-f",
                        str(HERE / "seed.sql"), self.url], check=True)

    def cpu_us(self):
        return cpu_us(int(Path(f"{self.home}/data/postmaster.pid").read_text().split()[0]))

    def version(self):
        return version_of(f"{self.bin}/postgres", "--version").split()[2]

    def stop(self):
        self.run("pg_ctl", "-D", f"{self.home}/data", "-m", "immediate", "stop")
        running.remove(self)
