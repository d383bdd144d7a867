"""A PostgreSQL server in a temporary folder, which a test may stop, crash, copy and promote."""

import atexit
import hashlib
import hmac
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import quote, urlencode

from tests.support.ports import reusable_port
from tests.support.postgres_programs import give_to_postgres, program_folder, unprivileged

Mode = Literal["smart", "fast", "immediate"]

_WAIT_SECONDS = 120.0
_SIGNALS: dict[Mode, signal.Signals] = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}

# The data need not survive a power failure. stop("immediate") loses nothing either, because the kernel has the writes.
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "fsync": "off",
    "full_page_writes": "off",
    "log_line_prefix": "%m [%p] %q%a ",
    "timezone": "UTC",
}

# The server ends with the process that started it, even if that is killed: then the watcher's input ends. A line of
# input means that the server was stopped intentionally. A killed server may stay a zombie, so the watcher waits for the
# file that the server deletes last, for up to ten seconds.
_WATCH = """
read -r _ && exit
kill -QUIT "$1" || exit
left=100
while [ -e "$2/data/postmaster.pid" ] && [ $left -gt 0 ]; do sleep 0.1; left=$((left - 1)); done
# Another process of the server may still write files.
left=100
until rm -rf "$2" || [ $left -eq 0 ]; do sleep 0.1; left=$((left - 1)); done
"""


