"""Runs the programs of deploy/ with their files as they are, except for ports."""

import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.debian_packages import require_program
from tests.support.ports import free_port, reusable_port
from tests.support.postgres import PostgresServer
from tests.support.program import wait_until
from tests.support.replicas import Replicas
from tests.support.repository import ROOT

DEPLOY = ROOT / "deploy"
_SETTINGS = {
    "TICKOVER_TRUSTED_PROXIES": "127.0.0.1",
    "TICKOVER_PUBLIC_URL": "https://clocks.example.com",
    "TICKOVER_MAIL_URL": "outbox:",
    "TICKOVER_DRAIN_SECONDS": "1",
}


def servers_behind_proxy(
    folder: Path, server: PostgresServer, url_of: Callable[[str], str] = lambda url: url
) -> Replicas:
    """Two servers with the settings for a proxy. They keep their ports when they restart."""
    replicas = Replicas(folder, server, 2, url_of, script=None, **_SETTINGS)
    for program in replicas.programs:
        program.environment |= {"TICKOVER_PORT": str(reusable_port())}
    return replicas


def configure(file: str, replicas: Replicas, changes: dict[str, str]) -> str:
    """Return the configuration with the ports of the servers and these changes. Each must be in the file."""
    for number, program in enumerate(replicas.programs, 1):
        changes[f"127.0.0.1:800{number}"] = program.url.removeprefix("http://")
    return changed(file, changes)


def changed(file: str, changes: Mapping[str, str]) -> str:
    """Return the text of a file in deploy/ with these changes. Each must be in the file."""
    text = (DEPLOY / file).read_text()
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
        # tinyproxy loses a signal that arrives just before it waits for connections.
        while process.poll() is None:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)


def accepts_connections(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def run_haproxy(replicas: Replicas, folder: Path, changes: Mapping[str, str] = {}) -> Iterator[str]:
    """Run HAProxy in front of the servers, with these changes to its file, and yield its URL."""
    haproxy, port = require_program("haproxy"), free_port()
    # A check each 100 ms finds a stopping server within its drain of 1 second.
    changes = {"127.0.0.1:8080": f"127.0.0.1:{port}", "inter 1s": "inter 100ms", **changes}
    (folder / "haproxy.cfg").write_text(configure("haproxy/haproxy.cfg", replicas, changes))
    with running([haproxy, "-db", "-f", "haproxy.cfg"], folder, port):
        yield f"http://127.0.0.1:{port}"
