"""The proxies of deploy/ run in front of two servers on one PostgreSQL, with the files as they are but other ports."""

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path

import pytest
import trustme

from tests.support.connections import Connection, ConnectionLost, ResponseTruncated, connect
from tests.support.debian_packages import require_program
from tests.support.load import until
from tests.support.pgbouncer import find_pgbouncer
from tests.support.ports import free_port, reusable_port
from tests.support.postgres import PostgresServer
from tests.support.postgres_programs import program_folder, unprivileged
from tests.support.program import wait_until
from tests.support.replicas import Replicas
from tests.support.transcripts import ROOT
from tickover.api.limits import MAX_BODY
from tickover.server.storage import open_store

DEPLOY = ROOT / "deploy"
MIN_CALLS = 2_000
CALLERS = 8


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[Replicas]:
    settings = {
        "TICKOVER_TRUSTED_PROXIES": "127.0.0.1",
        "TICKOVER_PUBLIC_URL": "https://clocks.example.com",
        "TICKOVER_MAIL_URL": "outbox:",
        "TICKOVER_DRAIN_SECONDS": "1",
    }
    replicas = Replicas(tmp_path_factory.mktemp("behind"), postgres, 2)
    for program in replicas.programs:
        program.environment |= settings | {"TICKOVER_PORT": str(reusable_port())}
    with replicas:
        yield replicas


def configure(file: str, replicas: Replicas, changes: dict[str, str]) -> str:
    """Return the configuration with the ports of the servers and these changes. Each must be in the file."""
    text = (DEPLOY / file).read_text()
    for number, program in enumerate(replicas.programs, 1):
        changes[f"127.0.0.1:800{number}"] = program.url.removeprefix("http://")
    for old, new in changes.items():
        assert old in text, f"{file} lacks {old}"
        text = text.replace(old, new)
    return text