class PostgresServer:
    """A folder, and a server while it runs. Both end with the context, or with this process.

    Its roles are "tickover", an ordinary role that owns databases, and "postgres", a superuser.
    """

    def __init__(self, folder: Path | None = None, port: int = 0, password: str = "", **settings: str) -> None:
        """With folder, port and password, use a server that another process runs. It can't be stopped from here."""
        self.folder = folder or _new_folder()
        self.port = port or reusable_port()
        self.password = password or secrets.token_urlsafe(16)
        self.settings = {**_SETTINGS, **settings}
        self._template: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None
        if folder is None:
            atexit.register(self.remove)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log(self) -> str:
        """Return all log output so far."""
        return (self.folder / "log.txt").read_text("utf-8", "replace")

    @property
    def is_running(self) -> bool:
        return self._state() != ""

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        self._release_watcher()
        if not self.data.exists():
            self._create_cluster()
        is_new = not (self.data / "tests.conf").exists()
        self._write_settings()
        with (self.folder / "log.txt").open("ab") as log:
            self._process = self._launch(self.bin("postgres"), "-D", self.data, stdin=subprocess.DEVNULL, stdout=log)
        watch = ("/bin/sh", "-c", _WATCH, "watch", str(self._process.pid), str(self.folder))
        self._watcher = self._launch(*watch, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self._wait_for("ready", "standby")
        if is_new:
            self.execute(f"create role tickover login password '{_scram_verifier(self.password)}'")

    def stop(self, mode: Mode = "fast") -> None:
        """Stop it, and wait for its end. "immediate" is a crash. It can be started again on the same port."""
        if self._process is not None:
            self._process.send_signal(_SIGNALS[mode])
            self._process.wait(_WAIT_SECONDS)
        self._release_watcher()

    def remove(self) -> None:
        """Stop it, and delete its folder."""
        atexit.unregister(self.remove)
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def configure(self, **settings: str) -> None:
        """Change settings, immediately if it is running. Some settings need a restart."""
        self.settings.update(settings)
        self._write_settings()
        if self.is_running:
            self.run("pg_ctl", "reload", "-D", str(self.data))

    def url(self, database: str = "postgres", user: str = "tickover", **query: str) -> str:
        query_string = f"?{urlencode(query, quote_via=quote)}" if query else ""
        return f"postgresql://{user}:{self.password}@127.0.0.1:{self.port}/{database}{query_string}"

    def create_database(self, name: str = "") -> str:
        """Create an empty database that tickover owns, and return its URL."""
        name = name or f"test_{secrets.token_hex(6)}"
        self.execute(f'create database "{name}" owner tickover')
        return self.url(name)

    def execute(self, sql: str, database: str = "postgres") -> str:
        """Run SQL as a superuser. Rows are lines, and columns are separated by a vertical bar."""
        arguments = ("-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-", "-d", self.url(database, "postgres"))
        return self.run("psql", *arguments, stdin=sql).strip()

    def run(self, name: str, *arguments: str, stdin: str = "") -> str:
        """Run a program of PostgreSQL, which must succeed, and return its output.

        The environment selects this server.
        """
        ran: subprocess.CompletedProcess[str] = subprocess.run(
            [self.bin(name), *arguments],
            input=stdin, capture_output=True, text=True, timeout=_WAIT_SECONDS, check=False, **self.process_options(),
        )  # fmt: skip
        assert ran.returncode == 0, f"{name} failed: {ran.stdout}{ran.stderr}"
        return ran.stdout

    def bin(self, name: str) -> Path:
        """Return the path of one of PostgreSQL's programs."""
        return program_folder() / name

    def save_template(self) -> None:
        """Create the cluster, and keep a copy of it for siblings."""
        self._create_cluster()
        self._copy(self.data, self.folder / "template")

    def sibling(self, **settings: str) -> "PostgresServer":
        """Return another server with the same passwords. It copies the template, because initdb takes a second."""
        other = PostgresServer(password=self.password)
        other.settings.update(settings)
        other._template = self.folder / "template"
        return other

    def standby(self, name: str = "standby", **settings: str) -> "PostgresServer":
        """Start a hot standby of this server. `name` is its name in synchronous_standby_names, and its slot."""
        # After its promotion, it would wait for a standby that doesn't exist.
        own = {"cluster_name": name, "synchronous_standby_names": ""}
        other = PostgresServer(password=self.password)
        other.settings = {**self.settings, **own, **settings}
        self.run(
            "pg_basebackup", "--no-sync", "--checkpoint=fast", "--write-recovery-conf", "--create-slot", "--slot", name,
            "-D", str(other.data), "-d", self.url(user="postgres"),
        )  # fmt: skip
        other.start()
        return other

    def drop_slots(self) -> bool:
        """Drop the replication slots of removed standbys. Return False if a slot is still in use."""
        self.execute("select pg_drop_replication_slot(slot_name) from pg_replication_slots where not active")
        return not self.execute("select slot_name from pg_replication_slots")

    def promote(self) -> None:
        """Promote a standby, and wait until it accepts writes."""
        self.run("pg_ctl", "promote", "-D", str(self.data))

    def _create_cluster(self) -> None:
        if self._template is not None:
            self._copy(self._template, self.data)
            return
        password = self.folder / "password"
        _write(password, self.password)
        self.run(
            "initdb", "-D", str(self.data), "--no-sync", "--username=postgres", f"--pwfile={password}",
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        # Keep the settings that initdb chose for this machine.
        with (self.data / "postgresql.conf").open("a") as settings:
            settings.write("include 'tests.conf'\n")

    def _copy(self, source: Path, target: Path) -> None:
        """Copy a folder. The copy belongs to the user who runs PostgreSQL."""
        subprocess.run(["cp", "-R", "-p", source, target], check=True, **self.process_options())

    def _write_settings(self) -> None:
        settings = {**self.settings, "port": str(self.port)}
        lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in settings.items()]
        _write(self.data / "tests.conf", "".join(lines))

    def process_options(self) -> dict[str, Any]:
        """Return the user, the working directory and a minimal environment for subprocesses."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
        server = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "postgres", "PGPASSWORD": self.password}
        return {"cwd": self.folder, "env": {**inherited, **server, "LC_ALL": "C"}, **unprivileged()}

    def _launch(self, *command: str | Path, **streams: Any) -> subprocess.Popen[bytes]:
        """Start a process in its own session, so that Ctrl-C reaches only the tests."""
        return subprocess.Popen(
            command, stderr=subprocess.STDOUT, start_new_session=True, **streams, **self.process_options()
        )

    def _state(self) -> str:
        """Return the server's own status: starting, ready, standby or stopping. It is empty if it isn't running."""
        if self._process is None or self._process.poll() is not None:
            return ""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            lines = []
        # After a crash, the file of the previous process may exist.
        return lines[7].strip() if len(lines) > 7 and lines[0] == str(self._process.pid) else "starting"

    def _wait_for(self, *states: str) -> None:
        deadline = time.monotonic() + _WAIT_SECONDS
        while (state := self._state()) not in states:
            in_time = state != "" and time.monotonic() < deadline
            assert in_time, f"PostgreSQL is not {' or '.join(states)}: {self.log[-2000:]}"
            time.sleep(0.01)

    def _release_watcher(self) -> None:
        """Tell the watcher that the server was stopped intentionally."""
        if self._watcher is not None:
            self._watcher.communicate(b"\n")
        self._process = self._watcher = None


@contextmanager
def synchronous_standby(primary: PostgresServer, name: str) -> Iterator[PostgresServer]:
    """A standby that confirms all commits of the primary. At the end, the primary runs without a standby."""
    standby = primary.standby(name)
    try:
        primary.configure(synchronous_standby_names=name)
        _wait_until(lambda: primary.execute("select pid from pg_stat_replication where sync_state = 'sync'"))
        yield standby
    finally:
        standby.remove()
        primary.configure(synchronous_standby_names="")
        if not primary.is_running:
            primary.start()
        _wait_until(primary.drop_slots)


def _wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the standby is not in the expected state"
        time.sleep(0.05)


def _scram_verifier(password: str) -> str:
    """Return a SCRAM verifier with one iteration. 4096 would take a third of the time of connecting."""
    salt = secrets.token_bytes(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 1)
    client = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    salt_text, client_text, server_text = (
        b64encode(part).decode() for part in (salt, client, hmac.digest(salted, b"Server Key", "sha256"))
    )
    return f"SCRAM-SHA-256$1:{salt_text}${client_text}:{server_text}"


def _write(file: Path, text: str) -> None:
    file.write_text(text)
    give_to_postgres(file)


def _new_folder() -> Path:
    """Create a folder outside of pytest's own folders, which other users can't enter."""
    folder = Path(tempfile.mkdtemp(prefix="tickover-postgres-"))
    give_to_postgres(folder)
    return folder
