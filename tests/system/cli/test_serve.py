"""Tests of the server commands: `--attached`, `--json`, and missing server packages."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import wait_until
from tests.support.shells import Shell
from tickover.server.storage.migrations import migrations


@pytest.fixture
def offline_shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


@contextmanager
def running_server(shell: Shell, folder: Path, *flags: str) -> "Iterator[subprocess.Popen[str]]":
    environment = {**shell.environment(), "TICKOVER_PORT": "0"}
    server = subprocess.Popen(
        [sys.executable, "-m", "tickover", "serve", *flags],
        cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield server
    finally:
        server.kill()
        server.communicate(timeout=30)


def test_attached_server_prints_its_url_and_stops_with_its_input(offline_shell: Shell, tmp_path: Path) -> None:
    with running_server(offline_shell, tmp_path, "--attached") as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        assert url.startswith("http://127.0.0.1:")
        assert offline_shell("login", "ana@example.test", "--url", url).code == 0
        # Input alone doesn't stop the server, only its end does.
        server.stdin.write("hello\n")
        server.stdin.flush()
        assert offline_shell("clock", "list", "--url", url).code == 0
        server.stdin.close()
        server.stdin = None
        out, err = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")
        # Text for people goes to standard error.
        assert "✉ ana@example.test" in err
        assert err.endswith("Tickover has stopped.\n")
        assert offline_shell("clock", "list", "--url", url).code == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_attached_server_stops_on_signals(offline_shell: Shell, tmp_path: Path, number: signal.Signals) -> None:
    with running_server(offline_shell, tmp_path, "--attached") as server:
        assert server.stdout
        assert "url" in json.loads(server.stdout.readline())
        server.send_signal(number)
        assert server.wait(30) == 0


def test_attached_server_with_closed_input_stops_when_ready(offline_shell: Shell, tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "tickover", "serve", "--attached", "--port", "0"],
        cwd=tmp_path, env=offline_shell.environment(), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout.count(b"\n")) == (0, 1)


def test_attached_server_stops_all_workers(offline_shell: Shell, tmp_path: Path, postgres_url: str) -> None:
    with running_server(
        offline_shell, tmp_path, "--attached", "--workers", "2", "--database-url", postgres_url
    ) as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        assert offline_shell("login", "ana@example.test", "--url", url).code == 0
        server.stdin.close()
        server.stdin = None
        out, _ = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")


def test_json_banner(offline_shell: Shell, tmp_path: Path) -> None:
    with running_server(offline_shell, tmp_path, "--json") as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        server.stdin.close()
        server.stdin = None
        assert offline_shell("login", "ana@example.test", "--url", url).code == 0
        server.send_signal(signal.SIGTERM)
        out, _ = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")


def test_database_commands_print_json(offline_shell: Shell, tmp_path: Path) -> None:
    def run_json(*arguments: str) -> Any:
        # In a new process because these commands change the umask.
        out, err = offline_shell.start(*arguments, "--json").communicate(timeout=30)
        return json.loads(out), err

    one, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other"))
    version = len(migrations("sqlite"))
    assert run_json("migrate", "--database-url", one) == ({"database": one, "schemaVersion": version}, "")
    assert run_json("sweep", "--database-url", one) == ({"database": one, "swept": 0}, "")
    copied, _ = run_json("copy", one, other)
    assert copied["equal"] is True
    assert {"clocks", "schedules"} <= {table["table"] for table in copied["tables"]}
    assert {(table["rows"], table["written"], len(table["sha256"])) for table in copied["tables"]} == {(0, 0, 64)}


def test_database_commands_name_the_database(offline_shell: Shell, tmp_path: Path) -> None:
    def run_text(*arguments: str) -> tuple[int | None, str, str]:
        process = offline_shell.start(*arguments, "--database-url", url)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, err

    url = f"sqlite:///{tmp_path}/new/tickover.db"
    assert run_text("sweep") == (
        2, "", f"tickover: The database {url} doesn't exist.\n  Pass --database-url URL.\n"
    )  # fmt: skip
    assert not (tmp_path / "new").exists()
    version = len(migrations("sqlite"))
    assert run_text("migrate")[1] == f"Created the database {url}: schema version {version}.\n"
    assert run_text("migrate")[1] == f"The database {url} is up to date: schema version {version}.\n"
    assert run_text("sweep")[1] == f"Found no expired data in {url}.\n"


def test_invalid_setting_as_json(offline_shell: Shell) -> None:
    migrating = offline_shell.start("migrate", "--json", TICKOVER_PROT="80")
    out, err = migrating.communicate(timeout=30)
    assert (migrating.returncode, out) == (2, "")
    assert json.loads(err)["error"]["message"].startswith("TICKOVER_PROT is not a setting.")


SERVER_PACKAGES = [
    "uvloop",
    "apsw",
    "asyncpg",
    "httptools",
    "structlog",
    "jinja2",
    "aiosmtplib",
    "email_validator",
]
WITHOUT_SERVER_PACKAGES = f"""
import sys
sys.modules.update(dict.fromkeys({SERVER_PACKAGES!r}))
from tickover.cli import main
main()
"""


@pytest.mark.parametrize("arguments", [["serve"], ["migrate"], ["sweep"], ["copy", "sqlite:///a.db", "sqlite:///b.db"]])
def test_server_commands_without_server_packages_say_how_to_install(
    offline_shell: Shell, tmp_path: Path, arguments: list[str]
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER_PACKAGES, *arguments],
        cwd=tmp_path, env=offline_shell.environment(), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        "tickover: The server isn't installed.",
        "  Install it: pip install 'tickover[server]'",
    ]
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.parametrize("arguments", [["--help"], ["scenarios"], ["clock", "list", "--help"], ["serve", "--help"]])
def test_other_commands_work_without_server_packages(
    offline_shell: Shell, tmp_path: Path, arguments: list[str]
) -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVER_PACKAGES, *arguments],
        cwd=tmp_path, env=offline_shell.environment(), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, "")


PARENT = """
import subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "tickover", "serve", "--attached"], stdin=subprocess.PIPE)
print(server.pid, flush=True)
server.wait()
"""


def test_attached_server_stops_when_its_parent_dies(offline_shell: Shell, tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        cwd=tmp_path, env={**offline_shell.environment(), "TICKOVER_PORT": "0"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert parent.stdout
    server = int(parent.stdout.readline())
    assert "url" in json.loads(parent.stdout.readline())
    parent.kill()
    parent.wait(30)
    wait_until(lambda: not Path(f"/proc/{server}").exists() or _has_exited(server))
    parent.stdout.close()


def _has_exited(process: int) -> bool:
    """Return whether the process has exited, even if its parent hasn't collected the exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