@contextmanager
def running(command: list[str], folder: Path, port: int, **options: object) -> Iterator[None]:
    """Run a program until the end of the block. It must listen on the port."""
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, **{"cwd": folder, **options})  # type: ignore[call-overload]
    try:
        wait_until(lambda: accepts_connections(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "output.txt").read_text()
        yield
    finally:
        process.terminate()
        process.wait(120)


def accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def check_proxy(connection: HTTPConnection) -> None:
    """Send a page request, a call, and a call that is too large, which must get a JSON error of Tickover."""
    connection.request("GET", "/readyz")
    response = connection.getresponse()
    assert (response.status, response.read()) == (200, b"ready\n")
    for body, status, reason in ((b"{}", 200, b"INVALID_REQUEST"), (b" " * (MAX_BODY + 1), 413, b"BODY_TOO_LARGE")):
        connection.request("POST", "/rpc", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert reason in response.read()
        assert response.status in (status, 400)
    connection.close()


def test_nginx_forwards_requests(replicas: Replicas, tmp_path: Path) -> None:
    nginx, port = require_program("nginx", "nginx-light"), free_port()
    authority = trustme.CA()
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    changes = {
        "443 ssl": f"127.0.0.1:{port} ssl",
        "/etc/ssl/certs/clocks.example.com.pem": "server.pem",
        "/etc/ssl/private/clocks.example.com.key": "server.pem",
    }
    (tmp_path / "tickover.conf").write_text(configure("nginx/tickover.conf", replicas, changes))
    temporary = "".join(f"{kind}_temp_path {kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid nginx.pid; {'user root;' if os.geteuid() == 0 else ''} events {{}} "
        f"http {{ access_log off; {temporary} include tickover.conf; }}"
    )
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with running([nginx, "-p", str(tmp_path), "-e", "error.log", "-c", "nginx.conf"], tmp_path, port):
        check_proxy(HTTPSConnection("127.0.0.1", port, timeout=60, context=context))


def test_caddy_forwards_requests(replicas: Replicas, tmp_path: Path) -> None:
    caddy, port = require_program("caddy"), free_port()
    text = configure("caddy/Caddyfile", replicas, {"clocks.example.com {": f"http://127.0.0.1:{port} {{"})
    (tmp_path / "Caddyfile").write_text(f"{{\n\tadmin off\n}}\n{text}")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with running([caddy, "run", "--config", "Caddyfile", "--adapter", "caddyfile"], tmp_path, port, env=environment):
        check_proxy(HTTPConnection("127.0.0.1", port, timeout=60))


async def test_pgbouncer_forwards_statements(replicas: Replicas, postgres: PostgresServer, tmp_path: Path) -> None:
    pgbouncer, port = find_pgbouncer(), free_port()
    # Not in tmp_path, which an unprivileged user can't read.
    folder = Path(tempfile.mkdtemp(prefix="tickover-pgbouncer-"))
    (folder / "users.txt").write_text(f'"tickover" "{postgres.password}"\n')
    text = (DEPLOY / "pgbouncer" / "pgbouncer.ini").read_text()
    for old, new in {
        "port=5432 dbname=tickover": f"port={postgres.port} dbname={replicas.database}",
        "= 6432": f"= {port}",
        "/etc/pgbouncer/userlist.txt": str(folder / "users.txt"),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "pgbouncer.ini").write_text(f"{text}unix_socket_dir =\n")
    account = unprivileged()
    for path in (folder, folder / "users.txt", folder / "pgbouncer.ini"):
        shutil.chown(path, account.get("user", os.getuid()), account.get("group", os.getgid()))
    with running([pgbouncer, str(folder / "pgbouncer.ini")], tmp_path, port, cwd="/", **account):
        store = await open_store(f"postgresql://tickover:{postgres.password}@127.0.0.1:{port}/tickover")
        await store.ping()
        await store.close()
    shutil.rmtree(folder)


def test_patroni_accepts_its_configuration(tmp_path: Path) -> None:
    patroni = require_program("patroni")
    text = (DEPLOY / "patroni" / "patroni.yml").read_text()
    with socket.create_server(("127.0.0.1", 0)) as etcd:
        changes = {
            "10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379": f"127.0.0.1:{etcd.getsockname()[1]}",
            "/usr/lib/postgresql/15/bin": str(program_folder()),
            "0.0.0.0:8008": f"0.0.0.0:{free_port()}",
            "0.0.0.0:5432": f"0.0.0.0:{free_port()}",
        }
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "patroni.yml").write_text(text)
        command = [patroni, "--validate-config", "patroni.yml"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, "")


class Callers:
    """Callers that send calls one after the other through a proxy, and count the failures."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._token = token
        self.sent = 0
        self.created = 0
        self.failures: list[str] = []
        self.is_ended = False

    async def call(self) -> None:
        connection = await connect(self._url, self._token)
        while self.sent < MIN_CALLS or not self.is_ended:
            self.sent += 1
            try:
                await self._send(connection, "createTestClock" if self.sent % 10 == 0 else "getCurrentUser")
            except (ConnectionLost, ResponseTruncated, OSError) as error:
                self.failures.append(repr(error))
                connection = await connect(self._url, self._token)
        connection.close()

    async def _send(self, connection: Connection, method: str) -> None:
        connection.send(method, {})
        response = await connection.receive()
        if response.status != 200:
            self.failures.append(f"{response.status} {response.body[:200]!r}")
        elif method == "createTestClock":
            self.created += 1


async def sends_calls_to(server: str, log: Path) -> None:
    """Wait until HAProxy logs another call that this server has handled."""

    def count_calls() -> int:
        return log.read_text().count(f" servers/{server} ")

    before = count_calls()
    await until(lambda: count_calls() > before)


async def test_restart_of_all_servers_fails_no_call(replicas: Replicas, tmp_path: Path) -> None:
    haproxy, port = require_program("haproxy"), free_port()
    # A check each 100 ms finds a stopping server within its drain of 1 second.
    changes = {"127.0.0.1:8080": f"127.0.0.1:{port}", "inter 1s": "inter 100ms"}
    (tmp_path / "haproxy.cfg").write_text(configure("haproxy/haproxy.cfg", replicas, changes))
    log = tmp_path / "output.txt"
    with running([haproxy, "-db", "-f", "haproxy.cfg"], tmp_path, port):
        callers = Callers(f"http://127.0.0.1:{port}", replicas.programs[0].sign_in())
        tasks = [asyncio.create_task(callers.call()) for _ in range(CALLERS)]
        for name, program in zip(("one", "two"), replicas.programs, strict=True):
            assert await asyncio.to_thread(program.stop) == 0
            await asyncio.to_thread(program.start)
            # HAProxy must use the new process before the other one stops.
            await sends_calls_to(name, log)
        callers.is_ended = True
        await asyncio.gather(*tasks)
    assert callers.failures == []
    assert replicas.ask("select count(*) from clocks") == [str(callers.created)]
