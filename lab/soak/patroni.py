"""Three Patroni nodes and etcd on this machine, from deploy/patroni/patroni.yml with other ports and folders."""

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from base64 import b64encode
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from lab.links import Link
from tests.support.debian_packages import require, require_program, skip_or_fail
from tests.support.deploy import changed
from tests.support.etcd import PASSWORD, Etcd
from tests.support.ports import reusable_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import give_to_postgres, program_folder, unprivileged
from tests.support.program import wait_until

_NODES = ("node1", "node2", "node3")
_PROGRAMS = ("pg_controldata", "pg_isready", "pg_rewind")
_LEADER = "/service/tickover/leader"
_SHARED_MEMORY = Path("/dev/shm")


def patroni_version() -> tuple[int, ...]:
    written = subprocess.run([require_program("patroni"), "--version"], capture_output=True, text=True, check=True)
    return tuple(map(int, re.findall(r"\d+", written.stdout)))


class Node:
    """Patroni with its PostgreSQL. All connections to it, and its own to etcd, are links."""

    def __init__(self, name: str, folder: Path, etcd: Etcd, stack: ExitStack) -> None:
        self.name = name
        self.folder = folder / name
        self._rest_port = reusable_port()
        self._port = reusable_port()
        self._etcd = etcd
        ports = (self._port, self._rest_port, etcd.port)
        self._links = [stack.enter_context(Link(port)) for port in ports]
        self.process: subprocess.Popen[bytes] | None = None
        _make_folder(self.folder)
        file = self.folder / "patroni.yml"
        file.write_text(self._configuration())
        give_to_postgres(file)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._links[0].port}"

    @property
    def log(self) -> str:
        return (self.folder / "log.txt").read_text("utf-8", "replace")

    @property
    def server(self) -> PostgresServer:
        """PostgreSQL of this node. Patroni starts and stops it."""
        return PostgresServer(self.folder, self._port, PASSWORD)

    def start(self) -> None:
        self.process = _launch(self.folder, require_program("patroni"), "patroni.yml")

    def kill(self) -> None:
        _kill_processes(self.folder)
        assert self.process is not None
        self.process.wait()

    def freeze(self) -> None:
        for _ in range(2):  # The second time finds processes that were started in the meantime.
            _signal_processes(self.folder, signal.SIGSTOP)

    def resume(self) -> None:
        _signal_processes(self.folder, signal.SIGCONT)

    def switch_over(self) -> None:
        """Let Patroni make another node the primary."""
        body = {"leader": self.name}
        assert self.request("POST", "/switchover", body, user="patroni:wrong") == 401
        assert self.request("POST", "/switchover", body, timeout=120) == 200

    def cut_off(self) -> None:
        for link in self._links:
            link.hold()

    def reconnect(self) -> None:
        for link in self._links:
            link.release()

    def has_role(self, role: str) -> bool:
        """Ask Patroni for `primary`, `replica` or `synchronous`."""
        return self.request("GET", f"/{role}") == 200

    def request(
        self,
        method: str,
        path: str,
        body: dict[str, str] | None = None,
        timeout: float = 2,
        user: str = f"patroni:{PASSWORD}",
    ) -> int:
        """Return the HTTP status of Patroni's response, or 0 if there is none."""
        connection = http.client.HTTPConnection("127.0.0.1", self._rest_port, timeout=timeout)
        authorization = f"Basic {b64encode(user.encode()).decode()}"
        try:
            connection.request(method, path, json.dumps(body) if body else None, {"Authorization": authorization})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()

    def _configuration(self) -> str:
        postgres, rest, etcd = (f"127.0.0.1:{link.port}" for link in self._links)
        changes = {
            "name: node1": f"name: {self.name}",
            # Otherwise Patroni asks etcd for its address, and doesn't use the link.
            "10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379": f"{etcd}\n  use_proxies: true",
            "/etc/patroni/ca.crt": str(self._etcd.authority),
            "/etc/patroni/node.crt": str(self._etcd.certificate),
            "/etc/patroni/node.key": str(self._etcd.key),
            "0.0.0.0:8008": f"127.0.0.1:{self._rest_port}",
            "10.0.0.11:8008": rest,
            "0.0.0.0:5432": f"127.0.0.1:{self._port}",
            "10.0.0.11:5432": postgres,
            "10.0.0.0/24": "127.0.0.1/32",
            "/var/lib/postgresql/tickover": str(self.folder / "data"),
            "/usr/lib/postgresql/15/bin": str(program_folder()),
        }
        return f"{changed('patroni/patroni.yml', changes)}  parameters:\n    unix_socket_directories: ''\n"


