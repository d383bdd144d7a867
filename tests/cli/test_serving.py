"""The server's commands for a program that starts them, and where the server is not installed."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shells import Shell
from tests.program import wait_until


@pytest.fixture
def nobody(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "config", "http://127.0.0.1:9")


@contextmanager
def serving(shell: Shell, folder: Path, *flags: str) -> "Iterator[subprocess.Popen[str]]":
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


def test_attached_it_says_where_it_is_in_one_line_and_ends_with_its_input(nobody: Shell, tmp_path: Path) -> None:
    with serving(nobody, tmp_path, "--attached") as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        assert url.startswith("http://127.0.0.1:")
        assert nobody("login", "ana@example.test", "--url", url).code == 0
        # What it is told is not what it waits for.
        server.stdin.write("hello\n")
        server.stdin.flush()
        assert nobody("clock", "list", "--url", url).code == 0
        server.stdin.close()
        server.stdin = None
        out, err = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")
        # What is for people goes where a program does not look.
        assert "✉ ana@example.test" in err
        assert err.endswith("Tickover has stopped.\n")
        assert nobody("clock", "list", "--url", url).code == 7


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_attached_it_can_be_stopped_by_a_signal_too(nobody: Shell, tmp_path: Path, number: signal.Signals) -> None:
    with serving(nobody, tmp_path, "--attached") as server:
        assert server.stdout
        assert "url" in json.loads(server.stdout.readline())
        server.send_signal(number)
        assert server.wait(30) == 0


def test_attached_to_nothing_it_ends_when_it_is_ready(nobody: Shell, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tickover", "serve", "--attached", "--port", "0"],
        cwd=tmp_path, env=nobody.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout.count(b"\n")) == (0, 1)


def test_attached_with_many_processes_all_of_them_end(nobody: Shell, tmp_path: Path, postgres_url: str) -> None:
    with serving(nobody, tmp_path, "--attached", "--workers", "2", "--database-url", postgres_url) as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        assert nobody("login", "ana@example.test", "--url", url).code == 0
        server.stdin.close()
        server.stdin = None
        out, _ = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")


def test_for_a_program_the_banner_is_json(nobody: Shell, tmp_path: Path) -> None:
    with serving(nobody, tmp_path, "--json") as server:
        assert server.stdin
        assert server.stdout
        url = json.loads(server.stdout.readline())["url"]
        server.stdin.close()
        server.stdin = None
        assert nobody("login", "ana@example.test", "--url", url).code == 0
        server.send_signal(signal.SIGTERM)
        out, _ = server.communicate(timeout=30)
        assert (server.returncode, out) == (0, "")


def test_the_database_commands_have_json(nobody: Shell, tmp_path: Path) -> None:
    def told(*arguments: str) -> Any:
        # In a process of its own, because these commands change the umask.
        out, err = nobody.start(*arguments, "--json").communicate(timeout=30)
        return json.loads(out), err

    one, other = (f"sqlite:///{tmp_path}/{name}.db" for name in ("one", "other"))
    assert told("migrate", "--database-url", one) == ({"database": one}, "")
    assert told("sweep", "--database-url", one) == ({"swept": False}, "")
    copied, _ = told("copy", one, other)
    assert copied["equal"] is True
    assert {"clocks", "schedules"} <= {table["table"] for table in copied["tables"]}
    assert {(table["rows"], table["written"], len(table["sha256"])) for table in copied["tables"]} == {(0, 0, 64)}


def test_a_wrong_setting_is_json_for_a_program(nobody: Shell) -> None:
    migrating = nobody.start("migrate", "--json", TICKOVER_PROT="80")
    out, err = migrating.communicate(timeout=30)
    assert (migrating.returncode, out) == (2, "")
    assert json.loads(err)["error"]["message"].startswith("TICKOVER_PROT is not a setting")


BLOCKED = ["uvloop", "apsw", "asyncpg", "httptools", "structlog", "jinja2", "aiosmtplib", "email_validator"]
WITHOUT = f"""
import sys
sys.modules.update(dict.fromkeys({BLOCKED!r}))
from tickover.cli import main
main()
"""


@pytest.mark.parametrize("arguments", [["serve"], ["migrate"], ["sweep"], ["copy", "sqlite:///a.db", "sqlite:///b.db"]])
def test_where_the_server_is_not_installed_it_is_said_how_to_install_it(
    nobody: Shell, tmp_path: Path, arguments: list[str]
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        cwd=tmp_path, env=nobody.environment(), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "tickover: The server is not installed here; install it with: pip install 'tickover[server]'\n"
    )
    assert list(tmp_path.glob("*.db")) == []


@pytest.mark.parametrize("arguments", [["--help"], ["scenarios"], ["clock", "list", "--help"], ["serve", "--help"]])
def test_all_else_works_where_the_server_is_not_installed(nobody: Shell, tmp_path: Path, arguments: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        cwd=tmp_path, env=nobody.environment(), capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")


STARTER = """
import subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "tickover", "serve", "--attached"], stdin=subprocess.PIPE)
print(server.pid, flush=True)
server.wait()
"""


def test_a_server_whose_starter_has_died_does_not_stay(nobody: Shell, tmp_path: Path) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER],
        cwd=tmp_path, env={**nobody.environment(), "TICKOVER_PORT": "0"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert starter.stdout
    server = int(starter.stdout.readline())
    assert "url" in json.loads(starter.stdout.readline())
    starter.kill()
    starter.wait(30)
    wait_until(lambda: not Path(f"/proc/{server}").exists() or _is_dead(server))
    starter.stdout.close()


def _is_dead(process: int) -> bool:
    """Whether nothing but its exit code is left of it, which nobody may have asked for yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