class PatroniCluster:
    """A primary and two standbys, one of them synchronous. A context manager."""

    def __init__(self) -> None:
        if require_program("patroni") == "/usr/bin/patroni":
            # Debian's package doesn't depend on it.
            require(_find_etcd_library, "python3-etcd")
        require_program("etcd", "etcd-server")
        require_program("etcdctl", "etcd-client")
        if missing := [name for name in _PROGRAMS if not (program_folder() / name).exists()]:
            skip_or_fail(f"Patroni needs {', '.join(missing)}, which this PostgreSQL lacks")
        self._stack = ExitStack()
        self._etcd: Etcd
        self._etcd_process: subprocess.Popen[bytes] | None = None
        self.nodes: list[Node] = []

    def __enter__(self) -> Self:
        folder = Path(tempfile.mkdtemp(prefix="tickover-patroni-"))
        folder.chmod(0o755)
        _let_all_users_write_shared_memory()
        self._stack.callback(shutil.rmtree, folder, ignore_errors=True)
        self._stack.callback(_kill_processes, folder)
        try:
            self._start_etcd(folder / "etcd")
            for name in _NODES:
                node = Node(name, folder, self._etcd, self._stack)
                self.nodes.append(node)
                node.start()
            self.wait_until_complete()
        except BaseException:
            self.__exit__()
            raise
        self.primary.server.execute(f"create role tickover login password '{PASSWORD}'")
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        for process in (self._etcd_process, *(node.process for node in self.nodes)):
            if process is not None:
                process.wait()

    def _start_etcd(self, folder: Path) -> None:
        """Start etcd. Patroni fails if etcd hasn't decided on its version."""
        folder.mkdir()
        self._etcd = etcd = Etcd(folder)
        for path in etcd.files:
            give_to_postgres(path)
        self._etcd_process = _launch(folder, *etcd.command)
        wait_until(lambda: etcd.version not in ("", "not_decided"))
        etcd.create_users()

    @property
    def primary(self) -> Node:
        [primary] = [node for node in self.nodes if node.has_role("primary")]
        return primary

    def expire_leadership(self) -> None:
        """Let etcd forget the primary, as it does 20 seconds after the last sign of life."""
        assert self._etcd.delete(_LEADER, self._etcd.sign_in()) == 1

    def url_of(self, url: str) -> str:
        """Return the URL of the same database on all nodes."""
        user, _, database = url.partition("@")
        return f"{user}@{','.join(node.address for node in self.nodes)}/{database.partition('/')[2]}"

    def wait_until_complete(self) -> None:
        """Wait until all nodes have a role, and one is a synchronous standby."""
        try:
            wait_until(self._is_complete)
        except AssertionError:
            logs = [f"{node.name}:\n{node.log[-4000:]}" for node in self.nodes]
            raise AssertionError("\n".join(["the cluster isn't complete", *logs])) from None

    def _is_complete(self) -> bool:
        counts = [sum(node.has_role(role) for node in self.nodes) for role in ("primary", "replica", "synchronous")]
        return counts == [1, 2, 1]


def _find_etcd_library() -> str | None:
    return next(map(str, Path("/usr/lib/python3/dist-packages").glob("etcd")), None)


def _let_all_users_write_shared_memory() -> None:
    """Patroni creates semaphores there. In some containers, only root may write to it."""
    if os.geteuid() == 0:
        # The usual mode. It stays, because another cluster may need it.
        _SHARED_MEMORY.chmod(0o1777)


def _launch(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    """Start a program in its folder and its own session, so that Ctrl-C reaches only the tests."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "PYTHON", "PATRONI"))}
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            command, cwd=folder, env={**inherited, "HOME": str(folder), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, **unprivileged(),
        )  # fmt: skip


def _signal_processes(folder: Path, number: int) -> int:
    """Send a signal to all processes that work in the folder. Return their number."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        # Other processes may end, or belong to another user.
        with suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(folder):
                os.kill(int(process.name), number)
                found += 1
    return found


def _kill_processes(folder: Path) -> None:
    while _signal_processes(folder, signal.SIGKILL):
        time.sleep(0.01)


def _make_folder(folder: Path) -> None:
    folder.mkdir()
    give_to_postgres(folder)
